"""Number of subjects that a test needs, from variance components of genuine errors.

The error of a pair of templates of one subject is the sum of an effect of the subject, one of each
of the two templates, and the rest; see ``docs/planning.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.special
import scipy.stats

from bioeval.stats.binomial import RULE_OF_3

#: Degrees of freedom of a pilot's variance, as a multiple of those by its kurtosis: where a pilot
#: finds too little variance, the kurtosis that goes with it is too large. Set by simulation, so
#: that 90 to 97 % of the planned tests reach their width (docs/planning.md).
OF_PILOT = 1.7

#: More subjects than there are people.
MOST = 10_000_000_000


@dataclass(frozen=True)
class Components:
    """Variance components of the error of a genuine pair.

    `between` is the covariance of two errors of a subject that share no template, and `template`
    what it grows by if they share one.
    """

    rate: float
    between: float
    template: float
    total: float  # variance of one error: rate (1 - rate), if each is 0 or 1

    def subject_variance(self, templates: int) -> float:
        """Return the variance of a subject's mean over all pairs of its templates."""
        pairs = templates * (templates - 1) / 2
        rest = self.total - self.between - 2 * self.template
        return self.between + 4 * self.template / templates + rest / pairs


def assumed(rate: float, icc: float, template_icc: float) -> Components:
    """Return the components of 0-or-1 errors from their correlations."""
    total = rate * (1 - rate)
    return Components(rate, icc * total, template_icc * total, total)


def components_of(errors: Iterable[np.ndarray], *, symmetric: bool) -> Components:
    """Return unbiased estimates of the components, cut off at 0.

    Parameters
    ----------
    errors : iterable of float arrays, shape (t, u)
        For each subject the errors of its pairs, templates of one side by those of the other; NaN
        where there is none.
    symmetric : bool
        Whether the same templates are on both sides, so that each pair is in its array twice.

    Returns
    -------
    Components
        Every pair of errors weighs the same. Where no subject has two pairs without a shared
        template, what they would have in common is taken from those that share one.
    """
    sums, squares, counts = [], [], []
    shared, apart = np.zeros(2), np.zeros(2)  # sum of products of two errors, and their number
    for table in errors:
        there = ~np.isnan(table)
        y = np.where(there, table, 0.0)
        weight = 0.5 if symmetric else 1.0
        sums.append(weight * y.sum())
        squares.append(weight * (y**2).sum())
        counts.append(weight * there.sum())
        axes = (0,) if symmetric else (0, 1)
        found = np.array(
            [
                sum((x.sum(axis=axis) ** 2).sum() - (x**2).sum() for axis in axes)
                for x in (y, there.astype(float))
            ]
        )
        every = np.array([sums[-1] ** 2 - squares[-1], counts[-1] * (counts[-1] - 1)])
        shared += found
        apart += every - found
    total, second, number = np.array(sums), np.array(squares), np.array(counts)
    rate = total.sum() / number.sum()
    # The product of errors of two different subjects.
    across = total.sum() ** 2 - (total**2).sum()
    pairs = number.sum() ** 2 - (number**2).sum()
    squared = across / pairs if pairs else rate**2
    whole = max(0.0, second.sum() / number.sum() - squared)
    joint = shared[0] / shared[1] - squared if shared[1] else math.nan
    own = apart[0] / apart[1] - squared if apart[1] else joint
    between = min(max(0.0, own), whole) if own == own else 0.0
    template = 0.0
    if joint == joint and apart[1]:
        template = min(max(0.0, joint - between), (whole - between) / 2)
    return Components(float(rate), float(between), float(template), float(whole))


def kurtosis(rate: float, variance: float) -> float:
    """Return the kurtosis of a beta distribution with this mean and variance."""
    size = max(rate * (1 - rate) / variance - 1, 1e-9)
    a, b = rate * size, (1 - rate) * size
    top = (a - b) ** 2 * (size + 1) - a * b * (size + 2)
    return 3 + 6 * top / (a * b * (size + 2) * (size + 3))


def freedom(subjects: float, kurtosis: float) -> float:
    """Return the degrees of freedom of the variance between subjects, from its own variance."""
    return 2 * subjects / max(kurtosis - 1, 1e-9)


def subjects_for_width(
    variance: float,
    kurtosis: float,
    width: float,
    confidence: float,
    assurance: float,
    pilot: float = math.inf,
) -> int:
    """Return the smallest number of subjects that gives an interval of the width wanted.

    Parameters
    ----------
    variance, kurtosis : float
        Of a subject's mean.
    width : float
        Both ends of the interval apart.
    confidence : float
    assurance : float
        The probability that the interval is at most so wide. The variance that the test will find
        is not that of the plan: their ratio is taken as an F distribution, with degrees of freedom
        by the kurtosis.
    pilot : float
        Subjects of the pilot that the variance was estimated from; infinite if it is assumed.
    """
    z = float(scipy.special.ndtri(0.5 + confidence / 2))
    known = OF_PILOT * freedom(pilot, kurtosis)

    def narrow(n: int) -> bool:
        found = freedom(n, kurtosis)
        if math.isinf(known):
            ratio = scipy.stats.chi2.ppf(assurance, found) / found
        else:
            ratio = scipy.stats.f.ppf(assurance, found, known)
        return bool(2 * z * math.sqrt(variance * ratio / n) <= width)

    low, high = 1, 2
    while not narrow(high):
        low, high = high, 2 * high
        if high > MOST:
            return MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if narrow(middle) else (middle, high)
    return high


def trials_without_error(rate: float, confidence: float) -> int:
    """Return the number of trials without an error that show a rate: 3 / rate at 95 %."""
    errors = RULE_OF_3 if confidence == 0.95 else -math.log1p(-confidence)
    return math.ceil(errors / rate - 1e-9)


def subjects_of_pairs(pairs: int) -> int:
    """Return the smallest number of subjects that form at least `pairs` pairs."""
    n = (1 + math.isqrt(8 * pairs + 1)) // 2
    return n if n * (n - 1) // 2 >= pairs else n + 1
