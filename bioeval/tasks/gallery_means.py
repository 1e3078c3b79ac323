"""The mean of results over the galleries of a card, each at its own thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.messages import Message, message_attrs, messages_of

#: Rates that are averaged, where the results have them.
_MEANS = ("eer", "auc", "frr_at_far", "dir_at_far", "cms", "recognition_rate", "cmc", "mean_ap")

#: Attempts, which are added up; no mean is weighed by them.
_SUMS = ("genuine_attempts", "impostor_attempts", "attempts", "skipped", "queries")


def mean_over_galleries(results: Mapping[str, xr.Dataset]) -> xr.Dataset:
    """Return the mean of the rates of one task over several galleries, by name.

    Each gallery keeps its own threshold at each FAR, and all galleries weigh the same: attempts are
    never pooled. IJB-C's figures are such means, over its galleries G1 and G2. Ranks that not all
    galleries have are left out, and so are curves over thresholds, which differ between them.

    Definition: Maze and others, IARPA Janus Benchmark - C (ICB 2018), 1:N identification;
    ``docs/definitions.md``, "Several galleries".
    """
    every = list(results.values())
    first = every[0]
    shared = []
    dims: dict[Any, None] = {}
    for name in (*_MEANS, *_SUMS):
        if all(name in dataset.variables for dataset in every):
            shared.append(name)
            dims |= dict.fromkeys(first[name].dims)
    coordinates = {}
    for dim in map(str, dims):
        length = min(dataset.sizes[dim] for dataset in every) if dim == "rank" else None
        labels = first[dim].values[:length]
        coordinates[dim] = (dim, labels, first[dim].attrs)
    variables = {}
    for name in shared:
        arrays = []
        for dataset in every:
            array = dataset[name]
            if "rank" in array.dims:  # up to the last rank of all
                array = array.isel(rank=slice(len(coordinates["rank"][1])))
            arrays.append(array.values)
        values = np.stack(arrays)
        together = values.mean(axis=0) if name in _MEANS else values.sum(axis=0)
        variables[name] = (first[name].dims, together, first[name].attrs)
    attrs = dict(first.attrs)
    for dataset in every:
        attrs = {k: v for k, v in attrs.items() if (k, v) in dataset.attrs.items()}
    attrs.pop("enrolled_subjects", None)  # equal numbers of different subjects
    for name in ("gallery_templates", "gallery_subjects"):
        attrs[name] = sum(int(dataset.attrs.get(name, 0)) for dataset in every)
    found: list[Message] = [Message("mean-over-galleries", galleries=list(results))]
    for dataset in every:
        found += messages_of(dataset.attrs)
    attrs.pop("messages", None)  # those that all galleries have
    attrs |= {"galleries": " ".join(results), **message_attrs(found)}
    return xr.Dataset(variables, coordinates, attrs)
