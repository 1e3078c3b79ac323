"""Whether a matrix of one set of templates was given as two sets, which counts the diagonal."""

from __future__ import annotations

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.matrix import Scores
from bioeval.scores.row_memory import give_back
from bioeval.scores.rows import attempted
from bioeval.scores.sampled import sample_of

# The diagonal is counted if more than this share of templates are nearest to themselves.
_SHARE_NEAREST = 0.95

_LEAST_ROWS = 12  # fewer templates are not judged
_LEAST_EQUAL_ROWS = 3  # fewer are not judged if the diagonal has a single score, such as 0


def same_labels(scores: Scores) -> bool:
    """Whether the probes and the gallery are two lists of templates with equal labels."""
    if scores.layout != "probe-against-gallery":
        return False
    probe_count, gallery_count = scores.shape
    # Probes that are chosen from the gallery have identities of the gallery.
    are_two_lists = np.array_equal(
        scores.probe_ids, np.arange(gallery_count, gallery_count + probe_count)
    )
    labels = scores.codes.labelled
    return are_two_lists and np.array_equal(labels.probe, labels.gallery)


def counts_diagonal(scores: Scores) -> bool:
    """Whether each template seems to be compared with itself, judged by a few rows.

    The labels of both sides are equal, and the diagonal has the nearest scores: a single score in
    all rows, such as 0, or in nearly all rows of subjects with several templates. A subject with
    one template is nearest to it in any case.
    """
    if not scores._labelled or not same_labels(scores):
        return False
    sample = sample_of(scores, with_diagonal=True)
    try:
        values = attempted(sample, 0, sample.shape[0])
    except DataError:  # raised again where all scores are counted
        return False
    give_back(sample)
    # Identities 0..n-1 are of the gallery, and the identities of probes follow.
    column = sample.gallery_ids.searchsorted(sample.probe_ids - scores.shape[1])
    row = np.arange(len(values))
    diagonal = values[row, column].copy()
    values[row, column] = np.nan
    nearest = np.fmin.reduce(values, axis=1)
    is_finite = np.isfinite(diagonal)
    has_one_score = len(np.unique(diagonal[is_finite])) == 1
    is_nearer = (diagonal < nearest)[is_finite]
    if has_one_score and len(is_nearer) >= _LEAST_EQUAL_ROWS and is_nearer.all():
        return True
    codes = scores.codes
    templates_of_subject = np.bincount(codes.gallery, minlength=len(codes.values))
    has_other_mates = templates_of_subject[sample.codes.probe] > 1
    is_nearest = (diagonal <= nearest)[has_other_mates & is_finite]
    return len(is_nearest) >= _LEAST_ROWS and bool(is_nearest.mean() > _SHARE_NEAREST)
