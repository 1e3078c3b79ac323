"""Options of an evaluation in folds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np

from bioeval import partition
from bioeval.attempts.counts import role_of
from bioeval.attempts.threshold_rules import Rule
from bioeval.attempts.tied_places import PlainTies
from bioeval.attempts.verification_counter import Claim
from bioeval.base.arguments import require_array
from bioeval.base.errors import (
    Argument,
    DataError,
    ProtocolError,
    chosen_task,
    received,
    require_choice,
)
from bioeval.protocol.tasks import OpenSet
from bioeval.scores.matrix import Scores, codes_of

#: Tasks of which a threshold is chosen.
ThresholdTask = Literal["verification", "open_set"]

FoldTask = Literal[ThresholdTask, "closed_set"]
TASKS: tuple[FoldTask, ...] = get_args(FoldTask)

FoldInterval = Literal["nadeau-bengio", "quantile", "subject-bootstrap"]
INTERVALS: tuple[FoldInterval, ...] = get_args(FoldInterval)


@dataclass(frozen=True)
class FoldOptions:
    """Task, threshold rule and attempts of an evaluation in folds; checked when it is made.

    `ranks` are increasing; `impostors` may be ``"auto"`` until :meth:`with_role`. `far_targets`
    and `frr_targets` are those of the operating points of each test part by itself, `priors` those
    of its least costs; there are none where `far_targets` is None.
    """

    task: str
    rule: Rule
    templates: str = "single"
    fusion: str = "min"
    ranks: np.ndarray = field(default_factory=lambda: np.ones(1, dtype=np.int64))
    rank_unit: str = "template"
    ties: str = "pessimistic"
    impostors: str = "auto"
    interval: str = "nadeau-bengio"
    kind: str = "distance"
    far_targets: np.ndarray | None = None
    frr_targets: np.ndarray = field(default_factory=lambda: np.empty(0))
    priors: np.ndarray = field(default_factory=lambda: np.empty(0))
    claims: partition.ClaimSampler | None = None

    def __post_init__(self) -> None:
        """Raise for options that do not go together."""
        if str(self.task).lower() in ("reid", "re-identification", "gom"):
            raise ProtocolError(
                Argument("task"),
                f" is {self.task!r}; re-identification has no threshold of a training part: "
                'be.repeat(scores, splitter, "market1501") evaluates it in each partition, '
                "and be.show its mean and standard deviation",
            )
        object.__setattr__(self, "task", chosen_task(self.task, TASKS))
        Claim(self.templates, self.fusion)
        require_choice("ties", self.ties, PlainTies)
        self.search()
        require_choice("interval", self.interval, INTERVALS)
        for name in ("frr_targets", "priors"):
            if len(getattr(self, name)) and self.task != "verification":
                raise ProtocolError(
                    Argument(name), f" applies to verification only; the task is {self.task}"
                )
        if self.claims is None:
            return
        if self.task != "verification":
            raise ProtocolError(
                Argument("claims"), f" applies to verification only; the task is {self.task}"
            )
        if not isinstance(self.claims, partition.ClaimSampler):
            raise DataError(
                Argument("claims"),
                f" is {type(self.claims).__name__}; expected a ClaimSampler, to draw claims for "
                "each part",
            )
        if self.by_subject:
            raise ProtocolError(
                Argument("interval", self.interval),
                " leaves out the subjects of all comparisons, not of drawn claims; give ",
                Argument("interval", "quantile"),
            )

    def search(self) -> OpenSet:
        """Return how probes are searched, checked."""
        return OpenSet(
            rank_unit=self.rank_unit, fusion=self.fusion, ties=self.ties, impostors=self.impostors
        )

    @property
    def fuses(self) -> bool:
        """Whether the comparisons with a subject's templates are fused."""
        if self.task == "verification":
            return self.templates == "multi"
        return self.rank_unit == "subject"

    @property
    def by_subject(self) -> bool:
        """Whether each subject is left out in turn."""
        return self.interval == "subject-bootstrap"

    @property
    def chooses_anew(self) -> bool:
        """Whether thresholds are chosen anew without each subject."""
        return self.by_subject and self.rule.name not in ("fixed", "none")

    @property
    def in_words(self) -> str:
        """The task as the attributes of a result name it."""
        if self.task == "verification":
            return f"verification, {self.templates}-template"
        return f"{self.task_name} identification"

    @property
    def task_name(self) -> str:
        """The task in words."""
        return self.task.replace("_", "-")

    @property
    def targets(self) -> np.ndarray:
        """The FAR targets of operating points; empty where they are not wanted."""
        return np.empty(0) if self.far_targets is None else self.far_targets

    @property
    def distance_rule(self) -> Rule:
        """The rule, with a fixed threshold converted to a distance."""
        return self.rule.as_distance(self.kind)

    def with_role(self, splitter: Any, scores: Scores | None = None) -> FoldOptions:
        """Return the options with the probes that are impostors; None for trained systems."""
        if self.task == "verification":
            return self
        if isinstance(splitter, partition.Experiment) and splitter.has_galleries:
            role = splitter.impostors if self.impostors == "auto" else self.impostors
        elif scores is None:
            role = role_of("all-against-all", self.impostors, True)
        else:
            # In every part: one part may have no probe who is not enrolled.
            all_enrolled = bool(np.isin(codes_of(scores).probe, codes_of(scores).gallery).all())
            role = role_of(scores.layout, self.impostors, all_enrolled)
        return replace(self, impostors=role)


def parse_ranks(ranks: Any) -> np.ndarray:
    """Return ranks in increasing order as int64, or raise :class:`DataError`."""
    array = np.atleast_1d(require_array("ranks", ranks))
    if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array) or (array < 1).any():
        raise DataError(f"ranks is {received(ranks)}; expected whole numbers from 1 up")
    return np.unique(array).astype(np.int64)
