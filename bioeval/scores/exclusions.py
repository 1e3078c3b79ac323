"""Comparisons that `exclude` leaves out: its grammar, and the codes of both sides that decide."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from bioeval.base.errors import DataError, nearest_name, printable
from bioeval.scores.codes import Codes, column_codes
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
    #: The values of the probe and of the gallery template; None: the same or different values.
    values: tuple[str, str] | None
    differs: bool
    of_all: bool  # pairs, and not of mates alone

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the exclusion that a text says."""
        parts = re.fullmatch(FORM, text)
        if parts is None:
            raise DataError(f"`exclude` is {text!r}; expected {FORM_IN_WORDS}")
        values = None if parts["probe"] is None else (parts["probe"], parts["gallery"])
        return cls(text, parts["column"], values, text.endswith("!="), parts["all"] is not None)

    @property
    def in_words(self) -> str:
        """The pairs of templates that are left out, without the word of whom."""
        if self.values is not None:
            probe, gallery = self.values
            return f"{self.column} {probe} (probe) and {gallery} (gallery)"
        return f"{'different' if self.differs else 'the same'} {self.column}"

    def codes(
        self, probe_meta: Mapping[str, np.ndarray], gallery_meta: Mapping[str, np.ndarray]
    ) -> Codes:
        """Return codes of both sides, equal for equal values, or for the two stated values.

        The code of an unknown value is negative.
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
            sides.append(
                np.append(codes_of_names, [-2, -1])[side]
            )  # the last are of unknown values
        return Codes.known(codes.values, *sides)

    def require(
        self, probe_meta: Mapping[str, np.ndarray], gallery_meta: Mapping[str, np.ndarray]
    ) -> None:
        """Raise :class:`DataError` unless both sides have the column, and templates the values."""
        common = [name for name in probe_meta if name in gallery_meta]
        if self.column not in common:
            side = "gallery" if self.column in probe_meta else "probe"
            raise DataError(
                f"exclude names {self.column!r}, but the {side} metadata have no such column; "
                f"{'both sides have: ' + ', '.join(common) if common else 'there are none'}."
                f"{nearest_name(self.column, common)}"
            )
        missing, names = self.missing_value(probe_meta, gallery_meta)
        if missing is not None:
            raise DataError(
                f"exclude has {self.text!r}, but no template has the {self.column} {missing!r}; "
                f"there are {', '.join(names[:10])}{' ...' if len(names) > 10 else ''}."
                f"{nearest_name(missing, names)}"
            )

    def missing_value(
        self, probe_meta: Mapping[str, np.ndarray], gallery_meta: Mapping[str, np.ndarray]
    ) -> tuple[str | None, list[str]]:
        """Return the first stated value that no template has, or None, and the values there are."""
        if self.values is None:
            return None, []
        names = self.codes(probe_meta, gallery_meta).values.tolist()
        missing = [x for x in self.values if not any(is_written(name, x) for name in names)]
        return next(iter(missing), None), [str(plain(name)) for name in names]


@dataclass(frozen=True)
class ExclusionRule:
    """An exclusion as codes: holds for equal codes of both sides, or for different codes."""

    exclusion: Exclusion
    codes: Codes

    def holds(
        self, probe: np.ndarray | slice | int, gallery: np.ndarray | slice | int
    ) -> np.ndarray:
        """Return where the exclusion holds, of places that NumPy broadcasts."""
        return (self.codes.probe[probe] == self.codes.gallery[gallery]) != self.exclusion.differs

    def number(self, subjects: Codes, probe_ids: np.ndarray, gallery_ids: np.ndarray) -> int:
        """Return for how many comparisons of different templates it holds, by labels alone."""
        person = np.zeros(len(probe_ids), np.int64), np.zeros(len(gallery_ids), np.int64)
        if not self.exclusion.of_all:
            person = subjects.probe, subjects.gallery
        sides = list(zip(person, (self.codes.probe, self.codes.gallery), strict=True))
        place = np.full(1 + max(probe_ids.max(initial=0), gallery_ids.max(initial=0)), -1)
        place[gallery_ids] = np.arange(len(gallery_ids))
        itself = place[probe_ids]
        has_itself = itself >= 0
        same = self.codes.probe[has_itself] == self.codes.gallery[itself[has_itself]]
        equal = _equal_pairs(*sides) - int(same.sum())
        if not self.exclusion.differs:
            return equal
        all_pairs = _equal_pairs(*((side, np.zeros_like(side)) for side in person))
        return all_pairs - int(has_itself.sum()) - equal


#: Two templates of no person are not compared, as if an exclusion of all pairs said so.
NO_PERSON_TWICE = Exclusion("no person", "no person", None, differs=False, of_all=True)


def _equal_pairs(
    probe: tuple[np.ndarray, np.ndarray], gallery: tuple[np.ndarray, np.ndarray]
) -> int:
    size = 3 + max(int(side[1].max(initial=0)) for side in (probe, gallery))
    keys = [person.astype(np.int64) * size + value + 2 for person, value in (probe, gallery)]
    values, numbers = np.unique(keys[1], return_counts=True)
    if not len(values):
        return 0
    place = np.minimum(np.searchsorted(values, keys[0]), len(values) - 1)
    return int(numbers[place][values[place] == keys[0]].sum())


def exclusions_in_words(texts: Iterable[str]) -> str:
    """Return the pairs that exclusions leave out, as ``genuine pairs of the same session``."""
    phrases: dict[str, list[str]] = {}
    for exclusion in map(Exclusion.parse, texts):
        pairs = "all pairs" if exclusion.of_all else "genuine pairs"
        phrases.setdefault(pairs, []).append(printable(exclusion.in_words))
    return "; ".join(f"{pairs} of {' or '.join(names)}" for pairs, names in phrases.items())


class Exclusions:
    """The exclusions of scores, of mates and of all pairs.

    - `of_all` (bool): whether pairs of two subjects are left out, too
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
        """Return the exclusions of texts by columns of both sides, and of subjects of no person."""
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
        """Return which pairs are left out, of places that NumPy broadcasts; `mates` flags mates."""
        left_out: np.ndarray | bool = False
        for rule in self.rules:
            holds = rule.holds(probe, gallery)
            left_out = left_out | (holds if rule.exclusion.of_all else holds & mates)
        return left_out

    def hold_for_all(
        self, probe: np.ndarray | slice, gallery: np.ndarray | slice
    ) -> np.ndarray | bool:
        """Return which pairs are left out whether they are of mates or not."""
        left_out: np.ndarray | bool = False
        for rule in self.rules:
            if rule.exclusion.of_all:
                left_out = left_out | rule.holds(probe, gallery)
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
