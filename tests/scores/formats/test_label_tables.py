"""Tables of labels beside scores without names: taken by line, unless a column says otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import bioeval as be

WHO = np.repeat(np.arange(6), 2)
LEX = np.array(sorted(range(12), key=str))  # 0, 1, 10, 11, 2, ...


@pytest.fixture(params=[".npy", ".npz", "metric"])
def load(request, tmp_path):
    """Read scores, or embeddings, without names, with a table of labels."""
    x = np.random.default_rng(1).normal(size=(12, 3))
    distances = np.linalg.norm(x[:, None] - x, axis=-1)
    path = tmp_path / f"x{request.param if request.param != 'metric' else '.npy'}"
    if request.param == ".npz":
        np.savez(path, scores=distances)
    else:
        np.save(path, x if request.param == "metric" else distances)
    metric = {"metric": "l2"} if request.param == "metric" else {}

    def load(table, **options):
        table.to_csv(tmp_path / "who.csv")
        return be.load(path, labels=tmp_path / "who.csv", **metric, **options)

    return load


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("name", [None, "index", "Row", "id", "template", "image", "of the file"])
def test_rows_that_are_numbered_in_another_order_are_refused(load, name, first):
    table = pd.DataFrame({"subject": WHO}, index=pd.RangeIndex(first, 12 + first, name=name))
    assert load(table).probe_labels.tolist() == [*map(str, WHO)]
    with pytest.raises(be.DataError, match=rf"row 2 has '{10 + first}'.*Sort the rows.*or drop"):
        load(table.iloc[LEX])
    with pytest.raises(be.DataError, match="another order"):
        load(table[::-1])


def test_other_columns_number_nothing(load):
    table = pd.DataFrame({"subject": WHO, "enrolled_at": LEX, "visit": np.tile([2, 1], 6)})
    kept = load(table.assign(day=LEX), columns={"date": "day"})  # metadata that are asked for
    assert kept.probe_meta["date"].tolist() == [*map(str, LEX)]
    assert kept.probe_meta["enrolled_at"].tolist() == [*map(str, LEX)]
    with pytest.raises(be.DataError, match="'day' numbers the rows"):
        load(table.assign(day=LEX))
    part = table.set_axis(LEX * 2)  # the numbers of rows in a larger table
    assert load(part).probe_labels.tolist() == [*map(str, WHO)]
