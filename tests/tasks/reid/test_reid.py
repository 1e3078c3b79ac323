"""Re-identification and GOM: against naive implementations, worked lists and identities."""

import csv
import json
from pathlib import Path
from typing import Any

import naive_reid
import numpy as np
import pytest
import strategies
from hypothesis import given, strategies as st
from reference import floats, one_thread  # noqa: F401
from result_messages import arguments, codes
from sklearn.metrics import ndcg_score

import bioeval as be
from bioeval.cli import main

RULES = ("same-id-same-camera", "same-camera", "none")
COUNTS = ("first-match", "allshots", "single-gallery-shot", "identity-dedup")
TIES = ("pessimistic", "optimistic", "stable", "expected")


@pytest.fixture(scope="module", params=["few", "many"])
def code_path(request):
    """Rank with NumPy, as for few scores, and with the compiled loops, as for many."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "many":
            patch.setattr("bioeval.scores.blocks.LISTED", 0)
            patch.setattr("bioeval.tasks.reid.measures.MOST_PLACES", 3)
        yield


few_and_many = pytest.mark.usefixtures("code_path")


@st.composite
def cases(draw, **options: Any):
    """A small case and the cameras of both sides."""
    case = draw(strategies.matrices(masks=("none", "labelled"), **options))
    m, n = case.values.shape
    cameras = st.sampled_from(("a", "b", "c"))
    probe = draw(st.lists(cameras, min_size=m, max_size=m))
    gallery = probe if case.square else draw(st.lists(cameras, min_size=n, max_size=n))
    return case, (probe, gallery)


def as_scores(case, cameras) -> be.Scores:
    meta = {"probe_meta": {"camera": cameras[0]}}
    if not case.square:
        meta["gallery_meta"] = {"camera": cameras[1]}
    return be.Scores(**case.scores(), **meta)


def assert_close(ours, expected) -> None:
    expected = [np.nan if x is None else float(x) for x in np.atleast_1d(expected)]
    np.testing.assert_allclose(np.atleast_1d(ours), expected, rtol=0, atol=1e-12)


@few_and_many
@given(
    cases(),
    st.sampled_from(RULES),
    st.sampled_from(("as-above", "same-id-same-camera", "none")),
    st.sampled_from(COUNTS[:2] + COUNTS[3:]),
    st.sampled_from(("skip", "zero")),
)
def test_each_list_has_its_own_queries(drawn, removed, removed_for_ap, counts, unmatched):
    """A query with matches on a single list is in the means over this list alone."""
    case, cameras = drawn
    options = {"removed": removed, "removed_for_ap": removed_for_ap, "unmatched": unmatched}
    expected = naive_reid.reid(case.naive(), cameras, counts=counts, **options)
    if not expected.queries:
        return
    ds = be.reid(
        as_scores(case, cameras), **options, cmc=counts, max_rank=5, junk="keep", per_query=True
    )
    assert ds.queries == expected.queries
    assert ds.get("cmc_queries", ds.queries) == expected.cmc_queries
    assert_close(ds.cmc, expected.cmc)
    assert_close(ds.mean_ap, [expected.mean_ap])
    assert_close(ds.recall_at_k, expected.recall_at_k)
    listed = naive_reid.queries(case.naive(), cameras, removed)
    assert np.isnan(ds.first_match_rank).values.tolist() == [not q.matches for q in listed]
    assert not (ds.cmc > 1).any()


@few_and_many
@given(
    cases(),
    st.sampled_from(RULES),
    st.sampled_from(COUNTS[:2] + COUNTS[3:]),
    st.sampled_from(TIES),
    st.sampled_from(("sum", "trapezoid", "tied-once")),
    st.sampled_from(("skip", "zero")),
    st.sampled_from(("no", "remove", "keep", "distractors")),
    st.sampled_from((("smaller", "smaller"), ("found", "rank"), ("positives", "smaller"))),
)
def test_measures_are_those_of_the_sorted_lists(
    drawn, removed, counts, ties, ap, unmatched, junk, divisors
):
    case, cameras = drawn
    if counts == "identity-dedup" and ties == "expected":
        ties = "stable"
    numbered = not isinstance(case.naive()["probe_labels"][0], str)
    ids: dict[str, tuple[int, ...]] = {"remove": (), "keep": (), "distractors": ()}
    if numbered and junk != "no":
        ids[junk] = (100,)
    nobody = {"junk_ids": ids["remove"], "kept_ids": ids["keep"] + ids["distractors"]}
    options = {"ties": ties, "ap": ap, "unmatched": unmatched, "max_rank": 5}
    divisor, precision_over = divisors
    options["precision_over"] = precision_over
    expected = naive_reid.reid(
        case.naive(), cameras, removed=removed, counts=counts, over=divisor, **nobody, **options
    )
    scores = as_scores(case, cameras)
    keywords: dict[str, Any] = {
        **options, "removed": removed, "cmc": counts, "junk": "keep" if ids["keep"] else "remove",
        "junk_ids": ids["remove"] + ids["keep"], "distractor_ids": ids["distractors"],
        "rank_k": 3, "rank_k_over": divisor, "per_query": True,
    }  # fmt: skip
    if not expected.queries:
        with pytest.raises(
            be.ProtocolError, match="no (query has a match|identity of the)|match nothing"
        ):
            be.reid(scores, **keywords)
        return
    ds = be.reid(scores, **keywords)
    assert ds.queries == expected.queries
    assert ds.unmatched == expected.unmatched
    assert ds.skipped == (expected.unmatched if unmatched == "skip" else 0)
    assert ds.not_in_gallery == expected.not_in_gallery
    for name in ("cmc", "precision_at_k", "recall_at_k"):
        assert_close(ds[name], getattr(expected, name))
    listed = naive_reid.queries(case.naive(), cameras, removed, **nobody)
    assert ds.left_out == sum(q.left_out for q in listed)
    counted = [not q.left_out and (unmatched == "zero" or q.matches > 0) for q in listed]
    assert ds.subjects == len({x for x, c in zip(case.probe_labels, counted, strict=True) if c})
    assert ds.matches.values.tolist() == [q.matches for q in listed]
    assert ds.removed_entries.values.tolist() == [q.removed for q in listed]
    if ties == "expected" and ds.tied > 0:
        of_ranks = [("r_precision", "query_r_precision"), ("ndcg", "query_ndcg")]
        for mean, per_query in of_ranks:
            tied = naive_reid.tie_averaged(listed, naive_reid.OF_LISTS[mean, per_query])
            assert_close(ds[per_query], tied)
            total = sum(x for x in tied if x is not None)
            assert_close(ds[mean], [float(total) / expected.queries])
        other_names = [names for names in naive_reid.OF_LISTS if names not in of_ranks]
        undefined = [ds[name] for names in other_names for name in names]
        assert np.isnan(np.concatenate([x.values.ravel() for x in undefined])).all()
        assert np.isnan(ds.interpolated_precision).all()
        assert "expected-ties" in [message.code for message in be.messages(ds)]
        return
    assert_close(ds.interpolated_precision, expected.interpolated_precision)
    assert_close(ds.average_precision, expected.average_precision)
    for mean, per_query in naive_reid.OF_LISTS:
        assert_close(ds[mean], [getattr(expected, mean)])
        assert_close(ds[per_query], getattr(expected, per_query))
    for name in ("mean_ap", "rank_k_mean_ap"):
        assert_close(ds[name], [getattr(expected, name)])


@few_and_many
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_ndcg_of_expected_ties_is_that_of_scikit_learn(kind):
    """scikit-learn averages the gains of the tied, as McSherry and Najork (2008) do."""
    rng = np.random.default_rng(2)
    query, gallery = rng.integers(0, 5, 12), rng.integers(0, 5, 40)
    values = rng.integers(0, 4, (12, 40))
    relevant = query[:, None] == gallery
    scores = be.Scores(values if kind == "similarity" else -values, query, gallery, kind=kind)
    ds = be.reid(scores, "vehicleid", ties="expected", per_query=True)
    assert ds.ndcg.item() == pytest.approx(ndcg_score(relevant, values), abs=1e-12)
    ndcg = [ndcg_score(relevant[[i]], values[[i]]) for i in range(12)]
    np.testing.assert_allclose(ds.query_ndcg, ndcg, atol=1e-12)


@few_and_many
@given(
    cases(sizes=((1,), (2, 1), (2, 2), (3, 1, 2), (1, 1, 1, 1)), dtypes=("float32", "float64")),
    st.sampled_from(RULES),
    st.sampled_from(TIES),
)
def test_single_shots_are_the_mean_of_all_galleries(drawn, removed, ties):
    case, cameras = drawn
    expected = naive_reid.reid(
        case.naive(), cameras, removed=removed, counts="single-gallery-shot", ties=ties
    )
    if expected.queries:
        ds = be.reid(
            as_scores(case, cameras), removed=removed, cmc="single-gallery-shot", ties=ties,
            max_rank=5, junk="keep",
        )  # fmt: skip
        np.testing.assert_allclose(ds.cmc, floats(expected.cmc), rtol=0, atol=1e-9)


@few_and_many
@given(
    cases(dtypes=("float32", "float64"), nans=("exclude", "raise")),
    st.sampled_from(RULES),
    st.integers(1, 4),
    st.data(),
)
def test_gom_is_its_definition(drawn, removed, budget, data):
    case, cameras = drawn
    if case.kind == "similarity":
        taus = np.sort(-data.draw(strategies.thresholds(case)) + 0.0)
    else:
        taus = data.draw(strategies.thresholds(case))
    expected = naive_reid.gom(case.naive(), cameras, taus.tolist(), removed=removed, budget=budget)
    card = {"none": "vehicleid", "same-camera": "cuhk03"}.get(removed, "market1501")
    scores = as_scores(case, cameras)
    order = slice(None, None, -1 if case.kind == "similarity" else 1)
    thresholds = (-taus + 0.0)[order] if case.kind == "similarity" else taus
    ds = be.gom(
        scores, thresholds=thresholds, budget=budget, scaled=False, convention=card, max_rank=3
    )
    assert ds.threshold.values.tolist() == thresholds.tolist()
    assert (ds.queries, ds.open_queries, ds.skipped) == (
        expected.queries,
        expected.open_queries,
        expected.skipped,
    )
    sets = ("precision", "recall", "f1", "micro_f1")
    for name in ("mrp", "mvp", "mrep", "mfr", *sets, "far", "ttr", "ttr_identity"):
        assert_close(ds[name], np.asarray(getattr(expected, name))[order])
    if expected.queries:
        within = be.reid(scores, removed=removed, thresholds=thresholds)
        assert within.threshold.values.tolist() == thresholds.tolist()
        for name in sets:
            assert_close(within[name], getattr(expected, name)[order])
    np.testing.assert_allclose(ds["dir"], np.asarray(expected.dir)[order], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(ds.ftr, ds.far)


@pytest.mark.parametrize("kind", ["similarity", "distance"])
def test_gom_where_a_threshold_falls_on_0(kind):
    """Cosines from -1 to 1: the threshold 1/2 is 0, near which too many numbers stand to try."""
    scores = be.Scores([[-1.0, 0.0, 1e-300, 1.0]], [1], [1, 2, 1, 2], kind=kind)
    ds = be.gom(scores, convention="viper", per_query=True)
    hits = ds.recall.values * 2
    # Normalised, all but the ends stand at 1/2 exactly.
    expected = [1, 2] if kind == "distance" else [0, 1]
    assert hits[[49, 50]].tolist() == expected
    assert ds.precision.values[50] == (2 / 3 if kind == "distance" else 1 / 3)


# ------------------------------------------------------------------------ what is refused

ONE_QUERY = be.Scores([[1, 2]], [1], [1, 2])
ORDER_ONLY = be.Scores([[1, 2]], [1], [1, 2], kind="order")
TOP_2 = be.Scores.from_top_k([[2, 1]], [1], [2, 3, 1])


@pytest.mark.parametrize(
    ("error", "says", "call"),
    [
        (be.ProtocolError, "no column 'camera' in probe_meta and", lambda: be.reid(ONE_QUERY)),
        (be.CardError, "Did you mean 'market1501'", lambda: be.reid(ONE_QUERY, "market")),
        (be.CardError, r"has no \[reid\] section", lambda: be.reid(ONE_QUERY, "pairs")),
        (be.DataError, "`max_rank` is 0; expected",
         lambda: be.reid(ONE_QUERY, "viper", max_rank=0)),
        (be.DataError, "at most 10000: the ga",
         lambda: be.reid(ONE_QUERY, "viper", max_rank=10**10)),
        (be.DataError, "the gallery has 2 templates",
         lambda: be.gom(ONE_QUERY, convention="viper", max_rank=10**10)),
        (be.DataError, "`rank_k` is 0", lambda: be.reid(ONE_QUERY, "viper", rank_k=0)),
        (be.DataError, "`ties` is 'none'", lambda: be.reid(ONE_QUERY, "viper", ties="none")),
        (be.DataError, "junk_ids is 3", lambda: be.reid(ONE_QUERY, "viper", junk_ids=3)),
        (be.ProtocolError, "no identity of the 1 query is in the gallery",
         lambda: be.reid(be.Scores([[1, 2]], [9], [1, 2]), "viper")),
        (be.ProtocolError, "all queries are junk or distractors",
         lambda: be.reid(be.Scores([[1, 2]], [-1], [1, 2]), "viper")),
        (be.DataError, "expected bioeval.Scores", lambda: be.reid([[1, 2]])),
        (be.DataError, "do not increase",
         lambda: be.gom(ONE_QUERY, thresholds=[5, 4], convention="viper")),
        (be.DataError, "cannot be normalised",
         lambda: be.gom(be.Scores([[1, 1]], [1], [1, 2]), convention="viper")),
        (be.DataError, "they reach from -1e\\+308 to 1e\\+308; scale them",
         lambda: be.gom(be.Scores([[-1e308, 0, 1e308]], [1], [1, 2, 1]), convention="viper")),
        (be.ProtocolError, "order", lambda: be.gom(ORDER_ONLY, convention="viper")),
        (be.ProtocolError, "retrieval within a threshold compares",
         lambda: be.reid(ORDER_ONLY, "viper", thresholds=[0.1])),
        (be.DataError, "expected a number, or several",
         lambda: be.reid(ONE_QUERY, "viper", thresholds="eer")),
        (be.ProtocolError, "does nothing under protocol viper",
         lambda: be.evaluate(ONE_QUERY, "viper", far_targets=[0.1])),
        (be.ProtocolError, "cmc = 'identity-dedup'", lambda: be.reid(TOP_2, "identity-dedup")),
        (be.ProtocolError, "do not determine",
         lambda: be.reid(TOP_2, "vehicleid", ties="optimistic")),
        (be.ProtocolError, "2 nearest alone", lambda: be.evaluate(TOP_2, "lfw-view2")),
        (be.ProtocolError, "lists that are cut do not hold",
         lambda: be.evaluate(TOP_2, "viper", thresholds=5)),
        (be.ProtocolError, "within a threshold; leave them out",
         lambda: be.reid(TOP_2, "cityflow", rank_k=2, thresholds=[0.1])),
        (be.ProtocolError, "none of the 1 queries has a match",
         lambda: be.reid(be.Scores.from_top_k([[0, 1]], [9], [2, 3, 1]), "viper")),
        (be.ProtocolError, "`rank_k` is 100, but a list covers only 2 ranks",
         lambda: be.reid(be.Scores.from_top_k([[0, 1]], [1], [2, 3, 1]), "cityflow")),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong(error, says, call):
    with pytest.raises(error, match=says):
        call()


def test_gom_of_a_card_with_expected_ties(tmp_path):
    """The card is refused unless stable ties are requested in place of its own rule."""
    text = be.protocol.load("viper").to_toml()
    text = text.replace('"stable"', '"expected"').replace('"viper"', '"mine"')
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(be.ProtocolError, match='mine has expected ties.*give `ties="stable"`'):
        be.gom(ONE_QUERY, convention=tmp_path / "mine.toml")
    result = be.gom(ONE_QUERY, convention=tmp_path / "mine.toml", ties="stable")
    assert result.attrs["ties"] == "stable"


def test_cameras_have_their_usual_names_on_both_sides():
    """A rule of cameras that could never apply is an error."""
    distances, queries, gallery = [[1, 2, 3]], [1], [1, 2, 1]
    for name in ("camera", "cam", "camid", "cam_id", "CameraID", "camids"):
        meta = {"probe_meta": {name: [1]}, "gallery_meta": {name: [1, 2, 3], "x": [1, 1, 1]}}
        assert be.reid(be.Scores(distances, queries, gallery, **meta)).mean_ap == 0.5
        listed = be.Scores.from_top_k([[0, 1, 2]], queries, gallery, **meta)
        assert be.reid(listed, "top-k", removed="same-id-same-camera").mean_ap == 0.5
    one_side = be.Scores(
        distances, queries, gallery, probe_meta={"camera": [1]}, gallery_meta={"where": [1, 2, 3]}
    )
    with pytest.raises(be.ProtocolError, match=r"in gallery_meta \(gallery_meta has 'where'\)"):
        be.reid(one_side)


def test_nan_is_an_error_only_where_it_is_read():
    meta = {"probe_meta": {"camera": [1]}, "gallery_meta": {"camera": [1, 2, 3]}}
    hidden = be.Scores([[np.nan, 2, 3]], [1], [1, 2, 1], **meta)
    assert be.reid(hidden).mean_ap == 0.5
    for row, k in (([1, np.nan, 3], 1), ([1, 2, np.nan], 2)):
        with pytest.raises(be.DataError, match=f"1 NaN, the first at row 0, column {k}"):
            be.reid(be.Scores([row], [1], [1, 2, 1], **meta))


# ------------------------------------------------------------------------ command line, files


def population() -> be.Scores:
    """Queries against a gallery, four cameras, some identities unknown to the gallery."""
    rng = np.random.default_rng(0)
    gallery, probes = rng.permutation(np.repeat(np.arange(1, 13), 6)), rng.integers(1, 15, 40)
    distances = rng.normal(size=(40, len(gallery))) - 1.5 * (probes[:, None] == gallery[None])
    return be.Scores(
        distances, probes, gallery, probe_meta={"camera": rng.integers(0, 4, 40)},
        gallery_meta={"camera": rng.integers(0, 4, len(gallery))},
    )  # fmt: skip


@pytest.fixture
def on_disk(tmp_path, monkeypatch):
    """Queries and gallery in a file, with cameras under names of their own."""
    monkeypatch.chdir(tmp_path)
    scores = population()
    np.savez(
        "reid.npz", distmat=scores.values, q_pids=scores.probe_labels, g_pids=scores.gallery_labels,
        q_camids=scores.probe_meta["camera"], g_camids=scores.gallery_meta["camera"],
    )  # fmt: skip
    return scores


RUN = ("run", "reid.npz", "--protocol", "market1501")


def test_a_run_by_a_convention(on_disk, capsys):
    assert main([*RUN, "--verbose"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    ds = be.reid(on_disk)
    ranks = ("CMC(1)", "CMC(5)", "CMC(10)", "CMC(20)")
    counts = (
        f"{int(ds.queries)} queries",
        f"queries skipped, without a match {int(ds.skipped)}",
        f"comparisons removed {int(ds.removed):,}",
    )
    for text in ("mAP", "mINP", *ranks, f"{ds.mean_ap:.1%}"[:4], *counts):
        assert text in printed


def test_a_run_says_what_cameras_remove_or_that_there_are_none(on_disk, capsys):
    assert main(["run", "reid.npz", "--protocol", "cuhk03", "--verbose"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "removed for the CMC: entries of the same camera; for all other measures" in printed
    with np.load("reid.npz") as file:
        arrays = {name: file[name] for name in ("distmat", "q_pids", "g_pids")}
    np.savez("reid.npz", **arrays)
    assert main([*RUN]) == 2
    message = capsys.readouterr().err
    assert "no column 'camera'" in message and "--columns probe_camera=NAME" in message


@pytest.mark.parametrize(
    "names",
    [
        ("distmat", "q_pids", "g_pids", "q_camids", "g_camids"),
        ("dist", "query_ids", "gallery_ids", "query_cams", "gallery_cams"),
        ("distmat", "query_pids", "gallery_pids", "query_camids", "gallery_camids"),
        ("dist", "query_label", "gallery_label", "query_cam", "gallery_cam"),
    ],
)
def test_arrays_under_their_usual_names_need_no_options(names, tmp_path):
    """Beside embeddings, the distances of other programs have to be chosen."""
    scores = population()
    arrays = dict(
        zip(
            names,
            [scores.values, scores.probe_labels, scores.gallery_labels,
             scores.probe_meta["camera"], scores.gallery_meta["camera"]],
            strict=True,
        )
    )  # fmt: skip
    file, matrix = tmp_path / "r.npz", names[0]
    np.savez(file, **arrays)
    assert be.reid(be.load(file)).mean_ap == be.reid(scores).mean_ap
    np.savez(file, **arrays, qf=np.eye(40), gf=np.eye(72, 40))
    with pytest.raises(be.DataError, match=f"holds both {matrix} and qf; choose by `columns="):
        be.load(file)
    assert be.load(file, columns={"scores": matrix}).shape == scores.shape
    columns = {"embeddings": "qf", "gallery_embeddings": "gf"}
    features = be.load(file, metric="l2", columns=columns)
    np.testing.assert_array_equal(features.gallery_labels, scores.gallery_labels)


@pytest.mark.slow
def test_the_worst_queries(on_disk, capsys):
    ds = be.reid(on_disk, per_query=True)
    ap = ds.average_precision.values
    defined = np.sort(ap[~np.isnan(ap)])
    frame = be.to_frame(ds, curves=True).query("measure == 'average_precision'")
    np.testing.assert_array_equal(np.sort(frame["value"].dropna()), defined)
    run = [*RUN, "--per-query"]
    assert main([*run, "--out", "found"]) == 0
    capsys.readouterr()
    with open("found/queries.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    values = np.array([float(row["average_precision"] or "nan") for row in rows])
    np.testing.assert_array_equal(values[: len(defined)], defined)
    assert len(rows) == len(ap) and np.isnan(values[len(defined) :]).all()
    for row in rows:
        i = int(row["query"])
        assert int(row["label"]) == on_disk.probe_labels[i]
        assert int(row["camera"]) == on_disk.probe_meta["camera"][i]
        assert int(row["matches"]) == ds.matches[i]
    assert main([*run, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["queries"]
    assert [row["query"] for row in listed] == [int(row["query"]) for row in rows]
    assert listed[-1]["average_precision"] is None
    assert main(["run", "reid.npz", "--per-query"]) == 2
    assert "--per-query applies to re-identification only" in capsys.readouterr().err
    assert main([*RUN, "--out", "plain"]) == 0
    assert not Path("plain/queries.csv").exists()


# ------------------------------------------------------------------------ odd numbers


def test_a_recall_level_is_reached_exactly():
    """Three of ten matches have a recall of 0.3, which 3 * 0.1 in floating point exceeds."""
    labels = np.repeat([1, 0], 10)
    values = np.r_[1, 2, 3, np.arange(14, 21), np.arange(4, 14)][None]
    ds = be.reid(be.Scores(values, [1], labels), "viper")
    assert ds.interpolated_precision.sel(recall_level=0.3) == 1
    assert ds.interpolated_precision.values[4] == 10 / 20


@pytest.mark.parametrize("places", [4, None])
def test_the_rank_k_warning_is_that_of_matrices_and_of_lists(places):
    rng = np.random.default_rng(3)
    gallery = np.repeat(np.arange(6), [1, 2, 3, 5, 8, 10])
    query = rng.integers(0, 6, 15)
    values = rng.random((15, len(gallery))) - 0.3 * (query[:, None] == gallery)
    scores = be.Scores(values, query, gallery)
    if places:
        scores = be.Scores.from_top_k(np.argsort(values, axis=1)[:, :places], query, gallery)
    with pytest.warns(be.BioevalWarning, match="with more matches .* cut at rank 4"):
        result = be.reid(scores, "cityflow", rank_k=4)
    assert "more-matches-than-places" in codes(result)
    smaller = be.reid(scores, "cityflow", rank_k=4, rank_k_over="smaller")
    assert "more-matches-than-places" not in codes(smaller)


@few_and_many
@pytest.mark.parametrize("ties", ["pessimistic", "expected"])
def test_missing_scores_are_no_entries_however_many_mates(ties):
    """Beyond 64 mates a query is counted in another way."""
    rng = np.random.default_rng(0)
    labels = np.array([1] * 70 + list(range(2, 102)))
    values = rng.random((3, len(labels))).round(2)
    missing = rng.random(len(labels)) < 0.1
    values[:, missing] = np.nan
    is_scored = ~missing
    result = be.reid(be.Scores(values, [1] * 3, labels, nan="exclude"), "viper", ties=ties)
    expected = be.reid(
        be.Scores(values[:, is_scored], [1] * 3, labels[is_scored]), "viper", ties=ties
    )
    for name in ("cmc", "mean_ap", "mean_inp", "mrr", "r_precision", "mean_ap_at_r", "ndcg"):
        np.testing.assert_array_equal(result[name], expected[name], err_msg=name)


def test_what_a_result_says_of_its_queries(capsys):
    """Why there is none for the CMC; and that single shots are the CMC's alone."""
    subject, camera = np.repeat(np.arange(4), 2), {"camera": [1] * 8}
    values = np.random.default_rng(0).random((8, 8))
    same = be.Scores(values, subject, subject.copy(), probe_meta=camera, gallery_meta=camera)
    result = be.reid(same, removed="same-camera", removed_for_ap="none")
    assert np.isnan(result.cmc).all() and not np.isnan(result.mean_ap)
    assert "(same-camera)" in arguments(result, "no-query-with-match")["why"]
    other_camera = {"camera": [2] * 8}
    result = be.reid(
        be.Scores(values, subject, subject, probe_meta=camera, gallery_meta=other_camera), "cuhk03"
    )
    assert "other measures on all" in result.cmc.long_name
    be.show(result, verbose=True)
    assert "other measures all" in " ".join(capsys.readouterr().out.split())
