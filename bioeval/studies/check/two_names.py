"""People with two names: two labels that are likely one person.

Two labels are likely one person if most templates of each are as near to the other label as
templates of one label are to each other. The rule, and how often it errs, is in ``docs/checks.md``.
Distances and contrasts are scaled as in :mod:`bioeval.studies.check.wrong_labels`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from bioeval.base.messages import Message
from bioeval.scores.codes import Codes, present
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import attempted
from bioeval.showing.text import say
from bioeval.studies.check.findings import Finding, listed, passed
from bioeval.studies.check.label_distances import LabelMedians, TemplatesByLabel, outlying, scaled

# The rate of false discoveries among labels with two names.
_RATE = 0.03

# The distance between two labels of one person has come down from the usual distance to another
# label towards the usual distance within a label, by at least this fraction of the way.
_WAY = 0.85

# Of two labels of one person, templates are nearer to their own label by at most the fraction
# `_APART` of the usual contrast, and nearer to the other label by less than `_EXCHANGED` of it.
_APART = 0.75
_EXCHANGED = 0.5

#: Codes of two labels, the smaller one first.
TwoLabels = tuple[int, int]


def two_names(scores: Scores, medians: LabelMedians) -> tuple[set[TwoLabels], Finding]:
    """Return the pairs of labels that are likely one person, and the finding.

    `medians` are of all rows.
    """
    pairs = set(_pairs_of_one_person(scores, medians))
    if not pairs:
        return pairs, passed("two-names")
    names = (map(plain, scores.codes.values[list(pair)].tolist()) for pair in sorted(pairs))
    where = listed(say("{one:name} and {two:name}", one=a, two=b) for a, b in names)
    message = Message("two-names-likely", pairs=len(pairs))
    return pairs, Finding("two-names", "warning", message, len(pairs), where)


class _Probes(NamedTuple):
    """How near the probes are to labels, (probes,); distances are scaled."""

    codes: Codes
    to_own: np.ndarray  # float64: distance to the own label
    to_nearest: np.ndarray  # float64: distance to the nearest other label
    contrast: np.ndarray  # float64: NaN if a distance is unknown
    nearest_label: np.ndarray  # int64: code of the nearest other label
    #: bool: both the probe and its nearest label are of people, and their distance is finite.
    is_judged: np.ndarray

    @classmethod
    def from_medians(cls, codes: Codes, medians: LabelMedians, *, natural_zero: bool) -> Self:
        to_own, to_nearest = (scaled(x, natural_zero) for x in (medians.to_own, medians.to_nearest))
        is_of_no_person = codes.no_person[codes.probe] | codes.no_person[medians.nearest_label]
        return cls(
            codes,
            to_own,
            to_nearest,
            medians.contrast(natural_zero=natural_zero),
            medians.nearest_label,
            np.isfinite(to_nearest) & ~is_of_no_person,
        )


class _Labels(NamedTuple):
    """How near the probes of each label are to their nearest other label, (labels,)."""

    distance: np.ndarray  # float64: median over the judged probes, NaN without one
    contrast: np.ndarray  # float64: median over the judged probes, NaN without a finite one
    nearest: np.ndarray  # int64: the label nearest to more than half of the probes, -1 for none

    @classmethod
    def from_probes(cls, probes: _Probes) -> Self:
        codes = probes.codes
        size = len(codes.values)
        labels = cls(np.full(size, np.nan), np.full(size, np.nan), np.full(size, -1))
        probes_by_label = TemplatesByLabel.from_codes(codes.probe, size)
        for label in np.unique(codes.probe[probes.is_judged]).tolist():
            rows = probes_by_label.with_label(label)
            rows = rows[probes.is_judged[rows]]
            nearest, votes = np.unique(probes.nearest_label[rows], return_counts=True)
            if 2 * votes.max() > len(rows):
                labels.nearest[label] = nearest[votes.argmax()]
            labels.distance[label] = np.median(probes.to_nearest[rows])
            if len(finite := probes.contrast[rows][np.isfinite(probes.contrast[rows])]):
                labels.contrast[label] = np.median(finite)
        return labels

    def pairs(self, codes: Codes) -> Iterator[list[int]]:
        """Yield labels that are much nearer to another label than usual, each before the other.

        If both labels have probes and gallery templates, each must be the nearest of the other.
        Otherwise no probe of the other label is compared with this label: the list is of one label.
        """
        is_enrolled = present(codes.gallery, len(codes.values))
        for label in np.flatnonzero(outlying(-self.distance, _RATE)).tolist():
            nearest = int(self.nearest[label])
            if nearest < 0:
                continue
            if np.isnan(self.distance[nearest]) or not is_enrolled[label]:
                yield [label]
            elif self.nearest[nearest] == label:
                yield [label, nearest]


def _pairs_of_one_person(scores: Scores, medians: LabelMedians) -> Iterator[TwoLabels]:
    natural_zero = medians.has_natural_zero(scores.kind)
    probes = _Probes.from_medians(scores.codes, medians, natural_zero=natural_zero)
    has_contrast = probes.is_judged & np.isfinite(probes.contrast)
    if not has_contrast.any() or not np.isfinite(probes.to_own).any():
        return
    labels = _Labels.from_probes(probes)
    usual_to_nearest = np.nanmedian(labels.distance)
    usual_to_own = np.median(probes.to_own[np.isfinite(probes.to_own)])
    usual_contrast = np.median(probes.contrast[has_contrast])
    if not (usual_to_own < usual_to_nearest and usual_contrast < 0):
        return
    for pair in labels.pairs(scores.codes):
        label, other = pair[0], int(labels.nearest[pair[0]])
        distance = np.mean(labels.distance[pair])
        if pair == [label]:  # one of several templates may have a wrong label
            upper_median = _median_to_label(scores, label, other, natural_zero=natural_zero)
            distance = max(distance, upper_median)
        finite = labels.contrast[pair][~np.isnan(labels.contrast[pair])]
        share_of_contrast = np.mean(finite) / -usual_contrast if len(finite) else 0.0
        is_near = usual_to_nearest - distance >= _WAY * (usual_to_nearest - usual_to_own)
        if is_near and -_APART <= share_of_contrast < _EXCHANGED:
            yield min(label, other), max(label, other)


def _median_to_label(scores: Scores, label: int, other: int, *, natural_zero: bool) -> float:
    probes = np.flatnonzero(scores.codes.probe == label)
    between_labels = scores.select(probes, np.flatnonzero(scores.codes.gallery == other))
    distances = np.sort(attempted(between_labels, 0, len(probes)), axis=1)
    finite = np.isfinite(distances).sum(axis=1)
    upper_medians = distances[np.flatnonzero(finite), (finite // 2)[finite > 0]]
    return float(np.median(upper_medians if not natural_zero else np.log(upper_medians)))
