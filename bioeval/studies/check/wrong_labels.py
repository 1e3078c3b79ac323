"""Probes and gallery templates whose label is likely wrong.

A label is likely wrong if the template is much nearer to another label than to its own, and if it
is nearer to this other label than to any third label, by as much as templates usually are to their
own. A template that is as near to several labels matches nobody: its capture failed, or its person
has no label. The rules, and how often they err, are in ``docs/checks.md``.

The contrast of a template is the logarithm of the ratio of its distances to its own and to the
nearest other label: negative if its own label is nearer. Scores without a natural zero
(similarities, log-likelihood ratios, distances of which some median is negative) have the
difference of both distances in place of the logarithm.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.counting.thresholds import to_user
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores
from bioeval.scores.row_memory import rows_per_block
from bioeval.scores.rows import attempted, threads_for
from bioeval.scores.selecting import of_own_columns
from bioeval.showing.cells import Count
from bioeval.showing.text import Enumeration, Text, say
from bioeval.studies.check.findings import Finding, LabelError, Side, passed, place_in_words
from bioeval.studies.check.label_distances import LabelMedians, TemplatesByLabel, outlying
from bioeval.studies.check.two_names import TwoLabels

# The rate of false discoveries among templates with a wrong label.
_RATE = 0.001

# A template with a wrong label is nearer to the other label by at least this fraction of the usual
# contrast.
_MIRRORED = 0.5

# Number of values that are read from columns of the gallery at a time.
_KEPT_VALUES = 1 << 22


def label_errors(
    scores: Scores, medians: LabelMedians, most: int, two_names: set[TwoLabels]
) -> tuple[list[LabelError], list[Finding]]:
    """Return templates whose label is likely wrong, up to `most`, and two findings.

    The first finding is about these templates, the second about templates that match neither their
    own label nor another. `medians` are of all rows. A template that is nearest to the other of
    `two_names` of its person has no wrong label.
    """
    sides = [_JudgedSide(scores, "both", medians)]
    if scores.layout == "probe-against-gallery":
        gallery = _JudgedSide(scores, "gallery", _medians_of_gallery(scores))
        sides = [_JudgedSide(scores, "probe", medians), gallery]
        _leave_out_explained(*sides)

    # The most certain suspects come first.
    suspects = [
        _Suspect(side, place)
        for side in sides
        for place in np.flatnonzero(side.is_suspect).tolist()
        if side.two_labels(place) not in two_names
    ]
    suspects.sort(key=lambda x: (-x.side.contrast[x.place], x.side.name, x.place))
    mislabelled, unmatched = list[_Suspect](), list[_Suspect]()
    for suspect in suspects:
        is_of_other_label = suspect.side.matches_one(suspect.place)
        (mislabelled if is_of_other_label else unmatched).append(suspect)

    judged = sum(int((~np.isnan(side.contrast)).sum()) for side in sides)
    findings = []
    for check, code, found in (
        ("label-errors", "labels-likely-wrong", mislabelled),
        ("failed-captures", "captures-likely-failed", unmatched),
    ):
        finding = passed(check)
        if found:
            message = Message(code, templates=len(found), compared=judged)
            where = _places_in_words(scores, found[:most], len(found))
            finding = Finding(check, "warning", message, len(found), where)
        findings.append(finding)
    return [x.side.label_error(x.place) for x in mislabelled[:most]], findings


class _JudgedSide:
    """The templates of one side, whose labels are judged by distances to the other side.

    A `place` is the row of a probe, or the column of a gallery template. Arrays are over the places
    unless they are of the other side.

    - `name`: ``"both"`` if rows are judged for both sides, else the side
    - `label` (int64), `other_label` (int64): codes of the labels of this and of the other side
    - `contrast` (float64): see the module; NaN if unknown
    - `is_suspect` (bool): whether the template is much nearer to another label than to its own
    """

    def __init__(
        self, scores: Scores, name: Literal["both", "probe", "gallery"], medians: LabelMedians
    ):
        self.scores, self.name, self.medians = scores, name, medians
        codes = scores.codes
        self.label, self.other_label = codes.probe, codes.gallery
        if name == "gallery":
            self.label, self.other_label = codes.gallery, codes.probe
        self.natural_zero = medians.has_natural_zero(scores.kind)
        self.contrast = medians.contrast(natural_zero=self.natural_zero)
        defined = self.contrast[~np.isnan(self.contrast)]
        self.usual_contrast = float(np.median(defined)) if len(defined) else 0.0
        with np.errstate(invalid="ignore"):
            is_mirrored = self.contrast >= -_MIRRORED * self.usual_contrast
        self.is_suspect = outlying(self.contrast, _RATE) & is_mirrored & (self.usual_contrast < 0)

    @cached_property
    def _others_by_label(self) -> TemplatesByLabel:
        return TemplatesByLabel.from_codes(self.other_label, len(self.scores.codes.values))

    def two_labels(self, place: int) -> TwoLabels:
        labels = int(self.label[place]), int(self.medians.nearest_label[place])
        return min(labels), max(labels)

    def matches_one(self, place: int) -> bool:
        """Whether a suspect matches one other label, as templates usually match their own.

        It is nearer to this label than to any third one by `_MIRRORED` of the usual contrast.
        """
        distances = self._distances(place)
        distances[self.other_label == self.medians.nearest_label[place]] = np.nan
        label = self.label[place : place + 1]
        third = LabelMedians.from_distances(distances[None], self._others_by_label, label)
        if np.isnan(third.to_nearest[0]):  # there is no third label
            return True
        # The contrast that the template would have if the nearest label were its own.
        to_other = self.medians.to_nearest[place : place + 1]
        mirrored = LabelMedians(to_other, third.to_nearest, third.nearest_label)
        contrast = mirrored.contrast(natural_zero=self.natural_zero)[0]
        return bool(contrast <= _MIRRORED * self.usual_contrast)

    def label_error(self, place: int) -> LabelError:
        scores, nearest_label = self.scores, int(self.medians.nearest_label[place])
        labels_and_meta = [
            (scores.probe_labels, scores.probe_meta),
            (scores.gallery_labels, scores.gallery_meta),
        ]
        own, other = labels_and_meta if self.name != "gallery" else labels_and_meta[::-1]
        candidates = np.flatnonzero(self.other_label == nearest_label)
        nearest = int(candidates[np.nanargmin(self._distances(place)[candidates])])
        own_score, nearest_score = (
            float(to_user(distances[place], scores.kind))
            for distances in (self.medians.to_own, self.medians.to_nearest)
        )
        return LabelError(
            side=self.name,
            template=Side.from_columns(*own, place),
            nearest_label=plain(scores.codes.values[nearest_label]),
            own_score=own_score,
            nearest_score=nearest_score,
            nearest=Side.from_columns(*other, nearest),
        )

    def _distances(self, place: int) -> np.ndarray:
        """Return the distances of a template to the other side; NaN where there is no attempt."""
        if self.name == "gallery":
            return _distances_to_columns(self.scores, np.array([place]))[:, 0]
        return attempted(self.scores, place, place + 1)[0]


class _Suspect(NamedTuple):
    """A template that is much nearer to another label than to its own."""

    side: _JudgedSide
    place: int


def _leave_out_explained(probes: _JudgedSide, gallery: _JudgedSide) -> None:
    """Remove suspects that wrong labels of the other side explain.

    All templates of a label may seem wrong because templates on the other side are wrong. If all
    templates of a label seem wrong on both sides, the side with fewer of them keeps its suspects;
    with equal numbers, both sides do.
    """
    sides = probes, gallery
    labels = max(int(side.label.max()) for side in sides) + 1
    # For each side, (labels,): the number of suspects, and whether all templates are suspects.
    suspects, all_suspect = [], []
    for side in sides:
        suspects.append(np.bincount(side.label[side.is_suspect], minlength=labels))
        judged = np.bincount(side.label[~np.isnan(side.contrast)], minlength=labels)
        all_suspect.append(suspects[-1] == judged)
    for this, other in ((0, 1), (1, 0)):
        is_explained = (suspects[other] > 0) & all_suspect[this]
        is_explained &= ~all_suspect[other] | (suspects[other] < suspects[this])
        sides[this].is_suspect &= ~is_explained[sides[this].label]


@stage("comparing labels of the gallery")
def _medians_of_gallery(scores: Scores) -> LabelMedians:
    codes = scores.codes
    probes, templates = scores.shape
    probes_by_label = TemplatesByLabel.from_codes(codes.probe, len(codes.values))
    medians = LabelMedians.empty(templates)
    columns_at_once = max(1, _KEPT_VALUES // probes)
    with threads_for(scores):
        for low in range(0, templates, columns_at_once):
            columns = np.arange(low, min(low + columns_at_once, templates))
            distances = _distances_to_columns(scores, columns).T
            labels = codes.gallery[columns]
            of_columns = LabelMedians.from_distances(distances, probes_by_label, labels)
            medians.put(slice(low, low + len(columns)), of_columns)
    return medians


def _distances_to_columns(scores: Scores, columns: np.ndarray) -> np.ndarray:
    """Return the distances to some gallery templates, float64 (probes, columns)."""
    selected = of_own_columns(scores.select(gallery=columns))
    probes, rows_at_once = scores.shape[0], rows_per_block(scores)
    blocks = [
        attempted(selected, low, min(low + rows_at_once, probes))
        for low in range(0, probes, rows_at_once)
    ]
    return np.concatenate(blocks)


def _places_in_words(scores: Scores, suspects: list[_Suspect], number: int) -> Text:
    """Name the rows and columns of listed suspects, of `number` suspects in all."""
    texts = list[Text]()
    columns = sorted(x.place for x in suspects if x.side.name == "gallery")
    rows = sorted(x.place for x in suspects if x.side.name != "gallery")
    for noun, meta, places in (
        ("row", scores.probe_meta, rows),
        ("column", scores.gallery_meta, columns),
    ):
        names = [place_in_words(place, meta) for place in places]
        if names:
            line = noun if len(names) == 1 else f"{noun}s"
            texts.append(say("{line} {places}", line=line, places=Enumeration(names, "")))
    where: Text = Enumeration(texts, ";")
    if len(suspects) < number:
        listed, total = Count(len(suspects)), Count(number)
        where = say("{shown} of {number}: {where}", shown=listed, number=total, where=where)
    return where
