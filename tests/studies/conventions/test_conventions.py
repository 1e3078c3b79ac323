"""Conventions: every reading is its call, and a planted departure is found by its number."""

from __future__ import annotations

import json
import math

import naive
import numpy as np
import pytest
import strategies as cases
from hypothesis import assume, given, settings, strategies as st
from rendered import require_names_kept

import bioeval as be
from bioeval.cli.program import main
from bioeval.studies.conventions.conventions import MEASURES
from bioeval.studies.conventions.readings import Published
from bioeval.studies.conventions.section import section, verdict

ASKED = (
    "eer", "auc", "d_prime", "frr_at_far=0.05", "dir_at_far=0.1", "recognition_rate", "cms=3",
    "mean_ap", "mean_inp", "cmc=2",
)  # fmt: skip


def drawn(seed: int, layout: str = "all-against-all") -> be.Scores:
    """Scores with ties, sessions and cameras of people who are hard to tell apart."""
    rng = np.random.default_rng(seed)
    more = {"probes": 2, "unenrolled": 2} if layout == "probe-against-gallery" else {}
    made = be.simulate(
        int(rng.integers(6, 14)), 3, layout=layout, within=1.2, sessions=2, cameras=3,
        random_state=seed, **more,
    )  # fmt: skip
    values = np.asarray(made.values).round(1)
    return made.with_values(values, "distance")


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["all-against-all", "probe-against-gallery"])
@pytest.mark.parametrize("measure", [*ASKED, None])
@pytest.mark.cases(8)
def test_every_reading_is_its_call(layout, measure):
    scores = drawn(3, layout)
    ds = be.conventions(scores, measure=measure)
    names = [measure] if measure else [x for x in map(str, ds.data_vars) if f"{x}_difference" in ds]
    assert len(set(ds.reading.values)) == len(ds.reading) > 1
    for i, call in enumerate(ds.call.values.tolist()):
        result = eval(call, {"be": be, "np": np, "scores": scores})
        for name in names:
            value = float(ds[name][i])
            if isinstance(result, float):
                assert len(names) > 1 or value == result
                continue
            stem, _, at = name.partition("=")
            there = result.to_dataset() if hasattr(result, "to_dataset") else result
            expected = there[stem]
            if stem in ("cms", "cmc"):
                expected = expected.sel(rank=int(at))
            elif at:
                expected = expected.sel(far_target=float(at))
                expected = expected[0] if expected.ndim else expected
            np.testing.assert_array_equal(value, float(expected), err_msg=call)


@pytest.mark.parametrize("seed", range(cases.examples_of(200)))
@pytest.mark.cases(1)
def test_a_planted_departure_agrees_with_its_number(seed):
    """The number of a drawn reading, printed as usual, is found again, and nearly always first."""
    rng = np.random.default_rng(seed)
    layout = ("all-against-all", "probe-against-gallery")[seed % 2]
    scores, measure = drawn(seed, layout), str(rng.choice(ASKED))
    if measure == "d_prime":
        measure = "eer"
    plain = be.conventions(scores, measure=measure)
    known = np.flatnonzero(~np.isnan(plain[measure].values))
    chosen = int(rng.choice(known))
    value = float(plain[measure][chosen])
    digits = int(rng.choice([1, 2]))
    cut = rng.random() < 0.3
    shown = math.floor(100 * value * 10**digits + 1e-9) / 10**digits if cut else 100 * value
    text = f"{shown:.{digits}f}"
    ds = be.conventions(scores, measure=measure, published=text, unit="percent")
    words = plain.reading.values[chosen]
    place = ds.reading.values.tolist().index(words)
    assert ds.agrees.values[place] in ("rounded", "cut"), (text, value)
    agree = int((ds.agrees != "").sum())
    assert place < agree
    if not cut:
        best = ds.distance.values[: agree + 1][ds.agrees.values[: agree + 1] == "rounded"]
        assert ds.distance.values[place] <= best.max()
    assert (ds.agrees.values[:agree] != "").all()


@pytest.mark.slow
@settings(max_examples=cases.examples_of(40))
@given(data=st.data())
def test_rules_of_points_are_those_of_their_words(data):
    case = data.draw(cases.matrices(dtypes=("float64",), masks=("none",), nans=("raise",)))
    genuine, impostor = naive.attempts_single(**case.naive())
    assume(genuine and impostor)
    points = naive.roc_points(genuine, impostor, case.kind)
    assume(np.isfinite(np.asarray(case.values, dtype=float)).all())
    nearest = min(abs(p.far - p.frr) for p in points)
    # In floats, in which these rules are stated, one of two equally near points may be nearer.
    equal = [p for p in points if abs(p.far - p.frr) == nearest]
    expected = {
        "EER as the mean of FAR and FRR where they are nearest": [
            (p.far + p.frr) / 2 for p in equal
        ],
        "EER as FRR where FAR and FRR are nearest": [p.frr for p in equal],
    }
    for a, b in zip(points, points[1:], strict=False):
        below, above = a.far - a.frr, b.far - b.frr
        if below <= 0 <= above and above > below:
            words = "EER where lines between the points of the ROC cross FAR = FRR"
            crossing = a.far + (b.far - a.far) * (0 - below) / (above - below)
            expected.setdefault(words, [crossing])
    ds = be.conventions(be.Scores(**case.scores()), measure="eer")
    for words, values in expected.items():
        there = [
            i for i, x in enumerate(ds.reading.values)
            if words in (x, *str(ds.also.values[i]).splitlines())
        ]  # fmt: skip
        result = float(ds.eer[there[0]])
        assert any(result == pytest.approx(float(x), abs=1e-12) for x in values), words


def test_the_strictest_nearest_point_of_the_worked_example():
    """FAR is 1/4 up to 0.3 and 0.4, FRR 1/2 and 0: the strictest gives 0.375, FVC's 0.125."""
    d = [[0, 0.2, 0.5, 0.6], [0.2, 0, 0.3, 0.7], [0.5, 0.3, 0, 0.4], [0.6, 0.7, 0.4, 0]]
    ds = be.conventions(be.Scores(d, ["A", "A", "B", "B"]), measure="eer", published="37.5")
    assert ds.eer.values[0] == 0.375 and ds.agrees.values[0] == "rounded"
    assert ds.option.values[0] == "torchmetrics"


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("seed", range(12))
def test_nearest_points_of_a_thinned_curve_are_those_of_scikit_learn(kind, seed):
    from sklearn.metrics import roc_curve

    rng = np.random.default_rng(seed)
    number = int(rng.integers(2, 30))
    genuine = np.append([True, False], rng.random(number) < 0.5)
    values = rng.integers(0, int(rng.integers(1, 40)), number + 2) + 3.0 * genuine
    sign = 1 if kind == "similarity" else -1
    far, gar, _ = roc_curve(genuine, values)
    near = int(np.abs(far - (1 - gar)).argmin())
    scores = be.Scores.from_pairs(sign * values, genuine, kind=kind)
    result = words_of(be.conventions(scores, measure="eer"))
    words = "EER as {} where FAR and FRR are nearest, at the strictest point that roc_curve keeps"
    assert result[words.format("FAR")] == pytest.approx(far[near], abs=1e-12)
    assert result[words.format("FRR")] == pytest.approx(1 - gar[near], abs=1e-12)


def words_of(ds) -> dict[str, float]:
    """Values by the words of each reading, those that share a row included."""
    values = {}
    for row, value, also in zip(ds.reading.values, ds.eer.values, ds.also.values, strict=True):
        for words in (str(row), *str(also).splitlines()):
            values[words] = float(value)
    return values


@pytest.mark.slow
def test_lists_cut_at_every_rank_by_every_divisor_are_tried():
    rng = np.random.default_rng(5)
    query, gallery = rng.integers(0, 4, 9), rng.integers(0, 4, 30)
    scores = be.Scores(rng.random((9, 30)), query, gallery)
    for over in ("positives", "smaller", "found"):
        planted = float(be.reid(scores, "vehicleid", rank_k=7, rank_k_over=over).rank_k_mean_ap)
        ds = be.conventions(scores, measure="rank_k_mean_ap", published=f"{100 * planted:.6f}")
        options = {json.loads(str(x))[0].get("rank") for x in ds.departures.values[:1]}
        assert ds.agrees.values[0] == "rounded" and options == {7}, over
    assert ds.attrs["readings_tried"] >= 3 * 30


def test_readings_by_hand():
    """Up to 2 FAR is 1/4, up to 3 it is 3/4, FRR 1/2 at both: four equal error rates."""
    pairs = be.Scores.from_pairs([1.0, 4, 2, 3, 3, 5], [1, 1, 0, 0, 0, 0], kind="distance")
    ds = be.conventions(pairs, measure="eer", published="37.5")
    result = {
        words: float(value)
        for row, value, also in zip(ds.reading.values, ds.eer.values, ds.also.values, strict=True)
        for words in (row, *also.splitlines())
    }
    assert result["EER as the mean of FAR and FRR where they are nearest"] == 0.625
    assert result["EER as the middle of FVC's interval"] == 0.375
    strictest = "EER as the mean of FAR and FRR at the strictest point where they are nearest"
    assert result[strictest] == 0.375  # up to 2
    assert result["EER as FRR where FAR and FRR are nearest"] == 0.5
    assert result["EER where lines between the points of the ROC cross FAR = FRR"] == 0.5
    assert result["EER on the convex hull of the ROC"] == pytest.approx(0.3)
    assert ds.reading.values[0] == "EER as the middle of FVC's interval"
    assert verdict(ds).arguments["count"] == 2 and ds.attrs["readings_tried"] > 4
    assert ds.attrs["left_out"] == "pairs"


@pytest.mark.parametrize(
    ("published", "unit", "value", "agrees"),
    [
        ("88.40", None, 0.88404, "rounded"),
        ("88.40", None, 0.88409, "cut"),
        ("88.40", None, 0.88411, ""),
        ("88.4", None, 0.88449999, "rounded"),
        ("0.884", None, 0.8844, "rounded"),
        ("0.884", None, 0.00884, "rounded"),
        ("0.884", "fraction", 0.00884, ""),
        ("0.884", "percent", 0.884, ""),
        ("88.4 %", None, 0.88445, "rounded"),
        ("1", None, 1.0, "rounded"),
        ("100", None, 1.0, "rounded"),
        ("0", None, 0.0, "rounded"),
    ],
)
def test_published_digits(published, unit, value, agrees):
    assert Published.parse(published, None, unit).agreement(value)[1] == agrees


def test_what_is_wrong_is_said():
    scores = drawn(1)
    for options, message in (
        ({"measure": "eerr"}, "measure is 'eerr'; expected one of eer, .*Did you mean 'eer'"),
        ({"measure": "cmc=0"}, "expected a rank, as cmc=1"),
        ({"measure": "frr_at_far=2"}, "expected a FAR between 0 and 1"),
        ({"published": "8"}, "published needs measure"),
        ({"measure": "eer", "published": "140"}, "expected a number from 0 to 1"),
        ({"measure": "eer", "published": "-3"}, "expected a number from 0 to 1"),
        ({"measure": "eer", "published": 8.4}, "without its printed digits"),
        ({"measure": "eer", "published": "8.4", "unit": "fraction"}, "above 1"),
        ({"measure": "eer", "published": "8.4", "unit": "points"}, "unit is 'points'"),
    ):
        with pytest.raises(be.DataError, match=message):
            be.conventions(scores, **options)
    assert float(be.conventions(scores, measure="eer", published=8.4, digits=1).distance[0]) >= 0
    with pytest.raises(be.CardError, match=r"market1501; expected cards with a section \[verif"):
        be.conventions(scores, measure="eer", cards=["market1501"])
    with pytest.raises(be.ProtocolError, match="no metadata column camera on both sides"):
        be.conventions(be.simulate(5, 3), measure="mean_ap", cards=["market1501"])


@pytest.mark.parametrize("measure", ["frr_at_far=0.05", "dir_at_far=0.1", "cms=3", None])
@pytest.mark.cases(2)
def test_names_of_systems_are_no_terms(measure):
    published = None if measure is None else "5.0"
    ds = be.conventions(drawn(3), measure=measure, published=published)
    require_names_kept(lambda name: section({"": ds.assign_attrs(system=name)}))


@pytest.mark.slow
def test_what_is_not_supported_is_named():
    ds = be.conventions(be.simulate(8, 3, random_state=1))
    assert ds.attrs["left_out"].split() == ["session", "camera"]
    assert [message.code for message in be.messages(ds)] == ["one-departure-each"]
    assert "eer" in ds and set(MEASURES["verification"]) > {"eer"}
    assert "mean_ap" in be.conventions(drawn(2, "probe-against-gallery"))


@pytest.mark.slow
def test_the_command(tmp_path, capsys):
    file = tmp_path / "s.npz"
    be.save(drawn(5), file)
    base = be.conventions(be.load(file), measure="eer")
    text = f"{100 * float(base.eer[0]):.1f}"
    folder = tmp_path / "out"
    args = ["conventions", str(file), "--measure", "eer", "--published", text]
    assert main([*args, "--out", str(folder), "--report", str(tmp_path / "p.html")]) == 0
    output = capsys.readouterr().out
    assert f"the published {text}" in " ".join(output.split()) and "rounded" in output
    heads = "reading,option,eer,difference,distance"
    assert (folder / "readings.csv").read_text().startswith(heads)
    assert main([*args, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    rows = document["readings"]
    assert rows[0]["agrees"] == "rounded" and rows[0]["eer"] == pytest.approx(
        float(base.eer[0]), abs=1e-3
    )
    assert document["verdict"] in " ".join(output.split())
