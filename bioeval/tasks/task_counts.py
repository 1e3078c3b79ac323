"""Counts of one task, with the options that turn them into a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bioeval.attempts.counts import IdentificationTally, VerificationTally
from bioeval.attempts.single_template import SingleTemplateTally
from bioeval.base.messages import Message, message_attrs
from bioeval.results.dataset import Scalars
from bioeval.results.identification import (
    closed_set_counts,
    closed_set_dataset,
    open_set_dataset,
    open_set_scalars,
)
from bioeval.results.verification import verification_dataset, verification_scalars
from bioeval.tasks.single_template_counts import single_template_dataset
from bioeval.views.messages import warn_of_kinds

if TYPE_CHECKING:
    from bioeval.scores.blocks import BlockReader
    from bioeval.stats.options import IntervalMethod


@dataclass(frozen=True, eq=False)
class TaskCounts:
    """The tally of one task, with the options of the function that makes its dataset."""

    tally: Any
    options: dict[str, Any]

    def scalars(self, node: str) -> Scalars:
        """Return the numbers of the result besides its curves over the threshold."""
        tally, options = self.tally, self.options
        if isinstance(tally, VerificationTally):
            return verification_scalars(tally)
        if not isinstance(tally, IdentificationTally):
            return Scalars.of_dataset(self.dataset(node))
        if node == "open_set":
            curves = ("thresholds", "rows", "max_rank")
            return open_set_scalars(tally, **{k: v for k, v in options.items() if k not in curves})
        return closed_set_counts(tally, **options)[0].scalars(tally.about)

    def dataset(self, node: str) -> xr.Dataset:
        """Return the result; `node` is the task, such as ``"open_set"``."""
        tally, options = self.tally, self.options
        if isinstance(tally, VerificationTally):
            return warn_of_kinds(verification_dataset(tally))
        if isinstance(tally, SingleTemplateTally):
            return single_template_dataset(tally, node, options)
        if isinstance(tally, IdentificationTally):
            make = open_set_dataset if node == "open_set" else closed_set_dataset
            return make(tally, **options)
        from bioeval.tasks.reid import tasks as reid

        return reid.dataset(tally, options)

    def dataset_of_card(self, node: str, card: str, ranks: Sequence[int]) -> xr.Dataset:
        """Return the result of a task of a card, with the ranks that tables show."""
        attrs = {"protocol": card, "report_ranks": " ".join(map(str, ranks))}
        result = self.dataset(node)
        result.attrs |= attrs
        return result

    def with_intervals(
        self, dataset: xr.Dataset, counter: Any, reader: BlockReader, options: IntervalMethod
    ) -> xr.Dataset:
        """Return the result with confidence intervals, or a message; `counter` made the counts."""
        from bioeval.attempts.by_subject import SubjectAttempts

        if isinstance(self.tally, SingleTemplateTally):
            of = "means over all galleries of one template of each subject"
            without = Message("no-interval", of=of, why="their galleries share templates")
            return dataset.assign_attrs(message_attrs([without], dataset.attrs))
        if options.by_subject:
            SubjectAttempts.require_people(reader.scores, options.method)
        if isinstance(self.tally, VerificationTally):
            from bioeval.stats.verification import verification_intervals

            attempts = SubjectAttempts(counter) if options.by_subject else None
            return verification_intervals(dataset, self.tally, attempts, options)
        if isinstance(self.tally, IdentificationTally):
            return _with_identification_intervals(dataset, self.tally, counter, reader, options)
        from bioeval.tasks.reid import tasks as reid

        return reid.with_intervals(dataset, self.tally, options)


def _with_identification_intervals(
    dataset: xr.Dataset,
    tally: IdentificationTally,
    counter: Any,
    reader: BlockReader,
    options: IntervalMethod,
) -> xr.Dataset:
    """Return a result with intervals: of all against all, for new people."""
    from bioeval.attempts.left_out import LeftOut
    from bioeval.stats.identification import closed_set_intervals, open_set_intervals

    add = closed_set_intervals if "cms" in dataset else open_set_intervals
    subjects = reader.scores._probe_people if options.by_subject else None
    left_out = None
    codes, square = reader.scores._codes, reader.scores.layout == "all-against-all"
    same = square and np.array_equal(np.unique(codes.probe), np.unique(codes.gallery))
    if options.by_subject and same and not reader.scores._no_person.any():
        ties = str(dataset.attrs["ties"])
        if ties not in counter.left_out:  # open and closed set may share the counter
            counter.left_out[ties] = LeftOut.of(tally, reader, ties)
        left_out = counter.left_out[ties]
    return add(dataset, tally, subjects, options, left_out)
