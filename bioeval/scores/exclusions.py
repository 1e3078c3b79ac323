"""Comparisons that `exclude` leaves out: its grammar, and the codes of both sides that decide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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


@dataclass(frozen=True)
class Exclusion:
    """A form of `exclude`, such as ``session`` or ``all:camera=3/2``."""

    text: str
    column: str
    #: The values of the probe and of the gallery template, if they are stated.
    values: tuple[str, str] | None
    differs: bool  # whether pairs with different values are left out, and not with the same value
    of_all: bool  # whether all such pairs are left out, and not mates alone

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

    def codes(
        self, probe_meta: Mapping[str, np.ndarray], gallery_meta: Mapping[str, np.ndarray]
    ) -> Codes:
        """Return codes of both sides that are equal in the pairs in question.

        These have equal values, or the two stated values. The code of an unknown value is negative.
        """
        codes = column_codes(probe_meta[self.column], gallery_meta[self.column], self.column)
        if self.values is None:
            return codes
        names = codes.values.tolist()
        sides = []
        for code, (value, side) in enumerate(
            zip(self.values, (codes.probe, codes.gallery), strict=True), start=1
        ):
            codes_of_names = [0 if is_written(name, value) else code for name in names]
            # The negative codes of unknown values, -1 and -2, index the last two.
            sides.append(np.append(codes_of_names, [-2, -1])[side])
        return Codes.known(codes.values, *sides)

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
        values = self.codes(probe_meta, gallery_meta).values.tolist()
        names = [str(plain(value)) for value in values]
        for missing in (x for x in self.values if not any(is_written(y, x) for y in values)):
            raise DataError(
                f"exclude has {self.text!r}, but no template has the {self.column} {missing!r}; "
                f"there are {', '.join(names[:10])}{' ...' if len(names) > 10 else ''}."
                f"{nearest_name(missing, names)}"
            )


@dataclass(frozen=True)
class ExclusionRule:
    """An exclusion with the codes of both sides that decide which pairs are left out."""

    exclusion: Exclusion
    codes: Codes

    def holds(
        self, probe: np.ndarray | slice | int, gallery: np.ndarray | slice | int
    ) -> np.ndarray:
        """Return which pairs are left out; the rows and the columns are broadcast."""
        return (self.codes.probe[probe] == self.codes.gallery[gallery]) != self.exclusion.differs

    def number(self, subjects: Codes, probe_ids: np.ndarray, gallery_ids: np.ndarray) -> int:
        """Return the number of comparisons of different templates that are left out, by labels."""
        probe_person = np.zeros(len(probe_ids), dtype=np.int64)
        gallery_person = np.zeros(len(gallery_ids), dtype=np.int64)
        if not self.exclusion.of_all:
            probe_person, gallery_person = subjects.probe, subjects.gallery
        probe_code, gallery_code = self.codes.probe, self.codes.gallery
        own_column = places_of_ids(probe_ids, gallery_ids)
        has_own = own_column >= 0
        equals_itself = probe_code[has_own] == gallery_code[own_column[has_own]]
        equal = _equal_pairs((probe_person, probe_code), (gallery_person, gallery_code))
        equal -= int(equals_itself.sum())
        if not self.exclusion.differs:
            return equal
        no_code = np.zeros_like(probe_code), np.zeros_like(gallery_code)
        pairs = _equal_pairs((probe_person, no_code[0]), (gallery_person, no_code[1]))
        return pairs - int(has_own.sum()) - equal


#: The exclusion of pairs of two templates of no person, which are never compared.
NO_PERSON_TWICE = Exclusion("no person", "no person", None, differs=False, of_all=True)


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


class Exclusions:
    """All exclusions of scores.

    - `of_all` (bool): whether any leaves out pairs of two subjects, too
    """

    def __init__(self, rules: Sequence[ExclusionRule]):
        self.rules = list(rules)
        self.of_all = any(rule.exclusion.of_all for rule in self.rules)

    @classmethod
    def parse(
        cls,
        texts: tuple[str, ...],
        probe_meta: Mapping[str, np.ndarray],
        gallery_meta: Mapping[str, np.ndarray],
        subjects: Codes | None = None,
    ) -> Self:
        """Return the exclusions that texts state, and, if there are any, of pairs of no person."""
        rules = [
            ExclusionRule(exclusion, exclusion.codes(probe_meta, gallery_meta))
            for exclusion in map(Exclusion.parse, texts)
        ]
        if subjects is not None:
            probe, gallery = (subjects.no_person[x] for x in (subjects.probe, subjects.gallery))
            if probe.any() and gallery.any():
                sides = np.where(probe, 0, -1), np.where(gallery, 0, -2)
                rules.append(ExclusionRule(NO_PERSON_TWICE, Codes.known(np.zeros(1), *sides)))
        return cls(rules)

    def hold(
        self, probe: np.ndarray | slice, gallery: np.ndarray | slice, mates: np.ndarray | bool
    ) -> np.ndarray | bool:
        """Return which pairs are left out; rows, columns and flags of `mates` are broadcast.

        With False, only those that are left out whether they are mates or not.
        """
        left_out: np.ndarray | bool = False
        for rule in self.rules:
            if rule.exclusion.of_all:
                left_out = left_out | rule.holds(probe, gallery)
            elif mates is not False:
                left_out = left_out | (rule.holds(probe, gallery) & mates)
        return left_out

    @cached_property
    def of_columns(self) -> tuple[np.ndarray, Exclusions]:
        """Gallery templates that are left out for every probe, in order, and the other rules."""
        columns = np.zeros(0, dtype=np.int64)
        further_rules = []
        for rule in self.rules:
            probe = rule.codes.probe
            if rule.exclusion.of_all and len(probe) and (probe == probe[0]).all():
                left_out = np.flatnonzero(rule.holds(slice(0, 1), slice(None)))
                columns = np.union1d(columns, left_out)
            else:
                further_rules.append(rule)
        return columns, Exclusions(further_rules)
