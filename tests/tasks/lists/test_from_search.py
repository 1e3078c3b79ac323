"""Ranked lists from searches of an index, as FAISS and other libraries return them."""

import warnings

import naive_reid
import numpy as np
import pytest
from named_arguments import raises_about
from reference import floats
from result_messages import codes

import bioeval as be
from bioeval.cli import main

rng = np.random.default_rng(5)
WHO = np.repeat(np.arange(12), 3)
X = rng.standard_normal((12, 4))[WHO] + 0.6 * rng.standard_normal((36, 4))
FULL = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))


def search(rows, k):
    """Return the result of an exact index: distances and indices of the nearest k of all."""
    order = np.argsort(FULL[rows], axis=1, kind="stable")[:, :k]
    return np.take_along_axis(FULL[rows], order, axis=1), order


def naive_cmc(rows, k):
    """Return the CMC of queries against all but themselves."""
    rows = list(rows)
    case = {"values": FULL[rows], "probe_labels": WHO[rows], "gallery_labels": WHO}
    ids = {"probe_ids": rows, "gallery_ids": list(range(36))}
    return floats(naive_reid.reid(case | ids, None, removed="none", max_rank=k).cmc)


def test_positions_of_the_queries_in_the_index():
    rows = np.array([30, 4, 17, 9])
    distances, i = search(rows, 8)
    lists = be.Scores.from_top_k(i, WHO[rows], WHO, distances=distances, query_positions=rows)
    np.testing.assert_allclose(be.reid(lists, "top-k").cmc.values, naive_cmc(rows, 7))
    assert lists.probe_ids.tolist() == rows.tolist()
    positions = np.array([30, -1, 17, -1])
    half = be.Scores.from_top_k(i, WHO[rows], WHO, distances=distances, query_positions=positions)
    assert half.depth == 8
    assert half.indices[0].tolist() == [*i[0, 1:], -1]
    assert half.indices[1].tolist() == i[1].tolist()
    plain = be.Scores.from_top_k(i, WHO[rows], WHO, query_positions=rows)
    np.testing.assert_array_equal(plain.indices, lists.indices)


def test_missing_entries_are_put_at_the_end():
    similarities = np.array([[-3.4e38, 0.9, 0.5], [0.8, 0.7, -3.4e38]])
    i = np.array([[-1, 0, 2], [1, 2, -1]])
    lists = be.Scores.from_top_k(i, ["a", "b"], [*"aba"], distances=similarities, kind="similarity")
    assert lists.indices.tolist() == [[0, 2, -1], [1, 2, -1]]
    assert lists.distances[0, :2].tolist() == [0.9, 0.5]
    assert be.Scores.from_top_k(i, [*"ab"], [*"aba"]).indices.tolist() == lists.indices.tolist()
    unsigned = be.Scores.from_top_k(i.astype(np.uint64), [*"ab"], [*"aba"])
    assert unsigned.indices.dtype == np.int64
    assert unsigned.indices.tolist() == lists.indices.tolist()


def test_batches_of_a_search_are_joined():
    distances, i = search(np.arange(36), 8)
    parts = be.Scores.from_top_k(
        [i[:20], i[20:]], [WHO[:20], WHO[20:]], distances=[distances[:20], distances[20:]]
    )
    lists = be.Scores.from_top_k(i, WHO, distances=distances)
    np.testing.assert_array_equal(parts.indices, lists.indices)
    np.testing.assert_array_equal(parts.distances, lists.distances)


@pytest.mark.parametrize(
    ("positions", "more", "match"),
    [
        ([0], {}, r"`query_positions` has shape \(1,\) and dtype int64; expected the gallery ent"),
        ([0, 9], {}, "`query_positions` of query 1 is 9; expected an entry from 0 to 2, or -1"),
        ([1, 1], {}, "`query_positions` of query 0 is entry 1, which has another label than the q"),
        ([0, 1], {"leave_out_query": False}, "is given, and `leave_out_query` is F"),
    ],
)
def test_positions_that_do_not_fit(positions, more, match):
    with pytest.raises(be.DataError, match=match):
        be.Scores.from_top_k([[0, 1], [1, 2]], [*"ab"], [*"aba"], query_positions=positions, **more)
    distances, i = search(np.arange(36), 8)
    with pytest.raises(be.DataError, match="their scores are `distances`"):  # they are exchanged
        be.Scores.from_top_k(distances, WHO, distances=i)


def test_files_name_one_set_or_the_positions_of_queries(tmp_path):
    distances, i = search(np.arange(36), 8)
    np.savez(tmp_path / "own.npz", indices=i, distances=distances, labels=WHO)
    np.testing.assert_array_equal(
        be.load(tmp_path / "own.npz").indices,
        be.Scores.from_top_k(i, WHO, distances=distances).indices,
    )
    rows = np.array([30, 4, 17, 9])
    distances, i = search(rows, 8)
    names = {"probe_labels": WHO[rows], "gallery_labels": WHO, "query_positions": rows}
    np.savez(tmp_path / "some.npz", indices=i, distances=distances, **names)
    lists = be.load(tmp_path / "some.npz")
    np.testing.assert_allclose(be.reid(lists, "top-k").cmc.values, naive_cmc(rows, 7))


def of_faiss():
    index = pytest.importorskip("faiss").IndexFlatL2(4)
    index.add(X.astype(np.float32))
    similarities, i = index.search(X.astype(np.float32), 8)
    return be.Scores.from_top_k(i, WHO, distances=similarities)


def of_torch():
    torch = pytest.importorskip("torch")
    similarities, i = torch.topk(-torch.as_tensor(FULL).requires_grad_(), 8)
    return be.Scores.from_top_k(i, WHO, distances=similarities, kind="similarity")


@pytest.mark.parametrize("search", [of_faiss, of_torch])
def test_libraries_themselves(search):
    np.testing.assert_allclose(be.reid(search(), "top-k").cmc.values, naive_cmc(np.arange(36), 7))


@pytest.mark.parametrize("name", ["similarities", "scores"])
def test_files_of_inner_products_are_lists_of_similarities(name, tmp_path, capsys):
    distances, i = search(np.arange(36), 8)
    path = tmp_path / "topk.npz"
    np.savez(path, **{name: -distances}, indices=i, labels=WHO)
    if name == "scores":  # whose kind the file does not state
        assert main(["run", str(path)]) == 2
        assert "(or these are of --kind similarity)" in capsys.readouterr().err
    kind = {} if name == "similarities" else {"kind": "similarity"}
    lists = be.load(path, **kind)
    assert lists.kind == "similarity" and lists.distances.shape == lists.indices.shape
    np.testing.assert_allclose(be.reid(lists, "top-k").cmc.values, naive_cmc(np.arange(36), 7))
    assert main(["run", str(path), *(["--kind", "similarity"] if kind else [])]) == 0
    assert "similarities, accepted if >= threshold" in capsys.readouterr().out


def test_a_matrix_beside_indices_of_another_shape_is_asked_about(tmp_path):
    names = {"labels": WHO, "indices": np.argsort(FULL, axis=1)[:, :3]}
    np.savez(tmp_path / "x.npz", scores=FULL, **names)
    with pytest.raises(
        be.DataError, match=r"'indices', \(36, 3\) int64, is not read with a matrix"
    ):
        be.load(tmp_path / "x.npz")
    for columns in ({"scores": "scores"}, {"indices": None}):
        assert be.load(tmp_path / "x.npz", columns=columns).layout == "all-against-all"
    assert be.load(tmp_path / "x.npz", columns={"indices": "indices"}).layout == "top-k"


@pytest.mark.parametrize("shift", [0.0, 1e-6])
def test_lists_of_some_templates_of_the_index_begin_at_zero(shift):
    """Without names or positions, distances of 0 show that queries are in the gallery."""
    rows = np.random.default_rng(3).permutation(36)[:20]
    distances, i = search(rows, 8)
    distances[:, 0] += shift
    lists = be.Scores.from_top_k(i, WHO[rows], WHO, distances=distances)
    with pytest.warns(be.BioevalWarning, match="20 of 20 probes seem to be gallery templates"):
        assert "copies-in-gallery" in codes(be.reid(lists, "top-k"))
    stated = be.Scores.from_top_k(i, WHO[rows], WHO, distances=distances, query_positions=rows)
    assert "copies-in-gallery" not in codes(be.reid(stated, "top-k"))
    np.testing.assert_allclose(be.reid(stated, "top-k").cmc.values, naive_cmc(rows, 7))
    none = be.Scores.from_top_k(i, WHO[rows], WHO, distances=distances, leave_out_query=False)
    assert "copies-in-gallery" not in codes(be.reid(none, "top-k"))
    without_first = be.Scores.from_top_k(
        i[:, 1:], WHO[rows], WHO, distances=distances[:, 1:]
    )  # which are far
    assert "copies-in-gallery" not in codes(be.reid(without_first, "top-k"))


# ------------------------------------------------------------ an index searched with its own


ONE_ALONE = np.where(np.arange(36) == 35, 12, WHO)


def searched(depth, **options):
    """Return the lists of an index that is searched with its own vectors, and the matrix."""
    distances, i = search(np.arange(36), depth)
    lists = be.Scores.from_top_k(i, ONE_ALONE, ONE_ALONE, distances=distances, **options)
    return lists, be.Scores(FULL, ONE_ALONE)


@pytest.mark.parametrize("depth", [36, 8])
def test_rates_are_those_of_the_matrix(depth):
    lists, matrix = searched(depth, leave_out_query=True)
    assert lists.depth == depth - 1
    assert not (lists.indices == np.arange(36)[:, None]).any()
    result = be.reid(lists, "top-k")
    expected = be.closed_set(matrix)
    ranks = min(len(result["rank"]), len(expected["rank"]))
    assert ranks > 3
    np.testing.assert_array_equal(result.cmc[:ranks], expected.cms[:ranks])
    assert int(result.queries) == 35 and int(result.skipped) == 1
    if depth == 36:
        reid = be.reid(matrix, removed="none", junk="keep", max_rank=5)
        for name in ("mean_ap", "mean_inp", "mrr", "ndcg", "r_precision", "mean_ap_at_r"):
            np.testing.assert_allclose(result[name], reid[name], rtol=1e-12, err_msg=name)


def test_lists_that_seem_to_begin_with_their_query_are_a_warning():
    lists, _ = searched(6)
    with pytest.warns(
        be.BioevalWarning, match="36 of 36 probes seem to be .*leave_out_query"
    ) as caught:
        assert "copies-in-gallery" in codes(be.reid(lists, "top-k"))
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for queried, enrolled in (
            ([1, 2, 3], [1, 2, 3]),
            ([2, 1, 1], [1, 1, 2]),
        ):  # one each; others
            be.Scores.from_top_k([[0, 1], [1, 0], [2, 1]], queried, enrolled)
        be.Scores.from_top_k([[1, 0], [0, 1], [2, 1]], [1, 1, 2], [1, 1, 2])


def test_the_first_entries_may_be_the_queries():
    lists = be.Scores.from_top_k([[0, 2, 1]], [1], [1, 1, 2], leave_out_query=True)
    np.testing.assert_array_equal(lists.indices, [[2, 1]])
    with pytest.raises(be.DataError, match="`leave_out_query` is stated, but the labels of the 1"):
        be.Scores.from_top_k([[0, 2, 1]], [2], [1, 1, 2], leave_out_query=True)
    with raises_about(be.DataError, "leave_out_query"):
        be.Scores.from_top_k([[0, 2, 1]], [1], [1, 1, 2], leave_out_query="yes")
    with raises_about(be.DataError, "leave_out_query"):
        be.Scores.from_top_k([[1, 2], [0, 2], [1, 0]], [1, 1, 2], leave_out_query=np.ones(3))


def test_selected_lists_know_their_queries():
    lists, _ = searched(8, leave_out_query=True)
    assert int(be.reid(lists.select(probes=[0, 1, 5, 35]), "top-k").skipped) == 1


def test_a_rule_of_cameras_counts_a_query_once():
    meta = {"camera": np.arange(36) % 2}
    options = {"probe_meta": meta, "gallery_meta": meta}
    with_query, _ = searched(36, leave_out_query=False, **options)
    left_out, _ = searched(36, leave_out_query=True, **options)
    for removed in ("same-id-same-camera", "same-camera"):
        result, expected = (
            be.reid(x, "top-k", removed=removed, max_rank=5) for x in (left_out, with_query)
        )
        for name in ("cmc", "mean_ap", "mean_inp", "skipped"):
            np.testing.assert_array_equal(result[name], expected[name], err_msg=name)
