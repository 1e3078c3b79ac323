"""Results that a newer version saved."""

import pytest

import bioeval as be


def test_results_of_a_newer_version_are_refused():
    scores = be.simulate(8, 3, random_state=1)
    newer = be.cross_evaluate(scores, be.partition.SubjectKFold(2)).assign_attrs(schema=2)
    for call in (be.show, be.plot.folds):
        with pytest.raises(be.DataError, match="are of schema 2; this version .* reads schema 1"):
            call(newer)
    single = be.verification(be.simulate(4, 2))
    assert single.attrs["schema"] == 1
    for call in (be.show, be.plot.det):
        with pytest.raises(be.DataError, match="are of schema 2; this version .* reads schema 1"):
            call(single.assign_attrs(schema=2))
