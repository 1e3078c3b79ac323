"""Counts of one task, with the options that turn them into a result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import xarray as xr

from bioeval.base.messages import Message, message_attrs
from bioeval.results.dataset import Scalars

if TYPE_CHECKING:
    from bioeval.scores.blocks import BlockReader
    from bioeval.scores.provenance import Provenance
    from bioeval.stats.options import IntervalMethod


class Counts(Protocol):
    """A tally of one task; `form` is the kind of its counts."""

    form: ClassVar[str]
    about: Provenance


class KindOfCounts(Protocol):
    """What a kind of counts must know: its module has these functions."""

    def dataset(self, tally: Any, node: str, options: dict[str, Any]) -> xr.Dataset:
        """Return the result of a task; `node` is the task, such as ``"open_set"``."""

    def scalars(self, tally: Any, node: str, options: dict[str, Any]) -> Scalars:
        """Return the numbers of the result besides its curves over the threshold."""

    def with_intervals(
        self,
        dataset: xr.Dataset,
        counts: TaskCounts,
        counter: Any,
        reader: BlockReader,
        options: IntervalMethod,
    ) -> xr.Dataset | Message:
        """Return the result with intervals, or why there are none; `counter` made the counts."""


def kind_of(form: str) -> KindOfCounts:
    """Return the kind of counts of tallies of a form."""
    from bioeval.tasks import (
        identification_counts,
        single_template_counts,
        verification_counts,
    )
    from bioeval.tasks.reid import tasks as reid_counts

    kinds: dict[str, Any] = {
        "verification": verification_counts,
        "identification": identification_counts,
        "reid": reid_counts,
        "gom": reid_counts,
        "single_template": single_template_counts,
    }
    kind: KindOfCounts = kinds[form]
    return kind


@dataclass(frozen=True, eq=False)
class TaskCounts:
    """Counts of one task, with the options of the function that makes its dataset."""

    tally: Counts
    options: dict[str, Any]

    def scalars(self, node: str) -> Scalars:
        """Return the numbers of the result besides its curves over the threshold."""
        return kind_of(self.tally.form).scalars(self.tally, node, self.options)

    def dataset(self, node: str) -> xr.Dataset:
        """Return the result; `node` is the task, such as ``"open_set"``."""
        return kind_of(self.tally.form).dataset(self.tally, node, self.options)

    def dataset_of_card(self, node: str, card: str, ranks: Sequence[int]) -> xr.Dataset:
        """Return the result of a task of a card, with the ranks that tables show."""
        attrs = {"protocol": card, "report_ranks": " ".join(map(str, ranks))}
        return self.dataset(node).assign_attrs(attrs)

    def with_intervals(
        self, dataset: xr.Dataset, counter: Any, reader: BlockReader, options: IntervalMethod
    ) -> xr.Dataset:
        """Return the result with confidence intervals, or a message; `counter` made the counts."""
        result = kind_of(self.tally.form).with_intervals(dataset, self, counter, reader, options)
        if isinstance(result, Message):
            return dataset.assign_attrs(message_attrs([result], dataset.attrs))
        return result
