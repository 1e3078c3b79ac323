"""Failed comparisons: NaN, infinite scores, and numbers that stand for a failed comparison."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from bioeval.base.kinds import LARGER_IS_CLOSER, Kind
from bioeval.base.messages import Message
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.rows import attempted
from bioeval.scores.selecting import of_own_columns
from bioeval.showing.text import Text, say
from bioeval.studies.check.findings import Finding, Severity, listed, passed, place_in_words
from bioeval.studies.check.scan import SHOWN, DataScan, sign_of

# Least comparisons of a constant row or column.
_LEAST_COMPARISONS = 20

# Rows that are looked at where not all scores are.
_SAMPLED = 256

# A value is suspicious if at least so many scores share it, and it is more frequent, by this
# factor, than any of its next neighbours, and further away from them than they reach; among at
# least so many others, which are then no few steps.
_LEAST_SHARED, _TIES, _NEIGHBOURS, _LEAST_OTHERS = 10, 10, 8, 16


class EndValue(NamedTuple):
    """A value at one end of the range that suspiciously many scores share."""

    value: float
    how: str  # how it differs from the others
    accepted: bool  # whether it is at the end that is accepted


def end_values(
    scores: np.ndarray, impostor: np.ndarray, kind: Kind, copies: bool = False
) -> list[EndValue]:
    """Return the least and the most similar score, if suspiciously many comparisons share them.

    At the end that is accepted impostor scores count alone, and of these the score of a copy
    (distance 0, similarity 1) only with `copies`.
    """
    of_copy = {"distance": 0.0, "similarity": 1.0}.get(kind)
    ends = []
    for accepted in (False, True):
        turn = -1.0 if accepted != (kind in LARGER_IS_CLOSER) else 1.0
        values, counts = np.unique(
            turn * (scores[impostor] if accepted else scores), return_counts=True
        )
        if kind == "order" or len(values) < 2:
            continue
        value, shared = float(0.0 + turn * values[-1]), int(counts[-1])
        if shared < _LEAST_SHARED or 2 * shared >= counts.sum():
            continue
        if accepted and value == of_copy and not copies:
            continue
        # No distance is below 0, nor most similarities; log-likelihood ratios are.
        if kind != "llr" and turn < 0 and values[-1] > 0 >= values[-2]:
            ends.append(EndValue(value, "the only value below 0", accepted))
        elif len(values) > _LEAST_OTHERS and _is_apart(values, counts):
            ends.append(EndValue(value, "apart from all others", accepted))
    return ends


def _is_apart(values: np.ndarray, counts: np.ndarray) -> bool:
    """Whether the largest value is far from all other values and much more frequent."""
    last, high, neighbour = values[[-1, -2, -1 - _NEIGHBOURS]] / 2  # halves: differences are finite
    often = counts[-1] > _TIES * counts[-1 - _NEIGHBOURS : -1].max()
    return bool(often and last - high > high - neighbour)


def failed(scores: Scores, scanned: DataScan) -> Finding:
    """Return the finding about failed comparisons, and templates whose comparisons all failed."""
    lost = (scanned.rows[:, 3] == 0) & (scanned.rows[:, 2] > 1)
    places: list[Text] = [
        say("all of row {row}", row=place_in_words(i, scores.probe_meta))
        for i in np.flatnonzero(lost)[:SHOWN].tolist()
    ]
    places.append(_listed_cells(scanned.failed))
    return failures(scores, int(scanned.rows[:, 2].sum()), listed(places), *scanned.infinite)


#: What becomes of failed comparisons, as a template, by the policy of NaN.
_FAILED = {
    "reject": ": rejected at every threshold",
    "exclude": ": left out",
    "raise": '; choose how to treat them: `nan="reject"` (as attempts that no threshold accepts) '
    'or `nan="exclude"` (no attempt)',
}


def failures(scores: Scores, number: int, where: Text, nearest: int, farthest: int) -> Finding:
    """Return the finding about numbers of failed and infinite comparisons."""
    if number:
        severity: Severity = "error" if scores.nan == "raise" else "note"
        message = Message("comparisons-failed", comparisons=number, treatment=_FAILED[scores.nan])
        return Finding("failed", severity, message, number, where)
    for infinite, accepted, severity in ((nearest, "every", "warning"), (farthest, "no", "note")):
        if infinite:
            message = Message("infinite-scores", scores=int(infinite), accepted=accepted, first="")
            return Finding("failed", severity, message, int(infinite))
    return passed("failed")


def sentinels(scores: Scores, scanned: DataScan, copies: bool) -> Finding:
    """Return the finding about rows, columns and values that stand for failed comparisons.

    `copies` says whether some impostors are at the distance of a copy, and no template is one.
    """
    sample = 0.0 + sign_of(scores.kind) * scanned.sample
    is_known = ~np.isnan(sample)
    sides = scanned.rows.T, scanned.columns
    constant = [np.flatnonzero((x[0] == x[1]) & (x[3] >= _LEAST_COMPARISONS)) for x in sides]
    is_known[np.isin(scanned.sampled, constant[0])] = False
    is_known[:, constant[1]] = False
    remaining = scanned.sample[is_known]
    places, values = list[str](), set[float]()
    for name, lines, (value, *_) in zip(("row", "column"), constant, sides, strict=True):
        for i in lines.tolist():
            if len(remaining) and np.mean(remaining == value[i]) < 0.5:
                places.append(f"{name} {i}")
                values.add(0.0 + sign_of(scores.kind) * float(value[i]))
    if places:
        message = Message(
            "values-of-failures",
            comparisons=[len(places)],
            compared={"templates": scores.shape[0] + scores.shape[1]},
            values=sorted(values)[:SHOWN],
            how="in every comparison of the template",
        )
        return Finding("sentinels", "error", message, len(places), listed(places))
    impostor = np.ones(sample.shape, dtype=bool)
    if knows_people(scores):
        codes = scores.codes
        impostor = codes.probe[scanned.sampled][:, None] != codes.gallery
    ends = end_values(sample[is_known], impostor[is_known], scores.kind, copies)
    cells = [np.argwhere(sample == end.value) for end in ends]
    where = _listed_cells(
        [scanned.sampled[row], column] for x in cells for row, column in x[:SHOWN]
    )
    compared = {"sampled comparisons": int((~np.isnan(sample)).sum())}
    return end_finding(ends, [*map(len, cells)], compared, where)


def sampled_codes(scores: Scores) -> Finding:
    """Return the finding about values at the ends of the range, of rows here and there, or pairs.

    No score of a copy is looked for, and constant rows are not either.
    """
    if scores.kind == "order":
        return passed("sentinels")
    if scores.layout == "pairs":
        values = np.asarray(scores.values, dtype=np.float64)
        impostor = ~scores.genuine
    else:
        templates = scores.shape[0]
        rows = np.unique(np.linspace(0, templates - 1, min(templates, _SAMPLED)).astype(np.int64))
        sampled = of_own_columns(scores.select(probes=rows))
        values = 0.0 + sign_of(scores.kind) * attempted(sampled, 0, len(rows))
        impostor = np.ones(values.shape, dtype=bool)
        if knows_people(scores):
            impostor = sampled.codes.probe[:, None] != sampled.codes.gallery
    is_known = np.isfinite(values)
    ends = end_values(values[is_known], impostor[is_known], scores.kind)
    numbers = [int((values == end.value).sum()) for end in ends]
    return end_finding(ends, numbers, {"sampled comparisons": int(is_known.sum())}, "")


def end_finding(
    ends: list[EndValue], numbers: list[int], compared: dict[str, int], where: Text
) -> Finding:
    """Return the finding of values at the ends of the range, with their numbers.

    `compared` is the number of comparisons by what they are called.
    """
    if not ends:
        return passed("sentinels")
    message = Message(
        "values-of-failures",
        comparisons=numbers,
        compared=compared,
        values=[end.value for end in ends],
        how=" and ".join(dict.fromkeys(end.how for end in ends)),
    )
    severity: Severity = "error" if any(end.accepted for end in ends) else "warning"
    return Finding("sentinels", severity, message, sum(numbers), where)


def _listed_cells(cells: Iterable[Iterable[int]]) -> Text:
    return listed(
        say("row {row:name} column {column:name}", row=int(i), column=int(j)) for i, j in cells
    )
