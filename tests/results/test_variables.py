"""Every variable of every result is described in the registry, and every scalar is consistent."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
import xarray as xr
from offers import offered
from systems import square
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.base import scalars, variables
from bioeval.base.scalars import Name
from bioeval.results.dataset import build
from bioeval.tasks.identification import RANKS

RESULTS: dict[str, tuple[Callable[[], xr.Dataset], Mapping[str, Name]]] = {
    "verification": (
        lambda: be.verification(
            square(), interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
        ),
        variables.VERIFICATION,
    ),
    "open set": (
        lambda: be.open_set(
            square(), interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
        ),
        variables.OPEN_SET,
    ),
    "closed set": (lambda: be.closed_set(square(), interval="wilson"), variables.CLOSED_SET),
    "ranks": (lambda: be.ranks(square()), RANKS),
    **offered("VARIABLES"),
}


RULE = """
{key} of {name} has no description.
CONTRIBUTING.md, "Rules", Variables: give it a `Name` (meaning, unit, ISO term) or a `Scalar`, in
the table of names that its dataset is built with.
"""


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.cases(1)
def test_every_variable_is_described(name):
    make, table = RESULTS[name]
    dataset = make()
    for key, variable in dataset.data_vars.items():
        assert key in table, RULE.format(key=key, name=name)
        assert table[key].attrs().items() <= variable.attrs.items(), key
    assert set(dataset.coords) <= {*variables.COORDINATES, *table}


def test_a_variable_cannot_skip_the_registry():
    with pytest.raises(KeyError, match="new_rate"):
        build({"new_rate": ((), 0.5)}, variables.VERIFICATION, {}, {})


def test_a_scalar_has_one_name_one_label_and_one_computation():
    every = (*scalars.VERIFICATION_SCALARS, scalars.FRR_AT_FAR, scalars.MIN_DCF, scalars.DIR,
             scalars.CMS, scalars.RECOGNITION_RATE, scalars.DIR_AT_FAR)  # fmt: skip
    names = [scalar.name for scalar in every]
    labels = [scalar.label for scalar in every if scalar.label]
    twice = [x for x in {*names, *labels} if names.count(x) > 1 or labels.count(x) > 1]
    assert not twice, (
        f"{twice}: two scalars have this name or label. CONTRIBUTING.md, 'Rules', Variables: give "
        "the newer one another."
    )
    for scalar in every:
        assert scalar.quotient is None or scalar.of_rates is None, scalar.name
        assert set(scalar.results) <= set(scalars.RESULTS), scalar.name
        assert bool(scalar.best) == (scalar.of_rates is not None and "task" in scalar.results)


def test_the_best_value_over_operating_points():
    """FAR and FRR of four points: (0, 1), (0.1, 0.4), (0.5, 0.3), (1, 0)."""
    far, frr = np.array([0, 0.1, 0.5, 1]), np.array([1, 0.4, 0.3, 0])
    for best, expected in (("max", 0.5), ("min", 0.25)):
        half = scalars.Scalar(
            "mean error", name=f"{best}_x", of_rates=lambda far, frr: (far + frr) / 2, best=best
        )
        assert half.over_points(far, frr) == expected
        assert half.over_points(far[:, None], frr[:, None]).tolist() == [expected]
    with pytest.raises(TypeError, match="eer is not the best value"):
        scalars.EQUAL_ERROR[0].over_points(far, frr)


def test_the_best_value_has_a_name_of_its_own():
    """Folds and repeats have the value at one threshold, tasks the best over all thresholds."""
    given = {"of_rates": lambda far, frr: far + frr, "best": "min"}
    with pytest.raises(TypeError, match="min_x is the best value .* but folds have the value at"):
        scalars.Scalar("x", name="min_x", results=("task", "folds"), **given)
    with pytest.raises(TypeError, match="the name is x; expected min_x"):
        scalars.Scalar("x", name="x", **given)
    best, threshold = scalars.Scalar("x", name="min_x", **given).with_threshold()
    assert best.threshold == threshold.name == "min_x_threshold"
    assert threshold.units == "score"
    assert best.place_of_best(np.array([0, 0.2, 0.3, 1]), np.array([1, 0.2, 0.1, 0])) == 1


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
    names = {name: Name(name) for name in ("value", "item")}
    values = np.asarray(labels)
    ds = build({"value": (("item",), np.arange(len(labels)))}, names, {"item": values}, {})
    assert ds["item"].dtype == values.dtype
    np.testing.assert_array_equal(ds["item"].values, values)
    assert ds["item"].attrs["long_name"] == "item" and ds.indexes["item"].name == "item"
    for place, label in enumerate(values.tolist()):
        if label == label:  # a NaN selects nothing
            assert ds["value"].sel(item=label) == place
