"""The rows of any matrix sum to the counts of the task, which kernels count without a list."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import FUSIONS, IMPOSTORS, TIES, UNITS, matrices, thresholds
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.protocol import for_layout

SMALL = {"dtypes": ("float32", "float64", "int8"), "orders": ("C", "strided")}


def card_of(scores, **sections):
    """The course's card for the layout, with some options of its sections changed."""
    card = for_layout(scores.layout)
    tasks = {name: replace(getattr(card, name), **changes) for name, changes in sections.items()}
    return replace(card, **tasks)


def sums(scores, card, threshold):
    """The sum of what all rows add, by task and counter."""
    result = {}
    for i in range(scores.shape[0]):
        for task in be.explain(scores, i, threshold=threshold, protocol=card).tasks:
            of_task = result.setdefault(task.task, {})
            for count, amount in task.counts.items():
                of_task[count] = of_task.get(count, 0) + amount
    return result


def at_ranks(counts, name, ranks):
    return [counts.get((name, int(rank)), 0) for rank in ranks]


@settings(max_examples=10)
@given(data=st.data())
def test_verification(data):
    case = data.draw(matrices(masks=("none", "labelled"), **SMALL))
    t = float(data.draw(thresholds(case, max_size=1))[0])
    fusion = data.draw(st.sampled_from(FUSIONS))
    scores = be.Scores(**case.scores())
    card = card_of(scores, verification={"fusion": fusion})
    result = sums(scores, card, t)
    for templates in ("single", "multi"):
        ds = be.verification(scores, templates=templates, fusion=fusion, thresholds=[t])
        counts = result[f"verification/{templates}"]
        for name in ("ga", "fr", "fa", "gr"):
            assert counts.get((name, None), 0) == ds[name].item(), (templates, name)


@settings(max_examples=5)
@given(data=st.data())
def test_masks_without_labels(data):
    case = data.draw(matrices(masks=("alone",), **SMALL))
    t = float(data.draw(thresholds(case, max_size=1))[0])
    scores = be.Scores(**case.scores())
    card = replace(card_of(scores, verification={"templates": ("single",)}), open_set=None)
    counts = sums(scores, replace(card, closed_set=None), t).get("verification/single", {})
    ds = be.verification(scores, thresholds=[t])
    for name in ("ga", "fr", "fa", "gr"):
        assert counts.get((name, None), 0) == ds[name].item(), name


@pytest.mark.slow
@settings(max_examples=10)
@given(data=st.data())
def test_identification(data):
    case = data.draw(matrices(masks=("none", "labelled"), **SMALL))
    t = float(data.draw(thresholds(case, max_size=1))[0])
    options = {
        "rank_unit": data.draw(st.sampled_from(UNITS)),
        "ties": data.draw(st.sampled_from(TIES)),
        "fusion": data.draw(st.sampled_from(FUSIONS)),
    }
    scores = be.Scores(**case.scores())
    words = IMPOSTORS[::2] if case.square else IMPOSTORS  # a card accepts no others
    impostors = data.draw(st.sampled_from(words))
    card = card_of(
        scores,
        open_set=options | {"impostors": impostors},
        closed_set=options | {"unmated": "skip"},
    )
    result = sums(scores, card, t)
    ds = be.open_set(scores, thresholds=[t], impostors=impostors, **options)
    counts = result.get("open_set", {})
    for name in ("genuine_attempts", "impostor_attempts", "fa", "gr"):
        assert counts.get((name, None), 0) == ds[name].item(), name
    np.testing.assert_allclose(at_ranks(counts, "di", ds["rank"]), ds.di[0], atol=1e-12)
    missed = counts.get(("fr", None), 0)
    if ds.genuine_attempts:
        assert missed / ds.genuine_attempts.item() == pytest.approx(ds.frr.item(), abs=1e-12)
    closed = be.closed_set(scores, unmated="skip", **options)
    counts = result.get("closed_set", {})
    assert counts.get(("attempts", None), 0) == closed.attempts.item()
    assert counts.get(("skipped", None), 0) == closed.skipped.item()
    cumulative = np.cumsum(at_ranks(counts, "cms_count", closed["rank"]))
    np.testing.assert_allclose(cumulative, closed.cms_count, atol=1e-12)


@settings(max_examples=5)
@given(data=st.data())
def test_excluded_sessions(data):
    """Pairs of one session."""
    case = data.draw(matrices(layouts=("square",), sizes=((2, 2), (3, 1, 2), (2, 2, 2)), **SMALL))
    n = len(case.values)
    meta = {"session": data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))}
    t = float(data.draw(thresholds(case, max_size=1))[0])
    scores = be.Scores(**case.scores(), probe_meta=meta, exclude=("session",))
    result = sums(scores, for_layout(scores.layout), t)
    ds = be.verification(scores, thresholds=[t])
    for name in ("ga", "fr", "fa", "gr"):
        assert result["verification/single"].get((name, None), 0) == ds[name].item()
    ds = be.open_set(scores, thresholds=[t])
    for name in ("genuine_attempts", "impostor_attempts", "fa", "gr"):
        assert result.get("open_set", {}).get((name, None), 0) == ds[name].item()
