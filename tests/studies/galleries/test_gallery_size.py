"""Rates against the size of the gallery: every smaller gallery there is, and the model beyond."""

from __future__ import annotations

import json
import math

import naive_galleries
import numpy as np
import pytest
import strategies as own
from hypothesis import given, strategies as st
from twins import floats, one_thread  # noqa: F401

import bioeval as be
from bioeval.protocol.tasks import Search
from bioeval.scores.blocks import BlockReader
from bioeval.scores.simulation.closed_forms import GaussianScores
from bioeval.studies.galleries import kernel
from bioeval.studies.galleries.sizes import BetaBinomial, SizeCounter, none_drawn

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
        if None not in far:
            np.testing.assert_allclose(ds.far[i], floats(far), rtol=0, atol=1e-13)
            assert ds.far_extrapolated[i] == 0
    assert not ds.extrapolated.any()


@pytest.mark.slow
@given(cases())
def test_the_whole_gallery_is_the_ordinary_result(drawn_case):
    case, limits, ties = drawn_case
    scores, whole = be.Scores(**case.scores()), subjects_of(case)
    options = {"ties": ties, "max_rank": whole, "thresholds": limits}
    ds = be.gallery_size(scores, [whole], **options).isel(gallery_size=0)
    ordinary = be.open_set(scores, rank_unit="subject", **options)
    np.testing.assert_allclose(ds.dir, ordinary.dir, rtol=0, atol=1e-14)
    np.testing.assert_allclose(ds.frr, ordinary.frr, rtol=0, atol=1e-14)
    if whole > 1:
        far = be.gallery_size(scores, [whole - 1], **options)
        if not far.far_extrapolated.any() and ordinary.impostors == "leave-subject-out":
            np.testing.assert_allclose(far.far[0], ordinary.far, rtol=0, atol=1e-14)


@pytest.mark.slow
@given(cases())
def test_properties(drawn_case):
    case, limits, ties = drawn_case
    sizes = list(range(1, subjects_of(case) + 1))
    ds = be.gallery_size(be.Scores(**case.scores()), sizes, thresholds=limits, ties=ties)
    if ds.genuine_attempts:
        np.testing.assert_allclose(ds.cms[0], 1, rtol=1e-14)  # alone in the gallery
        assert not (np.diff(ds.cms, axis=0) > 1e-14).any()
        assert not (np.diff(ds.cms, axis=1) < -1e-14).any()
    exact = ds.far_extrapolated.values == 0
    assert not (np.diff(ds.far.values[exact], axis=0) < -1e-14).any()
    share = ds.error_share
    np.testing.assert_array_equal(share.sel(unenrolled_share=0.0), ds.frr)
    np.testing.assert_array_equal(share.sel(unenrolled_share=1.0), ds.far)


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


# ---------------------------------------------------------------------------- beyond the data


def test_the_fit_finds_the_chances_again():
    rng = np.random.default_rng(1)
    trials = 200
    counts = rng.binomial(trials, rng.beta(0.4, 6.0, 20_000))
    weights = np.bincount(counts, minlength=trials + 1).astype(float)
    model = BetaBinomial.fitted(weights, trials)
    assert model.a == pytest.approx(0.4, rel=0.05) and model.b == pytest.approx(6.0, rel=0.1)
    # Large counts pooled into one.
    cut = np.append(weights[:40], weights[40:].sum())
    model = BetaBinomial.fitted(cut, trials)
    assert model.a == pytest.approx(0.4, rel=0.05) and model.b == pytest.approx(6.0, rel=0.15)


@pytest.mark.slow
def test_the_model_predicts_as_a_simulation_of_it():
    rng = np.random.default_rng(2)
    model, trials, extra = BetaBinomial(0.5, 9.0), 30, 70
    p = rng.beta(0.5, 9.0, 400_000)
    seen, more = rng.binomial(trials, p), rng.binomial(extra, p)
    table = model.more_closer(np.arange(6), trials, extra, 12)
    for x in (0, 1, 5):
        total = (x + more)[seen == x]
        shares = np.bincount(total, minlength=12)[:12] / len(total)
        np.testing.assert_allclose(table[x], shares, atol=0.006)
    assert model.none_closer(trials, extra) == pytest.approx(table[0, 0], rel=1e-12)


def test_nothing_to_extrapolate_from():
    d = np.full((6, 3), 9.0)
    d[np.arange(6), np.arange(6) % 3] = 1.0
    scores = be.Scores(d, list("abcabc"), list("abc"))
    ds = be.gallery_size(scores, [3, 10], thresholds=[2.0, 9.5])
    assert ds.cms[0, 0] == 1 and np.isnan(ds.cms[1]).all()
    codes = [message.code for message in be.messages(ds)]
    assert codes == ["sizes-beyond-data", "nothing-to-extrapolate-from"]
    assert (ds.far[:, 1] == 1).all() and np.isnan(ds.far[1, 0])


@pytest.mark.slow
def test_extrapolation_is_marked_continuous_and_near():
    """Predict 400 subjects from the first 100 of them."""
    whole = be.simulate(400, 3, within=0.8, random_state=3)
    first = np.arange(300)
    part = be.gallery_size(
        be.Scores(whole.values[:300, :300], whole.probe_labels[first]),
        [99, 100, 101, 400], thresholds=[3.0, 3.5, 4.0], max_rank=5,
    )  # fmt: skip
    assert part.extrapolated.values.tolist() == [0, 0, 1, 1]
    assert part.far_extrapolated.values.tolist() == [0, 1, 1, 1]
    steps = np.diff(part.cms.values, axis=0)
    assert (np.abs(steps[1]) < 3 * np.abs(steps[0]) + 1e-4).all() and (steps <= 1e-12).all()
    assert part.attrs["exact_up_to"] == 100 and "beta-binomial" in part.attrs["model"]
    (message,) = be.messages(part)
    assert message.arguments["sizes"] == [101, 400] and message.arguments["subjects"] == 100
    probes = be.gallery_size(
        whole.select(probes=first, gallery=np.arange(1200)), [100, 400], thresholds=[3.0, 3.5, 4.0],
        max_rank=5,
    )  # fmt: skip
    # The same probes against the whole: the prediction for the other subjects holds.
    np.testing.assert_allclose(part.cms[3], probes.cms[1], atol=0.05)
    np.testing.assert_allclose(part.far[3], probes.far[1], atol=0.05)
    assert len(part.validation_size) == 2 and np.abs(part.validation_cms_error).max() < 0.06
    # Without any extrapolation there is nothing to validate.
    assert "validation_size" not in be.gallery_size(whole, [10, 100], thresholds=[3.0]).dims


def test_the_validation_predicts_the_whole_from_a_part():
    """What it reports is the prediction of the model, less what is there."""
    scores = be.simulate(80, 3, within=1.0, random_state=4)
    ds = be.gallery_size(scores, [20, 80, 81], thresholds=[3.0], max_rank=8)
    # By hand, at 20 subjects: numbers closer in a random part, the fit, the prediction.
    ranks = be.ranks(scores, rank_unit="subject").identification_rank.values.astype(int) - 1
    from scipy.stats import hypergeom

    part = hypergeom.pmf(np.arange(20)[None], 79, ranks[:, None], 19).sum(axis=0)
    model = BetaBinomial.fitted(part, 19)
    predicted = (part @ model.more_closer(np.arange(20), 19, 60, 8)).cumsum() / len(ranks)
    errors = predicted - ds.cms.sel(gallery_size=80).values
    assert ds.validation_cms_error[0] == pytest.approx(errors[np.abs(errors).argmax()], abs=1e-6)


# -------------------------------------------------------------------------- parts and options


def test_parts_merge_to_the_whole():
    scores = be.simulate(12, (1, 4), within=1.2, random_state=1, layout="probe-against-gallery",
                         probes=3, unenrolled=3)  # fmt: skip
    limits, m = np.array([1.0, 2.0, 3.0]), scores.shape[0]
    search = Search(rank_unit="subject")

    def count(rows):
        reader = BlockReader(scores.select(probes=rows))
        counter = SizeCounter(reader, search, limits)
        for block in reader:
            counter.add(block)
        return counter.result()

    whole = count(np.arange(m))
    both = count(np.arange(10)).merge(count(np.arange(10, m)))
    np.testing.assert_array_equal(both.candidates, whole.candidates)
    np.testing.assert_array_equal(both.ranks.closer, whole.ranks.closer)
    other = SizeCounter(BlockReader(scores), search, limits[:2]).result()
    with pytest.raises(be.MergeError, match="thresholds"):
        whole.merge(other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sizes": [5, 2]}, "sizes is"),
        ({"sizes": [0, 2]}, "sizes is"),
        ({"sizes": [2.5]}, "sizes is"),
        ({"sizes": []}, "sizes is"),
        ({"unenrolled_shares": [2]}, "unenrolled_shares"),
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


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_least_error_over_thresholds(kind):
    """By trying all thresholds, and none: with few enrolled it is best to reject everybody."""
    scores = be.simulate(15, 3, within=1.2, random_state=3)
    sign = 1 if kind == "distance" else -1
    values = sign * np.asarray(scores.values)
    limits = np.sort(sign * np.linspace(0.5, 6.0, 12))
    shares = (0.0, 0.4, 0.95, 1.0)
    ds = be.gallery_size(
        be.Scores(values, scores.probe_labels, kind=kind),
        [3, 15, 40],
        thresholds=limits,
        unenrolled_shares=shares,
    )
    for u, share in enumerate(shares):
        for i in range(3):
            tried = [(1.0 - share, -np.inf)]
            for t in np.argsort(sign * limits):
                frr, far = float(ds.frr[i, t]), float(ds.far[i, t])
                tried.append(((1 - share) * frr + share * far, sign * float(limits[t])))
            least = min(tried)
            assert ds.least_error_share[u, i] == pytest.approx(least[0], abs=1e-15)
            assert ds.least_error_threshold[u, i] == sign * least[1]
    assert (ds.least_error_threshold[-1] == -sign * np.inf).all()


def test_least_error_is_unknown_where_rates_are():
    ds = be.gallery_size(be.Scores(1.0 - np.eye(3), ["a"] * 3), [1, 2], unenrolled_shares=[0, 0.5])
    np.testing.assert_array_equal(ds.least_error_share, [[0, np.nan], [np.nan, np.nan]])
    assert np.isnan(ds.least_error_threshold[1]).all()


@pytest.mark.slow
def test_sampled_galleries_lie_about_the_exact_mean():
    """Of equally many probes a subject, the mean of shared galleries is the mean over all."""
    scores = be.simulate(25, 3, within=1.0, random_state=2)
    options = {"thresholds": [3.0], "max_rank": 4}
    ds = be.gallery_size(scores, [3, 10, 25, 30], sampling=150, random_state=1, **options)
    mean = ds.cms_by_gallery.mean("repeat")
    se = ds.cms_sd / np.sqrt(150)
    assert (np.abs(mean - ds.cms)[:2] <= 4.5 * se[:2] + 1e-12).all()
    assert (se[:2, 0] > 0).all() and (ds.cms_sd[2] < 1e-12).all()
    assert np.isnan(ds.cms_by_gallery[:, 3]).all()
    # One of them, evaluated by itself.
    again = be.gallery_size(scores, [10], sampling=2, random_state=1, **options)
    values = set(np.rint(again.cms_by_gallery.values[:, 0, 0] * 30).astype(int).tolist())
    assert np.allclose(again.cms_by_gallery * 30, np.rint(again.cms_by_gallery * 30)) and values
    np.testing.assert_array_equal(again.cms_by_gallery[:, 0], ds.cms_by_gallery[:2, 1])
    other = be.gallery_size(scores, [10], sampling=2, random_state=3, **options)
    assert not other.cms_by_gallery.equals(again.cms_by_gallery)
    with pytest.raises(be.DataError, match="sampling"):
        be.gallery_size(scores, [3], sampling=0)


@pytest.mark.slow
def test_each_sampled_gallery_is_one_of_those_there_are():
    """Two of three subjects: three galleries, distinguished by their rates, drawn equally often."""
    d = [[0, 5, 2, 9], [5, 0, 9, 2], [2, 9, 0, 1], [9, 2, 1, 0]]
    people = np.array(["a", "a", "b", "b"])
    # c is nearer to a's templates than they are to each other, and far from b's.
    d = np.pad(np.array(d, dtype=float), (0, 1), constant_values=4.0)
    d[2:4, 4] = d[4, 2:4] = 8.0
    scores = be.Scores(d, [*people, "c"])
    wholes = []
    for pair in (("a", "b"), ("a", "c"), ("b", "c")):
        chosen = np.nonzero(np.isin(scores.probe_labels, pair))[0]
        part = be.Scores(d[np.ix_(chosen, chosen)], scores.probe_labels[chosen])
        wholes.append(be.closed_set(part, rank_unit="subject", max_rank=1).cms.values[0])
    assert sorted(wholes) == [0.0, 0.5, 1.0]
    ds = be.gallery_size(scores, [2], sampling=300, random_state=5, max_rank=1, thresholds=[1.0])
    result, counts = np.unique(ds.cms_by_gallery, return_counts=True)
    assert result.tolist() == [0.0, 0.5, 1.0] and (counts > 70).all()
