"""The rows of any matrix sum to the counts of the task, which kernels count without a list."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import FUSIONS, TIES, UNITS, matrices, thresholds
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.protocol.loading import for_layout, load
from bioeval.protocol.tasks import OpenSet
from bioeval.studies.explain.tasks import Count

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
    return [counts.get(Count(name, int(rank)), 0) for rank in ranks]


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
            assert counts.get(Count(name), 0) == ds[name].item(), (templates, name)


@settings(max_examples=5)
@given(data=st.data())
def test_masks_without_labels(data):
    case = data.draw(matrices(masks=("alone",), **SMALL))
    t = float(data.draw(thresholds(case, max_size=1))[0])
    scores = be.Scores(**case.scores())
    card = for_layout(scores.layout)
    card = replace(
        card,
        verification=replace(card.verification, templates=("single",)),
        open_set=None,
        closed_set=None,
    )
    counts = sums(scores, card, t).get("verification/single", {})
    ds = be.verification(scores, thresholds=[t])
    for name in ("ga", "fr", "fa", "gr"):
        assert counts.get(Count(name), 0) == ds[name].item(), name


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
    words = OpenSet.fields()["impostors"].words(scores.layout)  # a card accepts no others
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
        assert counts.get(Count(name), 0) == ds[name].item(), name
    np.testing.assert_allclose(at_ranks(counts, "di", ds["rank"]), ds.di[0], atol=1e-12)
    missed = counts.get(Count("fr"), 0)
    if ds.genuine_attempts:
        assert missed / ds.genuine_attempts.item() == pytest.approx(ds.frr.item(), abs=1e-12)
    closed = be.closed_set(scores, unmated="skip", **options)
    counts = result.get("closed_set", {})
    assert counts.get(Count("attempts"), 0) == closed.attempts.item()
    assert counts.get(Count("skipped"), 0) == closed.skipped.item()
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
        assert result["verification/single"].get(Count(name), 0) == ds[name].item()
    ds = be.open_set(scores, thresholds=[t])
    for name in ("genuine_attempts", "impostor_attempts", "fa", "gr"):
        assert result.get("open_set", {}).get(Count(name), 0) == ds[name].item()


RULES = ("same-id-same-camera", "same-camera", "none")
CMC = ("first-match", "allshots", "single-gallery-shot", "identity-dedup")
MOST = 6


@st.composite
def reid_scores(draw):
    """Scores with cameras, junk and distractors."""
    case = draw(matrices(dtypes=("float32", "float64"), orders=("C",), nans=("reject", "exclude")))
    ids = {7: -1, 100: 0}
    m, n = case.values.shape
    cameras = st.sampled_from((1, 2))
    fields = case.scores()
    for name in ("labels", "gallery_labels"):
        if fields[name] is not None:
            labels = np.asarray(fields[name]).tolist()
            fields[name] = [ids.get(x, x) if isinstance(x, int) else x for x in labels]
    meta = {"probe_meta": {"camera": draw(st.lists(cameras, min_size=m, max_size=m))}}
    if not case.square or case.gallery_labels is not None:
        meta["gallery_meta"] = {"camera": draw(st.lists(cameras, min_size=n, max_size=n))}
    return be.Scores(**fields, **meta, distractor_ids=(0,))


@settings(max_examples=10)
@given(data=st.data())
def test_queries(data):
    scores = data.draw(reid_scores())
    options = {
        "removed": data.draw(st.sampled_from(RULES)),
        "removed_for_ap": data.draw(st.sampled_from(("as-above", "same-id-same-camera", "none"))),
        "cmc": data.draw(st.sampled_from(CMC)),
        "ap": data.draw(st.sampled_from(("sum", "trapezoid", "tied-once"))),
        "ties": data.draw(st.sampled_from(TIES)),
        "unmatched": data.draw(st.sampled_from(("skip", "zero"))),
        "junk": data.draw(st.sampled_from(("remove", "keep"))),
        "max_rank": MOST,
    }
    card = load("market1501")
    card = replace(card, layout=scores.layout, reid=replace(card.reid, **options))
    try:
        ds = be.evaluate(scores, card, per_query=True)["reid"].to_dataset()
    except be.ProtocolError as error:
        assert "expected ties" in str(error) or "no identity" in str(error)
        return
    counts = {}
    for i in range(scores.shape[0]):
        row = be.explain(scores, i, protocol=card)
        (task,) = (x for x in row.tasks if x.task == "reid")
        for count, amount in task.counts.items():
            counts[count] = counts.get(count, 0) + amount
        matched = bool(ds.matches[i])
        for name in ("average_precision", "inp"):
            if options["ties"] != "expected" and name in ds:
                result = task.counts.get(Count(name), 0 if matched else np.nan)
                expected = ds[name].values[i] if matched else result
                np.testing.assert_allclose(result, expected, rtol=1e-12, err_msg=name)
        if options["removed_for_ap"] in ("as-above", options["removed"]):
            removed = [
                entry
                for entry in row.lists[-1].entries
                if "removed by the convention" in str(entry.reason) and entry.place is None
            ]
            if not ds.left_out.values[i] if "left_out" in ds and ds.left_out.dims else True:
                assert len(removed) == ds.removed_entries[i] or not matched
    assert counts.get(Count("queries"), 0) == ds.queries.item()
    assert counts.get(Count("skipped"), 0) == ds.skipped.item()
    one_list = options["removed_for_ap"] in ("as-above", options["removed"])
    if one_list and options["cmc"] in ("first-match", "allshots"):
        at = at_ranks(counts, "cmc_count", range(1, MOST + 1))
        np.testing.assert_allclose(np.cumsum(at), ds.cmc_count, atol=1e-9)
