"""Which comparisons of a matrix are no attempts, by a mask, by `exclude` or by a protocol.

A comparison is missing if it is masked, or failed where failures are no attempts
(``nan="exclude"``), unless the protocol leaves the comparison out: a template against itself, a
pair of `exclude`, junk and cameras of a convention. Lists of pairs and top-K lists do not say which
comparisons should be there, and count as complete.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bioeval.base.arguments import require_list, require_text
from bioeval.base.errors import DataError, Message, ProtocolError, nearest_name, printable
from bioeval.scores.arrays import Mask, row_spans
from bioeval.scores.codes import Codes, column_codes, places_of_ids
from bioeval.scores.labels import is_written, plain
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
        rules = bool(scores.exclusions) or hasattr(scores.cells.mask, "removed")
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
        about = {"least": attrs["candidates_least"], "most": attrs["candidates_most"]}
        about |= {"probes": attrs["incomplete_probes"], "searches": self.searches}
        return [Message("candidates-missing", **about, candidates=attrs["candidates"])]


#: The completeness of any number of probes of which no comparison is missing.
COMPLETE = Completeness(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))


def _true_by_row(flags: np.ndarray) -> np.ndarray:
    # Faster than np.count_nonzero over an axis where few are true.
    places = np.flatnonzero(flags.reshape(-1))
    return np.bincount(places // flags.shape[1], minlength=len(flags))


# ------------------------------------------------------------------------- the forms of `exclude`


#: The forms of an exclusion, as a regular expression and in words.
FORM = "(?P<all>all:)?(?P<column>[^=,]*[^=,!])(!=|=(?P<probe>[^=/,]+)/(?P<gallery>[^=/,]+))?"
FORM_IN_WORDS = (
    "COLUMN (mates with the same value), COLUMN!= (mates with another value) or COLUMN=A/B (mates "
    "of A as probe and B in the gallery), or all: and one of these (all pairs and not mates alone)"
)


@dataclass(frozen=True, eq=False)
class Exclusion:
    """A form of `exclude`, such as ``session`` or ``all:camera=3/2``."""

    text: str  # empty for the exclusion of two templates of no person
    column: str
    #: The values of the probe and of the gallery template, if they are stated.
    values: tuple[str, str] | None
    differs: bool  # whether pairs with different values are left out, and not with the same value
    of_all: bool  # whether all such pairs are left out, and not mates alone
    #: The codes of both sides that are equal in the pairs in question; empty where only the form
    #: is known.
    codes: Codes = field(default_factory=lambda: Codes.known(*np.zeros((3, 0), dtype=np.int64)))

    @classmethod
    def parse(cls, text: str) -> Self:
        parts = re.fullmatch(FORM, text)
        if parts is None:
            raise DataError(f"`exclude` is {text!r}; expected {FORM_IN_WORDS}")
        values = None if parts["probe"] is None else (parts["probe"], parts["gallery"])
        return cls(text, parts["column"], values, text.endswith("!="), parts["all"] is not None)

    @property
    def in_words(self) -> str:
        """The values of the pairs that are left out, such as ``the same session``."""
        if self.values is not None:
            probe, gallery = self.values
            return f"{self.column} {probe} (probe) and {gallery} (gallery)"
        return f"{'different' if self.differs else 'the same'} {self.column}"

    def of_sides(
        self, probe_meta: Mapping[str, np.ndarray], gallery_meta: Mapping[str, np.ndarray]
    ) -> Self:
        """Return the exclusion with codes that are equal in pairs of equal, or stated, values.

        The code of an unknown value is negative.
        """
        codes = column_codes(probe_meta[self.column], gallery_meta[self.column], self.column)
        if self.values is None:
            return replace(self, codes=codes)
        names = codes.values.tolist()
        sides = []
        for code, (value, side) in enumerate(
            zip(self.values, (codes.probe, codes.gallery), strict=True), start=1
        ):
            codes_of_names = [0 if is_written(name, value) else code for name in names]
            # The negative codes of unknown values, -1 and -2, index the last two.
            sides.append(np.append(codes_of_names, [-2, -1])[side])
        return replace(self, codes=Codes.known(codes.values, *sides))

    def require(
        self, probe_meta: Mapping[str, np.ndarray], gallery_meta: Mapping[str, np.ndarray]
    ) -> None:
        """Raise :class:`DataError` unless both sides have the column, and templates the values."""
        common = [name for name in probe_meta if name in gallery_meta]
        if self.column not in common:
            side = "gallery" if self.column in probe_meta else "probe"
            listed = f"both sides have: {', '.join(common)}"
            if not common:
                both = ("probe", probe_meta), ("gallery", gallery_meta)
                of_sides = [f"the {x} metadata have {', '.join(y)}" for x, y in both if y]
                listed = ", ".join(of_sides) or "there are none"
            raise DataError(
                f"exclude names {self.column!r}, but the {side} metadata have no such column; "
                f"{listed}.{nearest_name(self.column, common or [*probe_meta, *gallery_meta])}"
            )
        if self.values is None:
            return
        values = self.of_sides(probe_meta, gallery_meta).codes.values.tolist()
        names = [str(plain(value)) for value in values]
        for missing in (x for x in self.values if not any(is_written(y, x) for y in values)):
            raise DataError(
                f"exclude has {self.text!r}, but no template has the {self.column} {missing!r}; "
                f"there are {', '.join(names[:10])}{' ...' if len(names) > 10 else ''}."
                f"{nearest_name(missing, names)}"
            )

    def holds(
        self, probe: np.ndarray | slice | int, gallery: np.ndarray | slice | int
    ) -> np.ndarray:
        """Return which pairs are left out; the rows and the columns are broadcast."""
        return (self.codes.probe[probe] == self.codes.gallery[gallery]) != self.differs

    def number(self, subjects: Codes, probe_ids: np.ndarray, gallery_ids: np.ndarray) -> int:
        """Return the number of comparisons of different templates that are left out, by labels."""
        probe_person = np.zeros(len(probe_ids), dtype=np.int64)
        gallery_person = np.zeros(len(gallery_ids), dtype=np.int64)
        if not self.of_all:
            probe_person, gallery_person = subjects.probe, subjects.gallery
        probe_code, gallery_code = self.codes.probe, self.codes.gallery
        own_column = places_of_ids(probe_ids, gallery_ids)
        has_own = own_column >= 0
        equals_itself = probe_code[has_own] == gallery_code[own_column[has_own]]
        equal = _equal_pairs((probe_person, probe_code), (gallery_person, gallery_code))
        equal -= int(equals_itself.sum())
        if not self.differs:
            return equal
        no_code = np.zeros_like(probe_code), np.zeros_like(gallery_code)
        pairs = _equal_pairs((probe_person, no_code[0]), (gallery_person, no_code[1]))
        return pairs - int(has_own.sum()) - equal


def _equal_pairs(
    probe: tuple[np.ndarray, np.ndarray], gallery: tuple[np.ndarray, np.ndarray]
) -> int:
    """Return the number of pairs with equal people and equal codes; a side is (people, codes)."""
    size = 3 + max(int(side[1].max(initial=0)) for side in (probe, gallery))
    # Codes are -2 or more.
    probe_keys, gallery_keys = (
        person.astype(np.int64) * size + code + 2 for person, code in (probe, gallery)
    )
    distinct, counts = np.unique(gallery_keys, return_counts=True)
    if not len(distinct):
        return 0
    place = np.minimum(np.searchsorted(distinct, probe_keys), len(distinct) - 1)
    return int(counts[place][distinct[place] == probe_keys].sum())


def exclusions_in_words(texts: Iterable[str]) -> str:
    """Return the pairs that exclusions leave out, as ``genuine pairs of the same session``."""
    phrases: dict[str, list[str]] = {}
    for exclusion in map(Exclusion.parse, texts):
        pairs = "all pairs" if exclusion.of_all else "genuine pairs"
        phrases.setdefault(pairs, []).append(printable(exclusion.in_words))
    return "; ".join(f"{pairs} of {' or '.join(names)}" for pairs, names in phrases.items())


def exclusions_of_scores(
    texts: Iterable[str],
    probe_meta: Mapping[str, np.ndarray],
    gallery_meta: Mapping[str, np.ndarray],
    subjects: Codes,
) -> tuple[Exclusion, ...]:
    """Return the exclusions that texts state, and, if there are any, of pairs of no person."""
    exclusions = [x.of_sides(probe_meta, gallery_meta) for x in map(Exclusion.parse, texts)]
    probe, gallery = (subjects.no_person[x] for x in (subjects.probe, subjects.gallery))
    if probe.any() and gallery.any():
        codes = Codes.known(np.zeros(1), np.where(probe, 0, -1), np.where(gallery, 0, -2))
        noun = "no person"
        exclusions.append(Exclusion("", noun, None, differs=False, of_all=True, codes=codes))
    return tuple(exclusions)


def are_left_out(
    exclusions: Iterable[Exclusion],
    probe: np.ndarray | slice,
    gallery: np.ndarray | slice,
    mates: np.ndarray | bool,
) -> np.ndarray | bool:
    """Return which pairs are left out; rows, columns and flags of `mates` are broadcast.

    With False, only those that are left out whether they are mates or not.
    """
    left_out: np.ndarray | bool = False
    for exclusion in exclusions:
        if exclusion.of_all:
            left_out = left_out | exclusion.holds(probe, gallery)
        elif mates is not False:
            left_out = left_out | (exclusion.holds(probe, gallery) & mates)
    return left_out
