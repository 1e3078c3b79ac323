"""Confidence intervals of the result of a task, from its tally and the subjects of its attempts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bioeval.scores.blocks import BlockReader
from bioeval.stats.identification import closed_set_intervals, open_set_intervals
from bioeval.stats.options import IntervalOptions
from bioeval.stats.verification import verification_intervals
from bioeval.tallies.by_subject import SubjectAttempts, require_people
from bioeval.tallies.counts import IdentificationTally, VerificationTally
from bioeval.tallies.random_galleries.counts import GalleryTally

if TYPE_CHECKING:
    import xarray as xr


def with_intervals(
    dataset: xr.Dataset, tally: Any, job: Any, reader: BlockReader, options: IntervalOptions
) -> xr.Dataset:
    """Return the result of a task with confidence intervals; `job` made the tally."""
    if isinstance(tally, GalleryTally):
        return without_interval(dataset, "means over drawn galleries")
    if not isinstance(tally, VerificationTally | IdentificationTally):
        return without_interval(dataset, "re-identification")
    if options.by_subject:
        require_people(reader.scores, options.method)
    if isinstance(tally, VerificationTally):
        attempts = SubjectAttempts(job, reader) if options.by_subject else None
        return verification_intervals(dataset, tally, attempts, options)
    subjects = reader.scores.codes.probe if options.by_subject else None
    add = closed_set_intervals if "cms" in dataset else open_set_intervals
    return add(dataset, tally, subjects, options)


def without_interval(dataset: xr.Dataset, what: str) -> xr.Dataset:
    """Return a result with a warning in place of intervals."""
    note = f"confidence intervals are not implemented for {what}"
    known = dataset.attrs["warnings"]
    return dataset.assign_attrs(warnings=f"{known}\n{note}" if known else note)
