"""Datasets and trees that are put together directly are those of xarray's public constructors."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import xarray as xr

import bioeval as be
from bioeval.results import dataset as assembly
from bioeval.results.dataset import dataset_of, tree_of
from bioeval.results.failures import with_failures


def variable(*dims: str, values: object, **attrs: str) -> xr.Variable:
    return xr.Variable(dims, np.asarray(values), attrs, fastpath=True)


def both_ways(monkeypatch, make):
    """Return what is made directly and by public constructors."""
    assert assembly._direct_is_the_same()
    direct = make()
    monkeypatch.setattr(assembly, "_direct_is_the_same", lambda: False)
    return direct, make()


def parts(tree: xr.DataTree) -> str:
    return repr(assembly._parts(tree))  # NaN equals NaN


LABELS = {
    "bool": [True, False],
    "int8": np.array([3, 1], dtype=np.int8),
    "uint64": np.array([2**63, 1], dtype=np.uint64),
    "float32": np.array([0.5, -np.inf], dtype=np.float32),
    "float64": [np.nan, 1.0],
    "words": ["a", "bcd"],
    "objects": np.array(["a", None], dtype=object),
    "none": np.empty(0),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.cases(1)
def test_datasets_with_labels_of_any_kind(monkeypatch, labels):
    n = len(labels)

    def make():
        coords = {"x": variable("x", values=labels, units="1"), "k": variable("k", values=[1, 2])}
        data = {
            "one": variable(values=np.int64(4), long_name="one"),
            "table": variable("k", "x", values=np.arange(2 * n).reshape(2, n)),
            "free": variable("free", values=np.arange(5, dtype=np.float32)),
        }
        return tree_of({"a/b": dataset_of(data, coords, {"task": "t", "n": 3})})

    direct, public = both_ways(monkeypatch, make)
    assert parts(direct) == parts(public)
    assert repr(direct) == repr(public)
    xr.testing.assert_identical(direct, public)


def test_empty_parts(monkeypatch):
    direct, public = both_ways(monkeypatch, lambda: tree_of({"a": dataset_of({}, {}, {})}))
    assert parts(direct) == parts(public)


@pytest.mark.parametrize("protocol", ["auto", "course-kfold", "market1501"])
@pytest.mark.cases(1)
def test_evaluations(monkeypatch, protocol):
    scores = be.simulate(24, 4, random_state=2)
    if protocol == "market1501":
        cameras = {"camera": np.tile([0, 1, 2, 3], 24)}
        labels = scores.probe_labels
        given = {"probe_meta": cameras, "gallery_meta": cameras}
        scores = be.Scores(scores.values, labels, labels, **given)
    direct, public = both_ways(monkeypatch, lambda: be.evaluate(scores, protocol))
    assert parts(direct) == parts(public)
    xr.testing.assert_identical(direct, public)


@pytest.mark.slow
def test_several_systems_and_what_is_done_with_a_tree(monkeypatch):
    one, two = (be.simulate(12, 3, random_state=seed) for seed in (1, 2))
    direct, public = both_ways(monkeypatch, lambda: be.evaluate({"one": one, "two": two}))
    assert parts(direct) == parts(public)
    for tree in (direct, public):
        assert [*tree["one"].children] == ["verification", "open_set", "closed_set"]
        assert parts(pickle.loads(pickle.dumps(tree))) == parts(tree)
        assert tree["one"].copy().identical(tree["one"])
        found = tree["one/open_set"].dataset
        assert found.sel(rank=1).identical(found.isel(rank=0))


def test_sizes_that_differ_are_refused_as_by_xarray():
    data = {"x": variable("k", values=[1, 2]), "y": variable("k", values=[1, 2, 3])}
    with pytest.raises(ValueError, match="conflicting sizes"):
        dataset_of(data, {}, {})


def test_coordinates_of_inner_nodes_are_inherited():
    coords = {"k": variable("k", values=[1, 2])}
    dataset = dataset_of({"x": variable("k", values=[1, 2])}, coords, {})
    tree = tree_of({"": dataset, "a": dataset_of({}, coords, {})})
    assert "k" not in tree["a"].to_dataset(inherit=False).coords
    assert "k" in tree["a"].dataset.coords


@pytest.mark.parametrize("name", ["_construct_direct", "_set_node_data"])
def test_an_xarray_with_other_private_names_is_used_by_public_ones(monkeypatch, name):
    owner = xr.Dataset if name == "_construct_direct" else xr.DataTree
    expected = be.evaluate(be.simulate(12, 3, random_state=1))

    def other(*_, **__):
        raise TypeError(name)

    assembly._direct_is_the_same.cache_clear()
    try:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, other)
            assert not assembly._direct_is_the_same()
    finally:
        assembly._direct_is_the_same.cache_clear()
    monkeypatch.setattr(assembly, "_direct_is_the_same", lambda: False)
    assert parts(be.evaluate(be.simulate(12, 3, random_state=1))) == parts(expected)


def test_a_change_of_results_with_failures_leaves_the_tree_as_it_was():
    tree = be.evaluate(be.simulate(12, 3, random_state=1))
    more = with_failures(tree, fta=0.1)
    more["open_set"].attrs["task"] = "changed"
    more["open_set"]["dir"].attrs["units"] = "changed"
    assert tree["open_set"].attrs["task"] == "open-set identification"
    assert tree["open_set"]["dir"].attrs["units"] == "1"
