"""Attempts of an all-against-all matrix: all comparisons, or each pair once.

In a square matrix (i, j) and (j, i) are two attempts. Some protocols compare each pair of templates
once, or take impostors from the first template of each subject alone; other cells are masked here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import ProtocolError
from bioeval.base.messages import Message
from bioeval.protocol.loading import load
from bioeval.protocol.tasks import Verification
from bioeval.scores.excluded import left_out_rows
from bioeval.scores.masks import Mask
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import places_in_order
from bioeval.scores.people import knows_people
from bioeval.scores.provenance import left_out
from bioeval.scores.requirements import require_all_scores


def with_exclusions(scores: Scores, protocol: Any) -> Scores:
    """Return the scores without the comparisons that a card leaves out."""
    if hasattr(protocol, "exclude"):
        excluded = protocol.exclude
    else:
        excluded = load(protocol).exclude
    further = [name for name in excluded if name not in left_out(scores)]
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
    codes = scores.codes.gallery
    templates = scores.shape[0]
    place, decided_by = places_in_order(scores.probe_meta, templates, scores.probe_names)
    may_be_impostor = np.full(templates, rule == "unordered")
    order = np.argsort(place)
    first_of_subject = order[np.unique(codes[order], return_index=True)[1]]
    may_be_impostor[first_of_subject] = True
    left_out = left_out_rows(scores, 0, templates)
    if left_out is None:
        left_out = np.zeros((templates, templates), dtype=bool)
    mask = np.full((templates, templates), Mask.IGNORE, dtype=np.uint8)
    comparisons = 0
    other_orders = 0  # comparisons that are left out since the pair is compared in another order
    for i in range(templates):
        is_attempt = ~left_out[i]
        is_attempt[i] = False
        # The enrolled template is earlier, unless the comparison in this order is missing.
        is_in_order = is_attempt & ((place < place[i]) | left_out[:, i])
        is_genuine = codes == codes[i]
        is_compared = is_in_order & (is_genuine | (may_be_impostor[i] & may_be_impostor))
        mask[i, is_compared] = np.where(is_genuine, Mask.GENUINE, Mask.IMPOSTOR)[is_compared]
        comparisons += int(is_attempt.sum())
        other_orders += int(is_attempt.sum()) - int(is_in_order.sum())
    notes = _notes_on_left_out(mask, rule, codes, comparisons, other_orders)
    if rule == "first-impostors" and not decided_by:
        notes.append(Message("first-by-order", what="impostor attempts"))
    return scores.with_mask(mask).with_remarks(*notes)


def _notes_on_left_out(
    mask: np.ndarray, rule: str, codes: np.ndarray, comparisons: int, other_orders: int
) -> list[Message]:
    templates = np.bincount(codes)  # number of templates of each subject
    expected = {Mask.GENUINE: int((templates * (templates - 1)).sum()) // 2}
    impostors = len(codes) if rule == "unordered" else int(np.count_nonzero(templates))
    expected[Mask.IMPOSTOR] = impostors * (impostors - 1) // 2
    if rule == "unordered":
        expected[Mask.IMPOSTOR] -= expected[Mask.GENUINE]
    missing = [number - int(np.count_nonzero(mask == x)) for x, number in expected.items()]
    compared = sum(expected.values()) - sum(missing)
    notes = []
    if compared < comparisons:
        others = comparisons - other_orders - compared
        about = {"compared": compared, "orders": other_orders, "others": others}
        notes.append(Message("pairs-left-out", comparisons=comparisons, rule=rule, **about))
    if any(missing):
        genuine, impostor = missing
        notes.append(Message("pairs-missing", rule=rule, genuine=genuine, impostor=impostor))
    return notes
