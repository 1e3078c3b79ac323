"""The explained row as text and as a picture."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from rendered import require_names_kept
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.studies.explain.results import GENUINE
from bioeval.studies.explain.section import section
from bioeval.studies.explain.shown_lists import LONGEST, lists_of
from bioeval.studies.explain.steps_section import section as steps_section
from bioeval.views.writers.lines import written
from bioeval.views.writers.terminal import as_text

WHO = np.repeat(np.arange(20), 4)


@pytest.fixture(scope="module")
def scores() -> be.Scores:
    return be.simulate(20, 4, random_state=2)


@pytest.fixture(scope="module")
def result(scores) -> be.Scores:
    return be.explain(scores, 17)


def test_a_long_list_is_shortened_and_loses_nothing(scores, result):
    """Lines that stand for several add what these add; what decides is never among them."""
    shown = lists_of(result)[0]
    assert len(shown.lines) < LONGEST + 8
    assert sum(line.number for line in shown.lines) == scores.shape[1] - 1
    whole = lists_of(result, shorten=False)[0]
    assert len(whole.lines) == scores.shape[1] - 1
    genuine = [line for line in shown.lines if line.role == GENUINE]
    assert len(genuine) == 3 and all(line.number == 1 for line in genuine)
    for k in range(1, len(shown.heads)):  # the tasks of identification
        words = [x.cells[k] for x in shown.lines if x.cells[k] not in ("-", "left out")]
        assert words == [x.cells[k] for x in whole.lines if x.cells[k] not in ("-", "left out")]
    impostors = [written(line.cells[0]) for line in shown.lines if line.role != GENUINE]
    accepted = sum(int(x.split()[1]) if " " in x else 1 for x in impostors if x[:2] == "FA")
    counts = {k.name: v for k, v in result.tasks[0].counts.items()}
    assert accepted == counts["fa"]


@pytest.mark.parametrize("probe", [0, 17, 40, 79])
@pytest.mark.parametrize("most", [6, 10, 20])
@pytest.mark.parametrize("within", [0.3, 0.8])
@pytest.mark.cases(6)
def test_a_list_of_a_slide_reaches_the_threshold_and_the_mates(probe, most, within):
    """It has at most so many lines, which add up to the whole row."""
    scores = be.simulate(20, 4, within=within, random_state=2)
    walk = be.explain(scores, probe)
    for shown, whole in zip(lists_of(walk, most=most), lists_of(walk, shorten=False), strict=True):
        assert len(shown.lines) <= most
        assert sum(line.number for line in shown.lines) == len(whole.lines)
        alone = [line.place for line in shown.lines if line.number == 1]
        edge = sum(bool(line.accepted) for line in whole.lines)
        expected = {1, *(x for x in (edge, edge + 1) if 1 <= x <= len(whole.lines))}
        assert expected <= {*alone}
        accepted = [line.accepted for line in shown.lines]
        assert accepted == sorted(accepted, reverse=True)
        if most == 20:
            mates = {line.place for line in whole.lines if line.role == GENUINE}
            assert mates <= {*alone}
        for k in range(len(shown.heads)):
            assert total_of(shown, k) == total_of(whole, k)


def total_of(shown, task):
    """Return how often each counter is added to, by the words of the lines."""
    totals = {}
    for line in shown.lines:
        text = written(line.cells[task])
        for part in text.split(", ") if text not in ("-", "left out") else ():
            name, _, number = part.partition(" ")
            if "(" in part:  # DI(t, 1) is one counter
                return None
            totals[name] = totals.get(name, 0) + int(number or 1)
    return totals


def test_a_row_on_a_slide_has_its_threshold():
    scores = be.datasets.faces("eigenfaces")
    for probe in (3, 57, 120):
        with be.plot.style("slide"):
            display = be.plot.row_walk(be.explain(scores, probe), lists="templates")
        threshold = display.walk.threshold
        upright = [x for x in display.ax_.lines if [*x.get_xdata()] == [threshold, threshold]]
        flat = [x for x in display.ax_.lines if x.get_ydata()[0] == x.get_ydata()[-1]]
        dashed = [x for x in flat if x.get_linestyle() == "--"]
        assert len(upright) == 1 and len(dashed) == 1
        scores_at = {}
        for line in display.ax_.lines:
            if line.get_marker() in "os" and len(line.get_xdata()) == 1:
                scores_at[line.get_ydata()[0]] = line.get_xdata()[0]
        edge = dashed[0].get_ydata()[0]
        assert scores_at[edge - 0.5] <= threshold < scores_at[edge + 0.5]
        plt.close(display.figure_)


def test_the_threshold_is_between_accepted_and_rejected(result):
    lines = str(result).splitlines()
    table = lines[lines.index("List of templates") :]
    at = next(i for i, line in enumerate(table) if "threshold" in line)
    before, after = " ".join(table[2:at]), " ".join(table[at : at + 8])
    assert " FA " in before and " GR" not in before
    assert " GA " not in after and " FA " not in after


@pytest.mark.parametrize("width", [60, 80, 100, 160])
@pytest.mark.cases(1)
def test_no_width_loses_a_counter(result, width):
    """A narrow terminal has the tasks of a list one below the other."""
    text = as_text(section(result), width)
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    for head in ("verification", "genuine", "impostor", "closed", "CMS(", "DI(t,"):
        assert head in words, head


@pytest.mark.slow
def test_names_are_kept_in_every_writer():
    """Of the system, of subjects and of templates, in a row and step by step."""

    def named(name: str) -> be.Scores:
        meta = {"name": [name, f"{name}2", "b", "c"]}
        d = np.arange(16.0).reshape(4, 4) % 5
        return be.Scores(d, [name, name, "b", "b"], probe_meta=meta, name=name)

    require_names_kept(lambda name: section(be.explain(named(name), 0, threshold=("far", 0.5))))
    require_names_kept(lambda name: steps_section(be.step_by_step(named(name))))


@pytest.mark.slow
def test_names_are_escaped_and_no_markup():
    scores = be.Scores(
        [[1.0, 2.0], [2.0, 1.0]], ["[bold]a\x1b", "$x$"], ["[bold]a\x1b", "$x$"], name="a$b$"
    )
    result = be.explain(scores, 0, threshold=1)
    text = str(result)
    assert "[bold]a\\x1b" in text and "\x1b" not in text
    be.plot.row_walk(result).figure_.canvas.draw()


@pytest.mark.slow
def test_the_picture_says_the_roles_in_words(result):
    display = be.plot.row_walk(result)
    display.figure_.canvas.draw()
    assert [len(display.axes_), len(display.lists)] == [2, 2]
    texts = {t.get_text() for t in display.figure_.findobj(mpl.text.Text)}
    assert {"genuine", "impostor", "accepted", "rejected", "GA", "left out"} <= texts
    assert any(line.get_xdata()[0] == result.threshold for line in display.ax_.lines)
    markers = {(line.get_marker(), line.get_color()) for line in display.ax_.lines}
    markers = {x for x in markers if x[0] in ("o", "s")}
    assert len(markers) == 2 and len({marker for marker, _ in markers}) == 2
    at = [line.get_xdata()[0] for line in display.ax_.lines if line.get_marker() in ("o", "s")]
    assert at == [line.score for line in display.lists[0].lines if line.score is not None]


@pytest.mark.slow
def test_pictures_of_odd_rows():
    """Infinite and failed scores, similarities, an order, a query, nothing left; on given axes."""
    d = [[np.inf, np.nan, 0.5, -np.inf]]
    for kind in ("distance", "similarity"):
        scores = be.Scores(d, ["a"], ["a", "b", "a", "c"], kind=kind, nan="reject")
        for t in (None, 0.5, np.inf, -np.inf):
            display = be.plot.row_walk(be.explain(scores, 0, threshold=t), Figure())
            display.figure_.draw_without_rendering()
    order = be.Scores([[1, 3, 2]], ["a"], ["a", "b", "c"], kind="order")
    assert be.explain(order, 0).plot().figure_
    query = be.explain(be.Scores([[1.0, 2, 3]], [1], [1, -1, 2]), 0, protocol="viper")
    assert "match" in str(query) and query.plot(name="system").figure_
    alone = be.explain(be.Scores([[0.0]], ["a"]), 0, threshold=1)
    assert "no entry is left" in str(alone) and alone.plot().figure_
    ax = Figure().add_subplot()
    assert be.plot.row_walk(query, ax).ax_ is ax
