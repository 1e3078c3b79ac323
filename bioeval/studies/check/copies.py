"""Copies: the same template twice, under one label or under two."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np

from bioeval.base.kinds import LARGER_IS_CLOSER, Kind
from bioeval.base.messages import Message
from bioeval.scores.distances import lattice_step
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.rows import attempted
from bioeval.showing.text import Text, say
from bioeval.studies.check.findings import (
    Finding,
    Severity,
    listed,
    listed_pairs,
    passed,
    place_in_words,
)
from bioeval.studies.check.scan import SHOWN, DataScan

# Digests of fewer columns may be equal by chance.
_LEAST_COLUMNS = 8

# A near copy is nearer than this fraction of the median distance.
_NEAR = 1e-3

# A near copy is nearer than this fraction of any distance that is not a near copy's.
_APART = 1e-2

# This many distinct scores in equal steps are whole numbers or codes, of which some may well be 0.
_LEAST_LATTICE = 16

# Similarities above 1 by more than rounding have another scale, on which a copy's is not known.
_ROUNDING = 1e-6


class _Copies(NamedTuple):
    """Templates, or pairs, at the distance of a copy or nearly so: all under one label, or two."""

    indices: np.ndarray  # int64: rows, or pairs
    under_two_labels: bool
    limit: float  # how far they are from the distance of a copy at most
    is_common: bool  # whether half of all comparisons under one label are as near

    @classmethod
    def from_distances(cls, from_copy: np.ndarray, usual: np.ndarray) -> Self:
        """Find copies; those under two labels are of more interest, if there are any.

        - `from_copy` (2, k): how far the comparison under one label, and under two labels, is from
          the distance of a copy; not finite where there is none
        - `usual`: the same of any comparisons
        """
        limits = [largest_of_copies(x, usual) for x in from_copy]
        copies = [np.flatnonzero(x <= limit) for x, limit in zip(from_copy, limits, strict=True)]
        is_common = 2 * len(copies[0]) >= np.isfinite(from_copy[0]).sum()
        labels = 1 if len(copies[1]) else 0
        return cls(copies[labels], bool(labels), limits[labels], bool(is_common))

    def finding(self, kind: Kind, noun: str, places: Text, *, lattice: bool) -> Finding:
        """Return the finding; `noun` says what the indices are.

        Comparisons under one label may be at the distance of a copy without being copies, if such
        comparisons are common, or if scores are a `lattice`.
        """
        number = len(self.indices)
        if not number:
            return passed("zero-distance")
        copy = "distance 0" if kind == "distance" else "similarity 1"
        closeness = f"within {self.limit:.3g} of {copy}" if self.limit else f"at {copy}"
        code = "copies-of-two" if self.under_two_labels else "copies-of-one"
        message = Message(code, copies={noun: number}, at=closeness)
        may_be_natural = not self.under_two_labels and (lattice or self.is_common)
        severity: Severity = "note" if may_be_natural else "warning"
        return Finding("zero-distance", severity, message, number, places)


def copies_of_matrix(scores: Scores, scanned: DataScan) -> Finding:
    """Return the finding of comparisons at the distance of a copy, or nearly so."""
    codes = scores.codes
    copy = distance_of_copy(scores.kind, scanned.rows.nearest)
    sample = scanned.sample[~np.isnan(scanned.sample)]
    copies = _Copies.from_distances(abs(scanned.nearest - copy).T, sample - copy)
    cells = list[Text]()
    for row in copies.indices[:SHOWN].tolist():
        is_copy = abs(attempted(scores, row, row + 1)[0] - copy) <= copies.limit
        if knows_people(scores):
            is_copy &= (codes.gallery != codes.probe[row]) == copies.under_two_labels
        columns = np.flatnonzero(is_copy).tolist()
        cells += [_cell_in_words(scores, row, column) for column in columns]
    lattice = is_lattice(scanned.sample)
    return copies.finding(scores.kind, "templates", listed(cells), lattice=lattice)


def copies_of_pairs(scores: Scores, distances: np.ndarray) -> Finding:
    """Return the finding of pairs at the distance of a copy, or nearly so."""
    finite = distances[np.isfinite(distances)]
    copy = distance_of_copy(scores.kind, finite)
    classes = np.stack([scores.genuine, ~scores.genuine])
    from_copy = np.where(classes, abs(distances - copy), np.inf)
    copies = _Copies.from_distances(from_copy, finite - copy)
    places = listed_pairs(copies.indices[:SHOWN])
    return copies.finding(scores.kind, "pairs", places, lattice=is_lattice(finite))


def distance_of_copy(kind: Kind, distances: np.ndarray) -> float:
    """Return the distance between copies, NaN where unknown; `distances` include the smallest.

    It is 0 for distances, and -1 for similarities, unless one is above 1.
    """
    copy = {"distance": 0.0, "similarity": -1.0}.get(kind, math.nan)
    if kind in LARGER_IS_CLOSER and (distances < copy - _ROUNDING).any():
        return math.nan
    return copy


def largest_of_copies(from_copy: np.ndarray, usual: np.ndarray) -> float:
    """Return how far near copies are from the distance of a copy at most; -1 if there are none.

    `from_copy` and `usual` are as for :meth:`_Copies.from_distances`.
    """
    if not len(usual):
        return -1.0
    ordered = np.append(np.sort(from_copy[np.isfinite(from_copy)]), np.inf)
    is_near = ordered[:-1] <= _NEAR * np.median(abs(usual))
    is_before_gap = ordered[:-1] < _APART * ordered[1:]
    return float(ordered[:-1][is_near & is_before_gap].max(initial=-1.0))


def is_lattice(sample: np.ndarray) -> bool:
    """Whether scores are few, or in equal steps: 0 is then an ordinary distance."""
    values = np.unique(sample[np.isfinite(sample)])
    return len(values) < _LEAST_LATTICE or lattice_step(values, _LEAST_LATTICE) > 0


class _EqualTemplates(NamedTuple):
    """Templates of one side whose rows, or columns, are equal."""

    line: str  # "row" or "column"
    places: np.ndarray  # int64: their rows or columns
    labels: np.ndarray
    meta: Mapping[str, np.ndarray]  # the metadata of all templates of the side

    @property
    def in_words(self) -> Text:
        places = listed(place_in_words(i, self.meta) for i in self.places.tolist())
        return say("{side}s {places}", side=self.line, places=places)


def duplicates(scores: Scores, scanned: DataScan) -> Finding:
    """Return the finding of equal rows and columns: templates that occur twice."""
    rows, columns = scanned.rows, scanned.columns
    has_digest = scanned.digested >= max(_LEAST_COLUMNS, (scores.shape[1] - 2) // 2)
    groups = [
        _EqualTemplates("row", x, scores.probe_labels[x], scores.probe_meta)
        for x in _places_of_equal_digests(
            scanned.row_digests, (rows.nearest < rows.farthest) & has_digest
        )
    ]
    if (scanned.own_column < 0).sum() >= _LEAST_COLUMNS:
        groups += [
            _EqualTemplates("column", x, scores.gallery_labels[x], scores.gallery_meta)
            for x in _places_of_equal_digests(
                scanned.column_digests, columns.nearest < columns.farthest
            )
        ]
    if not groups:
        return passed("duplicates")
    mislabelled = list[_EqualTemplates]()
    labels_in_words = ""
    if knows_people(scores):
        codes = {"row": scores.codes.probe, "column": scores.codes.gallery}
        mislabelled = [x for x in groups if np.ptp(codes[x.line][x.places])]
    if mislabelled:
        names = dict.fromkeys(repr(plain(label)) for label in mislabelled[0].labels)
        labels_in_words = f" under different labels ({', '.join(names)})"
    repeated = sum(len(x.places) - 1 for x in groups)
    message = Message("templates-repeated", templates=repeated, labels=labels_in_words)
    severity: Severity = "error" if mislabelled else "warning"
    where = listed(x.in_words for x in mislabelled or groups)
    return Finding("duplicates", severity, message, repeated, where)


def _places_of_equal_digests(digests: np.ndarray, is_compared: np.ndarray) -> list[np.ndarray]:
    places = np.flatnonzero(is_compared)
    order = places[np.argsort(digests[places], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(digests[order])) + 1)
    return sorted((x for x in groups if len(x) > 1), key=lambda places: places[0])


def _cell_in_words(scores: Scores, row: int, column: int) -> Text:
    cell = say(
        "row {row} column {column}",
        row=place_in_words(row, scores.probe_meta),
        column=place_in_words(column, scores.gallery_meta),
    )
    if not knows_people(scores):
        return cell
    return say(
        "{place} ({probe:name}, {gallery:name})",
        place=cell,
        probe=repr(plain(scores.probe_labels[row])),
        gallery=repr(plain(scores.gallery_labels[column])),
    )
