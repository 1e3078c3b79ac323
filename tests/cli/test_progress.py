"""Progress: on a terminal, and nowhere else."""

import io
import re

import pytest
from rich.progress import Progress

from bioeval.base import progress as work
from bioeval.cli import progress as shown
from bioeval.cli.progress import Stages, TimeLeft


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def xterm(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")


def test_stages_are_shown_on_a_terminal(xterm, monkeypatch):
    monkeypatch.setattr(shown, "_REFRESH_INTERVAL", 0.0)
    stream = Terminal()
    with Stages(stream) as stages:
        stages("reading x.npz")
        stages.counting(1, 2)
        stages.counting(2, 2)
        with work.stage("bootstrap"):
            work.report(1, 4)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())
    words = ("reading x.npz ...", "counting", "computing rates ...", "bootstrap")
    places = [text.index(word) for word in words]
    assert places == sorted(places)
    # At the end, the line is wiped.
    last = stream.getvalue().rpartition("bootstrap")[2]
    assert "\x1b[2K" in last
    assert last.rpartition("\x1b[2K")[2].strip("\r\n") in ("", "\x1b[?25h")


@pytest.fixture
def reports():
    reported = []
    with work.shown_by(lambda *what: reported.append(what)):
        yield reported


def test_work_without_a_stage_and_after_its_end_reports_nothing(reports):
    work.report(1, 2)
    with work.stage("bootstrap"):
        pass
    work.report(1, 2)
    assert reports == [("bootstrap", 0, 0)]


@pytest.mark.parametrize(("stream", "term"), [(io.StringIO(), "xterm"), (Terminal(), "dumb")])
def test_stages_are_silent_elsewhere(monkeypatch, stream, term):
    monkeypatch.setenv("TERM", term)
    with Stages(stream) as stages:
        stages("reading")
        stages.counting(1, 2)
        stages.counting(2, 2)
    assert stream.getvalue() == ""


def test_no_time_left_is_never_said(xterm):
    """However close the end is: 999 of 1000 rows in 10 s leave 10 ms, shown as a second."""
    clock = [0.0]
    progress = Progress(get_time=lambda: clock[0])
    progress.add_task("counting", total=1000)
    (task,) = progress.tasks
    said = []
    for rows_done in (250, 500, 999, 1000):
        clock[0] += 5.0
        progress.update(task.id, completed=rows_done)
        said.append(TimeLeft().render(task).plain)
    assert said[0] == ""  # no speed yet
    assert said[2:] == ["100 %, 0:00:01 left", "finishing"]
