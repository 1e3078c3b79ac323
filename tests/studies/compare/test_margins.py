"""Margins of a comparison, against the intervals that the comparison gives at other confidences."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
import scipy

import bioeval as be
from bioeval.base.registry import scalar_registry
from bioeval.cli import main

MANY = 300


@pytest.fixture(scope="module")
def systems():
    crowd = be.simulate_embeddings(60, 4, within=0.8, random_state=1)
    return crowd.scores("l2").replace(name="first"), crowd.scores("l1").replace(name="second")


@pytest.mark.parametrize("confidence", [0.9, 0.95])
@pytest.mark.parametrize("margin", [0.002, 0.02, 0.04, 0.07])
@pytest.mark.cases(1)
def test_the_intervals_of_the_comparison_decide(systems, confidence, margin):
    """Both are read from the interval of twice the error probability, in both directions.

    Where this is that of percentiles, it is widened: no more is shown than by the percentiles.
    """
    for pair in (systems, systems[::-1]):
        result = be.compare(*pair, confidence=confidence, margin=margin, replicates=MANY)
        wide = be.compare(*pair, confidence=2 * confidence - 1, replicates=MANY)
        for i, measure in enumerate(result.measure.values):
            low, high = float(wide.difference_low[i]), float(wide.difference_high[i])
            scalar = scalar_registry()[str(result.scalar.values[i])]
            worst = -low if scalar.larger_is_better else high
            supported = bool(result.supported[i])
            not_worse = supported and worst < margin
            equivalent = supported and -margin < low and high < margin
            if measure.startswith(("EER", "FRR")):
                assert result.not_worse[i] <= not_worse and result.equivalent[i] <= equivalent
            else:
                assert result.not_worse[i] == not_worse and result.equivalent[i] == equivalent
        assert (result.margin == margin).all() and result.not_worse.dtype == np.int64


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("EER", 0),
        ("FRR at FAR <= 10 %", 0),
        ("FRR at FAR <= 1 %", 1),
        ("FAR at FRR <= 10 %", 0),
        ("FAR at FRR <= 10 %", 1),
    ],
)
def test_percentiles_are_widened_by_student_and_by_people_left_out(systems, name, first):
    """Margins next to the widened limits: from which on a system is not worse, and equivalent."""
    pair, options = (systems, systems[::-1])[first], {"replicates": MANY}
    if name.startswith("FAR"):
        options["frr_targets"] = [0.1]
    labels, rates = pair[0].probe_labels, []

    def rate(scores):
        if name == "EER":
            return be.verification(scores).eer.item()
        if name.startswith("FRR"):
            target = 0.1 if "10" in name else 0.01
            return be.verification(scores, far_targets=[target]).frr_at_far.item()
        return be.verification(scores, frr_targets=[0.1]).far_at_frr.item()

    for scores in pair:
        kept = [np.flatnonzero(labels != person) for person in np.unique(labels)]
        rates.append(np.array([rate(scores), *(rate(scores.select(x, x)) for x in kept)]))
    change = rates[0] - rates[1]
    value, without, n = change[0], change[1:], len(change) - 1
    error = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    student = scipy.stats.t.ppf(0.95, n - 1)
    row = be.compare(*pair, confidence=0.9, **options).sel(measure=name)
    factor = student / scipy.stats.norm.ppf(0.95)
    low = min(value - factor * (value - row.difference_low.item()), value - student * error)
    high = max(value + factor * (row.difference_high.item() - value), value + student * error)
    measure = {"EER": "eer", "FRR": "frr_at_far", "FAR": "far_at_frr"}[name[:3]]
    for limit, shown in ((high, "not_worse"), (max(-low, high), "equivalent")):
        for margin, expected in ((limit + 1e-6, 1), (limit - 1e-6, 0)):
            if margin > 0:
                compared = be.compare(*pair, margin={measure: margin}, **options)
                assert compared[shown].sel(measure=name) == expected


@pytest.mark.slow
def test_what_is_shown_grows_with_the_margin_and_is_symmetric(systems):
    shown = []
    for margin in (0.001, 0.03, 0.1, 0.5):
        there, back = (
            be.compare(*pair, margin=margin, replicates=MANY) for pair in (systems, systems[::-1])
        )
        np.testing.assert_array_equal(there.equivalent, back.equivalent)
        np.testing.assert_array_equal(there.equivalent, there.not_worse & back.not_worse)
        shown.append(there.equivalent.values + there.not_worse.values)
    assert (np.diff(shown, axis=0) >= 0).all()
    supported = there.supported.values == 1
    assert (
        there.equivalent.values[supported].all() and not there.equivalent.values[~supported].any()
    )


@pytest.mark.slow
def test_a_margin_of_some_measures(systems):
    result = be.compare(*systems, margin={"frr_at_far": 0.2, "eer": 0.3}, replicates=MANY)
    plain = be.compare(*systems, replicates=MANY)
    of = {"EER": 0.3, "FRR": 0.2}
    expected = [of.get(str(m)[:3], np.nan) for m in result.measure.values]
    np.testing.assert_array_equal(result.margin, expected)
    assert not result.not_worse.values[np.isnan(expected)].any()
    assert result.sel(measure="EER").equivalent == 1
    assert not {"margin", "not_worse", "equivalent"} & set(plain)
    for name in plain.data_vars:
        np.testing.assert_array_equal(plain[name], result[name])
    message = dict(zip(result.measure.values, result.attrs["verdicts"].splitlines(), strict=True))
    assert message["EER"] == "equivalent within 30 pp"  # no word of too few to decide
    apart = be.compare(*systems[::-1], margin={"frr_at_far": 0.05}, replicates=MANY)
    assert "; second may be worse by more than 5 pp" in apart.attrs["verdicts"]
    assert "pp" not in message["AUC"] and "pp" not in plain.attrs["verdicts"]


def test_the_same_decisions_of_few_people_show_little(systems):
    """Of 60 people, 30 disjoint pairs: no interval of width 0 stands for the bound by subjects."""
    a = systems[0]
    for margin, shown in ((0.04, 0), (0.06, 1)):
        result = be.compare(a, a, margin=margin, replicates=100)
        rate = result.sel(measure="recognition rate")
        assert rate.equivalent == rate.not_worse == shown  # 1 - 0.05^(1/60) = 0.049
        assert result.sel(measure="EER").equivalent == 0  # 1 - 0.05^(1/30) = 0.095
    assert be.compare(a, a, margin=0.1, replicates=100).sel(measure="EER").equivalent == 1


def test_nothing_is_shown_without_an_interval():
    one = be.Scores([[0.0, 1.0], [1.0, 0.0]], ["a", "a"])
    result = be.compare(one, one, margin=0.5, replicates=100)
    assert not result.not_worse.any() and not result.equivalent.any()
    assert "pp" not in result.attrs["verdicts"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (-0.01, r"margin is -0.01; expected a number in \(0, inf\)"),
        (0, "margin is 0; expected"),
        (1, "margin is 1; expected a proportion below 1"),
        (np.nan, "margin is nan"),
        ("0.01", "margin is '0.01'"),
        (True, "margin is True"),
        ([0.01], r"margin is \[0.01\]"),
        ({}, "margin is empty"),
        ({"frr": 0.01}, "a measure of margin is 'frr'; expected one of 'eer', 'eer_hull'"),
        ({"eer": -1}, "margin is -1"),
        ({"mean_ap": 0.01}, "a measure of margin is 'mean_ap'; expected one of 'eer'"),
    ],
)
def test_wrong_margins_are_refused(systems, given, says):
    with pytest.raises(be.DataError, match=says):
        be.compare(*systems, margin=given, replicates=100)


def test_a_margin_needs_an_interval_and_people(systems):
    with pytest.raises(
        be.DataError, match=r"confidence is 0.5; expected more than 0.5 with margin"
    ):
        be.compare(*systems, margin=0.01, confidence=0.5, replicates=100)
    mask = be.Scores(np.ones((3, 3)), mask=[[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    with pytest.raises(be.ProtocolError, match="Give labels"):
        be.compare(mask, mask, margin=0.01)


def test_a_convention_has_margins_of_its_own():
    crowd = be.simulate_embeddings(30, 4, within=0.8, random_state=1)
    pair = crowd.scores("l2"), crowd.scores("l1")
    options = {"protocol": "vehicleid", "replicates": 100}
    result = be.compare(*pair, margin={"mean_ap": 0.5}, **options)
    assert result.sel(measure="mAP").equivalent == 1
    with pytest.raises(be.DataError, match="'eer'; expected one of 'mean_ap'"):
        be.compare(*pair, margin={"eer": 0.5}, **options)


# ------------------------------------------------------------------ the command


@pytest.fixture
def command(systems, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for scores in systems:
        be.save(scores, f"{scores.name}.npz")
    return ["compare", "first.npz", "second.npz", "--far", "0.1", "--replicates", str(MANY)]


def test_the_command_says_the_same(systems, command, capsys):
    result = be.compare(*systems, margin=0.05, far_targets=[0.1], replicates=MANY)
    assert result.equivalent.any() and not result.equivalent.all()
    assert main([*command, "--margin", "0.05", "--out", "here", "--report", "here.html"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "equivalent within 5 pp" in shown and "from 90 %" in shown
    document = json.loads(Path("here/summary.json").read_text(encoding="utf-8"))
    with open("here/comparison.csv", encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    for i, (row, line) in enumerate(zip(document["measures"], table, strict=True)):
        for name in ("not_worse", "equivalent"):
            assert row[name] == int(line[name]) == int(result[name][i])
        assert row["margin"] == float(line["margin"]) == 0.05
    page = re.sub("<[^>]+>", "", Path("here.html").read_text(encoding="utf-8"))
    assert "equivalent within 5 pp" in page


def test_the_command_takes_margins_of_measures(command, capsys):
    assert main([*command, "--margin", "eer=0.2", "--margin", "auc=0.1", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["measures"]
    given = {row["measure"]: row["margin"] for row in rows if row["margin"] is not None}
    assert given == {"EER": 0.2, "AUC": 0.1}
    for wrong, says in (
        (["--margin", "0.1", "--margin", "eer=0.2"], "given twice"),
        (["--margin", "eer=0.1", "--margin", "eer=0.2"], "given twice"),
        (["--margin", "fnmr=0.1"], "a measure of --margin is 'fnmr'"),
        (["--margin", "eer=x"], "expected a number (0.01) or MEASURE=number"),
        (["--margin=-0.1"], "--margin is -0.1; expected"),
    ):
        assert main([*command, *wrong]) == 2
        assert says in capsys.readouterr().err
