"""Lists of an index that is searched with its own vectors: a query is no match of its own."""

import warnings

import numpy as np
import pytest
from named_arguments import raises_about
from result_messages import codes

import bioeval as be

WHO = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 5, 5, 6])


def vectors(who=WHO):
    rng = np.random.default_rng(0)
    return rng.normal(size=(len(who), 3)) + 1.3 * rng.normal(size=(7, 3))[who]


def searched(depth, **options):
    """Return what an index gives that is searched with its own vectors, and the matrix."""
    x = vectors()
    d = np.linalg.norm(x[:, None] - x[None], axis=2)
    index = np.argsort(d, axis=1, kind="stable")[:, :depth]
    distances = np.take_along_axis(d, index, axis=1)
    lists = be.Scores.from_top_k(index, WHO, WHO, distances=distances, **options)
    return lists, be.Scores(d, WHO)


@pytest.mark.parametrize("depth", [len(WHO), 8])
def test_rates_are_those_of_the_matrix(depth):
    lists, matrix = searched(depth, leave_out_query=True)
    assert lists.depth == depth - 1
    assert not (lists.indices == np.arange(len(WHO))[:, None]).any()
    result = be.reid(lists, "top-k")
    expected = be.closed_set(matrix)
    ranks = min(len(result["rank"]), len(expected["rank"]))
    assert ranks > 3
    np.testing.assert_array_equal(result.cmc[:ranks], expected.cms[:ranks])
    assert int(result.queries) == 16 and int(result.skipped) == 1
    if depth == len(WHO):
        reid = be.reid(matrix, removed="none", junk="keep", max_rank=5)
        for name in ("mean_ap", "mean_inp", "mrr", "ndcg", "r_precision", "mean_ap_at_r"):
            np.testing.assert_allclose(result[name], reid[name], rtol=1e-12, err_msg=name)


def test_lists_that_seem_to_begin_with_their_query_are_a_warning():
    with pytest.warns(
        be.BioevalWarning, match="17 of 17 lists may begin with .*leave_out_query"
    ) as w:
        lists, _ = searched(6)
    assert w[0].filename == __file__
    assert "lists-begin-with-query" in codes(be.reid(lists, "top-k"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seen, enrolled in (([1, 2, 3], [1, 2, 3]), ([2, 1, 1], [1, 1, 2])):  # one each; others
            be.Scores.from_top_k([[0, 1], [1, 0], [2, 1]], seen, enrolled)
        be.Scores.from_top_k([[1, 0], [0, 1], [2, 1]], [1, 1, 2], [1, 1, 2])


def test_the_first_entries_may_be_the_queries():
    lists = be.Scores.from_top_k([[0, 2, 1]], [1], [1, 1, 2], leave_out_query=True)
    np.testing.assert_array_equal(lists.indices, [[2, 1]])
    with pytest.raises(be.DataError, match="`leave_out_query` is stated, but the labels of the 1"):
        be.Scores.from_top_k([[0, 2, 1]], [2], [1, 1, 2], leave_out_query=True)
    with raises_about(be.DataError, "leave_out_query"):
        be.Scores.from_top_k([[0, 2, 1]], [1], [1, 1, 2], leave_out_query="yes")


def test_selected_lists_know_their_queries():
    lists, _ = searched(8, leave_out_query=True)
    assert int(be.reid(lists.select(probes=[0, 1, 5, 16]), "top-k").skipped) == 1


def test_a_rule_of_cameras_counts_a_query_once():
    meta = {"camera": np.arange(len(WHO)) % 2}
    options = {"probe_meta": meta, "gallery_meta": meta}
    kept, _ = searched(len(WHO), leave_out_query=False, **options)
    left_out, _ = searched(len(WHO), leave_out_query=True, **options)
    for removed in ("same-id-same-camera", "same-camera"):
        result, expected = (
            be.reid(x, "top-k", removed=removed, max_rank=5) for x in (left_out, kept)
        )
        for name in ("cmc", "mean_ap", "mean_inp", "skipped"):
            np.testing.assert_array_equal(result[name], expected[name], err_msg=name)
