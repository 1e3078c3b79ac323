"""What a comparison finds follows from the scores: not from places, names, or a few people."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import pytest
import xarray as xr
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.cli.program import main


def worse(people, others, seed=0, by=3.0):
    """Two systems over all of them; in the second the genuine distances of `people` are larger."""
    labels = np.repeat(np.arange(others), 4)
    a = be.simulate_embeddings(others, 4, within=0.5, random_state=seed).scores("l2").values.copy()
    cells = (labels[:, None] == labels) & np.isin(labels, people)
    np.fill_diagonal(cells, False)
    b = a.copy()
    b[cells] += by
    return be.Scores(a, labels), be.Scores(b, labels)


@pytest.mark.parametrize("where", ["first", "last", "between"])
@pytest.mark.cases(1)
def test_eight_people_who_are_clearly_worse_are_found_wherever_they_are(where):
    order = {"first": np.arange(40), "last": np.arange(40)[::-1], "between": np.arange(40) * 7 % 40}
    result = be.compare(
        *worse(order[where][:8], 40),
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=400),
        far_targets=[0.1],
    )
    row = result.sel(measure="FRR at FAR <= 10 %")
    assert row.difference < -0.1 and row.better == 1 and row.undecided == ""
    assert result.discordant_subjects.sel(measure="AUC") == 8
    assert row.p_value == 2 / 2**8  # that of a sign test: resampling gives a smaller one


@pytest.mark.slow
def test_five_people_are_never_enough():
    """p and the interval are not beyond what a sign test of five people can show."""
    result = be.compare(
        *worse(np.arange(5), 40),
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=200),
        far_targets=[0.1],
    )
    assert not result.better.any() and not (result.undecided != "").any()
    for name in ("EER", "FRR at FAR <= 10 %", "AUC"):
        row = result.sel(measure=name)
        assert row.discordant_subjects >= 5 and row.p_value == 2 / 2**5
        assert row.difference_low <= 0 <= row.difference_high and row.difference != 0
    assert "differ on 5 independent subjects, and 6 are needed" in result.attrs["verdicts"]
    more = worse(np.arange(6), 40)
    assert (
        be.compare(
            *more,
            interval=be.stats.IntervalMethod("subject-bootstrap", replicates=200),
            far_targets=[0.1],
        )
        .better.values[:2]
        .all()
    )
    strict = be.compare(
        *more,
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=200, confidence=0.99),
        far_targets=[0.1],
    )
    assert not strict.better.any() and "on 6 independent subjects" in strict.attrs["verdicts"]
    assert "8 are needed" in strict.attrs["verdicts"]


@pytest.mark.parametrize("people", [1, 3, 5])
@pytest.mark.cases(1)
def test_few_people_who_draw_all_others_to_them_are_not_enough(people):
    """In one system they are the nearest of everybody: the hits of all change, by a few people."""
    a = be.simulate_embeddings(30, 3, within=0.5, random_state=2).scores("l2")
    labels, b = a.probe_labels, np.array(a.values)
    near = np.isin(labels, np.unique(labels)[:people])
    b[(labels[:, None] != labels) & near] = 0.01
    b = np.minimum(b, b.T)
    result = be.compare(
        a,
        be.Scores(b, labels),
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=200),
        far_targets=[0.1],
    )
    assert result.discordant_subjects.sel(measure="recognition rate") > 20
    assert not result.better.any()


@pytest.fixture(scope="module")
def drawn():
    """Two systems over people with one to four templates; 14 of 24 have noise."""
    rng = np.random.default_rng(5)
    labels = np.repeat(np.arange(24), [4, 3, 1, 4] * 6)
    x = rng.normal(size=(24, 4))[labels] + 0.8 * rng.normal(size=(len(labels), 4))
    y = x + 0.4 * rng.normal(size=x.shape) * (labels < 14)[:, None]
    values = [np.linalg.norm(z[:, None] - z, axis=-1) for z in (x, y)]
    return values, labels, np.arange(len(labels))


def square(values, labels, template):
    return [be.Scores(v, labels) for v in values]


def tied(values, labels, template):
    return square([np.round(v, 1) for v in values], labels, template)


def sides(values, labels, template):
    probe = template % 2 < 1
    return [be.Scores(v[np.ix_(probe, ~probe)], labels[probe], labels[~probe]) for v in values]


def listed(values, labels, template):
    i, j = np.triu_indices(len(labels), 1)
    kept = ((template[i] + template[j]) % 3 == 0) | (labels[i] == labels[j])
    i, j = i[kept], j[kept]
    who = np.stack([labels[i], labels[j]], axis=1)
    return [be.Scores.from_pairs(v[i, j], labels[i] == labels[j], subjects=who) for v in values]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "options"),
    [
        (tied, {}),
        (tied, {"ties": "expected"}),
        (sides, {}),
        (listed, {}),
        (square, {"protocol": "vehicleid", "adjust": "holm"}),
    ],
)
@pytest.mark.cases(2)
def test_no_place_and_no_name_makes_a_difference(drawn, form, options):
    """Templates and subjects change places, subjects their names, and both systems theirs."""
    values, labels, template = drawn
    options = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100), **options}
    result = be.compare(*form(*drawn), **options)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(labels))
    moved = [v[np.ix_(order, order)] for v in values], labels[order], template[order]
    names = np.array([f"{p:03}" for p in rng.permutation(24)])
    for data in (moved, (values, names[labels], template), (moved[0], names[moved[1]], moved[2])):
        again = be.compare(*form(*data), **options)
        for name in result.data_vars:
            if result[name].dtype.kind == "f":
                np.testing.assert_allclose(again[name], result[name], rtol=0, atol=1e-12)
            else:
                np.testing.assert_array_equal(again[name], result[name])
        assert again.attrs["verdicts"] == result.attrs["verdicts"]
    back = be.compare(*form(values[::-1], labels, template), **options)
    np.testing.assert_array_equal(back.better, -result.better)
    np.testing.assert_allclose(back.difference_low, -result.difference_high, rtol=0, atol=1e-12)
    np.testing.assert_allclose(back.p_value, result.p_value, rtol=0, atol=1e-12)
    for name in ("discordant_subjects", "undecided", "supported"):
        np.testing.assert_array_equal(back[name], result[name])
    if form is tied:
        return  # rounding would tie others
    scaled = be.compare(*form([np.exp(v) for v in values], labels, template), **options)
    np.testing.assert_array_equal(scaled.difference_low, result.difference_low)


def agree(result, alpha):
    """Each row: p, the interval and the verdict agree, or a code says why not."""
    for i in range(result.sizes["measure"]):
        row = result.isel(measure=i)
        if np.isnan(row.p_value):
            assert row.better == 0 and row.undecided == ""
            continue
        apart = row.difference_low > row.tolerance or row.difference_high < -row.tolerance
        assert apart == (row.p_value <= alpha)
        assert bool(row.better) == (apart and row.undecided == "")
        assert not (row.undecided != "" and not apart)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("confidence", "adjust"), [(0.8, "none"), (0.95, "none"), (0.95, "holm"), (0.99, "none")]
)
@pytest.mark.cases(2)
def test_p_value_interval_and_verdict_agree(drawn, confidence, adjust):
    """Also where they are close to one another: from five people on, more and more differ."""
    reasons = set()
    for people in (5, 7, 9, 16):
        systems = worse(np.arange(people), 24, seed=people, by=0.5)
        result = be.compare(
            *systems,
            interval=be.stats.IntervalMethod(
                "subject-bootstrap", replicates=100, confidence=confidence
            ),
            adjust=adjust,
            far_targets=[0.1, 1e-4],
        )
        agree(result, 1 - confidence)
        reasons |= set(result.undecided.values)
    assert (confidence == 0.8) == ("too-few-discordant" in reasons)
    assert (adjust == "holm") == ("adjusted" in reasons)


@pytest.mark.slow
def test_why_nothing_is_decided_is_shown(tmp_path, capsys, monkeypatch):
    """In the table, in JSON, in the saved file and on the page; there alone, where there is one."""
    monkeypatch.chdir(tmp_path)
    a, b = worse(np.arange(7), 24)
    np.savez("both.npz", first=a.values, second=b.values, who=a.probe_labels)
    command = ["compare", "both.npz", "both.npz", "--scores", "first", "--scores-b", "second",
               "--labels", "who", "--replicates", "100", "--far", "0.1"]  # fmt: skip
    for adjust in ("none", "holm"):
        given = [*command, "--adjust", adjust]
        assert main([*given, "--json"]) == 0
        rows = json.loads(capsys.readouterr().out)["measures"]
        why = {row["measure"]: row["undecided"] for row in rows if row["undecided"]}
        assert main([*given, "--out", adjust, "--report", f"{adjust}.html"]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        page = re.sub("<[^>]+>", "", (tmp_path / f"{adjust}.html").read_text(encoding="utf-8"))
        assert bool(why) == (adjust == "holm")
        for row in rows:
            if row["undecided"]:
                assert row["undecided"] == "adjusted"
                assert row["p_value"] <= 0.05 < row["p_adjusted"] and row["better"] == 0
                text = f"the p-value is {row['p_adjusted']:.2g} after Holm's adjustment"
                assert text in row["verdict"] and text in html.unescape(page)
                assert "after Holm's adjustment" in shown
        with xr.open_dataset(f"{adjust}/comparison.nc", engine="h5netcdf") as kept:
            assert kept.undecided.values.tolist() == [row["undecided"] for row in rows]
