"""Datasets of galleries sampled at random: means, and the spread between galleries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.scalars import Name
from bioeval.results.random_galleries import drawn_attrs, with_fewer_mates
from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.random_galleries.options import Drawn

# Curves that are also given gallery by gallery.
BY_GALLERY = ("cms", "far", "frr")


# The same in all galleries; the rest is averaged.
SAME = (
    "attempts", "skipped", "genuine_attempts", "impostor_attempts", "target_probes",
    "non_target_probes", "expected_false_accepts", "subjects", "genuine_subjects",
    "impostor_subjects",
)  # fmt: skip


# Not averaged: their means have no meaning.
LEFT_OUT = ("eer_threshold", "threshold_at_far", "eer_low", "eer_high", "far_at_eer", "frr_at_eer")


def sampled_dataset(
    tallies: list[IdentificationTally],
    evaluate: Callable[[IdentificationTally], xr.Dataset],
    drawn: Drawn,
    note: str = "",
    fewer_mates: int = 0,
) -> xr.Dataset:
    """Return the means over sampled galleries, one tally each, with the spread between them.

    The dataset is as `evaluate` makes it of one gallery, but each rate is the mean over galleries.
    ``<name>_sd`` is the standard deviation between galleries (``ddof = 1``, NaN of one gallery),
    ``<name>_se`` the standard error of the mean: how far it may lie from the exact mean over all
    galleries. It says nothing about other probes or subjects. ``<name>_by_gallery`` holds the
    curves of each.
    """
    mean: dict[str, np.ndarray] = {}
    square: dict[str, np.ndarray] = {}
    curves: dict[str, list[np.ndarray]] = {}
    first: xr.Dataset | None = None
    for count, tally in enumerate(tallies, 1):
        one = evaluate(tally)
        first = one if first is None else first
        for name in one.data_vars:
            key, values = str(name), one[name].values.astype(np.float64)
            if key in SAME or key in LEFT_OUT:
                continue
            if key not in mean:
                mean[key], square[key] = np.zeros(values.shape), np.zeros(values.shape)
            step = values - mean[key]
            mean[key] = mean[key] + step / count
            square[key] = square[key] + step * (values - mean[key])
            if key in BY_GALLERY:
                curves.setdefault(key, []).append(values)
    assert first is not None  # there is at least one gallery
    repeats = drawn.repeats
    variables: dict[str, Any] = {}
    for name in first.data_vars:
        key, old = str(name), first[name]
        if key in SAME:
            variables[key] = old
        if key not in mean:
            continue
        variables[key] = (old.dims, mean[key], old.attrs)
        if old.attrs.get("units") != "1":
            continue
        with np.errstate(divide="ignore", invalid="ignore"):
            spread = np.sqrt(square[key] / (repeats - 1 or np.nan))
        says = old.attrs["long_name"]
        variables[f"{key}_sd"] = (old.dims, spread, Name(f"between galleries, {says}").attrs())
        about = Name(f"standard error over galleries, {says}").attrs()
        variables[f"{key}_se"] = (old.dims, spread / np.sqrt(repeats), about)
    for key, found in curves.items():
        about = Name(f"of each drawn gallery, {first[key].attrs['long_name']}").attrs()
        variables[f"{key}_by_gallery"] = (("repeat", *first[key].dims), np.stack(found), about)
    coords = {k: (k, v.values, v.attrs) for k, v in first.coords.items()}
    coords["repeat"] = ("repeat", np.arange(repeats), Name("drawn gallery").attrs())
    attrs = first.attrs | drawn_attrs(drawn)
    attrs["warnings"] = "\n".join(filter(None, [attrs["warnings"], note]))
    mated = int((tallies[0].mates > 0).sum())  # the same in all galleries
    return with_fewer_mates(xr.Dataset(variables, coords, attrs), fewer_mates, mated, drawn.size)
