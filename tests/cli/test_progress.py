"""Progress: on a terminal, and nowhere else."""

from __future__ import annotations

import io
import re

import pytest
from rich.progress import Progress

from bioeval.cli.progress import Stages, TimeLeft


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def xterm(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


def test_stages_are_shown_on_a_terminal(xterm):
    stream = Terminal()
    with Stages("bootstrap", stream) as stages:
        stages("reading x.npz")
        stages.counting(1, 2)
        stages.counting(2, 2)
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
    places = [shown.index(word) for word in ("reading x.npz ...", "counting", "bootstrap ...")]
    assert places == sorted(places)


def test_the_line_is_wiped_at_the_end(xterm):
    stream = Terminal()
    with Stages(stream=stream) as stages:
        stages("reading")
    last = stream.getvalue().rpartition("reading")[2]
    assert "\x1b[2K" in last
    assert last.rpartition("\x1b[2K")[2].strip("\r\n") in ("", "\x1b[?25h")


@pytest.mark.parametrize(("stream", "term"), [(io.StringIO(), "xterm"), (Terminal(), "dumb")])
def test_stages_are_silent_elsewhere(monkeypatch, stream, term):
    monkeypatch.setenv("TERM", term)
    with Stages(stream=stream) as stages:
        stages("reading")
        stages.counting(1, 2)
        stages.counting(2, 2)
    assert stream.getvalue() == ""


def test_no_time_is_left_only_at_the_end(xterm):
    """However close the end is: 999 of 1000 rows in 10 s leave 10 ms, shown as a second."""
    clock = [0.0]
    progress = Progress(get_time=lambda: clock[0])
    progress.add_task("counting", total=1000)
    (task,) = progress.tasks
    said = []
    for done in (250, 500, 999, 1000):
        clock[0] += 5.0
        progress.update(task.id, completed=done)
        said.append(TimeLeft().render(task).plain)
    assert said[0] == ""  # no speed yet
    assert [text.endswith("0:00:00 left") for text in said] == [False, False, False, True]
    assert said[2] == "100 %, 0:00:01 left"
