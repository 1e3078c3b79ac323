"""Results of counts of open-set and closed-set identification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bioeval.attempts.counts import IdentificationTally
from bioeval.results.dataset import Scalars
from bioeval.results.identification import (
    closed_set_counts,
    closed_set_dataset,
    open_set_dataset,
    open_set_scalars,
)

if TYPE_CHECKING:
    from bioeval.scores.blocks import BlockReader
    from bioeval.stats.options import IntervalMethod
    from bioeval.tasks.task_counts import TaskCounts


def dataset(tally: IdentificationTally, node: str, options: dict[str, Any]) -> xr.Dataset:
    """Return the result; `node` is ``"open_set"`` or ``"closed_set"``."""
    make = open_set_dataset if node == "open_set" else closed_set_dataset
    return make(tally, **options)


def scalars(tally: IdentificationTally, node: str, options: dict[str, Any]) -> Scalars:
    """Return the numbers of the result besides its curves over the threshold."""
    if node == "open_set":
        curves = ("thresholds", "rows", "max_rank")
        return open_set_scalars(tally, **{k: v for k, v in options.items() if k not in curves})
    return closed_set_counts(tally, **options)[0].scalars(tally.about)


def with_intervals(
    dataset: xr.Dataset,
    counts: TaskCounts,
    counter: Any,
    reader: BlockReader,
    options: IntervalMethod,
) -> xr.Dataset:
    """Return the result with confidence intervals; `counter` made the counts."""
    from bioeval.attempts.by_subject import SubjectAttempts
    from bioeval.attempts.left_out import LeftOut
    from bioeval.stats.identification import closed_set_intervals, open_set_intervals

    tally: Any = counts.tally
    if options.by_subject:
        SubjectAttempts.require_people(reader.scores, options.method)
    add = closed_set_intervals if "cms" in dataset else open_set_intervals
    subjects = reader.scores._probe_people if options.by_subject else None
    left_out = None
    codes, square = reader.scores._codes, reader.scores.layout == "all-against-all"
    people = np.unique(codes.probe)
    same = square and np.array_equal(people, np.unique(codes.gallery))
    if options.by_subject and same and not reader.scores._no_person.any():
        ties = str(dataset.attrs["ties"])
        if ties not in counter.left_out:  # open and closed set may share the counter
            counter.left_out[ties] = LeftOut.of(tally, reader, ties)
        left_out = counter.left_out[ties]
    return add(dataset, tally, subjects, options, left_out)
