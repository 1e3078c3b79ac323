"""Sampling: galleries drawn at random, each evaluated as any other, and how far they differ."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import xarray as xr

from bioeval.blocks import Block, BlockReader
from bioeval.draws import seed_sequence
from bioeval.exact.galleries import Drawn, require_room
from bioeval.exact.results import drawn_attrs
from bioeval.kernels import draw as kernel
from bioeval.names import Name
from bioeval.tallies import IdentificationTally

# Facts of probe and gallery.
FACTS = ("mate", "closer", "tied", "tied_before", "other")

# Curves that are also given gallery by gallery.
BY_GALLERY = ("cms", "far", "frr")

# Points of a gallery's curves, about.
CURVES = 5_000

# What the attempts are is the same in all galleries; the rest is averaged.
SAME = (
    "attempts", "skipped", "genuine_attempts", "impostor_attempts", "target_probes",
    "non_target_probes", "expected_false_accepts",
)  # fmt: skip

# Means of these say nothing.
LEFT_OUT = ("eer_threshold", "threshold_at_far", "eer_low", "eer_high", "far_at_eer", "frr_at_eer")


class SampledJob:
    """Draws galleries for each probe and finds the facts that identification follows from."""

    def __init__(self, reader: BlockReader, drawn: Drawn):
        self.reader, self.drawn = reader, drawn
        shape = (drawn.repeats, reader.scores.shape[0])
        require_room(drawn.repeats, len(FACTS) * shape[1] + CURVES)
        self.facts = {
            name: np.zeros(shape, dtype=float if name in ("mate", "other") else np.int64)
            for name in FACTS
        }
        self.mates = np.zeros(shape[1], dtype=np.int64)
        self.others = np.zeros(shape[1], dtype=np.int64)
        self.key = seed_sequence(drawn.random_state).generate_state(2, np.uint64)

    def add(self, block: Block) -> None:
        """Draw for the rows of a block."""
        rows = slice(block.low, block.low + len(block.values))
        shape = (self.drawn.repeats, len(block.values))
        found = {name: np.empty(shape, dtype=self.facts[name].dtype) for name in FACTS}
        kernel.draw_facts(  # type: ignore[call-arg]
            block.values, block.columns, block.starts, block.own, block.self_position,
            self.reader.scores.probe_ids[rows], self.drawn.size, self.key,
            *(found[name] for name in FACTS), self.mates[rows], self.others[rows],
        )  # fmt: skip
        for name in FACTS:
            self.facts[name][:, rows] = found[name]

    def result(self) -> list[IdentificationTally]:
        """Return the tally of each gallery."""
        return [self._tally(r) for r in range(self.drawn.repeats)]

    def _tally(self, r: int) -> IdentificationTally:
        facts = {name: self.facts[name][r] for name in FACTS}
        return IdentificationTally(
            about=self.reader.about,
            rank_unit="subject",
            fusion="min",
            enrolled=self.reader.gallery.own >= 0,
            mates=self.mates,
            mates_tied=self.mates,
            others=self.others,
            nearest_mate=facts["mate"],
            nearest_other=facts["other"],
            **facts,
        )


def sampled_dataset(
    tallies: list[IdentificationTally],
    evaluate: Callable[[IdentificationTally], xr.Dataset],
    drawn: Drawn,
    note: str = "",
) -> xr.Dataset:
    """Evaluate each gallery and return means, with the spread between galleries.

    Parameters
    ----------
    tallies : list of IdentificationTally
        One a gallery.
    evaluate : callable
        Returns the dataset of one of them, all of the same shape.
    drawn : Drawn
    note : str
        A warning to add, if any.

    Returns
    -------
    xarray.Dataset
        As of one gallery, but each rate is the mean over galleries. ``<name>_sd`` is the standard
        deviation between galleries (``ddof = 1``, NaN of one gallery), ``<name>_se`` the standard
        error of the mean: how far it may lie from the exact mean over all galleries. It says
        nothing of other probes or subjects. ``<name>_by_gallery`` holds the curves of each.
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
    return xr.Dataset(variables, coords, attrs)
