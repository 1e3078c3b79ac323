"""Templates whose label is likely wrong, of probes and in the gallery; people with two names.

A label is likely wrong where the template is much nearer to another label than to its own, and
stands to this one and all further labels as templates do to their own and the others. One that is
as near to several labels matches nobody: it is a failed capture, or its person is not here. Two
labels are likely one person where most templates of each are as near to the other as templates of
one label are to each other. The rules, and how often they err, are in ``docs/checks.md``. Of scores
without a natural zero (similarities, log-likelihood ratios, distances of which some median is
negative), differences stand for ratios.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.counting.thresholds import to_user
from bioeval.scores.labels import plain, present
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import attempted, rows_per_block, threads_for
from bioeval.scores.selecting import of_own_columns
from bioeval.showing.cells import Count
from bioeval.showing.text import Enumeration, Text, say
from bioeval.studies.check.findings import Finding, LabelError, Side, listed, passed, place_in_words
from bioeval.studies.check.scan import by_label, label_medians

# Rates of false discoveries among templates that are named, and among labels.
_RATE, _RATE_OF_LABELS = 0.001, 0.03

# How much nearer to another label a template with a wrong one is, where 1 is as much as templates
# usually are to their own.
_MIRRORED = 0.5

# Two names: the least part of the way from other labels to the own one; and the part of the usual
# contrast with which labels are apart.
_WAY, _APART = 0.85, 0.75

# Values of the gallery's columns that are read at a time.
_KEPT_VALUES = 1 << 22

_MAD = 1.4826  # of a normal distribution, the standard deviation over the MAD

#: Codes of two labels, the smaller one first.
TwoLabels = tuple[int, int]


def outlying(values: np.ndarray, rate: float) -> np.ndarray:
    """Return which values are too large for chance: robust scores, Benjamini and Hochberg."""
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
    """Return how much nearer each template is to another label than to its own; NaN if unknown."""
    return _contrast_of(medians, _has_natural_zero(scores, medians))


def _contrast_of(medians: np.ndarray, natural_zero: bool) -> np.ndarray:
    to_own, to_nearest = _scaled(medians, natural_zero)
    with np.errstate(invalid="ignore"):
        return np.where(to_own == to_nearest, 0.0, to_own - to_nearest)


def _scaled(medians: np.ndarray, natural_zero: bool) -> np.ndarray:
    """Return distances to the own and to the nearest label; with a natural zero, logarithms."""
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

    The second finding is of templates that match neither their own label nor another.

    `medians` are those of all rows. A template that is nearer to the other of `two_names` of one
    person, codes of labels, has a right one.
    """
    codes = scores.codes
    sides = {"both": (codes.probe, medians)}
    if scores.layout == "probe-against-gallery":
        of_gallery = codes.gallery, _medians_of_gallery(scores)
        sides = {"probe": (codes.probe, medians), "gallery": of_gallery}
    contrast = {side: contrasts(scores, x) for side, (_, x) in sides.items()}
    wrong = {side: _much_nearer(x) for side, x in contrast.items()}
    matching = {
        side: _matches_one(scores, side, x, contrast[side], wrong[side])
        for side, (_, x) in sides.items()
    }
    if len(sides) == 2:
        _leave_out_explained(
            [x for x, _ in sides.values()],
            [*wrong.values()],
            [~np.isnan(x) for x in contrast.values()],
        )
    named = list[tuple[float, str, int]]()
    unmatched = list[tuple[float, str, int]]()
    for side, (label, of_side) in sides.items():
        for place in np.flatnonzero(wrong[side]).tolist():
            two_labels = sorted((int(label[place]), int(of_side[place, 2])))
            if tuple(two_labels) in two_names:
                continue
            suspects = named if matching[side][place] else unmatched
            suspects.append((-contrast[side][place], side, place))
    errors = [
        _label_error(scores, side, place, sides[side][1][place])
        for _, side, place in sorted(named)[:most]
    ]
    judged = sum(int((~np.isnan(x)).sum()) for x in contrast.values())
    wrong_label = passed("label-errors")
    failed_capture = passed("failed-captures")
    if named:
        message = Message("labels-likely-wrong", templates=len(named), compared=judged)
        where = _places_in_words(scores, [(x.side, x.template.place) for x in errors], len(named))
        wrong_label = Finding("label-errors", "warning", message, len(named), where)
    if unmatched:
        message = Message("captures-likely-failed", templates=len(unmatched), compared=judged)
        listed = [(side, place) for _, side, place in sorted(unmatched)[:most]]
        where = _places_in_words(scores, listed, len(unmatched))
        failed_capture = Finding("failed-captures", "warning", message, len(unmatched), where)
    return errors, (wrong_label, failed_capture)


def _much_nearer(contrast: np.ndarray) -> np.ndarray:
    """Return outlying templates: nearer to another label by at least half of the usual contrast."""
    defined = contrast[~np.isnan(contrast)]
    usual = np.median(defined) if len(defined) else 0.0
    with np.errstate(invalid="ignore"):
        return outlying(contrast, _RATE) & (usual < 0) & (contrast >= -_MIRRORED * usual)


def _matches_one(
    scores: Scores, side: str, medians: np.ndarray, contrast: np.ndarray, suspect: np.ndarray
) -> np.ndarray:
    """Return which suspects match one other label as templates match their own.

    A match is nearer to this label than to the next by at least half of the usual contrast.
    """
    matches = np.zeros(len(suspect), dtype=bool)
    defined = contrast[~np.isnan(contrast)]
    codes = scores.codes
    label, compared_labels = (codes.probe, codes.gallery)
    if side == "gallery":
        label, compared_labels = compared_labels, label
    order, starts = by_label(compared_labels, len(codes.values))
    for place in np.flatnonzero(suspect).tolist():
        if side == "gallery":
            values = _distances_to_columns(scores, np.array([place])).T
        else:
            values = attempted(scores, place, place + 1)
        values[0, compared_labels == medians[place, 2]] = np.nan
        ((_, further, _),) = label_medians(values, order, starts, label[place : place + 1])
        if np.isnan(further):  # there is no other label
            matches[place] = True
            continue
        lone = np.array([[medians[place, 1], further, 0.0]])
        gap = _contrast_of(lone, _has_natural_zero(scores, medians))
        matches[place] = gap <= _MIRRORED * np.median(defined)
    return matches


def _leave_out_explained(
    label: list[np.ndarray], wrong: list[np.ndarray], judged: list[np.ndarray]
) -> None:
    """Leave out, on both sides, templates that a wrong label of the other side explains.

    All templates of a label may seem wrong because the templates on the other side are wrong. Where
    all templates of both sides seem wrong, the fewer are named; of equal numbers, all are named.
    """
    size = max(int(x.max()) for x in label) + 1
    # Of both sides (labels,): how many templates seem wrong, and whether all of a label do.
    number = [np.bincount(x[y], minlength=size) for x, y in zip(label, wrong, strict=True)]
    all_wrong = [
        n == np.bincount(x[y], minlength=size)
        for n, x, y in zip(number, label, judged, strict=True)
    ]
    for side, across in ((0, 1), (1, 0)):
        explained = (number[across] > 0) & all_wrong[side]
        explained &= ~all_wrong[across] | (number[across] < number[side])
        wrong[side] &= ~explained[label[side]]


@stage("comparing labels of the gallery")
def _medians_of_gallery(scores: Scores) -> np.ndarray:
    """Return medians as of :func:`label_medians`, a row for each gallery template."""
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
    """Return the distances of all probes to some gallery templates, (probes, columns)."""
    part = of_own_columns(scores.select(gallery=columns))
    probes, step = scores.shape[0], rows_per_block(scores)
    return np.concatenate(
        [attempted(part, i, min(i + step, probes)) for i in range(0, probes, step)]
    )


def _label_error(scores: Scores, side: str, place: int, medians: np.ndarray) -> LabelError:
    codes, label = scores.codes, int(medians[2])
    template = (scores.probe_labels, scores.probe_meta)
    compared = (scores.gallery_labels, scores.gallery_meta)
    if side == "gallery":
        template, compared = compared, template
        candidates = np.flatnonzero(codes.probe == label)
        distances = _distances_to_columns(scores, np.array([place]))[candidates, 0]
    else:
        candidates = np.flatnonzero(codes.gallery == label)
        distances = attempted(scores, place, place + 1)[0, candidates]
    nearest = int(candidates[np.nanargmin(distances)])
    own_score, nearest_score = to_user(medians[:2], scores.kind).tolist()
    return LabelError(
        side,
        Side.from_columns(*template, place),
        plain(codes.values[label]),
        own_score,
        nearest_score,
        Side.from_columns(*compared, nearest),
    )


def _places_in_words(scores: Scores, templates: list[tuple[str, int]], number: int) -> Text:
    parts = list[Text]()
    of_gallery = sorted(place for side, place in templates if side == "gallery")
    of_probes = sorted(place for side, place in templates if side != "gallery")
    for line, meta, of_line in (
        ("row", scores.probe_meta, of_probes),
        ("column", scores.gallery_meta, of_gallery),
    ):
        places = [place_in_words(i, meta) for i in of_line]
        if places:
            name = line if len(places) == 1 else f"{line}s"
            parts.append(say("{line} {places}", line=name, places=Enumeration(places, "")))
    where: Text = Enumeration(parts, ";")
    if len(templates) < number:
        listed, total = Count(len(templates)), Count(number)
        where = say("{shown} of {number}: {where}", shown=listed, number=total, where=where)
    return where


def two_names(scores: Scores, medians: np.ndarray) -> tuple[set[TwoLabels], Finding]:
    """Return the pairs of labels that are likely one person, and the finding.

    `medians` are those of all rows.
    """
    pairs = set(_two_names(scores, medians))
    if not pairs:
        return pairs, passed("two-names")
    names = (map(plain, scores.codes.values[list(pair)].tolist()) for pair in sorted(pairs))
    where = listed(say("{one:name} and {two:name}", one=a, two=b) for a, b in names)
    message = Message("two-names-likely", pairs=len(pairs))
    return pairs, Finding("two-names", "warning", message, len(pairs), where)


def _two_names(scores: Scores, medians: np.ndarray) -> Iterator[TwoLabels]:
    codes = scores.codes
    to_own, to_nearest = _scaled(medians, _has_natural_zero(scores, medians))
    contrast = contrasts(scores, medians)
    nearest_label = medians[:, 2].astype(np.int64)
    judged = (
        np.isfinite(to_nearest) & ~codes.no_person[codes.probe] & ~codes.no_person[nearest_label]
    )
    compared = judged & np.isfinite(contrast)
    if not compared.any() or not np.isfinite(to_own).any():
        return
    labels = np.unique(codes.probe[judged])
    # Of each label: medians over its probes, and the label nearest to more than half of them.
    distance, contrast_of_label = np.full((2, len(codes.values)), np.nan)
    nearest = np.full(len(codes.values), -1)
    order, starts = by_label(codes.probe, len(codes.values))
    for label in labels.tolist():
        rows = order[starts[label] : starts[label + 1]]
        rows = rows[judged[rows]]
        names, number = np.unique(nearest_label[rows], return_counts=True)
        if 2 * number.max() > len(rows):
            nearest[label] = names[number.argmax()]
        distance[label] = np.median(to_nearest[rows])
        if len(defined := contrast[rows][np.isfinite(contrast[rows])]):
            contrast_of_label[label] = np.median(defined)
    middle = np.median(distance[labels])
    usual = np.median(to_own[np.isfinite(to_own)])
    usual_contrast = np.median(contrast[compared])
    if not (usual < middle and usual_contrast < 0):
        return
    enrolled = present(codes.gallery, len(codes.values))
    for first in np.flatnonzero(outlying(-distance, _RATE_OF_LABELS)).tolist():
        second = int(nearest[first])
        sides = [first]
        if second in labels and enrolled[first]:
            sides.append(second)
            if nearest[second] != first:
                continue
        to_other = np.mean(distance[sides])
        if sides == [first] and second >= 0:  # one of several templates may have a wrong label
            to_other = max(to_other, _median_to_label(scores, medians, first, second))
        # How much nearer than a typical nearest label, and the contrast as a share of the usual.
        nearer_by = middle - to_other
        defined = contrast_of_label[sides][~np.isnan(contrast_of_label[sides])]
        between = np.mean(defined) / -usual_contrast if len(defined) else 0.0
        if second >= 0 and nearer_by >= _WAY * (middle - usual) and -_APART <= between < _MIRRORED:
            yield min(first, second), max(first, second)


def _median_to_label(scores: Scores, medians: np.ndarray, label: int, other: int) -> float:
    """Return the median, over the probes of a label, of upper median distances to another label."""
    probes = np.flatnonzero(scores.codes.probe == label)
    between_labels = scores.select(probes, np.flatnonzero(scores.codes.gallery == other))
    distances = np.sort(attempted(between_labels, 0, len(probes)), axis=1)
    number = np.isfinite(distances).sum(axis=1)
    upper = distances[np.flatnonzero(number), (number // 2)[number > 0]]
    return float(np.median(np.log(upper) if _has_natural_zero(scores, medians) else upper))
