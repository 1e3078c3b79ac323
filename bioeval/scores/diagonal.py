"""Whether a matrix of one set of templates was given as two sets, and counts the diagonal."""

from __future__ import annotations

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.matrix import Scores
from bioeval.scores.rows import attempted, give_back
from bioeval.scores.sampled import sample_of

# At least this proportion is nearest to itself, in at least this number of rows of subjects with
# several templates; or all have the same score in at least so many rows.
_NEAREST, _TELLING_ROWS, _EQUAL_ROWS = 0.95, 12, 3


def same_labels(scores: Scores) -> bool:
    """Whether the probes and the gallery are two lists of templates with equal labels."""
    if scores.layout != "probe-against-gallery":
        return False
    probe_count, gallery_count = scores.shape
    are_two_lists = np.array_equal(
        scores.probe_ids, np.arange(gallery_count, gallery_count + probe_count)
    )  # else chosen from one list
    labels = scores.codes.labelled
    return are_two_lists and np.array_equal(labels.probe, labels.gallery)


def counts_diagonal(scores: Scores) -> bool:
    """Whether each template seems to be compared with itself, judged by a few rows.

    The labels of both sides are equal, and templates of one place are nearest to each other: in
    nearly all rows (of subjects with one template in the gallery that is so anyway), or all at one
    score, such as 0.
    """
    if not scores._labelled or not same_labels(scores):
        return False
    view = sample_of(scores, with_diagonal=True)
    try:
        values = attempted(view, 0, view.shape[0])
    except DataError:  # raised again where all scores are counted
        return False
    give_back(view)
    # Identities 0..n-1 are of the gallery, and the identities of probes follow.
    column = view.gallery_ids.searchsorted(view.probe_ids - scores.shape[1])
    row = np.arange(len(values))
    diagonal = values[row, column].copy()
    values[row, column] = np.nan
    nearest = np.fmin.reduce(values, axis=1)
    is_finite = np.isfinite(diagonal)
    one_score = is_finite.sum() >= _EQUAL_ROWS and len(np.unique(diagonal[is_finite])) == 1
    if one_score and (diagonal < nearest)[is_finite].all():
        return True
    several = np.bincount(scores.codes.gallery)[view.codes.probe] > 1
    is_nearest = (diagonal <= nearest)[several & is_finite]
    return len(is_nearest) >= _TELLING_ROWS and bool(is_nearest.mean() > _NEAREST)
