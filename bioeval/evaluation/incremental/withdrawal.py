"""A tally of fewer probes and templates: what is withdrawn is subtracted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bioeval.base.errors import Argument, DataError, MergeError
from bioeval.evaluation.incremental.change import Change, Counted, added
from bioeval.evaluation.incremental.probe_facts import of_rows, with_rows
from bioeval.evaluation.incremental.regions import jobs_of, ranks, verifies
from bioeval.evaluation.protocol_tally import Tally
from bioeval.protocol.card import Protocol
from bioeval.scores.arrays import as_index
from bioeval.scores.matrix import Scores
from bioeval.tallies.counts import IdentificationTally, VerificationTally
from bioeval.tallies.subtraction import grid_is_sure, subtracted


def withdraw(
    counted: Tally,
    scores: Scores,
    *,
    probes: Any = (),
    gallery: Any = (),
    protocol: str | Protocol | None = None,
    site: str = "",
    key: str | bytes | None = None,
    points: bool = False,
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
    protocol, site, key, points
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
    job = Counted(counted, scores, protocol, site, key)
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
    return _Withdrawal(job, *gone).changed(points)


class _Withdrawal(Change):
    """Rows and columns that are withdrawn."""

    def __init__(self, job: Counted, rows: np.ndarray, columns: np.ndarray):
        m, n = job.sizes
        self.every = np.arange(n)
        self.rows = np.delete(np.arange(m), rows)
        self.columns = np.delete(self.every, columns)
        super().__init__(job, self.rows, self.columns, columns)
        verified = [x for x in job.tallies if isinstance(x, VerificationTally)]
        gone = job.region(rows, self.every)
        self.found = job.count_all(gone, {id(x): jobs_of(x) for x in verified})

    def verification(self, tally: VerificationTally) -> VerificationTally:
        """Subtract the attempts of the rows and of the columns."""
        job, make = self.job, verifies(tally)
        found = replace(tally, points=None, kept=None)
        parts = [x[id(tally)] for x in (self.found, self.found_beside) if id(tally) in x]
        if self.whole_subjects(tally):
            rest = job.region(self.rows, job.among(self.columns, self.touched))
            found = added(found, job.count(rest, [make])[0])
            before = job.region(self.rows, job.among(self.every, self.subjects))
            parts += job.count(before, [make])
        for part in parts:
            found = subtracted(found, part)
        return found if grid_is_sure(found.impostor) else self.recount(tally)

    def identification(self, tally: IdentificationTally) -> IdentificationTally:
        """Subtract the candidates of the columns; rows are swept again where they decided."""
        job, make = self.job, ranks(tally)
        left = of_rows(tally, self.rows)
        if self.beside.empty:
            return left
        if self.whole_subjects(tally):
            return job.count(job.region(self.rows, self.columns), [make])[0]
        gone = self.around(tally, left, grows=False)
        decided = (gone.mates_tied > 0) | (gone.tied > 0)
        for name in ("other", "nearest_mate", "nearest_other"):
            decided |= getattr(gone, name) == getattr(left, name)
        names = ("closer", "mates", "others")
        fewer: dict[str, Any] = {x: getattr(left, x) - getattr(gone, x) for x in names}
        found = replace(left, **fewer)
        again = np.flatnonzero(decided)
        if len(again):
            swept = job.count(job.region(self.rows[again], self.columns), [make])[0]
            found = with_rows(found, again, swept)
        enrolled = job.region(self.rows, self.columns).reader.enrolled
        return replace(found, enrolled=enrolled)
