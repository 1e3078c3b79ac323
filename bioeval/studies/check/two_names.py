"""People with two names: two labels whose templates are as near to each other as those of one.

With ``A_j`` the median distance of probe ``j`` to the nearest other label, as in ``label_errors``,
``T_s`` is the median of ``ln A_j`` over the probes of label ``s``, ``M`` and ``z_s`` the median of
all labels and the robust score of each (by 1.4826 MAD; small distances above), and ``G`` the median
of ``ln`` of the distances of all probes to their own labels. Two labels are likely one person where
each is the nearest of most probes of the other, Benjamini and Hochberg reject either at a false
discovery rate of 0.1, and the mean ``T`` of both is at least three quarters of the way from ``M``
to ``G``. It is certain where one of both is rejected at 0.001. A label without probes or not in the
gallery is judged by the probes of the other alone, and their upper medians must be as small. Of
scores without a natural zero the distances are taken themselves.

Where probes are much nearer to the other label than to their own, labels were exchanged: errors of
labels, and no names of one person. Where they are nearer to their own by as much as three quarters
of what is usual, two people are alike, as those are who took no part in training.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bioeval.base.messages import Message
from bioeval.document.text import say
from bioeval.scores.blocks import attempted
from bioeval.scores.labels import plain, present
from bioeval.scores.matrix import Scores
from bioeval.studies.check.findings import Finding, listed, passed
from bioeval.studies.check.label_errors import (
    MIRRORED,
    has_natural_zero,
    middle_and_spread,
    rejected,
)

# Rates of false discoveries at which a pair is named, and is certain; the least part of the way
# from other labels to the own one; and the part of the usual contrast with which labels are apart.
_NAMED, _CERTAIN, _WAY, _APART = 0.1, 0.001, 0.75, 0.75

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
