"""Probes and gallery templates whose label is likely wrong, and people with two names.

A label is likely wrong if the template is much nearer to another label than to its own, and if it
is nearer to this other label than to any third label, by as much as templates usually are to their
own. A template that is as near to several labels matches nobody: its capture failed, or its person
has no label. Two labels are likely one person if most templates of each are as near to the other
label as templates of one label are to each other. The rules, and how often they err, are in
``docs/checks.md``.

The contrast of a template is the logarithm of the ratio of its distances to its own and to the
nearest other label: negative if its own label is nearer. Scores without a natural zero
(similarities, log-likelihood ratios, distances of which some median is negative) have the
difference of both distances in place of the logarithm.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.counting.thresholds import to_user
from bioeval.scores.codes import Codes, present
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import attempted, rows_per_block, threads_for
from bioeval.scores.selecting import of_own_columns
from bioeval.showing.cells import Count
from bioeval.showing.text import Enumeration, Text, say
from bioeval.studies.check.findings import Finding, LabelError, Side, listed, passed, place_in_words
from bioeval.studies.check.scan import by_label, label_medians

# Rates of false discoveries: among templates with a wrong label, and among labels with two names.
_RATE, _RATE_OF_LABELS = 0.001, 0.03

# A template with a wrong label is nearer to the other label by at least this fraction of the usual
# contrast.
_MIRRORED = 0.5

# Two labels are one person if the distance between them has come down from the distance between
# other labels to the distance within a label by at least the fraction `_WAY`, and if templates are
# nearer to their own label by at most the fraction `_APART` of the usual contrast.
_WAY, _APART = 0.85, 0.75

# Number of values that are read from columns of the gallery at a time.
_KEPT_VALUES = 1 << 22

_MAD = 1.4826  # standard deviation over median absolute deviation, of a normal distribution

#: Codes of two labels, the smaller one first.
TwoLabels = tuple[int, int]


def outlying(values: np.ndarray, rate: float) -> np.ndarray:
    """Return which values are too large to be due to chance, at a rate of false discoveries.

    The p-values are of a normal distribution with the median and the median absolute deviation of
    the values; the rate is controlled by the procedure of Benjamini and Hochberg (1995).
    """
    from scipy.special import ndtr

    defined = values[~np.isnan(values)]
    with np.errstate(invalid="ignore"):
        middle = np.median(defined) if len(defined) else np.nan
        spread = _MAD * np.median(abs(defined - middle)) if len(defined) else np.nan
        if not 0 < spread < np.inf:
            return np.zeros(len(values), dtype=bool)
        p_values = ndtr((middle - values) / spread)
    ordered = np.sort(p_values[~np.isnan(p_values)])
    rejected = ordered[ordered <= rate * np.arange(1, len(ordered) + 1) / len(ordered)]
    return p_values <= rejected.max(initial=-1.0)


def contrasts(scores: Scores, medians: np.ndarray) -> np.ndarray:
    """Return how much nearer each template is to another label than to its own; NaN if unknown.

    `medians` are as of :func:`label_medians`.
    """
    return _contrast_of(medians, _has_natural_zero(scores, medians))


def _contrast_of(medians: np.ndarray, natural_zero: bool) -> np.ndarray:
    to_own, to_nearest = _scaled(medians, natural_zero)
    with np.errstate(invalid="ignore"):
        return np.where(to_own == to_nearest, 0.0, to_own - to_nearest)


def _scaled(medians: np.ndarray, natural_zero: bool) -> np.ndarray:
    """Return distances to the own and the nearest other label, (2, rows), or their logarithms."""
    distances = medians[:, :2].T
    if not natural_zero:
        return distances
    with np.errstate(divide="ignore"):
        return np.log(distances)


def _has_natural_zero(scores: Scores, medians: np.ndarray) -> bool:
    """Whether distances begin at 0, so that ratios of distances have a meaning."""
    return scores.kind == "distance" and not (medians[:, :2] < 0).any()


def label_errors(
    scores: Scores, medians: np.ndarray, most: int, two_names: set[TwoLabels]
) -> tuple[list[LabelError], tuple[Finding, Finding]]:
    """Return templates whose label is likely wrong, up to `most`, and two findings.

    The first finding is about these templates, the second about templates that match neither their
    own label nor another. `medians`, as of :func:`label_medians`, are of all rows. A template that
    is nearest to the other of `two_names` of its person has no wrong label.
    """
    codes = scores.codes
    labels = {"both": codes.probe}
    medians_of = {"both": medians}
    if scores.layout == "probe-against-gallery":
        labels = {"probe": codes.probe, "gallery": codes.gallery}
        medians_of = {"probe": medians, "gallery": _medians_of_gallery(scores)}
    contrast = {side: contrasts(scores, x) for side, x in medians_of.items()}
    is_suspect = {side: _much_nearer(x) for side, x in contrast.items()}
    matches_one = {
        side: _matches_one(scores, side, x, contrast[side], is_suspect[side])
        for side, x in medians_of.items()
    }
    is_judged = {side: ~np.isnan(x) for side, x in contrast.items()}
    if len(labels) == 2:
        _leave_out_explained([*labels.values()], [*is_suspect.values()], [*is_judged.values()])

    # Suspects, (negative contrast, side, place), so that sorting puts the most certain ones first.
    mislabelled = list[tuple[float, str, int]]()
    unmatched = list[tuple[float, str, int]]()
    for side, label in labels.items():
        for place in np.flatnonzero(is_suspect[side]).tolist():
            two_labels = sorted((int(label[place]), int(medians_of[side][place, 2])))
            if tuple(two_labels) in two_names:
                continue
            suspects = mislabelled if matches_one[side][place] else unmatched
            suspects.append((-contrast[side][place], side, place))
    errors = [
        _label_error(scores, side, place, medians_of[side][place])
        for _, side, place in sorted(mislabelled)[:most]
    ]
    judged = sum(int(x.sum()) for x in is_judged.values())
    findings = (
        _finding_of_suspects(scores, "label-errors", mislabelled, judged, most),
        _finding_of_suspects(scores, "failed-captures", unmatched, judged, most),
    )
    return errors, findings


def _finding_of_suspects(
    scores: Scores, check: str, suspects: list[tuple[float, str, int]], judged: int, most: int
) -> Finding:
    if not suspects:
        return passed(check)
    codes = {"label-errors": "labels-likely-wrong", "failed-captures": "captures-likely-failed"}
    message = Message(codes[check], templates=len(suspects), compared=judged)
    named = [(side, place) for _, side, place in sorted(suspects)[:most]]
    where = _places_in_words(scores, named, len(suspects))
    return Finding(check, "warning", message, len(suspects), where)


def _much_nearer(contrast: np.ndarray) -> np.ndarray:
    """Return which templates are much nearer to another label than to their own.

    Their contrasts are outliers, and positive by at least `_MIRRORED` of the usual contrast.
    """
    defined = contrast[~np.isnan(contrast)]
    usual = np.median(defined) if len(defined) else 0.0
    with np.errstate(invalid="ignore"):
        return outlying(contrast, _RATE) & (usual < 0) & (contrast >= -_MIRRORED * usual)


def _matches_one(
    scores: Scores, side: str, medians: np.ndarray, contrast: np.ndarray, is_suspect: np.ndarray
) -> np.ndarray:
    """Return which suspects match one other label, as templates usually match their own.

    They are nearer to this label than to any third one by `_MIRRORED` of the usual contrast.
    """
    matches = np.zeros(len(is_suspect), dtype=bool)
    defined = contrast[~np.isnan(contrast)]
    codes = scores.codes
    label, compared_labels = (codes.probe, codes.gallery)
    if side == "gallery":
        label, compared_labels = compared_labels, label
    order, starts = by_label(compared_labels, len(codes.values))
    for place in np.flatnonzero(is_suspect).tolist():
        if side == "gallery":
            values = _distances_to_columns(scores, np.array([place])).T
        else:
            values = attempted(scores, place, place + 1)
        values[0, compared_labels == medians[place, 2]] = np.nan
        ((_, to_third, _),) = label_medians(values, order, starts, label[place : place + 1])
        if np.isnan(to_third):  # there is no third label
            matches[place] = True
            continue
        # The contrast that the template would have if the nearest label were its own.
        mirrored = np.array([[medians[place, 1], to_third, 0.0]])
        gap = _contrast_of(mirrored, _has_natural_zero(scores, medians))
        matches[place] = gap <= _MIRRORED * np.median(defined)
    return matches


def _leave_out_explained(
    label: list[np.ndarray], is_suspect: list[np.ndarray], is_judged: list[np.ndarray]
) -> None:
    """Remove suspects that wrong labels of the other side explain; each list has both sides.

    All templates of a label may seem wrong because templates on the other side are wrong. If all
    templates of a label seem wrong on both sides, the side with fewer of them keeps its suspects;
    with equal numbers, both sides do.
    """
    size = max(int(x.max()) for x in label) + 1
    # For each side, (labels,): the number of suspects, and whether all templates are suspects.
    suspects = [np.bincount(x[y], minlength=size) for x, y in zip(label, is_suspect, strict=True)]
    all_suspect = [
        number == np.bincount(x[y], minlength=size)
        for number, x, y in zip(suspects, label, is_judged, strict=True)
    ]
    for side, other_side in ((0, 1), (1, 0)):
        is_explained = (suspects[other_side] > 0) & all_suspect[side]
        is_explained &= ~all_suspect[other_side] | (suspects[other_side] < suspects[side])
        is_suspect[side] &= ~is_explained[label[side]]


@stage("comparing labels of the gallery")
def _medians_of_gallery(scores: Scores) -> np.ndarray:
    codes = scores.codes
    probes, templates = scores.shape
    order, starts = by_label(codes.probe, len(codes.values))
    medians = np.empty((templates, 3))
    step = max(1, _KEPT_VALUES // probes)
    with threads_for(scores):
        for low in range(0, templates, step):
            columns = np.arange(low, min(low + step, templates))
            values = _distances_to_columns(scores, columns).T
            medians[columns] = label_medians(values, order, starts, codes.gallery[columns])
    return medians


def _distances_to_columns(scores: Scores, columns: np.ndarray) -> np.ndarray:
    selected = of_own_columns(scores.select(gallery=columns))
    probes, step = scores.shape[0], rows_per_block(scores)
    return np.concatenate(
        [attempted(selected, low, min(low + step, probes)) for low in range(0, probes, step)]
    )


def _label_error(scores: Scores, side: str, place: int, medians: np.ndarray) -> LabelError:
    codes, nearest_label = scores.codes, int(medians[2])
    side_of_template = (scores.probe_labels, scores.probe_meta)
    other_side = (scores.gallery_labels, scores.gallery_meta)
    if side == "gallery":
        side_of_template, other_side = other_side, side_of_template
        candidates = np.flatnonzero(codes.probe == nearest_label)
        distances = _distances_to_columns(scores, np.array([place]))[candidates, 0]
    else:
        candidates = np.flatnonzero(codes.gallery == nearest_label)
        distances = attempted(scores, place, place + 1)[0, candidates]
    nearest = int(candidates[np.nanargmin(distances)])
    own_score, nearest_score = to_user(medians[:2], scores.kind).tolist()
    return LabelError(
        side,
        Side.from_columns(*side_of_template, place),
        plain(codes.values[nearest_label]),
        own_score,
        nearest_score,
        Side.from_columns(*other_side, nearest),
    )


def _places_in_words(scores: Scores, templates: list[tuple[str, int]], number: int) -> Text:
    """Name the rows and columns of listed templates, (side, place), of `number` templates."""
    texts = list[Text]()
    columns = sorted(place for side, place in templates if side == "gallery")
    rows = sorted(place for side, place in templates if side != "gallery")
    for noun, meta, lines in (
        ("row", scores.probe_meta, rows),
        ("column", scores.gallery_meta, columns),
    ):
        places = [place_in_words(i, meta) for i in lines]
        if places:
            name = noun if len(places) == 1 else f"{noun}s"
            texts.append(say("{line} {places}", line=name, places=Enumeration(places, "")))
    where: Text = Enumeration(texts, ";")
    if len(templates) < number:
        listed, total = Count(len(templates)), Count(number)
        where = say("{shown} of {number}: {where}", shown=listed, number=total, where=where)
    return where


def two_names(scores: Scores, medians: np.ndarray) -> tuple[set[TwoLabels], Finding]:
    """Return the pairs of labels that are likely one person, and the finding.

    `medians`, as of :func:`label_medians`, are of all rows.
    """
    pairs = set(_pairs_of_one_person(scores, medians))
    if not pairs:
        return pairs, passed("two-names")
    names = (map(plain, scores.codes.values[list(pair)].tolist()) for pair in sorted(pairs))
    where = listed(say("{one:name} and {two:name}", one=a, two=b) for a, b in names)
    message = Message("two-names-likely", pairs=len(pairs))
    return pairs, Finding("two-names", "warning", message, len(pairs), where)


class _LabelFacts(NamedTuple):
    """How near the probes of each label are to their nearest other label, (labels,)."""

    distance: np.ndarray  # float64: median over the probes, NaN without one that is judged
    contrast: np.ndarray  # float64: median over the probes, NaN without a finite one
    nearest: np.ndarray  # int64: the label nearest to more than half of the probes, -1 for none

    @classmethod
    def from_rows(
        cls, codes: Codes, distance: np.ndarray, contrast: np.ndarray, nearest_label: np.ndarray
    ) -> Self:
        """Summarise probes by label; probes whose `distance` is NaN are left out."""
        size = len(codes.values)
        facts = cls(np.full(size, np.nan), np.full(size, np.nan), np.full(size, -1))
        order, starts = by_label(codes.probe, len(codes.values))
        for label in np.unique(codes.probe[~np.isnan(distance)]).tolist():
            rows = order[starts[label] : starts[label + 1]]
            rows = rows[~np.isnan(distance[rows])]
            labels, probes = np.unique(nearest_label[rows], return_counts=True)
            if 2 * probes.max() > len(rows):
                facts.nearest[label] = labels[probes.argmax()]
            facts.distance[label] = np.median(distance[rows])
            if len(finite := contrast[rows][np.isfinite(contrast[rows])]):
                facts.contrast[label] = np.median(finite)
        return facts


def _pairs_of_one_person(scores: Scores, medians: np.ndarray) -> Iterator[TwoLabels]:
    codes = scores.codes
    to_own, to_nearest = _scaled(medians, _has_natural_zero(scores, medians))
    contrast = contrasts(scores, medians)
    nearest_label = medians[:, 2].astype(np.int64)
    is_judged = (
        np.isfinite(to_nearest) & ~codes.no_person[codes.probe] & ~codes.no_person[nearest_label]
    )
    has_contrast = is_judged & np.isfinite(contrast)
    if not has_contrast.any() or not np.isfinite(to_own).any():
        return
    to_nearest = np.where(is_judged, to_nearest, np.nan)
    labels = _LabelFacts.from_rows(codes, to_nearest, contrast, nearest_label)
    is_label = ~np.isnan(labels.distance)
    usual_to_nearest = np.median(labels.distance[is_label])
    usual_to_own = np.median(to_own[np.isfinite(to_own)])
    usual_contrast = np.median(contrast[has_contrast])
    if not (usual_to_own < usual_to_nearest and usual_contrast < 0):
        return
    is_enrolled = present(codes.gallery, len(codes.values))
    for first in np.flatnonzero(outlying(-labels.distance, _RATE_OF_LABELS)).tolist():
        second = int(labels.nearest[first])
        if second < 0:
            continue
        # If both labels have probes and gallery templates, each must be the nearest of the other.
        pair = [first]
        if is_label[second] and is_enrolled[first]:
            pair.append(second)
            if labels.nearest[second] != first:
                continue
        distance = np.mean(labels.distance[pair])
        if pair == [first]:  # one of several templates may have a wrong label
            distance = max(distance, _median_to_label(scores, medians, first, second))
        nearer_by = usual_to_nearest - distance
        finite = labels.contrast[pair][~np.isnan(labels.contrast[pair])]
        contrast_of_pair = np.mean(finite) / -usual_contrast if len(finite) else 0.0
        is_near = nearer_by >= _WAY * (usual_to_nearest - usual_to_own)
        if is_near and -_APART <= contrast_of_pair < _MIRRORED:
            yield min(first, second), max(first, second)


def _median_to_label(scores: Scores, medians: np.ndarray, label: int, other: int) -> float:
    """Return the median, over the probes of a label, of their upper median distance to another.

    The distances are scaled as in :func:`_scaled`.
    """
    probes = np.flatnonzero(scores.codes.probe == label)
    between_labels = scores.select(probes, np.flatnonzero(scores.codes.gallery == other))
    distances = np.sort(attempted(between_labels, 0, len(probes)), axis=1)
    finite = np.isfinite(distances).sum(axis=1)
    upper_medians = distances[np.flatnonzero(finite), (finite // 2)[finite > 0]]
    if _has_natural_zero(scores, medians):
        upper_medians = np.log(upper_medians)
    return float(np.median(upper_medians))
