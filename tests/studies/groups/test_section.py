"""What is said of groups, in every form of text and in both vocabularies."""

from __future__ import annotations

import numpy as np

import bioeval as be
from bioeval.document.blocks import Section
from bioeval.studies.groups.section import section
from bioeval.views.writers.lines import python_naming
from bioeval.views.writers.terminal import as_text

BOOTSTRAP = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}


def _verified(name: str):
    scores = be.simulate(70, 2, random_state=1).replace(name=name)
    group = np.where(np.asarray(scores.probe_labels) < 60, np.arange(140) // 2 % 2, 2)
    return be.by_group(scores, group, threshold="far=0.01", **BOOTSTRAP)


def test_pairs_of_many_groups_are_in_the_data_alone():
    scores = be.simulate(26, 2, random_state=1)
    ds = be.by_group(scores, np.asarray(scores.probe_labels) % 13)
    ids = [getattr(block, "id", "") for block in section({"": ds}).blocks]
    assert "far_of_pairs" not in ids and "pairs" in ids


def headline(sizes: dict[str, int]) -> str:
    """The answer about groups of so many people."""
    scores = be.simulate(sum(sizes.values()), 2, random_state=1)
    of_person = np.repeat([*sizes], [*sizes.values()])
    group = of_person[np.unique(scores.probe_labels, return_inverse=True)[1]]
    return answer_of(be.by_group(scores, group, threshold="far=0.01"))


def answer_of(ds) -> str:
    blocks = [x for x in section({"": ds}).blocks if getattr(x, "role", "") == "answer"]
    return " ".join(as_text(Section("groups", "", blocks), 500, "lecture", python_naming).split())


def test_groups_of_few_people_are_not_in_the_headline():
    both = headline({"many": 30, "more": 31, "few": 29, "one": 1})
    assert "(group many)" in both and "(group more)" in both
    assert "(group few)" not in both and "(group one)" not in both
    assert both.endswith("Left out here, with fewer than 30 subjects: few and one.")
    one = headline({"many": 40, "few": 29})
    assert "is not said: fewer than two groups have 30 subjects" in one
    all_of_them = headline({"many": 30, "more": 31})
    assert "Left out" not in all_of_them


def test_groups_of_equal_rates_have_no_first():
    scores = be.simulate(60, 2, random_state=1)
    group = np.asarray(scores.probe_labels) % 2
    assert "in 0 % of each group" in answer_of(be.by_group(scores, group, threshold=1e9))
