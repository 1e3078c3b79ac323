"""Attempts of an all-against-all matrix: all comparisons, or each pair once.

In a square matrix (i, j) and (j, i) are two attempts. Protocols that compare each pair of
templates once, and those that take impostors from the first template of each subject alone, leave
the other cells out; here they are masked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.errors import Argument, ProtocolError, require_choice
from bioeval.protocol.loading import load
from bioeval.protocol.tasks import Verification
from bioeval.scores.arrays import Mask
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import left_out


def with_exclusions(scores: Scores, protocol: Any) -> Scores:
    """Return the scores without comparisons that a card (or what has `exclude`) leaves out."""
    if hasattr(protocol, "exclude"):
        excluded = protocol.exclude
    else:
        excluded = load(protocol).exclude
    more = [name for name in excluded if name not in left_out(scores)]
    if more:
        return scores.excluding(*scores.exclude, *more)
    return scores


def with_pairs(scores: Scores, rule: str) -> Scores:
    """Return the scores with a mask of the cells that a rule of pairs does not compare.

    ``"ordered"`` compares every cell off the diagonal; ``"unordered"`` each pair of templates once,
    with the later one as the probe and the earlier one enrolled; ``"first-impostors"`` does the
    same, and takes impostors only between the first templates of two subjects (FVC): N S (S - 1) /
    2 genuine and N (N - 1) / 2 impostor attempts of N subjects with S templates each, such as 2,800
    and 4,950 for the 100 fingers and 8 impressions of FVC2004 (Maio et al., ICBA 2004).
    """
    if rule == "ordered":
        return scores
    require_choice("pairs", rule, Verification.fields()["pairs"].words())
    scores._require_matrix()
    if scores.layout != "all-against-all" or not np.array_equal(
        scores.probe_ids, scores.gallery_ids
    ):
        raise ProtocolError(
            f"{Argument('pairs', rule)} compares each pair of one set of templates once; these "
            f"scores are {scores._layout_in_words}, {scores.shape[0]} x {scores.shape[1]}"
        )
    if not scores._labelled:
        raise ProtocolError(
            f"{Argument('pairs', rule)} needs labels: a mask alone does not identify the subjects"
        )
    codes = scores._codes.gallery
    first = np.full(len(codes), rule == "unordered")
    first[np.unique(codes, return_index=True)[1]] = True
    before = scores.mask
    mask = np.full(scores.shape, Mask.IGNORE, dtype=np.uint8)
    for i in range(1, len(codes)):
        genuine = codes[:i] == codes[i]
        compared = genuine | (first[i] & first[:i])
        if before is not None:
            compared &= before[i, :i] != Mask.IGNORE
        mask[i, :i][compared] = np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR)[compared]
    return scores.with_mask(mask)
