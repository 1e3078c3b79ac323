"""Columns of embeddings that are no features: an index of the rows, labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bioeval as be

WHO = np.repeat(np.arange(20), 4)
RNG = np.random.default_rng(3)
X = RNG.normal(size=(20, 5))[WHO] + 0.5 * RNG.normal(size=(80, 5))
EER = be.verification(be.Scores(np.linalg.norm(X[:, None] - X, axis=-1), WHO)).eer


def eer(x, **how):
    return be.verification(be.Scores.from_embeddings(x, WHO, metric="l2", **how)).eer


@pytest.mark.parametrize("column", [np.arange(80), np.arange(80) + 1, np.arange(80)[::-1]])
def test_an_index_of_the_rows_is_no_feature(column):
    with pytest.raises(be.DataError, match="first of 6 columns counts the rows.*leave it out"):
        eer(np.c_[column, X])
    with pytest.raises(be.DataError, match="gallery embeddings: the first"):
        be.Scores.from_embeddings(X, WHO, np.c_[column, X][:, :5], WHO)
    assert eer(X) == EER


@pytest.mark.parametrize("names", [WHO, RNG.permutation(20)[WHO] / 7])
def test_labels_are_no_feature(names):
    with pytest.raises(be.DataError, match="one value for each person, which no other column has"):
        eer(np.c_[names, X])
    people = [f"person {i}" for i in WHO]
    with pytest.raises(be.DataError, match="one value for each person"):
        be.Scores.from_embeddings(np.c_[names, X], people)


def test_columns_with_names_are_features(tmp_path):
    table = pd.DataFrame(np.c_[WHO, X], columns=[f"x{i}" for i in range(6)])
    truth = be.verification(
        be.Scores(np.linalg.norm((table.values[:, None] - table.values), axis=-1), WHO)
    ).eer
    assert np.isclose(eer(table), truth)
    table.to_csv(tmp_path / "x.csv", index=False)
    pd.DataFrame({"label": WHO}).to_csv(tmp_path / "who.csv", index=False)
    loaded = be.load(tmp_path / "x.csv", labels=tmp_path / "who.csv", metric="l2")
    assert np.isclose(be.verification(loaded).eer, truth)
    with pytest.raises(be.DataError, match="one value for each person"):
        eer(table.rename(columns={"x0": "subject"}))
    table.drop(columns="x0").to_csv(tmp_path / "x.csv")  # the index has no name
    loaded = be.load(tmp_path / "x.csv", labels=tmp_path / "who.csv", metric="l2")
    assert np.isclose(be.verification(loaded).eer, EER)


def test_what_other_columns_have_too_is_a_feature():
    means = X[::4][WHO]  # every template of a person is the same
    assert eer(means) == 0
    few_rows = np.c_[np.arange(4), X[:4]]  # of a few rows, chance
    assert be.Scores.from_embeddings(few_rows, [0, 0, 1, 1]).shape == (4, 4)
    two = np.c_[WHO % 2, X]  # a feature of two values
    assert 0 < eer(two) < 1


@pytest.mark.parametrize("form", ["csv", "npy", "npz"])
def test_files(tmp_path, form):
    pd.DataFrame({"label": WHO}).to_csv(tmp_path / "who.csv", index=False)
    for table in (np.c_[np.arange(80), X], np.c_[WHO, X]):
        if form == "csv":
            pd.DataFrame(table).to_csv(tmp_path / "x.csv", header=False, index=False)
        elif form == "npy":
            np.save(tmp_path / "x.npy", table)
        else:
            np.savez(tmp_path / "x.npz", embeddings=table)
        with pytest.raises(be.DataError, match="x.*would be taken for a feature"):
            be.load(tmp_path / f"x.{form}", labels=tmp_path / "who.csv", metric="l2")
