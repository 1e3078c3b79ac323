"""The median distances of templates to labels, by which doubtful labels are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from bioeval.base.kinds import Kind

_MAD = 1.4826  # standard deviation over median absolute deviation, of a normal distribution


class TemplatesByLabel(NamedTuple):
    """Templates in the order of their labels."""

    order: np.ndarray  # int64 (templates,)
    starts: np.ndarray  # int64 (labels + 1,): where each label starts in the order

    @classmethod
    def from_codes(cls, codes: np.ndarray, labels: int) -> Self:
        """Order templates by the codes of their labels; there are `labels` codes."""
        order = np.argsort(codes, kind="stable")
        return cls(order, np.searchsorted(codes[order], np.arange(labels + 1)))

    def with_label(self, label: int) -> np.ndarray:
        """Return the templates of a label."""
        return self.order[self.starts[label] : self.starts[label + 1]]


@dataclass(frozen=True)
class LabelMedians:
    """The median distances of templates to their own and to the nearest other label.

    Without any finite distance a median is NaN. The median of an even number of distances is the
    lower of the two in the middle.
    """

    to_own: np.ndarray  # float64 (templates,): median distance to the template's own label
    to_nearest: np.ndarray  # float64 (templates,): smallest median distance to another label
    nearest_label: np.ndarray  # int64 (templates,): code of that label, the smallest; -1 for none

    @classmethod
    def empty(cls, templates: int) -> Self:
        """Return arrays into which the medians of blocks of templates can be put."""
        to_own, to_nearest = np.empty((2, templates))
        return cls(to_own, to_nearest, np.empty(templates, dtype=np.int64))

    @classmethod
    def from_distances(
        cls, distances: np.ndarray, compared: TemplatesByLabel, own_label: np.ndarray
    ) -> Self:
        """Return the medians of templates.

        - `distances` (float64 (templates, n)): NaN where there is no attempt
        - `compared`: the `n` templates of the other side
        - `own_label` (int64 (templates,)): the label of each template
        """
        templates = np.arange(len(distances))
        sizes = np.diff(compared.starts)
        to_label = np.full((len(distances), len(sizes)), np.inf)
        # Labels with equally many templates are an array (templates, labels, size), sorted at once.
        for size in np.unique(sizes[sizes > 0]).tolist():
            labels = np.flatnonzero(sizes == size)
            cells = distances[:, compared.order[compared.starts[labels, None] + np.arange(size)]]
            cells = np.sort(np.where(np.isfinite(cells), cells, np.inf), axis=2)
            middle = (np.isfinite(cells).sum(axis=2) - 1) // 2
            medians = np.take_along_axis(cells, middle[..., None].clip(0), axis=2)
            to_label[:, labels] = medians[..., 0]
        to_own = to_label[templates, own_label]
        to_label[templates, own_label] = np.inf  # from here on, only other labels
        to_nearest = to_label.min(axis=1)
        nearest_label = np.where(to_nearest == np.inf, -1, to_label.argmin(axis=1))
        to_own, to_nearest = (np.where(x == np.inf, np.nan, x) for x in (to_own, to_nearest))
        return cls(to_own, to_nearest, nearest_label)

    def put(self, templates: slice, medians: Self) -> None:
        """Put the medians of these templates in their places."""
        self.to_own[templates] = medians.to_own
        self.to_nearest[templates] = medians.to_nearest
        self.nearest_label[templates] = medians.nearest_label

    def has_natural_zero(self, kind: Kind) -> bool:
        """Whether distances begin at 0, so that ratios of distances have a meaning."""
        return kind == "distance" and not ((self.to_own < 0).any() or (self.to_nearest < 0).any())

    def contrast(self, *, natural_zero: bool) -> np.ndarray:
        """Return how much nearer each template is to another label than to its own.

        It is the difference of both distances, or of their logarithms; NaN if one is unknown.
        """
        to_own, to_nearest = (scaled(x, natural_zero) for x in (self.to_own, self.to_nearest))
        with np.errstate(invalid="ignore"):
            return np.where(to_own == to_nearest, 0.0, to_own - to_nearest)


def scaled(distances: np.ndarray, natural_zero: bool) -> np.ndarray:
    """Return the logarithms of distances that have a natural zero; other distances as they are."""
    if not natural_zero:
        return distances
    with np.errstate(divide="ignore"):
        return np.log(distances)


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
