"""A format of files, as the registry knows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.options import ReadOptions
from bioeval.scores.matrix import Scores


@dataclass(frozen=True)
class Found:
    """What is known of a file before it is read.

    Attributes
    ----------
    path : Path
    content : str
        What its first bytes show, as :func:`bioeval.scores.formats.files.content` has it:
        ``"zip"``, ``"npy"``, ``"mat"``, ``"text"``, or words for anything else.
    options : ReadOptions
    """

    path: Path
    content: str
    options: ReadOptions

    @property
    def suffix(self) -> str:
        """The suffix of the file in lower case."""
        return self.path.suffix.lower()


def refuse_to_write(scores: Scores, path: Path) -> None:
    """Raise: the format is only read."""
    raise DataError(f"{path}: files of this format are only read")


def nothing_lost(scores: Scores) -> list[str]:
    """Return no sentences: the format keeps everything."""
    return []


def file_alone(path: Path) -> list[Path]:
    """Return the file itself: the format writes no other."""
    return [path]


@dataclass(frozen=True)
class Format:
    """A format: how its files are recognised, read and written.

    Attributes
    ----------
    name : str
        Its name in the documentation: the suffix, or other words.
    holds : str
        What such a file holds.
    looks : str
        What the bytes of such a file are, as ``"a zip file"``.
    expected : str
        What to call such a file where one was expected, as ``"a .npz file"``.
    recognise : callable
        Whether a file has this format, by its content and the options given. It may raise a
        :class:`bioeval.DataError` with advice where the file is a near miss.
    read : callable
        Reads a file. It may raise anything on damaged bytes; the registry turns it into a
        :class:`bioeval.DataError` that names the file.
    options : sequence of str
        The fields of :class:`ReadOptions` with a meaning for it; :data:`FLAGS` has their flags.
    suffixes : tuple of str
        Suffixes that promise this format, in lower case.
    needs : str
        For text, which has no magic bytes: how a file is recognised, for the error message.
    written : str
        What is written, as ``"everything in one"``; empty where the format is only read.
    write : callable
        Writes scores.
    losses : callable
        What a file of this format cannot hold of given scores, a sentence each.
    files : callable
        All files that writing one may replace.
    """

    name: str
    holds: str
    looks: str
    expected: str
    recognise: Callable[[Found], bool]
    read: Callable[[Path, ReadOptions], Scores]
    options: Sequence[str]
    suffixes: tuple[str, ...] = ()
    needs: str = ""
    written: str = ""
    write: Callable[[Scores, Path], None] = refuse_to_write
    losses: Callable[[Scores], list[str]] = nothing_lost
    files: Callable[[Path], list[Path]] = file_alone


def text_losses(columns: Sequence[np.ndarray], what: str) -> list[str]:
    """Say that `what`, such as ``"labels"``, becomes text, unless all columns are text already."""
    return [] if all(_is_text(column) for column in columns) else [f"{what} become text"]


def _is_text(column: np.ndarray) -> bool:
    return column.dtype.kind == "U" or all(type(x) is str for x in column.reshape(-1).tolist())
