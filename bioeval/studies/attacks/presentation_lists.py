"""Lists of presentations with a detection score on each line, for presentation attack detection."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bioeval.base import DataError, nearest_name, overflows
from bioeval.scores.bona_fide import is_bona_fide
from bioeval.scores.formats.files import decode, existing_file, guarded
from bioeval.scores.formats.format import say
from bioeval.scores.formats.spellings import (
    SCORE_NAMES,
    SPECIES_NAMES,
    TRUTH,
    TRUTH_NAMES,
    folded,
    is_number,
    no_species,
)
from bioeval.scores.formats.text_table import Shape, open_text, shape_of

#: Class words of bona fide presentations, zero-effort impostors among them, and of attacks.
_BONA_FIDE = ("bonafide", "bona fide", "target", "nontarget", "genuine", "impostor", "live", "real")
_ATTACKS = ("spoof", "attack", "fake", "presentation attack")

_SUBJECT_NAMES = ("subject", "subject_id", "person", "client_id")
_INSTRUMENT_NAMES = ("instrument", "instrument_id", "pai_id")


@dataclass(frozen=True)
class PresentationList:
    """The presentations of a list.

    Attributes
    ----------
    values : float64 array, shape (n,)
    attack : list of str
        The species of each; empty for bona fide.
    kind : str
        Empty where the list does not say it.
    subjects, instruments : list of str, or None
    """

    values: np.ndarray
    attack: list[str]
    kind: str
    subjects: list[str] | None
    instruments: list[str] | None


def class_of(word: str) -> bool | None:
    """Return whether a class word says bona fide; None for another word."""
    plain = word.strip().casefold().replace("_", " ").replace("-", " ")
    if plain in _ATTACKS:
        return False
    return True if plain in _BONA_FIDE or is_bona_fide(word) and word.strip() else None


def read_presentations(path: str | Path, scores_key: str | None = None) -> PresentationList:
    """Read a list of presentations.

    With the names of its columns: a score, and `attack`, the species, or a class such as
    ``bonafide`` and ``spoof``; perhaps `subject` and `instrument`. Without names: the last column
    of numbers, a column of class words, and the column that has ``-`` where these say bona fide,
    as ASVspoof writes them.
    """
    place = existing_file(path)
    shape = shape_of(place, (scores_key, *SPECIES_NAMES))
    named = scores_key is not None or not any(map(is_number, shape.cells[0]))
    with guarded(place, expected="text"):
        lines = [*_lines(shape, named)]
    if not lines:
        raise DataError(f"{place}: has a header but no rows")
    names = [folded(x) for x in shape.cells[0]] if named else []
    score = _score(place, shape, names, scores_key, lines)
    values = np.array([_number(place, number, cells[score]) for number, cells in lines])
    columns = [[cells[i] for _, cells in lines] for i in range(shape.columns)]
    attack = _species(place, shape, names, columns, score, [number for number, _ in lines])
    known = [
        next((columns[names.index(x)] for x in wanted if x in names), None)
        for wanted in (_SUBJECT_NAMES, _INSTRUMENT_NAMES)
    ]
    kind = SCORE_NAMES.get(names[score]) if names else None
    return PresentationList(values, attack, kind or "", *known)


def _lines(shape: Shape, named: bool) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line below the names."""
    with open_text(shape.path) as file:
        for number, line in enumerate(file, 1):
            if number <= shape.skipped + named:
                continue
            text = decode(line, shape.path, number).rstrip("\r\n")
            if not text.strip():
                continue
            cells = text.split()
            if shape.mark != " ":
                cells = [x.strip() for x in next(csv.reader([text], delimiter=shape.mark))]
            if len(cells) != shape.columns:
                raise DataError(
                    f"{shape.path}: line {number}: {len(cells)} cells; expected {shape.columns}"
                )
            yield number, cells


def _number(path: Path, line: int, cell: str) -> float:
    if not cell:
        return float("nan")
    if not is_number(cell) or overflows(cell):
        raise DataError(
            f"{path}: line {line}: the score is {cell!r}; expected a number, or nothing where "
            "detection gave no response"
        )
    return float(cell)


def _score(
    path: Path, shape: Shape, names: list[str], key: str | None,
    lines: Sequence[tuple[int, list[str]]],
) -> int:  # fmt: skip
    """Return the column of scores."""
    listed = ", ".join(map(repr, shape.cells[0]))
    if key is not None:
        if key not in shape.cells[0]:
            raise DataError(
                f"{path}: no column {key!r}; its columns are {listed}."
                f"{nearest_name(key, shape.cells[0])}"
            )
        return shape.cells[0].index(key)
    if names:
        found = [i for i, name in enumerate(names) if name in SCORE_NAMES]
        if len(found) != 1:
            raise DataError(
                f"{path}: {len(found)} columns of scores among {listed}; name one with "
                f"{say('scores_key')}"
            )
        return found[0]
    numbers = [i for i in range(shape.columns) if all(is_number(x[i]) for _, x in lines)]
    if not numbers:
        raise DataError(f"{path}: no column of numbers; expected a score on each line")
    return numbers[-1]


def _species(
    path: Path, shape: Shape, names: list[str], columns: list[list[str]], score: int,
    numbers: Sequence[int],
) -> list[str]:  # fmt: skip
    """Return the species of each presentation, empty for bona fide."""
    truth = [i for i, x in enumerate(names) if x in TRUTH_NAMES] or [
        i
        for i, column in enumerate(columns)
        if i != score and all(class_of(x) is not None for x in set(column))
    ]
    attack = next((names.index(x) for x in SPECIES_NAMES if x in names), None)
    if attack is None and not truth:
        raise DataError(
            f"{path}: does not mark attack presentations; expected a column 'attack' with the "
            "species of each attack, or one of class words such as bonafide and spoof"
        )
    if not truth:
        words = columns[attack] if attack is not None else []
        return ["" if is_bona_fide(x) or class_of(x) else x for x in words]
    flags = []
    for number, word in zip(numbers, columns[truth[0]], strict=True):
        flag = class_of(word)
        if flag is None and attack is None:
            numeric = " (1 and 0 are read in both ways)" if word.casefold() in TRUTH else ""
            raise DataError(
                f"{path}: line {number}: the class is {word!r}; expected bonafide, target or "
                f"nontarget, and spoof or attack{numeric}"
            )
        flags.append(True if flag is None else flag)
    species = columns[attack] if attack is not None else _beside(columns, flags, {score, truth[0]})
    found = []
    for flag, name in zip(flags, species, strict=True):
        named = not no_species(name)
        if attack is not None and named:
            found.append(name)
        else:
            found.append("" if flag else name if named else "spoof")
    return found


def _beside(columns: list[list[str]], flags: list[bool], known: set[int]) -> list[str]:
    """Return the column that has a species where the class is an attack, and else none."""
    for i, column in enumerate(columns):
        if i in known:
            continue
        here = {x.casefold() for x, flag in zip(column, flags, strict=True) if flag}
        if here and all(no_species(x) or class_of(x) for x in here):
            return column
    return [""] * len(flags)
