"""Progress in a notebook: below the cell while it runs, and gone when it has ended."""

from __future__ import annotations

import sys
import types

import pytest
from optional import optional_import

from bioeval.base import notebook_progress, progress


class Shell:
    """The events of IPython's shell, and what is displayed."""

    def __init__(self):
        self.callbacks: dict[str, list] = {}
        self.events = self
        self.kernel = object()
        self.shown: list[dict] = []

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
        sys.modules, "IPython.display", types.SimpleNamespace(display=shell.display)
    )
    monkeypatch.setattr(notebook_progress, "_PROGRESS", [])
    return shell


def test_short_work_shows_nothing(shell):
    progress.report(1, 2)
    assert shell.shown == []
    shell.trigger("post_run_cell")
    assert shell.shown == []


def test_long_work_shows_each_stage_and_is_wiped(shell, monkeypatch):
    monkeypatch.setattr(notebook_progress, "_SHORTEST", 0.0)
    monkeypatch.setattr(notebook_progress, "_BETWEEN", 0.0)
    progress.report(1, 4)
    with progress.stage("look <here>"):
        progress.report(3, 4)
    shell.trigger("post_run_cell")
    texts = [shown.get("text/plain") for shown in shell.shown]
    assert texts == ["counting 25 %", "look <here>", "look <here> 75 %", None]
    assert 'value="3" max="4"' in shell.shown[2]["text/html"]
    assert "look &lt;here&gt;" in shell.shown[2]["text/html"]
    assert shell.shown[-1] == {"text/html": ""}
    shell.trigger("pre_run_cell")
    shell.trigger("post_run_cell")
    assert len(shell.shown) == 4


def test_a_command_shows_its_own(shell, monkeypatch):
    monkeypatch.setattr(notebook_progress, "_SHORTEST", 0.0)
    seen = []
    with progress.shown_by(lambda *stage: seen.append(stage)), progress.stage("a"):
        progress.report(1, 2)
    assert seen == [("a", 0, 0), ("a", 1, 2)] and shell.shown == []


def test_without_a_notebook_nothing_is_imported(shell, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: None))
    monkeypatch.setattr(notebook_progress, "_SHORTEST", 0.0)
    progress.report(1, 2)
    assert shell.shown == []


@pytest.mark.slow
def test_in_a_kernel():
    nbclient, nbformat = optional_import("nbclient"), optional_import("nbformat")
    optional_import("ipykernel")
    code = (
        "import time\nimport bioeval as be\nfrom bioeval.base import notebook_progress\n"
        "notebook_progress._SHORTEST = 0\n"
        "be.verification(be.simulate(20, 3))\n"
        "be.simulate(4, 2)"
    )
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    seen = []

    class Client(nbclient.NotebookClient):
        def process_message(self, message, cell, index):
            if "display_data" in message["msg_type"]:
                seen.append(message["content"]["data"])
            return super().process_message(message, cell, index)

    Client(book, timeout=120, kernel_name="python3").execute()
    assert "text/plain" in seen[0] and seen[-1] == {"text/html": ""}
    results = [x for x in book.cells[0].outputs if x.output_type == "execute_result"]
    assert "all against all, 8 x 8" in results[0]["data"]["text/html"]
