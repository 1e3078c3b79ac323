"""Progress in a notebook: below the cell while it runs, and gone when it has ended."""

from __future__ import annotations

import sys
import types

import pytest
import xarray as xr
from optional import optional_import

import bioeval as be
from bioeval.base import notebook, progress
from bioeval.base.notebook import tree_html
from bioeval.base.panels import safe


class Shell:
    """The events of IPython's shell, and what is displayed.

    It is its own kernel, session and publisher of outputs.
    """

    def __init__(self):
        self.callbacks: dict[str, list] = {}
        self.events = self.kernel = self.session = self.display_pub = self.display_formatter = self
        self.formatters = {"text/html": self}
        self.shown: list = []

    def for_type_by_name(self, *names):
        self.formatter = names

    def send(self, stream, message):
        pass

    def clear_output(self, wait=False):
        self.shown.append(f"clear, {wait=}")

    def register(self, event, callback):
        self.callbacks.setdefault(event, []).append(callback)

    def trigger(self, event):
        for callback in self.callbacks[event]:
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
        sys.modules,
        "IPython.display",
        types.SimpleNamespace(display=shell.display, clear_output=shell.clear_output),
    )
    monkeypatch.setattr(notebook, "_PROGRESS", [])
    return shell


def test_short_work_shows_nothing(shell):
    progress.report(1, 2)
    assert shell.shown == []
    shell.trigger("post_run_cell")
    assert shell.shown == []


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(notebook, "_SHORTEST", 0.0)
    monkeypatch.setattr(notebook, "_BETWEEN", 0.0)


def new_cell(shell):
    """Begin a second cell: what the first one showed before the import is not known."""
    notebook.in_notebook()
    shell.trigger("post_run_cell")
    shell.trigger("pre_run_cell")


def texts(shell) -> list[str]:
    return [x if isinstance(x, str) else x["text/plain"] for x in shell.shown]


def test_long_work_shows_each_stage_and_is_wiped(shell, at_once):
    new_cell(shell)
    progress.report(1, 4)
    with progress.stage("look <here>"):
        progress.report(3, 4)
    shell.trigger("post_run_cell")
    shown = ["counting 25 %", "clear, wait=True", "look <here>", "look <here> 75 %"]
    assert texts(shell) == [*shown, "clear, wait=False"]
    assert 'value="3" max="4"' in shell.shown[3]["text/html"]
    assert "look &lt;here&gt;" in shell.shown[3]["text/html"]
    shell.trigger("pre_run_cell")
    shell.trigger("post_run_cell")
    assert len(shell.shown) == 5


def test_the_next_output_takes_the_place_of_the_line(shell, at_once):
    new_cell(shell)
    progress.report(1, 4)
    shell.send(None, {"msg_type": "execute_result"})
    shell.trigger("post_run_cell")
    assert texts(shell) == ["counting 25 %", "clear, wait=True"]


@pytest.mark.parametrize("cell", ["first", "second"])
def test_other_outputs_of_the_cell_stay(shell, at_once, cell):
    if cell == "second":
        new_cell(shell)
        shell.send(None, "stream")
    progress.report(1, 4)
    shell.send(None, "stream")
    progress.report(2, 4)
    shell.trigger("post_run_cell")
    assert texts(shell) == ["counting 25 %", "counting 50 %", "ended after 0 s"]


def test_captured_outputs_have_no_line(shell, at_once):
    new_cell(shell)
    shell.trigger("pre_run_cell")  # of the cell inside
    shell.display_pub = object()
    progress.report(1, 4)
    shell.trigger("post_run_cell")
    shell.trigger("post_run_cell")
    assert shell.shown == []


def test_a_command_shows_its_own(shell, monkeypatch):
    monkeypatch.setattr(notebook, "_SHORTEST", 0.0)
    seen = []
    with progress.shown_by(lambda *stage: seen.append(stage)), progress.stage("a"):
        progress.report(1, 2)
    assert seen == [("a", 0, 0), ("a", 1, 2)] and shell.shown == []


def test_without_a_notebook_nothing_is_imported(shell, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    monkeypatch.setattr(notebook, "_SHORTEST", 0.0)
    progress.report(1, 2)
    assert shell.shown == []


def test_trees_of_results_are_small():
    """What xarray shows has 150 kB."""
    tree = be.evaluate(be.simulate(8, 3))
    html = tree_html(tree)
    assert len(html.encode()) < 60_000
    for node in tree.subtree:
        attrs = {k: v for k, v in node.attrs.items() if v != ""}
        for text in [*node.variables, *map(str, attrs.values())]:
            assert safe(text) in html
        for variable in node.variables.values():
            assert safe(variable.attrs.get("long_name", "")) in html
    assert f"<td class=v>{tree['open_set'].eer.item():.4g}<td>" in html
    assert "bioeval-tree" not in tree_html(xr.DataTree(xr.Dataset({"a": 1})))


@pytest.mark.slow
def test_in_a_kernel():
    nbclient, nbformat = optional_import("nbclient"), optional_import("nbformat")
    optional_import("ipykernel")
    cells = {
        "import bioeval as be\nfrom bioeval.base import notebook": [],
        "notebook._SHORTEST = 0\nscores = be.simulate(20, 3)": [],
        "result = be.verification(scores)": [],
        "be.verification(scores)\nbe.simulate(4, 2)": ["all against all, 8 x 8"],
        "be.evaluate(scores)": ["bioeval-tree"],
        "print('one')\nresult = be.verification(scores)": ["one", "ended after 0 s"],
        "result = be.verification(scores)\nprint('two')": ["two"],
    }
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(x) for x in cells])
    seen = []

    class Client(nbclient.NotebookClient):
        def process_message(self, message, cell, index):
            if "display_data" in message["msg_type"]:
                seen.append(message["content"]["data"]["text/plain"])
            return super().process_message(message, cell, index)

    Client(book, timeout=120, kernel_name="python3").execute()
    assert any(text.startswith("counting") for text in seen)
    for cell, expected in zip(book.cells, cells.values(), strict=True):
        found = [x["text"] if "text" in x else x["data"]["text/html"] for x in cell.outputs]
        assert len(found) == len(expected), found
        assert all(a in b for a, b in zip(expected, found, strict=True))
