"""Statistics over partitions and folds, against plain loops over the values."""

import math
import statistics

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import bioeval as be
from bioeval.stats import nadeau_bengio

FOLDS = ("repeat", "fold")


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def folds_of_own(rng, repeats=3, folds=4):
    """Rates of folds whose sizes and attempts differ, some folds without an attempt."""
    part = ("repeat", "fold", "part")
    impostor = rng.integers(5, 60, (repeats, folds, 2))
    impostor[0, 1, 1] = impostor[2, :, 0] = 0
    genuine = rng.integers(1, 30, (repeats, folds, 2))
    fa, fr = rng.binomial(impostor, 0.1), rng.binomial(genuine, 0.2)
    fa[..., 0] = np.where(impostor[..., 0] > 0, 0, fa[..., 0])
    far, frr = fa / np.where(impostor, impostor, np.nan), fr / genuine
    data = {
        "far": (part, far, {"units": "1"}),
        "frr": (part, frr, {"units": "1"}),
        "hter": (part, (far + frr) / 2, {"units": "1"}),
        "impostor_attempts": (part, impostor, {"units": "attempts"}),
        "genuine_attempts": (part, genuine, {"units": "attempts"}),
        "subjects": (part, rng.integers(10, 20, (repeats, folds, 2)), {"units": "subjects"}),
        "eer": (FOLDS, rng.random((repeats, folds)), {"units": "1"}),
        "eer_low": (FOLDS, rng.random((repeats, folds))),
        "system": (FOLDS, np.full((repeats, folds), "a")),
        "prior": ((), 0.5),
    }
    attrs = {"result_type": "verification", "interval_method": "nadeau-bengio", "confidence": 0.9}
    return xr.Dataset(data, {"part": ["train", "test"], "fold": np.arange(folds)}, attrs)


def test_statistics_are_those_of_plain_loops(rng):
    ds = folds_of_own(rng)
    summary = be.aggregate(ds, FOLDS, quantiles=(0, 0.3))
    labels = ["mean", "sd", "se", "median", "q0", "q0.3", "pooled", "number"]
    labels += ["repeats_mean", "repeats_sd"]
    assert summary["statistic"].values.tolist() == labels
    assert summary["far"].dims == ("statistic", "part")
    assert summary["prior"].equals(ds["prior"])
    assert not {"system", "fold"} & {*summary.variables}
    for name in ("far", "frr", "hter", "genuine_attempts"):
        for part in ("train", "test"):
            values = ds[name].sel(part=part).values.tolist()
            defined = [x for row in values for x in row if not math.isnan(x)]
            of_repeats = []
            for row in values:
                if known_of_repeat := [x for x in row if not math.isnan(x)]:
                    of_repeats.append(sum(known_of_repeat) / len(known_of_repeat))
            expected = {
                "mean": sum(defined) / len(defined),
                "sd": statistics.stdev(defined),
                "se": statistics.stdev(defined) / math.sqrt(len(defined)),
                "median": statistics.median(defined),
                "q0": min(defined),
                "q0.3": np.quantile(defined, 0.3),
                "number": len(defined),
                "repeats_mean": sum(of_repeats) / len(of_repeats),
                "repeats_sd": statistics.stdev(of_repeats),
            }
            for label, number in expected.items():
                assert summary[name].sel(part=part, statistic=label).item() == pytest.approx(
                    number, rel=1e-12, abs=1e-15
                )
    pooled, of_test = summary.sel(statistic="pooled", part="test"), ds.sel(part="test")
    two_rates = []
    for name, attempts in (("far", "impostor_attempts"), ("frr", "genuine_attempts")):
        errors = np.nansum(of_test[name] * of_test[attempts])
        two_rates.append(errors / of_test[attempts].values.sum())
    assert pooled["hter"].item() == pytest.approx(sum(two_rates) / 2, rel=1e-12)


def test_pooled_rates_are_summed_counts_over_summed_attempts():
    scores = be.simulate(30, 4, random_state=2)
    galleries = [range(0, 40), range(20, 100), range(90, 120)]
    tree = be.repeat(
        scores, [be.partition.ProbesGallery(range(120), x) for x in galleries], curves=True
    )
    summary = be.aggregate(tree)
    accepted, attempts = 0, 0
    for gallery in galleries:
        ds = be.verification(
            scores.select(range(120), gallery), thresholds=tree["verification/single"]["threshold"]
        )
        accepted, attempts = accepted + ds["fa"].values, attempts + int(ds["impostor_attempts"])
    node = summary["verification/single"]
    pooled = node["far"].sel(statistic="pooled").values
    np.testing.assert_allclose(pooled, accepted / attempts, rtol=1e-12)
    assert np.isnan(node["eer"].sel(statistic="pooled"))
    assert np.isfinite(node["eer"].sel(statistic="mean"))


def test_interval_of_the_attributes_or_the_argument(rng):
    ds = folds_of_own(rng)
    summary = be.aggregate(ds, FOLDS)
    sizes = {f"{x}_size": float(ds["subjects"].sel(part=x).mean()) for x in ("test", "train")}
    of_part = nadeau_bengio(ds["frr"].sel(part="test"), **sizes, confidence=0.9)
    limits = [summary[f"frr_{end}"].sel(part="test").item() for end in ("low", "high")]
    np.testing.assert_allclose(limits, [max(of_part.low, 0), of_part.high], rtol=1e-12)
    assert np.isnan(summary["far_low"].sel(part="train"))  # 0 in each fold
    assert summary["eer_low"].dims == ()  # of the mean, not of a fold
    assert "genuine_attempts_low" not in summary
    method = be.stats.IntervalMethod("quantile", confidence=0.8)
    middle = be.aggregate(ds, FOLDS, interval=method)
    expected = np.nanquantile(ds["far"].sel(part="test"), (0.1, 0.9))
    limits = [middle[f"far_{end}"].sel(part="test").item() for end in ("low", "high")]
    np.testing.assert_allclose(limits, expected, rtol=1e-12)
    assert (middle.attrs["interval_method"], middle.attrs["confidence"]) == ("quantile", 0.8)


@pytest.mark.parametrize("threshold", [1e308, -1e308, np.finfo(np.float64).max])
def test_the_mean_of_the_largest_thresholds_does_not_overflow(threshold):
    with np.errstate(all="raise"):
        study = be.study_threshold(be.simulate(40, 3, random_state=1), threshold)
    of_folds = be.aggregate(study["folds"], ("repeat", "fold"))["threshold"]
    for statistic in ("mean", "median", "repeats_mean"):
        np.testing.assert_allclose(of_folds.sel(statistic=statistic), threshold, rtol=1e-15)
    assert (of_folds.sel(statistic=["sd", "repeats_sd"]) <= 1e-15 * abs(threshold)).all()


def test_one_of_two_dimensions_and_a_tree(rng):
    ds = folds_of_own(rng)
    tree = xr.DataTree.from_dict({"verification/single": ds, "other": xr.Dataset({"x": 1.0})})
    summary = be.aggregate(tree, "fold")
    assert summary["other"]["x"].item() == 1
    far = summary["verification/single"]["far"]
    assert far.dims == ("statistic", "repeat", "part")
    expected = ds["far"].mean("fold")
    np.testing.assert_allclose(far.sel(statistic="mean").values, expected, rtol=1e-12)
    ratio = ds["subjects"].sel(part="test").mean("fold") / ds["subjects"].sel(part="train").mean(
        "fold"
    )
    frr = ds["frr"].sel(part="test")
    half = stats.t.ppf(0.95, 3) * frr.std("fold", ddof=1) * np.sqrt(0.25 + ratio)
    high = summary["verification/single"]["frr_high"].sel(part="test")
    np.testing.assert_allclose(high, np.minimum(frr.mean("fold") + half, 1), rtol=1e-12)


def test_what_cannot_be_aggregated_is_refused(rng):
    ds = folds_of_own(rng)
    many = np.arange(2000.0)
    for results, over, options, words in (
        (ds, "partition", {}, "`over` is `partition`; .* `repeat`, `fold`"),
        (0.1, FOLDS, {}, "`results` is 0.1; expected a result"),
        (ds, 2, {}, "`over` is 2; expected a list"),
        (ds, (), {}, "`over` is empty; .* `repeat`, `fold`"),
        (ds[[]], FOLDS, {}, "which have none"),
        (ds, [["fold"]], {}, r"`over` is \['fold'\]; expected text"),
        (ds, FOLDS, {"quantiles": many}, "`quantiles` is of type ndarray, .* from 0 to 1"),
        (ds, FOLDS, {"quantiles": [2.5]}, "from 0 to 1"),
        (ds.drop_vars("subjects"), FOLDS, {"interval": "nadeau-bengio"}, "sizes of parts"),
        (ds, FOLDS, {"interval": "wilson"}, "interval"),
    ):
        with pytest.raises(be.DataError, match=words):
            be.aggregate(results, over, **options)


def test_of_a_threshold_study_the_folds_are_asked_for():
    study = be.study_threshold(be.simulate(20, 4, random_state=1), "eer", folds=3, repeats=2)
    dimensions = ("repeat", "fold")
    with pytest.raises(be.DataError, match=r'study\["folds"\]'):
        be.aggregate(study, dimensions)
    mean = be.aggregate(study["folds"], dimensions)["far"].sel(statistic="mean", part="test")
    assert mean.item() == pytest.approx(study["rates"]["far"].sel(part="test").item(), rel=1e-12)


def test_limits_of_a_difference_are_not_those_of_a_rate(rng):
    """Results without attributes, or with values that no rate has, have no bounds."""
    ds = folds_of_own(rng)
    for attrs in ({}, ds.attrs):
        difference = ds.assign(frr=ds["frr"] - ds["frr"].mean() - 0.01)
        difference.attrs = dict(attrs)
        method = be.stats.IntervalMethod("nadeau-bengio")
        limits = be.aggregate(difference, FOLDS, interval=method)
        mean = limits["frr"].sel(statistic="mean", part="test")
        low, high = (limits[f"frr_{end}"].sel(part="test") for end in ("low", "high"))
        assert low < mean < high and low < 0
        assert float(mean - low) == pytest.approx(float(high - mean), rel=1e-9)


def test_folds_that_agree_say_so_at_any_rate():
    """Each person has one template far from its three others: FRR is 1/2 in every fold."""
    who = np.repeat(np.arange(6), 4)
    distances = np.where(who[:, None] == who, 1.0, 9.0)
    first = np.arange(0, 24, 4)
    for i in range(1, 4):
        distances[first, first + i] = distances[first + i, first] = 5.0
    scores = be.Scores(distances, who)
    folds = be.cross_evaluate(scores, be.partition.SubjectKFold(3), threshold=3.0)
    assert "FRR is 50 % in every fold: the spread is 0" in str(be.messages(folds))
    limits = be.aggregate(folds, "fold")
    assert np.isnan(limits["frr_low"]).all() and np.isnan(limits["far_low"]).all()


@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
def test_every_constant_over_folds_says_that_it_has_no_interval():
    """Of people who are far apart: EER 0, AUC 1, and CMS 1 at each rank."""
    scores = be.simulate(12, 4, within=0.05, random_state=1)
    folds = be.partition.SubjectKFold(3)
    results = [
        be.cross_evaluate(scores, folds, threshold="eer", far_targets=[0.1]),
        be.cross_evaluate(scores, folds, task="closed_set"),
    ]
    for result in results:
        said = {
            (x.arguments["rate"], x.arguments["value"])
            for x in be.messages(result)
            if x.code == "no-spread-between-parts"
        }
        limits = be.aggregate(result, ("repeat", "fold"))
        for name, value in (("eer", 0), ("auc", 1), ("cms", 1)):
            if name in result:
                assert (name, value) in said
                low = limits[f"{name}_low"]
                if "part" in low.dims:
                    low = low.sel(part="test")
                assert np.isnan(low.values).all()
