"""The old tally with its scores, and what a change of rows and columns has in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.base.errors import DataError, MergeError, ProtocolError
from bioeval.evaluation.incremental.probe_facts import (
    around_old_mates,
    mates_of,
    of_rows,
    untouched,
    with_rows,
)
from bioeval.evaluation.incremental.regions import Maker, Region, fuses, jobs_of, ranks, verifies
from bioeval.evaluation.plan import compared_scores
from bioeval.evaluation.protocol_tally import Tally
from bioeval.evaluation.tally import refine_tally
from bioeval.evaluation.task_counts import Counts, TaskCounts
from bioeval.protocol import load
from bioeval.protocol.card import Protocol
from bioeval.scores.about import describe
from bioeval.scores.matrix import Scores
from bioeval.scores.template_digests import CountedProbes, DigestKey
from bioeval.tallies.counts import IdentificationTally, VerificationTally
from bioeval.tallies.shared_mates import SharedMates, SharedRanksJob
from bioeval.tallies.sweep import run_jobs


class Counted:
    """The old tally, the scores, and counts of regions of them."""

    def __init__(
        self,
        counted: Tally,
        scores: Scores,
        protocol: str | Protocol | None,
        site: str,
        key: str | bytes | None,
    ):
        if not isinstance(counted, Tally):
            raise DataError(f"counted is {type(counted).__name__}; expected a Tally")
        if counted.part is not None or counted.shared is not None or counted.counted is None:
            raise MergeError(
                "a tally of a gallery in parts, one that was shared, or one of layout 1 cannot be "
                "changed; count its scores again"
            )
        scores.require_matrix()
        self.old, self.site, self.key = counted, site, DigestKey.parse(key)
        card = load(counted.protocol if protocol is None else protocol)
        if card.name != counted.protocol:
            raise MergeError(f"the tally is of protocol {counted.protocol}, not of {card.name}")
        if scores.enrolment_times is not None:
            raise ProtocolError("a gallery over time has its times: count it from the beginning")
        self.given, self.scores = scores, compared_scores(scores, card)
        about = next(iter(counted.parts.values())).tally.about
        self.sizes = about.probes, about.gallery_templates
        self.cells = 0

    def require_counted(self, rows: np.ndarray, columns: np.ndarray) -> None:
        """Raise :class:`MergeError` unless the tally is of these rows and columns."""
        part, known = self.given.select(rows, columns), self.old.counted
        assert known is not None
        # The positions of probes follow the columns that there were.
        first = None if self.given.from_square else len(columns)
        found = [CountedProbes.of(part, self.key, self.site)]
        if first is not None:
            found.append(CountedProbes.of(part, self.key, self.site, first=first))
        if any(known.same(x) for x in found):
            return
        raise MergeError(
            "the tally is not of the first probes and templates of these scores, by their labels, "
            "metadata, positions, site and key"
        )

    def count(self, region: Region, jobs: Sequence[Maker]) -> list[Any]:
        """Return the tallies of some jobs over a region."""
        self.cells += len(region.rows) * len(region.columns)
        made = [make(region) for make in jobs]
        return run_jobs(region.part, region.reader, made)

    def count_all(self, region: Region, jobs: dict[int, Maker]) -> dict[int, Any]:
        """Return the tallies of a region by the identity of the old ones, from one sweep."""
        if region.empty or not jobs:
            return {}
        found = self.count(region, list(jobs.values()))
        return dict(zip(jobs, found, strict=True))

    @cached_property
    def tallies(self) -> list[Any]:
        """The old tallies, each once; others than can be changed are refused."""
        for node, part in self.old.parts.items():
            require_changeable(node, part.tally)
        return list({id(part.tally): part.tally for part in self.old.parts.values()}.values())

    def region(self, rows: np.ndarray, columns: np.ndarray) -> Region:
        """Return a region of the scores."""
        return Region(self.scores, rows, columns)

    def subjects_of(self, columns: np.ndarray) -> np.ndarray:
        """Return the subjects of columns."""
        return np.unique(self.scores.codes.gallery[columns])

    def among(self, columns: np.ndarray, subjects: np.ndarray) -> np.ndarray:
        """Return those of some columns that are of subjects."""
        return columns[np.isin(self.scores.codes.gallery[columns], subjects)]


class Change:
    """Rows and columns that come or go, beside those that stay.

    Attributes
    ----------
    kept : int64 array
        The rows of the old tally that stay.
    rows, columns : int64 arrays
        Those of the new tally.
    """

    rows: np.ndarray
    columns: np.ndarray

    def __init__(self, job: Counted, kept: np.ndarray, staying: np.ndarray, moved: np.ndarray):
        self.job, self.kept = job, kept
        self.subjects = job.subjects_of(moved)
        #: Those of the subjects that have other templates as well, which stay.
        self.touched = np.intersect1d(self.subjects, job.subjects_of(staying))
        self.beside = job.region(kept, moved)
        self.found_beside = job.count_all(
            self.beside, {id(x): jobs_of(x) for x in job.tallies if not self.whole_subjects(x)}
        )

    def verification(self, tally: VerificationTally) -> VerificationTally:
        """Return the changed counts of verification."""
        raise NotImplementedError

    def identification(self, tally: IdentificationTally) -> IdentificationTally:
        """Return the changed facts of identification."""
        raise NotImplementedError

    def whole_subjects(self, tally: Counts) -> bool:
        """Return whether subjects, whose templates a task fuses, have other templates then."""
        return bool(len(self.touched)) and fuses(tally)

    def around(
        self, tally: IdentificationTally, kept: IdentificationTally, *, grows: bool
    ) -> IdentificationTally:
        """Return the facts of the rows that stay against the columns beside, around their mates.

        `kept` are their facts in `tally`. The candidates of most rows are all behind the mate.
        """
        found = self.found_beside[id(tally)]
        near = np.flatnonzero(~untouched(kept, found))
        found = around_old_mates(kept, found)
        if not len(near):
            return found
        make, mates = ranks(tally), SharedMates(mates_of(of_rows(kept, near)), 1)
        part = self.job.region(self.kept[near], self.beside.columns)
        (swept,) = self.job.count(part, [lambda x: SharedRanksJob(make(x), mates, grows=grows)])
        return with_rows(found, near, swept)

    def recount(self, tally: VerificationTally) -> VerificationTally:
        """Return verification counted from the beginning."""
        return self.job.count(self.job.region(self.rows, self.columns), [verifies(tally)])[0]

    def changed(self, points: bool) -> Tally:
        """Return the tally after a change of its rows and columns.

        Operating points follow from no counts: they take a look at all scores.
        """
        job = self.job
        target = job.region(self.rows, self.columns)
        given = job.given.select(self.rows, self.columns)
        about = replace(describe(target.part, job.key.names), sites=(job.site,))
        made: dict[int, Counts] = {}
        parts = {}
        for node, part in job.old.parts.items():
            number = id(part.tally)
            if number not in made:
                tally: Any = part.tally
                if isinstance(tally, VerificationTally):
                    made[number] = replace(self.verification(tally), about=about)
                else:
                    made[number] = replace(self.identification(tally), about=about)
            parts[node] = TaskCounts(made[number], part.options)
        digests = CountedProbes.of(given, job.key, job.site)
        found = Tally(job.old.protocol, parts, job.old.far_targets, job.old.ranks, digests)
        if points:
            found = refine_tally(found, target.part)
        found.cells = job.cells
        return found


def require_changeable(node: str, tally: Counts) -> None:
    """Raise :class:`ProtocolError` where counts do not follow from those of regions."""
    if isinstance(tally, VerificationTally):
        if tally.claims != "all" or tally.attempts or tally.requested is not None:
            raise ProtocolError(
                f"{node} has drawn claims, transactions, or a number of thresholds that follow all "
                "scores; count it from the beginning"
            )
    elif not isinstance(tally, IdentificationTally):
        raise ProtocolError(
            f"{node} cannot be changed: it has no facts of single probes, or those of all matches; "
            "count it from the beginning, or new probes apart and merge"
        )


def added(whole: VerificationTally, part: VerificationTally) -> VerificationTally:
    """Return the attempts of both, of the same data."""
    about = replace(part.about, gallery=whole.about.gallery)
    about = replace(about, gallery_templates=whole.about.gallery_templates)
    same = ("layout", "sites", "exclude")
    about = replace(about, **{name: getattr(whole.about, name) for name in same})
    return whole.merge(replace(part, about=about))
