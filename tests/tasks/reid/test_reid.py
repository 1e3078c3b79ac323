"""Re-identification and GOM: held to slow twins, to worked lists, and to what must always hold."""

import csv
import json
import os
import warnings
from typing import Any

import naive_reid
import numpy as np
import pytest
import strategies
from hypothesis import given, strategies as st
from kept_pairs import kept
from twins import floats, one_thread  # noqa: F401

import bioeval as be
from bioeval.cli import main
from bioeval.tasks.reid import matches as matches_module

RULES = ("same-id-same-camera", "same-camera", "none")
COUNTS = ("first-match", "allshots", "single-gallery-shot", "identity-dedup")
TIES = ("pessimistic", "optimistic", "stable", "expected")


@pytest.fixture(scope="module", params=["few", "many"], autouse=True)
def number(request):
    """Ranked by NumPy as few scores are, and by the loops of many."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "many":
            patch.setattr("bioeval.scores.blocks.LISTED", 0)
        yield request.param


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


@given(
    cases(),
    st.sampled_from(RULES),
    st.sampled_from(("as-above", "same-id-same-camera", "none")),
    st.sampled_from(COUNTS[:2] + COUNTS[3:]),
    st.sampled_from(("skip", "zero")),
)
def test_each_list_has_its_own_queries(drawn, removed, removed_for_ap, counts, unmatched):
    """A query with matches on one list alone is in the means over this list, and in no other."""
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
    seen = naive_reid.queries(case.naive(), cameras, removed)
    assert np.isnan(ds.first_match_rank).values.tolist() == [not q.matches for q in seen]
    assert not (ds.cmc > 1).any()


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
    over, precision_over = divisors
    options["precision_over"] = precision_over
    expected = naive_reid.reid(
        case.naive(), cameras, removed=removed, counts=counts, over=over, **nobody, **options
    )
    scores = as_scores(case, cameras)
    keywords: dict[str, Any] = {
        **options, "removed": removed, "cmc": counts, "junk": "keep" if ids["keep"] else "remove",
        "junk_ids": ids["remove"] + ids["keep"], "distractor_ids": ids["distractors"],
        "rank_k": 3, "rank_k_over": over, "per_query": True,
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
    seen = naive_reid.queries(case.naive(), cameras, removed, **nobody)
    assert ds.left_out == sum(q.left_out for q in seen)
    assert ds.matches.values.tolist() == [q.matches for q in seen]
    assert ds.removed_entries.values.tolist() == [q.removed for q in seen]
    if ties == "expected" and ds.tied > 0:
        of_ranks = [("r_precision", "query_r_precision"), ("ndcg", "query_ndcg")]
        for mean, each in of_ranks:
            tied = naive_reid.tie_averaged(seen, naive_reid.OF_LISTS[mean, each])
            assert_close(ds[each], tied)
            total = sum(x for x in tied if x is not None)
            assert_close(ds[mean], [float(total) / expected.queries])
        others = [names for names in naive_reid.OF_LISTS if names not in of_ranks]
        undefined = [ds[name] for names in others for name in names]
        assert np.isnan(np.concatenate([x.values.ravel() for x in undefined])).all()
        assert np.isnan(ds.interpolated_precision).all()
        assert "expected-ties" in [message.code for message in be.messages(ds)]
        return
    assert_close(ds.interpolated_precision, expected.interpolated_precision)
    assert_close(ds.average_precision, expected.average_precision)
    for mean, each in naive_reid.OF_LISTS:
        assert_close(ds[mean], [getattr(expected, mean)])
        assert_close(ds[each], getattr(expected, each))
    for name in ("mean_ap", "rank_k_mean_ap"):
        assert_close(ds[name], [getattr(expected, name)])


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


# ------------------------------------------------------------------------ what must always hold


def population(seed: int = 0, subjects: int = 12, templates: int = 6, **options: Any) -> be.Scores:
    """Queries against a gallery, four cameras, some identities unknown to the gallery."""
    rng = np.random.default_rng(seed)
    gallery = rng.permutation(np.repeat(np.arange(1, subjects + 1), templates))
    probes = rng.integers(1, subjects + 3, 40)
    d = rng.normal(size=(40, len(gallery))) - 1.5 * (probes[:, None] == gallery[None])
    return be.Scores(
        d, probes, gallery, probe_meta={"camera": rng.integers(0, 4, 40)},
        gallery_meta={"camera": rng.integers(0, 4, len(gallery))}, **options,
    )  # fmt: skip


# ------------------------------------------------------------------------ worked by hand


@pytest.mark.parametrize("places", [1 << 22, 3])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_ndcg_of_expected_ties_is_that_of_scikit_learn(kind, places, monkeypatch):
    """scikit-learn averages the gains of the tied, as McSherry and Najork (2008) do."""
    from sklearn.metrics import ndcg_score

    monkeypatch.setattr(matches_module, "MOST_PLACES", places)
    rng = np.random.default_rng(2)
    query, gallery = rng.integers(0, 5, 12), rng.integers(0, 5, 40)
    values = rng.integers(0, 4, (12, 40))
    relevant = query[:, None] == gallery
    sign = 1 if kind == "similarity" else -1
    ds = be.reid(
        be.Scores(sign * values, query, gallery, kind=kind), "vehicleid", ties="expected",
        per_query=True,
    )  # fmt: skip
    assert ds.ndcg.item() == pytest.approx(ndcg_score(relevant, values), abs=1e-12)
    assert np.isnan(ds.mean_ap) and np.isnan(ds.mean_ap_at_r) and not np.isnan(ds.r_precision)
    for i in range(12):
        each = ndcg_score(relevant[[i]], values[[i]])
        assert ds.query_ndcg[i].item() == pytest.approx(each, abs=1e-12)


@pytest.mark.parametrize("unmatched", ["skip", "zero"])
@pytest.mark.parametrize("options", [{"junk": "keep"}, {"junk_ids": (), "distractor_ids": (-1,)}])
def test_junk_and_distractors_match_no_query_in_any_layout(options, unmatched):
    """Query 7 has its match at rank 3, behind junk; the query that is junk has no list."""
    distances = np.array([[3.0, 1.0, 2.0], [3.0, 1.0, 2.0]])
    scores = be.Scores(distances, [7, -1], [7, -1, -1])
    keywords = {"removed": "none", "unmatched": unmatched, **options}
    ds = be.reid(scores, **keywords)
    assert (ds.queries, ds.left_out, ds.unmatched, ds.not_in_gallery) == (1, 1, 0, 0)
    assert float(ds.mean_ap) == 1 / 3 and ds.cmc.values.tolist()[:3] == [0, 0, 1]
    index = np.argsort(distances, axis=1)
    lists = be.Scores.from_top_k(index, [7, -1], [7, -1, -1], distances=np.sort(distances, axis=1))
    of_lists = be.reid(lists, **keywords)
    assert (of_lists.queries, of_lists.left_out, of_lists.skipped) == (1, 1, 0)
    assert float(of_lists.mean_ap) == 1 / 3
    for result in (ds, of_lists):
        assert "queries-left-out" in [message.code for message in be.messages(result)]
    within = be.reid(scores, thresholds=[1.5, 3.5], **keywords)
    assert within.micro_f1.values.tolist() == [0, 0.5]
    if options.get("junk") == "keep":
        pairs = be.verification(kept(scores, removed="none", junk="keep"))
        assert (int(pairs.genuine_attempts), int(pairs.impostor_attempts)) == (1, 2)


def test_identity_0_is_a_distractor_only_where_names_say_so(tmp_path):
    plain = be.reid(be.Scores([[1, 2]], [0], [3, 0]), removed="none")
    assert "distractors" not in str(plain.attrs)
    queries = np.array(["0000_c1s1_000451_03.jpg", "0003_c1s1_000451_03.jpg"])
    names = queries, np.array(["0003_c2s1_1_1", "0000_c2s1_2_1"])
    np.savez(
        tmp_path / "x.npz", scores=[[1.0, 2.0]] * 2, probe_names=names[0], gallery_names=names[1]
    )
    keys = {"columns": {"labels": "probe_names", "gallery_labels": "gallery_names"}}
    read = be.load(tmp_path / "x.npz", names_of="market1501", kind="distance", **keys)
    for scores in (read, read.select(probes=[1, 0], gallery=[1, 0])):
        result = be.reid(scores)
        assert result.attrs["reading"].endswith("distractors: identity 0")
        assert "queries-left-out" in [message.code for message in be.messages(result)]


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


# ------------------------------------------------------------------------ errors


def test_errors_say_what_is_wrong():
    scores = be.Scores([[1, 2]], [1], [1, 2])
    for call, error, message in (
        (lambda: be.reid(scores), be.ProtocolError, "no column 'camera' in probe_meta and"),
        (lambda: be.reid(scores, "market"), be.CardError, "Did you mean 'market1501'"),
        (lambda: be.reid(scores, "pairs"), be.CardError, r"has no \[reid\] section"),
        (lambda: be.reid(scores, "viper", max_rank=0), be.DataError, "`max_rank` is 0; expected"),
        (lambda: be.reid(scores, "viper", max_rank=10**10), be.DataError, "at most 10000: the ga"),
        (
            lambda: be.gom(scores, convention="viper", max_rank=10**10),
            be.DataError,
            "the gallery has 2 templates",
        ),
        (lambda: be.reid(scores, "viper", rank_k=0), be.DataError, "`rank_k` is 0"),
        (lambda: be.reid(scores, "viper", ties="none"), be.DataError, "`ties` is 'none'"),
        (lambda: be.reid(scores, "viper", ap="area"), be.DataError, "`ap` is 'area'"),
        (lambda: be.reid(scores, "viper", junk_ids=3), be.DataError, "junk_ids is 3"),
        (
            lambda: be.reid(be.Scores([[1, 2]], [9], [1, 2]), "viper"),
            be.ProtocolError,
            "no identity of the 1 query is in the gallery",
        ),
        (lambda: be.reid([[1, 2]]), be.DataError, "expected bioeval.Scores"),
        (lambda: be.gom(scores, thresholds=5, convention="viper"), be.DataError, "increasing"),
        (lambda: be.gom(scores, budget=0, convention="viper"), be.DataError, "`budget` is 0"),
        (
            lambda: be.gom(be.Scores([[1, 1]], [1], [1, 2]), convention="viper"),
            be.DataError,
            "cannot be normalised",
        ),
        (
            lambda: be.gom(be.Scores([[-1e308, 0, 1e308]], [1], [1, 2, 1]), convention="viper"),
            be.DataError,
            "they reach from -1e\\+308 to 1e\\+308; scale them",
        ),
        (
            lambda: be.gom(be.Scores([[1, 2]], [1], [1, 2], kind="order"), convention="viper"),
            be.ProtocolError,
            "order",
        ),
    ):
        with pytest.raises(error, match=message):
            call()


def test_cameras_that_are_not_what_they_seem():
    """A rule of cameras that could never apply is an error, and columns have their usual names."""
    d, q, g = [[1, 2, 3]], [1], [1, 2, 1]
    expected = be.reid(be.Scores(d, q, g, probe_meta={"camera": [1]},
                                 gallery_meta={"camera": [1, 2, 3]})).mean_ap  # fmt: skip
    assert expected == 0.5
    for name in ("cam", "camid", "cam_id", "CameraID", "camids"):
        meta = {"probe_meta": {name: [1]}, "gallery_meta": {name: [1, 2, 3], "x": [1, 1, 1]}}
        assert be.reid(be.Scores(d, q, g, **meta)).mean_ap == expected
        lists = be.Scores.from_top_k([[0, 1, 2]], q, g, **meta)
        assert be.reid(lists, "top-k", removed="same-id-same-camera").mean_ap == expected
    one = be.Scores(d, q, g, probe_meta={"camera": [1]}, gallery_meta={"where": [1, 2, 3]})
    with pytest.raises(be.ProtocolError, match=r"in gallery_meta \(gallery_meta has 'where'\)"):
        be.reid(one)


def test_gom_of_a_card_with_expected_ties(tmp_path):
    """Stable ties are not taken in place of those that the card asks for."""
    from bioeval.protocol.loading import load

    text = load("viper").to_toml().replace('"stable"', '"expected"').replace('"viper"', '"mine"')
    (tmp_path / "mine.toml").write_text(text)
    scores = be.Scores([[1, 2]], [1], [1, 2])
    with pytest.raises(be.ProtocolError, match='mine has expected ties.*give `ties="stable"`'):
        be.gom(scores, convention=tmp_path / "mine.toml")
    result = be.gom(scores, convention=tmp_path / "mine.toml", ties="stable")
    assert result.attrs["ties"] == "stable"


def test_what_lists_do_not_tell_of_a_convention():
    lists = be.Scores.from_top_k([[2, 1]], [1], [2, 3, 1])
    assert be.reid(lists, "vehicleid").mean_ap == 1
    for call, error, message in (
        (lambda: be.reid(lists, "identity-dedup"), be.ProtocolError, "cmc = 'identity-dedup'"),
        (lambda: be.reid(lists, "vehicleid", ap="trapezoid"), be.ProtocolError, "give 'sum'"),
        (
            lambda: be.reid(lists, "vehicleid", ties="optimistic"),
            be.ProtocolError,
            "do not determine",
        ),
        (lambda: be.reid(lists), be.ProtocolError, "no column 'camera'"),
        (lambda: be.gom(lists, convention="vehicleid"), be.ProtocolError, "2 nearest alone"),
        (lambda: be.evaluate(lists, "lfw-view2"), be.ProtocolError, "2 nearest alone"),
        (
            lambda: be.evaluate(lists, "viper", thresholds=5),
            be.ProtocolError,
            "lists that are cut do not hold",
        ),
        (
            lambda: be.reid(be.Scores.from_top_k([[0, 1]], [9], [2, 3, 1]), "viper"),
            be.ProtocolError,
            "none of the 1 queries has a match",
        ),
        (
            lambda: be.reid(be.Scores.from_top_k([[0, 1]], [1], [2, 3, 1]), "cityflow"),
            be.ProtocolError,
            "`rank_k` is 100, but a list covers only 2 ranks",
        ),
    ):
        with pytest.raises(error, match=message):
            call()
    with pytest.warns(be.BioevalWarning, match="1 of 1 query with more matches"):
        be.reid(be.Scores.from_top_k([[2]], [1], [1, 3, 1]), "viper")


def test_far_targets_mean_nothing_where_all_is_ranks():
    with pytest.raises(be.ProtocolError, match="does nothing under protocol viper"):
        be.evaluate(be.Scores([[1, 2]], [1], [1, 2]), "viper", far_targets=[0.1])


def test_nan_is_an_error_only_where_it_is_read():
    meta = {"probe_meta": {"camera": [1]}, "gallery_meta": {"camera": [1, 2, 3]}}
    hidden = be.Scores([[np.nan, 2, 3]], [1], [1, 2, 1], **meta)
    assert be.reid(hidden).mean_ap == 0.5
    for row, k in (([1, np.nan, 3], 1), ([1, 2, np.nan], 2)):
        with pytest.raises(be.DataError, match=f"1 NaN, the first at row 0, column {k}"):
            be.reid(be.Scores([row], [1], [1, 2, 1], **meta))


# ------------------------------------------------------------------------ command line, files


@pytest.fixture
def on_disk(tmp_path, monkeypatch):
    """Queries and gallery in a file, with cameras under names of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    scores = population()
    np.savez(
        "reid.npz", distmat=scores.values, q_pids=scores.probe_labels, g_pids=scores.gallery_labels,
        q_camids=scores.probe_meta["camera"], g_camids=scores.gallery_meta["camera"],
    )  # fmt: skip
    return scores


RUN = ("run", "reid.npz", "--columns", "scores=distmat,labels=q_pids,gallery_labels=g_pids")
CAMERAS = ("--columns", "probe_camera=q_camids,gallery_camera=g_camids")


def test_a_run_by_a_convention(on_disk, capsys):
    assert main([*RUN, *CAMERAS, "--protocol", "market1501"]) == 0
    shown = capsys.readouterr().out
    ds = be.reid(on_disk)
    for text in ("mAP", "mINP", "Rank 1 ", "Rank 5 ", "Rank 10", "Rank 20", f"{ds.mean_ap:.1%}"[:4],
                 f"{int(ds.queries)} queries; {int(ds.skipped)} skipped",
                 f"{int(ds.removed):,} comparisons removed"):  # fmt: skip
        assert text in shown
    file = np.load("reid.npz")
    np.savez("reid.npz", **{name: file[name] for name in ("distmat", "q_pids", "g_pids")})
    assert main([*RUN, "--protocol", "market1501"]) == 2
    message = capsys.readouterr().err
    assert "no column 'camera'" in message and "--columns probe_camera=NAME" in message


@pytest.mark.parametrize("matrix", ["distmat", "dist"])
@pytest.mark.parametrize(
    "names",
    [
        ("q_pids", "g_pids", "q_camids", "g_camids"),
        ("query_ids", "gallery_ids", "query_cams", "gallery_cams"),
        ("query_pids", "gallery_pids", "query_camids", "gallery_camids"),
        ("query_label", "gallery_label", "query_cam", "gallery_cam"),
    ],
)
@pytest.mark.cases(3)
def test_arrays_under_their_usual_names(matrix, names, tmp_path, capsys):
    """What rankers in Python take needs no options; what is named stays as it is named."""
    scores = population()
    columns = [scores.probe_labels, scores.gallery_labels,
               scores.probe_meta["camera"], scores.gallery_meta["camera"]]  # fmt: skip
    arrays = {matrix: scores.values, **dict(zip(names, columns, strict=True))}
    place = tmp_path / "r.npz"
    np.savez(place, **arrays)
    expected = be.reid(scores)
    for options in ({}, {"columns": {"scores": matrix}}, {"kind": "distance"}):
        assert be.reid(be.load(place, **options)).mean_ap == expected.mean_ap
    assert main(["run", str(place), "--protocol", "market1501", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)["tasks"]["reid"]
    assert result["mean_ap"] == float(expected.mean_ap)
    other = be.load(place, columns={"probe_camera": names[0], "gallery_camera": names[1]})
    np.testing.assert_array_equal(other.probe_meta["camera"], scores.probe_labels)

    np.savez(place, **arrays, qf=np.eye(40), gf=np.eye(40))
    with pytest.raises(be.DataError, match=f"holds both {matrix} and qf; choose by `columns="):
        be.load(place)
    assert be.load(place, columns={"scores": matrix}).shape == scores.shape
    np.savez(place, **arrays, qf=np.eye(40, 3), gf=np.eye(72, 3))
    features = be.load(place, metric="l2", columns={"embeddings": "qf", "gallery_embeddings": "gf"})
    np.testing.assert_array_equal(features.gallery_labels, scores.gallery_labels)
    np.savez(place, **arrays, who=scores.probe_labels + 1)
    result = be.load(place, columns={"labels": "who"})
    np.testing.assert_array_equal(result.probe_labels, scores.probe_labels + 1)
    np.testing.assert_array_equal(result.probe_meta["camera"], scores.probe_meta["camera"])
    np.savez(place, **{name: x for name, x in arrays.items() if name != names[3]})
    with pytest.raises(be.ProtocolError, match="no column 'camera' in gallery_meta;"):
        be.reid(be.load(place))
    np.savez(place, **{matrix: scores.values, names[0]: scores.probe_labels})
    with pytest.raises(be.DataError, match="no labels, the subject of|there are no gallery labels"):
        be.load(place)


def test_the_worst_queries(on_disk, capsys):
    ds = be.reid(on_disk, per_query=True)
    ap = ds.average_precision.values
    defined = np.sort(ap[~np.isnan(ap)])
    tree = be.evaluate(on_disk, "market1501", per_query=True)
    np.testing.assert_array_equal(tree["reid"].average_precision, ap)
    worst = ds.sortby("average_precision")
    np.testing.assert_array_equal(worst.average_precision[: len(defined)], defined)

    run = [*RUN, "--protocol", "market1501", "--per-query"]
    assert main([*run, "--out", "found"]) == 0
    first = int(np.nanargmin(ap))
    assert f"(rows, from 0): {first} (AP {100 * ap[first]:.1f} %), " in capsys.readouterr().out
    with open("found/queries.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(ap)
    values = np.array([float(row["average_precision"]) for row in rows])
    np.testing.assert_array_equal(values[: len(defined)], defined)
    assert np.isnan(values[len(defined) :]).all()
    for row in rows:
        i = int(row["query"])
        assert int(row["label"]) == on_disk.probe_labels[i]
        assert int(row["camera"]) == on_disk.probe_meta["camera"][i]
        assert int(row["matches"]) == ds.matches[i]
    assert main([*run, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["tasks"]["reid"]["worst_first"]
    assert [row["query"] for row in listed] == [int(row["query"]) for row in rows]
    assert listed[-1]["average_precision"] is None
    assert main([*RUN, "--per-query"]) == 2
    assert "--per-query applies to re-identification only" in capsys.readouterr().err
    assert main([*RUN, "--protocol", "market1501", "--out", "plain"]) == 0
    assert "queries.csv" not in os.listdir("plain")


# ------------------------------------------------------------------------ precision and recall


def ranked(seed: int = 3) -> be.Scores:
    """Scores without ties, of queries that all have a match."""
    rng = np.random.default_rng(seed)
    gallery = np.repeat(np.arange(6), [1, 2, 3, 5, 8, 10])
    query = rng.integers(0, 6, 15)
    values = rng.random((15, len(gallery))) - 0.3 * (query[:, None] == gallery)
    return be.Scores(values, query, gallery)


def test_a_recall_level_is_reached_exactly():
    """Three of ten matches have a recall of 0.3, which 3 * 0.1 in floating point exceeds."""
    labels = np.repeat([1, 0], 10)
    values = np.r_[1, 2, 3, np.arange(14, 21), np.arange(4, 14)][None]
    ds = be.reid(be.Scores(values, [1], labels), "viper")
    assert ds.interpolated_precision.sel(recall_level=0.3) == 1
    assert ds.interpolated_precision.values[4] == 10 / 20


def test_thresholds_of_retrieval():
    scores = ranked()
    with pytest.raises(be.DataError, match=r"of re-identification expected .* not a number"):
        be.reid(scores, "viper", thresholds=5)
    order = be.Scores(np.argsort(np.argsort(scores.values)) + 1, scores.probe_labels,
                      scores.gallery_labels, kind="order")  # fmt: skip
    assert be.reid(order, "viper").precision_at_k.equals(be.reid(scores, "viper").precision_at_k)
    with pytest.raises(be.ProtocolError, match="retrieval within a threshold compares"):
        be.reid(order, "viper", thresholds=[0.1])
    lists = be.Scores.from_top_k([[2, 1], [0, 1]], ["ann", "bob"], ["ann", "bob", "ann"])
    with pytest.raises(be.ProtocolError, match="within a threshold; leave them out"):
        be.reid(lists, "cityflow", rank_k=2, thresholds=[0.1])
    tree = be.evaluate(scores, "viper", thresholds=[0.1, 0.4])
    assert tree["reid"].to_dataset().f1.equals(be.reid(scores, "viper", thresholds=[0.1, 0.4]).f1)


@pytest.mark.parametrize("places", [4, None])
def test_the_rank_k_warning_is_that_of_matrices_and_of_lists(places, tmp_path):
    scores = ranked()
    if places:
        order = np.argsort(scores.values, axis=1)[:, :places]
        scores = be.Scores.from_top_k(order, scores.probe_labels, scores.gallery_labels)
    with pytest.warns(be.BioevalWarning, match="with more matches .* cut at rank 4"):
        result = be.reid(scores, "cityflow", rank_k=4)
    assert "more-matches-than-places" in [message.code for message in be.messages(result)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        be.reid(scores, "cityflow", rank_k=4, rank_k_over="smaller")


def subjects_of_queries(labels, gallery, cameras, rule, zero) -> tuple[int, int]:
    """Queries in the means of templates against all others, and their subjects, by loops."""
    queries, subjects = 0, set()
    for i, label in enumerate(labels):
        has_match = False
        for j, other in enumerate(gallery):
            removed = rule == "market1501" and cameras[i] == cameras[j]
            if i != j and label == other and not removed:
                has_match = True
        if has_match or zero:
            queries += 1
            subjects.add(label)
    return queries, len(subjects)


@pytest.mark.parametrize("card", ["vehicleid", "market1501"])
@pytest.mark.parametrize("unmatched", ["skip", "zero"])
def test_subjects_are_those_of_the_queries_in_the_means(card, unmatched, tmp_path, capsys):
    """Singletons, and subjects of whom one camera has all images, are skipped."""
    rng = np.random.default_rng(3)
    labels = [f"s{i}" for i in np.repeat(np.arange(9), [1, 1, 2, 2, 3, 3, 4, 4, 5])]
    cameras = rng.integers(0, 2, len(labels)).tolist()
    scores = be.Scores(rng.random((25, 25)), labels, probe_meta={"camera": cameras})
    queries, subjects = subjects_of_queries(labels, labels, cameras, card, unmatched == "zero")
    assert subjects < 9 or unmatched == "zero"
    ds = be.reid(scores, card, unmatched=unmatched)
    assert (int(ds.queries), int(ds.subjects)) == (queries, subjects)
    if unmatched == "skip":
        be.save(scores, tmp_path / "s.npz")
        assert main(["run", str(tmp_path / "s.npz"), "--protocol", card, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["tasks"]["reid"]["subjects"] == subjects


def test_both_lists_of_a_convention_and_all_queries_are_shown(on_disk, capsys):
    assert main([*RUN, *CAMERAS, "--protocol", "cuhk03"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "removed for the CMC: entries of the same camera; for all other measures" in shown
    with pytest.raises(be.DataError, match="needs per_query=True"):
        be.to_frame(be.reid(on_disk), "queries")
    frame = be.to_frame(be.reid(on_disk, per_query=True), "queries")
    assert len(frame) == on_disk.shape[0]
    assert frame["average_precision"].dropna().is_monotonic_increasing


@pytest.mark.parametrize("ties", ["pessimistic", "expected"])
@pytest.mark.parametrize("mates", [3, 70])
def test_missing_scores_are_no_entries_however_many_mates(mates, ties):
    """Beyond 64 mates a query is counted in another way."""
    rng = np.random.default_rng(0)
    labels = np.array([1] * mates + list(range(2, 102)))
    values = rng.random((3, len(labels))).round(2)
    missing = rng.random(len(labels)) < 0.1
    values[:, missing] = np.nan
    known = ~missing
    result = be.reid(be.Scores(values, [1] * 3, labels, nan="exclude"), "viper", ties=ties)
    expected = be.reid(be.Scores(values[:, known], [1] * 3, labels[known]), "viper", ties=ties)
    for name in ("cmc", "mean_ap", "mean_inp", "mrr", "r_precision", "mean_ap_at_r", "ndcg"):
        np.testing.assert_array_equal(result[name], expected[name], err_msg=name)
