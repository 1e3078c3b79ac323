"""Templates whose label is likely wrong, of probes and in the gallery; people with two names.

A label is likely wrong where the template is nearer to another label than to its own.

The rules, and how often they err, are in ``docs/checks.md``: a contrast of median distances to the
own and to the nearest other label, its robust score, and Benjamini and Hochberg. Where half of the
templates are as near to another label as to their own, labels or kind are wrong as a whole, and no
template differs from the rest. Of scores without a natural zero (similarities, log-likelihood
ratios, distances of which some median is negative) a contrast is the difference of the medians.

Of suspects on both sides of a comparison, those that explain the other ones are named: a wrong
label in the gallery may make all probes of that label suspect, and the other way round. Where both
is so, the fewer are named, and of equal numbers all.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Set
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.messages import Message
from bioeval.base.progress import stage
from bioeval.counting.thresholds import to_user
from bioeval.document.cells import Count
from bioeval.document.text import Enumeration, Text, say
from bioeval.scores.labels import Codes, plain, present
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import attempted, rows_per_block, threads_for
from bioeval.scores.selecting import of_own_columns
from bioeval.studies.check.counts import label_medians
from bioeval.studies.check.findings import Finding, LabelError, Side, listed, passed, place_in_words

# Rates of false discoveries at which a template is named, and is certain.
_NAMED, _CERTAIN = 0.1, 0.001

#: How much nearer to another label a certain error is, where 1 is as much as templates usually are
#: to their own.
MIRRORED = 0.5

#: Most templates that are named.
MOST_NAMED = 1000

# Values of the gallery's columns that are read at a time.
_KEPT_VALUES = 1 << 22

_MAD = 1.4826  # of a normal distribution, the standard deviation over the MAD


class Suspect(NamedTuple):
    """A template whose label is likely wrong."""

    place: int  # row of a probe, column of a gallery template
    nearest: int  # the code of the label that it is nearest to
    certain: bool  # beyond what chance and likeness explain
    medians: tuple[float, float]  # distances to the own label, and to the nearest one


#: Suspects, the most likely first, and which of all templates were judged: compared with their own
#: label and with others.
Suspects = tuple[list[Suspect], np.ndarray]


def suspects_in_gallery(scores: Scores) -> Suspects:
    """Apply the rule to the templates of a gallery, by their distances to the probes."""
    codes = scores.codes.probe
    _, first = np.unique(codes, return_index=True)
    subjects = codes[np.sort(first)]  # in the order of their first probe, as the gallery's are
    medians = _medians_of_gallery(scores, subjects)
    return _suspects(_Medians(medians), has_natural_zero(scores, medians), subjects)


def has_natural_zero(scores: Scores, medians: np.ndarray) -> bool:
    """Whether distances begin at 0, so that their ratios mean something."""
    return scores.kind == "distance" and not (medians[:, :2] < 0).any()


def _suspects(left: _Medians, natural_zero: bool, subjects: np.ndarray) -> Suspects:
    """Take out one suspect after the other; `subjects` are the codes of the groups."""
    suspects = list[Suspect]()
    judged = ~np.isnan(_contrast(left.same_label, left.near, natural_zero))
    while len(suspects) < MOST_NAMED:
        contrast = _contrast(left.same_label, left.near, natural_zero)
        middle, spread = middle_and_spread(contrast[~np.isnan(contrast)])
        if not (middle < 0 < spread):
            break
        z = (contrast - middle) / spread
        row = int(np.nanargmax(z))
        if not contrast[row] > 0 or not rejected(z[~np.isnan(z)], _NAMED).any():
            break
        certain = all(x.certain for x in suspects) and contrast[row] >= -MIRRORED * middle
        medians = float(left.same_label[row]), float(left.near[row])
        nearest = int(subjects[left.group[row]])
        suspects.append(
            Suspect(
                row, nearest, bool(certain and rejected(z[~np.isnan(z)], _CERTAIN).any()), medians
            )
        )
        left.take_out(row)
    return suspects, judged


@stage("looking at the labels of the gallery")
def _medians_of_gallery(scores: Scores, subjects: np.ndarray) -> np.ndarray:
    """Return the medians of all columns, (n, 3): to their own label and to the nearest one.

    The groups are the `subjects` of the probes.
    """
    m, n = scores.shape
    group = np.full(len(scores.codes.values), -1, dtype=np.int64)
    group[subjects] = np.arange(len(subjects))
    probes = group[scores.codes.probe]
    order = np.argsort(probes, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(probes, minlength=len(subjects))))
    labels = group[scores.codes.gallery]
    medians = np.empty((n, 3))
    step = max(1, _KEPT_VALUES // m)
    with threads_for(scores):
        for low in range(0, n, step):
            columns = np.arange(low, min(low + step, n))
            values = _columns(scores, columns).T
            medians[columns] = label_medians(values, order, starts, labels[columns])
    return medians


def _columns(scores: Scores, columns: np.ndarray) -> np.ndarray:
    """Return the distances of all probes to some columns, NaN where there is no attempt."""
    part = of_own_columns(scores.select(gallery=columns))
    m, step = scores.shape[0], rows_per_block(scores)
    blocks = [attempted(part, low, min(low + step, m)) for low in range(0, m, step)]
    return np.concatenate(blocks)


def label_errors(
    scores: Scores, medians: np.ndarray, most: int, two_names: Set[tuple[int, int]]
) -> tuple[list[LabelError], Finding]:
    """Return templates whose label is likely wrong, up to `most`, and the finding.

    `medians` are those of all rows. A template that is nearer to the other of `two_names` of one
    person, codes of labels, has a right one.
    """
    left, zero = _Left(scores, medians), has_natural_zero(scores, medians)
    probes = _suspects(left, zero, scores.gallery_order.subjects)
    judged, sides = int(probes[1].sum()), {"both": probes[0]}
    if scores.layout == "probe-against-gallery":
        gallery = suspects_in_gallery(scores)
        judged += int(gallery[1].sum())
        sides = _unexplained(scores.codes, probes, gallery)
    codes_of_side = {"gallery": scores.codes.gallery}
    named = [
        (side, x)
        for side, suspects in sides.items()
        for x in suspects
        if two_names.isdisjoint(
            itertools.permutations(
                (int(codes_of_side.get(side, scores.codes.probe)[x.place]), x.nearest)
            )
        )
    ]
    named.sort(key=lambda x: not x[1].certain)
    errors = [_label_error(scores, side, x) for side, x in named[:most]]
    if not named:
        return errors, passed("label-errors")
    limited = any(len(x) == MOST_NAMED for x in sides.values())
    certain = sum(x.certain for _, x in named)
    about: dict[str, Any] = {
        "limit": "at least " if limited else "",
        "templates": len(named),
        "compared": judged,
        "certain": certain,
        "verdict": "wrong labels, or people who look alike",
    }
    if certain:
        about["verdict"] = f"{certain:,} of them by more than chance or two alike people explain"
    message = Message("labels-likely-wrong", **about)
    places = _places(scores, errors, len(named))
    severity = "warning" if certain else "note"
    return errors, Finding("label-errors", severity, message, len(named), places)


def _unexplained(codes: Codes, probes: Suspects, gallery: Suspects) -> dict[str, list[Suspect]]:
    """Return the suspects of each side but those that suspects of the other side explain."""
    labels = {
        "probe": [int(codes.probe[x.place]) for x in probes[0]],
        "gallery": [int(codes.gallery[x.place]) for x in gallery[0]],
    }
    number = {side: Counter(of) for side, of in labels.items()}
    judged = Counter(codes.probe[probes[1]].tolist()), Counter(codes.gallery[gallery[1]].tolist())
    gone: dict[str, set[int]] = {"probe": set(), "gallery": set()}
    for label in number["probe"].keys() & number["gallery"].keys():
        here, there = number["probe"][label], number["gallery"][label]
        every_probe, every_other = here == judged[0][label], there == judged[1][label]
        if every_probe and (there < here or not every_other):
            gone["probe"].add(label)
        elif every_other and (here < there or not every_probe):
            gone["gallery"].add(label)
    return {
        side: [
            x for x, label in zip(suspects, labels[side], strict=True) if label not in gone[side]
        ]
        for side, suspects in (("probe", probes[0]), ("gallery", gallery[0]))
    }


def _label_error(scores: Scores, side: str, suspect: Suspect) -> LabelError:
    """Return a suspect with the names of its template and of the nearest one of the other label."""
    codes, place, label = scores.codes, suspect.place, suspect.nearest
    probes = scores.probe_labels, scores.probe_meta
    gallery = scores.gallery_labels, scores.gallery_meta
    if side == "gallery":
        suspected, other = gallery, probes
        candidates = np.flatnonzero(codes.probe == label)
        distances = _columns(scores, np.array([place]))[candidates, 0]
    else:
        suspected, other = probes, gallery
        candidates = np.flatnonzero(codes.gallery == label)
        distances = attempted(scores, place, place + 1)[0, candidates]
    nearest = int(candidates[np.nanargmin(distances)])
    to_label, to_other = to_user(np.array(suspect.medians), scores.kind).tolist()
    return LabelError(
        side,
        Side.of(*suspected, place),
        plain(codes.values[label]),
        to_label,
        to_other,
        suspect.certain,
        Side.of(*other, nearest),
    )


def _places(scores: Scores, errors: list[LabelError], number: int) -> Text:
    """Return the rows and columns of errors, in order, and how many of all these are."""
    parts = list[Text]()
    for line, meta, of_line in (
        ("row", scores.probe_meta, [x for x in errors if x.side != "gallery"]),
        ("column", scores.gallery_meta, [x for x in errors if x.side == "gallery"]),
    ):
        places = [place_in_words(i, meta) for i in sorted(x.template.place for x in of_line)]
        if places:
            name = line if len(places) == 1 else f"{line}s"
            parts.append(say("{line} {places}", line=name, places=Enumeration(places, "")))
    where: Text = (
        say("{rows}; {columns}", rows=parts[0], columns=parts[1]) if parts[1:] else parts[0]
    )
    if len(errors) < number:
        shown, of = Count(len(errors)), Count(number)
        where = say("{shown} of {number}: {where}", shown=shown, number=of, where=where)
    return where


def _contrast(same_label: np.ndarray, near: np.ndarray, natural_zero: bool) -> np.ndarray:
    """Return ``r_j``, NaN where a template has no distance to its own label or to another."""
    if not natural_zero:
        return same_label - near
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((same_label == 0) & (near == 0), 0.0, np.log(same_label / near))


def middle_and_spread(known: np.ndarray) -> tuple[float, float]:
    """Return the median, and the standard deviation by the MAD; NaN where half are infinite."""
    if not len(known):
        return np.nan, np.nan
    with np.errstate(invalid="ignore"):
        middle = float(np.median(known))
        return middle, _MAD * float(np.median(abs(known - middle)))


def rejected(z: np.ndarray, rate: float) -> np.ndarray:
    """Return which hypotheses Benjamini and Hochberg reject: none, or the largest are."""
    from scipy.special import ndtr

    p = ndtr(-z)
    ordered = np.sort(p)
    under = ordered[ordered <= rate * np.arange(1, len(p) + 1) / max(len(p), 1)]
    return p <= under.max(initial=-1.0)


class _Medians:
    """Medians of templates of which some are taken out one after the other."""

    def __init__(self, medians: np.ndarray):
        self.same_label, self.near = medians[:, 0].copy(), medians[:, 1].copy()
        self.group = medians[:, 2].astype(np.int64)

    def take_out(self, row: int) -> None:
        """Remove a template."""
        self.same_label[row] = np.nan


class _Left(_Medians):
    """Those of probes, which may be in the gallery too, and then leave it."""

    def __init__(self, scores: Scores, medians: np.ndarray):
        super().__init__(medians)
        self.scores, self.gallery = scores, scores.gallery_order
        self._enrolled = np.ones(scores.shape[1], dtype=bool)
        self._columns: dict[int, np.ndarray] = {}  # distances to the templates of a label

    def take_out(self, row: int) -> None:
        """Remove a template as a probe and from the gallery."""
        super().take_out(row)
        position, group = self.gallery.probe_position[row], int(self.gallery.probe_group[row])
        if position < 0:
            return
        self._enrolled[self.gallery.columns[0, position]] = False
        columns = self.gallery.columns[0, slice(*self.gallery.starts[group : group + 2])]
        if group not in self._columns:
            self._columns = {group: _columns(self.scores, columns)}
        cells = self._columns[group][:, self._enrolled[columns]]
        of_one, nobody = np.array([0, cells.shape[1]]), np.full(len(cells), -1)
        median = label_medians(cells, np.arange(cells.shape[1]), of_one, nobody)[:, 1]
        mine = (self.gallery.probe_group == group) & ~np.isnan(self.same_label)
        self.same_label[mine] = median[mine]
        first = (median < self.near) | ((median == self.near) & (group <= self.group))
        again = (self.group == group) & ~first & ~np.isnan(self.same_label)
        first &= self.gallery.probe_group != group
        self.near[first], self.group[first] = median[first], group
        for i in np.flatnonzero(again).tolist():
            values = attempted(self.scores, i, i + 1)
            values[:, ~self._enrolled] = np.nan
            part = slice(i, i + 1)
            of_labels = label_medians(
                values,
                self.gallery.columns[0],
                self.gallery.starts,
                self.gallery.probe_group[part],
                self.gallery.probe_position[part],
            )
            self.near[i], self.group[i] = of_labels[0, 1:]


# The least part of the way from other labels to the own one; and the part of the usual contrast
# with which labels are apart.
_WAY, _APART = 0.75, 0.75

#: Codes of two labels, the smaller one first.
TwoLabels = tuple[int, int]


class _Nearest(NamedTuple):
    """What is nearest to a label: of its probes, in the middle."""

    label: int  # that most of them are nearest to; -1 where there is none
    distance: float
    contrast: float  # by how much it is nearer than the own label; NaN without mates


def two_names(scores: Scores, medians: np.ndarray) -> tuple[set[TwoLabels], Finding]:
    """Return the pairs of labels that are likely one person, and the finding.

    `medians` are those of all rows.
    """
    codes, subjects = scores.codes, scores.gallery_order.subjects
    same, near = medians[:, :2].T
    if zero := has_natural_zero(scores, medians):
        with np.errstate(divide="ignore"):
            same, near = np.log(same), np.log(near)
    with np.errstate(invalid="ignore"):  # two distances of 0
        nearer = same - near
    other = np.where(medians[:, 2] < 0, -1, subjects[medians[:, 2].astype(np.int64)])
    judged = np.isfinite(near) & ~codes.no_person[codes.probe] & ~codes.no_person[other]
    nearest = dict[int, _Nearest]()
    order = np.flatnonzero(judged)
    order = order[np.argsort(codes.probe[order], kind="stable")]
    ends = np.flatnonzero(np.diff(codes.probe[order], append=-1)) + 1
    for rows in np.split(order, ends[:-1]) if len(order) else []:
        labels, number = np.unique(other[rows], return_counts=True)
        most = int(labels[number.argmax()]) if 2 * number.max() > len(rows) else -1
        contrast, _ = middle_and_spread(nearer[rows[np.isfinite(nearer[rows])]])
        label = int(codes.probe[rows[0]])
        nearest[label] = _Nearest(most, float(np.median(near[rows])), contrast)
    distances = np.array([x.distance for x in nearest.values()])
    middle, spread = middle_and_spread(distances)
    usual, _ = middle_and_spread(same[np.isfinite(same)])
    usual_contrast, _ = middle_and_spread(nearer[judged & np.isfinite(nearer)])
    pairs, certain = set[TwoLabels](), False
    if spread > 0 and usual < middle and usual_contrast < 0:
        small, smallest = (rejected((middle - distances) / spread, x) for x in (_NAMED, _CERTAIN))
        enrolled = present(codes.gallery, len(codes.values))
        for i, (label, x) in enumerate(nearest.items()):
            sides = [x]
            if x.label in nearest and enrolled[label]:
                sides.append(nearest[x.label])
            mutual = len(sides) == 1 or sides[1].label == label
            if not (small[i] and x.label >= 0 and mutual):
                continue
            distance = float(np.mean([side.distance for side in sides]))
            if len(sides) == 1:  # one of several templates may have a wrong label
                distance = max(distance, _to_most(scores, label, x.label, zero))
            way = middle - distance
            contrasts = [side.contrast for side in sides if side.contrast == side.contrast]
            contrast = float(np.mean(contrasts)) if contrasts else 0.0
            apart = contrast < _APART * usual_contrast
            exchanged = contrasts and contrast >= -MIRRORED * usual_contrast
            if way >= _WAY * (middle - usual) and not (apart or exchanged):
                pairs.add((min(label, x.label), max(label, x.label)))
                certain |= bool(smallest[i])
    if not pairs:
        return pairs, passed("two-names")
    message = Message("two-names-likely", pairs=len(pairs))
    names = (map(plain, codes.values[list(pair)].tolist()) for pair in sorted(pairs))
    where = listed(say("{one:name} and {two:name}", one=a, two=b) for a, b in names)
    severity = "warning" if certain else "note"
    return pairs, Finding("two-names", severity, message, len(pairs), where)


def _to_most(scores: Scores, label: int, other: int, natural_zero: bool) -> float:
    """Return the median, over the probes of a label, of upper median distances to another one."""
    probes, gallery = np.flatnonzero(scores.codes.probe == label), scores.codes.gallery == other
    some = scores.select(probes=probes, gallery=np.flatnonzero(gallery))
    distances = np.sort(attempted(some, 0, len(probes)), axis=1)
    number = np.isfinite(distances).sum(axis=1)
    upper = distances[np.flatnonzero(number), (number // 2)[number > 0]]
    return float(np.median(np.log(upper) if natural_zero else upper))
