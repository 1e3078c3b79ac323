"""Columns of embeddings that are no features: an index of the rows, labels, names, metadata."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bioeval as be

WHO = np.repeat(np.arange(20), 4)
RNG = np.random.default_rng(3)
X = RNG.normal(size=(20, 5))[WHO] + 0.5 * RNG.normal(size=(80, 5))
EER = be.verification(be.Scores(np.linalg.norm(X[:, None] - X, axis=-1), WHO)).eer

# What a column may hold that is no feature, and what an error says of it.
COUNTING = {
    "index": (np.arange(80), "counts the rows"),
    "line": (np.arange(80) + 1, "counts the rows"),
    "reversed": (np.arange(80)[::-1], "counts the rows"),
    "numbers with gaps": (np.arange(80) * 3 + 11, "increases from row to row"),
}
LABELS = {
    "label": (WHO, "one value for each person"),
    "scaled": (RNG.permutation(20)[WHO] / 7, "one value for each person"),
    "shared by two people": (WHO // 2 + 100, "one value for each person"),
}
WHOLE = {
    "camera": (np.arange(80) % 3 + 1, "whole numbers alone"),
    "age": (20 + (np.arange(80) * 37) % 50, "whole numbers alone"),
    "flag": ((np.arange(80) * 7) % 5 < 2, "whole numbers alone"),
}
PLACES = (0, 3, 5)


def eer(x, who=WHO, **how):
    return be.verification(be.Scores.from_embeddings(x, who, metric="l2", **how)).eer


def with_column(column, place, x=X):
    return np.insert(x, place, column, axis=1)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("column, why", [*COUNTING.values(), *LABELS.values(), *WHOLE.values()])
def test_a_column_at_any_place_of_an_array_is_no_feature(column, why, place):
    with pytest.raises(be.DataError, match=rf"column {place} of 6 .*{why}.*np.delete"):
        eer(with_column(column, place))
    with pytest.raises(be.DataError, match=why):
        eer(with_column(column, place), [f"person {i}" for i in WHO])
    with pytest.raises(be.DataError, match=why):
        eer(pd.DataFrame(with_column(column, place)))
    assert eer(np.delete(with_column(column, place), place, axis=1)) == EER


def test_whole_numbers_among_whole_numbers_and_zeros_are_features():
    assert eer(np.round(9 * X)) > 0
    dead = with_column(np.zeros(80), 3)  # a feature that no template has
    assert eer(dead) == EER
    sparse = np.maximum(X, 0)
    assert eer(sparse) > 0


@pytest.mark.parametrize("place", PLACES)
def test_a_column_of_the_gallery_is_no_feature(place):
    x = with_column(RNG.normal(size=80), place)
    x2 = with_column(np.arange(80), place)
    with pytest.raises(be.DataError, match=f"gallery embeddings: column {place} of 6 .*counts"):
        be.Scores.from_embeddings(x, WHO, x2, WHO)


@pytest.mark.parametrize("place", PLACES)
def test_labels_of_one_template_a_person_and_side(place):
    one, who = X[::4], np.arange(20)
    labels = RNG.permutation(20) + 30
    sides = [with_column(labels, place, one), with_column(labels, place, X[1::4])]
    with pytest.raises(be.DataError, match=f"column {place} of 6 .*one value for each person"):
        be.Scores.from_embeddings(sides[0], who, sides[1], who, metric="l2")
    assert be.Scores.from_embeddings(one, who, X[1::4], who).shape == (20, 20)


TITLES = ("subject", "Person", "pid", "filename", "camera", "session", "Unnamed: 0", "klass", "y")


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("place", PLACES)
def test_titles_of_no_feature(tmp_path, title, place):
    table = pd.DataFrame(X, columns=[f"f{i}" for i in range(5)])
    table.insert(place, title, np.arange(80) % 5)
    with pytest.raises(be.DataError, match=rf"{title}' of 6 has another title.*x\.drop"):
        eer(table)
    assert eer(table.drop(columns=title)) == EER
    table.to_csv(tmp_path / "x.csv", index=False)
    pd.DataFrame({"label": WHO}).to_csv(tmp_path / "who.csv", index=False)
    arguments = {"labels": tmp_path / "who.csv", "metric": "l2"}
    words = {"klass": "has another", "y": "has another"}
    words |= dict.fromkeys(TITLES[:3], "each state the labels")
    if title in words:
        with pytest.raises(be.DataError, match=rf"x.csv.*{title}' .*{words[title]}"):
            be.load(tmp_path / "x.csv", **arguments)
        arguments["columns"] = {title: None}
    assert be.verification(be.load(tmp_path / "x.csv", **arguments)).eer == EER


def test_labels_under_a_word_among_words():
    words = ["nose", "eyes", "chin", "brow", "ears", "tone"]
    table = pd.DataFrame(np.c_[X, WHO], columns=words)
    with pytest.raises(be.DataError, match="column 'tone' of 6 has one value for each person"):
        eer(table)
    assert eer(table.drop(columns="tone")) == EER


def test_columns_with_numbered_titles_are_features(tmp_path):
    table = pd.DataFrame(np.c_[WHO, X], columns=[f"x{i}" for i in range(6)])
    distances = np.linalg.norm((table.values[:, None] - table.values), axis=-1)
    truth = be.verification(be.Scores(distances, WHO)).eer
    assert np.isclose(eer(table), truth)
    assert np.isclose(eer(pd.DataFrame(np.c_[WHO, X]).add_prefix("f")), truth)
    table.to_csv(tmp_path / "x.csv", index=False)
    pd.DataFrame({"label": WHO}).to_csv(tmp_path / "who.csv", index=False)
    loaded = be.load(tmp_path / "x.csv", labels=tmp_path / "who.csv", metric="l2")
    assert np.isclose(be.verification(loaded).eer, truth)
    table.drop(columns="x0").to_csv(tmp_path / "x.csv")  # the index has no name
    loaded = be.load(tmp_path / "x.csv", labels=tmp_path / "who.csv", metric="l2")
    assert np.isclose(be.verification(loaded).eer, EER)


def sound_features(seed):
    """Yield features that are nothing but features, of many kinds, with their labels."""
    rng = np.random.default_rng(seed)
    people, several = int(rng.integers(3, 30)), int(rng.integers(1, 6))
    who = np.repeat(np.arange(people), several)
    width = int(rng.integers(2, 40))
    noise = rng.choice([0.02, 0.3, 1.0])
    real = rng.normal(size=(people, width))[who] + noise * rng.normal(size=(len(who), width))
    yield "real", real, who
    yield "tenths", np.round(real, 1), who
    yield "whole steps", np.round(real), who
    yield "sparse", np.maximum(real - 1, 0), who
    yield "binary", (real > 0).astype(np.uint8), who
    yield "flags", real > 0, who
    yield "one hot", np.eye(width)[real.argmax(axis=1)], who
    yield "hash codes", np.floor(8 * real).astype(np.int64), who
    yield "bytes", np.clip(64 * real + 128, 0, 255).astype(np.uint8), who
    yield "ranks", real.argsort(axis=0).argsort(axis=0), who
    yield "means of people", real[:: max(several, 1)].repeat(several, axis=0), who
    yield "some unknown people", real, np.where(rng.random(len(who)) < 0.5, None, who.astype(str))
    yield "softmax", np.exp(real) / np.exp(real).sum(axis=1, keepdims=True), who
    failed = real.copy()
    failed[rng.random(len(who)) < 0.1] = np.nan
    yield "failed templates", failed, who


@pytest.mark.parametrize("seed", range(15))
def test_sound_features_are_read(seed):
    for kind, x, who in sound_features(seed):
        scores = be.Scores.from_embeddings(x, who, metric="l2", nan="exclude")
        assert scores.shape == (len(who), len(who)), kind


def test_a_label_among_coarse_features_is_no_feature():
    rng = np.random.default_rng(8)
    for kind, x, labels in sound_features(11):
        if kind in ("means of people", "some unknown people", "ranks") or len({*labels}) < 8:
            continue
        people = np.unique(labels)
        number = rng.permutation(len(people)) * 2 + 1001
        table = np.c_[x.astype(float), number[np.searchsorted(people, labels)]]
        with pytest.raises(be.DataError, match="one value for each person"):
            be.Scores.from_embeddings(table, labels, nan="exclude")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("form", ["csv", "npy", "npz"])
def test_files(tmp_path, form, place):
    pd.DataFrame({"label": WHO}).to_csv(tmp_path / "who.csv", index=False)
    for column in (np.arange(80), WHO):
        table = with_column(column, place)
        if form == "csv":
            pd.DataFrame(table).to_csv(tmp_path / "x.csv", header=False, index=False)
        elif form == "npy":
            np.save(tmp_path / "x.npy", table)
        else:
            np.savez(tmp_path / "x.npz", embeddings=table)
        with pytest.raises(be.DataError, match=rf"x.*column {place} .*be taken for a feature"):
            be.load(tmp_path / f"x.{form}", labels=tmp_path / "who.csv", metric="l2")


def test_features_that_are_fitted_in_folds():
    pca = pytest.importorskip("sklearn.decomposition").PCA
    from sklearn.model_selection import GroupKFold

    def evaluate(x):
        options = {"y": WHO, "estimator": pca(2), "metric": "l2"}
        return be.cross_evaluate(x, GroupKFold(4), task="verification", **options)

    for x in (with_column(WHO, 3), pd.DataFrame(X).add_prefix("f").assign(subject=WHO)):
        with pytest.raises(be.DataError, match="taken for a feature"):
            evaluate(x)
    assert evaluate(X) is not None
