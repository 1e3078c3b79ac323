"""Which comparisons of a matrix are no attempts, by a mask, by `exclude` or by a protocol.

A cell of the matrix is the comparison of a probe (row) with a gallery template (column); mates
are two templates of one person. A mask or `exclude` (such as ``session``: mates of the same
session) *leave out* cells. A cell is *compared* if it is not left out and compares two different
templates, and an *attempt* if it has not failed either, or failures are attempts
(``nan="reject"``).

A comparison is *missing* if it is masked, or failed where failures are no attempts
(``nan="exclude"``), unless the protocol leaves the comparison out: a template against itself, a
pair of `exclude`, junk and cameras of a convention. Lists of pairs and top-K lists do not say which
comparisons should be there, and count as complete.

In this file: the cells of some rows, as flags; :class:`Completeness`, the missing comparisons of
each probe; and :class:`Exclusion`, one text of `exclude` with the pairs that it leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bioeval.base.arguments import require_list, require_text
from bioeval.base.errors import DataError, Message, ProtocolError, nearest_name, printable
from bioeval.base.options import row_spans
from bioeval.scores.codes import Codes, column_codes, places_of_ids
from bioeval.scores.labels import is_written, plain
from bioeval.scores.masks import Mask
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
    if texts and not scores.are_labelled:
        raise DataError("exclude needs labels; a mask does not identify subjects")
    return tuple(dict.fromkeys(texts))


def leaving_out(scores: Scores, codes: Codes, exclusions: Sequence[Exclusion]) -> Scores:
    """Return a view with other codes of subjects, and with further exclusions."""
    texts = (exclusion.text for exclusion in exclusions)
    view = scores.with_codes(codes, exclude=(*scores.exclude, *texts))
    view._set(exclusions=(*scores.exclusions, *exclusions))
    return view


def excludes_same(scores: Scores, column: str) -> bool:
    return not {column, f"all:{column}"}.isdisjoint(scores.exclude)


def excluded(scores: Scores, i: np.ndarray, j: np.ndarray | slice) -> np.ndarray:
    """Return which cells exclusions leave out; rows `i` and columns `j` are broadcast."""
    mates = scores.codes.probe[i] == scores.codes.gallery[j]
    # Without exclusions `are_left_out` is False, and an exclusion may be of fewer axes.
    return np.zeros(mates.shape, dtype=bool) | are_left_out(scores.exclusions, i, j, mates)


def masked(scores: Scores, mask: Any) -> Scores:
    return scores._with(_source=scores.cells.masked(mask))


def left_out_rows(
    scores: Scores, low: int, high: int, order: np.ndarray | None = None
) -> np.ndarray | None:
    """Return which cells of rows ``low:high`` a mask or exclusions leave out; None without both.

    Columns are in the given `order`, (columns,), or as they are. A template with itself is not
    among these cells; :func:`compared_cells` has both.
    """
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
    # An exclusion without a text is of templates of no person.
    has_rules = any(exclusion.text for exclusion in scores.exclusions)
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
        if scores.are_labelled:
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
        """Count the comparisons of each probe; read scores only if comparisons may be missing.

        What the protocol leaves out is counted in a second pass, which reads no scores, and only if
        comparisons are missing, which is rare.
        """
        may_lack = scores.has_mask or excludes_failures(scores)
        if scores.layout in ("pairs", "top-k") or not may_lack:
            return COMPLETE
        probe_count, gallery_count = scores.shape
        has_rules = bool(scores.exclusions) or hasattr(scores.cells.mask, "removed")
        own_column = columns_of_probes(scores)  # (probes,), -1 if the gallery lacks the template
        missing = np.zeros(probe_count, dtype=np.int64)
        for low, high in row_spans(probe_count, gallery_count):
            is_missing = scores.cells.missing(low, high, scores.nan == "exclude")
            own_column_of_rows = own_column[low:high]
            has_own = np.flatnonzero(own_column_of_rows >= 0)
            is_missing[has_own, own_column_of_rows[has_own]] = False
            if has_rules and is_missing.any():
                is_missing &= ~left_out_by_protocol(scores, np.arange(low, high))
            missing[low:high] = _true_by_row(is_missing)
        if not missing.any():
            return COMPLETE

        left_out = (own_column >= 0).astype(np.int64)
        if has_rules:
            for low, high in row_spans(probe_count, gallery_count):
                is_left_out = left_out_by_protocol(scores, np.arange(low, high))
                left_out[low:high] = _true_by_row(is_left_out)
        expected = gallery_count - left_out
        return cls(expected - missing, expected)

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
        is_search = self.compared > 0
        return {
            "incomplete_probes": self.incomplete,
            "candidates_least": int(self.compared[is_search].min()),
            "candidates_most": int(self.compared[is_search].max()),
            "candidates": int(self.expected[is_search].max()),
        }

    def messages(self) -> list[Message]:
        if not self.incomplete:
            return []
        attrs = self.attrs
        message = Message(
            "candidates-missing",
            least=attrs["candidates_least"],
            most=attrs["candidates_most"],
            probes=attrs["incomplete_probes"],
            searches=self.searches,
            candidates=attrs["candidates"],
        )
        return [message]


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
    #: Codes of the values of all templates, (probes,) and (gallery,). Codes are equal in pairs with
    #: the same value (of ``session``), or with the stated values (of ``camera=3/2``). Empty after
    #: :meth:`parse`, which knows the text alone; :meth:`of_sides` fills them.
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

        An unknown value has the code -1 in a probe and -2 in a gallery template, and equals none.
        Of stated values, templates that have the value of their side have the code 0, other probes
        1, and other gallery templates 2.
        """
        codes = column_codes(probe_meta[self.column], gallery_meta[self.column], self.column)
        if self.values is None:
            return replace(self, codes=codes)
        names = codes.values.tolist()

        def recoded(side: np.ndarray, value: str, other: int) -> np.ndarray:
            code_of_name = [0 if is_written(name, value) else other for name in names]
            # The codes of unknown values, -1 and -2, index the last two items, and stay.
            return np.array([*code_of_name, -2, -1])[side]

        probe_value, gallery_value = self.values
        probe = recoded(codes.probe, probe_value, other=1)
        gallery = recoded(codes.gallery, gallery_value, other=2)
        return replace(self, codes=Codes.known(codes.values, probe, gallery))

    def require(
        self, probe_meta: Mapping[str, np.ndarray], gallery_meta: Mapping[str, np.ndarray]
    ) -> None:
        """Raise :class:`DataError` unless both sides have the column, and templates the values."""
        common = [name for name in probe_meta if name in gallery_meta]
        if self.column not in common:
            side = "gallery" if self.column in probe_meta else "probe"
            columns = f"both sides have: {', '.join(common)}"
            if not common:
                sides = ("probe", probe_meta), ("gallery", gallery_meta)
                of_sides = [f"the {x} metadata have {', '.join(meta)}" for x, meta in sides if meta]
                columns = ", ".join(of_sides) or "there are none"
            raise DataError(
                f"exclude names {self.column!r}, but the {side} metadata have no such column; "
                f"{columns}.{nearest_name(self.column, common or [*probe_meta, *gallery_meta])}"
            )
        if self.values is None:
            return
        values = self.of_sides(probe_meta, gallery_meta).codes.values.tolist()
        names = [str(plain(value)) for value in values]
        for stated in self.values:
            if any(is_written(value, stated) for value in values):
                continue
            raise DataError(
                f"exclude has {self.text!r}, but no template has the {self.column} {stated!r}; "
                f"there are {', '.join(names[:10])}{' ...' if len(names) > 10 else ''}."
                f"{nearest_name(stated, names)}"
            )

    def holds(
        self, probe: np.ndarray | slice | int, gallery: np.ndarray | slice | int
    ) -> np.ndarray:
        """Return which pairs are of the form, mates or not; the rows and the columns are broadcast.

        Mates among them are left out, and others only with `of_all` (:func:`are_left_out`).
        """
        return (self.codes.probe[probe] == self.codes.gallery[gallery]) != self.differs

    def number(self, subjects: Codes, probe_ids: np.ndarray, gallery_ids: np.ndarray) -> int:
        """Return the number of comparisons of different templates that are left out, by labels.

        They are counted by the codes, without looking at each cell.
        """
        codes = self.codes
        probe_person, gallery_person = subjects.probe, subjects.gallery
        if self.of_all:  # it does not matter whose templates they are
            probe_person, gallery_person = np.zeros_like(codes.probe), np.zeros_like(codes.gallery)
        equal = _equal_pairs(probe_person, gallery_person, codes.probe, codes.gallery)
        # A template with itself is counted among the pairs, but is left out in any case.
        own_column = places_of_ids(probe_ids, gallery_ids)
        has_own = own_column >= 0
        equals_itself = codes.probe[has_own] == codes.gallery[own_column[has_own]]
        equal -= int(equals_itself.sum())
        if not self.differs:
            return equal
        no_code = np.zeros_like(codes.probe), np.zeros_like(codes.gallery)
        pairs = _equal_pairs(probe_person, gallery_person, *no_code)
        return pairs - int(has_own.sum()) - equal


def _equal_pairs(
    probe_person: np.ndarray,
    gallery_person: np.ndarray,
    probe_code: np.ndarray,
    gallery_code: np.ndarray,
) -> int:
    """Return the number of pairs of a probe and a gallery template with equal people and codes."""
    # Person and code as one number; codes are -2 or more.
    size = 3 + max(int(probe_code.max(initial=0)), int(gallery_code.max(initial=0)))
    probe_keys = probe_person.astype(np.int64) * size + probe_code + 2
    gallery_keys = gallery_person.astype(np.int64) * size + gallery_code + 2
    distinct, counts = np.unique(gallery_keys, return_counts=True)
    if not len(distinct):
        return 0
    # A probe makes as many pairs as gallery templates have its key. A key above all others would be
    # past the end.
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
    probe_is_nobody = subjects.no_person[subjects.probe]
    gallery_is_nobody = subjects.no_person[subjects.gallery]
    # Whether two templates of no person are mates is not known: such pairs are no attempts.
    if probe_is_nobody.any() and gallery_is_nobody.any():
        probe, gallery = np.where(probe_is_nobody, 0, -1), np.where(gallery_is_nobody, 0, -2)
        codes = Codes.known(np.zeros(1), probe, gallery)
        nobody = Exclusion("", "no person", None, differs=False, of_all=True, codes=codes)
        exclusions.append(nobody)
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
