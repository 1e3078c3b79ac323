"""Rates over time, and the ageing of templates, held to plain loops."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import naive
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from named_arguments import raises_about
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.base.errors import DataError, ProtocolError
from bioeval.cli import main
from bioeval.studies.time import section
from tests.rendered import require_names_kept


def drifting(seed: int = 0, people: int = 12, **options: Any) -> be.Scores:
    """Probes of 12 subjects seen over ten years; the genuine distance grows with the age."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(people), 2)
    probe = rng.integers(0, people + 2, 5 * people)
    enrolled, seen = rng.uniform(0, 4, len(who)), rng.uniform(1, 10, len(probe))
    withdrawn = np.where(rng.random(len(who)) < 0.2, enrolled + 4, np.nan)
    genuine = probe[:, None] == who
    age = np.maximum(seen[:, None] - enrolled, 0)
    distance = rng.normal(5, 1, genuine.shape) - genuine * (3 - 0.2 * age)
    given = {"probe_meta": {"seen_at": seen},
             "gallery_meta": {"enrolled_at": enrolled, "withdrawn_at": withdrawn}}  # fmt: skip
    return be.Scores(distance.round(1), probe, who, **given | options)


@st.composite
def cases(draw) -> tuple[dict[str, Any], be.Scores, list[Any]]:
    m, n = draw(st.integers(2, 8)), draw(st.integers(2, 6))
    square = draw(st.booleans())
    n = m if square else n
    few = st.integers(0, 2)
    labels = [draw(st.lists(few, min_size=x, max_size=x)) for x in (m, n)]
    values = [draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)) for _ in range(m)]
    time = st.one_of(st.none(), st.integers(0, 5))
    enrolled = draw(st.lists(time, min_size=n, max_size=n))
    seen = draw(st.lists(time, min_size=m, max_size=m).filter(lambda x: x != [None] * len(x)))
    kind = draw(st.sampled_from(("distance", "similarity")))
    given, meta = ({name: [np.nan if t is None else t for t in times]}
                   for name, times in (("seen_at", seen), ("enrolled_at", enrolled)))  # fmt: skip
    gallery = {} if square else {"gallery_labels": labels[1], "gallery_meta": meta}
    scores = be.Scores(
        np.array(values, dtype=np.float64), labels[0], kind=kind,
        probe_meta=given | (meta if square else {}), **gallery,
    )  # fmt: skip
    case = {"values": values, "probe_labels": labels[0], "kind": kind,
            "gallery_labels": None if square else labels[1],
            "times": (enrolled, [None] * n, seen)}  # fmt: skip
    return case, scores, seen


def twin(case: dict[str, Any], seen: list[Any], low: float, high: float, t: float) -> dict:
    """Count what the probes of one bin do, one comparison after the other."""
    data = naive.read(**case)
    limit = data.sign * t
    _, _, probes = naive.roles(data, "template", "min", "pessimistic", "auto")
    out_of_all = [r.enrolled for r in probes]
    result = dict.fromkeys(
        ("genuine_attempts", "fr", "impostor_attempts", "fa", "mated_searches", "dir_count",
         "cms_count", "non_mated_searches", "open_set_fa", "probes", "templates", "subjects"), 0
    )  # fmt: skip
    for i, row in enumerate(data.rows):
        if seen[i] is None or not low <= seen[i] < high:
            continue
        result["probes"] += 1
        for cell in row:
            accepted = cell.distance <= limit
            result["genuine_attempts" if cell.mate else "impostor_attempts"] += 1
            result["fr"] += cell.mate and not accepted
            result["fa"] += accepted and not cell.mate
        if probes[i].rank is not None:
            result["mated_searches"] += 1
            result["cms_count"] += probes[i].rank == 1
            result["dir_count"] += probes[i].rank == 1 and probes[i].best_mate <= limit
        plays = data.all_against_all or all(out_of_all) or not probes[i].enrolled
        if plays and probes[i].nearest_other is not None:
            result["non_mated_searches"] += 1
            result["open_set_fa"] += probes[i].nearest_other <= limit
        gallery = case["gallery_labels"] or case["probe_labels"]
        there = [j for j in range(len(gallery)) if naive.there(case["times"], i, j)]
        result["templates"] += len(there)
        result["subjects"] += len({gallery[j] for j in there})
    return result


def assert_twin(ds: xr.Dataset, case: dict[str, Any], seen: list[Any]) -> None:
    t = float(ds.threshold)
    ends = zip(ds.time.values.tolist(), ds.time_end.values.tolist(), strict=True)
    for b, (low, high) in enumerate(ends):
        expected, one = twin(case, seen, low, high, t), ds.isel(time=b)
        for name, number in expected.items():
            if name in ds:
                assert one[name].values.reshape(-1)[0] == number, (name, b)
        over = {"frr": "genuine_attempts", "far": "impostor_attempts", "dir": "mated_searches",
                "open_set_far": "non_mated_searches"}  # fmt: skip
        for name, key in over.items():
            assert np.isnan(one[name]).all() == (expected[key] == 0)
        for name in ("templates", "subjects"):
            mean = expected[name] / expected["probes"] if expected["probes"] else math.nan
            np.testing.assert_allclose(one[f"gallery_{name}"], mean)


@settings(max_examples=10)
@given(cases(), st.sampled_from((1, 3, [0, 2, 5], [1, 2, 3, 4])))
def test_a_given_threshold_is_counted_as_by_the_twin(given_, bins):
    case, scores, seen = given_
    assert_twin(be.over_time(scores, bins, threshold=2.0), case, seen)


@settings(max_examples=6)
@given(cases(), st.sampled_from(("eer", "far=0.3", "hter", "accuracy")))
def test_a_chosen_threshold_is_counted_as_by_the_twin(given_, rule):
    case, scores, seen = given_
    whole = be.verification(scores.excluding("not-enrolled"))
    if not (whole.genuine_attempts and whole.impostor_attempts):
        with pytest.raises(ProtocolError, match="needs attempts of both classes"):
            be.over_time(scores, 2, threshold=rule)
        return
    ds = be.over_time(scores, 2, threshold=rule)
    assert_twin(ds, case, seen)
    if rule == "eer":
        np.testing.assert_equal(ds.threshold.item(), whole.eer_threshold.item())


@pytest.mark.parametrize("templates", ["single", "multi"])
@pytest.mark.parametrize("square", [False, True])
@pytest.mark.cases(1)
def test_the_bins_sum_to_the_whole(templates, square):
    scores = drifting()
    if square:
        columns = scores.gallery_meta | {"seen_at": scores.probe_meta["seen_at"][:24]}
        scores = be.Scores(scores.values[:24], scores.gallery_labels, probe_meta=columns)
    for threshold in (2.5, "eer"):
        ds = be.over_time(scores, 5, threshold=threshold, templates=templates, ranks=(1, 3))
        plain = be.verification(
            scores.excluding("not-enrolled"), templates=templates, thresholds=[float(ds.threshold)]
        )
        opened = be.open_set(scores.excluding("not-enrolled"), thresholds=[float(ds.threshold)])
        for name in ("fr", "fa", "genuine_attempts", "impostor_attempts"):
            assert ds[name].sum() == plain[name].sum(), name
        assert ds.mated_searches.sum() == opened.genuine_attempts
        assert ds.open_set_fa.sum() == opened.fa.sum()
        np.testing.assert_array_equal(
            ds.dir_count.sum("time"), opened.di.isel(threshold=0).cumsum("rank").sel(rank=[1, 3])
        )
        assert ds.probes.sum() == scores.shape[0]


def test_large_matrices_and_a_different_order_of_rows():
    rng = np.random.default_rng(2)
    values, who = rng.random((600, 500)), rng.integers(0, 60, 1100)
    seen = rng.integers(0, 12, 600)
    scores = be.Scores(
        values, who[:600], who[600:], probe_meta={"seen_at": seen},
        gallery_meta={"enrolled_at": rng.integers(0, 12, 500)},
    )  # fmt: skip
    ds = be.over_time(scores, np.arange(13), threshold="far=0.01", ranks=())
    there = scores.gallery_meta["enrolled_at"] <= seen[:, None]
    accepted = there & (values <= float(ds.threshold)) & (who[:600, None] != who[600:])
    assert ds.fa.values.tolist() == [accepted[seen == k].sum() for k in range(12)]
    assert "cms" not in ds and "rank" not in ds.dims
    rows = rng.permutation(600)
    assert be.over_time(scores.select(probes=rows), np.arange(13), threshold="far=0.01",
                        ranks=()).equals(ds)  # fmt: skip


@pytest.mark.slow
def test_dates_months_and_files(tmp_path):
    dates = np.array(["2020-01-31T23:59", "2020-02-01", "2020-04-30", "NaT"], dtype="M8[s]")
    scores = be.Scores(
        np.arange(8.0).reshape(4, 2), [0, 1, 0, 1], [0, 1], probe_meta={"seen_at": dates},
        gallery_meta={"enrolled_at": ["2020-01-31", "2020-04-30"]},
    )  # fmt: skip
    ds = be.over_time(scores, "month", threshold=3)
    assert ds.time.values.astype("M8[M]").astype(str).tolist() == [
        "2020-01", "2020-02", "2020-03", "2020-04",
    ]  # fmt: skip
    assert ds.probes.values.tolist() == [1, 1, 0, 1]
    assert ds.gallery_templates.values.tolist()[3] == 2
    assert (ds.probes_outside, ds.attrs["chosen_on"]) == (1, "given")
    (message,) = (x for x in be.messages(ds) if x.code == "outside-bins")
    assert message.arguments == {"outside": 1, "total": 4, "of": "probes"}
    ds.to_netcdf(tmp_path / "x.nc", engine="h5netcdf")
    xr.testing.assert_identical(xr.load_dataset(tmp_path / "x.nc", engine="h5netcdf"), ds)
    same = be.over_time(scores, ["2020-01-01", "2020-03-01", "2020-05-01"], threshold=3)
    assert same.probes.values.tolist() == [2, 1]


@pytest.mark.slow
def test_intervals_are_those_of_the_rates():
    """One bin that holds everything: the intervals of verification and open set themselves."""
    scores = drifting(people=30)
    options = {"interval": "subject-bootstrap", "replicates": 200}
    ds = be.over_time(scores, [0, 100], threshold=2.5, **options)
    view = scores.excluding("not-enrolled")
    single = be.verification(view, thresholds=[2.5], **options)
    opened = be.open_set(view, thresholds=[2.5], max_rank=1, **options)
    for side in ("low", "high"):
        np.testing.assert_allclose(ds[f"frr_{side}"], single[f"frr_{side}"], atol=0.05)
        np.testing.assert_allclose(ds[f"dir_{side}"][0], opened[f"dir_{side}"][0], atol=0.05)
    assert (ds.frr_low < ds.frr).all() and (ds.frr < ds.frr_high).all()
    none = be.over_time(scores, [0, 100], threshold=99, **options)
    assert (none.frr_low == 0).all() and (none.frr_high > 0.05).all()


# ------------------------------------------------------------------------------------- ageing


def seen_by_cameras(seed: int = 0, kind: str = "distance") -> be.Scores:
    """The probes and the gallery of :func:`drifting`, under three cameras."""
    made = drifting(seed)
    sides = made.probe_meta, made.gallery_meta
    probe, gallery = (
        meta | {"camera": np.arange(len(meta[next(iter(meta))])) % 3} for meta in sides
    )
    sign = 1 if kind == "distance" else -1
    return be.Scores(
        sign * made.values, made.probe_labels, made.gallery_labels, kind=kind,
        probe_meta=probe, gallery_meta=gallery,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("card", ["gom-market1501", "vehicleid"])
@pytest.mark.cases(1)
def test_re_identification_of_a_bin_is_that_of_its_queries(kind, card):
    scores = seen_by_cameras(kind=kind)
    edges = [0, 2, 3, 3.0001, 6, 11]
    ds = be.over_time(scores, edges, threshold="far=0.1", reid=card, budget=7)
    seen, then = scores.probe_meta["seen_at"], scores.excluding("not-enrolled")
    given = {
        "convention": card,
        "budget": 7,
        "normalize": False,
        "thresholds": [float(ds.threshold)],
    }
    for b, (low, high) in enumerate(zip(edges, edges[1:], strict=False)):
        chosen = np.flatnonzero((seen >= low) & (seen < high))
        one = ds.isel(time=b)
        if not len(chosen):
            assert np.isnan([one.mean_ap, one.mrep, one.mfr]).all()
            assert one.reid_queries == one.open_queries == 0
            continue
        alone = be.gom(then.select(probes=chosen), **given)
        for name in ("mean_ap", "mrep", "mfr"):
            np.testing.assert_array_equal(one[name], alone[name].values.reshape(()), name)
        assert (one.reid_queries, one.open_queries) == (alone.queries, alone.open_queries)
    assert (ds.open_queries > 0).any() and (ds.reid_queries > 0).any()
    assert ds.attrs["reid_convention"] == card and ds.attrs["budget"] == 7
    plain = be.over_time(scores, edges, threshold="far=0.1")
    assert plain.equals(ds[list(plain)]) and "mrep" not in plain


def test_re_identification_over_time_refuses():
    scores = seen_by_cameras()
    with pytest.raises(
        DataError, match=r"budget is an option of mFR, .*give reid, such as 'gom-market1501'"
    ):
        be.over_time(scores, 3, budget=5)
    with pytest.raises(be.CardError, match=r"no \[gom\] and no \[reid\] section"):
        be.over_time(scores, 3, reid="course-kfold")
    with pytest.raises(ProtocolError, match="there is no column 'camera'"):
        be.over_time(drifting(), 3, reid="market1501")


def test_the_command_with_re_identification(tmp_path, capsys):
    scores, file = seen_by_cameras(), str(tmp_path / "s.npz")
    be.save(scores, file)
    args = ["over-time", file, "--bins", "3", "--reid", "gom-market1501", "--budget", "7"]
    assert main([*args, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["reid"]
    ds = be.over_time(scores, 3, reid="gom-market1501", budget=7)
    assert [row["mrep"] for row in rows] == ds.mrep.values.tolist()
    assert [row["open_queries"] for row in rows] == ds.open_queries.values.tolist()
    assert main(args) == 0
    assert re.search(r"mAP.*mReP.*mFR", capsys.readouterr().out, re.S)
    assert main([*args[:4], "--budget", "7"]) == 2
    assert (
        "--budget is an option of mFR, and mFR needs a card: give --reid" in capsys.readouterr().err
    )


def test_ageing_by_hand():
    scores = drifting(people=8)
    ds = be.ageing(scores, [0, 2, 5, 9], threshold=2.5, replicates=100)
    seen, enrolled = scores.probe_meta["seen_at"], scores.gallery_meta["enrolled_at"]
    withdrawn, pairs = scores.gallery_meta["withdrawn_at"], []
    for i, who in enumerate(scores.probe_labels):
        for j, other in enumerate(scores.gallery_labels):
            if who == other and enrolled[j] <= seen[i] and not seen[i] >= withdrawn[j]:
                pairs.append((seen[i] - enrolled[j], scores.values[i, j], who))
    for b, (low, high) in enumerate([(0, 2), (2, 5), (5, 9)]):
        inside = [score for age, score, _ in pairs if low <= age < high]
        one = ds.isel(age=b)
        assert one.genuine_attempts == len(inside)
        assert one.fr == sum(score > 2.5 for score in inside)
        np.testing.assert_allclose(one.genuine_mean, np.mean(inside))
        np.testing.assert_allclose(one.genuine_sd, np.std(inside))
    age, score, who = (np.array(x) for x in zip(*pairs, strict=True))
    slope, intercept = np.polyfit(age, score, 1)
    np.testing.assert_allclose([ds.slope, ds.intercept], [slope, intercept])
    for person in np.unique(who):
        own = who == person
        age[own] -= age[own].mean()
        score[own] -= score[own].mean()
    np.testing.assert_allclose(ds.slope_within, (age * score).sum() / (age**2).sum())


@pytest.mark.parametrize("sign", [1, -1])
def test_the_slope_is_that_of_the_population(sign):
    """Distances grow by 0.2 a year; similarities fall by as much."""
    scores = drifting(3, people=60)
    scores = be.Scores(
        sign * scores.values, scores.probe_labels, scores.gallery_labels,
        kind="distance" if sign > 0 else "similarity",
        probe_meta=scores.probe_meta, gallery_meta=scores.gallery_meta,
    )  # fmt: skip
    ds = be.ageing(scores, 4, replicates=200)
    for name in ("slope", "slope_within"):
        assert ds[f"{name}_low"] < sign * 0.2 < ds[f"{name}_high"]
    assert "threshold-chosen-on-these-data" in [message.code for message in be.messages(ds)]


def test_ages_are_in_days_and_may_be_undefined():
    meta = {"seen_at": ["2021-01-01", "2022-01-01"]}, {"enrolled_at": ["2020-01-01"]}
    scores = be.Scores([[1.0], [2.0]], [0, 0], [0], probe_meta=meta[0], gallery_meta=meta[1])
    ds = be.ageing(scores, [0, 366, 365 * 3], threshold=1, replicates=100)
    assert (ds.genuine_attempts.values.tolist(), ds.fr.values.tolist()) == ([0, 2], [0, 1])
    assert np.isnan(ds.genuine_mean[0]) and ds.genuine_mean[1] == 1.5
    np.testing.assert_allclose(ds.slope, 1 / 365)
    assert ds.attrs["age_unit"] == "days"
    same = be.Scores([[1.0], [np.inf]], [0, 1], [0], probe_meta={"seen_at": [1, 1]},
                     gallery_meta={"enrolled_at": [0]})  # fmt: skip
    ds = be.ageing(same, 1, threshold=1, replicates=100)
    assert np.isnan([ds.slope, ds.slope_within, ds.slope_low]).all()


@pytest.mark.parametrize(
    ("bins", "message"),
    [
        (0, "bins is 0; expected an integer >= 1"),
        ("month", "needs dates, but times are numbers"),
        ("fortnight", "expected one of 'year'"),
        ([3, 2], "two or more increasing edges"),
        ([1], "two or more increasing edges"),
        (["2020-01-01", "2021-01-01"], "has dates, but times are numbers"),
        (10**6, "too large"),
    ],
)
def test_wrong_bins_are_refused(bins, message):
    with pytest.raises(DataError, match=message):
        be.over_time(drifting(), bins, threshold=1)


def test_wrong_input_is_refused():
    with pytest.raises(DataError, match="no metadata column seen_at"):
        be.over_time(be.simulate(4, 3))
    with pytest.raises(ProtocolError, match="fixed pairs"):
        be.over_time(be.Scores.from_pairs([0.1], [True]))
    with raises_about(DataError, "threshold"):
        be.over_time(drifting(), threshold="err")
    with raises_about(DataError, "interval"):
        be.over_time(drifting(), interval="wilson")
    lacking = be.Scores([[1.0]], [0], [0], probe_meta={"seen_at": [1]})
    with pytest.raises(DataError, match="enrolled_at.*meta.*enrolled_at=COLUMN"):
        be.ageing(lacking)
    with pytest.raises(DataError, match="seen_at=COLUMN.*need enrolled_at"):
        be.over_time(be.simulate(4, 3))
    with pytest.raises(ProtocolError, match="as_"):
        be.over_time(be.Scores.from_pairs([0.1], [True]))
    with pytest.raises(DataError, match="all are missing"):
        be.over_time(be.Scores([[1.0]], [0], [0], probe_meta={"seen_at": [np.nan]}), threshold=1)


# ------------------------------------------------------------------------------------- views


def dated(**options: Any) -> be.Scores:
    """Scores of a few years, as dates."""
    scores = drifting(people=20)
    start, year = np.datetime64("2015-01-01"), 365.25

    def dates(times: np.ndarray) -> np.ndarray:
        result = start + np.nan_to_num(times * year).astype(np.int64)
        return np.where(np.isnan(times), np.datetime64("NaT", "D"), result)

    meta = ({k: dates(v) for k, v in x.items()} for x in (scores.probe_meta, scores.gallery_meta))
    probe, gallery = meta
    return be.Scores(scores.values, scores.probe_labels, scores.gallery_labels, **options,
                     probe_meta=probe, gallery_meta=gallery)  # fmt: skip


def test_plots_show_the_bins():
    ds = be.over_time(dated(), "year", threshold=3, interval="subject-bootstrap", replicates=100)
    display = be.plot.over_time(ds)
    assert len(display.axes_) == 4 and len(display.edges) == ds.sizes["time"] + 1
    for ax, values in zip(display.axes_, (ds.frr, ds.far, ds.dir[:, 0], ds.gallery_subjects),
                          strict=True):  # fmt: skip
        np.testing.assert_array_equal(ax.patches[0].get_data().values, values)
    old = be.ageing(dated(), 4, threshold=3, replicates=100)
    above, below = be.plot.ageing(old).axes_
    np.testing.assert_array_equal(above.patches[0].get_data().values, old.genuine_mean)
    np.testing.assert_array_equal(below.patches[0].get_data().values, old.frr)
    assert "days" in below.get_xlabel()
    with pytest.raises(DataError, match="be.plot.ageing draws"):
        be.plot.ageing(ds)
    dashes = [ax.patches[0].get_linestyle() for ax in display.axes_[:2]]
    assert dashes[0] in ("-", "solid") and dashes[1] not in ("-", "solid")  # FRR, FAR
    assert display.axes_[2].get_legend() is not None
    with be.plot.style("paper"):
        small = be.plot.over_time(ds)
    assert small.axes_[2].get_legend() is None  # the words are below the title
    message = " ".join(" ".join(text.get_text() for text in small.figure_.texts).split())
    assert "dash-dotted: DIR; short dashes: CMS, no threshold" in message
    without = be.over_time(dated(), 1, threshold=3, ranks=())
    assert len(be.plot.over_time(without).axes_) == 3


@pytest.mark.slow
def test_the_command(tmp_path, capsys):
    be.save(dated(name="drifting"), tmp_path / "x.npz")
    file, out = str(tmp_path / "x.npz"), tmp_path / "out"
    given = ["over-time", file, "--bins", "year", "--threshold", "far=0.1", "--ages", "3"]
    assert main([*given, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    ds = be.over_time(be.load(file), "year", threshold="far=0.1")
    assert [row["frr"] for row in document["over_time"]] == ds.frr.values.tolist()
    assert document["over_time"][0]["time"] == str(ds.time.values[0])[:10]
    assert [row["dir"] for row in document["identification"]] == ds.dir.values[:, 0].tolist()
    ages = be.ageing(be.load(file), 3, threshold="far=0.1")
    assert document["results"]["ageing"]["slope_within"] == float(ages.slope_within)
    assert document["slopes"][1]["slope_high"] == float(ages.slope_within_high)
    assert main([*given, "--out", str(out), "--plots", "--interval", "subject-bootstrap"]) == 0
    text = capsys.readouterr().out
    assert sorted(x.name for x in out.iterdir()) == [
        "ageing.csv", "ageing.png", "identification.csv", "over-time.png", "over_time.csv",
        "results.nc", "slopes.csv", "summary.json", "table.txt",
    ]  # fmt: skip
    assert "within subjects" in text and f"{100 * float(ds.frr[0]):.2f} %" in text
    with xr.open_datatree(out / "results.nc", engine="h5netcdf") as tree:
        assert tree["over_time"].frr.equals(ds.frr)
    assert main(["over-time", file, "--bins", "2016-01-01,2030-01-01", "--terms", "iso"]) == 0
    assert "TPIR, any score" in capsys.readouterr().out
    for wrong in (["--bins", "week"], ["--threshold", "err"], ["--bins", "3,2"], ["--seed", "1"]):
        assert main(["over-time", file, *wrong]) == 2
        assert wrong[0] in capsys.readouterr().err


def test_the_page_on_galleries_over_time_runs(root):
    import doctest

    with np.printoptions(legacy=False):
        failed, tried = doctest.testfile(str(root / "docs" / "time.md"), module_relative=False)
    assert tried > 15 and not failed


def test_nothing_is_said_to_be_left_out_without_times_of_enrolment(capsys):
    made = be.simulate(8, 3, random_state=1)
    meta = {"seen_at": np.arange(24)}
    for enrolled, message in ({}, ""), ({"enrolled_at": np.arange(24) - 9}, "not-enrolled"):
        scores = be.Scores(made.values, made.probe_labels, probe_meta=meta | enrolled)
        result = be.over_time(scores, bins=2)
        be.show(result)
        out = " ".join(capsys.readouterr().out.split())
        assert result.attrs["exclude"] == message
        assert ("Excluded templates that are not enrolled" in out) == bool(message)
        assert ("each probe is compared with all templates" in out) != bool(message)


@pytest.mark.parametrize("both", [False, True])
def test_the_section_in_all_writers(both):
    def section_of(name):
        scores = dated(name=name)
        results = {"": be.over_time(scores, "year", threshold=3, ranks=(1, 2))}
        if both:
            results = {"over_time": results[""], "ageing": be.ageing(scores, 3, replicates=100)}
        return section.section(results)

    require_names_kept(section_of)
