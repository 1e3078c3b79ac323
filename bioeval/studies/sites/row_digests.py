"""Digests of the scores of each probe, made from the blocks that are counted."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Self

import numpy as np

from bioeval import Scores
from bioeval.base import computed_by, larger_is_closer
from bioeval.kernels import RawRows
from bioeval.scores import Block, BlockReader
from bioeval.studies.check.kernel import digest_rows
from bioeval.studies.sites.template_digests import DISTINCT, DigestKey, mixing_keys, sample_of
from bioeval.tallies import ConcatenatedRows, Counts, RawRowCounter

# Values of embeddings that are converted together.
_PIECE = 1 << 20

_NONE = np.empty(0, dtype=np.uint32)

# Columns of embeddings whose distances most often tell whether a probe has many distinct ones.
_COLUMNS = 64


class RowDigestCounter(RawRowCounter["RowDigestCounter"]):
    """Adds up a digest of each attempt of a probe with a sample: its score and the other template.

    The sum is the same in any order of the gallery. A probe with fewer than 20 distinct scores
    against the sample has the digest of all its attempts. The last digits of scores that were
    computed from embeddings depend on the block; a probe is then known by its embedding.

    - `sums`: uint64 (m,)
    - `varied` (bool (m,)): whether a probe has at least 20 distinct scores
    """

    def __init__(self, reader: BlockReader, templates: np.ndarray):
        self.scores, self.reader = reader.scores, reader
        #: The key of each column: a digest of its template.
        self.keys = mixing_keys(templates)
        self._sample = sample_of(templates)
        # Whether the gallery is larger than the sample.
        self._sampled = not (self.scores._embedded or self._sample.all())
        self._reset()

    def _reset(self) -> None:
        m = self.scores.shape[0]
        self._seen = False
        self.sums, self.varied = np.zeros(m, dtype=np.uint64), np.zeros(m, dtype=bool)

    def fresh(self) -> Self:
        """Return the same counter before it has seen anything."""
        counter = copy(self)
        counter._reset()
        return counter

    def counts(self, low: int, high: int) -> dict[str, Counts]:
        """Return the digests of rows ``low:high``; see :mod:`bioeval.tallies.parts`."""
        return {x: ConcatenatedRows.of(getattr(self, x)[low:high]) for x in ("sums", "varied")}

    def merge(self, other: dict[str, Counts], low: int, high: int) -> None:
        """Add the digests of rows ``low:high``."""
        self._seen = True
        self.sums[low:high] = other["sums"].array()
        self.varied[low:high] = other["varied"].array()

    @property
    def depends_on(self) -> Sequence[np.ndarray]:
        """The keys of the columns, which may be secret."""
        return [self.keys]

    def add(self, block: Block) -> None:
        """Add the attempts of a block, NaN for none."""
        order = self.reader.gallery.columns[0]
        raw = RawRows(block.values, np.arange(len(block.values)))
        self._add(block.low, raw, _NONE, block.probe_position, order)

    def add_raw(self, low: int, raw: RawRows, columns: np.ndarray, block: Block | None) -> None:
        """Add the probes from `low` on, from a block or from raw rows and `columns`."""
        if block is not None:
            self.add(block)
            return
        probe_position = self.reader.watch.itself[low : low + len(raw.rows)]
        in_order = np.array_equal(columns, np.arange(len(columns)))
        places = _NONE if in_order else columns.astype(np.uint32)
        sign = -1.0 if larger_is_closer(self.scores.kind) else 1.0
        self._add(low, raw, places, probe_position, slice(None), sign)

    def _add(
        self,
        low: int,
        raw: RawRows,
        columns: np.ndarray,
        probe_position: np.ndarray,
        order: np.ndarray | slice,
        sign: float = 1.0,
    ) -> None:
        """Add raw rows; of a sample, all columns where its scores are too few to tell apart."""
        self._seen = True
        some = slice(low, low + len(raw.rows))
        sums, varied, keys = self.sums[some], self.varied[some], self.keys[order]
        summed = not self.scores._embedded
        if not self._sampled:
            digest_rows(raw, columns, probe_position, sign, keys, summed, DISTINCT, sums, varied)
            return
        sample = self._sample[order]
        chosen = np.flatnonzero(sample)
        within = np.where(
            (probe_position >= 0) & sample[probe_position],
            np.searchsorted(chosen, probe_position),
            -1,
        )
        few = chosen.astype(np.uint32) if len(columns) == 0 else columns[chosen]
        digest_rows(raw, few, within, sign, keys[chosen], summed, DISTINCT, sums, varied)
        rest = np.flatnonzero(~varied)
        if len(rest):
            masks = raw.mask_rows[rest] if len(raw.mask) else raw.mask_rows
            remaining = RawRows(raw.values, raw.rows[rest], raw.mask, masks)
            whole, enough = np.empty(len(rest), dtype=np.uint64), np.empty(len(rest), dtype=bool)
            digest_rows(
                remaining,
                columns,
                probe_position[rest],
                sign,
                keys,
                summed,
                DISTINCT,
                whole,
                enough,
            )
            sums[rest], varied[rest] = whole, enough

    @property
    def reads_rows(self) -> bool:
        """Whether all rows are read; of embeddings that are no matrix, a few columns suffice."""
        return self.scores._embedding_source is None

    def result(self) -> Self:
        """Return the digests."""
        if not self._seen:
            with computed_by(None):  # so few scores are not worth sending
                self._read_few()
        return self

    def _read_few(self) -> None:
        """Say which probes have enough distinct scores, by a few columns where these suffice."""
        m, n = self.scores.shape
        some = np.linspace(0, n - 1, min(n, _COLUMNS)).astype(np.int64)
        self.varied = self._varied(self.scores.select(gallery=np.unique(some)))
        rest = np.flatnonzero(~self.varied)
        if len(rest) and n > _COLUMNS:
            self.varied[rest] = self._varied(self.scores.select(probes=rest))

    @staticmethod
    def _varied(scores: Scores) -> np.ndarray:
        """Return which probes have enough distinct scores."""
        reader = BlockReader(scores._reading_selected_columns())
        varied = np.zeros(scores.shape[0], dtype=bool)
        keys, none = np.empty(scores.shape[1], dtype=np.uint64), np.empty(len(varied), np.uint64)
        for block in reader:
            rows = slice(block.low, block.low + len(block.values))
            raw = RawRows(block.values, np.arange(len(block.values)))
            position = block.probe_position
            digest_rows(raw, _NONE, position, 1.0, keys, False, DISTINCT, none[rows], varied[rows])
        return varied

    def score_digests(self, key: DigestKey) -> np.ndarray:
        """Return a digest of the scores of each probe, or of its embedding."""
        embeddings = self.scores._embedded_probes
        if embeddings is None:
            return self.sums
        features = key.digests("feature", map(str, range(embeddings.shape[1])))
        m, keys = len(embeddings), mixing_keys(features)
        sums, step = np.zeros(m, dtype=np.uint64), max(1, _PIECE // len(features))
        for low in range(0, m, step):
            some = np.ascontiguousarray(embeddings[low : low + step], dtype=np.float64)
            raw, no_self = RawRows(some, np.arange(len(some))), np.full(len(some), -1)
            here, varied = sums[low : low + step], np.empty(0, dtype=bool)
            digest_rows(raw, _NONE, no_self, 1.0, keys, True, 0, here, varied)
        return sums
