"""Curves over many partitions: each equals its own evaluation, and the mean is their mean."""

from __future__ import annotations

import numpy as np
import pytest
from named_arguments import raises_about
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.base.errors import DataError, ProtocolError


@pytest.fixture(scope="module")
def scores():
    return be.simulate(20, 4, random_state=3)


GALLERIES = be.partition.ProbeGallerySplit(1, n_repeats=5, random_state=1)
ENROLLED = be.partition.EnrolledSplit(
    be.partition.ProbeGallerySplit(2), unenrolled=0.5, n_repeats=4, random_state=1
)


def test_closed_set_over_galleries(scores):
    ds = be.repeat(scores, GALLERIES, task="closed_set", max_rank=30)
    for i, pair in enumerate(GALLERIES.split(scores)):
        one = be.closed_set(scores.select(pair), max_rank=30)
        np.testing.assert_array_equal(ds.cms[i, 0], one.cms)
        np.testing.assert_array_equal(ds.cms_count[i, 0], one.cms_count)
        assert ds.genuine_attempts[i, 0] == one.attempts
    np.testing.assert_allclose(ds.cms_mean, ds.cms.values[:, 0].mean(axis=0))
    np.testing.assert_allclose(ds.cms_low, np.quantile(ds.cms.values[:, 0], 0.025, axis=0))
    np.testing.assert_allclose(ds.cms_high, np.quantile(ds.cms.values[:, 0], 0.975, axis=0))
    # A gallery of 20 templates: beyond its end the curve keeps its value.
    assert (ds.cms.sel(rank=slice(20, 30)) == 1).all()


def test_open_set_with_unenrolled_subjects(scores):
    ds = be.repeat(scores, ENROLLED, task="open_set", max_rank=2, band="normal")
    t = ds.threshold.values
    for i, pair in enumerate(ENROLLED.split(scores)):
        one = be.open_set(scores.select(pair), thresholds=t, max_rank=2)
        np.testing.assert_array_equal(ds.dir[i, 0], one.dir)
        np.testing.assert_array_equal(ds.far[i, 0], one.far)
        assert ds.impostor_attempts[i, 0] == one.impostor_attempts
    sd = ds.far.values[:, 0].std(axis=0, ddof=1)
    high = np.minimum(ds.far_mean.values + 1.959963984540054 * sd, 1)
    np.testing.assert_allclose(ds.far_high, high)


def test_galleries_that_an_exclusion_reduces_are_counted():
    who, session = np.repeat(np.arange(10), 5), np.tile([1, 1, 1, 2, 2], 10)
    d = np.random.default_rng(0).random((50, 50)) + (who[:, None] != who)
    scores = be.Scores(d, who, probe_meta={"session": session}, exclude=("session",))
    galleries = be.partition.ProbeGallerySplit(2, n_repeats=3, random_state=1)
    fewer, none = [], []
    for probes, gallery in galleries.split(scores):
        own = [[g for g in gallery if who[g] == who[p]] for p in probes]
        lost = [sum(session[g] == session[p] for g in own[i]) for i, p in enumerate(probes)]
        fewer.append(sum(x > 0 for x in lost))
        none.append(sum(x == 2 for x in lost))
    result = be.repeat(scores, galleries)
    assert result.reduced_galleries.values[:, 0].tolist() == fewer and sum(none)
    arguments = {"fewer": sum(fewer), "probes": 90, "none": sum(none)}
    assert ("fewer-templates-compared", arguments) in [x[:2] for x in be.messages(result)]
    plain = be.repeat(scores.excluding(), galleries)
    assert "reduced_galleries" not in plain
    assert "fewer-templates-compared" not in [x.code for x in be.messages(plain)]


@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_verification_over_test_parts(scores, kind):
    if kind == "similarity":
        scores = be.Scores(-scores.values, scores.probe_labels, kind=kind)
    splitter = be.partition.RepeatedSubjectKFold(3, n_repeats=2, random_state=0)
    ds = be.repeat(scores, splitter)
    assert (ds.sizes["repeat"], ds.sizes["fold"]) == (2, 3)
    for i, (_, test) in enumerate(splitter.split(scores)):
        one = be.verification(
            scores.select(test, test),
            thresholds=ds.threshold.values,
            auc=False,
        )
        for name in ("gar", "frr", "far", "grr", "ga", "fa"):
            np.testing.assert_allclose(ds[name][i // 3, i % 3], one[name], rtol=0, atol=1e-15)
    assert ds.far_mean.isel(threshold=[0, -1]).values.tolist() in ([0, 1], [1, 0])


@pytest.mark.slow
@pytest.mark.parametrize("claims", [None, be.partition.ClaimSampler(3, 0.25)])
def test_equal_impostor_scores_are_attempts_each(scores, claims):
    """All against all has each score twice, and rounded scores are tied besides."""
    rounded = be.Scores(scores.values.round(1), scores.probe_labels)
    for splitter in (GALLERIES, be.partition.SubjectKFold(2)):
        enrols = splitter is GALLERIES
        ds = be.repeat(rounded, splitter, claims=claims)
        for i, parts in enumerate(splitter.split(rounded)):
            test = rounded.select(parts[1], parts[0] if enrols else parts[1])
            drawn = claims and claims.draw(test, i)
            kept = drawn and (drawn.probe, drawn.subject)
            one = be.verification(test, thresholds=ds.threshold.values, claims=kept)
            at = (i, 0) if enrols else (0, i)
            for name in ("ga", "fa", "far", "genuine_attempts", "impostor_attempts"):
                np.testing.assert_array_equal(ds[name][at], one[name])


@pytest.mark.slow
def test_the_mean_nears_the_exact_average(scores):
    """Galleries drawn at random: their mean is near that of all of them."""
    galleries = be.partition.ProbeGallerySplit(1, n_repeats=200, random_state=2)
    result = be.repeat(scores, galleries, task="closed_set", max_rank=1)
    halves = result.cms.values[:100].mean(), result.cms.values[100:].mean()
    assert abs(halves[0] - halves[1]) < 0.03


def test_more_repeats_keep_the_first(scores):
    few = be.repeat(scores, GALLERIES, task="closed_set")
    more = be.partition.ProbeGallerySplit(1, n_repeats=7, random_state=1)
    many = be.repeat(scores, more, task="closed_set")
    np.testing.assert_array_equal(many.cms[:5], few.cms)


def test_progress_and_files(scores, tmp_path):
    import xarray as xr

    seen: list[tuple[int, int]] = []
    with be.set_options(progress=lambda *x: seen.append(x)):
        ds = be.repeat(scores, GALLERIES, task="closed_set")
    assert seen == [(i, 5) for i in range(1, 6)]
    ds.to_netcdf(tmp_path / "r.nc", engine="h5netcdf")
    assert xr.load_dataset(tmp_path / "r.nc", engine="h5netcdf").identical(ds)


def test_a_partition_without_impostors_is_left_out():
    scores = be.simulate(4, 3, random_state=1)
    ds = be.repeat(scores, be.partition.SubjectKFold(4))
    assert np.isnan(ds.far_mean).all()
    assert np.isfinite(ds.frr_mean).all()
    be.plot.repeated(ds)


@pytest.mark.slow
def test_plots_hold_what_they_draw(scores):
    closed = be.repeat(scores, GALLERIES, task="closed_set")
    display = be.plot.repeated({"a": closed, "b": closed})
    assert list(display.bands) == ["a", "b"]
    np.testing.assert_array_equal(display.bands["a"].mean, closed.cms_mean)
    np.testing.assert_array_equal(display.lines_["a"].get_ydata(), closed.cms_mean)
    rates = be.repeat(scores, be.partition.SubjectKFold(3))
    assert list(be.plot.repeated(rates).bands) == ["FAR", "FRR"]
    opened = be.repeat(scores, ENROLLED, task="open_set")
    assert list(be.plot.repeated(opened).bands) == ["FAR", "DIR at rank 1"]
    with pytest.raises(
        DataError, match="has no cms_mean; draw each kind of result on its own axes"
    ):
        be.plot.repeated({"a": closed, "b": rates})
    with pytest.raises(DataError, match=r"be\.repeat"):
        be.plot.repeated(be.verification(scores))


def test_bad_input_is_refused(scores):
    with pytest.raises(DataError, match="Did you mean 'quantile'"):
        be.repeat(scores, GALLERIES, band="quantiles")
    with raises_about(DataError, "confidence"):
        be.repeat(scores, GALLERIES, confidence=95)
    with pytest.raises(ProtocolError, match="pairs"):
        be.repeat(be.Scores.from_pairs([0.1, 0.2], [1, 0]), GALLERIES)


def test_limits_say_what_they_are_for(scores):
    splitter = be.partition.RepeatedSubjectKFold(2, n_repeats=2, random_state=0)
    for interval, unit, population in (
        ("nadeau-bengio", "folds", "folds like these"),
        ("quantile", "folds", "these people"),
        ("subject-bootstrap", "people", "new people"),
    ):
        attrs = be.cross_evaluate(scores, splitter, interval=interval).attrs
        assert (attrs["interval_unit"], attrs["interval_for"]) == (unit, population)
