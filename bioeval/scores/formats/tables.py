"""Columns of a text or a table: the words and titles that a list may have, and its columns.

`TRUTH` has the words for genuine and impostor, and `COLUMNS` the titles of columns. Columns are
read in two steps::

    head = head_of(path)                               # the first lines, which show what it is
    table = head.read([0], [2], names=head.cells[0])   # column 0 as words, column 2 as numbers
    table.words[0].objects(), table.numbers[2]         # (rows,) each

pandas parses most texts. A text that it refuses is read line by line, so that errors name a line.
"""

from __future__ import annotations

import csv
import re
import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.arguments import overflows
from bioeval.base.errors import DataError, counted, received
from bioeval.base.files import from_cell
from bioeval.base.kinds import Kind
from bioeval.base.options import OPTIONS, physical_memory, require_memory
from bioeval.base.progress import report
from bioeval.scores.formats.texts import (
    BUFFER,
    cells_of,
    decode,
    delimiter_of,
    fault,
    guarded,
    open_text,
    rows_of,
)
from bioeval.scores.labels import LEAST_INEXACT, normal, with_whole_numbers

if TYPE_CHECKING:
    import pandas as pd

# ------------------------------------------------------------------------- words of cells


_GENUINE = (
    *("1", "1.0", "+1", f"{1:.18e}", "true", "t", "yes", "y", "positive", "pos"),
    *("genuine", "gen", "target", "match", "mated", "same", "client", "intra", "authentic"),
)

#: Spellings of impostor, a row for each meaning. A list must not have words of two rows. The long
#: numbers are 0 and -1 as np.savetxt writes them.
IMPOSTORS = (
    ("0", "0.0", f"{0:.18e}"),
    ("-1", "-1.0", f"{-1:.18e}"),
    (
        *("nontarget", "non-target", "impostor", "imposter", "imp", "nonmatch", "non-match"),
        *("different", "diff", "inter"),
    ),
)

#: Spellings of genuine and impostor, in lower case and with ``-`` for ``_``.
TRUTH = dict.fromkeys(_GENUINE, True) | dict.fromkeys(
    ("false", "f", "no", "n", "negative", "neg", "nonmated", "non-mated", *sum(IMPOSTORS, ())),
    False,
)

#: Names of columns by role; the first name present counts. Side a is enrolled.
COLUMNS: dict[str, tuple[str, ...]] = {
    "score": ("score", "scores", "distance", "dissimilarity", "similarity", "llr", "y_score"),
    "genuine": (
        *("genuine", "target", "is_target", "match", "mated", "same", "is_genuine", "label"),
        *("targettype", "target_type", "y_true"),
    ),
    "subject_a": (
        *("subject_a", "subject_1", "claimed_id", "gallery_subject", "bio_ref_subject_id"),
    ),
    "subject_b": (*("subject_b", "subject_2", "real_id", "probe_subject", "probe_subject_id"),),
    "template_a": (
        *("template_a", "template_1", "model", "model_label", "gallery", "bio_ref_template_id"),
        *("modelid", "model_id"),  # NIST's evaluations of speakers
        *("image1", "image_1", "file1", "file_1", "path1", "path_1", "img1", "img_1"),
        *("enrol", "enroll"),
    ),
    "template_b": (
        *("template_b", "template_2", "probe", "probe_label", "probe_template_id", "probe_key"),
        *("segmentid", "segment_id", "segment", "query"),
        *("image2", "image_2", "file2", "file_2", "path2", "path_2", "img2", "img_2", "test"),
    ),
    "fold": ("fold",),
}

#: The prefixes of the names of metadata of one side: of the probe, and of the gallery.
PREFIXES = ("probe_", "gallery_")

#: Every name of a column of a list.
HEADER_NAMES = {name for names in COLUMNS.values() for name in names}

#: The kind of scores that the name of their column declares.
KIND_OF_SCORES: dict[str, Kind] = {
    "distance": "distance",
    "dissimilarity": "distance",
    "similarity": "similarity",
    "llr": "similarity",
}

#: The most columns of a table, or arrays of metadata: more are a matrix, or damage.
MOST_COLUMNS = 1000


def folded(name: str) -> str:
    return name.casefold().replace("-", "_").replace(" ", "_")


def side_and_column(word: str) -> tuple[int | None, str]:
    """Return the side of a word, 0 of the probe, 1 of the gallery, None of both, and the column."""
    for side, prefix in enumerate(PREFIXES):
        if word.startswith(prefix):
            return side, word.removeprefix(prefix)
    return None, word


def is_float(cell: str) -> bool:
    """Whether Python reads a cell as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def is_number(cell: str) -> bool:
    """Whether a cell is a number, NaN and infinity among them."""
    return is_float(cell) and "_" not in cell


def like_number(cell: str) -> bool:
    """Whether a cell is a number, or a near-number with advice in its error: ``50%``, ``0,5``."""
    return is_number(cell.removesuffix("%").replace(",", ".", 1))


def truth_word(cell: str) -> str:
    return cell.casefold().replace("_", "-")


def is_truth(cell: str) -> bool:
    return truth_word(cell) in TRUTH


def counts_columns(cells: Sequence[str]) -> bool:
    """Whether cells are 0..k-1 in some order, as pandas writes above columns without names."""
    return {*cells} == {*map(str, range(len(cells)))}


def require_names(path: Path, line: int, cells: Sequence[str]) -> None:
    """Raise where a column has no name, or the same name as another column."""
    for number, name in enumerate(cells, 1):
        if not name and number > 1:  # the first may be the index of pandas
            raise fault(path, f"column {number} has no name in the header", line=line)
        if name in cells[: number - 1]:
            raise fault(path, f"two columns are called {name!r}", line=line)


# A number in which each point may separate thousands, and one without a point.
_POINTS = re.compile(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+")
_WHOLE = re.compile(r"[+-]?[0-9]+")


def require_no_thousands(source: str, cells: Sequence[str]) -> None:
    """Raise where points of numbers may separate thousands, or be decimal points.

    All points have groups of three digits behind them, all other numbers are whole and below 1000,
    and one of these is larger than each number with a point, read as a decimal.
    """
    texts = [x.strip() for x in cells if x.strip()]
    pointed = [x for x in texts if "." in x]
    whole = [x for x in texts if "." not in x]
    if not pointed or not whole or not all(map(_WHOLE.fullmatch, whole)):
        return
    if not all(map(_POINTS.fullmatch, pointed)) or any(x.count(".") > 1 for x in pointed):
        return
    largest = max(whole, key=lambda x: abs(int(x)))
    if max(abs(float(x)) for x in pointed) < abs(int(largest)) < 1000:
        first = pointed[0]
        raise DataError(
            f"{source} has {first!r} beside {largest!r}: does the point separate thousands? Then "
            f"write {first.replace('.', '')!r}, or read the text by `pd.read_csv(path, "
            f'thousands=".")`; if {first!r} is a decimal, write {largest + ".000"!r}, or read it '
            "by `pd.read_csv(path)`, and load the table"
        )


#: Values of a column that are worked on together: few, so that temporary arrays stay small.
PIECE = 1 << 17


# The most bytes, and the most lines, of a text by which its columns are known: enough to tell names
# from numbers, and few enough to be read at once. The bytes bound the lines of a wide text.
_FIRST_BYTES = 1 << 16
_FIRST_LINES = 1000
_COMMENT = "#"
# The line by which Excel knows the separator of the cells.
_SEPARATOR = re.compile(r"sep=[;,|]?", re.IGNORECASE)
# Distinct values up to this number have codes of one byte.
_MOST_BYTE_CODES = np.iinfo(np.int8).max
# Lines that pandas reads together: many, as each piece looks up its distinct words anew, but not
# all, as their cells are objects until they have codes.
_LINES_PER_PIECE = 1 << 19
# Bytes that a line takes beside its columns of words, which share their values: lines that do not
# fit into the memory of the machine are refused while they are read.
_LINE_BYTES = 64
# A piece of lines takes an eighth of a memory limit: its cells are in memory as bytes, as objects
# and as codes together, beside the columns so far.
_PIECES_PER_LIMIT = 8
# What a table takes under a memory limit, with an evaluation of it: bytes in any case, and for each
# row, for a number and a word in it, and for a distinct word. They are bounds from above: a number
# is held twice as float64 (its pieces and the whole), a word is two codes of int32, and a name is a
# text with its entry in dictionaries.
_TABLE_BYTES = 32 << 20
_ROW_BYTES = 32
_NUMBER_BYTES = 2 * 8
_WORD_BYTES = 2 * 4
_NAME_BYTES = 400
# A number with a comma at the end of a line, in a text whose cells are separated by blanks.
_DECIMAL_COMMA = re.compile(r"\s[+-]?\d+,\d+\s*$")
# A whole number in a column with blanks, which pandas writes as a float: 1.0, or 1e+16.
_WHOLE_FLOAT = re.compile(
    r"-?(0|[1-9][0-9]*)\.0|-?[0-9](\.[0-9]+)?e\+(1[6-9]|[2-9][0-9]|[1-3][0-9]{2})"
)


@dataclass
class Head:
    """A text or a table, with its first lines or rows, by which its columns are known."""

    path: Path
    delimiter: str  # a comma, semicolon or tab, a blank for any white space; "" of a table
    cells: list[list[str]] = field(repr=False)  # the cells of each line that is not blank
    start_line: int = 1  # the number of the first of these lines in the file
    #: Whether one blank separates the cells, or a delimiter without blanks and quotes around it.
    is_plain: bool = False
    comments: int = 0  # number of lines before the first that begin with ``#``
    #: Of a table, yields the columns of some numbers, in pieces of rows; and the number of rows.
    pieces: Callable[[Sequence[int]], Iterator[dict[int, Any]]] | None = None
    row_count: int = 0

    @property
    def is_text(self) -> bool:
        return bool(self.delimiter)

    @property
    def width(self) -> int:
        return len(self.cells[0])

    @property
    def rows(self) -> list[list[str]]:
        """The lines that have as many cells as the first line."""
        return [row for row in self.cells if len(row) == self.width]

    def column(self, i: int) -> list[str]:
        return [row[i] for row in self.rows]

    @property
    def reading(self) -> tuple[str, ...]:
        """The remark that comment lines at the start are left out, if there are any."""
        if self.comments:
            return (f"{counted(self.comments, 'comment lines')} at the start left out",)
        return ()

    def read(
        self,
        words: Collection[int],
        numbers: Collection[int],
        *,
        names: Sequence[str],
        header: bool = True,
        digits: Collection[int] = (),
        blanks: Collection[int] = (),
        labels: Collection[int] = (),
    ) -> Columns:
        """Read columns, by their numbers.

        - `names`: the names of all columns, for messages
        - `digits`: columns of words in which whole numbers may lose a sign and leading zeros
        - `blanks`: columns in which cells may be blank; a blank number is NaN
        - `labels`: columns of words in which whole floats must be exact, as 1.0 is read as 1

        pandas parses a text, fastest where one blank separates the cells. Where a line is not as
        expected, the file is read again line by line, so that an error names the line; if only
        cells in quotes or numbers such as NaN were the reason, such cells are converted.
        """
        wanted = _Wanted(words, numbers, names, digits, blanks)
        start_line = self.start_line + header if self.is_text else None
        row_count = self.row_count
        if start_line is not None and OPTIONS["memory_limit"] is not None:
            row_count = _line_count(self.path) - (start_line - 1)
        require_rows(self.path, row_count, len(numbers), words)

        if start_line is None:
            pieces = _pieces_of_table(self, wanted, labels)
            columns = _joined(self, None, pieces, wanted)
        else:
            with guarded(self.path, expected="text"):
                columns = self._read_text(start_line, wanted)

        for i in labels:
            floats = whole_floats(columns.words[i].values)
            if floats is not None:
                with_whole_numbers(floats, f"{self.path}: column {names[i]!r}")
        if start_line is not None:
            for i in numbers:
                self._refuse_thousands(i, columns.numbers[i], start_line, names[i])
        # Now the number of names is known.
        require_rows(self.path, row_count, len(numbers), columns.words.values())
        return columns

    def _read_text(self, start_line: int, wanted: _Wanted) -> Columns:
        """Read columns of a text by the fastest parser that reads all of its lines.

        These are pandas for plain cells, if the first lines are plain, then pandas for cells with
        blanks or quotes around them, then the parser line by line, whose errors name the line.
        """
        import pandas as pd

        ways_of_pandas = [True, False] if self.is_plain else [False]
        for is_plain in ways_of_pandas:
            try:
                return _parsed_columns(self, is_plain, start_line, wanted)
            except (ValueError, pd.errors.ParserWarning):  # a ParserError is a ValueError
                continue
        lines = _checked_pieces(self, start_line, wanted)
        return _joined(self, start_line, _pieces_of_text(self, lines, wanted), wanted)

    def _refuse_thousands(self, i: int, values: np.ndarray, start_line: int, name: str) -> None:
        """Raise where points in a column of numbers may separate thousands.

        The cells are read again, since numbers do not say how they were written.
        """
        if not _may_have_thousands(values):
            return
        rows = rows_of(self.path, self.delimiter, start_line)
        cells = [row[i] for _, row in rows if i < len(row)]
        require_no_thousands(f"{self.path}: {name}", cells)


@dataclass(frozen=True)
class _Wanted:
    """The columns to read, by their numbers, as :meth:`Head.read` takes them."""

    words: Collection[int]
    numbers: Collection[int]
    names: Sequence[str]  # of all columns
    digits: Collection[int]
    blanks: Collection[int]


def _line_count(path: Path) -> int:
    """Return the number of line ends of a text."""
    with open_text(path) as file:
        pieces = iter(lambda: file.read(BUFFER), b"")
        return sum(piece.count(b"\n") for piece in pieces)


def head_of(path: Path, blanks: bool = True) -> Head:
    """Return the first lines of a text, without blank lines and comments at the start.

    If `blanks`, blanks may separate the cells; otherwise cells may hold blanks.
    """
    texts, start_line, comments = _first_texts(path)
    if not texts:
        raise fault(path, "holds nothing but blank lines" + " and comments" * bool(comments))
    if not blanks:
        delimiter = next((x for x in ",;\t" if x in texts[0]), ",")
    elif _DECIMAL_COMMA.search(texts[0]) and delimiter_of(texts[0]) == ",":
        delimiter = " "  # the number is then refused with advice on the decimal mark
    else:
        delimiter = delimiter_of(texts[0])
    if delimiter == " ":
        rows = [cells_of(text, delimiter) for text in texts]
        is_plain = all(text == " ".join(text.split()) for text in texts)
    else:  # csv accepts a quoted cell that is cut at the end
        reader = csv.reader(texts, delimiter=delimiter, skipinitialspace=True)
        rows = [[from_cell(cell.strip()) for cell in row] for row in reader]
        is_plain = not any(delimiter + " " in text or '"' in text for text in texts)

    # The names of the columns may stand after #, as np.savetxt writes them.
    if comments:
        number, comment = comments[-1]
        names = cells_of(comment.strip().lstrip(_COMMENT), delimiter)
        has_known_name = not HEADER_NAMES.isdisjoint(map(folded, names))
        if len(names) == len(rows[0]) and has_known_name:
            start_line = number
            comments.pop()
            rows.insert(0, names)
    if _lacks_title_of_row_names(rows):
        rows[0].insert(0, "")

    if len(rows[0]) > MOST_COLUMNS:
        problem = f"has more than {MOST_COLUMNS:,} columns"
        raise fault(path, problem, "a matrix of scores is read from .npy or .npz", line=start_line)
    return Head(path, delimiter, rows, start_line, is_plain, len(comments))


def _first_texts(path: Path) -> tuple[list[str], int, list[tuple[int, str]]]:
    """Return the first lines of a text, the number of the first of them, and comments above it.

    Blank lines are left out, and so is Excel's line of the separator. Each comment has the number
    of its line.
    """
    with guarded(path, expected="text"), open_text(path) as file:
        raw = file.read(_FIRST_BYTES)
    raw_lines = raw.splitlines()
    if len(raw) == _FIRST_BYTES and len(raw_lines) > 1:
        raw_lines.pop()  # the last line is cut
    comments: list[tuple[int, str]] = []
    texts: list[str] = []
    start_line = 1
    for number, raw_line in enumerate(raw_lines, 1):
        text = decode(raw_line, path, number)
        if not texts and _SEPARATOR.fullmatch(text.strip()):
            continue
        if not texts and text.lstrip().startswith(_COMMENT):
            comments.append((number, text))
        elif text.strip():
            start_line = start_line if texts else number
            texts.append(text)
        if len(texts) == _FIRST_LINES:
            break
    return texts, start_line, comments


def _lacks_title_of_row_names(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first line has no title for the first column, as R writes tables.

    That column has the names of the rows, each another word, or their numbers.
    """
    titles, *below = rows
    for row in below:
        if len(row) != len(titles) + 1 or not row[0] or not row[-1]:
            return False
    first = [row[0] for row in below]
    if not first or len({*first}) < len(first) or any(map(is_number, titles)):
        return False
    if all(map(str.isdecimal, first)):  # of all rows, or of the chosen ones, in their order
        return all(int(x) < int(y) for x, y in pairwise(first))
    return not any(map(is_number, first))


@dataclass
class Words:
    """A column of text: the distinct values, and the code of each row's value."""

    values: list[str] = field(default_factory=list)
    _codes: list[np.ndarray] = field(default_factory=lambda: [np.empty(0, np.int8)])
    _code_of_value: dict[str, int] = field(default_factory=dict)

    @classmethod
    def from_codes(cls, codes: np.ndarray, distinct: Iterable[Any]) -> Words:
        """Return the column whose row ``i`` is ``distinct[codes[i]]``."""
        column = cls()
        column.append(codes, distinct)
        return column

    def append(self, codes: np.ndarray, distinct: Iterable[Any]) -> None:
        """Append the rows ``distinct[codes]``; values that become equal as text are one value."""
        code_of_value = self._code_of_value
        words = [*distinct]
        new_codes: list[Any] = [*map(code_of_value.get, words)]
        if None in new_codes:
            new_codes = [
                code_of_value.setdefault(normal(str(value).strip()), len(code_of_value))
                for value in words
            ]
            self.values = [*code_of_value]
        fits_in_byte = len(code_of_value) <= _MOST_BYTE_CODES
        dtype = np.int8 if fits_in_byte else np.int32
        self._codes.append(np.array(new_codes, dtype=dtype)[codes])

    def renamed(self, values: Iterable[str]) -> Words:
        """Return the column with other words, in the order of the distinct values."""
        if values is self.values:
            return self
        return Words.from_codes(self.codes, values)

    @property
    def codes(self) -> np.ndarray:
        """The code of each row's value, int8 or int32."""
        if len(self._codes) > 1:
            self._codes = [np.concatenate(self._codes)]
        return self._codes[0]

    def objects(self) -> np.ndarray:
        """Return the value of each row; equal values are one object."""
        values = np.empty(len(self.values), dtype=object)
        values[:] = self.values
        return values[self.codes]


def first_codes(names: np.ndarray, values: np.ndarray, code_of_value: np.ndarray) -> list[int]:
    """Write the first value of each name to `code_of_value`, all as codes.

    Return two rows where one name has different values; none if each has one.
    """
    code_of_value[names[::-1]] = values[::-1]  # of equal indices, the last one stays
    for row in np.flatnonzero(code_of_value[names] != values)[:1].tolist():
        return [int(np.argmax(names == names[row])), row]
    return []


@dataclass(frozen=True)
class Columns:
    """The columns of a text or a table that were read, by their number."""

    path: Path
    words: dict[int, Words]
    numbers: dict[int, np.ndarray]  # each float64 (rows,)
    start_line: int | None  # the number of the line with row 0; None for a table without lines

    @property
    def noun(self) -> str:
        return "row" if self.start_line is None else "line"

    def place_of(self, row: int) -> str:
        return f"{self.path}: {self.noun} {self.lines([row])[0]}"

    def lines(self, rows: Sequence[int]) -> list[int]:
        """Return the numbers of the lines of rows; the file is read again to count blank lines."""
        if self.start_line is None:
            return [*rows]
        lines = _lines_of_rows(self.path, self.start_line, {*rows})
        line_of_row = {row: number for row, number, _ in lines}
        return [line_of_row.get(row, self.start_line + row) for row in rows]


def _lines_of_rows(path: Path, start_line: int, rows: Set[int]) -> Iterator[tuple[int, int, bytes]]:
    """Yield the number of each row, the number of its line, and the bytes of the line."""
    if not rows:
        return
    row = -1
    last = max(rows)
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if number < start_line or not line.strip():
                continue
            row += 1
            if row in rows:
                yield row, number, line
            if row == last:
                return


def require_rows(
    path: Path, rows: int, numbers: int, words: Collection[Words] | Collection[int]
) -> None:
    """Raise if a table does not fit into the stated memory limit: it is read whole.

    `words` are the columns of words, or, before they are read, their numbers.
    """
    if (limit := OPTIONS["memory_limit"]) is not None:
        names = sum(len(x.values) for x in words if isinstance(x, Words))
        row_bytes = _ROW_BYTES + _NUMBER_BYTES * numbers + _WORD_BYTES * len(words)
        needed = _TABLE_BYTES + rows * row_bytes + names * _NAME_BYTES
        remedy = "a table is read whole: a matrix as .npy or HDF5 would need less"
        uncounted = "" if all(isinstance(x, Words) for x in words) else ", their names not counted,"
        require_memory(needed, f"{path}: {rows:,} rows{uncounted}", remedy, limit=limit)


def _may_have_thousands(values: np.ndarray) -> bool:
    """Whether numbers may be those of cells in which points separate thousands.

    See :func:`require_no_thousands`: decimals have three digits, whole numbers are below 1000, and
    one of these is larger than each decimal.
    """
    for part in (values[:_FIRST_LINES], values):  # the first values alone rule out most columns
        sizes = np.abs(part[~np.isnan(part)])
        is_whole = sizes == np.floor(sizes)
        decimals = sizes[~is_whole]
        if not sizes.size or sizes.max() >= 1000 or decimals.min(initial=1) < 1:
            return False
        if (np.abs(decimals * 1000 - np.round(decimals * 1000)) > 1e-6).any():
            return False
    return bool(decimals.size) and decimals.max() < sizes[is_whole].max(initial=0)


def whole_floats(cells: Iterable[str]) -> np.ndarray | None:
    """Return the numbers in cells, if all but blanks are whole floats as pandas writes them."""
    numbers = [cell for cell in cells if cell]
    if not numbers or not all(map(_WHOLE_FLOAT.fullmatch, numbers)):
        return None
    return np.array(numbers, dtype=np.float64)


def as_integers(cells: Sequence[str]) -> Sequence[str]:
    """Return the cells of a column; if all are whole floats or blank, 1 in place of 1.0."""
    numbers = whole_floats(cells)
    if numbers is None or (np.abs(numbers) >= LEAST_INEXACT).any():
        return cells
    return [str(int(float(cell))) if cell else cell for cell in cells]


#: The number of rows of a piece, its columns of numbers, and of each column of words the codes of
#: its cells and their distinct values.
_Piece = tuple[int, dict[int, np.ndarray], dict[int, tuple[np.ndarray, Iterable[str]]]]


def _joined(
    head: Head, start_line: int | None, pieces: Iterator[_Piece], wanted: _Wanted
) -> Columns:
    """Return the columns of all pieces; raise as soon as they have more rows than memory holds."""
    columns = {i: Words() for i in wanted.words}
    numbers: dict[int, list[np.ndarray]] = {i: [] for i in wanted.numbers}
    row_count = 0
    limit = physical_memory() // _LINE_BYTES
    for rows_of_piece, floats, cells in pieces:
        for i, column in columns.items():
            codes, distinct = cells[i]
            column.append(codes, distinct)
        for i, arrays in numbers.items():
            arrays.append(floats[i])
        row_count += rows_of_piece
        if limit and row_count > limit:
            raise fault(
                head.path,
                f"more than {limit:,} lines do not fit into the memory of this machine",
                "expected a matrix as .npy, which is read by rows",
            )
    if not row_count:
        raise fault(head.path, "has a header but no rows")
    columns = {i: column.renamed(as_integers(column.values)) for i, column in columns.items()}
    # Popped, so that the pieces of a column are freed before the next one is joined.
    joined = {i: np.concatenate(numbers.pop(i)) for i in wanted.numbers}
    return Columns(head.path, columns, joined, start_line)


def _pieces_of_text(
    head: Head, parsed: Iterator[pd.DataFrame], wanted: _Wanted
) -> Iterator[_Piece]:
    for frame in parsed:
        floats = {i: frame[i].to_numpy(np.float64, copy=True) for i in wanted.numbers}
        cells = dict[int, tuple[np.ndarray, Iterable[str]]]()
        for i in wanted.words:
            codes, distinct = frame[i].factorize()
            texts = map(str.strip, map(str, distinct.tolist()))
            cells[i] = codes, texts if head.delimiter == " " else map(from_cell, texts)
        yield len(frame), floats, cells


def _pieces_of_table(head: Head, wanted: _Wanted, labels: Collection[int]) -> Iterator[_Piece]:
    """Yield pieces of a Parquet file or a DataFrame; raise where a cell is not as expected."""
    assert head.pieces is not None
    rows_read = 0
    for piece in head.pieces([*wanted.numbers, *wanted.words]):
        floats: dict[int, np.ndarray] = {}
        words_of_piece: dict[int, tuple[np.ndarray, Iterable[str]]] = {}
        # Under the same name, so that the cells as they were read are freed.
        piece = {i: _blank_texts_as_missing(cells) for i, cells in piece.items()}
        for i in wanted.numbers:
            floats[i] = _floats_of_table(head.path, piece[i], wanted.names[i], rows_read)
        for i in wanted.words:
            words_of_piece[i] = _words_of_table(
                head.path,
                piece[i],
                wanted.names[i],
                rows_read,
                may_be_blank=i in wanted.blanks,
                are_labels=i in labels,
            )
        row_count = len(next(iter(piece.values())))
        rows_read += row_count
        report(rows_read, head.row_count)
        yield row_count, floats, words_of_piece


def _blank_texts_as_missing(cells: Any) -> Any:
    """Return a column of pandas in which texts of blanks alone are missing values."""
    if cells.dtype.kind not in "OSUT":
        return cells
    try:
        distinct = cells.unique()
    except TypeError:  # a list in a cell, which is refused with the other errors of cells
        return cells
    blanks = [x for x in distinct if isinstance(x, str) and not x.strip()]
    return cells.mask(cells.isin(blanks).to_numpy(dtype=bool))


def _floats_of_table(path: Path, cells: Any, name: str, first_row: int) -> np.ndarray:
    """Return a column of a table as numbers, NaN where a value is missing; raise at other words.

    float16 and float32 become float32 (rows,), all others float64. `first_row` is the number of the
    first row of this piece of the table.
    """
    import pandas as pd

    converted = pd.to_numeric(cells, errors="coerce")
    dtype_of_numbers = getattr(converted.dtype, "numpy_dtype", converted.dtype)  # with NA
    dtype = np.float32 if dtype_of_numbers in (np.float16, np.float32) else np.float64
    floats = converted.to_numpy(dtype=dtype, na_value=np.nan)
    if cells.dtype.kind in "OSUT":
        texts = [str(x) for x in cells[cells.notna()]]
        require_no_thousands(f"{path}: {name}", texts)
    is_word = np.isnan(floats) & cells.notna().to_numpy()
    if is_word.any():
        row = first_row + int(np.argmax(is_word))
        problem = f"row {row}: {name} is {cells[is_word].iloc[0]!r}"
        raise fault(path, problem, "expected a number")
    return floats.copy()


def _words_of_table(
    path: Path, cells: Any, name: str, first_row: int, *, may_be_blank: bool, are_labels: bool
) -> tuple[np.ndarray, list[str]]:
    """Return a column of a table as codes (rows,) and the distinct words that they number.

    A missing word has the code -1, and so the last word, which is then empty.
    """
    try:
        codes, distinct = cells.factorize()
    except TypeError:  # a cell holds a list, which is not hashable
        problem = f"column {name!r} holds no single values"
        raise fault(path, problem, "expected one per row") from None
    is_blank = codes < 0
    if is_blank.any() and not may_be_blank:
        row = first_row + int(np.argmax(is_blank))
        raise fault(path, f"row {row}: {name} has no value", "expected one in each row")
    values = distinct.tolist()
    if are_labels:
        labels = np.asarray(distinct)
        if cells.dtype in (np.float16, np.float32):  # factorize may have widened them
            labels = labels.astype(cells.dtype)
        values = with_whole_numbers(labels, f"{path}: column {name!r}").tolist()
    words = [str(value) for value in values]
    if is_blank.any():
        words.append("")
    return codes, words


def _checked_pieces(head: Head, start_line: int, wanted: _Wanted) -> Iterator[pd.DataFrame]:
    """Yield pieces of a text that is read line by line; raise where a line is not as expected."""
    import pandas as pd

    rows = rows_of(head.path, head.delimiter, start_line)
    advice = _advice_on_decimals(head, start_line)
    names, numbers = wanted.names, wanted.numbers
    filled = [i for i in (*wanted.words, *numbers) if i not in wanted.blanks]
    while piece := [*islice(rows, PIECE)]:
        for line, row in piece:
            is_header = row == head.cells[0] and not any(is_number(row[i]) for i in numbers)
            if is_header and numbers and line > head.start_line:
                problem = "repeats the names of the columns"
                raise fault(head.path, problem, "leave the line out", line=line)
            if len(row) > head.width + 1 or any(row[head.width :]):
                problem = counted(len(row), "cells")
                raise fault(head.path, problem, f"expected {head.width}", line=line)
            row[head.width :] = []
            lacks_cells = False
            if len(row) < head.width:
                # Where blanks separate cells, cells at the end may be blank, but for numbers.
                lacks_cells = head.delimiter != " " or any(i >= len(row) for i in numbers)
                row += [""] * (head.width - len(row))
            blank = next((names[i] for i in filled if not row[i]), None)
            if blank is not None and row[-1]:
                raise fault(head.path, f"the cell {blank!r} is blank", line=line)
            if lacks_cells or blank is not None:
                is_last = row is piece[-1][1] and next(rows, None) is None
                raise _lacking_cells(head, row, line, is_last)
            cells: list[Any] = row
            for i in numbers:
                cells[i] = _number(row[i] or "nan", f"{head.path}: line {line}", names[i], advice)
        yield pd.DataFrame([row for _, row in piece], dtype=object)


def _advice_on_decimals(head: Head, start_line: int) -> str:
    """Return how to read this text by pandas if its decimals have a comma."""
    delimiter = head.delimiter if head.delimiter != " " else r"\s+"
    separator = repr(delimiter).replace("'", '"')
    titles = "" if start_line > head.start_line else ", header=None, names=[...]"
    return (
        f': read the text by `pd.read_csv(path, sep={separator}, decimal=","{titles})`, and load '
        "the table"
    )


def _lacking_cells(head: Head, row: Sequence[str], line: int, is_last: bool) -> DataError:
    """Return the error of a line with too few cells.

    `row` has a cell for each column, empty where the line has none. The last line of a truncated
    file has no line end.
    """
    cell_count = sum(map(bool, row))
    if is_last:
        with open_text(head.path) as file:
            (last_line,) = deque(file, maxlen=1)
        if not last_line.endswith(b"\n"):
            problem = f"the last line has {cell_count} of {head.width} cells and no end"
            return fault(head.path, problem, "the file is truncated: write it again")
    expected = f"expected {head.width}, none of them blank"
    return fault(head.path, counted(cell_count, "cells"), expected, line=line)


def _parsed_columns(head: Head, is_plain: bool, start_line: int, wanted: _Wanted) -> Columns:
    """Read columns of a text by pandas; raise ValueError if a line may not be as expected."""
    parsed = _parsed_pieces(head, is_plain, start_line, wanted)
    columns = _joined(head, start_line, _pieces_of_text(head, parsed, wanted), wanted)
    # The parser of plain cells reads neither blank cells nor quotes after a blank.
    for column in columns.words.values():
        if any(value[:1] in ("", '"') for value in column.values):
            raise ValueError("a cell is blank, or in quotes")
    # pandas reads a number that is too large as infinity, which a cell may also say.
    for i, values in columns.numbers.items():
        infinite_rows = {*np.flatnonzero(np.isinf(values)).tolist()}
        for _, line, raw in _lines_of_rows(head.path, start_line, infinite_rows):
            cells = cells_of(decode(raw, head.path, line).strip(), head.delimiter)
            if i < len(cells) and is_number(cells[i]):
                _number(cells[i], f"{head.path}: line {line}", wanted.names[i])
    return columns


def _parsed_pieces(
    head: Head, is_plain: bool, start_line: int, wanted: _Wanted
) -> Iterator[pd.DataFrame]:
    """Yield pieces of a text by pandas; raise ValueError if a line is not as expected."""
    import pandas as pd

    # Before 3.1, pandas read numbers as the nearest float64 only on request.
    version = tuple(map(int, pd.__version__.split(".")[:2]))
    exact = {} if version >= (3, 1) else {"float_precision": "round_trip"}
    # pandas reads names fastest if it chooses the dtype. So it may where the first lines have names
    # that are no numbers; a piece of numbers alone is an error.
    words, numbers = {*wanted.words}, {*wanted.numbers}
    inferred = set()
    for i in range(head.width):
        cells = head.column(i)[1:]
        are_names = [not is_float(x) and x.casefold() not in ("true", "false") for x in cells]
        if 2 * sum(are_names) > len(cells):
            inferred.add(i)
    stated = (words | numbers) - inferred.union(wanted.digits)
    lines = _LINES_PER_PIECE
    if (limit := OPTIONS["memory_limit"]) is not None:
        bytes_of_line = _PIECES_PER_LIMIT * _LINE_BYTES * head.width
        lines = max(1, min(lines, limit // bytes_of_line))
    with warnings.catch_warnings(), open_text(head.path) as file:
        warnings.simplefilter("error", pd.errors.ParserWarning)
        for _ in range(start_line - 1):
            file.readline()
        for piece in pd.read_csv(
            file,
            sep=head.delimiter if head.delimiter != " " or is_plain else r"\s+",
            header=None,
            names=list(range(head.width)),
            index_col=False,
            dtype={i: np.float64 if i in numbers else object for i in stated},
            na_filter=False,
            # Skipping blanks takes more time than parsing the cells.
            skipinitialspace=not is_plain,
            quoting=csv.QUOTE_NONE if head.delimiter == " " else csv.QUOTE_MINIMAL,
            encoding="utf-8",
            chunksize=lines,
            **exact,
        ):
            if not all(pd.api.types.is_string_dtype(piece.dtypes[i]) for i in inferred & words):
                raise ValueError("a column of names has a piece of numbers alone")
            if any(piece[i].dtype.kind == "f" for i in wanted.digits):
                raise ValueError("a column of whole numbers has others")
            yield piece


def _number(cell: str, source: str, name: str, decimals: str = "") -> float:
    """Return the number in a cell; the error of another cell begins with the `source`.

    `decimals` is advice on a decimal comma.
    """
    text = cell.strip()
    hint = ""
    try:
        if "_" not in text and text.isascii():  # Python reads 1_000, and digits of other scripts
            if not overflows(text):
                return float(text)
            hint = f" within the range of float64, and {text:.40} is too large"
    except ValueError:
        pass
    if text.endswith("%"):
        hint = " (write per cent as fractions)"
    elif text.count(".") > 1:
        hint = " (thousands have no separator)"
    elif "," in text:
        hint = f" (decimals have a point, not a comma{decimals})"
    elif text.isalpha():
        hint = "; of a comparison that failed the cell is blank, or the number `failed`"
    elif not hint:
        hint = ', or another column as `columns={"scores": ...}`'
    raise DataError(f"{source}: {name} is {received(cell)}; expected a number{hint}")
