"""Means by identity compared: values against loops over identities, limits against evaluations."""

from __future__ import annotations

import json
from pathlib import Path

import naive_identities
import naive_reid
import numpy as np
import pytest
from scipy.stats import t as student

import bioeval as be
from bioeval.cli import main

MANY = 200
SEARCHED = [
    *("recognition_rate_by_identity", "cms_by_identity=2"),
    *("dir_by_identity=1.2", "grr_by_identity=1.2", "open_set_score=1.2"),
]
RETRIEVED = ["mean_ap_by_identity", "mean_inp_by_identity", "cmc_by_identity=2"]


def labels(people=9, kind="names"):
    """Labels of people with one to five templates each, of people and of somebody alone."""
    number = np.arange(people) % 5 + 1
    who = np.repeat(np.arange(people), number)
    return np.array([f"p{i}" for i in who]) if kind == "names" else who


def systems(number=3, kind="distance", dtype=np.float64, people=9):
    """Systems of scores of few values, with ties."""
    who = labels(people)
    found = {}
    for i in range(number):
        rng = np.random.default_rng(i)
        values = (rng.normal(1 + (who[:, None] != who), 0.6) * 4).round() / 4
        values = (np.triu(values, 1) + np.triu(values, 1).T).astype(dtype)
        found[f"s{i}"] = be.Scores(-values if kind == "similarity" else values, who, kind=kind)
    return found


def case_of(scores, sign=1):
    return {
        "values": (sign * scores.values.astype(float)).tolist(),
        "probe_labels": scores.probe_labels.tolist(),
        "gallery_labels": None,
    }


def naive_searches(scores, sign=1):
    """The values of the searches, by loops over the attempts of each identity."""
    case = case_of(scores, sign)
    threshold = 1.2
    opened = naive_identities.open_set(threshold, **case)
    ranks = [naive_identities.cms(k, **case) for k in (1, 2)]
    return [float(x) for x in (*ranks, *opened)]


def naive_retrieval(scores):
    """The means over the queries of each identity first, and then over the identities."""
    case = case_of(scores, -1 if scores.kind == "similarity" else 1)
    queries = naive_reid.queries(case, None, "nothing")
    attempts = {name: [] for name in RETRIEVED}
    for who, q in zip(scores.probe_labels.tolist(), queries, strict=True):
        if not q.matches:
            continue
        ranking = naive_reid.ordered(q.entries, "stable")
        values = [
            naive_reid.average_precision(ranking, "sum"),
            naive_reid.inverse_negative_penalty(ranking),
            naive_reid.match_ranks(ranking)[0] <= 2,
        ]
        for name, value in zip(RETRIEVED, values, strict=True):
            attempts[name].append((who, value))
    return [float(naive_identities.mean_by_identity(x)) for x in attempts.values()]


def without(scores, person):
    kept = np.flatnonzero(scores.probe_labels != person)
    return scores.select(probes=kept, gallery=kept)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_values_of_searches_are_those_of_loops_over_identities(dtype):
    of_all = systems(dtype=dtype)
    ranking = be.compare(of_all, measures=SEARCHED, replicates=MANY)
    assert ranking["scalar"].values.tolist() == [x.partition("=")[0] for x in SEARCHED]
    for name, scores in of_all.items():
        found = ranking["value"].sel(system=name).values
        np.testing.assert_allclose(found, naive_searches(scores), atol=1e-12)


def test_values_of_retrieval_are_those_of_loops_over_identities():
    of_all = systems()
    how = {"measures": RETRIEVED, "protocol": "vehicleid", "replicates": MANY}
    ranking = be.compare(of_all, **how)
    assert ranking["scalar"].values.tolist() == [x.partition("=")[0] for x in RETRIEVED]
    for name, scores in of_all.items():
        found = ranking["value"].sel(system=name).values
        np.testing.assert_allclose(found, naive_retrieval(scores), atol=1e-12)
    a, b, _ = of_all.values()
    compared = be.compare(a, b, **how)
    np.testing.assert_allclose(compared["value_a"], naive_retrieval(a), atol=1e-12)
    np.testing.assert_allclose(compared["value_b"], naive_retrieval(b), atol=1e-12)


def jackknifed(of_value, a, b):
    """The difference of two systems with Student's limits, each person left out on all sides."""
    people = np.unique(a.probe_labels)
    change = np.array(of_value(a)) - np.array(of_value(b))
    each = []
    for person in people:
        rest = [np.array(of_value(without(x, person))) for x in (a, b)]
        each.append(rest[0] - rest[1])
    n = len(people)
    error = np.sqrt((n - 1) / n * ((np.array(each) - np.mean(each, axis=0)) ** 2).sum(axis=0))
    half = student.ppf(0.975, n - 1) * error
    return change, change - half, change + half


@pytest.mark.parametrize(
    ("measures", "protocol", "of_value"),
    [(SEARCHED, None, naive_searches), (RETRIEVED, "vehicleid", naive_retrieval)],
)
def test_limits_of_differences_are_those_of_people_left_out(measures, protocol, of_value):
    a, b, _ = systems(people=12).values()
    compared = be.compare(a, b, measures=measures, protocol=protocol, replicates=MANY)
    change, low, high = jackknifed(of_value, a, b)
    np.testing.assert_allclose(compared["difference"], change, atol=1e-12)
    # Limits are widened to 0 where fewer than six people are decided differently.
    few = (compared["independent_discordant"] < 6).values
    found = compared[["difference_low", "difference_high"]].to_dataarray().values
    expected = np.array([low, high])
    widened = np.array([np.minimum(low, 0), np.maximum(high, 0)])
    np.testing.assert_allclose(found, np.where(few, widened, expected), atol=1e-9)
    assert set(compared["interval_for"].values.tolist()) == {"new people"}


def limits_of(ranking, name="s0"):
    found = ranking[["value", "value_low", "value_high"]].sel(system=name)
    return found.to_dataarray().values.T


@pytest.mark.parametrize("gallery", ["new", "fixed"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_limits_of_searches_are_those_of_evaluations(gallery, kind):
    of_all, sign = systems(kind=kind), -1 if kind == "similarity" else 1
    if gallery == "fixed":  # evaluations of probes against a gallery take it as fixed
        rows, columns = np.arange(0, 25, 2), np.arange(1, 25, 2)
        of_all = {x: scores.select(rows, columns) for x, scores in of_all.items()}
    measures = [x.replace("=1.2", f"={sign * 1.2}") for x in SEARCHED]
    ranking = be.compare(of_all, measures=measures, gallery=gallery, replicates=MANY)
    how = {
        "average": "identity",
        "interval": "subject-bootstrap",
        "replicates": MANY,
    }
    scores = of_all["s0"]
    closed = be.closed_set(scores, unmated="skip", **how)
    opened = be.open_set(scores, thresholds=[sign * 1.2], **how).isel(threshold=0)
    expected = [
        [float(ds[f"{name}{end}"]) for end in ("", "_low", "_high")]
        for ds, name in (
            (closed, "recognition_rate_by_identity"),
            (closed.sel(rank=2), "cms_by_identity"),
            *((opened, x) for x in ("dir_by_identity", "grr_by_identity", "open_set_score")),
        )
    ]
    np.testing.assert_allclose(limits_of(ranking), expected, atol=1e-12)


def test_limits_of_retrieval_in_this_gallery_are_those_of_evaluations():
    of_all = systems()
    how = {"protocol": "vehicleid", "gallery": "fixed", "replicates": MANY}
    ranking = be.compare(of_all, measures=RETRIEVED, **how)
    alone = be.reid(
        of_all["s0"], "vehicleid", average="identity", interval="subject-bootstrap",
        replicates=MANY,
    )  # fmt: skip
    expected = [
        [float(ds[f"{name.partition('=')[0]}{end}"]) for end in ("", "_low", "_high")]
        for ds, name in zip((alone, alone, alone.sel(rank=2)), RETRIEVED, strict=True)
    ]
    np.testing.assert_allclose(limits_of(ranking), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("measures", "how"),
    [
        (SEARCHED, {}),
        (SEARCHED, {"gallery": "fixed"}),
        (RETRIEVED, {"protocol": "vehicleid"}),
        (RETRIEVED, {"protocol": "vehicleid", "gallery": "fixed"}),
    ],
)
def test_two_systems_by_name_have_the_limits_of_their_comparison(measures, how):
    a, b, _ = systems(people=12).values()
    how = {"measures": measures, "replicates": MANY, **how}
    ranking, compared = be.compare({"a": a, "b": b}, **how), be.compare(a, b, **how)
    assert ranking["measure"].values.tolist() == compared["measure"].values.tolist()
    found = ranking["difference_low"].sel(system="a", other_system="b").values
    np.testing.assert_array_equal(found, compared["difference_low"].values)


def test_a_card_with_means_by_identity_compares_them(tmp_path):
    of_all, card = systems(), tmp_path / "wild.toml"
    shipped = Path(__file__).parents[3] / "protocols" / "vehicleid.toml"
    text = shipped.read_text(encoding="utf-8").replace(
        "unmatched", 'average = "identity"\nunmatched'
    )
    card.write_text(text.replace('name = "vehicleid"', 'name = "wild"'), encoding="utf-8")
    found = {}
    for name in ("vehicleid", str(card)):
        labels = be.compare(of_all, protocol=name, replicates=MANY)["measure"].values.tolist()
        found[name] = [x for x in labels if "identity" in x]
    assert not found["vehicleid"]
    assert found[str(card)][:2] == ["mAP by identity", "mINP by identity"]
    assert "CMC(5) by identity" in found[str(card)]


def test_that_a_mean_needs_its_number():
    a, b, _ = systems().values()
    with pytest.raises(be.DataError, match="open_set_score, which needs a threshold"):
        be.compare(a, b, measures=["open_set_score"])
    with pytest.raises(be.DataError, match="a whole number from 1"):
        be.compare(a, b, measures=["cms_by_identity=0"])
    with pytest.raises(be.DataError, match="a measure"):
        be.compare(a, b, measures=["mean_ap_by_identity"])  # no convention is given


def test_unequal_people_count_alike():
    """One person with many probes decides the mean over probes, but not that by identity."""
    who = np.repeat([0, 1, 2, 3], [20, 2, 2, 2])
    values = 1.0 + (who[:, None] != who)
    values[who == 0] = values[who == 0][:, ::-1]  # its probes find others
    both = be.compare(
        be.Scores(values, who), be.Scores(1.0 + (who[:, None] != who), who),
        measures=["recognition_rate", "recognition_rate_by_identity"], replicates=MANY,
    )  # fmt: skip
    closed = be.closed_set(be.Scores(values, who), average="identity")
    expected = [closed.recognition_rate, closed.recognition_rate_by_identity]
    np.testing.assert_allclose(both["value_a"], np.array(expected, dtype=float))
    assert both["value_a"][1] > both["value_a"][0]


def test_the_command_ranks_by_identity(tmp_path, capsys):
    files = []
    for name, scores in systems().items():
        files.append(str(tmp_path / f"{name}.npz"))
        be.save(scores, files[-1])
    how = ["--measure", "recognition_rate_by_identity", "--measure", "open_set_score=1.2"]
    assert main(["compare", *files, *how, "--replicates", "200", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["ranking"]
    assert {row["measure"] for row in rows} == {
        "recognition rate by identity",
        "open-set score at threshold 1.2",
    }
    how = ["--protocol", "vehicleid", "--measure", "mean_ap_by_identity"]
    assert main(["compare", *files[:2], *how, "--replicates", "200"]) == 0
    assert "mAP by identity" in capsys.readouterr().out
