"""Lists of comparisons without scores: trials of speakers, pairs of LFW, of templates as in IJB."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bioeval.base.errors import DataError, received
from bioeval.scores.formats.faults import fault
from bioeval.scores.formats.files import FileKind, kind_of_file, read_text
from bioeval.scores.formats.layouts import Layout, trial_layout, with_header
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.spellings import IMPOSTORS, TRUTH, truth_word
from bioeval.scores.formats.tables import Columns, Words, head_of, read_columns

# A genuine pair in LFW's form: a person, and the numbers i and j of two images.
_GENUINE = re.compile(r"(?P<a>\S+) (?P<i>\d+) (?P<j>\d+)", re.ASCII)
# An impostor pair: image i of person a, and image j of person b.
_IMPOSTOR = re.compile(r"(?P<a>\S+) (?P<i>\d+) (?P<b>\S+) (?P<j>\d+)", re.ASCII)
# The first line: the numbers of folds and of pairs, or of pairs alone.
_FOLDS = re.compile(r"\d+( \d+)?", re.ASCII)


@dataclass
class Comparisons:
    """A list of comparisons, each by the names of its templates, the enrolled one first."""

    table: Columns  # the names, in columns of words
    layout: Layout
    genuine: np.ndarray | None  # (lines,); None: every listed comparison is genuine
    fold: np.ndarray | None = None  # (lines,)
    # Subjects of both sides; only LFW's form names them.
    subjects: tuple[Words, Words] | None = None

    @property
    def path(self) -> Path:
        """The path of the list."""
        return self.table.path

    @property
    def names(self) -> list[int]:
        """The columns that may hold names: two, or more, of which the names of scores choose."""
        return [i for i in self.table.words if i != self.layout.get("genuine")]


def truth_of(column: Words, table: Columns, name: str) -> np.ndarray:
    """Return which rows are genuine, by a column of words for the classes.

    All words for impostors must mean the same; `name` is the name of the column in messages.
    """
    is_genuine = np.array([TRUTH.get(truth_word(x), -1) for x in column.values], dtype=np.int8)
    for code in np.flatnonzero(is_genuine < 0)[:1]:
        row = int(np.argmax(column.codes == code))
        cell = column.values[code]
        raise DataError(
            f"{table.place_of(row)}: {name} is {received(cell)}; expected one of 1, true, genuine, "
            "target, match, 0, false, impostor, nontarget, nonmatch"
        )
    spelled = {*map(truth_word, column.values)}
    meanings = [min(spelled.intersection(row)) for row in IMPOSTORS if spelled & {*row}]
    if len(meanings) > 1:
        raise fault(
            table.path,
            f"{name} holds both {' and '.join(map(repr, meanings))}, and they differ in meaning",
            "leave out the lines of one",
        )
    return is_genuine.astype(bool)[column.codes]


def lists_trials(path: str | Path) -> bool:
    """Whether a file lists trials without scores, by the names of its columns."""
    place = Path(path)
    if not place.is_file() or kind_of_file(place) != FileKind.TEXT:
        return False
    layout = with_header(head_of(place), Arguments({}))
    if layout is None or layout.get("score") is not None:
        return False
    return "genuine" in layout.roles and len(layout.templates or layout.subjects) == 2


def read_comparisons(path: Path, arguments: Arguments) -> Comparisons:
    """Read a list, in LFW's form or with two names and perhaps a class on each line."""
    if arguments.peek("format") == "lfw":
        arguments.take("format")
        return read_lfw(path)
    head = head_of(path)
    layout = trial_layout(head, arguments)
    classes = layout.get("genuine")
    names = [*layout.templates]
    if layout.may_have_metadata:
        names = head.columns_except(classes, layout.get("score"))
    table = read_columns(head, layout.skips_line, layout.names_of([*names, classes]), {})
    genuine = (
        None if classes is None else truth_of(table.words[classes], table, layout.names[classes])
    )
    return Comparisons(table, layout, genuine)


class _Image(NamedTuple):
    """An image of LFW: its person, and its number among the images of this person."""

    person: str
    number: int


def read_lfw(path: Path) -> Comparisons:
    """Read pairs of images; the first line gives the number of folds and of pairs in a fold."""
    texts = enumerate(read_text(path).split("\n"), 1)
    lines = [(n, " ".join(line.split())) for n, line in texts if line.strip()]
    (_, header), *rows = lines or [(1, "")]
    folds, class_size = _sizes_of_lfw(path, header, len(rows))
    is_genuine = np.arange(len(rows)) // class_size % 2 == 0  # of each fold, genuine pairs first
    pairs = [
        _pair_of_images(path, number, line, genuine)
        for genuine, (number, line) in zip(is_genuine.tolist(), rows, strict=True)
    ]
    images = {}
    people = {}
    for side in (0, 1):
        images[side] = _words([f"{pair[side].person} {pair[side].number}" for pair in pairs])
        people[side] = _words([pair[side].person for pair in pairs])
    table = Columns(path, images, {}, rows[0][0])
    fold = np.repeat(np.arange(folds), 2 * class_size)
    return Comparisons(table, Layout([]), is_genuine, fold, (people[0], people[1]))


def _sizes_of_lfw(path: Path, header: str, pair_count: int) -> tuple[int, int]:
    if not _FOLDS.fullmatch(header):
        raise DataError(
            f"{path}: the first line is {header!r}; expected the number of folds and of genuine "
            "pairs in each, as '10 300', or the latter alone"
        )
    *stated_folds, class_size = map(int, header.split())
    folds = stated_folds[0] if stated_folds else 1
    expected = 2 * folds * class_size
    if not expected or pair_count != expected:
        raise fault(
            path,
            f"has {pair_count:,} pairs",
            f"expected {folds} x 2 x {class_size} = {expected:,}, from its first line",
        )
    return folds, class_size


def _pair_of_images(path: Path, number: int, line: str, genuine: bool) -> tuple[_Image, _Image]:
    """Return the images of a line; `genuine` is the class that the place of the line states."""
    match = (_GENUINE if genuine else _IMPOSTOR).fullmatch(line)
    if match is None:
        form = "'name i j', two images of one subject" if genuine else "'name i other j'"
        raise DataError(f"{path}: line {number} is {line!r}; expected {form}")
    first = _Image(match["a"], int(match["i"]))
    second = _Image(match["a" if genuine else "b"], int(match["j"]))
    if first.person == second.person and (first == second or not genuine):
        compared = "one image with itself" if genuine else "images of one subject as impostors"
        raise DataError(f"{path}: line {number} compares {compared}: {line!r}")
    return first, second


def _words(cells: list[str]) -> Words:
    distinct, codes = np.unique(cells, return_inverse=True)
    return Words.from_codes(codes, distinct.tolist())
