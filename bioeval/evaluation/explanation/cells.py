"""The comparisons of one row, and why some are not attempts.

What is an attempt is read off the blocks that are counted (:class:`BlockReader`); here is said why.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.protocol.card import Protocol
from bioeval.protocol.pairs import with_exclusions
from bioeval.scores.arrays import GENUINE, IGNORE
from bioeval.scores.blocks import BlockReader
from bioeval.scores.formats.image_lists import NAME_COLUMNS
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores

ITSELF = "the probe itself: a template is never compared with itself"

FAILED = "failed comparison (NaN)"


@dataclass(frozen=True)
class Cell:
    """One comparison of a row.

    Attributes
    ----------
    column : int
        The gallery template, from 0.
    group : int
        Its subject, in the order of the gallery.
    own : bool
        Whether it is genuine: of the probe's subject, or so by the mask.
    distance : float or None
        Smaller is closer; None where it is not an attempt.
    score : float or None
        As given; None where it is never read.
    why : str
        Why it is not an attempt, or that it failed.
    """

    column: int
    group: int
    own: bool
    distance: float | None
    score: float | None
    why: str = ""


class RowCells:
    """Reads the comparisons of a row, as `reader` counts them.

    `given` are the scores before the `card` left out comparisons.
    """

    def __init__(self, reader: BlockReader, given: Scores, card: Protocol):
        self.reader, self.scores = reader, reader.scores
        self.given, self.excluding, self.card = given, with_exclusions(given, card), card
        self.names = template_names(self.scores.gallery_meta, self.scores.shape[1])
        labelled = self.scores.labelled
        subjects = self.scores.gallery_labels.tolist() if labelled else []
        self.subjects = list(map(str, subjects)) or [""] * self.scores.shape[1]
        self._known: dict[int, tuple[Cell, ...]] = {}

    def of(self, i: int) -> tuple[Cell, ...]:
        """Return the comparisons of row `i`, in the order of the columns."""
        if i not in self._known:
            self._known = {i: tuple(self._read(i))}
        return self._known[i]

    def _read(self, i: int) -> list[Cell]:
        block = self.reader.block(i, i + 1)
        row, gallery = i - block.low, self.reader.gallery
        raw = self.scores.read_rows(i, i + 1)[0].tolist()
        group = np.repeat(np.arange(len(gallery.subjects)), np.diff(gallery.starts)).tolist()
        genuine = np.zeros(len(raw), dtype=bool)
        genuine[block.mate_start[row] : block.mate_stop[row]] = True
        if not self.scores.labelled and block.mask is not None:
            genuine = block.mask[row] == GENUINE
        columns, distances = block.columns[0].tolist(), block.values[row].tolist()
        itself, reasons = int(block.self_position[row]), None
        found = []
        for position, (column, distance) in enumerate(zip(columns, distances, strict=True)):
            score, why = raw[column], ""
            if position == itself:
                score, distance, why = None, math.nan, ITSELF
            elif math.isnan(distance):
                reasons = reasons or _Reasons(self, i)
                why = reasons.of(column)
            elif math.isnan(score):
                why = f"{FAILED}: an attempt at an infinite distance"
            usable = None if math.isnan(distance) else distance
            found.append(Cell(column, group[position], bool(genuine[position]), usable, score, why))
        return sorted(found, key=lambda cell: cell.column)


class _Reasons:
    """Reasons why comparisons of a row, other than with the probe itself, are not attempts."""

    def __init__(self, row: RowCells, i: int):
        self.scores, self.i = row.excluding, i
        every = np.arange(self.scores.shape[1])
        cells = np.full(len(every), i), every
        nothing = np.zeros(len(every), dtype=bool)
        self.masked, self.removed = (_ignored(x, i) for x in (row.given, row.scores))
        self.excluded = self.scores.excluded(*cells) if self.scores.exclude else nothing
        times = self.scores.enrolment_times
        self.not_enrolled = nothing if times is None else times.not_enrolled(*cells)
        verification = row.card.verification
        self.pairs = "ordered" if verification is None else verification.pairs

    def of(self, column: int) -> str:
        """Return the reason of one comparison."""
        if self.masked[column]:
            return "left out by the mask"
        if self.not_enrolled[column]:
            return "not enrolled when the probe is seen"
        if self.excluded[column]:
            return f"same subject and same {self._shared(column)}"
        if self.removed[column]:
            if self.pairs != "ordered":
                return f"no pair of the rule pairs = {self.pairs}"
            return "removed by the convention of re-identification"
        return FAILED

    def _shared(self, column: int) -> str:
        """Return the metadata column by which a pair of one subject is left out, with its value."""
        probe, gallery = self.scores.probe_meta, self.scores.gallery_meta
        for name in self.scores.exclude_columns:
            value = plain(probe[name][self.i])
            if value == plain(gallery[name][column]):
                return f"{name} ({value})"
        return "metadata"


def _ignored(scores: Scores, i: int) -> np.ndarray:
    """Return which comparisons of a row the mask excludes."""
    if not scores.has_mask:
        return np.zeros(scores.shape[1], dtype=bool)
    return scores.read_mask(i, i + 1)[0] == IGNORE


def template_names(meta: Mapping[str, Any], number: int) -> list[str]:
    """Return the names of templates, from a metadata column of names; else their positions."""
    for name in ("template", *NAME_COLUMNS):
        if name in meta:
            return [str(value) for value in meta[name].tolist()]
    return list(map(str, range(number)))
