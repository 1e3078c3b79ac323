"""Verification attempts by subject: sums of scores, and errors at a threshold, in one pass.

The gallery of a block is in the order of its subjects (``reader.gallery.columns``), so that the
genuine scores of a row are neighbours. Each attempt is summed for the subject of the probe and for
the claimed one, in all and in two halves without a common template:

- a goat has the genuine attempts within half 0 of its templates, and within half 1;
- a wolf has the attempts of its probes of half h, against each group of opponents by itself;
- a lamb has those against its gallery templates of half h, of the probes of each group.

The groups divide the subjects, so that two halves of attempts can be of other opponents, too.

Sums of floats depend on their order. Rows are therefore added in chunks whose size follows from the
shape of the scores alone, and the sums of chunks exactly (:class:`~bioeval.attempts.ExactSums`):
they are the same on any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from bioeval.attempts.cells import is_accepted, rounded_down
from bioeval.attempts.counters import gather
from bioeval.attempts.exact_sums import ExactSums
from bioeval.base.errors import DataError
from bioeval.base.progress import reporter
from bioeval.base.random import Stream
from bioeval.scores.blocks import Block, BlockReader, threads_for
from bioeval.scores.labels import Codes, column_codes, plain
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import Provenance
from bioeval.studies.zoo import kernel


@dataclass(frozen=True)
class Halves:
    """The half, 0 or 1, of each probe and gallery template within its subject; subjects' groups."""

    probes: np.ndarray
    gallery: np.ndarray
    group: np.ndarray  # of each subject, from 0

    @classmethod
    def draw(cls, scores: Scores, sides: tuple[np.ndarray, np.ndarray], stream: Stream) -> Halves:
        """Draw halves; `sides` are the subjects of the probes and of the gallery, from 0.

        Halves are of whole sessions where there is a column of them. A template that is on both
        sides is in the same half on both, and so is a session; otherwise each side has its own
        draw.
        """
        who, units, m = np.concatenate(sides), np.concatenate(_units(scores)), len(sides[0])
        subjects, span = 1 + int(who.max(initial=-1)), 1 + int(units.max(initial=0))
        coded = who * span + units
        shared = np.zeros(subjects, dtype=bool)
        shared[np.intersect1d(coded[:m], coded[m:]) // span] = True
        # A set of units is a subject's on both sides, or on one of them.
        of_set = 2 * who
        of_set[:m] += ~shared[sides[0]]
        every, back = np.unique(of_set * span + units, return_inverse=True)
        whose = every // span
        order = np.lexsort((stream.uniforms(len(every)), whose))
        place = np.arange(len(every)) - np.searchsorted(whose, whose)  # sorted
        half = np.empty(len(every), dtype=np.int64)
        half[order] = place % 2
        probes, gallery = np.split(half[back.reshape(-1)], [m])
        group = np.empty(subjects, dtype=np.int64)
        place = np.arange(subjects) % GROUPS
        group[np.argsort(stream.uniforms(subjects), kind="stable")] = place
        return cls(probes, gallery, group)


def sessions_of(scores: Scores) -> Codes:
    """Return the sessions of both sides as codes; without a column, none is known."""
    sides = zip((scores.probe_meta, scores.gallery_meta), scores.shape, strict=True)
    probe, gallery = (meta.get("session", np.full(size, None)) for meta, size in sides)
    return column_codes(probe, gallery, "session")


def _units(scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    """Return codes of the units that are never divided: sessions, or templates."""
    codes = sessions_of(scores)
    # A template without a known session is a unit of its own.
    probe, gallery = (len(codes.values) + x for x in (scores.probe_ids, scores.gallery_ids))
    return (
        np.where(codes.probe < 0, probe, codes.probe),
        np.where(codes.gallery < 0, gallery, codes.gallery),
    )


# Groups of opponents, of one subject each where there are fewer.
GROUPS = 16

# Columns whose sums one thread takes together, about.
PIECE = 1024

# Rows that are added up in order before their sums are added exactly, which takes several times as
# long: so many that they have about this many scores, and at least so many.
CHUNK_CELLS, CHUNK_ROWS = 1 << 22, 256

# More than there are subjects: two of them as one number are probe * PAIRED + claimed.
PAIRED = 1 << 31

# Usual blocks of a matrix in memory that are counted in one call.
TOGETHER = 4


class BySubject(NamedTuple):
    """Number of attempts of each subject in one role, and the sum of their finite distances."""

    attempts: np.ndarray
    finite: np.ndarray
    within: np.ndarray  # attempts within the threshold
    total: np.ndarray  # float64

    @property
    def infinite(self) -> int:
        """Attempts of all subjects that are in no sum."""
        return int((self.attempts - self.finite).sum())


class HalfMeans(NamedTuple):
    """Mean distances of each subject over two halves of its attempts without common templates.

    NaN where a half has none. The size of the second half is its number of templates, of goats the
    number of its pairs.
    """

    first: np.ndarray
    second: np.ndarray
    size: np.ndarray


class GroupMeans(NamedTuple):
    """Mean distances of each subject over two halves of its templates, against each group.

    Arrays of shape (subjects, groups), NaN where there are none; `size` as of halves.
    """

    first: np.ndarray
    second: np.ndarray
    size: np.ndarray


class AcceptedPairs(NamedTuple):
    """False accepts of each pair of people that has any: the probe's, and the one it claims."""

    probe: np.ndarray
    claimed: np.ndarray
    accepted: np.ndarray

    def worst(self, most: int) -> AcceptedPairs:
        """Return the pairs with most false accepts, equal ones in the order of the subjects."""
        order = np.argsort(-self.accepted, kind="stable")[:most]
        return AcceptedPairs(*(values[order] for values in self))


@dataclass(frozen=True)
class SubjectTally:
    """Attempts by subject, as distances; `names` are the labels of the subjects.

    The `pairs` are the distance of each genuine one, and its subject.
    """

    about: Provenance
    names: list
    threshold: float
    genuine: BySubject
    as_probe: BySubject
    as_claimed: BySubject
    accepted: AcceptedPairs
    goats: HalfMeans
    wolves: GroupMeans
    lambs: GroupMeans
    pairs: tuple[np.ndarray, np.ndarray]


def count_by_subject(reader: BlockReader, threshold: float, stream: Stream) -> SubjectTally:
    """Count verification attempts by subject, in one pass over the scores.

    - `reader`: of labelled scores
    - `threshold`: a distance; NaN accepts nothing
    - `stream`: draws the halves
    """
    subject_pass = SubjectPass(reader, threshold, stream)
    scores = reader.scores
    with threads_for(scores), np.errstate(over="ignore", invalid="ignore"):
        tally = subject_pass.tally()
    for part in (tally.genuine, tally.as_probe, tally.as_claimed):
        _require_finite(part.total)
    return tally


def rows_per_chunk(scores: Scores) -> int:
    """Return the number of rows added up in order; it depends only on the shape.

    Of streamed embeddings they are those of one matrix product.
    """
    if scores._streams:
        return BlockReader(scores).rows_per_block()
    return max(CHUNK_ROWS, 1 << (CHUNK_CELLS // scores.shape[1]).bit_length())


class SubjectPass:
    """Attempts by subject, counted in blocks of rows."""

    def __init__(self, reader: BlockReader, threshold: float, stream: Stream):
        """Draw the halves, and select the impostors."""
        scores, gallery = reader.scores, reader.gallery
        self.reader, self.scores, self.threshold = reader, scores, threshold
        self.step = rows_per_chunk(scores)
        codes = reader.codes
        who = np.unique(np.concatenate([codes.probe, codes.gallery]))
        self.names = list(map(plain, codes.values[who].tolist()))
        enrolled = np.searchsorted(who, codes.gallery)
        self.probe = np.searchsorted(who, codes.probe)
        self.halves = Halves.draw(scores, (self.probe, enrolled), stream)
        order = gallery.columns[0]
        self.column, self.column_half = enrolled[order], self.halves.gallery[order]
        group = self.halves.group
        self.impostors = _Impostors(
            (gallery.mate_start, gallery.mate_stop),
            group[self.probe],
            group[self.column],
            GROUPS,
            (self.probe, self.column),
        )

    def tally(self) -> SubjectTally:
        """Count all rows, chunk by chunk, and return the attempts by subject."""
        sums, rows = _Sums(self.impostors, self.threshold), self.scores.shape[0]
        together = self.reader.rows_per_block() * (TOGETHER if self.scores._in_memory else 1)
        for low in range(0, rows, self.step):
            high = min(low + self.step, rows)
            firsts = range(low, high, together)
            sums.add(self.reader.block(first, min(first + together, high)) for first in firsts)
            reporter()(high, rows)
        sums.finish()
        people = len(self.names)
        value, row, _ = sums.genuine
        total, finite = sums.by_table()
        return SubjectTally(
            about=self.reader.about,
            names=self.names,
            threshold=self.threshold,
            genuine=_summed(value, self.probe[row], people, self.threshold),
            as_probe=_joined(sums.by_row(), self.probe, people),
            as_claimed=_joined(sums.by_column(), self.column, people),
            accepted=sums.accepted_pairs(),
            goats=self._goats(sums),
            # Of each half of the probes against each group of columns, and of the probes of each
            # group against each half of the templates.
            wolves=GroupMeans(*self._halved(*sums.of_groups(), self.probe, self.halves.probes)),
            lambs=GroupMeans(*self._halved(total.T, finite.T, self.column, self.column_half)),
            pairs=(sums.genuine[0], self.probe[sums.genuine[1]]),
        )

    def _goats(self, sums: _Sums) -> HalfMeans:
        """Return the means of the genuine pairs within each half of the templates."""
        value, row, position = sums.genuine
        half, finite = self.halves.probes[row], np.isfinite(value)
        half = np.where(half == self.column_half[position], half, -1)  # others are in neither
        total = np.where(finite, value, 0.0)
        return self._halved(total, finite.astype(np.int64), self.probe[row], half)

    def _halved(
        self, total: np.ndarray, finite: np.ndarray, who: np.ndarray, half: np.ndarray
    ) -> HalfMeans:
        """Return the means of sums and numbers of finite scores, each of a subject's half."""
        people = len(self.names)
        means = []
        for h in (0, 1):
            part = half == h
            number = _sum(finite[part], who[part], people)
            with np.errstate(divide="ignore"):
                means.append(_sum(total[part], who[part], people) / number)
        return HalfMeans(means[0], means[1], np.bincount(who[half == 1], minlength=people))


class _Impostors:
    """Selection of the impostor scores that are added up by row and by column.

    - `mates` (pair of int64 (m,)): where the columns of the row's own subject begin and end
    - `table` (int64 (m,)): the table of sums by column that a row is added to, below `tables`
    - `group` (int64 (n,)): the group of each column, of which each row has a sum
    - `people` (pair of int64 (m,) and (n,)): the subjects of the rows, and of the columns
    """

    def __init__(
        self,
        mates: tuple[np.ndarray, np.ndarray],
        table: np.ndarray,
        group: np.ndarray,
        tables: int,
        people: tuple[np.ndarray, np.ndarray],
    ):
        self.mates, self.table, self.group, self.tables = np.array(mates), table, group, tables
        self.people = people

    def accepted(self, low: int, values: np.ndarray, threshold: Any) -> np.ndarray:
        """Return the pair of subjects of each false accept: ``probe * PAIRED + claimed``."""
        row, column = np.divmod(np.flatnonzero(values <= threshold), values.shape[1])
        row += low
        start, stop = self.mates[:, row]
        is_impostor = (column < start) | (column >= stop)
        probe, claimed = self.people
        return probe[row[is_impostor]] * PAIRED + claimed[column[is_impostor]]


class _Sums:
    """Sums and counts of the impostor scores of all rows, by row and by column."""

    def __init__(self, impostors: _Impostors, threshold: float):
        """Begin without rows."""
        self.impostors, self.threshold = impostors, threshold
        self.mates, self.table, self.group = impostors.mates, impostors.table, impostors.group
        self.tables = impostors.tables
        self._genuine: list[tuple[np.ndarray, ...]] = []  # distance, row and position
        self._rows: list[tuple[np.ndarray, np.ndarray]] = []
        self._accepted: list[tuple[np.ndarray, np.ndarray]] = []
        self._exact = ExactSums.zeros(self.tables, len(self.group))
        shape = self.tables, kernel.BY_GROUP, len(self.group)
        self.column_counts = np.zeros(shape, dtype=np.int32)

    def add(self, chunk: Iterable[Block]) -> None:
        """Add the blocks of the next chunk of rows."""
        column_sums = np.zeros((self.tables, len(self.group)))
        accepted = [self._add_block(block, column_sums) for block in chunk]
        self._accepted.append(np.unique(np.concatenate(accepted), return_counts=True))
        _require_finite(column_sums)
        self._exact = self._exact.reaching(column_sums)
        self._exact.add(column_sums, np.arange(len(column_sums)))

    def _add_block(self, block: Block, column_sums: np.ndarray) -> np.ndarray:
        """Add the scores of some rows of a chunk; return the pairs of its false accepts."""
        (b, n), dtype = block.values.shape, block.values.dtype
        value, row, position = gather(
            block.values, block.mate_start, block.mate_stop, block.probe_position
        )
        self._genuine.append((value.astype(np.float64), row + block.low, position))
        rows, pieces = slice(block.low, block.low + b), -(-n // PIECE)
        threshold = rounded_down(np.array([self.threshold]), dtype)[0]
        sums = np.zeros((pieces, b, GROUPS))
        counts = np.zeros((pieces, b, kernel.BY_GROUP + GROUPS), dtype=np.int64)
        kernel.sum_scores(
            block.values,
            np.ascontiguousarray(self.mates[:, rows]),
            self.table[rows],
            self.group,
            threshold,
            sums,
            counts,
            column_sums,
            self.column_counts,
        )
        self._rows.append((reduce(np.add, sums), counts.sum(axis=0)))
        return self.impostors.accepted(block.low, block.values, threshold)

    def finish(self) -> None:
        """Join what was counted of the blocks."""
        genuine = list(map(np.concatenate, zip(*self._genuine, strict=True)))
        # Added in this order, whatever the order of the templates: distance, row and position.
        order = np.argsort(genuine[0])
        self.genuine = [x[order] for x in genuine]
        self.row_sums, self.row_counts = map(np.concatenate, zip(*self._rows, strict=True))
        self.pairs, self.accepted = map(np.concatenate, zip(*self._accepted, strict=True))
        self.column_sums = self._exact.values()

    def by_row(self) -> BySubject:
        """Return the attempts of each row."""
        counts = self.row_counts.T
        attempts = len(self.group) - (self.mates[1] - self.mates[0]) - counts[kernel.MISSING]
        known = attempts - counts[kernel.INFINITE]
        return BySubject(attempts, known, counts[kernel.WITHIN], self.row_sums.sum(axis=1))

    def by_column(self) -> BySubject:
        """Return the attempts of each column."""
        counts = self.column_counts.sum(axis=0, dtype=np.int64)
        attempts = self._foreign().sum(axis=0) - counts[kernel.MISSING]
        known = attempts - counts[kernel.INFINITE]
        return BySubject(attempts, known, counts[kernel.WITHIN], self.column_sums.sum(axis=0))

    def accepted_pairs(self) -> AcceptedPairs:
        """Return the false accepts of each pair of people that has any, in their order."""
        pair, place = np.unique(self.pairs, return_inverse=True)
        accepted = np.zeros(len(pair), dtype=np.int64)
        np.add.at(accepted, place, self.accepted)
        return AcceptedPairs(*np.divmod(pair, PAIRED), accepted)

    def of_groups(self) -> tuple[np.ndarray, np.ndarray]:
        """Return sum and number of the finite scores of each row and group of columns."""
        number = np.bincount(self.group, minlength=GROUPS)
        number = number - self.row_counts[:, kernel.BY_GROUP :]
        start, stop = self.mates
        mate_group = self.group[np.minimum(start, len(self.group) - 1)]  # of one subject, one group
        number[np.arange(len(number)), mate_group] -= stop - start
        return self.row_sums, number

    def by_table(self) -> tuple[np.ndarray, np.ndarray]:
        """Return sum and number of the finite scores of each table and column."""
        lacking = self.column_counts[:, [kernel.MISSING, kernel.INFINITE]].sum(axis=1)
        return self.column_sums, self._foreign() - lacking

    def _foreign(self) -> np.ndarray:
        """Return the rows of other subjects, by table and column."""
        steps = np.zeros((self.tables, len(self.group) + 1), dtype=np.int64)
        np.add.at(steps, (self.table, self.mates[0]), 1)
        np.add.at(steps, (self.table, self.mates[1]), -1)
        rows = np.bincount(self.table, minlength=self.tables)
        return rows[:, None] - steps.cumsum(axis=1)[:, :-1]


def _require_finite(sums: np.ndarray) -> None:
    if not np.isfinite(sums).all():
        raise DataError(
            "the scores are too large to be averaged: their sum exceeds the largest float64; "
            "divide all scores by a constant"
        )


def _sum(values: np.ndarray, who: np.ndarray, people: int) -> np.ndarray:
    """Return the sums by subject, in the dtype of the values, added in order."""
    sums = np.zeros((people, *values.shape[1:]), dtype=values.dtype)
    np.add.at(sums, who, values)
    return sums


def _joined(each: BySubject, who: np.ndarray, people: int) -> BySubject:
    """Return the attempts of rows or columns by subject."""
    return BySubject(*(_sum(np.ascontiguousarray(x), who, people) for x in each))


def _summed(
    value: np.ndarray, who: np.ndarray, people: int, threshold: float = np.nan
) -> BySubject:
    """Return listed attempts by subject, added in increasing order."""
    finite = np.isfinite(value)
    attempts = np.bincount(who, minlength=people)
    known = np.bincount(who[finite], minlength=people)
    within = np.bincount(who[is_accepted(value, threshold)], minlength=people)
    return BySubject(attempts, known, within, _sum(value[finite], who[finite], people))
