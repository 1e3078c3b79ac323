"""Tests whether goats, wolves and lambs exist, by two halves of each subject's templates.

Scores that share a template are dependent, so that a test over scores finds differences between
people who are alike. The mean scores of two halves share no template: they are correlated over
subjects only if subjects differ.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.stats import kruskal, rankdata

from bioeval.base.random import Stream
from bioeval.scores.codes import Codes, column_codes
from bioeval.scores.matrix import Scores
from bioeval.studies.zoo.kernel import permuted_products

#: With fewer subjects there is no test.
LEAST_SUBJECTS = 8

#: A stratum of permuted subjects has at least this number of subjects.
LEAST_TOGETHER = 4

#: Number of groups into which the opponents of wolves and lambs are divided at random.
GROUPS = 16


class Halves(NamedTuple):
    """The half of each template among its subject's templates, and the group of each subject."""

    probe: np.ndarray  # 0 or 1, (probes,)
    gallery: np.ndarray  # 0 or 1, (gallery templates,)
    group: np.ndarray  # from 0 to `GROUPS` - 1, (subjects,)


class HalvesTest(NamedTuple):
    """The correlation of two halves over subjects, and its one-sided p-value.

    Both are NaN if fewer than `LEAST_SUBJECTS` subjects have both halves.
    """

    correlation: float
    p: float
    subjects: int  # number of subjects with both halves


def draw_halves(scores: Scores, person: Codes, stream: Stream) -> Halves:
    """Divide the templates of each subject into two halves at random.

    Whole sessions are drawn where the data have a metadata column ``session``. A template or
    session on both sides is in the same half on both sides; otherwise the sides are drawn apart.
    """
    probes = len(person.probe)
    subjects = len(person.values)
    owner = np.concatenate([person.probe, person.gallery])
    session = _session_of_template(scores)
    pool_of_template = _pool_of_template(owner, session, probes)
    span = 1 + int(session.max(initial=0))
    unit, unit_of_template = np.unique(pool_of_template * span + session, return_inverse=True)
    pool = unit // span
    # In random order, the sessions of a pool belong to the halves in turn.
    order = np.lexsort((stream.uniforms(len(unit)), pool))
    half = np.empty(len(unit), dtype=np.int64)
    half[order] = (np.arange(len(unit)) - np.searchsorted(pool, pool)) % 2
    group = np.empty(subjects, dtype=np.int64)
    group[np.argsort(stream.uniforms(subjects), kind="stable")] = np.arange(subjects) % GROUPS
    of_probe, of_gallery = np.split(half[unit_of_template.reshape(-1)], [probes])
    return Halves(of_probe, of_gallery, group)


def _session_of_template(scores: Scores) -> np.ndarray:
    """Return the session of each probe, then of each gallery template.

    A template without a known session is a session of its own.
    """
    sessions = sessions_of(scores)
    ids = np.concatenate([scores.probe_ids, scores.gallery_ids]) + len(sessions.values)
    session = np.concatenate([sessions.probe, sessions.gallery])
    return np.where(session < 0, ids, session)


def _pool_of_template(owner: np.ndarray, session: np.ndarray, probes: int) -> np.ndarray:
    """Return the pool of each template, from its subject and its session; `probes` come first.

    The sessions of a pool are drawn together. A subject with a session on both sides has one
    pool, another subject has one of each side.
    """
    span = 1 + int(session.max(initial=0))
    key = owner * span + session
    on_both_sides = np.intersect1d(key[:probes], key[probes:]) // span
    pool = 2 * owner
    pool[:probes] += ~np.isin(owner[:probes], on_both_sides)
    return pool


def sessions_of(scores: Scores) -> Codes:
    """Return the sessions of both sides as codes; -1 without a column, or without a value."""
    sides = zip((scores.probe_meta, scores.gallery_meta), scores.shape, strict=True)
    probe, gallery = (meta.get("session", np.full(size, None)) for meta, size in sides)
    return column_codes(probe, gallery, "session")


def goat_test(means: np.ndarray, size: np.ndarray, permutations: int, stream: Stream) -> HalvesTest:
    """Test Spearman's correlation of the means of two halves, shape (subjects, 2).

    The means of the second halves are permuted among subjects with second halves of one `size`: if
    subjects do not differ, these means have one distribution, and the test is exact. Subjects with
    a mean that is NaN are left out.
    """
    has_both_means = ~np.isnan(means).any(axis=1)
    if has_both_means.sum() < LEAST_SUBJECTS:
        return HalvesTest(math.nan, math.nan, int(has_both_means.sum()))
    order, ends = _strata(size[has_both_means])
    # Twice the ranks are whole numbers, and so are sums of their products: ties are exact.
    first, second = (2 * rankdata(means[has_both_means], axis=0)[order].T).astype(np.int64) - 1
    products = np.empty(permutations, dtype=np.int64)
    permuted_products(
        np.ascontiguousarray(first), np.ascontiguousarray(second), ends, stream.words(2), products
    )
    spread = math.sqrt(first.var() * second.var())
    covariance = int(first @ second) / len(first) - float(first.mean() * second.mean())
    p_value = (1 + int((products >= first @ second).sum())) / (1 + permutations)
    return HalvesTest(covariance / spread if spread > 0 else math.nan, p_value, len(first))


def opponents_test(
    means: np.ndarray, size: np.ndarray, permutations: int, stream: Stream
) -> HalvesTest:
    """Test products of the means of two halves against groups, shape (subjects, 2, groups).

    The statistic is a sum over subjects: products of the mean of the first half against one group
    and the mean of the second half against a *different* group, which share no template and no
    opponent. It varies for two reasons, and a replicate adds both:

    - Some templates happen to be near to everyone: second halves are permuted among subjects with
      second halves of one `size`.
    - Some opponents happen to be near to some subjects: the signs of the groups change at random.
    """
    has_both_halves = ~np.isnan(means).all(axis=2).any(axis=1)
    if has_both_halves.sum() < LEAST_SUBJECTS:
        return HalvesTest(math.nan, math.nan, int(has_both_halves.sum()))
    order, ends = _strata(size[has_both_halves])
    means = means[has_both_halves][order]
    means = means[:, :, ~np.isnan(means).all(axis=(0, 1))]
    groups = means.shape[2]
    first = _deviations(means[:, 0])
    second = _deviations(means[:, 1])
    products_of_groups = first.T @ second
    np.fill_diagonal(products_of_groups, 0)
    observed = int(products_of_groups.sum())
    products = np.empty(permutations, dtype=np.int64)
    first_sums = first.sum(axis=1)
    second_sums = second.sum(axis=1)
    permuted_products(first_sums, second_sums, ends, stream.words(2), products)
    signs = np.where(stream.uniforms(permutations * groups) < 0.5, -1, 1).reshape(-1, groups)
    products += ((signs @ products_of_groups) * signs).sum(axis=1)
    p_value = (1 + int((products >= observed).sum())) / (1 + permutations)
    spread = math.sqrt(float(first_sums @ first_sums) * float(second_sums @ second_sums))
    correlation = math.nan
    if spread > 0:
        # Only pairs of different groups were summed: all pairs would give more, by this factor.
        correlation = observed / spread * groups / (groups - 1)
    return HalvesTest(float(np.clip(correlation, -1, 1)), p_value, len(means))


def _strata(size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the subjects in order of their sizes, and where each stratum of this order ends.

    A stratum is one size. A stratum of fewer than `LEAST_TOGETHER` subjects is joined with the
    next, and the last one with the stratum before it.
    """
    ends = [0]
    for end in np.cumsum(np.unique(size, return_counts=True)[1]).tolist():
        if end - ends[-1] >= LEAST_TOGETHER:
            ends.append(end)
    return np.argsort(size, kind="stable"), np.array([*ends[1:-1], len(size)], dtype=np.int64)


def _deviations(means: np.ndarray) -> np.ndarray:
    """Return the deviations of means (subjects, groups) from the mean over subjects, as integers.

    The largest deviation becomes 2^18, and the deviation of an unknown mean is 0. Sums of integers
    do not depend on their order.
    """
    is_known = ~np.isnan(means)
    subjects = np.maximum(is_known.sum(axis=0), 1)
    deviations = np.where(
        is_known, means - np.where(is_known, means, 0.0).sum(axis=0) / subjects, 0.0
    )
    largest = np.abs(deviations).max()
    return np.rint(deviations * (2**18 / largest if largest > 0 else 0.0)).astype(np.int64)


def kruskal_p(values: np.ndarray, groups: np.ndarray) -> float:
    """Return the p-value of the test of Kruskal and Wallis; NaN for one group or one value."""
    sizes = np.bincount(groups)
    if (sizes > 0).sum() < 2 or values.min() == values.max():
        return math.nan
    order = np.argsort(groups, kind="stable")
    ends = np.cumsum(sizes[sizes > 0])
    return float(kruskal(*np.split(values[order], ends[:-1])).pvalue)
