"""Selectivity: the candidates within a threshold, counted search by search."""

from __future__ import annotations

import naive
import numpy as np
import pytest
import strategies as cases
from hypothesis import given, settings, strategies as st
from named_arguments import raises_about
from twins import floats

import bioeval as be

THRESHOLDS = (-1.0, 0.5, 1.0, 2.0, 3.0)


def selectivity(case, unit, fusion, impostors):
    """Return the mean candidates of non-mated and of mated searches at each threshold."""
    data = naive.read(**case.naive())
    probes = naive.ranked(data, unit, fusion, "pessimistic")
    some = any(not r.enrolled for r in probes)
    if impostors == "auto":
        impostors = "unenrolled" if some else "leave-subject-out"
    result = {True: [], False: []}
    for t in [data.sign * naive.number(t) for t in THRESHOLDS]:
        mated, non_mated, searches = 0, 0, [0, 0]
        for i, r in enumerate(probes):
            listed = [c for c in naive.candidates(data, i, unit, fusion) if c.distance <= t]
            if r.rank is not None:
                searches[0] += 1
                mated += len(listed)
            plays = (
                data.all_against_all
                or impostors == "both"
                or r.enrolled == (impostors == "leave-subject-out")
            )
            if plays and r.nearest_other is not None:
                searches[1] += 1
                non_mated += sum(not c.mate for c in listed)
        result[True].append(naive.rate(mated, searches[0]))
        result[False].append(naive.rate(non_mated, searches[1]))
    return result[False], result[True]


@pytest.mark.slow
@settings(max_examples=cases.examples_of(80))
@given(data=st.data())
def test_candidates_are_counted_search_by_search(data):
    case = data.draw(cases.matrices(masks=("none", "labelled")))
    unit = data.draw(st.sampled_from(("template", "subject")))
    fusion = data.draw(st.sampled_from(cases.FUSIONS)) if unit == "subject" else "min"
    impostors = data.draw(st.sampled_from(("auto", "unenrolled", "leave-subject-out", "both")))
    options = {"rank_unit": unit, "fusion": fusion, "impostors": impostors}
    ds = be.open_set(be.Scores(**case.scores()), thresholds=THRESHOLDS, max_rank=1, **options)
    other_parts, mated = selectivity(case, unit, fusion, impostors)
    np.testing.assert_allclose(ds.selectivity_non_mated, floats(other_parts), rtol=1e-14)
    np.testing.assert_allclose(ds.selectivity_mated, floats(mated), rtol=1e-14)


def test_three_searches_by_hand():
    """Within 3, ann finds one template, bob two, and eve, who is not enrolled, one."""
    d = [[1, 4, 6], [5, 3, 2], [4, 4, 3]]
    scores = be.Scores(d, ["ann", "bob", "eve"], ["ann", "bob", "cat"])
    ds = be.open_set(scores, thresholds=[1, 3])
    assert ds.selectivity_mated.values.tolist() == [0.5, 1.5]
    assert ds.selectivity_non_mated.values.tolist() == [0, 1]
    assert ds.selectivity_non_mated.attrs["iso_term"] == "SEL(N, N, T)"


def test_when_it_is_counted():
    scores = be.simulate(6, 3, random_state=0)
    assert "selectivity_mated" not in be.open_set(scores)
    assert "selectivity_mated" in be.open_set(scores, selectivity=True)
    assert "selectivity_mated" not in be.open_set(scores, thresholds=[1.0], selectivity=False)
    assert "selectivity_mated" not in be.open_set(scores, thresholds=[1.0], gallery="single")
    with pytest.raises(be.ProtocolError, match="not defined for galleries of one template"):
        be.open_set(scores, gallery="single", selectivity=True)
    with raises_about(be.DataError, "selectivity"):
        be.open_set(scores, selectivity="yes")
