"""Comparisons that `exclude` leaves out: its grammar, and the codes of both sides that decide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from bioeval.base.errors import DataError, nearest_name, printable
from bioeval.scores.codes import Codes, column_codes, places_of_ids
from bioeval.scores.labels import is_written, plain

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
