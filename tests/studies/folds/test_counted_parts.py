"""Parts that are counted together have the results of those read one by one, to the last bit."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from twins import in_folds, one_thread  # noqa: F401

import bioeval as be
from bioeval.attempts import selections as index_sets

SPLITTERS = {
    "experiment": be.partition.Experiment(
        train=0.5, gallery_templates=1, unenrolled=0.25, repeats=5, random_state=1
    ),
    "folds": be.partition.RepeatedSubjectKFold(3, n_repeats=3, random_state=0),
    "samples": be.partition.SampleKFold(4, shuffle=True, random_state=0),
}
RULES = [
    ("template", "pessimistic", "auto"),
    ("subject", "optimistic", "unenrolled"),
    ("subject", "stable", "auto"),
    ("template", "optimistic", "both"),
]
KINDS = [("float32", "distance", "raise"), ("float64", "similarity", "reject")]


def scores_of(dtype="float64", kind="distance", nan="raise", failed=True) -> be.Scores:
    """Scores of subjects with 3 to 5 templates, in mixed order, with ties."""
    random = np.random.default_rng(7)
    subjects = random.permutation(np.repeat(np.arange(14), random.integers(3, 6, 14)))
    points = random.normal(size=(len(subjects), 3)) + 1.5 * random.normal(size=(14, 3))[subjects]
    values = np.linalg.norm(points[:, None] - points, axis=2).round(1).astype(dtype)
    if failed and nan != "raise":
        for value in (np.nan, np.inf, -np.inf):
            values.flat[random.choice(values.size, 20, replace=False)] = value
    return be.Scores(-values if kind == "similarity" else values, subjects, kind=kind, nan=nan)


def both_ways(monkeypatch, call) -> list[object]:
    """Return what a call returns, or raises, counting together and one by one."""
    result = []
    for most in (math.inf, -1):
        with monkeypatch.context() as patch:
            if most < 0:
                patch.setattr(index_sets.OrderedScores, "MOST", most)
            try:
                result.append(call())
            except be.BioevalError as error:
                result.append(str(error))
    return result


def check(result) -> None:
    together, alone = result
    if isinstance(together, str):
        assert together == alone
        return
    assert together.identical(alone)
    for name, values in together.variables.items():
        assert values.dtype == alone[name].dtype, name


@pytest.mark.cases(1)
@pytest.mark.parametrize("name", SPLITTERS)
@pytest.mark.parametrize("task", ["verification", "open_set", "closed_set"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda x: x[1])
@pytest.mark.parametrize("rules", RULES, ids=lambda x: f"{x[0]} {x[1]}")
def test_partitions(name, task, kind, rules, monkeypatch):
    scores, splitter = scores_of(*kind), SPLITTERS[name]
    unit, ties, impostors = rules
    options = {"task": task, "rank_unit": unit, "ties": ties, "impostors": impostors}
    for rule, targets in (("eer", None), (0.3, (0.1, 0.01))):
        options |= {"threshold": rule, "far_targets": targets, "ranks": [1, 3]}
        options["templates"] = "single" if unit == "template" else "multi"
        call = partial(in_folds, scores, splitter, **options)
        check(both_ways(monkeypatch, call))


@pytest.mark.slow
def test_the_experiment_of_the_course(monkeypatch):
    scores = be.simulate(16, 5, random_state=0)
    result = both_ways(monkeypatch, lambda: be.evaluate(scores, "course-experiment"))
    for one, other in zip(result[0].leaves, result[1].leaves, strict=True):
        check([one.to_dataset(), other.to_dataset()])
