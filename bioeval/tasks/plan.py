"""Plan of an evaluation: the counters that a card requires and the options of their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from bioeval.attempts.counting import Counter
from bioeval.attempts.counts import IdentificationTally
from bioeval.attempts.finding import PointsWanted, points_of
from bioeval.attempts.identification_counter import check_max_rank
from bioeval.attempts.passes import at_thresholds, count_together
from bioeval.attempts.points import (
    RARE_TARGETS,
    check_costs,
    check_targets,
    with_rare_targets,
)
from bioeval.attempts.symmetry import is_symmetric
from bioeval.attempts.thresholds import check_extra, check_thresholds, to_internal
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.arguments import require_flag
from bioeval.base.errors import Argument, DataError, ProtocolError
from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.protocol.card import Protocol
from bioeval.protocol.loading import for_layout, of_claims
from bioeval.protocol.pairs import with_exclusions, with_pairs
from bioeval.protocol.tasks import ClosedSet, OpenSet
from bioeval.results.variables import best_values
from bioeval.scores.blocks import BlockReader, threads_for
from bioeval.scores.labels import Codes, missing_values
from bioeval.scores.matrix import Scores, are_pairs, require_scores
from bioeval.scores.provenance import Provenance
from bioeval.scores.top_k import TopKScores
from bioeval.stats.options import IntervalMethod
from bioeval.tasks.task_counts import TaskCounts
from bioeval.tasks.task_plan import StudyPlan, TaskPlan, TaskPlanner

#: The tasks that one pass counts; studies offer others.
_CORE_TASKS = frozenset({"verification", "open_set", "closed_set"})

Searches = TypeVar("Searches", bound=OpenSet | ClosedSet)

# The node of the mean over galleries.
MEAN = "mean"


@dataclass(frozen=True, kw_only=True, eq=False)
class EvaluationOptions:
    """Options of an evaluation in place of the card's; None leaves the card's value."""

    thresholds: np.ndarray | int | None = None
    extra_thresholds: np.ndarray | None = None
    max_rank: int | None = None
    far_targets: np.ndarray | None = None
    frr_targets: np.ndarray | None = None
    auc: bool = True
    per_query: bool = False
    interval: IntervalMethod | None = None

    @classmethod
    def parse(
        cls,
        *,
        thresholds: Any = None,
        extra_thresholds: Any = None,
        max_rank: int | None = None,
        far_targets: Sequence[float] | None = None,
        frr_targets: Sequence[float] | None = None,
        **flags: Any,
    ) -> EvaluationOptions:
        """Return the options as checked values."""
        check_max_rank(max_rank)
        for name in flags.keys() & {"auc", "per_query"}:
            flags[name] = require_flag(name, flags[name])
        return cls(
            thresholds=check_thresholds(thresholds),
            extra_thresholds=check_extra(extra_thresholds),
            max_rank=max_rank,
            far_targets=None if far_targets is None else check_targets(far_targets),
            frr_targets=None if frr_targets is None else check_targets(frr_targets, "frr_targets"),
            **flags,
        )

    def those_set(self, *names: str) -> list[str]:
        """Return those of the named options that are set."""
        values = {name: getattr(self, name) for name in names}
        return [name for name, value in values.items() if value is not None and value is not False]

    def refuse_unused(self, card: Protocol) -> None:
        """Raise :class:`ProtocolError` if an option has no effect on the tasks of a card."""
        of_verification = self.those_set("frr_targets")
        if of_verification and card.verification is None:
            raise ProtocolError(
                f"{Argument(of_verification[0])} applies to verification only; protocol "
                f"{card.name} has no [verification] section"
            )
        unused = self.those_set("far_targets")
        if unused and _searches_only(card):
            raise ProtocolError(
                f"{Argument(unused[0])} does nothing under protocol {card.name}: it has only "
                "re-identification; leave it out, or add a section [verification] or [open_set] "
                "to a card of your own"
            )
        if self.per_query and card.reid is None:
            raise ProtocolError(
                f"{Argument('per_query')} applies to re-identification only; protocol {card.name} "
                "has no [reid] section (be.ranks gives the rank of each probe)"
            )

    def with_last_rank(self, task: Searches, gallery: int, section: str) -> Searches:
        """Return a task of a card's section with the last rank that is given, or that of the card.

        The card's own is checked here, by its place; `gallery` is the number of templates.
        """
        if self.max_rank is not None:
            return replace(task, max_rank=self.max_rank)
        check_max_rank(task.max_rank, gallery, f"protocol {section} max_rank")
        return task


class Plan:
    """The counters of a card over some scores, and the options of their results, by node.

    Tasks that the scores cannot support are left out if the card was chosen by the layout of the
    scores (`automatic`), and an error otherwise. The tasks of studies, such as re-identification,
    are in `searches` and not in `tasks`: each is counted by itself.
    """

    def __init__(
        self,
        scores: Scores,
        card: Protocol,
        options: EvaluationOptions,
        *,
        automatic: bool,
        whole: Provenance | None = None,
    ):
        """Make the counters of the tasks that the card names; of a part, `whole` is known."""
        options.refuse_unused(card)
        if galleries_of(scores, card) is not None:
            raise ProtocolError(
                f"protocol {card.name} averages over several galleries; use be.evaluate, or "
                "select one: scores.select(gallery=...)"
            )
        scores = with_exclusions(scores, card)
        self.options, self.automatic = options, automatic
        self.searches: dict[str, StudyPlan] = {}
        retrieval = [x for x in card.tasks if x not in _CORE_TASKS]
        if retrieval:
            from bioeval.tasks.reid import tasks as reid

            for section in retrieval:
                self.searches[section] = StudyPlan(*reid.plan(section, scores, card, options))
            if not _searches_only(card):
                scores = reid.compared(scores, card)
        self.scores = compared_scores(scores, card)
        self.reader = BlockReader(self.scores)
        notes: list[Message] = []
        if card.galleries is not None:
            notes.append(Message("one-gallery", column=card.galleries.column))
        if automatic and not are_pairs(self.scores) and whole is None:
            from bioeval.tasks.reid.convention import column_warnings

            notes += column_warnings(self.scores)
        if whole is not None:
            self.reader.about = whole.of_part(self.scores)
        elif notes:
            about = self.reader.about
            self.reader.about = replace(about, notes=(*about.notes, *notes))
        thresholds = options.thresholds
        if thresholds is None:
            thresholds = check_thresholds(card.curve.requested())
        far_targets: Any = options.far_targets
        if far_targets is None:
            far_targets = card.report.far_targets
        self.far_targets = check_targets(far_targets)
        frr_targets: Any = options.frr_targets
        if frr_targets is None:
            frr_targets = card.report.frr_targets or ()
        self.frr_targets = check_targets(frr_targets)
        self.costs = check_costs([(prior, 1.0, 1.0) for prior in card.report.priors])
        self._add_tasks(card, thresholds)

    @classmethod
    def counted(
        cls,
        scores: Scores,
        card: Protocol,
        options: EvaluationOptions,
        *,
        automatic: bool,
        whole: Provenance | None = None,
        curves: bool = True,
    ) -> tuple[Plan, dict[str, TaskCounts]]:
        """Return the plan of a card, and the counts of all tasks with their operating points."""
        limits = options.interval
        if card.verification is not None:  # its operating points may take another look
            scores = scores._held()
        plan = cls(scores, card, options, automatic=automatic, whole=whole)
        if limits is not None and limits.by_subject:
            from bioeval.attempts.by_subject import SubjectAttempts

            SubjectAttempts.require_people(scores, limits.method)
        counted = plan.count()
        with threads_for(scores):
            plan.refine(counted, curves=curves)
        return plan, counted

    def _add_tasks(self, card: Protocol, thresholds: np.ndarray | int | None) -> None:
        """Plan the tasks of verification and identification of a card."""
        self.tasks: dict[str, TaskPlan] = {}
        planner = TaskPlanner(self.reader, thresholds, self.far_targets)
        drawn = card.claims
        claims = None
        if drawn is not None:
            from bioeval.partition.claims import ClaimSampler

            claims = ClaimSampler(drawn.per_probe, drawn.genuine, drawn.seed)
        if card.verification is not None and self._has("verification"):
            for templates in card.verification.templates:
                if self.automatic and templates == "multi" and not self.scores._labelled:
                    continue  # a mask alone does not say which templates belong together
                counter = VerificationCounter(
                    self.reader,
                    templates=templates,
                    fusion=card.verification.fusion,
                    thresholds=thresholds,
                    claims=claims,
                )
                self.tasks[f"verification/{templates}"] = TaskPlan(counter, {})
        for name, task in (("open_set", card.open_set), ("closed_set", card.closed_set)):
            if task is not None and self._has(name):
                section = f"{card.name}: [{name}]"
                task = self.options.with_last_rank(task, self.scores.shape[-1], section)
                self.tasks[name] = planner.identification(task)

    def _has(self, task: str) -> bool:
        """Whether a task of the card is evaluated."""
        if not self.automatic:
            return True
        if task == "verification":
            return self.scores.kind != "order"
        if self.scores.kind == "order" and task != "closed_set":
            return False  # only ranks within a row have a meaning
        return self.scores._derives_subjects

    def count(self) -> dict[str, TaskCounts]:
        """Return the counts of all tasks by node; those of the same scores are made together."""
        distinct = list(dict.fromkeys(task.counter for task in self.tasks.values()))
        results: dict[Counter[Any], Any] = {}
        wanted = self.wanted()
        if self._rare:
            wanted = replace(wanted, targets=np.union1d(wanted.targets, RARE_TARGETS))
        for reader in dict.fromkeys(counter.reader for counter in distinct):
            counters = [counter for counter in distinct if counter.reader is reader]
            results |= zip(counters, count_together(reader, counters, wanted), strict=True)
        counts = {}
        for node, (counter, task_options) in self.tasks.items():
            counts[node] = TaskCounts(results[counter], task_options)
        for node, search in self.searches.items():
            counts[node] = TaskCounts(search.counting(), search.options)
        return counts

    @stage("finding operating points")
    def refine(self, counted: dict[str, TaskCounts], *, curves: bool = True) -> None:
        """Find the operating points of verification; they are rows of `curves`.

        With extra thresholds, those and the points of all tasks are rows of each.
        """
        reader, extra = self.reader, self.options.extra_thresholds
        both_ways = bool(self.tasks) and is_symmetric(reader.scores)
        rows = to_internal(extra, reader.scores.kind) if extra is not None else None
        for node in self.verifications:
            tally: Any = counted[node].tally
            symmetric = both_ways and tally.templates == "single"
            targets = self.far_targets
            if self._rare:
                targets = with_rare_targets(
                    targets, tally.impostor_attempts / (2 if symmetric else 1)
                )
            tally.points = points_of(
                tally.attempts,
                replace(self.wanted(), targets=targets),
                symmetric=symmetric,
                with_rows=curves and (not tally.given or rows is not None),
            )
        if rows is None:
            return
        tallies: list[Any] = [counted[node].tally for node in self.verifications]
        points = [rows, *(tally.points.rows for tally in tallies)]
        searches = counted.get("open_set")
        if searches is not None and isinstance(searches.tally, IdentificationTally):
            from bioeval.results.identification import open_set_rows

            points.append(open_set_rows(searches.tally, searches.options))
            rows = np.unique(np.concatenate(points))
            counted["open_set"] = replace(searches, options={**searches.options, "rows": rows})
        rows = np.unique(np.concatenate(points))
        counters = list(self.verifications.values())
        accepted = at_thresholds(reader, counters, tallies, rows)
        for tally, reached in zip(tallies, accepted, strict=True):
            tally.points.add_rows(rows, reached)

    def wanted(self) -> PointsWanted:
        """Return the operating points of verification that are wanted."""
        return PointsWanted(
            self.far_targets,
            self.costs,
            self.options.auc,
            frr_targets=self.frr_targets,
            optima=best_values(),
        )

    @property
    def verifications(self) -> dict[str, VerificationCounter]:
        """The counters of verification, by node."""
        counters = {node: task.counter for node, task in self.tasks.items()}
        return {k: x for k, x in counters.items() if isinstance(x, VerificationCounter)}

    def counted_by(self, node: str) -> Any:
        """Return the counter of a task; None of a study, whose tally knows all."""
        return self.tasks[node].counter if node in self.tasks else None

    @property
    def _rare(self) -> bool:
        """Whether verification reports rare FAR targets that the data can support."""
        return self.automatic and self.options.far_targets is None


def check_systems(scores: Mapping[str, Scores]) -> None:
    """Raise :class:`DataError` unless there are systems with names that may be nodes of a tree."""
    if not scores:
        raise DataError("no systems are given; expected a mapping of name to Scores")
    for name in scores:
        if not isinstance(name, str) or not name or "/" in name:
            raise DataError(f"the system's name is {name!r}; expected a word without '/'")


def resolve_card(scores: Scores, protocol: str | Protocol) -> Protocol:
    """Return the card of a protocol, or raise if it does not take scores of this layout.

    This is the only place that decides which layouts a card takes: for every function and every
    command.
    """
    require_scores(scores)
    card = for_layout(scores.layout, protocol)
    if protocol == "auto" and scores._claims:
        card = of_claims(card)
    if isinstance(scores, TopKScores):
        if set(card.tasks) != {"reid"} or card.has_folds or card.galleries or card.exclude:
            scores._require_matrix()
        return card
    scores._require_matrix()
    if scores.layout not in card.layouts:
        usual = for_layout(scores.layout, "course-kfold" if card.has_folds else "auto")
        raise ProtocolError(
            f"protocol {card.name} is for the layout {' or '.join(card.layouts)}, but these scores "
            f"are {scores.layout}; use {usual.name}, or a card of this layout"
        )
    return card


def galleries_of(scores: Scores, card: Protocol) -> dict[str, Scores] | None:
    """Return the galleries that a card evaluates separately, by name; None if there is one."""
    if card.galleries is None or card.galleries.column not in scores.gallery_meta:
        return None
    column = scores.gallery_meta[card.galleries.column]
    codes = Codes(column, column, "galleries")
    unknown = missing_values(codes.values)
    names = ["" if unknown[i] else str(x) for i, x in enumerate(codes.values.tolist())]
    if len(names) < 2:
        return None
    wrong = [name for name in names if not name or "/" in name or name == MEAN]
    if wrong or len(set(names)) < len(names):
        bad = (wrong or names)[0]
        raise DataError(
            f"the gallery metadata {card.galleries.column!r} name a gallery {bad!r}; expected "
            f"different words without '/', other than {MEAN!r}"
        )
    galleries = {}
    for code, name in enumerate(names):
        galleries[name] = scores.select(gallery=np.flatnonzero(codes.gallery == code))
    return galleries


def _searches_only(card: Protocol) -> bool:
    """Whether a card has tasks of studies alone, such as re-identification and GOM."""
    return _CORE_TASKS.isdisjoint(card.tasks)


def compared(scores: Scores, protocol: str | Protocol) -> Scores:
    """Return the scores without the comparisons that any part of a protocol leaves out."""
    card = resolve_card(scores, protocol)
    return compared_scores(kept_by_studies(scores, card), card)


def kept_by_studies(scores: Scores, card: Protocol) -> Scores:
    """Return the scores without the comparisons that tasks of studies in a card leave out."""
    if _CORE_TASKS.issuperset(card.tasks):
        return scores
    from bioeval.tasks.reid import tasks as reid

    return reid.compared(with_exclusions(scores, card), card)


def compared_scores(scores: Scores, card: Protocol) -> Scores:
    """Return the scores without the comparisons that the card and its verification leave out."""
    scores = with_exclusions(scores, card)
    if card.verification is None:
        return scores
    return with_pairs(scores, card.verification.pairs)
