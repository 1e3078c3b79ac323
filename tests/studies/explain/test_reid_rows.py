"""Each query of re-identification, explained, has the values that the task gives it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from strategies import TIES, matrices
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.protocol.loading import load
from bioeval.studies.explain.results import Count

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
    for name in ("probe_labels", "gallery_labels"):
        if fields[name] is not None:
            labels = np.asarray(fields[name]).tolist()
            fields[name] = [ids.get(x, x) if isinstance(x, int) else x for x in labels]
    meta = {"probe_meta": {"camera": draw(st.lists(cameras, min_size=m, max_size=m))}}
    if not case.square or case.gallery_labels is not None:
        meta["gallery_meta"] = {"camera": draw(st.lists(cameras, min_size=n, max_size=n))}
    return be.Scores(**fields, **meta, distractor_ids=(0,))


@settings(max_examples=10)
@given(data=st.data())
def test_each_query(data):
    scores = data.draw(reid_scores())
    options = {
        "removed": data.draw(st.sampled_from(RULES)),
        "removed_for_ap": data.draw(st.sampled_from(("as-above", "same-id-same-camera", "none"))),
        "cmc": data.draw(st.sampled_from(CMC)),
        "ap": data.draw(st.sampled_from(("sum", "trapezoid", "tied-once"))),
        "ties": data.draw(st.sampled_from(TIES)),
        "unmatched": data.draw(st.sampled_from(("skip", "zero"))),
        "junk": data.draw(st.sampled_from(("remove", "keep"))),
        "rank_k": data.draw(st.sampled_from((None, 2))),
        "rank_k_over": data.draw(st.sampled_from(("positives", "smaller", "found"))),
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
        walks = [w for w in be.explain(scores, i, protocol=card).tasks if w.task == "reid"]
        two = options["removed_for_ap"] not in ("as-above", options["removed"])
        assert len(walks) == 1 + two
        mine = {}
        for explained in walks:
            for count, amount in explained.counts.items():
                mine[count] = mine.get(count, 0) + amount
                counts[count] = counts.get(count, 0) + amount
        for name in ("average_precision", "inp", "rank_k_average_precision"):
            if name in ds and (ds.matches[i] or name != "rank_k_average_precision"):
                expected = ds[name].values[i]
                result = mine.get(Count(name, None, 0), 0 if ds.matches[i] else np.nan)
                if options["ties"] != "expected":  # any tied query makes all undefined there
                    np.testing.assert_allclose(result, expected, rtol=1e-12, err_msg=name)
        removed = [
            entry for entry in walks[0].entries
            if "removed by the convention" in entry.reason and entry.place is None
        ]  # fmt: skip
        assert len(removed) == ds.removed_entries[i]
    assert counts.get(Count("queries", None, 0), 0) == ds.queries.item()
    assert counts.get(Count("skipped", None, 0), 0) == ds.skipped.item()
    if "cmc_queries" in ds:
        assert counts[Count("cmc_queries", None, 0)] == ds.cmc_queries
    single = options["cmc"] == "single-gallery-shot"
    if not (single and options["ties"] == "expected"):
        at = [counts.get(Count("cmc_count", k, 0), 0) for k in range(1, MOST + 1)]
        np.testing.assert_allclose(np.cumsum(at), ds.cmc_count, atol=1e-9)
    if options["ties"] != "expected" and ds.queries:
        total = counts.get(Count("average_precision", None, 0), 0) / ds.queries.item()
        assert total == pytest.approx(ds.mean_ap.item(), nan_ok=True)


def test_precision_at_each_match():
    """Three matches at ranks 1, 3 and 4: AP = (1/1 + 2/3 + 3/4) / 3, INP = 3/4."""
    scores = be.Scores(
        [[0.1, 0.2, 0.3, 0.4, 0.5, 0.05, 0.06]], [1], [1, 2, 1, 1, 0, -1, 1],
        probe_meta={"camera": [1]}, gallery_meta={"camera": [2, 2, 3, 2, 2, 2, 1]},
        distractor_ids=(0,),
    )  # fmt: skip
    (explained,) = be.explain(scores, 0, protocol="market1501").tasks
    rows = [(e.place, e.template, e.role, e.reason) for e in explained.entries]
    assert rows == [
        (1, "0", "genuine", "match 1 of 3: precision 1/1"),
        (2, "1", "impostor", ""),
        (3, "2", "genuine", "match 2 of 3: precision 2/3"),
        (4, "3", "genuine", "match 3 of 3: precision 3/4"),
        (5, "4", "impostor", "distractor"),
        (None, "5", "left out", "junk: removed by the convention"),
        (None, "6", "left out", "same identity and same camera (1): removed by the convention"),
    ]
    assert explained.counts == pytest.approx(
        {
            Count("queries", None, 0): 1,
            Count("cmc_count", 1, 0): 1,
            Count("average_precision", None, 0): (1 + 2 / 3 + 3 / 4) / 3,
            Count("inp", None, 0): 3 / 4,
        }
    )


def test_a_match_on_one_of_two_lists():
    """A query counts for average precision, and is left out of a CMC that has no match for it."""
    scores = be.Scores(
        [[1.0, 2.0]], [1], [1, 2], probe_meta={"camera": [1]}, gallery_meta={"camera": [1, 2]}
    )
    card = load("market1501")
    card = replace(card, reid=replace(card.reid, removed_for_ap="none"))
    cmc, ap = be.explain(scores, 0, protocol=card).tasks
    assert cmc.counts == {Count("cmc_queries", None, 0): 0}
    assert cmc.notes[0].endswith("the query is left out of the CMC.")
    assert ap.counts == {
        Count("queries", None, 0): 1,
        Count("average_precision", None, 0): 1,
        Count("inp", None, 0): 1,
    }
    ds = be.evaluate(scores, card)["reid"]
    assert (ds.queries, ds.mean_ap, ds.cmc_queries) == (1, 1, 0)
    assert np.isnan(ds.cmc).all()


def test_identities_of_the_city():
    """Identity 4 is the fourth identity of [3, 3, 2, 1, 3, 3, 4, 4]."""
    ids = [3, 3, 2, 1, 3, 3, 4, 4]
    scores = be.Scores([np.arange(8.0)], [4], ids)
    (explained,) = be.explain(scores, 0, protocol="identity-dedup").tasks
    assert Count("cmc_count", 4, 0) in explained.counts
