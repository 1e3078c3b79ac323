"""Top-K lists: what they cover is exact, and what they do not is refused."""

import h5py
import naive_reid
import numpy as np
import pytest
from hypothesis import given, strategies as st
from named_arguments import raises_about
from reference import floats
from scipy.io import savemat

import bioeval as be


def lists_of(distances, k) -> np.ndarray:
    return np.argsort(distances, axis=1, kind="stable")[:, :k]


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
@given(
    seed=st.integers(0, 2**32),
    k=st.integers(1, 12),
    removed=st.sampled_from(["none", "same-camera", "same-id-same-camera"]),
    junk=st.sampled_from(["keep", "remove"]),
    unmatched=st.sampled_from(["skip", "zero"]),
    over=st.sampled_from(["positives", "smaller", "found"]),
    precision_over=st.sampled_from(["rank", "smaller"]),
    text=st.booleans(),
)
def test_lists_give_what_the_whole_ranking_gives(
    seed, k, removed, junk, unmatched, over, precision_over, text
):
    rng = np.random.default_rng(seed)
    number_of_queries, n = 7, 12
    query, gallery = rng.integers(-1, 5, number_of_queries), rng.integers(-1, 5, n)
    q_cam, g_cam = rng.integers(0, 3, number_of_queries), rng.integers(0, 3, n)
    distances = rng.integers(0, 9, (number_of_queries, n)) / 8
    labels = [x.astype(str) if text else x for x in (query, gallery)]
    lists = be.Scores.from_top_k(
        lists_of(distances, k),
        *labels,
        distances=np.sort(distances, axis=1)[:, :k],
        probe_meta={"camera": q_cam},
        gallery_meta={"camera": g_cam},
        first_index=0,
    )
    options = {"removed": removed, "unmatched": unmatched, "precision_over": precision_over}
    try:
        result = be.reid(lists, "top-k", junk_ids=(-1,), junk=junk, rank_k_over=over, **options)
    except be.ProtocolError as error:
        # A list is emptied by what is removed, or nobody has a match.
        assert "covers no rank" in str(error) or "has a match" in str(error)
        return
    case = {"values": distances.tolist(), "probe_labels": query, "gallery_labels": gallery}
    nobody = {"junk_ids" if junk == "remove" else "kept_ids": (-1,)}
    expected = naive_reid.reid(
        case, (q_cam, g_cam), over=over, max_rank=result.sizes["rank"], rank_k=int(result.rank_k),
        **nobody, **options,
    )  # fmt: skip
    np.testing.assert_allclose(result.cmc, floats(expected.cmc), atol=1e-12)
    assert result.rank_k_mean_ap.item() == pytest.approx(
        float(expected.rank_k_mean_ap), nan_ok=True
    )
    assert int(result.queries) == expected.queries
    assert int(result.unmatched) == expected.unmatched
    assert int(result.skipped) == (0 if unmatched == "zero" else expected.unmatched)
    assert int(result.left_out) == (query == -1).sum()
    if not expected.queries:
        return
    for name in ("precision_at_k", "recall_at_k", "interpolated_precision"):
        is_defined = ~np.isnan(result[name].values)
        values = floats(getattr(expected, name))
        np.testing.assert_allclose(result[name].values[is_defined], values[is_defined], atol=1e-12)
    assert not np.isnan(result.precision_at_k.values[: int(result.rank_k)]).any()
    complete = not np.isnan(result.mean_ap)
    assert complete or k < n  # the whole gallery is listed
    for name in ("mean_ap", "mean_inp", "mrr", "r_precision", "mean_ap_at_r", "ndcg"):
        if complete or not np.isnan(result[name]):
            assert result[name].item() == pytest.approx(float(getattr(expected, name)), abs=1e-12)
    if removed == "none" and junk == "keep":
        assert result.sizes["rank"] >= k


def test_what_is_removed_shortens_what_a_list_tells():
    meta = {"probe_meta": {"camera": [1]}, "gallery_meta": {"camera": [1, 2, 2, 2]}}
    lists = be.Scores.from_top_k([[0, 1, 2]], ["ann"], ["ann", "bob", "eve", "ann"], **meta)
    result = be.reid(lists, "top-k", removed="same-id-same-camera")
    assert result.sizes["rank"] == 2 and int(result.rank_k) == 2
    with pytest.raises(be.ProtocolError, match="`rank_k` is 3, but a list covers only 2 ranks"):
        be.reid(lists, "top-k", removed="same-id-same-camera", rank_k=3)
    with raises_about(be.ProtocolError, "max_rank"):
        be.reid(lists, "top-k", removed="same-id-same-camera", max_rank=3)
    assert be.reid(lists, "top-k", max_rank=9).cmc.values.tolist() == [1.0] * 9  # found at rank 1


def test_what_short_lists_tell():
    """A list of the whole gallery tells all; without a match, a query has no rank."""
    lists = be.Scores.from_top_k([[1, 2], [0, -1]], ["ann", "bob"], ["ann", "bob", "eve"])
    assert be.reid(lists, "top-k").sizes["rank"] == 1
    result = be.reid(be.Scores.from_top_k([[0, 1]], ["ann"], ["bob", "ann"]), "top-k")
    assert (float(result.mean_ap), float(result.mean_inp)) == (0.5, 0.5)
    unmatched = be.Scores.from_top_k([[0]], ["ann"], ["bob"])
    assert float(be.reid(unmatched, "top-k", unmatched="zero").rank_k_mean_ap) == 0
    one = be.Scores.from_top_k([[0], [0]], ["ann", "bob"], ["ann", "bob"])
    ranks = be.reid(one, "top-k", per_query=True).first_match_rank.values
    np.testing.assert_array_equal(ranks, [1, np.nan])


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
@pytest.mark.parametrize("k", [5, 20, 100])
def test_the_reference_programs(root, k):
    """Rank-K mAP of a participant's program, and trec_eval's on the same lists."""
    data = np.load(root / "tests" / "data" / "reid" / "multi_camera.npz")
    expected = f"ref/voc_reid/eval_results/K={k}"
    lists = be.Scores.from_top_k(lists_of(data["distmat"], k), data["q_pids"], data["g_pids"])
    result = be.reid(lists, "top-k")
    np.testing.assert_allclose(result.rank_k_mean_ap, data[f"{expected}/mAP"], rtol=1e-12)
    cmc = data[f"{expected}/cmc"]
    np.testing.assert_allclose(result.cmc, cmc[: result.sizes["rank"]], rtol=1e-12)
    zero = be.reid(lists, "top-k", unmatched="zero")
    trec = data[f"ref/trec_eval/top_K_run/K={k}/map_per_query"]
    np.testing.assert_allclose(zero.rank_k_mean_ap, trec.mean(), rtol=1e-12)


# ------------------------------------------------------------------------ what is refused


LISTS = be.Scores.from_top_k([[2, 0], [1, 2]], ["ann", "bob"], ["ann", "bob", "ann"])


@pytest.mark.parametrize(
    "call",
    [
        be.verification,
        be.closed_set,
        be.open_set,
        be.gom,
        be.ranks,
        lambda x: be.evaluate(x, "course-probe-vs-gallery"),
        lambda x: x.values,
        lambda x: x.select(gallery=[0]),
        lambda x: x.at_pairs([0], [0]),
    ],
)
def test_what_needs_the_whole_gallery(call):
    with pytest.raises(
        be.ProtocolError, match="all 3 gallery entries.*the 2 nearest.*protocol=.top-k"
    ):
        call(LISTS)


def test_a_part_of_the_queries():
    part = LISTS.select(probes=[1])
    assert part.shape == (1, 3) and part.probe_labels.tolist() == ["bob"]
    assert float(be.reid(part, "top-k").rank_k_mean_ap) == 1.0
    assert LISTS.select() is LISTS


@pytest.mark.parametrize(
    ("indices", "options", "message"),
    [
        ([[1, 4]], {}, "the lists have 1 position outside of 0..2, the first is 4 in list 0$"),
        ([[0, 3]], {}, "the lists have 1 position outside of 0..2, the first is 3 in list 0$"),
        ([[0, -2]], {}, "the first is -2 in list 0$"),
        ([[2, 2]], {}, "1 lists hold an entry twice, the first is list 0 with 2"),
        ([0, 1], {}, r"shape \(2,\) and dtype int64; expected integers \(queries, K\)"),
        ([[0.5, 1]], {}, "dtype float64; expected integers"),
        ([[0, 1]], {"distances": [[1.0]]}, r"shape \(1, 1\); expected \(1, 2\)"),
        ([[0, 1]], {"distances": [[1.0, 0.5]]}, "decrease along the list.*kind=.similarity"),
        ([[0, 1]], {"distances": [[0.5, np.nan]]}, "query 0 hold NaN"),
        ([[0, 1]], {"distances": [[1, 2]], "kind": "similarity"}, "increase along .*kind=.dist"),
        ([[0, 1]], {"kind": "order"}, "`kind` is 'order'"),
        ([[0, 1], [1, 2]], {}, "`labels` has 1 label for 2 lists"),
    ],
)
def test_lists_that_are_none(indices, options, message):
    with pytest.raises(be.DataError, match=message):
        be.Scores.from_top_k(indices, ["ann"], ["ann", "bob", "ann"], **options)


def test_behind_the_end_of_a_list_distances_mean_nothing():
    for filler in (0.0, np.nan, np.inf):
        far = [[0.5, filler], [0.25, 0.5]]
        lists = be.Scores.from_top_k([[1, -1], [0, 1]], ["a", "b"], ["a", "b"], distances=far)
        assert be.reid(lists, "top-k").cmc.values.tolist() == [0.0]


# ------------------------------------------------------------------------ files


def same(a: be.Scores, b: be.Scores) -> None:
    assert a.layout == b.layout == "top-k"
    np.testing.assert_array_equal(a.indices, b.indices)
    assert (a.distances is None) == (b.distances is None)
    if a.distances is not None:
        np.testing.assert_array_equal(a.distances, b.distances)
    for name in ("probe_labels", "gallery_labels"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert a.kind == b.kind
    assert {k: v.tolist() for k, v in a.gallery_meta.items()} == {
        k: v.tolist() for k, v in b.gallery_meta.items()
    }


@pytest.mark.parametrize(
    "lists",
    [
        LISTS,
        be.Scores.from_top_k(
            [[2, 0], [1, -1]],
            [1, 2],
            [1, 2, 1],
            distances=[[0.9, 0.5], [0.7, np.nan]],
            kind="similarity",
            probe_meta={"camera": [1, 2]},
            gallery_meta={"camera": ["a", "b", "a"]},
        ),
    ],
)
def test_npz_keeps_lists(tmp_path, lists):
    be.save(lists, tmp_path / "x.npz")
    same(be.load(tmp_path / "x.npz"), lists)
    with pytest.raises(be.DataError, match="expected one of .npz"):
        be.save(lists, tmp_path / "x.npy")


def test_lists_under_other_names(tmp_path):
    np.savez(
        tmp_path / "x.npz",
        top=[[3, 1], [2, 3]],
        far=[[0.1, 0.2], [0.3, 0.4]],
        who=["ann", "bob"],
        gallery=["ann", "bob", "ann"],
        scores=np.eye(2, 3),
    )
    sides = {"labels": "who", "gallery_labels": "gallery"}
    columns = {"scores": "far", "indices": "top", **sides}
    result = be.load(tmp_path / "x.npz", columns=columns, lists={"first_index": 1})
    same(result, be.Scores.from_top_k(LISTS.indices, ["ann", "bob"], ["ann", "bob", "ann"],
                              distances=[[0.1, 0.2], [0.3, 0.4]]))  # fmt: skip
    with pytest.raises(be.DataError, match="hold 3, of 3 entries, in list 0"):
        be.load(tmp_path / "x.npz", columns=columns)
    with pytest.raises(be.DataError, match="no gallery_labels; top-K lists need .* every gallery"):
        be.load(tmp_path / "x.npz", columns={"indices": "top", "labels": "who"})
    with pytest.raises(be.DataError, match="first_index.* has no meaning"):
        be.load(tmp_path / "x.npz", columns={"scores": "scores", **sides}, lists={"first_index": 1})
    with pytest.raises(be.DataError, match="'who'.*expected integers"):
        be.load(tmp_path / "x.npz", columns={"indices": "who", **sides})


# ------------------------------------------------------------------------ lists from 1


def search(seed, entry_count=100, depth=10):
    """Return lists from 0 of 40 queries, and the labels of queries and entries."""
    rng = np.random.default_rng(seed)
    centre = rng.normal(size=(20, 6))
    gallery, queries = np.repeat(np.arange(20), 5)[:entry_count], np.repeat(np.arange(20), 2)
    entries = centre[gallery] + 0.5 * rng.normal(size=(entry_count, 6))
    probes = centre[queries] + 0.5 * rng.normal(size=(40, 6))
    entries[entry_count - 1] = 50  # the last entry stands in no list
    if seed % 2:
        entries[0] = 50  # nor does the first
    distances = np.linalg.norm(probes[:, None] - entries, axis=-1)
    return np.argsort(distances, axis=1)[:, :depth], queries, gallery


@pytest.mark.parametrize("seed", range(40))
def test_lists_from_zero_are_read(seed):
    lists, queries, gallery = search(seed, depth=3 + seed % 5)
    assert be.Scores.from_top_k(lists, queries, gallery).shape == (40, 100)
    order = np.random.default_rng(seed).permutation(100)
    shuffled = np.argsort(order)[lists]  # a gallery in an order of its own
    assert be.Scores.from_top_k(shuffled, queries, gallery[order]).shape == (40, 100)


def precision(lists, queries, gallery):
    """The share of listed entries that are of the query's subject, by loops."""
    own = [gallery[i] == q for row, q in zip(lists, queries, strict=True) for i in row]
    return sum(map(bool, own)) / len(own)


QUESTION = "from 1\\? Give `{}` if they do, or `{}`"


@pytest.mark.parametrize("seed", range(4))
def test_lists_that_count_from_one_are_asked_about(tmp_path, seed):
    lists, queries, gallery = search(seed)
    right = precision(lists, queries, gallery)
    assert right > precision(lists + 1, queries, gallery)

    def precision_of(scores):
        return float(be.reid(scores, "top-k", rank_k=10).precision_at_k.values[9])

    with pytest.raises(be.DataError, match=QUESTION.format("first_index=1", "first_index=0")):
        be.Scores.from_top_k(lists + 1, queries, gallery)
    read = be.Scores.from_top_k(lists + 1, queries, gallery, first_index=1)
    assert np.isclose(precision_of(read), right)
    assert np.isclose(precision_of(be.Scores.from_top_k(lists, queries, gallery)), right)
    as_they_are = be.Scores.from_top_k(lists + 1, queries, gallery, first_index=0)
    assert np.isclose(precision_of(as_they_are), precision(lists + 1, queries, gallery))

    names = {"probe_labels": queries, "gallery_labels": gallery}
    np.savez(tmp_path / "x.npz", indices=lists + 1, **names)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for name, values in {"indices": lists + 1, **names}.items():
            file[name] = values
    in_load = QUESTION.format('lists={"first_index": 1}', 'lists={"first_index": 0}')
    for form in ("npz", "h5"):
        with pytest.raises(be.DataError, match=rf"x.{form}: .*{in_load}"):
            be.load(tmp_path / f"x.{form}")
        loaded = be.load(tmp_path / f"x.{form}", lists={"first_index": 1})
        assert np.isclose(precision_of(loaded), right)
    savemat(tmp_path / "x.mat", {"indices": lists + 1, **names})
    assert np.isclose(precision_of(be.load(tmp_path / "x.mat")), right)
    be.save(read, tmp_path / "y.npz")
    assert np.isclose(precision_of(be.load(tmp_path / "y.npz")), right)


def test_positions_of_queries_count_as_the_lists_do():
    lists, _, gallery = search(3)
    lists, rows = lists[:6], np.arange(10, 16)
    lists[:, 0] = rows
    lists = np.array([[*dict.fromkeys(x)][:5] for x in lists.tolist()])
    options = {"query_positions": rows, "first_index": 0}
    right = be.Scores.from_top_k(lists, gallery[rows], gallery, **options)
    shifted = {"query_positions": rows + 1, "first_index": 1}
    read = be.Scores.from_top_k(lists + 1, gallery[rows], gallery, **shifted)
    assert np.array_equal(read.indices, right.indices)
    with pytest.raises(be.DataError, match="row 0 holds 0.*`first_index=0` if it is 0"):
        be.Scores.from_top_k([[0, 1]], ["a"], ["a", "b"], first_index=1)
    with pytest.raises(be.DataError, match="first_index"):
        be.Scores.from_top_k([[0, 1]], ["a"], ["a", "b"], first_index=2)


# ------------------------------------------------------------------------ features in .npy


def test_features_as_npy(tmp_path):
    rng = np.random.default_rng(3)
    query, gallery = rng.normal(size=(2, 4)), rng.normal(size=(3, 4))
    np.save(tmp_path / "q.npy", query)
    np.save(tmp_path / "g.npy", gallery)
    (tmp_path / "q.labels.csv").write_text("id,camera\n7,1\n8,2\n")
    (tmp_path / "g.labels.csv").write_text("id,camera\n7,1\n8,2\n7,2\n")
    result = be.load(tmp_path / "q.npy", gallery=tmp_path / "g.npy", metric="l2")
    expected = be.Scores.from_embeddings(query, [7, 8], gallery, [7, 8, 7], metric="l2")
    np.testing.assert_array_equal(result.values, expected.values)
    assert result.gallery_labels.tolist() == ["7", "8", "7"]
    assert result.gallery_meta["camera"].tolist() == ["1", "2", "2"]

    square = be.load(tmp_path / "q.npy", metric="cosine")
    assert square.layout == "all-against-all"

    def refused(says, **options):
        with pytest.raises(be.DataError, match=says):
            be.load(tmp_path / "q.npy", **options)

    refused("3 labels for 2 templates", metric="l2", labels=tmp_path / "g.labels.csv")
    refused("q.csv: no such file", metric="l2", labels=tmp_path / "q.csv")
    refused(
        "has no meaning for embeddings; leave it out",
        metric="l2",
        kind="similarity",
    )
    (tmp_path / "q.labels.csv").unlink()
    refused("labels of its 2 rows are missing; expected q.labels.csv", metric="l2")
    (tmp_path / "t.csv").write_text("label\na\n")
    refused("`labels` is missing, the labels of the rows", gallery=tmp_path / "t.csv")
