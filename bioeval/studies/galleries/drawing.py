"""Tasks in galleries drawn at random: means over all of them, or over a sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import xarray as xr

from bioeval import Scores
from bioeval.base import RandomState
from bioeval.document import as_json
from bioeval.evaluation import TaskCounts
from bioeval.protocol import ClosedSet, OpenSet
from bioeval.results import ClosedSetCounts
from bioeval.scores import BlockReader
from bioeval.stats import IntervalOptions
from bioeval.studies.galleries.drawn import Drawn, parse_drawn, refuse_interval, require_drawable
from bioeval.studies.galleries.gallery_templates import drawn_verification
from bioeval.studies.galleries.random_galleries import (
    GalleryCounter,
    SampledGalleryCounter,
    thresholds_over,
)
from bioeval.studies.galleries.results import (
    closed_set_expected,
    open_set_expected,
    sampled_dataset,
)
from bioeval.tallies import count_together, to_user


@dataclass(frozen=True)
class RandomGalleries:
    """Galleries drawn at random; see :class:`bioeval.evaluation.drawn_galleries.DrawnGalleries`."""

    gallery: Any  # the option of that name
    drawn: Drawn

    @classmethod
    def parse(cls, gallery: Any, sampling: Any, random_state: RandomState) -> Self:
        """Return the galleries of a task's options."""
        return cls(gallery, parse_drawn(gallery, sampling, random_state))

    def counter(
        self, reader: BlockReader, task: OpenSet | ClosedSet, thresholds: np.ndarray | int | None
    ) -> tuple[GalleryCounter, str]:
        """Return the counter of the mean over all galleries, and messages on its ranks as JSON."""
        require_drawable(reader.scores, self.drawn, task)
        grid = np.empty(0)
        if isinstance(task, OpenSet):
            grid = thresholds_over(reader, thresholds)
        subjects = len(reader.gallery.subjects)
        count, notes = ClosedSetCounts.max_ranks(subjects, task.max_rank, len(grid))
        size = self.drawn.size
        counter = GalleryCounter(reader, size=size, ties=task.ties, thresholds=grid, ranks=count)
        return counter, as_json(notes)

    def identification(
        self,
        plan: Callable[[], tuple[GalleryCounter, dict[str, Any]]],
        limits: IntervalOptions | None,
    ) -> xr.Dataset:
        """Evaluate open-set or closed-set identification."""
        if limits is not None:
            refuse_interval(limits.method)
        counter, options = plan()
        if self.drawn.repeats:
            return self._sampled(counter, options)
        (tally,) = count_together(counter.reader, [counter])
        if "impostors" in options:
            return open_set_expected(tally, **options)
        return closed_set_expected(tally, **options)

    def _sampled(self, counter: GalleryCounter, options: dict[str, Any]) -> xr.Dataset:
        """Evaluate identification in a sample of galleries, at the ranks of the exact mean."""
        note = options.pop("note")
        options |= {"max_rank": counter.ranks, "ties": counter.ties}
        node, kind = "closed_set", counter.reader.scores.kind
        if "impostors" in options:
            node, options["thresholds"] = "open_set", np.sort(to_user(counter.thresholds, kind))
        sampled = SampledGalleryCounter(counter.reader, self.drawn)
        (tallies,) = count_together(counter.reader, [sampled])
        each = (TaskCounts(tally, options).dataset(node) for tally in tallies)
        return sampled_dataset(tallies, each, self.drawn, note, sampled.fewer_mates)

    def verification(
        self, scores: Scores, templates: str, unsupported: dict[str, Any], **options: Any
    ) -> xr.Dataset:
        """Evaluate multi-template verification; its `unsupported` options may not be given."""
        return drawn_verification(
            scores, self.gallery, self.drawn, templates, unsupported, **options
        )
