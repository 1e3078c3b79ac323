"""Counts of one task, with the options that turn them into a result."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.results.closed_set import closed_set_counts, closed_set_dataset
from bioeval.results.dataset import Scalars
from bioeval.results.folded import folded_closed_set, folded_open_set, folded_verification
from bioeval.results.gom import GomOptions, gom_dataset
from bioeval.results.open_set import open_set_dataset, open_set_scalars
from bioeval.results.random_galleries import closed_set_expected, open_set_expected
from bioeval.results.reid import ReidOptions, reid_dataset
from bioeval.results.verification import verification_dataset, verification_scalars
from bioeval.tallies.counts import IdentificationTally, TaskTally, VerificationTally
from bioeval.tallies.folded import Folded, FoldedIdentification, FoldedVerification
from bioeval.tallies.random_galleries.counts import GalleryTally
from bioeval.tallies.reid_counts import GomTally, ReidTally

Counts = TaskTally | GalleryTally | ReidTally | GomTally | Folded


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

    def scalars(self, node: str) -> Scalars:
        """Return the numbers of the result besides its curves over the threshold."""
        if isinstance(self.tally, VerificationTally):
            return verification_scalars(self.tally)
        if not isinstance(self.tally, IdentificationTally):
            return Scalars.of_dataset(self.dataset(node))
        if node == "open_set":
            curves = ("thresholds", "rows", "max_rank")
            options = {k: v for k, v in self.options.items() if k not in curves}
            return open_set_scalars(self.tally, **options)
        return closed_set_counts(self.tally, **self.options)[0].scalars(self.tally.about)

    def dataset(self, node: str) -> xr.Dataset:
        """Return the result; `node` is the task, such as ``"open_set"``."""
        tally: Any = self.tally
        if isinstance(tally, VerificationTally):
            return verification_dataset(tally)
        if isinstance(tally, ReidTally):
            return reid_dataset(tally, ReidOptions(**self.options))
        if isinstance(tally, GomTally):
            return gom_dataset(tally, GomOptions(**self.options))
        if isinstance(tally, FoldedVerification):
            return folded_verification(tally, **self.options)
        if isinstance(tally, FoldedIdentification):
            return (folded_open_set if node == "open_set" else folded_closed_set)(
                tally, **self.options
            )
        expected = isinstance(tally, GalleryTally)
        if node == "open_set":
            return (open_set_expected if expected else open_set_dataset)(tally, **self.options)
        return (closed_set_expected if expected else closed_set_dataset)(tally, **self.options)


def with_notes(parts: dict[str, TaskCounts], notes: list[str], **changed: Any) -> None:
    """Add notes to the provenance of counts that were just made, and change it otherwise."""
    for tally in {id(part.tally): part.tally for part in parts.values()}.values():
        found = tuple(dict.fromkeys([*tally.about.notes, *notes]))
        tally.about = replace(tally.about, notes=found, **changed)
