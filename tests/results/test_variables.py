"""Every variable of every result is described in the registry, and every scalar is consistent."""

from collections.abc import Callable

import numpy as np
import pytest
import xarray as xr
from offers import offered
from systems import square
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.results import variables
from bioeval.results.dataset import dataset
from bioeval.results.variables import Variable

BOOTSTRAP = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}
RESULTS: dict[str, Callable[[], xr.Dataset]] = {
    "verification": lambda: be.verification(square(), **BOOTSTRAP),
    "open set": lambda: be.open_set(square(), **BOOTSTRAP),
    "closed set": lambda: be.closed_set(square(), interval="wilson"),
    "ranks": lambda: be.ranks(square()),
    **offered("VARIABLES"),
}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.cases(1)
def test_every_variable_is_described(name):
    """CONTRIBUTING.md, "Rules", Variables: each has a meaning."""
    for key, variable in RESULTS[name]().variables.items():
        assert variable.attrs["long_name"], key


def test_a_variable_cannot_skip_the_registry():
    with pytest.raises(KeyError, match="new_rate"):
        dataset({"new_rate": ((), 0.5)}, variables.VERIFICATION, {}, {})


@pytest.mark.parametrize("task", variables.TASKS)
def test_no_two_numbers_have_one_label(task):
    labels = [x.label for x in variables.TASKS[task].values() if x.label]
    assert len(labels) == len(set(labels))


def test_a_number_is_computed_in_one_way_and_a_threshold_is_there():
    for name, x in variables.VARIABLES.items():
        assert x.name == name
        assert x.quotient is None or x.of_rates is None, name
        assert not x.threshold or x.threshold in variables.VARIABLES, name


def test_the_best_value_over_operating_points():
    """FAR and FRR of four points: (0, 1), (0.1, 0.4), (0.5, 0.3), (1, 0)."""
    far, frr = np.array([0, 0.1, 0.5, 1]), np.array([1, 0.4, 0.3, 0])
    for larger, expected, place in ((True, 0.5, 0), (False, 0.25, 1)):
        half = Variable(
            "mean error", of_rates=lambda far, frr: (far + frr) / 2, larger_is_better=larger
        )
        assert half.best(far, frr) == expected
        assert half.best(far[:, None], frr[:, None]).tolist() == [expected]
        assert half.place_of_best(far, frr) == place


@pytest.mark.parametrize(
    "labels",
    [
        [True, False],
        np.array([3, 1], dtype=np.int8),
        np.array([0.5, -np.inf], dtype=np.float32),
        [np.nan, 1.0],
        ["a", "bcd"],
        ["a", "\ud800"],  # as in the name of a file that is not UTF-8
        np.array(["a", None], dtype=object),
        [],
    ],
)
@pytest.mark.cases(2)
def test_a_coordinate_keeps_its_labels_and_is_an_index(labels):
    names = {name: Variable(name) for name in ("value", "item")}
    values = np.asarray(labels)
    ds = dataset({"value": (("item",), np.arange(len(labels)))}, names, {"item": values}, {})
    assert ds["item"].dtype == values.dtype
    np.testing.assert_array_equal(ds["item"].values, values)
    assert ds["item"].attrs["long_name"] == "item" and ds.indexes["item"].name == "item"
    for place, label in enumerate(values.tolist()):
        if label == label:  # a NaN selects nothing
            assert ds["value"].sel(item=label) == place
