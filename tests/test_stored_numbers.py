"""Numbers of public calls as they were: a change that nobody meant shows here first.

Each number is held to its definition elsewhere. After a change that is meant, write them anew,
look at the difference, and say in CHANGELOG.md why they changed::

    BIOEVAL_STORE_NUMBERS=1 scripts/test tests/test_stored_numbers.py
"""

import csv
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from every_result import CALLS

STORED = Path(__file__).with_name("stored_numbers.csv")
pytestmark = pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")


def numbers_of(name: str, result: xr.Dataset | xr.DataTree) -> Iterator[tuple[str, str]]:
    """Yield each variable by its name, and its number, or of an array its sum and its NaN."""
    if isinstance(result, xr.DataTree):
        for node in result.subtree:
            yield from numbers_of((name + node.path).rstrip("/"), node.to_dataset())
        return
    for variable, array in result.data_vars.items():
        if array.dtype.kind not in "biuf":
            continue
        values = np.asarray(array.values, dtype=np.float64)
        number = f"{values:.10g}" if not values.ndim else ""
        if values.ndim:
            finite = values[np.isfinite(values)]
            weights = 1 + np.arange(len(finite)) % 7  # so that an order counts
            number = f"{finite @ weights:.10g} over {len(finite)} of {values.size}"
        yield f"{name}: {variable}", number


def same(one: str, other: str) -> bool:
    """Whether two numbers are equal but for their last digits."""
    (number, *words), (other_number, *other_words) = one.split(" ", 1), other.split(" ", 1)
    return words == other_words and bool(
        np.isclose(float(number), float(other_number), 1e-7, 1e-9, equal_nan=True)
    )


@pytest.mark.parametrize("name", CALLS)
def test_public_calls_give_the_numbers_they_gave(name):
    numbers = dict(numbers_of(name, CALLS[name]()))
    with STORED.open(encoding="utf-8", newline="") as file:
        stored = dict(csv.reader(file))
    if os.environ.get("BIOEVAL_STORE_NUMBERS"):
        of_other_calls = {
            k: x for k, x in stored.items() if not k.startswith((f"{name}: ", f"{name}/"))
        }
        with STORED.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(
                sorted((of_other_calls | numbers).items())
            )
        return
    was = {k: x for k, x in stored.items() if k.startswith((f"{name}: ", f"{name}/"))}
    assert was
    assert list(numbers.keys() ^ was.keys()) == []
    assert {k: (x, numbers[k]) for k, x in was.items() if not same(x, numbers[k])} == {}
