"""Tables of pandas as scores, and labels that leave a class empty."""

import numpy as np
import pandas as pd
import pytest

import bioeval as be


def message(call, *args, **options) -> str:
    with pytest.raises(be.DataError) as caught:
        call(*args, **options)
    return str(caught.value)


def test_a_table_of_pandas_has_its_labels():
    labels = ["ann", "ann", "bob"]
    values = [[0.0, 0.2, 0.9], [0.2, 0.0, 0.8], [0.9, 0.8, 0.0]]
    table = pd.DataFrame(values, index=labels, columns=labels)
    result = be.Scores(table)
    assert result.layout == "all-against-all"
    assert result.probe_labels.tolist() == labels
    np.testing.assert_array_equal(result.values, values)
    part = be.Scores(table.iloc[:2])
    assert part.layout == "probe-against-gallery"
    assert part.gallery_labels.tolist() == labels
    numbered = pd.DataFrame(values, index=[7, 7, 8], columns=[7, 7, 8])
    assert be.Scores(numbered).probe_labels.tolist() == [7, 7, 8]
    assert be.Scores(numbered, labels).probe_labels.tolist() == labels
    # The numbers that pandas gives to rows and columns are no labels.
    assert "`labels` is missing" in message(be.Scores, pd.DataFrame(values))
