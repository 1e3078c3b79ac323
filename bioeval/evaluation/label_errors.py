"""Templates whose label is likely wrong: they are nearer to another label than to their own.

With ``A_j(s)`` the lower median of the finite distances from template ``j`` to the templates of
label ``s`` without ``j``, ``r_j = ln(A_j(own) / least A_j of the others)``, ``z_j`` its robust
score (median and 1.4826 MAD over all templates) and ``p_j = 1 - Phi(z_j)``, Benjamini and Hochberg
reject at a false discovery rate of 0.1. Of the rejected with ``r_j > 0`` the one with the largest
``z_j`` is taken out and all is computed anew, until none is left. Of scores without a natural zero
(similarities, log-likelihood ratios, distances of which some median is negative) ``r_j`` is the
difference of the two medians.

Where half of the templates are as near to another label as to their own, labels or kind are wrong
as a whole, and no template differs from the rest. Two people who look alike give ``r_j`` a
little above 0: a template is certain only where Benjamini and Hochberg reject it at 0.001 too, and
it is at least half as much nearer to the other label as templates usually are to their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bioeval.base.errors import counted
from bioeval.results.findings import Finding, listed
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import Scores
from bioeval.tallies.data_scan import attempted, medians_to, row_medians

# Rates of false discoveries at which a template is named, and is certain; and how much nearer to
# another label a certain one is, where 1 is as much as templates usually are to their own.
_NAMED, _CERTAIN, _MIRRORED = 0.1, 0.001, 0.5

#: Most templates that are named.
MOST_NAMED = 1000

# Values of the columns that are kept for the next template.
_KEPT_VALUES = 1 << 22

_MAD = 1.4826  # of a normal distribution, the standard deviation over the MAD


@dataclass(frozen=True)
class Suspects:
    """Templates whose label is likely wrong, the most likely first.

    Attributes
    ----------
    rows : int64 array
    nearest : int64 array
        The code of the label that each is nearest to.
    certain : int
        How many of the first are certain.
    judged : int
        How many templates were compared with templates of their own label and of others.
    """

    rows: np.ndarray
    nearest: np.ndarray
    certain: int
    judged: int


def suspect_templates(reader: BlockReader, found: np.ndarray) -> Suspects:
    """Apply the rule to the medians of all rows, (m, 3), as the kernel writes them."""
    left = _Left(reader, found)
    natural_zero = reader.scores.kind == "distance" and not (found[:, :2] < 0).any()
    rows, nearest = list[int](), list[int]()
    certain = judged = 0
    while len(rows) < MOST_NAMED:
        contrast = _contrast(left.own, left.near, natural_zero)
        known = contrast[~np.isnan(contrast)]
        judged = judged or len(known)
        middle, spread = _middle_and_spread(known)
        if not (middle < 0 < spread):
            break
        z = (contrast - middle) / spread
        row = int(np.nanargmax(z))
        if not contrast[row] > 0 or not _rejects(z, _NAMED):
            break
        mirrored = contrast[row] >= -_MIRRORED * middle
        certain += certain == len(rows) and mirrored and _rejects(z, _CERTAIN)
        rows.append(row)
        nearest.append(int(reader.gallery.subjects[left.group[row]]))
        likely = np.flatnonzero((contrast > 0) & (z > 0))
        left.take_out(row, likely[np.argsort(-z[likely], kind="stable")])
    return Suspects(
        np.array(rows, dtype=np.int64), np.array(nearest, dtype=np.int64), certain, judged
    )


def label_error_finding(scores: Scores, medians: np.ndarray) -> Finding:
    """Return the finding about templates whose label is likely wrong."""
    found = suspect_templates(BlockReader(scores), medians)
    number, rows = len(found.rows), np.sort(found.rows).tolist()
    if not number:
        return Finding(
            "label-errors", "ok",
            f"{counted(found.judged, 'templates')} compared: none is much nearer to another "
            "subject than to its own"
            if found.judged
            else "no template has scores of its own label and of others",
        )  # fmt: skip
    least = "at least " * (number == MOST_NAMED)
    is_nearer = "is" if number == 1 else "are"
    return Finding(
        "label-errors",
        "warning" if found.certain else "note",
        f"{least}{counted(number, 'templates')} {is_nearer} much nearer to another label than to "
        f"{'its' if number == 1 else 'their'} own, of {found.judged:,} compared",
        number,
        f"row{'s' * (number > 1)} {listed(rows, 10)}",
        "inspect these templates and correct their labels; be.worst_pairs, or bioeval run "
        "--worst 20, gives the label that each is nearest to",
    )


def _contrast(own: np.ndarray, near: np.ndarray, natural_zero: bool) -> np.ndarray:
    """Return ``r_j``, NaN where a template has no distance to its own label or to another."""
    if not natural_zero:
        return own - near
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((own == 0) & (near == 0), 0.0, np.log(own / near))


def _middle_and_spread(known: np.ndarray) -> tuple[float, float]:
    """Return the median, and the standard deviation by the MAD; NaN where half are infinite."""
    if not len(known):
        return np.nan, np.nan
    with np.errstate(invalid="ignore"):
        middle = float(np.median(known))
        return middle, _MAD * float(np.median(abs(known - middle)))


def _rejects(z: np.ndarray, rate: float) -> bool:
    """Whether Benjamini and Hochberg reject any hypothesis; if so, the largest is rejected."""
    from scipy.special import ndtr

    z = z[~np.isnan(z)]
    p = np.sort(ndtr(-z))
    return bool((p <= rate * np.arange(1, len(p) + 1) / len(p)).any())


class _Left:
    """Medians of the templates that remain when some are taken out one after the other."""

    def __init__(self, reader: BlockReader, found: np.ndarray):
        self.reader, self.gallery = reader, reader.gallery
        self.own, self.near = found[:, 0].copy(), found[:, 1].copy()
        self.group = found[:, 2].astype(np.int64)
        self._enrolled = np.ones(reader.scores.shape[1], dtype=bool)
        self._read: dict[int, np.ndarray] = {}

    def take_out(self, row: int, next_rows: np.ndarray) -> None:
        """Remove a template as a probe and from the gallery; `next_rows` are likely next."""
        self.own[row] = np.nan
        position, group = self.gallery.self_position[row], int(self.gallery.own[row])
        if position < 0:
            return
        self._enrolled[self.gallery.columns[0, position]] = False
        if group not in self._read:
            self._read_labels([group, *self.gallery.own[next_rows].tolist()])
        median = medians_to(self._read[group][:, self._enrolled[self._columns(group)]])
        mine = (self.gallery.own == group) & ~np.isnan(self.own)
        self.own[mine] = median[mine]
        first = (median < self.near) | ((median == self.near) & (group <= self.group))
        again = (self.group == group) & ~first & ~np.isnan(self.own)
        first &= self.gallery.own != group
        self.near[first], self.group[first] = median[first], group
        for i in np.flatnonzero(again).tolist():
            values = attempted(self.reader.scores, i, i + 1)
            values[:, ~self._enrolled] = np.nan
            self.near[i], self.group[i] = row_medians(self.reader, i, values)[0, 1:]

    def _columns(self, group: int) -> np.ndarray:
        first, last = self.gallery.starts[group : group + 2]
        return self.gallery.columns[0, first:last]

    def _read_labels(self, groups: list[int]) -> None:
        """Read the columns of the first of these labels, as many as are kept in memory."""
        scores = self.reader.scores
        m = scores.shape[0]
        groups = list(dict.fromkeys(groups))
        sizes = np.cumsum([len(self._columns(group)) for group in groups])
        groups = groups[: max(1, int(np.searchsorted(sizes, _KEPT_VALUES // m, side="right")))]
        columns = [self._columns(group) for group in groups]
        part = scores.select(gallery=np.concatenate(columns)).reading_own_columns()
        step = self.reader.rows_per_block()
        values = np.concatenate(
            [attempted(part, low, min(low + step, m)) for low in range(0, m, step)]
        )
        ends = np.cumsum([len(x) for x in columns])[:-1]
        self._read = dict(zip(groups, np.split(values, ends, axis=1), strict=True))
