"""Errors: what was received in one line, and the names of arguments in backquotes."""

import pickle

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from named_arguments import raises_about

import bioeval as be
from bioeval.base.errors import bad_choice, enumerated, received


def test_texts_that_are_made_elsewhere():
    error = be.DataError('3 pairs; give `keep="self"` or drop them').preceded_by("a.csv: ")
    assert str(error) == 'a.csv: 3 pairs; give `keep="self"` or drop them'
    renamed = error.renamed({"keep": "lists.keep"})
    assert str(renamed) == 'a.csv: 3 pairs; give `lists={"keep": "self"}` or drop them'
    flag = be.DataError("`unordered=True` or `other`").renamed({"unordered": "lists.unordered"})
    assert str(flag) == '`lists={"unordered": True}` or `other`'
    assert str(bad_choice("the card", "x", [])) == "the card is 'x', but there is none."
    assert bad_choice("ties", "x", ["y"]) == "`ties` is 'x'; expected 'y'."
    assert enumerated("abc") == "a, b and c" and enumerated("a") == "a"


@pytest.mark.parametrize("kind", [be.DataError, be.ProtocolError])
def test_errors_are_pickled(kind):
    unpickled = pickle.loads(pickle.dumps(kind("`threshold=0.5` is wrong; see `ties`")))
    assert type(unpickled) is kind and str(unpickled) == "`threshold=0.5` is wrong; see `ties`"


class LargeTensor:
    """A tensor of many values that becomes no array, such as one in bfloat16."""

    shape = (64, 128)
    dtype = "torch.bfloat16"

    def __repr__(self):
        return "tensor([" + "[0.1250, 0.5000],\n        " * 600 + "])"

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Got unsupported ScalarType BFloat16")

    def __len__(self):
        return 64


@pytest.fixture
def scores():
    return be.simulate(12, 3, random_state=0)


@pytest.mark.parametrize(
    "call",
    [
        lambda scores, x: be.Scores(scores.values, x),
        lambda scores, x: be.Scores(scores.values, scores.probe_labels, mask=x),
        lambda scores, x: be.verification(scores, far_targets=x),
        lambda scores, x: be.stats.IntervalMethod("wilson", x),
        lambda scores, x: be.closed_set(scores, max_rank=x),
        lambda scores, x: scores.replace(kind=x),
        lambda scores, x: be.zoo(scores, quantile=x),
        lambda scores, x: be.simulate(5, 2, within=x),
    ],
)
def test_a_large_argument_is_named_by_its_type_and_shape(scores, call):
    with pytest.raises(be.DataError) as caught:
        call(scores, LargeTensor())
    message = str(caught.value)
    assert len(message) < 300 and "\n" not in message
    assert "of type LargeTensor, shape (64, 128) and dtype torch.bfloat16" in message


def test_values_in_one_line():
    assert received([1, "a"]) == "[1, 'a']" and received(None) == "None"
    assert received(np.arange(3)) == "array([0, 1, 2])"
    assert received(np.eye(3)) == "of type ndarray, shape (3, 3) and dtype float64"
    long = received(list(range(1000)))
    assert len(long) < 220 and long.startswith("[0, 1, ") and " ... " in long
    assert received("a\nb") == r"'a\nb'"


@pytest.mark.parametrize("table", [pd.DataFrame(np.ones((40, 3))), xr.DataArray(np.ones((40, 3)))])
def test_tables_in_one_line(scores, table):
    text = received(table)
    assert "\n" not in text and "shape (40, 3)" in text and len(text) < 100
    with raises_about(be.DataError, "quantile"):
        be.zoo(scores, quantile=table)


@pytest.mark.parametrize("value", [b"0.1", bytearray(b"0.1"), memoryview(b"0.1"), "0.1"])
def test_bytes_are_no_number(scores, value):
    of_targets = (  # which may be texts, such as "1%"
        lambda: be.verification(scores, far_targets=[value]),
        lambda: be.verification(scores, far_targets=np.array([value, 0.1], dtype=object)),
    )
    for call in (
        *(() if isinstance(value, str) else of_targets),
        lambda: be.zoo(scores, quantile=value),
        lambda: be.stats.IntervalMethod("wilson", value),
        lambda: be.verification(scores, thresholds=[value]),
        lambda: be.simulate(5, 2, within=value),
    ):
        with pytest.raises(be.DataError):
            call()
