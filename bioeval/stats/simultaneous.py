"""Differences of many systems: limits that hold for all pairs together, ranks and letters.

One measure of ``k`` systems over the same people has ``k (k - 1) / 2`` differences. An interval of
each at 95 % by itself leaves out one true difference in twenty. Here the limits of all pairs hold
together: they are ``c`` standard errors wide, where ``c`` is the quantile of the largest of the
studentised differences, which are dependent, as all systems have the same people (max-t, single
step: Romano and Wolf 2005, Exact and approximate stepdown methods for multiple hypothesis testing,
Journal of the American Statistical Association 100, 94-108). Sets of ranks follow from the limits
(Mogstad, Romano, Shaikh and Wilhelm 2024, Inference for ranks with applications to mobility across
neighbourhoods and academic achievement across countries, Review of Economic Studies 91, 476-518),
and letters of the systems that cannot be told apart (Piepho 2004, An algorithm for a letter-based
representation of all-pairwise comparisons, Journal of Computational and Graphical Statistics 13,
456-466).
"""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from bioeval.base.random import Stream

#: Draws of the largest studentised difference.
DRAWS = 10_000

#: Subjects that must be decided differently for a difference to be declared: with five, the most
#: extreme outcome of a two-sided sign test has a probability of 2 / 2^5 = 6.25 %.
LEAST_DISCORDANT = 6

# Deviations of which the largest is below this share of the values are rounding.
_ROUNDING = 1e-12

# The stream of normal numbers; that of the bootstrap's draws is 0.
_NORMAL = 1

# Numbers of a temporary array.
_MOST_VALUES = 1 << 22


def least_discordant(confidence: float) -> int:
    """Return the number of discordant subjects that significance needs."""
    return max(LEAST_DISCORDANT, math.ceil(1 - math.log2(1 - confidence)))


@dataclass(frozen=True)
class Differences:
    """Differences of systems, row minus column, with limits that hold for all pairs together.

    Attributes
    ----------
    difference, low, high, p : float64 arrays, shape (k, k)
        NaN where they are not defined. `p` is adjusted for the number of pairs.
    larger : int64 array, shape (k, k)
        1 where the value of the row's system is shown to be the larger one, -1 where that of the
        column's system is, else 0.
    """

    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    larger: np.ndarray

    @classmethod
    def of(
        cls,
        values: np.ndarray,
        deviations: np.ndarray,
        comparable: np.ndarray,
        confidence: float,
        freedom: int,
        *,
        spread: np.ndarray | None = None,
        error: np.ndarray | None = None,
        widest: float = np.inf,
        replicates: np.ndarray | None = None,
    ) -> Differences:
        """Return the differences of `values` with limits from draws of all systems together.

        - `values` (k,): NaN where not defined
        - `deviations` (k, draws): draws of the errors of the values, in the same column for the
          same people: :func:`drawn_deviations` of a jackknife, or replicates of a bootstrap less
          their mean; columns with NaN are left out
        - `comparable` (k, k): symmetric; other pairs are not told apart, nor in the maximum
        - `freedom`: degrees of freedom of the standard errors: the quantile is Student's, as rare
          as the normal one of the draws
        - `spread`, `error` (k, k): standard deviations of the differences of the deviations, by
          default those of the draws, and standard errors of the differences, by default `spread`
        - `widest`: the largest possible difference, at which limits end
        - `replicates` (k, draws): of the same people: a single pair has percentile limits of these
        """
        k = len(values)
        difference = values[:, None] - values
        drawn = deviations[:, ~np.isnan(deviations[~np.isnan(values)]).any(axis=0)]
        one, other = np.triu_indices(k, 1)
        if spread is None:
            spread = np.full((k, k), np.nan)
            spread[one, other] = spread[other, one] = _spread(drawn, one, other)
        if error is None:
            error = spread
        scale = np.maximum(np.abs(values[one]), np.abs(values[other])) + 1.0
        tested = comparable[one, other] & (freedom > 0) & (drawn.shape[1] > 0)
        for of_pairs in (spread, error):
            tested &= of_pairs[one, other] > _ROUNDING * scale
        tested &= ~np.isnan(difference[one, other])
        low, high, p = (np.full((k, k), np.nan) for _ in range(3))
        larger = np.zeros((k, k), dtype=np.int64)
        if tested.any():
            one, other = one[tested], other[tested]
            errors, away = error[one, other], difference[one, other]
            largest = np.sort(_largest(drawn, one, other, spread[one, other]))
            studentised = np.abs(away) / errors
            if len(one) == 1 and replicates is not None:
                apart = np.sort((replicates[one] - replicates[other])[0])
                apart = apart[~np.isnan(apart)]
                ends = np.quantile(apart, [(1 - confidence) / 2, (1 + confidence) / 2])
                below, above = away - ends[:1], ends[1:] - away
                level = min(_level(apart, 0.0), _level(-apart[::-1], 0.0))
                p_values = np.minimum(1.0, 2 * np.array([max(level, 1 / (1 + len(apart)))]))
            elif len(one) == 1:  # the quantile is known
                quantile = float(scipy.special.stdtrit(freedom, 0.5 + confidence / 2))
                p_values = 2 * scipy.special.stdtr(freedom, -studentised)
                below = above = quantile * errors
            else:
                # Student's quantile that is as rare as the normal one.
                normal = float(np.quantile(largest, confidence))
                quantile = -float(scipy.special.stdtrit(freedom, scipy.special.ndtr(-normal)))
                as_rare = -scipy.special.ndtri(scipy.special.stdtr(freedom, -studentised))
                reached = len(largest) - np.searchsorted(largest, as_rare * (1 - _ROUNDING))
                p_values = (1 + reached) / (1 + len(largest))
                below = above = quantile * errors
            low[one, other] = np.maximum(away - below, -widest)
            high[one, other] = np.minimum(away + above, widest)
            low[other, one], high[other, one] = -high[one, other], -low[one, other]
            p[one, other] = p[other, one] = p_values
            larger[one, other] = (away > below).astype(int) - (away < -above)
            larger[other, one] = -larger[one, other]
        return cls(difference, low, high, p, larger)

    def ranks(self, larger_is_better: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the rank of each value, and the first and the last rank that it may have.

        Rank 1 is the best; equal values have the same one. The sets of ranks hold for all systems
        together. NaN where the value is not defined.
        """
        sign = 1 if larger_is_better else -1
        undefined = np.isnan(np.diagonal(self.difference))
        defined = int((~undefined).sum())
        rank = 1.0 + (sign * self.difference < 0).sum(axis=1)
        first = 1.0 + (sign * self.larger < 0).sum(axis=1)
        last = defined - (sign * self.larger > 0).sum(axis=1).astype(float)
        return tuple(np.where(undefined, np.nan, x) for x in (rank, first, last))  # type: ignore[return-value]

    def letters(self, order: Sequence[int]) -> list[str]:
        """Return the letters of each system: two that share one cannot be told apart.

        `order` is that of the systems from the best to the worst: the best has an ``a``. Of a value
        that is not defined the letters are empty.
        """
        return letters_of(self.larger != 0, order)


def _level(ordered: np.ndarray, value: float) -> float:
    """Return the largest level whose quantile of sorted values is not above a value."""
    below, last = int(np.searchsorted(ordered, value, side="right")), len(ordered) - 1
    if not 0 < below <= last:
        return float(below > 0)
    before, after = ordered[below - 1], ordered[below]
    return float((below - 1 + (value - before) / (after - before)) / last)


def drawn_deviations(without: np.ndarray, normal: np.ndarray) -> np.ndarray:
    """Return draws of the errors of values, from the values (systems, people) without each person.

    With ``x_a`` the value without person ``a`` and ``m`` their mean, a draw is ``sqrt((n - 1) / n)
    * sum_a xi_a (x_a - m)``, where the ``xi_a`` are :func:`normal_draws`, the same for all systems.
    Its variance is that of the jackknife. The shape is (systems, draws).
    """
    people = without.shape[1]
    change = without - without.mean(axis=1, keepdims=True)
    return np.sqrt((people - 1) / max(people, 1)) * (change @ normal)


def normal_draws(people: int, seed: np.random.SeedSequence) -> np.ndarray:
    """Return standard normal numbers, a row for each person and a column for each draw."""
    return Stream(seed, _NORMAL).normals(people, DRAWS)


def jackknife_errors(without: np.ndarray) -> np.ndarray:
    """Return the standard errors of all differences, from the values without each person.

    The shape is (systems, systems), and `without` is as in :func:`drawn_deviations`.
    """
    people = without.shape[1]
    change = without - without.mean(axis=1, keepdims=True)
    apart = change[:, None] - change
    return np.sqrt((people - 1) / max(people, 1) * (apart**2).sum(axis=-1))


def _spread(drawn: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the differences of pairs of rows."""
    count = drawn.shape[1]
    if count < 2:
        return np.full(len(one), np.nan)
    spread = np.empty(len(one))
    for part in _parts(len(one), count):
        apart = drawn[one[part]] - drawn[other[part]]
        spread[part] = np.sqrt((apart**2).sum(axis=1) / (count - 1))
    return spread


def _largest(
    drawn: np.ndarray, one: np.ndarray, other: np.ndarray, spread: np.ndarray
) -> np.ndarray:
    """Return the largest of the studentised differences of pairs, in each draw."""
    largest = np.zeros(drawn.shape[1])
    for part in _parts(len(one), drawn.shape[1]):
        apart = np.abs(drawn[one[part]] - drawn[other[part]]) / spread[part, None]
        largest = np.maximum(largest, apart.max(axis=0))
    return largest


def _parts(pairs: int, width: int) -> list[slice]:
    step = max(1, _MOST_VALUES // max(width, 1))
    return [slice(first, first + step) for first in range(0, pairs, step)]


def letters_of(differ: np.ndarray, order: Sequence[int]) -> list[str]:
    """Return the letters of each system: two share one where they do not `differ`.

    `order` has the systems that have letters, and the first of them has an ``a``; `differ` is as
    for :func:`letter_sets`.
    """
    sets = letter_sets(differ, order)
    letters = [""] * len(differ)
    for name, members in zip(_names(len(sets)), sets, strict=True):
        for i in members:
            letters[i] += name
    return letters


def letter_sets(differ: np.ndarray, order: Sequence[int]) -> list[tuple[int, ...]]:
    """Return sets of systems of which no two `differ`, each two that do not differ in one of them.

    Insertion and absorption, and then the sets without which each pair is still in one are left
    out (Piepho 2004). They are sorted by their members' places in `order`, the systems that have
    letters; `differ` is symmetric.
    """
    place = {system: i for i, system in enumerate(order)}
    sets = [frozenset(order)] if len(order) else []
    for i, j in itertools.combinations(order, 2):
        if not differ[i, j]:
            continue
        split = [x for x in sets if i in x and j in x]
        kept = [x for x in sets if not (i in x and j in x)]
        for part in itertools.chain.from_iterable((x - {i}, x - {j}) for x in split):
            if not any(part <= x for x in kept):
                kept = [x for x in kept if not x < part]
                kept.append(part)
        sets = kept
    sets = sorted(sets, key=lambda x: sorted(place[i] for i in x))
    for candidate in sorted(sets, key=len):
        others = [x for x in sets if x is not candidate]
        if others and all(
            any(i in x and j in x for x in others)
            for i, j in itertools.combinations_with_replacement(candidate, 2)
        ):
            sets = others
    return [tuple(sorted(x, key=place.__getitem__)) for x in sets]


def _names(number: int) -> list[str]:
    """Return so many letters; after z come capitals, and then letters with a number."""
    alphabet = string.ascii_letters
    return [alphabet[i % 52] + (f"{i // 52}" if i >= 52 else "") for i in range(number)]
