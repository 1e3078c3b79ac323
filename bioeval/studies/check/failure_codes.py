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

# A row or column of equal scores is suspicious from this number of comparisons on.
_LEAST_COMPARISONS = 20

# Number of rows that are sampled if not all scores are read.
_SAMPLED_ROWS = 256

# An extreme value is suspicious if at least this number of scores share it.
_LEAST_SHARED = 10

# It must be more than this many times as frequent as any of its next values, and farther away from
# these neighbours than they extend.
_TIMES_AS_OFTEN = 10
_NEIGHBOURS = 8

# There must be more distinct values than this.
_LEAST_DISTINCT = 16


class EndValue(NamedTuple):
    """A value at one end of the range that suspiciously many scores share."""

    value: float
    how: str  # how it differs from the other values, in words
    accepted: bool  # whether it is at the end that is accepted


def end_values(
    scores: np.ndarray, impostor: np.ndarray, kind: Kind, copies: bool = False
) -> list[EndValue]:
    """Return the least and the most similar score, if suspiciously many comparisons share them.

    At the end that is accepted, only `impostor` scores are counted: genuine scores may well be
    equal. The score of a copy (distance 0, similarity 1) is reported only with `copies`.
    """
    if kind == "order":
        return []
    rejected = _end_value(scores, kind, accepted=False)
    accepted = _end_value(scores[impostor], kind, accepted=True)
    score_of_copy = {"distance": 0.0, "similarity": 1.0}.get(kind)
    if accepted is not None and accepted.value == score_of_copy and not copies:
        accepted = None
    return [end for end in (rejected, accepted) if end is not None]


def _end_value(scores: np.ndarray, kind: Kind, *, accepted: bool) -> EndValue | None:
    # With this sign, the end is the largest value.
    sign = -1.0 if accepted != (kind in LARGER_IS_CLOSER) else 1.0
    values, counts = np.unique(sign * scores, return_counts=True)
    if len(values) < 2 or counts[-1] < _LEAST_SHARED or 2 * counts[-1] >= counts.sum():
        return None
    value = float(0.0 + sign * values[-1])
    # Distances are not below 0, and few similarities are; log-likelihood ratios often are.
    if kind != "llr" and sign < 0 and values[-1] > 0 >= values[-2]:
        return EndValue(value, "the only value below 0", accepted)
    if len(values) > _LEAST_DISTINCT and _is_apart(values, counts):
        return EndValue(value, "apart from all others", accepted)
    return None


def _is_apart(values: np.ndarray, counts: np.ndarray) -> bool:
    """Whether the largest value is far from all other values and much more frequent."""
    # Halving the values keeps all differences finite.
    largest, next_largest, neighbour = values[[-1, -2, -1 - _NEIGHBOURS]] / 2
    is_frequent = counts[-1] > _TIMES_AS_OFTEN * counts[-1 - _NEIGHBOURS : -1].max()
    return bool(is_frequent and largest - next_largest > next_largest - neighbour)


def failed(scores: Scores, scanned: DataScan) -> Finding:
    """Return the finding about failed comparisons, and templates whose comparisons all failed."""
    rows = scanned.rows
    all_failed = (rows.finite == 0) & (rows.failed > 1)
    places: list[Text] = [
        say("all of row {row}", row=place_in_words(i, scores.probe_meta))
        for i in np.flatnonzero(all_failed)[:SHOWN].tolist()
    ]
    places.append(_listed_cells(scanned.failed))
    return failures(scores, int(rows.failed.sum()), listed(places), *scanned.infinite)


#: How failed comparisons are treated, in words, by the policy of NaN.
_TREATMENT = {
    "reject": ": rejected at every threshold",
    "exclude": ": left out",
    "raise": '; choose how to treat them: `nan="reject"` (as attempts that no threshold accepts) '
    'or `nan="exclude"` (no attempt)',
}


def failures(scores: Scores, number: int, where: Text, nearest: int, farthest: int) -> Finding:
    """Return the finding about numbers of failed and infinite comparisons."""
    if number:
        severity: Severity = "error" if scores.nan == "raise" else "note"
        message = Message(
            "comparisons-failed", comparisons=number, treatment=_TREATMENT[scores.nan]
        )
        return Finding("failed", severity, message, number, where)
    for infinite, accepted, severity in ((nearest, "every", "warning"), (farthest, "no", "note")):
        if infinite:
            message = Message("infinite-scores", scores=int(infinite), accepted=accepted, first="")
            return Finding("failed", severity, message, int(infinite))
    return passed("failed")


def sentinels(scores: Scores, scanned: DataScan, copies: bool) -> Finding:
    """Return the finding about rows, columns and values that stand for failed comparisons.

    `copies` says whether the score of a copy is suspicious, because no template is a copy.
    """
    constant_rows, constant_columns = (
        np.flatnonzero((x.nearest == x.farthest) & (x.finite >= _LEAST_COMPARISONS))
        for x in (scanned.rows, scanned.columns)
    )
    is_in_varied_lines = ~np.isnan(scanned.sample)
    is_in_varied_lines[np.isin(scanned.sampled, constant_rows)] = False
    is_in_varied_lines[:, constant_columns] = False
    varied = scanned.sample[is_in_varied_lines]
    places, values = list[str](), set[float]()
    for line, comparisons, constant in (
        ("row", scanned.rows, constant_rows),
        ("column", scanned.columns, constant_columns),
    ):
        for place in constant.tolist():
            distance = comparisons.nearest[place]
            # If most other scores have this value, it is an ordinary score.
            if len(varied) and np.mean(varied == distance) < 0.5:
                places.append(f"{line} {place}")
                values.add(0.0 + sign_of(scores.kind) * float(distance))
    if not places:
        return _sentinels_at_ends(scores, scanned, is_in_varied_lines, copies)
    message = Message(
        "values-of-failures",
        comparisons=[len(places)],
        compared={"templates": scores.shape[0] + scores.shape[1]},
        values=sorted(values)[:SHOWN],
        how="in every comparison of the template",
    )
    return Finding("sentinels", "error", message, len(places), listed(places))


def _sentinels_at_ends(
    scores: Scores, scanned: DataScan, is_in_varied_lines: np.ndarray, copies: bool
) -> Finding:
    sample = 0.0 + sign_of(scores.kind) * scanned.sample
    is_impostor = _is_impostor(scores, scanned.sampled)
    values, impostor = (x[is_in_varied_lines] for x in (sample, is_impostor))
    ends = end_values(values, impostor, scores.kind, copies)
    cells = [np.argwhere(sample == end.value) for end in ends]
    where = _listed_cells(
        [scanned.sampled[row], column] for x in cells for row, column in x[:SHOWN]
    )
    compared = {"sampled comparisons": int((~np.isnan(sample)).sum())}
    return end_finding(ends, [*map(len, cells)], compared, where)


def _is_impostor(scores: Scores, rows: np.ndarray) -> np.ndarray:
    """Return whether comparisons of some rows are impostor ones; all are if people are unknown."""
    if not knows_people(scores):
        return np.ones((len(rows), scores.shape[1]), dtype=bool)
    return scores.codes.probe[rows, None] != scores.codes.gallery


def sampled_codes(scores: Scores) -> Finding:
    """Return the finding about values at the ends of the range, of pairs or of sampled rows.

    Scores of copies and rows of equal scores are not looked for.
    """
    if scores.kind == "order":
        return passed("sentinels")
    if scores.layout == "pairs":
        values = np.asarray(scores.values, dtype=np.float64)
        impostor = ~scores.genuine
    else:
        templates = scores.shape[0]
        number = min(templates, _SAMPLED_ROWS)
        rows = np.unique(np.linspace(0, templates - 1, number).astype(np.int64))
        sampled = of_own_columns(scores.select(probes=rows))
        values = 0.0 + sign_of(scores.kind) * attempted(sampled, 0, len(rows))
        impostor = _is_impostor(sampled, np.arange(len(rows)))
    is_known = np.isfinite(values)
    ends = end_values(values[is_known], impostor[is_known], scores.kind)
    numbers = [int((values == end.value).sum()) for end in ends]
    return end_finding(ends, numbers, {"sampled comparisons": int(is_known.sum())}, "")


def end_finding(
    ends: list[EndValue], numbers: list[int], compared: dict[str, int], where: Text
) -> Finding:
    """Return the finding of values at the ends of the range; `numbers` of scores have each value.

    `compared` is the number of all comparisons, by their name.
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
