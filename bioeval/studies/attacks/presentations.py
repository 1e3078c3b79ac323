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
from bioeval.stats.weighted_sums import ratio
from bioeval.studies.attacks.scores import (
    accepted_at,
    require_free_labels,
    with_pooled_and_largest,
)

#: The code of a bona fide presentation.
BONA_FIDE = -1


@dataclass(frozen=True)
class Presentations:
    """The presentations of one set: the class of each, and its distance if there is a response."""

    distances: np.ndarray  # float64 (n,): NaN without a response
    codes: np.ndarray  # int64 (n,): the species of each presentation, `BONA_FIDE` of none
    species: list[str]  # sorted
    in_apcer: np.ndarray  # bool (species,): whether a presentation of the species has a response
    non_response: str

    @classmethod
    def from_columns(
        cls, values: Any, attack: Any, kind: Kind, non_response: str, where: str = ""
    ) -> Presentations:
        """Check the scores and the species of one set; in errors their names begin with `where`."""
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
        has_response = np.isin(np.arange(len(species)), codes[~np.isnan(scores)])
        return cls(to_user(scores, kind), codes, species.tolist(), has_response, non_response)

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
    def class_sizes(self) -> np.ndarray:
        """The denominator of the rate of each class."""
        return np.array([self.members(i).sum() for i in self.classes])

    @cached_property
    def class_distances(self) -> list[np.ndarray]:
        """The distances of the presentations with a response of each class, increasing."""
        has_response = ~np.isnan(self.distances)
        return [np.sort(self.distances[has_response & (self.codes == i)]) for i in self.classes]

    def rates(self, distances: np.ndarray) -> dict[str, np.ndarray]:
        """Return APCER and BPCER at distances.

        APCER, (distances, labels of species), also has the pooled and the largest rate. ISO/IEC
        30107-3:2023: the APCER of a species is the proportion of its presentations that are
        accepted; BPCER is the proportion of bona fide presentations that are rejected.
        """
        accepted = accepted_at(self.class_distances, distances)
        sizes = self.class_sizes
        apcer = ratio(accepted[:, :-1], sizes[:-1])
        pooled = ratio(accepted[:, :-1].sum(axis=1), sizes[:-1].sum())
        return {
            "apcer": with_pooled_and_largest(apcer, pooled, self.in_apcer),
            "bpcer": ratio(sizes[-1] - accepted[:, -1], sizes[-1]),
        }

    def apcer_of_species(self, distances: np.ndarray) -> np.ndarray:
        """Return the APCER of each species, (distances, species)."""
        return self.rates(distances)["apcer"][:, : len(self.species)]

    @cached_property
    def points(self) -> ErrorCurve:
        """The operating points: reject-all, then each distinct score.

        In place of numbers of errors, the curve has the largest APCER and BPCER.
        """
        distances = np.unique(np.concatenate(self.class_distances))
        reject_all = math.nan if -math.inf in distances[:1] else -math.inf
        thresholds = np.append(reject_all, distances)
        rates = self.rates(thresholds)
        return ErrorCurve(thresholds, rates["apcer"][:, -1], rates["bpcer"], 1, 1)

    def next_scores(self, distances: Any) -> np.ndarray:
        """Return the nearest score that each distance rejects; infinity if it accepts all."""
        return np.minimum.reduce(next_among(distances, *self.class_distances))

    @cached_property
    def d_eer(self) -> EqualError:
        """The point at which the largest APCER and BPCER cross."""
        return self.points.equal_error()

    def at_apcer(self, target: float) -> int | None:
        """Return the index of the loosest point with APCER at most `target`; None without APCER."""
        apcer = self.points.fa
        if np.isnan(apcer[0]):
            return None
        return int(np.searchsorted(apcer, target, "right")) - 1

    def choose(self, rule: DetectionRule) -> float | None:
        """Return the distance that a rule chooses; None if no operating point fulfils the rule."""
        if rule.name == "fixed":
            return rule.value
        if rule.name == "d_eer":
            return None if math.isnan(self.d_eer.eer) else self.d_eer.eer_threshold
        point = self.at_apcer(rule.value)
        if rule.name == "bpcer":
            point = next(iter(np.flatnonzero(self.points.fr <= rule.value).tolist()), None)
        return None if point is None else float(self.points.threshold[point])


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
        """Return the rule as it is written in the attributes of a result."""
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


def says_bona_fide(word: str) -> bool | None:
    """Return True for a word for bona fide, False for one for attacks, None for another word."""
    if word.strip().casefold().replace("_", " ").replace("-", " ") in _ATTACKS:
        return False
    return True if is_bona_fide_word(word) else None


@dataclass(frozen=True)
class _Cells:
    """The cells of a list, column by column."""

    path: Path
    names: list[str]  # names of the columns in lower case; empty without a header
    lines: list[int]  # the number of each line in the file
    columns: list[list[str]]

    def column_named(self, names: Iterable[str]) -> int | None:
        return next((self.names.index(name) for name in names if name in self.names), None)


def read_presentations(path: str | Path, key: str | Path | None = None) -> PresentationList:
    """Read a list of presentations.

    A list with a header has a column of scores, and a column `attack` with the species or a column
    of classes such as ``bonafide`` and ``spoof``; it may have columns `subject` and `instrument`.
    In a list without a header, the last column of numbers has the scores, a column has class words,
    and the species are in the column with ``-`` wherever the class is bona fide, as ASVspoof writes
    them. The classes may be in another list, the `key`, by the names of the presentations.
    """
    cells = _read_cells(path)
    score_column = _score_column(cells)
    if key is not None:
        cells = _joined_with_key(cells, score_column, _read_cells(key, is_key=True))
    values = np.full(len(cells.lines), np.nan)
    for i, (line, cell) in enumerate(zip(cells.lines, cells.columns[score_column], strict=True)):
        if cell and (not is_number(cell) or overflows(cell)):
            raise DataError(
                f"{cells.path}: line {line}: the score is {cell!r}; expected a number, or nothing "
                "where detection gave no response"
            )
        values[i] = float(cell or "nan")
    kind = KINDS.get(cells.names[score_column]) if cells.names else None
    units = []
    for names in (_SUBJECT_NAMES, _INSTRUMENT_NAMES):
        column = cells.column_named(names)
        units.append(None if column is None else [*cells.columns[column]])
    species = _species_by_presentation(cells, score_column)
    return PresentationList(values, species, kind or "", *units)


def _read_cells(path: str | Path, is_key: bool = False) -> _Cells:
    """Read the cells of a list; a list that is a key has class words, and perhaps no numbers."""
    file = existing_file(path)
    head = head_of(file)
    first = head.cells[0]
    # The first line is a header unless it has a score, or in a key a class word.
    is_data = any(map(is_number, first))
    if is_key:
        is_data = is_data or any(says_bona_fide(cell) is not None for cell in first)
    names = [] if is_data else [*map(folded, first)]
    # A first line that numbers the columns, as pandas writes it, is skipped like a header.
    is_skipped = not is_data or counts_columns(first) or not first[0] and counts_columns(first[1:])
    return _Cells(file, names, *cells_by_column(head, is_skipped))


def _joined_with_key(scores: _Cells, score_column: int, key: _Cells) -> _Cells:
    """Return the columns of the scores and of the key, joined by the names of presentations.

    The names are in the two columns that have most cells in common.
    """
    shared = {
        (i, j): len({*cells}.intersection(key_cells))
        for i, cells in enumerate(scores.columns)
        for j, key_cells in enumerate(key.columns)
        if i != score_column
    }
    i, j = max(shared, key=lambda columns: shared[columns], default=(0, 0))
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
    key_row = places(in_scores, in_key)
    is_missing = key_row < 0
    for row in np.flatnonzero(is_missing)[:1].tolist():
        raise DataError(
            f"{key.path}: lacks {scores.columns[i][row]!r}, and {int(is_missing.sum()):,} of the "
            f"{len(key_row):,} presentations of {scores.path.name}; expected a line for each"
        )
    further_columns = [column for number, column in enumerate(key.columns) if number != j]
    names = list[str]()
    if scores.names or key.names:
        key_names = key.names or [""] * len(key.columns)
        names = scores.names or [""] * len(scores.columns)
        names = [*names, *(x for number, x in enumerate(key_names) if number != j)]
    columns = [*scores.columns, *([column[row] for row in key_row] for column in further_columns)]
    return _Cells(scores.path, names, scores.lines, columns)


def _score_column(cells: _Cells) -> int:
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


def _species_by_presentation(cells: _Cells, score_column: int) -> list[str]:
    """Return the species of each presentation, empty for bona fide."""
    path = cells.path
    columns = cells.columns
    attack = cells.column_named(COLUMNS["species"])
    class_columns = [i for i, name in enumerate(cells.names) if name in COLUMNS["genuine"]]
    if not class_columns:
        class_columns = [
            i
            for i, column in enumerate(columns)
            if i != score_column and None not in map(says_bona_fide, set(column))
        ]
    if not class_columns:
        if attack is None:
            raise DataError(
                f"{path}: does not mark attack presentations; expected a column 'attack' with the "
                "species of each attack, or one of class words such as bonafide and spoof (in "
                "another list: `key`)"
            )
        return ["" if is_bona_fide(x) else x for x in columns[attack]]
    may_be_bona_fide = []
    for line, word in zip(cells.lines, columns[class_columns[0]], strict=True):
        is_word_of_bona_fide = says_bona_fide(word)
        if is_word_of_bona_fide is None and attack is None:
            numeric = " (1 and 0 are read in both ways)" if word.casefold() in TRUTH else ""
            raise DataError(
                f"{path}: line {line}: the class is {word!r}; expected bonafide, target or "
                f"nontarget, and spoof or attack{numeric}"
            )
        may_be_bona_fide.append(is_word_of_bona_fide is not False)
    if attack is None:
        names = _species_column(columns, may_be_bona_fide, {score_column, class_columns[0]})
    else:
        names = columns[attack]
    species = []
    for may_be, name in zip(may_be_bona_fide, names, strict=True):
        if may_be and (attack is None or is_bona_fide(name)):
            species.append("")
        elif is_bona_fide(name):
            species.append("spoof")
        else:
            species.append(name)
    return species


def _species_column(
    columns: list[list[str]], is_bona_fide_class: list[bool], used: set[int]
) -> Sequence[str]:
    """Return the first column with a mark of bona fide wherever the class is bona fide.

    Without such a column, all species are empty.
    """
    for i, column in enumerate(columns):
        if i in used:
            continue
        words = set(map(str.casefold, compress(column, is_bona_fide_class)))
        if words and all(map(is_bona_fide, words)):
            return column
    return [""] * len(is_bona_fide_class)
