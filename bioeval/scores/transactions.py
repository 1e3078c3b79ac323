"""Transactions: attempts of several probes of one subject, accepted if any probe is."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from bioeval.base.errors import Argument, DataError, ProtocolError, nearest_name
from bioeval.base.messages import Message
from bioeval.scores.blocks import Block, BlockReader, require_subjects
from bioeval.scores.labels import Codes, missing_values
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import Provenance


class TransactionReader(BlockReader):
    """Reads blocks of transactions: a row holds the least distance of its probes.

    A transaction is all probes of a subject with the same value in a metadata column. Where probes
    are templates of the gallery too, pairs of one transaction are not compared. Transactions are
    in the order of their subjects' first probes; `scores` has their labels. Subjects are fused for
    each probe first, by `fusion`.
    """

    of_rows = False

    def __init__(self, scores: Scores, column: str, fusion: str = "min"):
        """Put the probes of each transaction side by side."""
        require_subjects(scores, Argument("attempts"))
        super().__init__(scores)
        first, number = transactions_of(scores, column)
        shared = np.isin(scores.probe_ids, scores.gallery_ids).any()
        compared = scores.excluding(*scores.exclude, column) if shared else scores
        self.about = replace(Provenance.of(compared), exclude=", ".join(scores.exclude))
        self._compared, self._fusion = compared, fusion
        self._order = np.argsort(number, kind="stable")
        self._ends = np.append(0, np.cumsum(np.bincount(number)))
        self._number = number[self._order]
        ordered = (self._order[1:] > self._order[:-1]).all()
        if ordered:
            self._probes = BlockReader(compared)
        else:
            self._probes = _Reordered(compared, self._order)
        self.scores = scores.select(probes=first)._with(exclude=(), _layout=scores.layout)

    def _read(self, low: int, high: int) -> Block:
        """Return the least distances of transactions to each template."""
        values = fused = None
        for start in range(self._ends[low], self._ends[high], self._probes.rows_per_block()):
            stop = min(start + self._probes.rows_per_block(), self._ends[high])
            part, number = self._probes.block(start, stop), self._number[start:stop] - low
            values = _least(values, part.values, number, high - low)
            if self._fusion != "min":
                fused = _least(fused, part.fused(self._fusion).values, number, high - low)
        assert values is not None  # a transaction has a probe
        block = self.gallery.block(low, values)
        if fused is not None:
            block._fused[self._fusion] = block.of_groups(fused, np.zeros((1, 1), dtype=np.int64))
        return block

    def _warnings(self) -> list[Message]:
        """Return findings about failure codes, by the rows of the scores."""
        watch = copy(self._probes.watch)
        back = np.argsort(self._order)
        watch.scores, watch.sampled = self._compared, self._order[watch.sampled]
        watch.value, watch.count = watch.value[back], watch.count[back]
        return watch.notes()


class _Reordered(BlockReader):
    """Reads the rows of scores in another order; errors name the rows of the scores."""

    def __init__(self, scores: Scores, order: np.ndarray):
        super().__init__(scores.select(probes=order))
        self.whole = scores

    def _read(self, low: int, high: int) -> Block:
        try:
            return super()._read(low, high)
        except DataError:
            for _ in BlockReader(self.whole):
                pass
            raise


def reader_of(scores: Scores, attempts: str, fusion: str, claims: object = None) -> BlockReader:
    """Return the reader of a column's transactions as attempts of verification.

    Raise :class:`ProtocolError` where claims are given too, which are of probes.
    """
    if claims is not None:
        raise ProtocolError(
            Argument("claims"),
            " are of probes, and ",
            Argument("attempts", attempts),
            " makes one attempt of several; leave one of the two out",
        )
    return TransactionReader(scores, attempts, fusion)


def transactions_of(scores: Scores, column: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the first probe of each transaction, and the number of each probe's transaction."""
    known = list(scores.probe_meta)
    if not isinstance(column, str) or column not in known:
        listed = f"there are {', '.join(known)}" if known else "there are none"
        raise DataError(
            Argument("attempts"),
            f" names {column!r}, but the probe metadata have no such column; "
            f"{listed}.{nearest_name(str(column), known)}",
        )
    values = scores.probe_meta[column]
    missing = missing_values(values)
    if missing.any():
        raise DataError(
            Argument("attempts"),
            f": {int(missing.sum())} probes have no value in {column!r}, the first is probe "
            f"{int(np.argmax(missing))}; give each its transaction",
        )
    subject, value = scores._codes.probe, Codes(values, values, column).probe
    key = subject * (int(value.max()) + 1) + value
    _, first, transaction = np.unique(key, return_index=True, return_inverse=True)
    _, of_subject, back = np.unique(subject, return_index=True, return_inverse=True)
    order = np.lexsort((first, of_subject[back.reshape(-1)][first]))
    return first[order], np.argsort(order)[transaction.reshape(-1)]


def _least(
    known: np.ndarray | None, rows: np.ndarray, number: np.ndarray, count: int
) -> np.ndarray:
    """Return the smallest distance of the rows of each number and of earlier rows, without NaN."""
    if known is None:
        known = np.full((count, rows.shape[1]), np.nan, dtype=rows.dtype)
    starts = np.flatnonzero(np.append(True, number[1:] != number[:-1]))
    for start, stop in zip(starts, [*starts[1:], len(rows)], strict=True):
        row = known[number[start]]
        np.fmin(row, np.fmin.reduce(rows[start:stop]), out=row)
    return known
