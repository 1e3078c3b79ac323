"""Tables of labels beside scores without names: taken by line, unless a column says otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from result_messages import codes

import bioeval as be

WHO = np.repeat(np.arange(6), 2)
LEXICOGRAPHIC = np.array(sorted(range(12), key=str))  # 0, 1, 10, 11, 2, ...


@pytest.fixture(params=[".npy", ".npz", "metric"])
def load(request, tmp_path):
    """Read scores, or embeddings, without names, with a table of labels."""
    embeddings = np.random.default_rng(1).normal(size=(12, 3))
    distances = np.linalg.norm(embeddings[:, None] - embeddings, axis=-1)
    path = tmp_path / f"x{request.param if request.param != 'metric' else '.npy'}"
    if request.param == ".npz":
        np.savez(path, scores=distances)
    else:
        np.save(path, embeddings if request.param == "metric" else distances)
    metric = {"metric": "l2"} if request.param == "metric" else {}

    def load(table, **options):
        table.to_csv(tmp_path / "who.csv")
        return be.load(path, labels=tmp_path / "who.csv", **metric, **options)

    return load


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("name", ["index", "Row", "id", "template", "image", "of the file"])
def test_rows_that_are_numbered_in_another_order_are_refused(load, name, first):
    table = pd.DataFrame({"subject": WHO}, index=pd.RangeIndex(first, 12 + first, name=name))
    scores = load(table)
    assert scores.probe_labels.tolist() == [*map(str, WHO)]
    assert "taken-in-order" not in codes(be.verification(scores))
    with pytest.raises(be.DataError, match=rf"row 2 has '{10 + first}'.*Sort the rows.*or drop"):
        load(table.iloc[LEXICOGRAPHIC])
    with pytest.raises(be.DataError, match="another order"):
        load(table[::-1])


@pytest.mark.parametrize("first", [0, 1])
def test_an_index_in_another_order_than_scores_without_keys_is_said(load, first):
    """As the index of a Series is; these scores do not tell which of both orders is right."""
    table = pd.DataFrame({"subject": WHO}, index=pd.RangeIndex(first, 12 + first))
    scores = load(table.iloc[LEXICOGRAPHIC])
    assert scores.probe_labels.tolist() == [str(WHO[i]) for i in LEXICOGRAPHIC]
    (message,) = (x for x in be.messages(be.verification(scores)) if x.code == "taken-in-order")
    assert "row numbers" in message.sentence


def test_other_columns_number_nothing(load):
    table = pd.DataFrame(
        {"subject": WHO, "enrolled_at": LEXICOGRAPHIC, "visit": np.tile([2, 1], 6)}
    )
    # Metadata that are asked for.
    loaded = load(table.assign(day=LEXICOGRAPHIC), columns={"date": "day"})
    assert loaded.probe_meta["date"].tolist() == [*map(str, LEXICOGRAPHIC)]
    assert loaded.probe_meta["enrolled_at"].tolist() == [*map(str, LEXICOGRAPHIC)]
    with pytest.raises(be.DataError, match="'day' numbers the rows"):
        load(table.assign(day=LEXICOGRAPHIC))
    part = table.set_axis(LEXICOGRAPHIC * 2)  # the numbers of rows in a larger table
    assert load(part).probe_labels.tolist() == [*map(str, WHO)]


TWO_LABEL_COLUMNS = pd.DataFrame({"label": np.arange(12) % 3, "subject": WHO, "note": "x"})


def test_two_columns_of_labels_are_asked_about(load):
    with pytest.raises(be.DataError, match="'label' and 'subject' could each be .*say `columns={"):
        load(TWO_LABEL_COLUMNS)
    for name in ("label", "subject"):
        loaded = load(TWO_LABEL_COLUMNS, columns={"labels": name})
        assert loaded.probe_labels.tolist() == [*map(str, TWO_LABEL_COLUMNS[name])]
    with pytest.raises(be.DataError, match="no column 'who'"):
        load(TWO_LABEL_COLUMNS, columns={"labels": "who"})
    alike = load(TWO_LABEL_COLUMNS.assign(label=[f"person {x}" for x in WHO]))
    assert alike.probe_labels.tolist() == [f"person {x}" for x in WHO]
    # An id of the rows is no subject.
    loaded = load(TWO_LABEL_COLUMNS.assign(label=np.arange(12)))
    assert loaded.probe_labels.tolist() == [*map(str, WHO)]
    assert any("subjects from column 'subject' of who.csv" in text for text in loaded.reading)


def test_the_gallery_has_its_own_column(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((12, 12)))
    TWO_LABEL_COLUMNS.to_csv(tmp_path / "x.probe.csv")
    TWO_LABEL_COLUMNS[::-1].reset_index(drop=True).to_csv(tmp_path / "x.gallery.csv")
    with pytest.raises(be.DataError, match='x.gallery.csv.*`columns={"gallery_labels"'):
        be.load(tmp_path / "x.npy", columns={"labels": "label"})
    roles = {"labels": "label", "gallery_labels": "subject"}
    loaded = be.load(tmp_path / "x.npy", columns=roles)
    assert loaded.probe_labels.tolist() == [*map(str, TWO_LABEL_COLUMNS["label"])]
    assert loaded.gallery_labels.tolist() == [*map(str, WHO[::-1])]


def test_labels_without_a_name(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(3).random((4, 4)))
    labels = pd.Series([0, 0, 1, 1])
    labels.to_csv(tmp_path / "who.csv")  # ,0
    loaded = be.load(tmp_path / "x.npy", labels=tmp_path / "who.csv")
    assert loaded.probe_labels.tolist() == ["0", "0", "1", "1"]
    labels.to_csv(tmp_path / "who.csv", index=False)
    with pytest.raises(be.DataError, match="5 labels for 4 .*call that column 'label'"):
        be.load(tmp_path / "x.npy", labels=tmp_path / "who.csv")
    labels.to_csv(tmp_path / "who.csv", index=False, header=False)
    loaded = be.load(tmp_path / "x.npy", labels=tmp_path / "who.csv")
    assert loaded.probe_labels.tolist() == ["0", "0", "1", "1"]
