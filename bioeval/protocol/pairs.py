"""Attempts of an all-against-all matrix: all comparisons, or each pair once.

In a square matrix (i, j) and (j, i) are two attempts. Protocols that compare each pair of
templates once, and those that take impostors from the first template of each subject alone, leave
the other cells out; here they are masked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import ProtocolError
from bioeval.base.messages import Message
from bioeval.protocol.loading import load
from bioeval.protocol.tasks import Verification
from bioeval.scores.arrays import Mask
from bioeval.scores.excluded import left_out_rows
from bioeval.scores.labels import places_in_order
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.provenance import left_out
from bioeval.scores.requirements import require_all_scores


def with_exclusions(scores: Scores, protocol: Any) -> Scores:
    """Return the scores without comparisons that a card, or `protocol.exclude`, leaves out."""
    if hasattr(protocol, "exclude"):
        excluded = protocol.exclude
    else:
        excluded = load(protocol).exclude
    further = [name for name in excluded if name not in left_out(scores)]
    if further:
        return scores.excluding(*scores.exclude, *further)
    return scores


def with_pairs(scores: Scores, rule: str) -> Scores:
    """Return the scores with a mask of the cells that a rule of pairs does not compare.

    ``"ordered"`` compares every cell off the diagonal; ``"unordered"`` each pair of templates once,
    with the later one as the probe and the earlier one enrolled, or the other way round where only
    this comparison is there; ``"first-impostors"`` does the same, and takes impostors only between
    the first templates of two subjects (FVC): N S (S - 1) / 2 genuine and N (N - 1) / 2 impostor
    attempts of N subjects with S templates each, such as 2,800 and 4,950 for the 100 fingers and 8
    impressions of FVC2004 (Maio et al., ICBA 2004). What is earlier is decided by a column or by
    names, as `places_in_order` does, else by the order of the rows.
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
    first = np.full(templates, rule == "unordered")
    in_order = np.argsort(place)
    first[in_order[np.unique(codes[in_order], return_index=True)[1]]] = True
    left_out = left_out_rows(scores, 0, templates)
    if left_out is None:
        left_out = np.zeros((templates, templates), dtype=bool)
    mask = np.full((templates, templates), Mask.IGNORE, dtype=np.uint8)
    cells = orders = 0  # existing comparisons, and comparisons in the other order of a pair
    for i in range(templates):
        is_attempt = ~left_out[i]
        is_attempt[i] = False
        # In the other order, where this order is missing: a pair is one comparison in either order.
        chosen = is_attempt & ((place < place[i]) | left_out[:, i])
        genuine = codes == codes[i]
        compared = chosen & (genuine | (first[i] & first))
        mask[i, compared] = np.where(genuine, Mask.GENUINE, Mask.IMPOSTOR)[compared]
        cells += int(is_attempt.sum())
        orders += int(is_attempt.sum()) - int(chosen.sum())
    notes = _notes_on_left_out(mask, rule, codes, cells, orders)
    if rule == "first-impostors" and not decided_by:
        notes.append(Message("first-by-order", what="impostor attempts"))
    return scores.with_mask(mask).with_remarks(*notes)


def _notes_on_left_out(
    mask: np.ndarray, rule: str, codes: np.ndarray, cells: int, orders: int
) -> list[Message]:
    size = np.bincount(codes)
    expected = {Mask.GENUINE: int((size * (size - 1)).sum()) // 2}
    units = len(codes) if rule == "unordered" else int(np.count_nonzero(size))
    expected[Mask.IMPOSTOR] = units * (units - 1) // 2
    if rule == "unordered":
        expected[Mask.IMPOSTOR] -= expected[Mask.GENUINE]
    missing = [number - int(np.count_nonzero(mask == x)) for x, number in expected.items()]
    compared = sum(expected.values()) - sum(missing)
    notes = []
    if compared < cells:
        about = {"compared": compared, "orders": orders, "others": cells - orders - compared}
        notes.append(Message("pairs-left-out", comparisons=cells, rule=rule, **about))
    if any(missing):
        genuine, impostor = missing
        notes.append(Message("pairs-missing", rule=rule, genuine=genuine, impostor=impostor))
    return notes
