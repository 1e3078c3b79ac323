"""The worst pairs, held to plain loops over all comparisons."""

from contextlib import nullcontext

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings, strategies as st
from limits import blocks_of
from naive_worst_pairs import Pair, deciding_try, worst_pairs as naive_worst_pairs
from reference import one_thread  # noqa: F401
from strategies import examples_of, matrices

import bioeval as be


def listed(ds: xr.Dataset) -> list[Pair]:
    names = ("comparison", "row", "column", "score")
    return [Pair(*row) for row in zip(*(ds[name].values.tolist() for name in names), strict=True)]


@settings(max_examples=examples_of(18))
@given(data=st.data())
def test_against_the_definition(data):
    case = data.draw(matrices(dtypes=("float32", "float64", "int8"), masks=("none", "labelled")))
    if case.square and data.draw(st.booleans()):
        upper = np.triu(np.ones(case.values.shape, dtype=bool))
        case.values = np.where(upper, case.values, case.values.T)
        case.mask = None if case.mask is None else np.where(upper, case.mask, case.mask.T)
    number = data.draw(st.sampled_from((1, 2, 5, 1000)))
    small_blocks = blocks_of(2 * case.values.shape[1])  # of two rows
    with small_blocks if data.draw(st.booleans()) else nullcontext():
        ds = be.worst_pairs(be.Scores(**case.scores()), number)
    assert listed(ds) == naive_worst_pairs(number, **case.naive())


def test_excluded_pairs_are_no_attempts():
    points = np.array([0, 1 + 1j, 1, 1j, 9, 9.5])
    meta = {"session": [1, 1, 2, 2, 1, 2]}
    scores = be.Scores(
        abs(points[:, None] - points), list("aabbee"), probe_meta=meta, exclude="session"
    )
    ds = be.worst_pairs(scores, 9)
    assert ds.row[ds.comparison == "genuine"].values.tolist() == [4]


@pytest.mark.parametrize(
    ("scores", "options", "error", "message"),
    [
        ([0.1], {}, be.DataError, "expected bioeval.Scores"),
        (be.Scores.from_pairs([1, 2], [1, 0]), {}, be.ProtocolError, "sorted by score"),
        (be.Scores([[1, 2]], ["a"], ["a", "b"], kind="order"), {}, be.ProtocolError, "order"),
        (be.Scores([[1, 2]], mask=[[1, 2]]), {}, be.ProtocolError, "labels"),
        (be.Scores([[1, np.nan]], ["a"], ["a", "b"]), {}, be.DataError, "1 NaN"),
        (be.Scores([[1, 2]], ["a"], ["a", "b"]), {"n": 0}, be.DataError, "`n` is 0"),
    ],
)
def test_bad_input(scores, options, error, message):
    with pytest.raises(error, match=message):
        be.worst_pairs(scores, **options)


def test_columns_whose_names_differ_by_a_slash_stay_two(tmp_path):
    """A name of netCDF has no slash; the column keeps its name as an attribute."""
    distances = [[0, 6, 2, 3], [6, 0, 1, 4], [2, 1, 0, 5], [3, 4, 5, 0]]
    meta = {"a/b": [1, 2, 3, 4], "a_b": [5, 6, 7, 8], "a_b_": [9, 10, 11, 12]}
    ds = be.worst_pairs(be.Scores(distances, ["ann", "ann", "bob", "bob"], probe_meta=meta), 1)
    ds.to_netcdf(tmp_path / "worst.nc")  # the pairs are (1, 2) and (0, 1)
    read_columns = {}
    for name, variable in ds.data_vars.items():
        if name.startswith("probe_meta_"):
            column = variable.attrs.get("column", name.removeprefix("probe_meta_"))
            read_columns[column] = variable.values.tolist()
    assert read_columns == {"a/b": [2, 1], "a_b": [6, 5], "a_b_": [10, 9]}


@pytest.mark.parametrize("enrol", [None, "first:1"])
@pytest.mark.parametrize("block_size", [4, 10**6])  # a block of few rows, and one of all
def test_worst_pairs_name_the_deciding_try(enrol, block_size):
    """Up to three tries a visit: the nearest to the claimed subject, of equal tries the first."""
    people, templates = 5, 7
    labels = np.repeat(np.arange(people), templates)
    rng = np.random.default_rng(2)
    values = rng.integers(0, 40, (people * templates,) * 2).astype(float)
    values += values.T
    meta = {"visit": np.tile([0, 1, 1, 1, 2, 2, 2], people), "image": np.arange(len(labels)) + 100}
    order = rng.permutation(len(labels))
    values, labels = values[np.ix_(order, order)], labels[order]
    scores = be.Scores(values, labels, probe_meta={k: x[order] for k, x in meta.items()})
    visits, images = scores.probe_meta["visit"], scores.probe_meta["image"]
    first_templates = {}  # by the names of their images, which order the tries, too
    for subject in range(people):
        of_subject = np.flatnonzero(labels == subject)
        first_templates[subject] = [of_subject[images[of_subject].argmin()]]
    enrolled = first_templates if enrol else None
    claims = be.claim_scores(scores, attempts="visit", enrol=enrol)
    some_claims = claims.select(probes=np.arange(0, claims.shape[0], 2))
    for claim_scores in (claims, some_claims):
        with blocks_of(block_size):
            ds = be.worst_pairs(claim_scores, 6)
        assert (ds.comparison == "impostor").sum() == 6 and len(ds.pair) > 9
        for pair in ds.pair.values:
            row = {k: ds[k].values[pair] for k in ds.data_vars}
            visit = claim_scores.probe_meta["visit"][row["row"]]
            claim = (row["probe_label"], visit, row["gallery_label"])
            expected = deciding_try(values, labels, visits, claim, enrolled)
            assert (row["try"], row["score"]) == expected
            assert row["probe_meta_image"] == images[row["try"]]


def test_claims_of_one_try_name_no_try():
    scores = be.simulate(4, 2, random_state=0)
    assert "try" not in be.worst_pairs(be.claim_scores(scores), 2)


def test_unknown_metadata_are_not_shown():
    sides = {"probe_meta": {"visit": ["v1", "v2"]}, "gallery_meta": {"visit": ["", ""]}}
    scores = be.Scores([[0.1, 0.9], [0.8, 0.2]], *[["ann", "bob"]] * 2, **sides)
    table = be.to_markdown(be.worst_pairs(scores, 1))
    assert "bob (visit v2)" in table and table.count("visit") == 2
