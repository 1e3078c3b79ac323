"""Results of counts of verification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import xarray as xr

from bioeval.attempts.counts import VerificationTally
from bioeval.results.dataset import Scalars
from bioeval.results.verification import verification_dataset, verification_scalars
from bioeval.views.messages import warn_of_kinds

if TYPE_CHECKING:
    from bioeval.scores.blocks import BlockReader
    from bioeval.stats.options import IntervalMethod
    from bioeval.tasks.task_counts import TaskCounts


def dataset(tally: VerificationTally, node: str, options: dict[str, Any]) -> xr.Dataset:
    """Return the result."""
    return warn_of_kinds(verification_dataset(tally))


def scalars(tally: VerificationTally, node: str, options: dict[str, Any]) -> Scalars:
    """Return the numbers of the result besides its curves over the threshold."""
    return verification_scalars(tally)


def with_intervals(
    dataset: xr.Dataset,
    counts: TaskCounts,
    counter: Any,
    reader: BlockReader,
    options: IntervalMethod,
) -> xr.Dataset:
    """Return the result with confidence intervals; `counter` made the counts."""
    from bioeval.attempts.by_subject import SubjectAttempts
    from bioeval.stats.verification import verification_intervals

    tally: Any = counts.tally
    if options.by_subject:
        SubjectAttempts.require_people(reader.scores, options.method)
    attempts = SubjectAttempts(counter) if options.by_subject else None
    return verification_intervals(dataset, tally, attempts, options)
