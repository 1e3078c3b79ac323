"""Failed comparisons: NaN, infinite scores, and numbers that stand for a failed comparison."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.base.messages import Message
from bioeval.document.text import Text, say
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.studies.check.counts import FAILED, FARTHEST, NEAREST, SHOWN, DataScan, sign_of
from bioeval.studies.check.findings import SEVERITIES, Finding, listed, passed, place_in_words

# Least comparisons of a constant row or column; how many such are expected by chance, at most,
# where each comparison has the value as often as the others have.
LEAST_COMPARISONS, CHANCE = 8, 1e-3

# A value is far from the others if it is further from them than this part of their range. It must
# be shared by some comparisons, and the others must not be the few values of quantised scores.
FAR, LEAST_SHARED, LEAST_OTHER_VALUES = 1 / 3, 10, 16

# A value is apart from the others if it is there more often, by this factor, than any of its next
# neighbours, and further away from them than they reach.
TIES, NEIGHBOURS = 10, 8

FAR_OFF, NEGATIVE = "far from all others", "the only value below 0"
APART = "apart from all others"


class EndValue(NamedTuple):
    """A value at one end of the range that suspiciously many scores share."""

    value: float
    how: str  # how it differs from the others
    accepted: bool  # whether it is at the end that is accepted

    @property
    def severity(self) -> str:
        """How serious it is."""
        return "error" if self.how == FAR_OFF or self.accepted else "warning"


def end_values(
    scores: np.ndarray, impostor: np.ndarray, kind: str, copies: bool = False
) -> list[EndValue]:
    """Return the least and the most similar score, if suspiciously many comparisons share them.

    At the end that is accepted impostor scores count alone, and of these the score of a copy
    (distance 0, similarity 1) only with `copies`.
    """
    of_copy = {"distance": 0.0, "similarity": 1.0}.get(kind)
    ends = []
    for accepted in (False, True):
        turn = -1.0 if accepted != (kind in LARGER_IS_CLOSER) else 1.0
        values = turn * (scores[impostor] if accepted else scores)
        last = values.max(initial=-np.inf)
        others = values[values < last]
        shared, value = len(values) - len(others), float(0.0 + turn * last)
        if kind == "order" or shared < LEAST_SHARED or not len(others) > shared:
            continue
        if accepted and value == of_copy and not copies:
            continue
        how = _how(last, others, shared)
        # No distance is below 0, nor most similarities; log-likelihood ratios are.
        lower = kind != "llr" and accepted != (kind in LARGER_IS_CLOSER)
        if lower and last > 0 >= others.max() and (accepted or how != FAR_OFF):
            how = NEGATIVE
        if how:
            ends.append(EndValue(value, how, accepted))
    return ends


def _how(last: float, others: np.ndarray, shared: int) -> str:
    """Return how a value above all others differs from them, in words; empty where it does not."""
    values, counts = np.unique(others, return_counts=True)
    if len(values) < LEAST_OTHER_VALUES:
        return ""
    low, high, neighbour = values[[0, -1, -NEIGHBOURS]] / 2  # halves: differences are finite
    if last / 2 - high > FAR * (high - low):
        return FAR_OFF
    is_apart = shared > TIES * counts[-NEIGHBOURS:].max() and last / 2 - high > high - neighbour
    return APART if is_apart else ""


def failed(scores: Scores, scanned: DataScan) -> Finding:
    """Return the finding about failed comparisons, and templates without any other."""
    number, nearest = int(scanned.counts[FAILED]), int(scanned.counts[NEAREST])
    lost = (scanned.rows[:, 0] > scanned.rows[:, 1]) & (scanned.rows[:, 2] > 1)
    places: list[Text] = [
        say("all of row {row}", row=place_in_words(i, scores.probe_meta))
        for i in np.flatnonzero(lost)[:SHOWN].tolist()
    ]
    places.append(listed_cells(scanned.cells(FAILED)))
    return failures(scores, number, listed(places), int(scanned.counts[FARTHEST]), nearest)


#: What becomes of failed comparisons, as a template, by the policy of NaN.
_FAILED = {
    "reject": ": rejected at every threshold",
    "exclude": ": left out",
    "raise": '; choose how to treat them: `nan="reject"` (as attempts that no threshold accepts) '
    'or `nan="exclude"` (no attempt)',
}


def failures(scores: Any, number: int, where: Text, farthest: int, nearest: int) -> Finding:
    """Return the finding about numbers of failed and infinite comparisons."""
    if number:
        severity = "error" if scores.nan == "raise" else "note"
        message = Message("comparisons-failed", comparisons=number, treatment=_FAILED[scores.nan])
        return Finding("failed", severity, message, number, where)
    for infinite, accepted, severity in ((nearest, "every", "warning"), (farthest, "no", "note")):
        if infinite:
            message = Message("infinite-scores", scores=infinite, accepted=accepted, first="")
            return Finding("failed", severity, message, infinite)
    return passed("failed")


def sentinels(scores: Scores, scanned: DataScan, copies: bool) -> Finding:
    """Return the finding about rows, columns and values that stand for failed comparisons.

    `copies` says whether some impostors are at the distance of a copy, and none is known to be one.
    """
    sample = 0.0 + sign_of(scores.kind) * scanned.sample
    known = ~np.isnan(sample)
    sides = scanned.rows.T, scanned.columns
    constant = [np.flatnonzero((x[0] == x[1]) & (x[3] >= LEAST_COMPARISONS)) for x in sides]
    known[np.isin(scanned.sampled, constant[0])] = False
    known[:, constant[1]] = False
    others = np.sort(scanned.sample[known])
    places, values = list[str](), list[np.ndarray]()
    for name, lines, (value, _, _, count) in zip(("row", "column"), constant, sides, strict=True):
        at, number = value[lines], count[lines]
        same = np.searchsorted(others, at, "right") - np.searchsorted(others, at, "left")
        share = (same + 1) / (len(others) + 1)
        odd = lines[(share < 0.5) & (share**number * len(value) < CHANCE)]  # beyond chance
        places += [f"{name} {i}" for i in odd.tolist()]
        values.append(0.0 + sign_of(scores.kind) * value[odd])
    if places:
        message = Message(
            "values-of-failures",
            comparisons=[len(places)],
            compared={"templates": scores.shape[0] + scores.shape[1]},
            values=np.unique(np.concatenate(values))[:SHOWN].tolist(),
            how="in every comparison of the template",
        )
        return Finding("sentinels", "error", message, len(places), listed(places))
    impostor = np.ones(sample.shape, dtype=bool)
    if knows_people(scores):
        codes = scores.codes
        impostor = codes.probe[scanned.sampled][:, None] != codes.gallery
    ends = end_values(sample[known], impostor[known], scores.kind)
    if copies:
        more = end_values(sample[known], impostor[known], scores.kind, copies=True)
        ends += [end for end in more if end.accepted and end not in ends]
    cells = []
    for end in ends:
        at = np.argwhere(sample == end.value)
        cells.append(np.column_stack([scanned.sampled[at[:, 0]], at[:, 1]]))
    compared = {"sampled comparisons": int((~np.isnan(sample)).sum())}
    where = listed_cells(cell for x in cells for cell in x)
    return end_finding(zip(ends, map(len, cells), strict=True), compared, where)


def end_finding(
    ends: Iterable[tuple[EndValue, int]], compared: dict[str, int], where: Text
) -> Finding:
    """Return the finding of values at the ends of the range, with their numbers.

    `compared` is the number of comparisons by what they are called.
    """
    values = list(ends)
    if not values:
        return passed("sentinels")
    severity = max((end.severity for end, _ in values), key=SEVERITIES.index)
    numbers = [number for _, number in values]
    message = Message(
        "values-of-failures",
        comparisons=numbers,
        compared=dict(compared),
        values=[float(end.value) for end, _ in values],
        how=" and ".join(dict.fromkeys(end.how for end, _ in values)),
    )
    return Finding("sentinels", severity, message, sum(numbers), where)


def listed_cells(cells: Iterable[Iterable[int]]) -> Text:
    """Return the first cells in words."""
    return listed(
        say("row {row:name} column {column:name}", row=int(i), column=int(j)) for i, j in cells
    )
