"""The tasks of a card over some scores: what is counted in one pass, and with which options.

``CardTasks(scores, card, options)`` checks all tasks of a card before anything is counted, and
``count()`` counts them. Its result is by node of the tree of results::

    {"verification/single": VerificationTask, "open_set": SearchCounted, "reid": ReidCounts, ...}

Verification and searches share one pass over the scores. Re-identification and GOM have other
gallery entries removed, and take passes of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from bioeval.base.errors import Message, ProtocolError
from bioeval.base.progress import stage
from bioeval.counting.searches import Searching, check_max_rank
from bioeval.counting.searches_without import LeftOut
from bioeval.counting.threshold_rules import PointsWanted
from bioeval.counting.thresholds import (
    RARE_TARGETS,
    check_costs,
    require_values,
    to_internal,
    with_rare_targets,
)
from bioeval.counting.verification import (
    Use,
    Verified,
    Verifying,
    count,
    count_searches,
    to_verify,
)
from bioeval.protocol.card import Protocol
from bioeval.protocol.pairs import with_exclusions
from bioeval.protocol.tasks import ClosedSet, OpenSet, RankUnit, Verification
from bioeval.results.open_set import open_set_distances
from bioeval.results.variables import RANKS, best_values
from bioeval.scores.matrix import Scores
from bioeval.scores.people import has_subjects, knows_people, require_people
from bioeval.scores.provenance import Provenance, camera_notes
from bioeval.scores.sampled import is_symmetric
from bioeval.tasks.card_scores import compared, galleries_of
from bioeval.tasks.identification import SearchCounted
from bioeval.tasks.options import EvaluationOptions
from bioeval.tasks.reid.measures import ReidCounts
from bioeval.tasks.reid.reid import plan_retrieval
from bioeval.tasks.single_template_counts import SingleTemplateCounted
from bioeval.tasks.verification_task import VerificationTask

#: The counts of a task, with methods `scalars`, `dataset` and `with_intervals`.
CountedTask = VerificationTask | SearchCounted | SingleTemplateCounted | ReidCounts


class CardTasks:
    """The tasks of a card over some scores.

    Tasks that the scores cannot support are left out if the card was chosen by the layout of the
    scores (`automatic`), and an error otherwise.
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
        """Check the tasks of the card.

        `whole` is the provenance of the scores of which these are a part, or None.
        """
        options.refuse_unused(card)
        if galleries_of(scores, card) is not None:
            raise ProtocolError(
                f"protocol {card.name} averages over several galleries; use be.evaluate, or "
                "select one: scores.select(gallery=...)"
            )
        if card.verification is not None:  # its operating points may take another pass
            scores = scores.loaded()
        #: The functions that count re-identification and GOM.
        self.retrieval: dict[str, Callable[[], CountedTask]] = {}
        if card.reid is not None or card.gom is not None:
            scores = with_exclusions(scores, card)
            for section in ("reid", "gom"):
                if getattr(card, section) is not None:
                    self.retrieval[section] = plan_retrieval(section, scores, card, options)
        if not card.only_retrieval:
            scores = compared(scores, card)
        self.card = card
        self.scores = scores
        self.options = options
        self.automatic = automatic
        self.about = self._provenance() if whole is None else whole.of_part(scores)
        self.curve = options.curve(card)
        self.far_targets, self._frr_targets = options.targets(card.report)
        #: Whether verification reports rare FAR targets that the data can support.
        self.rare = automatic and options.far_targets is None
        #: The operating points of verification that may be wanted.
        self.wanted = self._points_wanted()
        self.verifying: dict[str, Verifying] = {}
        if card.verification is not None and self._supports("verification"):
            self.verifying = self._to_verify(card.verification)
        self.searching: dict[str, OpenSet | ClosedSet] = {}
        for name, task in (("open_set", card.open_set), ("closed_set", card.closed_set)):
            if task is not None and self._supports(name):
                self.searching[name] = self._search_task(name, task)

    def _provenance(self) -> Provenance:
        """Return the provenance of the scores, with notes on the card."""
        about = Provenance.from_scores(self.scores)
        notes: list[Message] = []
        if self.card.galleries is not None:
            notes.append(Message("one-gallery", column=self.card.galleries.column))
        if self.automatic and self.scores.layout != "pairs":
            notes += camera_notes(self.scores)
        return replace(about, notes=(*about.notes, *notes)) if notes else about

    def _points_wanted(self) -> PointsWanted:
        report = self.card.report
        targets = self.far_targets
        if self.rare:  # how many of them the data support is known when attempts are counted
            targets = np.union1d(targets, RARE_TARGETS)
        costs = check_costs([(prior, 1.0, 1.0) for prior in report.priors])
        return PointsWanted(
            targets,
            costs,
            self.options.auc,
            frr_targets=self._frr_targets,
            optima=best_values(),
        )

    def _to_verify(self, section: Verification) -> dict[str, Verifying]:
        """Return verification by single templates, by all templates of a subject, or both."""
        scores = self.scores
        claims = None
        sampling = self.card.claims
        if sampling is not None:
            from bioeval.partition.claims import ClaimSampler

            claims = ClaimSampler(sampling.per_probe, sampling.genuine, sampling.seed)
        may_fuse = scores.layout != "pairs" and knows_people(scores)
        tasks = {}
        for templates in section.templates:
            if self.automatic and templates == "multi" and not may_fuse:
                continue  # a mask alone does not say which templates belong together
            name: str = templates
            if templates == "single" and scores.claim_attempts.name:
                name = scores.claim_attempts.name
            tasks[f"verification/{name}"] = to_verify(
                scores,
                Use(templates, section.fusion),
                wanted=self.wanted,
                thresholds=self.curve,
                claims=claims,
                about=self.about,
            )
        return tasks

    def _search_task(self, name: str, task: OpenSet | ClosedSet) -> OpenSet | ClosedSet:
        """Return a section of the card with the options in place of its values."""
        scores, options = self.scores, self.options
        if options.max_rank is None:
            section = f"protocol {self.card.name}: [{name}] max_rank"
            check_max_rank(task.max_rank, scores.shape[-1], section)
        else:
            check_max_rank(options.max_rank, scores.shape[-1])
            task = replace(task, max_rank=options.max_rank)
        if isinstance(task, OpenSet):
            require_values(scores, "open-set identification")
            if options.impostors is not None and task.impostors == "auto":
                task = replace(task, impostors=options.impostors)
        return task.of_kind(scores.kind)

    def _supports(self, task: str) -> bool:
        """Whether to do a task: one of a card that was named is done, or is an error."""
        if not self.automatic:
            return True
        if task == "verification":
            return self.scores.kind != "order"
        if self.scores.kind == "order" and task != "closed_set":
            return False  # only ranks within a row have a meaning
        return has_subjects(self.scores)

    def count(self, *, curves: bool = True) -> dict[str, CountedTask]:
        """Return the counts of each task by node; one pass counts all but [reid] and [gom].

        With `curves`, the operating points of verification are among the thresholds of its curve.
        """
        interval_method = self.options.interval
        if interval_method is not None and interval_method.by_subject:
            require_people(self.scores, method=interval_method.method)
        # Open and closed set share searches, and those without each subject, if both rank alike.
        searching: dict[tuple[RankUnit, str], Searching] = {}
        left_out: dict[tuple[RankUnit, str], dict[str, LeftOut]] = {}
        for task in self.searching.values():
            if task.gallery == "all":
                key = task.rank_unit, task.fusion
                searching.setdefault(key, Searching(self.scores, task, self.about))
        verified, searches = count_searches(self.scores, [*self.verifying.values()], searching)
        counted: dict[str, CountedTask] = {}
        for node, task in self.searching.items():
            if task.gallery == "single":
                counted[node] = SingleTemplateCounted.from_scores(
                    self.scores, task, self.far_targets, self.curve
                )
                continue
            key = task.rank_unit, task.fusion
            counted[node] = SearchCounted(
                self.scores,
                searches[key],
                task,
                left_out.setdefault(key, {}),
                self.far_targets,
                self.curve,
                last_rank=max(self.card.report.ranks, default=RANKS[-1]),
            )
        for node, counting in self.retrieval.items():
            counted[node] = counting()
        with stage("finding operating points"):
            verifications = self._with_points(verified, curves=curves)
            if self.options.extra_thresholds is not None:
                verifications, counted = self._with_thresholds(
                    verifications, counted, self.options.extra_thresholds
                )
        return {**verifications, **counted}

    def _with_points(
        self, verified: Sequence[Verified], *, curves: bool
    ) -> dict[str, VerificationTask]:
        """Return the verifications with their operating points."""
        both_ways = bool(verified) and is_symmetric(self.scores)
        tasks = {}
        for node, verification in zip(self.verifying, verified, strict=True):
            symmetric = both_ways and verification.use.fused is None
            targets = self.far_targets
            if self.rare:
                attempts = verification.attempts.impostor_attempts / (2 if symmetric else 1)
                targets = with_rare_targets(targets, attempts)
            has_default_curve = verification.requested_thresholds is None
            is_extended = self.options.extra_thresholds is not None
            points = verification.find_points(
                replace(self.wanted, targets=targets),
                symmetric=symmetric,
                with_thresholds=curves and (has_default_curve or is_extended),
            )
            tasks[node] = VerificationTask(verification, points)
        return tasks

    def _with_thresholds(
        self,
        verifications: dict[str, VerificationTask],
        counted: dict[str, CountedTask],
        extra_thresholds: np.ndarray,
    ) -> tuple[dict[str, VerificationTask], dict[str, CountedTask]]:
        """Return tasks with the extra thresholds, and the points of all tasks, on every curve."""
        added = [to_internal(extra_thresholds, self.scores.kind)]
        added += [task.points.extra_thresholds for task in verifications.values()]
        searches = counted.get("open_set")
        if isinstance(searches, SearchCounted):
            task = searches.task
            assert isinstance(task, OpenSet)
            added.append(
                open_set_distances(searches.searches, task.ties, task.impostors, self.far_targets)
            )
            extra_distances = np.unique(np.concatenate(added))
            counted = {**counted, "open_set": replace(searches, extra_distances=extra_distances)}
        distances = np.unique(np.concatenate(added))
        distances = distances[np.isfinite(distances)]

        recounts = [task.verified for task in verifications.values()]
        if any(not verified.attempts.listed for verified in recounts):
            # Attempts too many to be listed are counted in another pass. Its thresholds are in the
            # units of the user, increasing: to_internal is its own inverse.
            thresholds = to_internal(distances, self.scores.kind)
            asked = [to_verify(self.scores, x.use, thresholds=thresholds) for x in recounts]
            recounts, _ = count(self.scores, asked)
        extended = {}
        for (node, verification), recounted in zip(verifications.items(), recounts, strict=True):
            points = replace(
                verification.points,
                extra_thresholds=distances,
                extra_accepted=recounted.attempts.false_accepts(distances),
            )
            extended[node] = replace(verification, points=points)
        return extended, counted
