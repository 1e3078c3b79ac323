"""Rates against the size of the gallery: every smaller gallery there is."""

import naive
import naive_galleries
import numpy as np
import pytest
import strategies as own
from closed_forms import GaussianScores
from hypothesis import given, strategies as st
from reference import floats, one_thread  # noqa: F401
from result_messages import codes

import bioeval as be

NANS = ("raise", "reject", "exclude")


@st.composite
def cases(draw):
    case = draw(own.matrices(nans=NANS, masks=("none", "labelled")))
    return case, draw(own.thresholds(case, max_size=3)), draw(st.sampled_from(own.TIES))


def subjects_of(case) -> int:
    labels = case.probe_labels if case.gallery_labels is None else case.gallery_labels
    return len(set(np.asarray(labels).tolist()))


@given(cases(), st.sampled_from(own.FUSIONS), st.sampled_from(own.IMPOSTORS))
def test_every_smaller_gallery(drawn_case, fusion, impostors):
    case, limits, ties = drawn_case
    sizes = range(1, subjects_of(case) + 1)
    options = {"fusion": fusion, "ties": ties, "impostors": impostors, "max_rank": 3}
    scores = be.Scores(**case.scores())
    compared = [len(row) for row in naive.read(**case.naive()).rows]
    number_needed = scores.shape[1] - (case.gallery_labels is None)
    if any(0 < number < number_needed for number in compared):
        with pytest.raises(be.ProtocolError, match="part of the gallery"):
            be.gallery_size(scores, list(sizes), thresholds=limits, **options)
        return
    ds = be.gallery_size(scores, list(sizes), thresholds=limits, **options)
    for i, size in enumerate(sizes):
        cms, dir_, far = naive_galleries.by_size(
            **case.naive(), size=size, thresholds=limits, **options
        )
        np.testing.assert_allclose(ds.cms[i], floats(cms), rtol=0, atol=1e-13)
        np.testing.assert_allclose(ds.dir[i], floats(dir_), rtol=0, atol=1e-13)
        missed = [1 - of_ranks[0] for of_ranks in dir_]
        np.testing.assert_allclose(ds.frr[i], floats(missed), rtol=0, atol=1e-13)
        if None in far:
            assert np.isnan(ds.far[i]).all()
        else:
            np.testing.assert_allclose(ds.far[i], floats(far), rtol=0, atol=1e-13)


@pytest.mark.slow
def test_gaussian_scores_have_a_closed_form():
    """Galleries of fewer subjects of one large matrix, against the formula of each size."""
    truth = GaussianScores(d_prime=2.5)
    sizes, limits = [5, 20, 80, 200], [-2.5, -2.0, -1.5]
    result = []
    for seed in range(4):
        scores = be.simulate(
            200, 1, model="gaussian-scores", d_prime=2.5, layout="probe-against-gallery",
            probes=4, unenrolled=200, random_state=seed,
        )  # fmt: skip
        result.append(be.gallery_size(scores, sizes, thresholds=limits, max_rank=5))
    for i, size in enumerate(sizes):
        cms = np.mean([ds.cms[i] for ds in result], axis=0)
        np.testing.assert_allclose(cms, truth.cms(np.arange(1, 6), size), atol=0.02)
        far = np.mean([ds.far[i] for ds in result], axis=0)
        np.testing.assert_allclose(far, truth.open_set_far(limits, size), atol=0.02)
        dir_ = np.mean([ds.dir[i] for ds in result], axis=0)
        np.testing.assert_allclose(dir_, truth.dir(limits, np.arange(1, 6), size), atol=0.02)


def test_far_of_enrolled_probes_ends_one_subject_early():
    scores = be.simulate(10, 3, within=1.0, random_state=3)
    ds = be.gallery_size(scores, [9, 10], thresholds=[3.0, 4.0])
    assert np.isfinite(ds.far[0]).all() and np.isnan(ds.far[1]).all()
    assert np.isfinite(ds.frr).all()
    assert codes(ds) == ["one-subject-left-out"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": [5, 2]}, "`sizes` is"),
        ({"sizes": [0, 2]}, "`sizes` is"),
        ({"sizes": [2.5]}, "`sizes` is"),
        ({"sizes": []}, "`sizes` is"),
        ({"sizes": np.array([], dtype=int)}, "`sizes` is"),
        ({"sizes": [2, 5]}, "from 1 to 4"),
        ({"fusion": "most"}, "fusion"),
        ({"impostors": "all"}, "impostors"),
        ({"max_rank": 0}, "max_rank"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(be.DataError, match=message):
        be.gallery_size(be.simulate(4, 2), **options)
