"""Copies: the same template twice, under one label or under two."""

from __future__ import annotations

import math

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

# A near copy is nearer than the first fraction of the median distance, and nearer than the second
# fraction of any distance that is not a near copy's.
_NEAR, _APART = 1e-3, 1e-2

# This many distinct scores in equal steps are whole numbers or codes, of which some may well be 0.
_LEAST_LATTICE = 16

# Similarities above 1 by more than rounding have another scale, on which a copy's is not known.
_ROUNDING = 1e-6


def copies_of_matrix(scores: Scores, scanned: DataScan) -> Finding:
    """Return the finding of comparisons at the distance of a copy, or nearly so."""
    copy = distance_of_copy(scores.kind, scanned.rows.nearest)
    # (2, rows): how far the nearest templates of the same and of another label are from a copy.
    away = abs(scanned.nearest - copy).T
    sample = scanned.sample[~np.isnan(scanned.sample)]
    limits = [largest_of_copies(x, sample - copy) for x in away]
    under_one_label, under_two_labels = (
        np.flatnonzero(x <= limit) for x, limit in zip(away, limits, strict=True)
    )
    of_two = bool(len(under_two_labels))
    copied = under_two_labels if of_two else under_one_label
    limit = limits[of_two]
    cells = list[Text]()
    for row in copied[:SHOWN].tolist():
        is_copy = abs(attempted(scores, row, row + 1)[0] - copy) <= limit
        if knows_people(scores):
            is_copy &= (scores.codes.gallery == scores.codes.probe[row]) != of_two
        cells += [
            _cell_in_words(scores, row, column) for column in np.flatnonzero(is_copy).tolist()
        ]
    is_common = 2 * len(under_one_label) >= np.isfinite(away[0]).sum()
    natural = is_lattice(scanned.sample) or is_common
    number = {"templates": len(copied)}
    return _finding(scores, number, of_two, limit, listed(cells), natural)


def copies_of_pairs(scores: Scores, distances: np.ndarray) -> Finding:
    """Return the finding of pairs at the distance of a copy, or nearly so."""
    is_finite = np.isfinite(distances)
    away = abs(distances - distance_of_copy(scores.kind, distances[is_finite]))
    classes = is_finite & scores.genuine, is_finite & ~scores.genuine
    limits = [largest_of_copies(away[x], away[is_finite]) for x in classes]
    under_one_label, under_two_labels = (
        np.flatnonzero(x & (away <= y)) for x, y in zip(classes, limits, strict=True)
    )
    of_two = bool(len(under_two_labels))
    copied = under_two_labels if of_two else under_one_label
    is_common = 2 * len(under_one_label) >= classes[0].sum()
    natural = is_lattice(distances[is_finite]) or is_common
    pairs = listed_pairs(copied[:SHOWN])
    return _finding(scores, {"pairs": len(copied)}, of_two, limits[of_two], pairs, natural)


def _finding(
    scores: Scores,
    number: dict[str, int],
    of_two: bool,
    limit: float,
    places: Text,
    natural: bool,
) -> Finding:
    """Return the finding of copies under one label, or under two labels (`of_two`).

    `number` is the number of templates or of pairs, by their name. `natural` says that comparisons
    under one label may be at the distance of a copy without being copies.
    """
    check, (count,) = "zero-distance", number.values()
    if not count:
        return passed(check)
    copy = "distance 0" if scores.kind == "distance" else "similarity 1"
    closeness = f"within {limit:.3g} of {copy}" if limit else f"at {copy}"
    message = Message("copies-of-two" if of_two else "copies-of-one", copies=number, at=closeness)
    severity: Severity = "warning" if of_two or not natural else "note"
    return Finding(check, severity, message, count, places)


def distance_of_copy(kind: Kind, distances: np.ndarray) -> float:
    """Return the distance between copies, NaN where unknown; `distances` include the smallest.

    It is 0 for distances, and -1 for similarities, unless one is above 1.
    """
    copy = {"distance": 0.0, "similarity": -1.0}.get(kind, math.nan)
    if kind in LARGER_IS_CLOSER and (distances < copy - _ROUNDING).any():
        return math.nan
    return copy


def largest_of_copies(away: np.ndarray, usual: np.ndarray) -> float:
    """Return how far near copies are from copies at most; -1 if there are none.

    `away` are the distances of templates less the distance of a copy, `usual` those of a sample.
    """
    if not len(usual):
        return -1.0
    ordered = np.append(np.sort(away[np.isfinite(away)]), np.inf)
    is_near = ordered[:-1] <= _NEAR * np.median(abs(usual))
    is_before_gap = ordered[:-1] < _APART * ordered[1:]
    return float(ordered[:-1][is_near & is_before_gap].max(initial=-1.0))


def is_lattice(sample: np.ndarray) -> bool:
    """Whether scores are few, or in equal steps: 0 is then an ordinary distance."""
    values = np.unique(sample[np.isfinite(sample)])
    return len(values) < _LEAST_LATTICE or lattice_step(values, _LEAST_LATTICE) > 0


def duplicates(scores: Scores, scanned: DataScan) -> Finding:
    """Return the finding of equal rows and columns: templates that occur twice."""
    varied = scanned.rows.nearest < scanned.rows.farthest
    enough = scanned.digested >= max(_LEAST_COLUMNS, (scores.shape[1] - 2) // 2)
    groups = [("row", x) for x in _places_of_equal_digests(scanned.row_digests, varied & enough)]
    if (scanned.own_column < 0).sum() >= _LEAST_COLUMNS:
        varied = scanned.columns.nearest < scanned.columns.farthest
        groups += [("column", x) for x in _places_of_equal_digests(scanned.column_digests, varied)]
    if not groups:
        return passed("duplicates")
    labels = {"row": scores.probe_labels, "column": scores.gallery_labels}
    meta = {"row": scores.probe_meta, "column": scores.gallery_meta}
    mislabelled, labels_in_words = list[tuple[str, np.ndarray]](), ""
    if knows_people(scores):
        codes = {"row": scores.codes.probe, "column": scores.codes.gallery}
        mislabelled = [(side, places) for side, places in groups if np.ptp(codes[side][places])]
    if mislabelled:
        side, places = mislabelled[0]
        names = dict.fromkeys(repr(plain(label)) for label in labels[side][places])
        labels_in_words = f" under different labels ({', '.join(names)})"
    where = listed(
        say(
            "{side}s {places}",
            side=side,
            places=listed(place_in_words(i, meta[side]) for i in places.tolist()),
        )
        for side, places in mislabelled or groups
    )
    extra = sum(len(places) - 1 for _, places in groups)
    severity: Severity = "error" if mislabelled else "warning"
    message = Message("templates-repeated", templates=extra, labels=labels_in_words)
    return Finding("duplicates", severity, message, extra, where)


def _places_of_equal_digests(digests: np.ndarray, is_compared: np.ndarray) -> list[np.ndarray]:
    """Return the places of each digest that several templates have, in order of the first place."""
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
