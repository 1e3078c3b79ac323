"""The explained row as text."""

from __future__ import annotations

import numpy as np
import pytest
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

    require_names_kept(lambda name: section(be.explain(named(name), 0, threshold="far=0.5")))
    require_names_kept(lambda name: steps_section(be.step_by_step(named(name))))


@pytest.mark.slow
def test_names_are_escaped_and_no_markup():
    scores = be.Scores(
        [[1.0, 2.0], [2.0, 1.0]], ["[bold]a\x1b", "$x$"], ["[bold]a\x1b", "$x$"], name="a$b$"
    )
    result = be.explain(scores, 0, threshold=1)
    text = str(result)
    assert "[bold]a\\x1b" in text and "\x1b" not in text
