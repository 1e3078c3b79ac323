"""Results over several galleries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.messages import joined_messages, message_attrs, messages_of
from bioeval.results.dataset import Scalars, dataset
from bioeval.results.stacking import Stack
from bioeval.results.variables import GALLERY, TASKS

#: The name of the mean, as one of the galleries.
MEAN = "mean"


def over_galleries(results: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """Return the results of one task in several galleries, by name, as a result over ``gallery``.

    Sizes of the galleries become variables; other attributes stay if all galleries have the same.
    """
    first = next(iter(results.values()))
    table = {**TASKS[str(first.attrs["result_type"]).replace("-", "_")], **GALLERY}
    sizes = [name for name in GALLERY if isinstance(first.attrs.get(name), int)]
    stack = Stack(len(results), table)
    for index, result in enumerate(results.values()):
        numbers = Scalars.of_dataset(result, curves=True)
        numbers.variables.update({name: np.int64(result.attrs[name]) for name in sizes})
        stack.put(index, numbers)
    numbers = stack.result("gallery", np.array([*results]))
    attrs: dict[str, Any] = {}
    for key, value in first.attrs.items():
        if key not in sizes and all(value == x.attrs.get(key) for x in results.values()):
            attrs[str(key)] = value
    messages = joined_messages({name: messages_of(x.attrs) for name, x in results.items()})
    attrs |= {"galleries": " ".join(results), **message_attrs(messages)}
    return dataset(numbers.variables, table, numbers.labels, attrs)
