"""Simultaneous bands: the sup-t band by plain loops, and how often a whole curve lies in it."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from named_arguments import raises_about

import bioeval as be
from bioeval.stats.options import IntervalOptions

NORMAL = NormalDist()
BOOT = {"interval": "subject-bootstrap", "replicates": 200}
CURVES = ("gar", "frr", "far", "grr", "dir", "cms")


@pytest.fixture(scope="module")
def scores():
    return be.simulate(40, 4, within=0.8, random_state=1)


@pytest.fixture(scope="module")
def searched():
    return be.simulate(40, 3, layout="probe-against-gallery", within=0.9, random_state=2)


def both(function, scores, **options):
    plain, band = (
        function(scores, **BOOT, **options, band=x) for x in ("pointwise", "simultaneous")
    )
    return plain, band


def sup_t(rates, attempts, confidence):
    """The limits of each point as plain loops; None for a point with too few errors."""
    edge, inside = 0.5 / attempts, []
    for row in rates:
        errors = row[0] * attempts
        enough = errors > 5 - 1e-9 and attempts - errors > 5 - 1e-9
        drawn = [NORMAL.inv_cdf(min(max(x, edge), 1 - edge)) for x in row[1:]]
        inside.append((NORMAL.inv_cdf(row[0]), np.std(drawn), drawn) if enough else None)
    largest = []
    for b in range(len(rates[0]) - 1):
        away = [abs(x[2][b] - x[0]) / x[1] for x in inside if x is not None]
        largest.append(max(away))
    c = np.quantile(largest, confidence)
    return [
        None if x is None else [NORMAL.cdf(x[0] + sign * c * x[1]) for sign in (-1, 1)]
        for x in inside
    ]


@pytest.mark.slow
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_the_band_of_frr_by_plain_loops(scores, confidence):
    plain, band = both(be.verification, scores, thresholds=25, confidence=confidence)
    weights = IntervalOptions.parse("subject-bootstrap", 0.95, 200).weights(40)
    labels, values = scores.probe_labels, np.asarray(scores.values)
    people = np.unique(labels).tolist()
    rates = []
    for t in plain.threshold.values:
        wrong, made = np.zeros(40), np.zeros(40)
        for i in range(160):
            for j in range(160):
                if i != j and labels[i] == labels[j]:
                    wrong[people.index(labels[i])] += values[i, j] > t
                    made[people.index(labels[i])] += 1
        rates.append((wrong @ weights) / (made @ weights))
    expected = sup_t(rates, int(plain.genuine_attempts), confidence)
    assert 3 < sum(x is not None for x in expected) < 25
    for i, ends in enumerate(expected):
        low, high = float(plain.frr_low[i]), float(plain.frr_high[i])
        if ends is not None:
            low, high = min(low, ends[0]), max(high, ends[1])
        assert band.frr_in_band[i] == (ends is not None)
        np.testing.assert_allclose([band.frr_low[i], band.frr_high[i]], [low, high], atol=1e-9)
        np.testing.assert_allclose([band.gar_low[i], band.gar_high[i]], [1 - high, 1 - low])


@pytest.mark.parametrize("function", [be.verification, be.open_set, be.closed_set])
@pytest.mark.parametrize("kind", ["new people", "this gallery", "similarity"])
def test_bands_hold_the_pointwise_limits(scores, searched, function, kind):
    data = searched if kind == "this gallery" else scores
    if kind == "similarity":
        data = be.Scores(-np.asarray(scores.values), scores.probe_labels, kind="similarity")
    plain, band = both(function, data)
    assert (plain.attrs["band"], band.attrs["band"]) == ("pointwise", "simultaneous")
    found = [name for name in CURVES if f"{name}_in_band" in band]
    assert set(band) - set(plain) == {f"{name}_in_band" for name in found} and found
    errors = {"frr": "genuine_attempts", "dir": "genuine_attempts", "cms": "attempts"}
    for name in found:
        inside = band[f"{name}_in_band"].values == 1
        ends = [(x[f"{name}_low"].values, x[f"{name}_high"].values) for x in (plain, band)]
        for one, other in zip(*ends, strict=True):
            np.testing.assert_array_equal(one[~inside], other[~inside])
        (low, high), (lower, higher) = (tuple(x[inside] for x in pair) for pair in ends)
        assert (lower <= low).all() and (high <= higher).all() and (higher - lower > 0).all()
        assert (higher - lower > high - low).mean() > 0.9
        many = int(band[errors.get(name, "impostor_attempts" if name != "gar" else
                                   "genuine_attempts")])  # fmt: skip
        count = np.rint(band[name].values * many)
        if name == "dir":
            count, inside = count[:, :10], band.dir_in_band.values[:, :10] == 1
            assert not band.dir_in_band.values[:, 10:].any()
        np.testing.assert_array_equal(inside, (count >= 5) & (many - count >= 5))
    for name in set(plain) - {f"{x}_{end}" for x in found for end in ("low", "high")}:
        np.testing.assert_array_equal(plain[name], band[name])  # points, and CMS(1) as a scalar


def test_a_tree_has_bands_of_its_curves(scores):
    tree = be.evaluate(scores, **BOOT, band="simultaneous")
    for node in tree.leaves:
        assert node.attrs["band"] == "simultaneous"
    alone = be.verification(scores, **BOOT, band="simultaneous")
    np.testing.assert_array_equal(tree["verification/single"].frr_high, alone.frr_high)
    half = np.arange(160) % 4 < 2
    tree = be.evaluate(scores.select(half, ~half), "vehicleid", **BOOT, band="simultaneous")
    assert tree["reid"].attrs["band"] == "pointwise"


@pytest.mark.parametrize("method", [None, "wilson", "analytic", "clopper-pearson"])
def test_a_band_needs_replicates(scores, method):
    for function in (be.verification, be.open_set, be.closed_set, be.evaluate):
        with pytest.raises(be.DataError, match='band="simultaneous" needs.*subject-bootstrap'):
            function(scores, interval=method, band="simultaneous")
    with raises_about(be.DataError, "band"):
        be.verification(scores, band="both")


def test_without_errors_nothing_is_in_the_band():
    labels = np.repeat(np.arange(10), 2)
    right = be.Scores((labels[:, None] != labels).astype(float), labels)
    plain, band = both(be.verification, right, thresholds=[0.2, 0.5])
    assert not band.frr_in_band.any() and not band.far_in_band.any()
    np.testing.assert_array_equal(plain.frr_high, band.frr_high)
    np.testing.assert_array_equal(plain.far_high, band.far_high)


def test_plots_draw_both_parts_and_say_which(scores):
    plain, band = both(be.verification, scores)
    for plot in (be.plot.error_rates, be.plot.roc, be.plot.det):
        for data, together in ((plain, False), (band, True)):
            shown = plot(data)
            texts = " ".join(x.get_text() for x in shown.ax_.texts) + shown.ax_.get_title("left")
            said = " ".join(texts.split())
            assert ("simultaneous along the curve" in said) == together
            assert bool(shown.pointwise_) <= together
            assert shown.bands_
    assert "FRR" in be.plot.error_rates(band).pointwise_


def test_the_command_has_bands(scores, tmp_path, monkeypatch, capsys):
    from bioeval.cli import main

    monkeypatch.chdir(tmp_path)
    be.save(scores, "s.npz")
    given = ["run", "s.npz", "--replicates", "200", "--band", "simultaneous", "--max-rank", "5"]
    assert main([*given, "--interval", "subject-bootstrap", "--report", "page.html"]) == 0
    assert "simultaneous along curves" in " ".join(capsys.readouterr().out.split())
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "simultaneous along the curve" in page and 'class="band apart' in page
    assert main([given[0], given[1], "--band", "simultaneous"]) == 2
    assert "--band simultaneous needs" in capsys.readouterr().err


@pytest.mark.slow
def test_whole_curves_lie_in_the_band():
    """The true FRR and FAR of many people; pointwise bands of the same points hold less often."""
    grid = np.linspace(2.0, 9.0, 40)
    many = {"within": 0.8}
    truth = be.verification(be.simulate(1500, 4, random_state=99, **many), thresholds=grid,
                            auc=False)  # fmt: skip
    runs, held = 80, {(name, band): 0 for name in ("frr", "far") for band in (0, 1)}
    for run in range(runs):
        data = be.simulate(60, 4, random_state=1000 + run, **many)
        pair = both(be.verification, data, thresholds=grid, auc=False)
        for name in ("frr", "far"):
            inside = pair[1][f"{name}_in_band"].values == 1
            for k, found in enumerate(pair):
                low, high = found[f"{name}_low"].values, found[f"{name}_high"].values
                value = truth[name].values
                held[name, k] += ((low <= value) & (value <= high))[inside].all()
    for name in ("frr", "far"):
        assert held[name, 1] / runs >= 0.9
        assert held[name, 0] < held[name, 1]
