"""Recognition by view: plain loops over probes and gallery, and what is shown."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from named_arguments import raises_about
from result_messages import codes

import bioeval as be
from bioeval.cli import main


def naive(
    scores: be.Scores, views: tuple[Any, Any], ties: str
) -> dict[tuple[Any, Any], tuple[int, int, int]]:
    """Probes at rank 1, probes with a mate, and others, of each pair of views."""
    values, counts = np.asarray(scores.values, dtype=float), {}
    sign = -1 if scores.kind == "similarity" else 1
    square = scores.layout == "all-against-all"
    for a in sorted(set(views[0])):
        for b in sorted(set(views[1])):
            first = mated = unmated = 0
            for i, person in enumerate(scores.probe_labels):
                if views[0][i] != a:
                    continue
                mates: list[float] = []
                others: list[float] = []
                for j, other in enumerate(scores.gallery_labels):
                    itself = square and i == j
                    if views[1][j] == b and not itself and not np.isnan(values[i, j]):
                        (mates if other == person else others).append(sign * values[i, j])
                if not mates:
                    unmated += 1
                    continue
                mated += 1
                nearer = [x for x in others if x < min(mates)]
                if ties == "pessimistic":
                    nearer = [x for x in others if x <= min(mates)]
                first += not nearer
            counts[a, b] = first, mated, unmated
    return counts


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("ties", ["pessimistic", "optimistic"])
@pytest.mark.parametrize("square", [True, False])
@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_each_pair_is_that_of_plain_loops(kind, ties, square, text, dtype):
    rng = np.random.default_rng([square, text])
    m, n = (20, 20) if square else (17, 26)
    people, enrolled = rng.integers(0, 6, m), rng.integers(0, 6, n)
    views, gallery_views = rng.choice([0, 36, 90], m), rng.choice([0, 36, 90, 180], n)
    values = rng.integers(0, 9, (m, n)).astype(dtype)
    values[rng.random((m, n)) < 0.05] = np.nan
    if text:
        people, views, gallery_views = (x.astype(str) for x in (people, views, gallery_views))
        enrolled = enrolled.astype(str)
    options = {"kind": kind, "nan": "exclude", "probe_meta": {"view": views}}
    if square:
        gallery_views = views
        scores = be.Scores(values, people, **options)
    else:
        meta = {"view": gallery_views}
        scores = be.Scores(values, people, enrolled, gallery_meta=meta, **options)
    ds = be.by_view(scores, ties=ties)
    rates: dict[bool, list[float]] = {True: [], False: []}
    for (a, b), (first, mated, unmated) in naive(scores, (views, gallery_views), ties).items():
        at = ds.sel(probe_view=a, gallery_view=b)
        assert (at.attempts, at.skipped) == (mated, unmated)
        if mated:
            assert at.recognition_rate.item() == pytest.approx(first / mated, abs=1e-15)
            rates[a == b].append(first / mated)
        else:
            assert np.isnan(at.recognition_rate)
    assert ds.mean_across_views.item() == pytest.approx(np.mean(rates[False]))
    assert ds.mean_within_views.item() == pytest.approx(np.mean(rates[True]))
    assert ds.pairs_across_views == len(rates[False])
    for a in ds.probe_view.values:
        row = ds.sel(probe_view=a)
        other = row.recognition_rate.values[ds.gallery_view.values != a]
        np.testing.assert_allclose(row.mean_over_other_views, np.nanmean(other))


def test_one_subject_singletons_and_views_of_one_side():
    one = be.Scores([[0, 1.0], [1, 0]], ["ann", "ann"], probe_meta={"view": ["a", "b"]})
    ds = be.by_view(one)
    assert ds.recognition_rate.values.tolist()[0][1] == 1 and np.isnan(ds.mean_within_views)
    assert "view-pairs-without-attempts" in codes(ds)
    alone = be.Scores([[0, 1.0], [1, 0]], ["ann", "bob"], probe_meta={"view": ["a", "b"]})
    ds = be.by_view(alone)
    assert np.isnan(ds.recognition_rate).all() and (ds.skipped == 1).all()
    sides = be.Scores([[1.0, 2]], ["ann"], ["ann", "bob"])
    ds = be.by_view(sides, (["front"], ["side", "side"]))
    assert (ds.mean_across_views, ds.pairs_across_views) == (1, 1)


def test_what_is_wrong_is_said():
    scores = be.simulate(6, 3, random_state=0)
    with raises_about(be.DataError, "view"):
        be.by_view(scores, np.zeros(18))
    with pytest.raises(be.DataError, match="view"):
        be.by_view(scores)  # no such column
    with pytest.raises(be.ProtocolError):
        be.by_view(be.Scores.from_pairs([1.0, 2], [True, False]), ([0, 1], [0, 1]))


def test_the_mean_of_a_probe_view_and_what_is_shown(tmp_path, capsys):
    scores = be.simulate(30, 6, within=1.2, random_state=0)
    views = np.tile([0, 45, 90], 60)
    scores = be.Scores(scores.values, scores.probe_labels, probe_meta={"view": views})
    ds = be.by_view(scores)
    be.show(ds)
    assert "Across views, the mean recognition rate" in capsys.readouterr().out
    file = str(tmp_path / "gait.npz")
    be.save(scores, file)
    assert main(["by-view", file, "--view", "view"]) == 0
    out = capsys.readouterr().out
    for value in ds.recognition_rate.values.ravel():
        assert f"{100 * value:.2f} %" in out
    assert main(["by-view", file, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["mean_across_views"] == ds.mean_across_views.item()
    assert len(document["view_pairs"]) == 9
