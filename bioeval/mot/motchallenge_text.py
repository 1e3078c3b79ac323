"""Reader of MOTChallenge text files, plain or gzip, and of the length in seqinfo.ini."""

from __future__ import annotations

import configparser
import gzip
import re
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError
from bioeval.mot.boxes import (
    LAST_FRAME,
    Rows,
    build,
    columns_read,
    complaint,
    first_fault,
    least_width,
)
from bioeval.scores.formats.files import (
    MOST_SETTINGS,
    content,
    decode,
    existing_file,
    guarded,
    read_bounded,
)

_WHAT = "a file of boxes"


def read_rows(path: Path, columns: tuple[str, ...]) -> Rows:
    """Read a file with a box in each row, comma-separated or separated by blanks.

    Blank lines and lines that begin with ``#`` are skipped.
    """
    text = _text(path)
    lines = text.split("\n")
    kept = [i for i, line in enumerate(lines) if (word := line.lstrip()) and word[0] != "#"]
    if not kept and not any("#" in line for line in lines):
        raise DataError(f"{path}: holds nothing but blank lines; expected a box in each line")
    delimiter = "," if any("," in lines[i] for i in kept[:1]) else None
    words = lines[kept[0]].split(delimiter) if kept else []
    read = columns_read(columns, len(words) if kept else least_width(columns))
    names = [name for name in read if name != "camera"]
    rows = [lines[i] for i in kept]
    line = np.array(kept, dtype=np.int64) + 1
    table = {name: np.zeros(0) for name in names}
    readable = True
    if rows:
        places = [read[name] for name in names]
        try:
            found = np.loadtxt(rows, delimiter=delimiter, usecols=places, ndmin=2, comments=None)
            table = dict(zip(names, found.T, strict=True))
        except ValueError:
            readable = False
    camera = None
    if "camera" in read and readable:
        camera = np.array([row.split(delimiter)[read["camera"]].strip() for row in rows], dtype=str)
    unnamed = camera is not None and (camera == "").any()
    # A row of another length is incomplete, or has a flag that the others lack.
    ragged = len({len(row.split(delimiter)) for row in rows}) > 1
    if not readable or unnamed or ragged or first_fault(table) is not None:
        raise _fault(path, rows, line, columns, delimiter, len(words))
    return build(table, camera, line, str(path))


def _text(path: Path) -> str:
    """Return a file's text, decompressed if it is gzip, with line feeds as line ends."""
    existing_file(path, _WHAT)
    found = content(path)
    if found == "a gzip file":
        with guarded(path, expected="a whole gzip file"), open(path, "rb") as packed:
            data = read_bounded(path, file=gzip.GzipFile(fileobj=packed))
    elif found == "text":
        data = read_bounded(path)
    else:
        raise DataError(f"{path}: is {found}; expected text, or text compressed by gzip")
    return decode(data, path).replace("\r\n", "\n").replace("\r", "\n")


def _fault(
    path: Path,
    rows: list[str],
    lines: np.ndarray,
    columns: tuple[str, ...],
    delimiter: str | None,
    width: int,
) -> DataError:
    """Return the error for the first malformed row."""
    least = least_width(columns)
    separator = "commas" if delimiter else "blanks"
    for row, line in zip(rows, lines, strict=True):
        where = f"{path}: line {line}"
        words = row.split(delimiter)
        found = (
            f"{len(words)} {'column' if len(words) == 1 else 'columns'} separated by {separator}"
        )
        if len(words) < least:
            named = ", ".join(columns[:least])
            return DataError(f"{where}: has {found}; expected {least} or more: {named}")
        if len(words) != width:
            return DataError(f"{where}: has {found}; expected {width}, as in line {lines[0]}")
        for name, i in columns_read(columns, width).items():
            word = words[i].strip()
            if name == "camera":
                if not word:
                    return DataError(f"{where}: camera is empty; expected its name or number")
                continue
            try:
                value = float(word if word.isascii() and "_" not in word else "")
            except ValueError:
                return DataError(f"{where}: {name} is {word!r}; expected a number")
            if problem := complaint(name, value):
                return DataError(f"{where}: {name} is {word}; {problem}")
    return DataError(f"{path}: holds numbers that cannot be read; expected a box in each line")


def sequence_length(path: Path) -> int:
    """Read ``seqLength`` from a sequence's seqinfo.ini."""
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(decode(read_bounded(path, MOST_SETTINGS), path))
        said = parser["Sequence"]["seqLength"]
    except (configparser.Error, KeyError) as error:
        reason = " ".join(str(error).split())
        raise DataError(
            f"{path}: has no length of the sequence ({reason}); expected [Sequence] with "
            "seqLength = a number of frames"
        ) from None
    if not re.fullmatch(r"[0-9]{1,10}", said) or not 1 <= int(said) <= LAST_FRAME:
        raise DataError(
            f"{path}: seqLength = {said[:40]}; expected a whole number from 1 to {LAST_FRAME:,}"
        )
    return int(said)
