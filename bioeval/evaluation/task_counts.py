"""Counts of one task, with the options that turn them into a result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.results.closed_set import closed_set_dataset
from bioeval.results.open_set import open_set_dataset
from bioeval.results.random_galleries import closed_set_expected, open_set_expected
from bioeval.results.reid import ReidOptions, reid_dataset
from bioeval.results.verification import verification_dataset
from bioeval.tallies.counts import TaskTally, VerificationTally
from bioeval.tallies.random_galleries.counts import GalleryTally
from bioeval.tallies.reid_counts import ReidTally

if TYPE_CHECKING:
    import xarray as xr

Counts = TaskTally | GalleryTally | ReidTally


@dataclass(frozen=True, eq=False)
class TaskCounts:
    """Counts of one task, with the keywords of the function that makes its dataset."""

    tally: Counts
    options: dict[str, Any]

    def plain_options(self) -> dict[str, Any]:
        """Return the options with arrays as lists, for JSON."""
        arrays = (np.ndarray, np.generic)
        return {k: v.tolist() if isinstance(v, arrays) else v for k, v in self.options.items()}

    def same_options(self, other: TaskCounts) -> bool:
        """Return whether both become results with the same options."""
        mine, theirs = self.plain_options(), other.plain_options()
        return json.dumps(mine, sort_keys=True) == json.dumps(theirs, sort_keys=True)

    def dataset(self, node: str) -> xr.Dataset:
        """Return the result; `node` is the task, such as ``"open_set"``."""
        tally: Any = self.tally
        if isinstance(tally, VerificationTally):
            return verification_dataset(tally)
        if isinstance(tally, ReidTally):
            return reid_dataset(tally, ReidOptions(**self.options))
        expected = isinstance(tally, GalleryTally)
        if node == "open_set":
            return (open_set_expected if expected else open_set_dataset)(tally, **self.options)
        return (closed_set_expected if expected else closed_set_dataset)(tally, **self.options)
