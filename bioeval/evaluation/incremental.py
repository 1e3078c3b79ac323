"""Tallies of data that grow and shrink: what is new is compared, what is withdrawn subtracted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.base.errors import Argument, DataError, MergeError, ProtocolError
from bioeval.evaluation.plan import compared_scores
from bioeval.evaluation.protocol_tally import Tally
from bioeval.evaluation.tally import about_of_site
from bioeval.evaluation.task_counts import Counts, TaskCounts
from bioeval.protocol import load
from bioeval.protocol.card import Protocol
from bioeval.scores.about import describe
from bioeval.scores.arrays import as_index
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import Scores
from bioeval.scores.template_digests import CountedProbes, DigestKey
from bioeval.tallies.counts import IdentificationTally, VerificationTally
from bioeval.tallies.identification_job import IdentificationJob
from bioeval.tallies.shared_mates import MateLists, SharedMates, SharedRanksJob
from bioeval.tallies.subtraction import grid_is_sure, subtracted
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.thresholds import to_user
from bioeval.tallies.unions import facts_of_union
from bioeval.tallies.verification_job import VerificationJob

FACTS = ("enrolled", "mate", "closer", "tied", "tied_before", "mates_tied", "mates", "other",
         "others", "nearest_mate", "nearest_other")  # fmt: skip


def extend_tally(
    counted: Tally,
    scores: Scores,
    *,
    protocol: str | Protocol | None = None,
    site: str = "",
    key: str | bytes | None = None,
) -> Tally:
    """Add new probes and templates to a tally, by comparing only what is new.

    Parameters
    ----------
    counted : Tally
        Of the first probes and the first templates of `scores`.
    scores : Scores
        The scores of old and new templates, new rows and columns behind the old ones. Of the old
        rows and columns only the cells that are needed are read.
    protocol : str or Protocol, optional
        The card of the tally, if it is none of those shipped.
    site, key
        As they were given to :func:`tally`.

    Returns
    -------
    Tally
        The counts are those of ``be.tally(scores)``, to the last bit. `cells` is the number of
        cells that were compared. Points and kept scores are left out (:func:`refine_tally`).

    Raises
    ------
    MergeError
        If the tally is not of the first templates, by their labels, metadata and positions.
    ProtocolError
        If a task cannot be extended: see the notes.

    Notes
    -----
    New rows are compared with all columns, and old rows with new columns. For identification, an
    old probe is swept again where a new template of its own subject is nearer than the mates it
    had, unless no other was as near. Of multi-template tasks, the columns of subjects that get
    another template are read again, and ranks among subjects are swept again then.
    Re-identification and GOM, drawn galleries and folded counts take new probes alone.
    Streamed embeddings may give another last digit where they are computed in other blocks:
    what is subtracted is checked, and refused if it was never counted.

    Examples
    --------
    >>> import numpy as np, bioeval as be
    >>> whole = be.simulate(50, 4, random_state=1)
    >>> old = whole.select(np.arange(196), np.arange(196))
    >>> grown = be.extend_tally(be.tally(old), whole)
    >>> grown.dataset("open_set").equals(be.tally(whole).dataset("open_set")), grown.cells
    (True, 1584)
    """
    job = _Change(counted, scores, protocol, site, key)
    m, n = job.sizes
    shape = scores.shape
    if shape[0] < m or shape[1] < n:
        raise MergeError(
            f"the tally is of {m} probes and {n} templates, the scores are {shape[0]} x "
            f"{shape[1]}: extend_tally takes the scores of old and new ones; be.withdraw subtracts"
        )
    job.require_counted(np.arange(m), np.arange(n))
    return job.changed(_Extension(job))


def withdraw(
    counted: Tally,
    scores: Scores,
    *,
    probes: Any = (),
    gallery: Any = (),
    protocol: str | Protocol | None = None,
    site: str = "",
    key: str | bytes | None = None,
) -> Tally:
    """Subtract withdrawn probes and templates from a tally, by comparing little else.

    Parameters
    ----------
    counted : Tally
        Of `scores`.
    scores : Scores
        The scores as they were counted, the withdrawn templates still among them.
    probes, gallery : array_like of int
        Rows and columns that are withdrawn; of all-against-all data the same ones.
    protocol, site, key
        As for :func:`extend_tally`.

    Returns
    -------
    Tally
        The counts are those of the rest from the beginning. `cells` is the number of cells that
        were compared.

    Raises
    ------
    MergeError
        If the tally is not of these scores.
    ProtocolError
        If a task cannot be reduced: those that :func:`extend_tally` refuses.

    Notes
    -----
    Attempts of withdrawn rows and columns are subtracted. A probe is swept again where its nearest
    mate or non-mate was withdrawn, or one tied with its mate; and verification where the rest might
    be counted in narrower cells.

    Examples
    --------
    >>> import numpy as np, bioeval as be
    >>> whole = be.simulate(50, 4, random_state=1)
    >>> rest = be.withdraw(be.tally(whole), whole, probes=[3, 70], gallery=[3, 70])
    >>> left = np.delete(np.arange(200), [3, 70])
    >>> rest.dataset("closed_set").equals(be.tally(whole.select(left, left)).dataset("closed_set"))
    True
    """
    job = _Change(counted, scores, protocol, site, key)
    if job.sizes != scores.shape:
        raise MergeError(
            f"the tally is of {job.sizes[0]} probes and {job.sizes[1]} templates, the scores are "
            f"{scores.shape[0]} x {scores.shape[1]}; give the scores that were counted"
        )
    m, n = job.sizes
    job.require_counted(np.arange(m), np.arange(n))
    gone = [
        np.unique(as_index(x, size, name)) if np.size(x) else np.empty(0, dtype=np.int64)
        for x, size, name in ((probes, m, "probes"), (gallery, n, "gallery"))
    ]
    if scores.layout == "all-against-all" and m == n and not np.array_equal(gone[0], gone[1]):
        raise DataError(
            f"{Argument('probes')} and {Argument('gallery')} differ; of all-against-all data a "
            "template is withdrawn from both sides"
        )
    if len(gone[0]) == m or len(gone[1]) == n:
        raise DataError("nothing would be left; withdraw fewer")
    return job.changed(_Withdrawal(job, *gone))


@dataclass(frozen=True, eq=False)
class _Region:
    """Some rows and columns of the scores."""

    scores: Scores
    rows: np.ndarray
    columns: np.ndarray

    @property
    def empty(self) -> bool:
        return not (len(self.rows) and len(self.columns))

    @cached_property
    def part(self) -> Scores:
        return self.scores.select(probes=self.rows, gallery=self.columns)

    @cached_property
    def reader(self) -> BlockReader:
        return BlockReader(self.part)


#: Makes a job over a region.
Maker = Callable[[_Region], Any]


class _Change:
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

    def count(self, region: _Region, jobs: Sequence[Maker]) -> list[Any]:
        """Return the tallies of some jobs over a region."""
        self.cells += len(region.rows) * len(region.columns)
        made = [make(region) for make in jobs]
        return run_jobs(region.part, region.reader, made)

    def count_all(self, region: _Region, jobs: dict[int, Maker]) -> dict[int, Any]:
        """Return the tallies of a region by the identity of the old ones, from one sweep."""
        if region.empty or not jobs:
            return {}
        found = self.count(region, list(jobs.values()))
        return dict(zip(jobs, found, strict=True))

    @cached_property
    def tallies(self) -> list[Any]:
        """The old tallies, each once; others than can be changed are refused."""
        for node, part in self.old.parts.items():
            _require_changeable(node, part.tally)
        return list({id(part.tally): part.tally for part in self.old.parts.values()}.values())

    def region(self, rows: np.ndarray, columns: np.ndarray) -> _Region:
        """Return a region of the scores."""
        return _Region(self.scores, rows, columns)

    def changed(self, change: _Extension | _Withdrawal) -> Tally:
        """Return the tally after a change of its rows and columns."""
        target = self.region(change.rows, change.columns)
        given = self.given.select(change.rows, change.columns)
        about = about_of_site(describe(target.part), self.key, self.site)
        made: dict[int, Counts] = {}
        parts = {}
        for node, part in self.old.parts.items():
            number = id(part.tally)
            if number not in made:
                tally: Any = part.tally
                if isinstance(tally, VerificationTally):
                    made[number] = replace(change.verification(tally), about=about)
                else:
                    made[number] = replace(change.identification(tally), about=about)
            parts[node] = TaskCounts(made[number], part.options)
        digests = CountedProbes.of(given, self.key, self.site)
        found = Tally(self.old.protocol, parts, self.old.far_targets, self.old.ranks, digests)
        found.cells = self.cells
        return found

    def recount(self, tally: VerificationTally, target: _Region) -> VerificationTally:
        """Return verification counted from the beginning."""
        return self.count(target, [verifies(tally)])[0]

    def subjects_of(self, columns: np.ndarray) -> np.ndarray:
        """Return the subjects of columns."""
        return np.unique(self.scores.codes.gallery[columns])

    def among(self, columns: np.ndarray, subjects: np.ndarray) -> np.ndarray:
        """Return those of some columns that are of subjects."""
        return columns[np.isin(self.scores.codes.gallery[columns], subjects)]


def _require_changeable(node: str, tally: Counts) -> None:
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


def fuses(tally: Counts) -> bool:
    """Return whether a task fuses the templates of a subject."""
    if isinstance(tally, VerificationTally):
        return tally.templates == "multi"
    return isinstance(tally, IdentificationTally) and tally.rank_unit == "subject"


def jobs_of(tally: Counts) -> Maker:
    """Return what makes the job that counted a tally."""
    if isinstance(tally, VerificationTally):
        return verifies(tally)
    assert isinstance(tally, IdentificationTally)
    return ranks(tally)


def verifies(tally: VerificationTally) -> Callable[[_Region], VerificationJob]:
    """Return what makes the job that counted a tally."""
    kind = tally.about.kind
    thresholds = None
    if tally.given is not None:
        user = to_user(tally.given.thresholds, kind)
        thresholds = user if len(user) < 2 or user[0] < user[-1] else user[::-1]
    fusion = {} if tally.templates == "single" else {"fusion": tally.fusion}

    def job(region: _Region) -> VerificationJob:
        return VerificationJob(
            region.part, region.reader, templates=tally.templates, thresholds=thresholds, **fusion
        )

    return job


def ranks(tally: IdentificationTally) -> Callable[[_Region], IdentificationJob]:
    """Return what makes the job that counted a tally."""
    fusion = "min" if tally.fusion == "none" else tally.fusion

    def job(region: _Region) -> IdentificationJob:
        return IdentificationJob(
            region.part, region.reader, rank_unit=tally.rank_unit, fusion=fusion
        )

    return job


def _rows(tally: IdentificationTally, rows: Any) -> IdentificationTally:
    """Return the facts of some probes."""
    chosen: dict[str, Any] = {name: getattr(tally, name)[rows] for name in FACTS}
    return replace(tally, **chosen)


def _with_rows(
    tally: IdentificationTally, rows: np.ndarray, found: IdentificationTally
) -> IdentificationTally:
    """Return the facts of all probes, those of some of them as found."""
    changed: dict[str, Any] = {}
    for name in FACTS:
        changed[name] = getattr(tally, name).copy()
        changed[name][rows] = getattr(found, name)
    return replace(tally, **changed)


def _joined(parts: Sequence[IdentificationTally]) -> IdentificationTally:
    """Return the probes of all parts in order."""
    both: dict[str, Any] = {
        name: np.concatenate([getattr(x, name) for x in parts]) for name in FACTS
    }
    return replace(parts[0], **both)


class _Extension:
    """New rows and columns behind the old ones."""

    def __init__(self, job: _Change):
        self.job = job
        (m, n), shape = job.sizes, job.scores.shape
        self.rows, self.columns = np.arange(shape[0]), np.arange(shape[1])
        self.old_rows, self.old_columns = self.rows[:m], self.columns[:n]
        fresh = self.columns[n:]
        self.subjects = job.subjects_of(fresh)
        self.touched = np.intersect1d(self.subjects, job.subjects_of(self.old_columns))
        #: New rows against all columns, and old rows against new ones.
        self.below = job.region(self.rows[m:], self.columns)
        self.beside = job.region(self.old_rows, fresh)
        self.found = job.count_all(self.below, {id(x): jobs_of(x) for x in job.tallies})
        self.found_beside = job.count_all(
            self.beside, {id(x): y for x in job.tallies if (y := self._beside(x)) is not None}
        )

    def _whole_subjects(self, tally: Counts) -> bool:
        """Return whether templates are added to subjects whose templates a task fuses."""
        return bool(len(self.touched)) and fuses(tally)

    def _beside(self, tally: Counts) -> Maker | None:
        """Return what makes the job for old rows against new columns; None for none."""
        if self._whole_subjects(tally):
            return None
        if isinstance(tally, IdentificationTally):
            mates, make = mates_of(tally), ranks(tally)
            return lambda x: SharedRanksJob(make(x), SharedMates(mates, 1), grows=True)
        return jobs_of(tally)

    def verification(self, tally: VerificationTally) -> VerificationTally:
        """Add new rows against all columns, and old rows against new ones."""
        job, make = self.job, verifies(tally)
        found = replace(tally, points=None, kept=None)
        for parts in (self.found, self.found_beside):
            if id(tally) in parts:
                found = _added(found, parts[id(tally)])
        if self._whole_subjects(tally):
            every = job.region(self.old_rows, job.among(self.columns, self.subjects))
            old = job.region(self.old_rows, job.among(self.old_columns, self.touched))
            found = _added(found, job.count(every, [make])[0])
            found = subtracted(found, job.count(old, [make])[0])
            if not grid_is_sure(found.impostor):
                return job.recount(tally, job.region(self.rows, self.columns))
        return found

    def identification(self, tally: IdentificationTally) -> IdentificationTally:
        """Rank new rows among all columns, and old rows among new ones as well."""
        parts = [self._old(tally)]
        if id(tally) in self.found:
            parts.append(self.found[id(tally)])
        return _joined(parts)

    def _old(self, tally: IdentificationTally) -> IdentificationTally:
        job, make = self.job, ranks(tally)
        if self.beside.empty:
            return tally
        if self._whole_subjects(tally):
            return job.count(job.region(self.old_rows, self.columns), [make])[0]
        added = self.found_beside[id(tally)]
        mate = added.mate
        nearer = (added.mates_tied > 0) & ~(tally.mate == mate)
        # Nothing was as near as the new mate, or the row is swept again around it.
        again = np.flatnonzero(nearer & (tally.other <= mate))
        names = ("closer", "tied", "tied_before", "mates_tied")
        changed: dict[str, Any] = {x: np.where(nearer, 0, getattr(tally, x)) for x in names}
        around = replace(tally, mate=mate, **changed)
        if len(again):
            here = np.arange(len(again))
            site = np.ones(len(again), dtype=np.int64)  # behind all old columns
            lists = MateLists.of(len(again), here, mate[again], site, site, True)
            old = job.region(again, self.old_columns)
            (swept,) = job.count(old, [lambda x: SharedRanksJob(make(x), SharedMates(lists, 0))])
            around = _with_rows(around, again, swept)
        found: dict[str, Any] = facts_of_union(around, added)
        return replace(around, **found)


def mates_of(tally: IdentificationTally) -> MateLists:
    """Return the mates of a tally as those of site 0, before all others."""
    has = np.flatnonzero(tally.mates > 0)
    none = np.zeros(len(has), dtype=np.int64)
    return MateLists.of(len(tally.mates), has, tally.mate[has], none, none, True)


def _added(whole: VerificationTally, part: VerificationTally) -> VerificationTally:
    """Return the attempts of both, of the same data."""
    about = replace(part.about, gallery=whole.about.gallery)
    about = replace(about, gallery_templates=whole.about.gallery_templates)
    same = ("layout", "sites", "exclude")
    about = replace(about, **{name: getattr(whole.about, name) for name in same})
    return whole.merge(replace(part, about=about))


class _Withdrawal:
    """Rows and columns that are withdrawn."""

    def __init__(self, job: _Change, rows: np.ndarray, columns: np.ndarray):
        self.job = job
        m, n = job.sizes
        self.every = np.arange(n)
        self.rows = np.delete(np.arange(m), rows)
        self.columns = np.delete(self.every, columns)
        self.subjects = job.subjects_of(columns)
        self.touched = np.intersect1d(self.subjects, job.subjects_of(self.columns))
        verified = [x for x in job.tallies if isinstance(x, VerificationTally)]
        self.found = job.count_all(
            job.region(rows, self.every), {id(x): jobs_of(x) for x in verified}
        )
        self.beside = job.region(self.rows, columns)
        self.found_beside = job.count_all(
            self.beside, {id(x): y for x in job.tallies if (y := self._beside(x)) is not None}
        )

    def _whole_subjects(self, tally: Counts) -> bool:
        return bool(len(self.touched)) and fuses(tally)

    def _beside(self, tally: Counts) -> Maker | None:
        if self._whole_subjects(tally):
            return None
        if isinstance(tally, IdentificationTally):
            make, mates = ranks(tally), mates_of(_rows(tally, self.rows))
            return lambda x: SharedRanksJob(make(x), SharedMates(mates, 1))
        return jobs_of(tally)

    def verification(self, tally: VerificationTally) -> VerificationTally:
        """Subtract the attempts of the rows and of the columns."""
        job, make = self.job, verifies(tally)
        found = replace(tally, points=None, kept=None)
        parts = [x[id(tally)] for x in (self.found, self.found_beside) if id(tally) in x]
        if self._whole_subjects(tally):
            rest = job.region(self.rows, job.among(self.columns, self.touched))
            found = _added(found, job.count(rest, [make])[0])
            before = job.region(self.rows, job.among(self.every, self.subjects))
            parts += job.count(before, [make])
        for part in parts:
            found = subtracted(found, part)
        if not grid_is_sure(found.impostor):
            return job.recount(tally, job.region(self.rows, self.columns))
        return found

    def identification(self, tally: IdentificationTally) -> IdentificationTally:
        """Subtract the candidates of the columns; rows are swept again where they decided."""
        job, make = self.job, ranks(tally)
        left = _rows(tally, self.rows)
        if self.beside.empty:
            return left
        rest = job.region(self.rows, self.columns)
        if self._whole_subjects(tally):
            return job.count(rest, [make])[0]
        gone = self.found_beside[id(tally)]
        decided = (gone.mates_tied > 0) | (gone.tied > 0)
        for name in ("other", "nearest_mate", "nearest_other"):
            decided |= getattr(gone, name) == getattr(left, name)
        names = ("closer", "mates", "others")
        fewer: dict[str, Any] = {x: getattr(left, x) - getattr(gone, x) for x in names}
        found = replace(left, **fewer)
        again = np.flatnonzero(decided)
        if len(again):
            swept = job.count(job.region(self.rows[again], self.columns), [make])[0]
            found = _with_rows(found, again, swept)
        return replace(found, enrolled=rest.reader.enrolled)
