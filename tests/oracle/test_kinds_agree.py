"""The same scores as similarities and as log-likelihood ratios have the same results.

Over every public call that takes scores and knows thresholds: a call that compares the kind by
hand forgets one of the two.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import bioeval as be


def scores_of(kind: str) -> be.Scores:
    """Twelve people with four templates in two groups, seen by two cameras."""
    made = be.simulate(12, 4, random_state=3)
    return be.Scores(
        np.round(5 - made.values, 3), made.probe_labels, kind=kind, probe_meta={
            "group": np.repeat(["a", "b"], 24), "camera": np.tile([1, 2], 24),
            "seen_at": np.tile([1.0, 2.0, 3.0, 4.0], 12), "quality": np.arange(48.0),
        },
    )  # fmt: skip


CALLS: dict[str, Callable[[be.Scores], Any]] = {
    "verification": be.verification,
    "open_set": be.open_set,
    "closed_set": be.closed_set,
    "ranks": be.ranks,
    "summary": be.summary,
    "evaluate": lambda s: be.evaluate(s, interval="subject-bootstrap", replicates=100),
    "at": lambda s: be.at(be.verification(s), 1.0),
    "worst_pairs": lambda s: be.worst_pairs(s, 4),
    "reid": lambda s: be.reid(s, thresholds=[-1.0, 1.0, 3.0], per_query=True),
    "gom": lambda s: be.gom(s, budget=10),
    "by_group": lambda s: be.by_group(
        s, "group", interval="subject-bootstrap", replicates=100, random_state=0
    ),
    "zoo": lambda s: be.zoo(s, threshold=("far", 0.1)),
    "study_threshold": lambda s: be.study_threshold(s, ("far", 0.1), folds=3, random_state=0),
    "cross_evaluate": lambda s: be.cross_evaluate(s, be.partition.SubjectKFold(3)),
    "gallery_size": lambda s: be.gallery_size(s, [3, 6]),
    "gallery_templates": lambda s: be.gallery_templates(s, [1, 2]),
    "error_discard": lambda s: be.error_discard(s, "quality", threshold="eer"),
    "check_claim": lambda s: be.check_claim(s, 1.0, far=0.1),
    "explain": lambda s: be.explain(s, 5).document(),
    "summaries": lambda s: be.summaries(s, be.partition.SubjectKFold(3)),
    "over_time": lambda s: be.over_time(s, [1, 2, 3, 5], threshold="eer"),
    "repeat": lambda s: be.repeat(s, be.partition.Experiment(repeats=3, random_state=0)),
}

#: Public calls that take no scores, take several systems, or have another meaning by kind.
OTHERS = {
    *("check_data", "check_tracks", "datasets", "load", "parse_names", "partition", "plan_run"),
    *("report", "save", "show", "simulate", "simulate_embeddings", "stats", "tracking", "top_k"),
    *("ageing", "apply_convention", "conventions", "eer_scorer", "make_scorer", "pad", "plot"),
    *("compare", "epc", "epsc", "fuse", "normalise", "calibration", "extrapolate_far"),
    *("morphing", "sample_size", "tally", "to_latex", "to_markdown", "vulnerability", "workload"),
}


def test_every_public_call_is_here_or_named_as_another():
    names = {name for name in be.__all__ if name[0].islower()}
    assert names == {*CALLS, *OTHERS}, names ^ {*CALLS, *OTHERS}


def compared(found: Any) -> dict[str, Any]:
    """Results as plain values; of a tree, its nodes."""
    if isinstance(found, xr.DataTree):
        return {
            f"{node.path}/{k}": v
            for node in found.leaves
            for k, v in compared(node.to_dataset()).items()
        }
    if isinstance(found, xr.Dataset):
        return {str(name): found[name].values for name in found.variables}
    return found


@pytest.mark.parametrize("call", CALLS)
def test_an_llr_is_a_similarity(call):
    expected, found = (compared(CALLS[call](scores_of(k))) for k in ("similarity", "llr"))
    if call == "explain":
        assert {**found, "kind": "similarity"} == expected
        return
    assert found.keys() == expected.keys() and found
    for name, values in expected.items():
        np.testing.assert_array_equal(found[name], values, err_msg=name)


def test_the_zoo_draws_llr_as_similarities():
    displays = [be.plot.zoo(be.zoo(scores_of(k), threshold="eer")) for k in ("similarity", "llr")]
    np.testing.assert_array_equal(displays[0].limits, displays[1].limits)
    labels = [(d.ax_.get_xlabel(), d.ax_.get_ylabel()) for d in displays]
    noun = "log-likelihood ratio"
    assert labels[1] == tuple(text.replace("similarity", noun) for text in labels[0])


def test_worst_pairs_have_the_scores_of_the_matrix():
    for kind in be_kinds():
        scores = scores_of(kind)
        worst = be.worst_pairs(scores, 4)
        expected = scores.values[worst.row.values, worst.column.values]
        np.testing.assert_array_equal(worst.score.values, expected)


def be_kinds() -> tuple[str, ...]:
    return ("distance", "similarity", "llr")


def test_a_scale_from_0_to_1_of_lists_is_checked():
    """A pair is a scale, also where it is the one of distances that stay as they are."""
    lists = be.TopKScores([[0, 1, 2]], [7], [7, 8, 7], distances=[[0.5, 1.5, 2.0]])
    with pytest.raises(be.DataError, match=r"is \(0, 1\), but the listed distances reach"):
        be.gom(lists, convention="identity-dedup", normalize=(0, 1), thresholds=[0.5, 1.0])
    be.gom(lists, convention="identity-dedup", normalize=False, thresholds=[0.5, 1.0])


def plain_gom(scores: be.Scores, threshold: float) -> dict[str, float]:
    """Mean precision within a threshold, ranked, and the largest proportion of false retrievals.

    From the definition, by plain loops; ranks are of similarities, the largest first.
    """
    precisions, false = [], []
    for i in range(scores.shape[0]):
        order = sorted(range(scores.shape[1]), key=lambda j: -scores.values[i, j])
        kept = [j for j in order if scores.values[i, j] >= threshold]
        mates = [scores.gallery_labels[j] == scores.probe_labels[i] for j in kept]
        if scores.probe_labels[i] not in scores.gallery_labels.tolist():
            false.append(min(len(kept) / 5, 1.0))
            continue
        at = [sum(mates[: k + 1]) / (k + 1) for k, mate in enumerate(mates) if mate]
        precisions.append(sum(at) / len(at) if at else 0.0)
    return {"mrp": np.mean(precisions), "mfr": np.mean(false)}


def searched(kind: str) -> be.Scores:
    rng = np.random.default_rng(5)
    similarities = np.round(rng.normal(size=(12, 20)), 3)
    values = -similarities if kind == "distance" else similarities
    probe, gallery = np.arange(12) % 6, np.arange(20) % 4
    return be.Scores(values, probe, gallery, kind=kind)


def test_thresholds_of_gom_are_in_the_unit_of_the_scores():
    """Where they are not scaled; the smallest similarity is the loosest threshold."""
    taus = [-1.0, 0.2, 0.9]
    given = {"normalize": False, "budget": 5, "convention": "identity-dedup"}
    limits = {"interval": "subject-bootstrap", "replicates": 100}
    scores = searched("similarity")
    found = be.gom(scores, thresholds=taus, **given, **limits)
    assert found.threshold.values.tolist() == taus
    for i, tau in enumerate(taus):
        for name, value in plain_gom(scores, tau).items():
            assert found[name].values[i] == pytest.approx(value, abs=1e-12), (name, tau)
    assert (found.mrep_low <= found.mrep).all() and (found.mrep <= found.mrep_high).all()
    mirrored = be.gom(searched("distance"), thresholds=[-t for t in taus[::-1]], **given, **limits)
    for name, values in mirrored.data_vars.items():
        expected = values.values[::-1] if "threshold" in values.dims else values.values
        expected = 0.0 - expected if name.startswith("tau_") else expected
        np.testing.assert_array_equal(found[name].values, expected, err_msg=name)


def lists_of(scores: be.Scores) -> be.TopKScores:
    """The whole gallery of each row, the nearest first."""
    sign = 1 if scores.kind == "distance" else -1
    order = np.argsort(sign * scores.values, axis=1, kind="stable")
    return be.TopKScores(
        order,
        scores.probe_labels,
        scores.gallery_labels,
        kind=scores.kind,
        distances=np.take_along_axis(scores.values, order, 1),
    )


def test_thresholds_of_gom_of_lists_are_in_the_unit_of_the_scores():
    lists = [lists_of(searched(kind)) for kind in ("similarity", "distance")]
    given = {"normalize": False, "budget": 5, "convention": "identity-dedup"}
    found = be.gom(lists[0], thresholds=[-1.0, 0.2, 0.9], **given)
    mirrored = be.gom(lists[1], thresholds=[-0.9, -0.2, 1.0], **given)
    whole = be.gom(searched("similarity"), thresholds=[-1.0, 0.2, 0.9], **given)
    np.testing.assert_array_equal(found.mrep.values, mirrored.mrep.values[::-1])
    np.testing.assert_array_equal(found.mrep.values, whole.mrep.values)
    assert found.threshold.values.tolist() == [-1.0, 0.2, 0.9]


PACKAGE = Path(be.__file__).parent


def compares_a_kind_by_hand(node: ast.AST) -> bool:
    """Whether a comparison is one with the word "similarity", which forgets "llr"."""
    if not isinstance(node, ast.Compare):
        return False
    sides = [node.left, *node.comparators]
    return any(isinstance(side, ast.Constant) and side.value == "similarity" for side in sides)


def test_no_kind_is_compared_by_hand():
    """Which scores are closer is asked of ``bioeval/base/kinds.py``."""
    found = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if "similarity" in (text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if compares_a_kind_by_hand(node)
    ]
    assert found == []
