"""Progress in a notebook: a line below the cell while it runs, and nothing else is changed."""

import sys
import types

import pytest
from optional import optional_import

from bioeval.base import progress


class Shell:
    """The events of IPython's shell, and what is displayed.

    It is its own kernel and publisher of outputs.
    """

    def __init__(self):
        self.callbacks: dict[str, list] = {}
        self.events = self.kernel = self.display_pub = self
        self.shown: list = []

    def register(self, event, callback):
        self.callbacks.setdefault(event, []).append(callback)

    def trigger(self, event):
        for callback in self.callbacks.get(event, ()):
            callback()

    def display(self, data, **options):
        self.shown.append(data)
        return self

    update = display


@pytest.fixture
def shell(monkeypatch):
    shell = Shell()
    names = {"get_ipython": lambda: shell}
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(**names))
    monkeypatch.setitem(
        sys.modules, "IPython.display", types.SimpleNamespace(display=shell.display)
    )
    monkeypatch.setattr(progress, "_PROGRESS", [])
    return shell


def test_short_work_shows_nothing(shell):
    progress.report(1, 2)
    assert shell.shown == []
    shell.trigger("post_run_cell")
    assert shell.shown == []


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(progress, "_SECONDS_BEFORE", 0.0)
    monkeypatch.setattr(progress, "_SECONDS_BETWEEN", 0.0)


def texts(shell) -> list[str]:
    return [x["text/plain"] for x in shell.shown]


def test_long_work_shows_each_stage_and_ends_as_its_time(shell, at_once):
    progress.report(1, 4)
    with progress.stage("look <here>"):
        progress.report(3, 4)
    shell.trigger("post_run_cell")
    stages = ["counting 25 %", "look <here>", "look <here> 75 %"]
    assert texts(shell) == [*stages, "done in 0.0 s"]
    shell.trigger("pre_run_cell")
    shell.trigger("post_run_cell")
    assert len(shell.shown) == 4


def test_captured_outputs_have_no_line(shell, at_once):
    progress.in_notebook()
    shell.trigger("pre_run_cell")  # of the cell inside
    shell.display_pub = object()
    progress.report(1, 4)
    shell.trigger("post_run_cell")
    shell.trigger("post_run_cell")
    assert shell.shown == []


def test_a_command_shows_its_own(shell, monkeypatch):
    monkeypatch.setattr(progress, "_SECONDS_BEFORE", 0.0)
    stages = []
    with progress.shown_by(lambda *stage: stages.append(stage)), progress.stage("a"):
        progress.report(1, 2)
    assert stages == [("a", 0, 0), ("a", 1, 2)] and shell.shown == []


def test_without_a_notebook_nothing_is_imported(shell, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    monkeypatch.setattr(progress, "_SECONDS_BEFORE", 0.0)
    progress.report(1, 2)
    assert shell.shown == []


@pytest.mark.slow
def test_in_a_kernel():
    """The session is the kernel's, and the HTML of trees is xarray's."""
    nbclient, nbformat = optional_import("nbclient"), optional_import("nbformat")
    optional_import("ipykernel")
    cells = {
        "shell = get_ipython()\nsend, html = shell.kernel.session.send, "
        "shell.display_formatter.formatters['text/html']\n"
        "before = len(html.type_printers), len(html.deferred_printers)": [],
        "import bioeval as be\nfrom bioeval.base import progress": [],
        "progress._SECONDS_BEFORE = 0\nscores = be.simulate(20, 3)": [],
        "result = be.verification(scores)": ["done in"],
        "print('one')\nresult = be.verification(scores)": ["one", "done in"],
        "import xarray as xr\nxr.DataTree(xr.Dataset({'a': 1}))": ["xr-"],
        "assert shell.kernel.session.send == send": [],
        "assert (len(html.type_printers), len(html.deferred_printers)) == before": [],
    }
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(x) for x in cells])
    messages = []

    class Client(nbclient.NotebookClient):
        def process_message(self, message, cell, index):
            if "display_data" in message["msg_type"]:
                messages.append(message["content"]["data"]["text/plain"])
            return super().process_message(message, cell, index)

    Client(book, timeout=120, kernel_name="python3").execute()
    assert any(text.startswith("counting") for text in messages)
    for cell, expected in zip(book.cells, cells.values(), strict=True):
        outputs = [x["text"] if "text" in x else "".join(x["data"].values()) for x in cell.outputs]
        assert len(outputs) == len(expected), outputs
        assert all(a in b for a, b in zip(expected, outputs, strict=True))
