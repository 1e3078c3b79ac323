"""A tally of more probes and templates: only what is new is compared."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bioeval.base.errors import MergeError
from bioeval.evaluation.incremental.change import Change, Counted, added
from bioeval.evaluation.incremental.probe_facts import joined, with_rows
from bioeval.evaluation.incremental.regions import jobs_of, ranks, verifies
from bioeval.evaluation.protocol_tally import Tally
from bioeval.protocol.card import Protocol
from bioeval.scores.matrix import Scores
from bioeval.tallies.counts import IdentificationTally, VerificationTally
from bioeval.tallies.shared_mates import MateLists, SharedMates, SharedRanksJob
from bioeval.tallies.subtraction import grid_is_sure, subtracted
from bioeval.tallies.unions import facts_of_union


def extend_tally(
    counted: Tally,
    scores: Scores,
    *,
    protocol: str | Protocol | None = None,
    site: str = "",
    key: str | bytes | None = None,
    points: bool = False,
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
    points : bool
        Find the operating points of verification, too, by a look at all scores.

    Returns
    -------
    Tally
        The counts are those of ``be.tally(scores)``, to the last bit. `cells` is the number of
        cells that were compared for the counts. Kept scores are left out.

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
    job = Counted(counted, scores, protocol, site, key)
    m, n = job.sizes
    shape = scores.shape
    if shape[0] < m or shape[1] < n:
        raise MergeError(
            f"the tally is of {m} probes and {n} templates, the scores are {shape[0]} x "
            f"{shape[1]}: expected the scores of old and new ones; withdrawing subtracts"
        )
    job.require_counted(np.arange(m), np.arange(n))
    return _Extension(job).changed(points)


class _Extension(Change):
    """New rows and columns behind the old ones."""

    def __init__(self, job: Counted):
        (m, n), shape = job.sizes, job.scores.shape
        self.rows, self.columns = np.arange(shape[0]), np.arange(shape[1])
        super().__init__(job, self.rows[:m], self.columns[:n], self.columns[n:])
        self.old_columns = self.columns[:n]
        # New rows against all columns.
        below = job.region(self.rows[m:], self.columns)
        self.found = job.count_all(below, {id(x): jobs_of(x) for x in job.tallies})

    def verification(self, tally: VerificationTally) -> VerificationTally:
        """Add new rows against all columns, and old rows against new ones."""
        job, make = self.job, verifies(tally)
        found = replace(tally, points=None, kept=None)
        for parts in (self.found, self.found_beside):
            if id(tally) in parts:
                found = added(found, parts[id(tally)])
        if self.whole_subjects(tally):
            every = job.region(self.kept, job.among(self.columns, self.subjects))
            old = job.region(self.kept, job.among(self.old_columns, self.touched))
            found = added(found, job.count(every, [make])[0])
            found = subtracted(found, job.count(old, [make])[0])
            if not grid_is_sure(found.impostor):
                return self.recount(tally)
        return found

    def identification(self, tally: IdentificationTally) -> IdentificationTally:
        """Rank new rows among all columns, and old rows among new ones as well."""
        parts = [self._old(tally)]
        if id(tally) in self.found:
            parts.append(self.found[id(tally)])
        return joined(parts)

    def _old(self, tally: IdentificationTally) -> IdentificationTally:
        """Return the facts of old rows against all columns."""
        job, make = self.job, ranks(tally)
        if self.beside.empty:
            return tally
        if self.whole_subjects(tally):
            return job.count(job.region(self.kept, self.columns), [make])[0]
        new = self.around(tally, tally, grows=True)
        mate = new.mate
        nearer = (new.mates_tied > 0) & ~(tally.mate == mate)
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
            around = with_rows(around, again, swept)
        found: dict[str, Any] = facts_of_union(around, new)
        return replace(around, **found)
