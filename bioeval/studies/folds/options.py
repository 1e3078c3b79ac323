"""The options of an evaluation in folds, and the counts of both parts of folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from bioeval import partition
from bioeval.base.arguments import Kind, chosen_task, require_array, require_choice
from bioeval.base.errors import DataError, ProtocolError, received
from bioeval.counting.identification import role_of
from bioeval.counting.operating_points import AttemptsOfParts
from bioeval.counting.threshold_rules import ChosenThreshold, PointsWanted, Rule, point_values
from bioeval.counting.thresholds import require_values
from bioeval.counting.verification import Use
from bioeval.protocol.fields import PlainTies
from bioeval.protocol.tasks import OpenSet
from bioeval.scores.matrix import Scores
from bioeval.scores.score_data import require_subjects
from bioeval.stats.options import IntervalMethod

#: The numbers of splits as arrays by name, the splits first.
Numbers = dict[str, np.ndarray]


class Detected(NamedTuple):
    """The numbers of mates that a threshold accepts, int64 (..., ranks)."""

    at_rank: np.ndarray  # exactly at each rank
    up_to_rank: np.ndarray


#: The tasks that have a threshold.
ThresholdTask = Literal["verification", "open_set"]

FoldTask = Literal[ThresholdTask, "closed_set"]
TASKS: tuple[FoldTask, ...] = get_args(FoldTask)


@dataclass(frozen=True)
class FoldOptions:
    """Task, threshold rule and attempts of an evaluation in folds; checked when it is made.

    - `ranks`: increasing
    - `search`: its impostors may be ``"auto"`` until the options are :meth:`checked`
    - `far_targets`, `frr_targets`, `priors`: targets and priors of the operating points that each
      test part has by itself; if `far_targets` is None, there are no such points
    """

    task: FoldTask
    rule: Rule
    interval: IntervalMethod
    use: Use = Use()
    search: OpenSet = field(default_factory=OpenSet)
    ranks: np.ndarray = field(default_factory=lambda: np.ones(1, dtype=np.int64))
    far_targets: np.ndarray | None = None
    frr_targets: np.ndarray = field(default_factory=lambda: np.empty(0))
    priors: np.ndarray = field(default_factory=lambda: np.empty(0))
    claims: partition.ClaimSampler | None = None

    def __post_init__(self) -> None:
        """Raise an error if options do not go together."""
        if str(self.task).lower() in ("reid", "re-identification", "gom"):
            raise ProtocolError(
                f"`task` is {self.task!r}; re-identification has no threshold of a "
                'training part: be.repeat(scores, splitter, "market1501") evaluates it in each '
                "partition, and be.show its mean and standard deviation"
            )
        object.__setattr__(self, "task", chosen_task(self.task, TASKS))
        require_choice("ties", self.search.ties, PlainTies)
        for name in ("frr_targets", "priors", "claims"):
            value = getattr(self, name)
            if self.task != "verification" and value is not None and np.size(value):
                raise ProtocolError(
                    f"`{name}` applies to verification only; the task is {self.task}"
                )
        if not isinstance(self.claims, partition.ClaimSampler | None):
            raise DataError(
                f"`claims` is {type(self.claims).__name__}; expected a ClaimSampler, "
                "to draw claims for each part"
            )

    def fused(self, kind: Kind) -> str | None:
        """Return the rule by which distances are fused; None if they are not fused."""
        if self.task == "verification":
            return self.use.of_kind(kind).fused
        search = self.search.of_kind(kind)
        return search.fusion if search.rank_unit == "subject" else None

    @property
    def wanted(self) -> PointsWanted:
        """The operating points of test parts of verification."""
        assert self.far_targets is not None
        costs = np.array([(prior, 1.0, 1.0) for prior in self.priors]).reshape(-1, 3)
        return PointsWanted(self.far_targets, costs, True, frr_targets=self.frr_targets)

    def points(self, tests: AttemptsOfParts) -> Numbers:
        """Return the operating points of test parts of verification, the parts first."""
        _, values = point_values(tests, self.wanted, None)
        names = ("eer", "auc", "frr_at_far", "far_at_frr", "min_dcf")
        return {name: values[name] for name in names if name in values}

    @property
    def in_words(self) -> str:
        """The task with its templates, as in the attributes of a result."""
        if self.task == "verification":
            return f"verification, {self.use.templates}-template"
        return f"{self.task_name} identification"

    @property
    def task_name(self) -> str:
        return self.task.replace("_", "-")

    @property
    def has_threshold(self) -> bool:
        return self.task != "closed_set"

    def checked(self, splitter: Any, scores: Scores | None = None) -> FoldOptions:
        """Return the options with the role of impostors decided, which is the same in every part.

        Raise an error unless the scores support the task, and a training part exists on which a
        threshold can be chosen. A system that is trained in each fold has no scores yet.
        """
        if scores is not None:
            is_list = scores.layout == "pairs"
            if self.claims is not None and is_list:
                raise ProtocolError("claims are drawn among templates; a list of pairs has its own")
            if self.has_threshold:
                require_values(scores, f"{self.task_name} in folds")
            if is_list and self.task != "verification":
                raise ProtocolError(
                    f"{self.task} needs a gallery to search; a list of pairs supports verification"
                )
            if is_list and self.use.templates == "multi":
                require_subjects(scores, "multi-template")
        is_experiment = isinstance(splitter, partition.Experiment)
        if self.has_threshold:
            self._require_rule(has_no_training_part=is_experiment and not splitter.chooses)
        if self.task == "verification":
            return self
        role = self.search.impostors
        if is_experiment and splitter.has_galleries:
            role = splitter.impostors if role == "auto" else role
        else:
            if scores is None:
                role = role_of("all-against-all", role, all_enrolled=True)
            else:
                all_enrolled = bool(np.isin(scores.codes.probe, scores.codes.gallery).all())
                role = role_of(scores.layout, role, all_enrolled)
        return replace(self, search=replace(self.search, impostors=role))

    def _require_rule(self, *, has_no_training_part: bool) -> None:
        if self.rule.name == "none" and self.far_targets is None:
            raise ProtocolError(
                "without a threshold there are only the operating points of each test part: "
                "give `far_targets`"
            )
        if has_no_training_part and self.rule.name not in ("none", "fixed"):
            raise ProtocolError(
                f"the threshold is to be that of {self.rule.words}, but the experiment has neither "
                "`train` nor `validation` to choose it on; give one of them, "
                "such as `train=0.5`, or a threshold that is fixed; a card with "
                'rule = "none" chooses none'
            )


def parse_ranks(ranks: Any) -> np.ndarray:
    """Return ranks in increasing order as int64, or raise :class:`DataError`."""
    array = np.atleast_1d(require_array("ranks", ranks))
    if array.ndim != 1 or array.dtype.kind not in "iu" or not len(array) or (array < 1).any():
        raise DataError(f"ranks is {received(ranks)}; expected whole numbers from 1 up")
    return np.unique(array).astype(np.int64)


def judged(
    chosen: ChosenThreshold, parts: Sequence[AttemptsOfParts], times: Sequence[int] = (1, 1)
) -> Numbers:
    """Count errors in both parts of splits at the threshold of the split.

    The counts are (splits, part), and 0 without a threshold. `parts` are the attempts of all
    training parts and of all test parts; `times` says how often an attempt counts in either.
    """
    thresholds, is_defined = chosen.threshold, chosen.defined[:, None]
    counts = [(x.genuine_attempts, x.impostor_attempts, *x.errors_at(thresholds)) for x in parts]
    counts_by_part = np.array(counts) * np.reshape(times, (-1, 1, 1))  # (part, count, splits)
    genuine, impostor, fa, fr = counts_by_part.transpose(1, 2, 0)
    return {
        "threshold": thresholds,
        "threshold_next": chosen.next,
        "defined": chosen.defined,
        "genuine_attempts": genuine,
        "impostor_attempts": impostor,
        "ga": (genuine - fr) * is_defined,
        "fr": fr * is_defined,
        "fa": fa * is_defined,
        "gr": (impostor - fa) * is_defined,
    }
