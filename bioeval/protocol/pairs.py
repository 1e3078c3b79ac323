"""Attempts of an all-against-all matrix: all comparisons, or each pair once.

In a square matrix (i, j) and (j, i) are two attempts. Some protocols compare each pair of templates
once, or take impostors from the first template of each subject alone; other cells are masked here.
Of two subjects with the templates a1, a2 and b1, b2, in this order (rows: probes; G: genuine, I:
impostor, a point: left out)::

    "ordered"  . G I I   "unordered"  . . . .   "first-impostors"  . . . .
               G . I I                G . . .                      G . . .
               I I . G                I I . .                      I . . .
               I I G .                I I G .                      . . G .
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import Message, ProtocolError
from bioeval.protocol.loading import load
from bioeval.protocol.tasks import Verification
from bioeval.scores.attempts import left_out, left_out_rows
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores, require_all_scores
from bioeval.scores.metadata import NAME_COLUMNS, NUMBER_COLUMNS, places_in_order
from bioeval.scores.people import knows_people


def with_exclusions(scores: Scores, protocol: Any) -> Scores:
    """Return the scores without the comparisons that a card leaves out."""
    card = protocol if hasattr(protocol, "exclude") else load(protocol)
    further = [name for name in card.exclude if name not in left_out(scores)]
    if further:
        return scores.excluding(*scores.exclude, *further)
    return scores


def with_pairs(scores: Scores, rule: str) -> Scores:
    """Return the scores with a mask that leaves out all comparisons outside a rule of pairs.

    - ``"ordered"`` compares every cell off the diagonal.
    - ``"unordered"`` compares each pair of templates once: the later one is the probe and the
      earlier one is enrolled, or the other way round if only this comparison exists.
    - ``"first-impostors"`` does the same, but takes impostors only between the first templates of
      two subjects (FVC): N S (S - 1) / 2 genuine and N (N - 1) / 2 impostor attempts of N subjects
      with S templates each, such as 2,800 and 4,950 for the 100 fingers with 8 impressions of
      FVC2004 (Maio et al., ICBA 2004).

    Templates are in the order of `places_in_order`: by a column, by names, or by row.
    """
    if rule == "ordered":
        return scores
    require_choice("pairs", rule, Verification.fields()["pairs"].words())
    require_all_scores(scores)
    if scores.layout != "all-against-all" or not np.array_equal(
        scores.probe_ids, scores.gallery_ids
    ):
        raise ProtocolError(
            f'`pairs="{rule}"` compares each pair of one set of templates once; these '
            f"scores are {scores.layout_in_words}, {scores.shape[0]} x {scores.shape[1]}"
        )
    if not knows_people(scores):
        raise ProtocolError(
            f'`pairs="{rule}"` needs labels: a mask alone does not identify the subjects'
        )
    codes = scores.codes.gallery  # (n,), the subject of each template
    n_before, decided_by = places_in_order(scores.probe_meta, len(codes), scores.probe_names)
    may_be_impostor = np.full(len(codes), rule == "unordered")
    if rule == "first-impostors":
        order = np.argsort(n_before)
        first_of_subject = order[np.unique(codes[order], return_index=True)[1]]
        may_be_impostor[first_of_subject] = True
    mask, comparisons, other_orders = _each_pair_once(scores, n_before, may_be_impostor)

    # How many pairs the rule asks for, and how many of them there are not.
    templates_of_subject = np.bincount(codes)
    genuine_pairs = int((templates_of_subject * (templates_of_subject - 1)).sum()) // 2
    if rule == "unordered":
        impostor_pairs = len(codes) * (len(codes) - 1) // 2 - genuine_pairs
    else:
        subjects = int(np.count_nonzero(templates_of_subject))
        impostor_pairs = subjects * (subjects - 1) // 2
    genuine_found = int(np.count_nonzero(mask == Mask.GENUINE))
    impostor_found = int(np.count_nonzero(mask == Mask.IMPOSTOR))
    missing_genuine = genuine_pairs - genuine_found
    missing_impostor = impostor_pairs - impostor_found

    notes = []
    compared = genuine_found + impostor_found
    if compared < comparisons:
        others = comparisons - other_orders - compared  # impostors that are not first templates
        about = {"compared": compared, "orders": other_orders, "others": others}
        notes.append(Message("pairs-left-out", comparisons=comparisons, rule=rule, **about))
    if missing_genuine + missing_impostor:
        missing_by_class = {"genuine": missing_genuine, "impostor": missing_impostor}
        notes.append(Message("pairs-missing", rule=rule, **missing_by_class))
    if rule == "first-impostors":
        has_names = scores.probe_names is not None or any(
            name in scores.probe_meta for name in NAME_COLUMNS
        )
        if not decided_by:  # the first template is that of the first row
            notes.append(Message("first-by-order", what="impostor attempts"))
        elif decided_by in NUMBER_COLUMNS and not has_names:
            # The column numbers the templates of each subject, so that of two first templates the
            # later row is the probe. It matters where the two orders of a pair differ in score.
            probes, templates = np.nonzero(mask == Mask.IMPOSTOR)
            in_order, reverse = scores.values[probes, templates], scores.values[templates, probes]
            if not np.array_equal(in_order, reverse, equal_nan=True):
                notes.append(Message("sides-by-order", column=decided_by))
    return scores.with_mask(mask).with_remarks(*notes)


def _each_pair_once(
    scores: Scores, n_before: np.ndarray, may_be_impostor: np.ndarray
) -> tuple[np.ndarray, int, int]:
    """Return the mask with one comparison of each pair, and two numbers of comparisons.

    `n_before` is the place of each template in the order, `may_be_impostor` whether impostor pairs
    of it are compared, (n,) both. The numbers are those of all comparisons that the scores do not
    leave out, and of those whose pair is compared in the other order.
    """
    codes = scores.codes.gallery
    is_left_out = left_out_rows(scores, 0, len(codes))
    if is_left_out is None:
        is_left_out = np.zeros((len(codes), len(codes)), dtype=bool)
    mask = np.full(is_left_out.shape, Mask.IGNORE, dtype=np.uint8)
    comparisons = other_orders = 0
    for i in range(len(codes)):
        is_attempt = ~is_left_out[i]
        is_attempt[i] = False
        # The enrolled template is earlier, unless the comparison in the other order is missing.
        is_in_order = is_attempt & ((n_before < n_before[i]) | is_left_out[:, i])
        is_genuine = codes == codes[i]
        is_compared = is_in_order & (is_genuine | (may_be_impostor[i] & may_be_impostor))
        mask[i, is_compared] = np.where(is_genuine, Mask.GENUINE, Mask.IMPOSTOR)[is_compared]
        comparisons += int(is_attempt.sum())
        other_orders += int(is_attempt.sum()) - int(is_in_order.sum())
    return mask, comparisons, other_orders
