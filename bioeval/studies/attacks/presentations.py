"""Presentations with a detection score each, and the rules that choose a threshold on them."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.arguments import overflows, rate_in, require_numbers
from bioeval.base.errors import DataError, received
from bioeval.base.kinds import Kind
from bioeval.counting.order import next_among
from bioeval.counting.points import EqualError, ErrorCurve
from bioeval.counting.threshold_rules import is_real
from bioeval.counting.thresholds import to_user
from bioeval.scores.bona_fide import is_bona_fide, is_bona_fide_word, species_of
from bioeval.scores.formats.files import existing_file
from bioeval.scores.formats.spellings import (
    COLUMNS,
    KINDS,
    TRUTH,
    counts_columns,
    folded,
    is_number,
)
from bioeval.scores.formats.tables import cells_by_column, head_of
from bioeval.scores.names import as_names, first_twice, places
from bioeval.stats.people import ratio
from bioeval.studies.attacks.scores import (
    accepted_at,
    require_free_labels,
    with_pooled_and_largest,
)

#: The code of a bona fide presentation.
BONA_FIDE = -1


@dataclass(frozen=True)
class Presentations:
    """Presentations of one set: distances of those with a response, by class, and denominators."""

    distances: np.ndarray  # of all presentations; NaN without a response
    codes: np.ndarray  # of the species of each, -1 for bona fide
    species: list[str]
    counted: np.ndarray  # whether a species has a response: the maximum is over these
    non_response: str

    @classmethod
    def from_columns(
        cls, values: Any, attack: Any, kind: Kind, non_response: str, where: str = ""
    ) -> Presentations:
        """Check the scores and the species of one set; `where` begins the names in errors."""
        column = species_of(attack, f"{where}attack")
        scores = require_numbers(f"{where}values", values)
        if scores.shape != column.shape:
            raise DataError(
                f"{where}values has shape {scores.shape} and attack {column.shape}; expected one "
                "score and one species for each presentation"
            )
        species = np.unique(column[column != ""])
        codes = np.where(column == "", BONA_FIDE, np.searchsorted(species, column))
        if (codes != BONA_FIDE).all():
            raise DataError(
                f"{where}attack has no bona fide presentation among {len(codes):,}; their mark is "
                "empty, '-', 'none', 'live', 'genuine' or 'bona fide'"
            )
        if not len(species):
            raise DataError(
                f"{where}attack has no attack presentation among {len(codes):,}; expected the "
                "species of each, such as 'print'"
            )
        require_free_labels(species.tolist())
        answered = np.isin(np.arange(len(species)), codes[~np.isnan(scores)])
        return cls(to_user(scores, kind), codes, species.tolist(), answered, non_response)

    def members(self, code: int) -> np.ndarray:
        """Return a mask of the presentations in the denominator of the rate of a class."""
        members = self.codes == code
        if self.non_response == "exclude":
            members &= ~np.isnan(self.distances)
        return members

    @property
    def classes(self) -> list[int]:
        """The codes of the species, then the code of bona fide presentations."""
        return [*range(len(self.species)), BONA_FIDE]

    @cached_property
    def number(self) -> np.ndarray:
        """The number of presentations in the denominator of the rate of each class."""
        return np.array([self.members(i).sum() for i in self.classes])

    @cached_property
    def answered(self) -> list[np.ndarray]:
        """The increasing distances of each class."""
        has_response = ~np.isnan(self.distances)
        return [np.sort(self.distances[has_response & (self.codes == i)]) for i in self.classes]

    def rates(self, distances: np.ndarray) -> dict[str, np.ndarray]:
        """Return APCER at distances, (distances, labels of species), and BPCER.

        ISO/IEC 30107-3:2023: APCER of a species is its presentations that are accepted over its
        presentations; BPCER is the bona fide presentations that are rejected over all of them.
        """
        accepted = accepted_at(self.answered, distances)
        number = self.number
        of_species = ratio(accepted[:, :-1], number[:-1])
        pooled = ratio(accepted[:, :-1].sum(axis=1), number[:-1].sum())
        return {
            "apcer": with_pooled_and_largest(of_species, pooled, self.counted),
            "bpcer": ratio(number[-1] - accepted[:, -1], number[-1]),
        }

    def of_species(self, rates: np.ndarray) -> np.ndarray:
        """Return the rates of the species alone, of rates (distances, labels of species)."""
        return rates[:, : len(self.species)]

    @cached_property
    def points(self) -> ErrorCurve:
        """The operating points: reject-all, then each distinct score, with rates as errors."""
        distances = np.unique(np.concatenate(self.answered))
        reject_all = math.nan if -math.inf in distances[:1] else -math.inf
        thresholds = np.append(reject_all, distances)
        rates = self.rates(thresholds)
        return ErrorCurve(thresholds, rates["apcer"][:, -1], rates["bpcer"], 1, 1)

    def next_scores(self, at: Any) -> np.ndarray:
        """Return the nearest score that each distance rejects; infinity if it accepts all."""
        return np.minimum.reduce(next_among(at, *self.answered))

    @cached_property
    def d_eer(self) -> EqualError:
        """The crossing of the largest APCER and BPCER."""
        return self.points.equal_error()

    def at_apcer(self, target: float) -> int | None:
        """Return the loosest point with APCER at most `target`; None if APCER is not defined."""
        apcer = self.points.fa
        if np.isnan(apcer[0]):
            return None
        return int(np.searchsorted(apcer, target, "right")) - 1

    def chosen(self, rule: DetectionRule) -> float | None:
        """Return the distance that a rule chooses; None if no operating point fulfils the rule."""
        if rule.name == "fixed":
            return rule.value
        if rule.name == "d_eer":
            return None if math.isnan(self.d_eer.eer) else self.d_eer.eer_threshold
        place = self.at_apcer(rule.value)
        if rule.name == "bpcer":
            place = next(iter(np.flatnonzero(self.points.fr <= rule.value).tolist()), None)
        return None if place is None else float(self.points.threshold[place])


@dataclass(frozen=True)
class DetectionRule:
    """A rule that chooses a threshold; the value is a rate, or the threshold."""

    name: str
    value: float = math.nan

    @classmethod
    def parse(cls, threshold: Any) -> DetectionRule:
        """Return the rule of an argument: a number, ``"apcer=x"``, ``"bpcer=x"`` or ``"d_eer"``."""
        with contextlib.suppress(ValueError, ArithmeticError):
            if isinstance(threshold, str) and not is_number(threshold):
                name, equals, rate = threshold.partition("=")
                name = name.strip().casefold()
                if name.replace("-", "_") == "d_eer" and not equals:
                    return cls("d_eer")
                if name in ("apcer", "bpcer") and 0 <= (value := rate_in(rate)) <= 1:
                    return cls(name, value)
            elif isinstance(threshold, str) or is_real(threshold):
                value = float(threshold)
                if not math.isnan(value):
                    return cls("fixed", value)
        raise DataError(
            f"`threshold` is {received(threshold)}; expected a number, d_eer, apcer=X "
            'or bpcer=X with a rate from 0 to 1, such as "apcer=0.05"'
        )

    def __str__(self) -> str:
        """Return the rule as an attribute of a result holds it."""
        return self.name if self.name == "d_eer" else f"{self.name}={self.value!r}"


#: Class words of attacks.
_ATTACKS = ("spoof", "attack", "fake", "presentation attack")

_SCORE_NAMES = (*COLUMNS["score"], "cm_score")  # the countermeasure's of ASVspoof
_SUBJECT_NAMES = ("subject", "subject_id", "person", "client_id")
_INSTRUMENT_NAMES = ("instrument", "instrument_id", "pai_id")


@dataclass(frozen=True)
class PresentationList:
    """The presentations of a list."""

    values: np.ndarray  # float64 (n,)
    attack: list[str]  # the species of each; empty for bona fide
    kind: str  # empty where the list does not say it
    subjects: list[str] | None
    instruments: list[str] | None


def class_of(word: str) -> bool | None:
    """Return whether a class word says bona fide; None for another word."""
    if word.strip().casefold().replace("_", " ").replace("-", " ") in _ATTACKS:
        return False
    return True if is_bona_fide_word(word) else None


@dataclass(frozen=True)
class _Cells:
    """The cells of a list by column, and the number of each line."""

    path: Path
    names: list[str]  # of the header, in lower case; none of a list without one
    lines: list[int]
    columns: list[list[str]]

    def column_named(self, names: Iterable[str]) -> int | None:
        return next((self.names.index(name) for name in names if name in self.names), None)


def read_presentations(path: str | Path, key: str | Path | None = None) -> PresentationList:
    """Read a list of presentations.

    With the names of its columns: a score, and `attack`, the species, or a class such as
    ``bonafide`` and ``spoof``; perhaps `subject` and `instrument`. Without names: the last column
    of numbers, a column of class words, and the column that has ``-`` where these say bona fide,
    as ASVspoof writes them. The classes may be in another list, the `key`, by the names of the
    presentations.
    """
    cells = _cells_of(path)
    score = _score(cells)
    if key is not None:
        cells = _joined_with_key(cells, score, _cells_of(key, of_key=True))
    values = np.full(len(cells.lines), np.nan)
    for i, (line, cell) in enumerate(zip(cells.lines, cells.columns[score], strict=True)):
        if cell and (not is_number(cell) or overflows(cell)):
            raise DataError(
                f"{cells.path}: line {line}: the score is {cell!r}; expected a number, or nothing "
                "where detection gave no response"
            )
        values[i] = float(cell or "nan")
    kind = KINDS.get(cells.names[score]) if cells.names else None
    owners = []
    for owner in (_SUBJECT_NAMES, _INSTRUMENT_NAMES):
        column = cells.column_named(owner)
        owners.append(None if column is None else [*cells.columns[column]])
    return PresentationList(values, _species_by_presentation(cells, score), kind or "", *owners)


def _cells_of(path: str | Path, of_key: bool = False) -> _Cells:
    """Return the cells of a list, and the names of its columns, empty without a header.

    A list that is a key has class words, and perhaps no numbers.
    """
    place = existing_file(path)
    head = head_of(place)
    # Data in the first line are a score, or a class in a key.
    is_data = any(map(is_number, head.cells[0]))
    if of_key:
        is_data = is_data or any(class_of(cell) is not None for cell in head.cells[0])
    named = not is_data
    names = [*map(folded, head.cells[0])] if named else []
    # Numbers of columns, as pandas writes them, are no data above words for classes.
    first = head.cells[0]
    header = named or counts_columns(first) or not first[0] and counts_columns(first[1:])
    return _Cells(place, names, *cells_by_column(head, header))


def _joined_with_key(scores: _Cells, score: int, key: _Cells) -> _Cells:
    shared = {
        (i, j): len({*names}.intersection(further_columns))
        for i, names in enumerate(scores.columns)
        for j, further_columns in enumerate(key.columns)
        if i != score
    }
    i, j = max(shared, key=lambda two: shared[two], default=(0, 0))
    if not shared or not shared[i, j]:
        raise DataError(
            f"{key.path}: no column has the names of the presentations of {scores.path.name}, such "
            f"as {scores.columns[0][0]!r}; expected the same names in both"
        )
    in_scores = as_names(scores.columns[i])
    in_key = as_names(key.columns[j])
    for cells, listed in ((scores, in_scores), (key, in_key)):
        if (twice := first_twice(listed)) is not None:
            name, (_, row) = twice
            raise DataError(
                f"{cells.path}: line {cells.lines[row]}: {name!r} is listed before; expected each "
                "presentation once"
            )
    place = places(in_scores, in_key)
    for row in np.flatnonzero(place < 0)[:1].tolist():
        raise DataError(
            f"{key.path}: lacks {scores.columns[i][row]!r}, and {int((place < 0).sum()):,} of the "
            f"{len(place):,} presentations of {scores.path.name}; expected a line for each"
        )
    further_columns = [column for number, column in enumerate(key.columns) if number != j]
    names = list[str]()
    if scores.names or key.names:
        key_names = key.names or [""] * len(key.columns)
        names = scores.names or [""] * len(scores.columns)
        names = [*names, *(x for number, x in enumerate(key_names) if number != j)]
    columns = [*scores.columns, *([column[row] for row in place] for column in further_columns)]
    return _Cells(scores.path, names, scores.lines, columns)


def _score(cells: _Cells) -> int:
    if cells.names:
        columns = [i for i, name in enumerate(cells.names) if name in _SCORE_NAMES]
        if len(columns) != 1:
            raise DataError(
                f"{cells.path}: {len(columns)} columns of scores among {', '.join(cells.names)}; "
                f"expected one of {', '.join(_SCORE_NAMES)}"
            )
        return columns[0]
    numbers = [i for i, column in enumerate(cells.columns) if all(map(is_number, column))]
    if not numbers:
        raise DataError(f"{cells.path}: no column of numbers; expected a score on each line")
    return numbers[-1]


def _species_by_presentation(cells: _Cells, score: int) -> list[str]:
    path = cells.path
    columns = cells.columns
    attack = cells.column_named(COLUMNS["species"])
    truth = [i for i, name in enumerate(cells.names) if name in COLUMNS["genuine"]]
    if not truth:  # the columns of class words alone
        truth = [
            i for i, x in enumerate(columns) if i != score and None not in map(class_of, set(x))
        ]
    if not truth:
        if attack is None:
            raise DataError(
                f"{path}: does not mark attack presentations; expected a column 'attack' with the "
                "species of each attack, or one of class words such as bonafide and spoof (in "
                "another list: `key`)"
            )
        return ["" if is_bona_fide(x) else x for x in columns[attack]]
    flags = []
    for number, word in zip(cells.lines, columns[truth[0]], strict=True):
        flag = class_of(word)
        if flag is None and attack is None:
            numeric = " (1 and 0 are read in both ways)" if word.casefold() in TRUTH else ""
            raise DataError(
                f"{path}: line {number}: the class is {word!r}; expected bonafide, target or "
                f"nontarget, and spoof or attack{numeric}"
            )
        flags.append(flag is not False)
    names = (
        _species_column(columns, flags, {score, truth[0]}) if attack is None else columns[attack]
    )
    species = []
    for flag, name in zip(flags, names, strict=True):
        if flag and (attack is None or is_bona_fide(name)):
            species.append("")
        elif is_bona_fide(name):
            species.append("spoof")
        else:
            species.append(name)
    return species


def _species_column(columns: list[list[str]], flags: list[bool], used: set[int]) -> Sequence[str]:
    """Return the column with marks of bona fide wherever the class is bona fide.

    Empty species without such a column.
    """
    for i, column in enumerate(columns):
        if i in used:
            continue
        words = set(map(str.casefold, compress(column, flags)))
        if words and all(map(is_bona_fide, words)):
            return column
    return [""] * len(flags)
