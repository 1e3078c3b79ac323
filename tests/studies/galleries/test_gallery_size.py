"""Rates against the size of the gallery: every smaller gallery there is."""

from __future__ import annotations

import json
import math

import naive_galleries
import numpy as np
import pytest
import strategies as own
from closed_forms import GaussianScores
from hypothesis import given, strategies as st
from twins import floats, one_thread  # noqa: F401

import bioeval as be
from bioeval.studies.galleries import kernel
from bioeval.studies.galleries.sizes import none_drawn

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
    ds = be.gallery_size(be.Scores(**case.scores()), list(sizes), thresholds=limits, **options)
    for i, size in enumerate(sizes):
        cms, dir_, far = naive_galleries.by_size(
            **case.naive(), size=size, thresholds=limits, **options
        )
        np.testing.assert_allclose(ds.cms[i], floats(cms), rtol=0, atol=1e-13)
        np.testing.assert_allclose(ds.dir[i], floats(dir_), rtol=0, atol=1e-13)
        if None in far:
            assert np.isnan(ds.far[i]).all()
        else:
            np.testing.assert_allclose(ds.far[i], floats(far), rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("population", "drawn", "limit"), [(30, 12, 31), (30, 30, 8), (900, 40, 60)]
)
def test_drawn_marked_is_hypergeometric(population, drawn, limit):
    from scipy.stats import hypergeom

    result = np.empty((population + 1, limit))
    kernel.drawn_marked(population, drawn, np.eye(population + 1), limit, result)
    expected = hypergeom.pmf(
        np.arange(limit)[None], population, np.arange(population + 1)[:, None], drawn
    )
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("population", "drawn"), [(6, 2), (6, 6), (50, 17), (3000, 1)])
def test_none_drawn_is_a_ratio_of_binomials(population, drawn):
    ways = math.comb(population, drawn)
    counts = range(0, population + 1, max(1, population // 10))
    expected = [math.comb(population - c, drawn) / ways for c in counts]
    result = none_drawn(population, drawn, population + 2)
    np.testing.assert_allclose(result[list(counts)], expected, rtol=1e-12)
    assert result[-1] == 0


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
    assert [x.code for x in be.messages(ds)] == ["one-subject-left-out"]


# ------------------------------------------------------------------------------------ options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": [5, 2]}, "sizes is"),
        ({"sizes": [0, 2]}, "sizes is"),
        ({"sizes": [2.5]}, "sizes is"),
        ({"sizes": []}, "sizes is"),
        ({"sizes": [2, 5]}, "from 1 to 4"),
        ({"fusion": "most"}, "fusion"),
        ({"impostors": "all"}, "impostors"),
        ({"max_rank": 0}, "max_rank"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(be.DataError, match=message):
        be.gallery_size(be.simulate(4, 2), **options)


@pytest.mark.slow
def test_default_sizes_similarities_and_files(tmp_path):
    import xarray as xr

    distance = be.simulate(30, 3, random_state=1)
    ds = be.gallery_size(distance)
    assert ds.gallery_size[0] == 2 and ds.gallery_size[-1] == 30 and len(ds.threshold) > 50
    mirrored = be.Scores(-distance.values, distance.probe_labels, kind="similarity")
    other = be.gallery_size(mirrored, thresholds=-ds.threshold.values[::-1])
    np.testing.assert_array_equal(other.dir, ds.dir[:, ::-1])
    np.testing.assert_array_equal(other.far, ds.far[:, ::-1])
    np.testing.assert_array_equal(other.threshold, -ds.threshold[::-1])
    ds.to_netcdf(tmp_path / "r.nc", engine="h5netcdf")
    with xr.open_dataset(tmp_path / "r.nc", engine="h5netcdf") as again:
        assert again.load().identical(ds)
    assert all(isinstance(x, (str, int, float)) for x in ds.attrs.values())
    json.dumps(ds.attrs)
