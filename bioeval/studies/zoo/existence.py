"""Do goats, wolves and lambs exist? Tests of two halves of each subject's templates.

Scores that share a template are dependent, so that a test over scores finds differences between
people who are alike. Means over two halves share no template: over subjects they go together only
if subjects differ.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import kruskal, rankdata

from bioeval.base.random import Stream
from bioeval.scores.labels import Codes, column_codes
from bioeval.scores.matrix import Scores
from bioeval.studies.zoo.kernel import permuted_products

# Fewer subjects are not tested; fewer of one size are not permuted among themselves alone.
LEAST_SUBJECTS, LEAST_TOGETHER = 8, 4

# The opponents of wolves and lambs are divided into so many groups at random.
GROUPS = 16


class Halves(NamedTuple):
    """The half, 0 or 1, of each probe and gallery template within its subject; subjects' groups."""

    probe: np.ndarray
    gallery: np.ndarray
    group: np.ndarray


class HalvesTest(NamedTuple):
    """Correlation of two halves over subjects, its one-sided p, and how many subjects.

    The two numbers are NaN where fewer than `LEAST_SUBJECTS` have both halves.
    """

    correlation: float
    p: float
    subjects: int


def draw_halves(scores: Scores, person: Codes, stream: Stream) -> Halves:
    """Draw the halves of each `person`.

    Halves are of whole sessions where there is a column of them. A template that is on both sides
    is in the same half on both, and so is a session; otherwise each side has its own draw.
    """
    sessions, m, subjects = sessions_of(scores), len(person.probe), len(person.values)
    # A template without a known session is a unit of its own.
    ids = np.concatenate([scores.probe_ids, scores.gallery_ids]) + len(sessions.values)
    units = np.concatenate([sessions.probe, sessions.gallery])
    units = np.where(units < 0, ids, units)
    who, span = np.concatenate([person.probe, person.gallery]), 1 + int(units.max(initial=0))
    coded = who * span + units
    shared = np.zeros(subjects, dtype=bool)
    shared[np.intersect1d(coded[:m], coded[m:]) // span] = True
    # A set of units is a subject's on both sides, or on one of them.
    of_set = 2 * who
    of_set[:m] += ~shared[person.probe]
    every, back = np.unique(of_set * span + units, return_inverse=True)
    whose = every // span
    order = np.lexsort((stream.uniforms(len(every)), whose))
    half = np.empty(len(every), dtype=np.int64)
    half[order] = (np.arange(len(every)) - np.searchsorted(whose, whose)) % 2
    group = np.empty(subjects, dtype=np.int64)
    group[np.argsort(stream.uniforms(subjects), kind="stable")] = np.arange(subjects) % GROUPS
    of_probe, of_gallery = np.split(half[back.reshape(-1)], [m])
    return Halves(of_probe, of_gallery, group)


def sessions_of(scores: Scores) -> Codes:
    """Return the sessions of both sides as codes; without a column, none is known."""
    sides = zip((scores.probe_meta, scores.gallery_meta), scores.shape, strict=True)
    probe, gallery = (meta.get("session", np.full(size, None)) for meta, size in sides)
    return column_codes(probe, gallery, "session")


def goat_test(means: np.ndarray, size: np.ndarray, permutations: int, stream: Stream) -> HalvesTest:
    """Test by Spearman's correlation of the means of two halves, shape (subjects, 2).

    Second means are permuted among subjects of one `size`, for whom they have one distribution if
    subjects do not differ: within one size the test is exact. Subjects with a NaN are left out.
    """
    known = ~np.isnan(means).any(axis=1)
    if known.sum() < LEAST_SUBJECTS:
        return HalvesTest(math.nan, math.nan, int(known.sum()))
    order, ends = _strata(size[known])
    # Twice the ranks are whole numbers, and so are sums of their products: ties are exact.
    a, b = (2 * rankdata(means[known], axis=0)[order].T).astype(np.int64) - 1
    products = np.empty(permutations, dtype=np.int64)
    permuted_products(
        np.ascontiguousarray(a), np.ascontiguousarray(b), ends, stream.words(2), products
    )
    spread = math.sqrt(a.var() * b.var())
    covariance = int(a @ b) / len(a) - float(a.mean() * b.mean())
    p = (1 + int((products >= a @ b).sum())) / (1 + permutations)
    return HalvesTest(covariance / spread if spread > 0 else math.nan, p, len(a))


def opponents_test(
    means: np.ndarray, size: np.ndarray, permutations: int, stream: Stream
) -> HalvesTest:
    """Test by products of the means of two halves, shape (subjects, 2, groups).

    The statistic is the sum, over subjects, of the products of both means against two *different*
    groups: no template and no opponent is on both sides. It varies for two reasons, and a replicate
    adds both: subjects of one `size` are permuted in the second half, as templates happen to be
    near to all; and the signs of the groups change at random, as some opponents happen to be near
    to some subjects.
    """
    known = ~np.isnan(means).all(axis=2).any(axis=1)
    if known.sum() < LEAST_SUBJECTS:
        return HalvesTest(math.nan, math.nan, int(known.sum()))
    order, ends = _strata(size[known])
    means = means[known][order]
    means = means[:, :, ~np.isnan(means).all(axis=(0, 1))]
    groups = means.shape[2]
    a, b = _deviations(means[:, 0]), _deviations(means[:, 1])
    of_groups = a.T @ b
    np.fill_diagonal(of_groups, 0)
    observed, products = int(of_groups.sum()), np.empty(permutations, dtype=np.int64)
    x, y = a.sum(axis=1), b.sum(axis=1)
    permuted_products(x, y, ends, stream.words(2), products)
    signs = np.where(stream.uniforms(permutations * groups) < 0.5, -1, 1).reshape(-1, groups)
    products += ((signs @ of_groups) * signs).sum(axis=1)
    p = (1 + int((products >= observed).sum())) / (1 + permutations)
    spread, correlation = math.sqrt(float(x @ x) * float(y @ y)), math.nan
    if spread > 0:
        # Of all pairs of groups, those of different ones were summed.
        correlation = observed / spread * groups / (groups - 1)
    return HalvesTest(float(np.clip(correlation, -1, 1)), p, len(means))


def _strata(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return an order of subjects by their sizes, and the ends of those permuted together.

    Sizes of fewer than `LEAST_TOGETHER` subjects are joined with the next, the last with those
    before.
    """
    ends = [0]
    for stop in np.cumsum(np.unique(size, return_counts=True)[1]).tolist():
        if stop - ends[-1] >= LEAST_TOGETHER:
            ends.append(stop)
    return np.argsort(size, kind="stable"), np.array([*ends[1:-1], len(size)], dtype=np.int64)


def _deviations(means: np.ndarray) -> np.ndarray:
    """Return what each subject's means are above those of all against the group, 0 where unknown.

    As whole numbers, which add to the same in any order: 2^18 is the largest.
    """
    there = ~np.isnan(means)
    number = np.maximum(there.sum(axis=0), 1)
    apart = np.where(there, means - np.where(there, means, 0.0).sum(axis=0) / number, 0.0)
    largest = np.abs(apart).max()
    return np.rint(apart * (2**18 / largest if largest > 0 else 0.0)).astype(np.int64)


def kruskal_p(values: np.ndarray, groups: np.ndarray) -> float:
    """Return the p-value of the test of Kruskal and Wallis; NaN for one group or one value."""
    sizes = np.bincount(groups)
    if (sizes > 0).sum() < 2 or values.min() == values.max():
        return math.nan
    order, ends = np.argsort(groups, kind="stable"), np.cumsum(sizes[sizes > 0])
    return float(kruskal(*np.split(values[order], ends[:-1])).pvalue)
