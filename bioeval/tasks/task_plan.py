"""The counter of one task, and the options of its result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bioeval.attempts.counting import Counter
from bioeval.attempts.identification_counter import IdentificationCounter, check_max_rank
from bioeval.attempts.thresholds import require_values
from bioeval.protocol.tasks import ClosedSet, OpenSet
from bioeval.scores.blocks import BlockReader
from bioeval.tasks.single_template_counts import single_template_counter


class TaskPlan(NamedTuple):
    """The counter of one task, and the options of its result."""

    counter: Counter[Any]
    options: dict[str, Any]


class StudyPlan(NamedTuple):
    """What counts one task of a study, and the options of its result."""

    counting: Callable[[], Any]  # returns the tally
    options: dict[str, Any]


@dataclass(eq=False)
class TaskPlanner:
    """Plans identification tasks over the same scores, each with the options of its section.

    No score is read before the options are checked; thresholds and FAR targets are given checked.
    """

    reader: BlockReader
    thresholds: np.ndarray | int | None = None
    far_targets: np.ndarray | None = None
    _shared: dict[tuple[str, str], IdentificationCounter] = field(default_factory=dict)

    def identification(self, task: OpenSet | ClosedSet) -> TaskPlan:
        """Return the plan of identification."""
        check_max_rank(task.max_rank, self.reader.scores.shape[-1])
        options: dict[str, Any]
        if isinstance(task, OpenSet):
            require_values(self.reader.scores, "open-set identification")
            options = {"impostors": task.impostors, "far_targets": self.far_targets}
        else:
            options = {"unmated": task.unmated}
        if task.gallery == "single":
            counter, options["notes"] = single_template_counter(self.reader, task, self.thresholds)
            return TaskPlan(counter, options)
        options |= {"ties": task.ties, "max_rank": task.max_rank}
        if isinstance(task, OpenSet):
            options["thresholds"] = self.thresholds
        key = task.rank_unit, task.fusion
        if key not in self._shared:  # open and closed set share it where ranks are alike
            self._shared[key] = IdentificationCounter(self.reader, task)
        return TaskPlan(self._shared[key], options)
