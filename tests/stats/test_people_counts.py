"""The table of people: against plain loops over all comparisons."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import bioeval as be


def of_loops(scores, thresholds):
    """Attempts, and accepted ones at each threshold, of each pair of people that were compared."""
    sign = -1 if scores.kind == "similarity" else 1
    made, accepted = {}, {}
    for i, probe in enumerate(scores.probe_labels.tolist()):
        for j, claimed in enumerate(scores.gallery_labels.tolist()):
            value = scores.values[i, j]
            if scores.probe_ids[i] == scores.gallery_ids[j] or np.isnan(value):
                continue
            pair = probe, claimed
            made[pair] = made.get(pair, 0) + 1
            for k, threshold in enumerate(thresholds):
                accepted[k, pair] = accepted.get((k, pair), 0) + (sign * value <= sign * threshold)
    return made, accepted


def assert_as_loops(scores, thresholds):
    counts = be.stats.people_counts(scores, thresholds)
    made, accepted = of_loops(scores, thresholds)
    square = counts.table(counts.impostor_attempts)
    for p, probe in enumerate(counts.people):
        for c, claimed in enumerate(counts.people):
            number = counts.genuine_attempts[p] if p == c else square[p, c]
            assert number == made.get((probe, claimed), 0)
            for k in range(len(thresholds)):
                taken = counts.genuine_accepted[k, p]
                if p != c:
                    taken = counts.table(counts.impostor_accepted[k])[p, c]
                assert taken == accepted.get((k, (probe, claimed)), 0)
    return counts


@given(st.data())
def test_tables_are_those_of_plain_loops(data):
    m, n = data.draw(st.integers(1, 7)), data.draw(st.integers(1, 7))
    grid = st.sampled_from([0.0, 1.0, 2.0, 2.5, np.inf, np.nan])
    values = np.array(data.draw(st.lists(grid, min_size=m * n, max_size=m * n))).reshape(m, n)
    who = st.sampled_from("abc")
    probes = data.draw(st.lists(who, min_size=m, max_size=m))
    gallery = data.draw(st.lists(who, min_size=n, max_size=n))
    dtype = data.draw(st.sampled_from([np.float16, np.float32, np.float64]))
    kind = data.draw(st.sampled_from(["distance", "similarity"]))
    if kind == "similarity":
        values = -values
    scores = be.Scores(values.astype(dtype), probes, gallery, kind=kind, nan="exclude")
    thresholds = data.draw(st.lists(st.sampled_from([0.5, 1.0, -2.0, np.nan, np.inf]), max_size=3))
    assert_as_loops(scores, thresholds)


def test_listed_pairs_and_claims_have_tables():
    scores = be.simulate(12, 3, random_state=2)
    i, j = np.triu_indices(36, 1)
    who = scores.probe_labels
    pairs = be.Scores.from_pairs(
        scores.values[i, j], who[i] == who[j], subjects=np.stack([who[i], who[j]], axis=1)
    )
    counts = be.stats.people_counts(pairs, [1.0])
    assert counts.impostor_attempts.sum() == (who[i] != who[j]).sum()
    claims = be.stats.people_counts(scores, [1.0], templates="multi")
    assert claims.impostor_attempts.sum() == 36 * 11
    result = be.verification(scores, templates="multi", thresholds=[1.0])
    assert claims.impostor_accepted.sum() == result.fa.item()


def test_sums_of_groups_are_rates_of_groups():
    scores = be.simulate(30, 3, random_state=3)
    group = np.asarray(scores.probe_labels) % 3
    ds = be.by_group(scores, group, threshold=1.5)
    counts = be.stats.people_counts(scores, [1.5])
    of_person = np.asarray(counts.people) % 3
    accepted = counts.by_group(of_person, counts.impostor_accepted[0])
    np.testing.assert_array_equal(accepted, ds.fa.values)


def test_people_have_to_be_known_and_thresholds_are_numbers():
    unnamed = be.Scores.from_pairs([0.1, 0.9], [True, False])
    with pytest.raises(be.ProtocolError, match="a table of people needs the subjects"):
        be.stats.people_counts(unnamed, [0.5])
    scores = be.simulate(4, 2, random_state=1)
    for wrong in ("eer", [[0.5]], [1j]):
        with pytest.raises(be.DataError, match="thresholds is"):
            be.stats.people_counts(scores, wrong)
    assert be.stats.people_counts(scores, 0.5).impostor_accepted.shape[0] == 1
