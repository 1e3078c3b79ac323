"""Walks the rows of some scores under every task of a protocol."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import Argument, DataError, ProtocolError, nearest_name
from bioeval.base.kinds import larger_is_closer
from bioeval.evaluation.chosen_threshold import chosen_threshold, rule_of
from bioeval.evaluation.plan import EvaluationOptions, Plan, resolve_card
from bioeval.evaluation.walk.cells import RowCells, template_names
from bioeval.evaluation.walk.identification_walk import SearchedRow, walk_closed_set, walk_open_set
from bioeval.evaluation.walk.reid_walk import QueryRow, walk_reid
from bioeval.evaluation.walk.threshold import Threshold
from bioeval.evaluation.walk.verification_walk import walk_verification
from bioeval.protocol import for_layout
from bioeval.protocol.card import Protocol
from bioeval.results.open_set import open_set_scalars
from bioeval.results.row_walk import TITLES, TaskWalk
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import PairScores, Scores
from bioeval.tallies.identification_job import IdentificationJob
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.thresholds import to_user
from bioeval.tallies.verification_job import VerificationJob


class Walker:
    """Walks the rows of some scores under a protocol."""

    def __init__(
        self, scores: Scores, protocol: str | Protocol, threshold: Any = None, *, claim: Any = None
    ):
        BlockReader(scores)  # which says what is not Scores
        _require_rows(scores)
        self.card = resolve_card(scores, protocol)
        _require_explainable(self.card)
        self.ordered = scores.kind == "order"
        if self.ordered and threshold is not None:
            raise ProtocolError(
                f"{Argument('threshold')} is given, but these scores are only the order within "
                "each row, which has no threshold across rows; leave it out to see what each "
                "comparison adds if it is accepted, and what if not"
            )
        self.given = scores
        if self.ordered:  # within one row, an order is a distance
            scores = scores.select()
            scores.kind = "distance"
        self.plan = Plan(scores, self.card, EvaluationOptions(), automatic=protocol == "auto")
        self.scores = self.plan.scores
        self.cells = RowCells(self.plan.reader, scores, self.card)
        self.names = template_names(self.scores.probe_meta, self.scores.shape[0])
        self.claim = claim
        self.jobs = {node: task.job for node, task in self.plan.tasks.items()}
        if claim is not None:
            self._require_verification()
        self.threshold, self.chosen = self._threshold(threshold)

    def row_of(self, probe: int | str) -> int:
        """Return the position of a probe, given by position or by name."""
        m = self.scores.shape[0]
        if not isinstance(probe, str):
            i = require_integer("probe", probe, low=0)
        elif probe in self.names:
            if self.names.count(probe) > 1:
                raise DataError(
                    f"{Argument('probe')} is {probe!r}, the name of {self.names.count(probe)} "
                    "templates; give a position"
                )
            return self.names.index(probe)
        elif probe.isdecimal() and len(probe) < 19:
            i = int(probe)
        else:
            raise DataError(
                f"{Argument('probe')} is {probe!r}; expected a position from 0 to {m - 1}, or the "
                f"name of a template.{nearest_name(probe, self.names[:10_000])}"
            )
        if i >= m:
            raise DataError(
                f"{Argument('probe')} is {i}; expected a position from 0 to {m - 1}: there are "
                f"{m} probes"
            )
        return i

    def row(self, i: int) -> dict[str, Any]:
        """Return the fields of the :class:`RowWalk` of row `i`."""
        scores, threshold = self.scores, Threshold(self.threshold, self.scores.kind)
        tasks: list[TaskWalk] = []
        notes: list[str] = []
        for node, (job, options) in self.plan.tasks.items():
            if isinstance(job, VerificationJob):
                job = self._claiming(job, i)
                tasks.append(walk_verification(self.cells, i, job, threshold, self._ties()))
            elif not isinstance(job, IdentificationJob):
                notes.append(
                    f"{TITLES[node]} is not explained: its counts are means over galleries of one "
                    "template a subject"
                )
            elif self.claim is None:
                search = SearchedRow(self.cells, i, job, options, threshold)
                found = walk_open_set(search) if node == "open_set" else [walk_closed_set(search)]
                tasks += found
        if self.claim is None and self.plan.retrieval is not None:
            query = RowCells(BlockReader(self.plan.retrieval.scores), self.given, self.card)
            tasks += walk_reid(QueryRow(query, i, self.plan.retrieval.lists))
        if self.plan.gom is not None:
            notes.append("GOM is not explained row by row; be.gom(per_query=True) has its values")
        named = self.names[i] if self.names[i] != str(i) else ""
        return dict(
            probe=i,
            name=named,
            subject=str(scores.probe_labels[i]) if scores.labelled else "",
            probes=scores.shape[0],
            layout=scores.layout,
            kind=self.given.kind,
            protocol=self.card.name,
            system=self.given.name or "",
            threshold=None if self.threshold is None else to_user(self.threshold, scores.kind),
            threshold_is=self.chosen,
            tasks=tuple(tasks),
            notes=tuple(notes),
        )

    def _ties(self) -> str:
        """Return the order of tied entries where it changes no count: that of identification."""
        rules = [task.options.get("ties") for task in self.plan.tasks.values()]
        return next(filter(None, rules), "pessimistic")

    def _claiming(self, job: VerificationJob, i: int) -> VerificationJob:
        """Return the job of the one claim of row `i`, if one is given."""
        if self.claim is None:
            return job
        claims = np.array([i]), [self.claim]
        return VerificationJob(
            self.scores, self.plan.reader, templates=job.templates, fusion=job.fusion, claims=claims
        )

    def _require_verification(self) -> None:
        if not any(isinstance(job, VerificationJob) for job in self.jobs.values()):
            raise ProtocolError(
                f"{Argument('claim')} is of verification, which protocol {self.card.name} has not"
            )
        known = {str(label): label for label in self.scores.codes.values.tolist()}
        if self.scores.labelled and isinstance(self.claim, str):
            self.claim = known.get(self.claim, self.claim)

    def _threshold(self, threshold: Any) -> tuple[float | None, str]:
        """Return the threshold as a distance, None for none, and where it comes from."""
        if self.ordered:
            return None, "none: the scores are only the order within each row"
        rule = rule_of("eer" if threshold is None else threshold)
        if rule.name == "fixed":
            return rule.as_distance(self.scores.kind).values[0], "as given"
        verification = [job for job in self.jobs.values() if isinstance(job, VerificationJob)]
        if verification:
            job = verification[0]
            try:
                found = chosen_threshold(
                    self.plan.reader, rule, templates=job.templates, fusion=job.fusion
                )
            except ProtocolError:
                if threshold is not None:
                    raise
                return None, "none: there are no genuine, or no impostor attempts to choose it on"
            return (
                found,
                f"where {job.templates}-template verification has {rule.words}, on these data",
            )
        search = self.plan.tasks.get("open_set")
        if search is not None and isinstance(search.job, IdentificationJob):
            return self._of_open_set(search.job, search.options, rule.name)
        if threshold is not None:
            raise ProtocolError(
                f"protocol {self.card.name} has no task with a threshold; leave out "
                f"{Argument('threshold')}"
            )
        return None, ""

    def _of_open_set(
        self, job: IdentificationJob, options: dict[str, Any], rule: str
    ) -> tuple[float | None, str]:
        """Return the EER threshold of open-set identification, as a distance."""
        if rule != "eer":
            raise ProtocolError(
                f"protocol {self.card.name} has no verification, on which a rule chooses; give "
                f"{Argument('threshold')} as a number, or eer"
            )
        (tally,) = run_jobs(self.scores, self.plan.reader, [job])
        curves = ("thresholds", "max_rank")
        given = {k: v for k, v in options.items() if k not in curves}
        scalars = open_set_scalars(tally, **given).variables
        if math.isnan(float(scalars["eer"][1])):
            return None, "none: there are no genuine, or no impostor attempts to choose it on"
        found = float(scalars["eer_threshold"][1])
        sign = -1 if larger_is_closer(self.scores.kind) else 1
        return sign * found, "where open-set identification has the equal error rate, on these data"


def _require_rows(scores: Scores) -> None:
    """Raise :class:`ProtocolError` where scores have no rows."""
    if isinstance(scores, PairScores):
        raise ProtocolError(
            "a list of pairs has no rows to explain: each pair is one attempt, accepted or not"
        )


def _require_explainable(card: Protocol) -> None:
    """Raise :class:`ProtocolError` where the rates of a card are not sums over rows."""
    why = ""
    if card.has_folds:
        usual = for_layout(card.layout).name
        why = (
            "has folds, each with a threshold and templates of its own; explain the row under "
            f"{usual}, with {Argument('threshold')} as a number"
        )
    elif card.verification is not None and card.verification.attempts is not None:
        why = "joins several probes to one attempt (verification.attempts), which has no row"
    if why:
        raise ProtocolError(f"protocol {card.name} {why}")
