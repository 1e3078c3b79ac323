"""Which comparisons of a matrix are no attempts, by a mask, by `exclude` or by a protocol.

A comparison is missing if it is masked, or failed where failures are no attempts
(``nan="exclude"``), unless the protocol leaves the comparison out: a template against itself, a
pair of `exclude`, junk and cameras of a convention. Lists of pairs and top-K lists do not say which
comparisons should be there, and count as complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import require_list, require_text
from bioeval.base.errors import DataError, Message, ProtocolError
from bioeval.scores.arrays import row_spans
from bioeval.scores.cells import Mask, ProtocolMask
from bioeval.scores.codes import Codes, places_of_ids
from bioeval.scores.exclusions import Exclusion, are_left_out
from bioeval.scores.metadata import require_kept

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores


def as_exclusions(scores: Scores, exclude: Sequence[str]) -> tuple[str, ...]:
    """Return the checked forms of `exclude`, whose columns both sides have."""
    texts = [exclude] if isinstance(exclude, str) else require_list("exclude", exclude)
    if texts and scores.layout == "pairs":
        raise ProtocolError("a pair list excludes nothing by metadata; leave the pairs out")
    if texts and scores.layout == "top-k":
        raise ProtocolError(
            "`exclude` needs a matrix of scores: top-K lists leave out by camera alone, with "
            "removed= of bioeval.reid"
        )
    for text in texts:
        require_text("exclude", text)
        exclusion = Exclusion.parse(text)
        sides = (scores.probe_meta, scores.gallery_meta)
        require_kept(scores, exclusion.column, "exclude", *sides)
        exclusion.require(*sides)
    if texts and not scores._labelled:
        raise DataError("exclude needs labels; a mask does not identify subjects")
    return tuple(dict.fromkeys(texts))


def leaving_out(scores: Scores, codes: Codes, exclusions: Sequence[Exclusion]) -> Scores:
    """Return a view with other codes of subjects, and with further exclusions."""
    texts = (exclusion.text for exclusion in exclusions)
    view = scores._with(_codes=codes, exclude=(*scores.exclude, *texts))
    view._set(exclusions=(*scores.exclusions, *exclusions))
    return view


def excludes_same(scores: Scores, column: str) -> bool:
    return not {column, f"all:{column}"}.isdisjoint(scores.exclude)


def excluded(scores: Scores, i: np.ndarray, j: np.ndarray | slice) -> np.ndarray:
    """Return which cells exclusions leave out; rows `i` and columns `j` are broadcast."""
    mates = scores.codes.probe[i] == scores.codes.gallery[j]
    return np.zeros(mates.shape, dtype=bool) | are_left_out(scores.exclusions, i, j, mates)


def masked(scores: Scores, mask: Any) -> Scores:
    return scores._with(_source=scores.cells.masked(mask))


def left_out_rows(
    scores: Scores, low: int, high: int, order: np.ndarray | None = None
) -> np.ndarray | None:
    """Return which cells of rows ``low:high`` a mask or exclusions leave out; None without both."""
    left_out = None
    if scores.has_mask:
        left_out = scores.cells.read_mask(low, high, order) == Mask.IGNORE
    if scores.exclusions:
        columns = slice(None) if order is None else order
        excluded_cells = excluded(scores, np.arange(low, high)[:, None], columns)
        left_out = excluded_cells if left_out is None else left_out | excluded_cells
    return left_out


def excludes_failures(scores: Scores) -> bool:
    """Whether comparisons may have failed, and are no attempts then."""
    return scores.nan == "exclude" and scores.dtype.kind == "f"


def compared_cells(
    scores: Scores, low: int, high: int, order: np.ndarray | None = None
) -> np.ndarray:
    """Return which cells of rows ``low:high`` compare two templates and are not left out."""
    columns = slice(None) if order is None else order
    is_compared = scores.probe_ids[low:high, None] != scores.gallery_ids[columns]
    left_out = left_out_rows(scores, low, high, order)
    return is_compared if left_out is None else is_compared & ~left_out


def attempted_cells(scores: Scores, low: int, high: int) -> np.ndarray:
    """Return which cells of rows ``low:high`` are compared, and no failure that is excluded."""
    is_attempt = compared_cells(scores, low, high)
    if excludes_failures(scores):
        is_attempt &= ~scores.cells.missing(low, high, failures=True)
    return is_attempt


def may_lack_comparisons(scores: Scores) -> bool:
    """Whether a mask, an exclusion or a failure may leave out comparisons of people."""
    has_rules = any(x.text for x in scores.exclusions)
    return has_rules or excludes_failures(scores) or scores.has_mask


def failed_cells(scores: Scores) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield the rows and columns of failures that are not left out, and which are genuine."""
    probe_count, gallery_count = scores.shape
    for low, high in row_spans(probe_count, gallery_count):
        failed = scores.cells.missing(low, high, failures=True)
        if not failed.any():
            continue
        failed &= compared_cells(scores, low, high)
        row, column = np.nonzero(failed)
        if scores._labelled:
            genuine = scores.codes.probe[low + row] == scores.codes.gallery[column]
        else:
            genuine = scores.cells.read_mask(low, high)[row, column] == Mask.GENUINE
        yield low + row, column, genuine


def left_out_by_protocol(scores: Scores, rows: np.ndarray) -> np.ndarray:
    """Return which cells of rows compare a template with itself, or a protocol leaves out."""
    left_out = scores.probe_ids[rows, None] == scores.gallery_ids
    if scores.exclusions:
        left_out |= excluded(scores, rows[:, None], slice(None))
    return left_out | scores.cells.removed(rows)


def columns_of_probes(scores: Scores) -> np.ndarray:
    """Return the column of each probe's own template, -1 if the gallery lacks the template."""
    return places_of_ids(scores.probe_ids, scores.gallery_ids)


def left_out(scores: Scores) -> list[str]:
    """Return the exclusions of scores; for claims also the exclusions of their tries."""
    return [*scores._excluded_before, *scores.exclude]


# ------------------------------------------------------------------------------ missing comparisons


@dataclass(eq=False)
class Completeness:
    """The numbers of gallery templates that each probe was, and should have been, compared with.

    Both are int64 (probes,), and empty in :data:`COMPLETE`.
    """

    compared: np.ndarray
    expected: np.ndarray

    @property
    def incomplete(self) -> int:
        """The number of probes that were compared with some of the templates, but not with all."""
        return int(np.count_nonzero((self.compared > 0) & (self.compared < self.expected)))

    @classmethod
    def from_scores(cls, scores: Scores) -> Completeness:
        """Count the comparisons of each probe; read scores only if comparisons may be missing."""
        may_lack = scores.has_mask or excludes_failures(scores)
        if scores.layout in ("pairs", "top-k") or not may_lack:
            return COMPLETE
        probe_count, gallery_count = scores.shape
        missing, left_out = np.zeros((2, probe_count), dtype=np.int64)
        rules = bool(scores.exclusions) or isinstance(scores.cells.mask, ProtocolMask)
        itself = columns_of_probes(scores)
        for low, high in row_spans(probe_count, gallery_count):
            absent = scores.cells.missing(low, high, scores.nan == "exclude")
            has_itself = np.flatnonzero(itself[low:high] >= 0)
            absent[has_itself, itself[low:high][has_itself]] = False
            if rules and absent.any():
                absent &= ~left_out_by_protocol(scores, np.arange(low, high))
            missing[low:high] = _true_by_row(absent)
        if not missing.any():
            return COMPLETE
        left_out[itself >= 0] = 1
        if rules:
            for low, high in row_spans(probe_count, gallery_count):
                rows = np.arange(low, high)
                left_out[rows] = _true_by_row(left_out_by_protocol(scores, rows))
        return cls(gallery_count - left_out - missing, gallery_count - left_out)

    def of_probes(self, probes: np.ndarray) -> Completeness:
        if self.nothing_missing:
            return self
        return Completeness(self.compared[probes], self.expected[probes])

    @property
    def nothing_missing(self) -> bool:
        """Whether no comparison of any probe is missing."""
        return not len(self.expected)

    @property
    def searches(self) -> int:
        """The number of probes with at least one comparison; 0 in :data:`COMPLETE`."""
        return int(np.count_nonzero(self.compared))

    @property
    def attrs(self) -> dict[str, int]:
        """The numbers of candidates as attributes of a result, if some probes are incomplete."""
        searches = self.compared > 0
        return {
            "incomplete_probes": self.incomplete,
            "candidates_least": int(self.compared[searches].min()),
            "candidates_most": int(self.compared[searches].max()),
            "candidates": int(self.expected[searches].max()),
        }

    def messages(self) -> list[Message]:
        if not self.incomplete:
            return []
        attrs = self.attrs
        return [
            Message(
                "candidates-missing",
                probes=attrs["incomplete_probes"],
                searches=self.searches,
                least=attrs["candidates_least"],
                most=attrs["candidates_most"],
                candidates=attrs["candidates"],
            )
        ]


#: The completeness of any number of probes of which no comparison is missing.
COMPLETE = Completeness(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def _true_by_row(flags: np.ndarray) -> np.ndarray:
    # Faster than np.count_nonzero over an axis where few are true.
    places = np.flatnonzero(flags.reshape(-1))
    return np.bincount(places // flags.shape[1], minlength=len(flags))
