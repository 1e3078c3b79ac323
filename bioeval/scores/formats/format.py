"""A format of files, as the registry knows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bioeval.scores.formats.files import COMPRESSED, check_target
from bioeval.scores.formats.options import ReadOptions
from bioeval.scores.matrix import Scores


@dataclass(frozen=True)
class Found:
    """Facts about a file before it is read; `content` is the kind that its first bytes show."""

    path: Path
    content: str
    options: ReadOptions

    @property
    def suffix(self) -> str:
        """The suffix of the file in lower case."""
        return self.path.suffix.lower()

    @property
    def is_text(self) -> bool:
        """Whether it is text, or a compressed file (read if it has text)."""
        return self.content == "text" or self.content in COMPRESSED


def keeps_everything(scores: Scores) -> list[str]:
    """Return no losses: the file keeps everything of scores that it can hold."""
    return []


@dataclass(frozen=True)
class Written:
    """Another way to write a format, for files whose names end in one of `endings`."""

    endings: tuple[str, ...]
    write: Callable[[Scores, Path], None]
    losses: Callable[[Scores], list[str]]


@dataclass(frozen=True)
class Format:
    """A file format: how its files are recognised, read and written.

    Attributes
    ----------
    name, holds : str
        Its name in the documentation (the suffix, or other words), and what such a file holds.
    recognised_by, cannot_hold : str
        The same for the second table of the documentation: what shows that a file has this format,
        and what is lost of scores that are written to it.
    looks, expected : str
        What the bytes are, as ``"a zip file"``, and what to call the file where one was
        expected, as ``"a .npz file"``.
    recognise : callable
        Whether a file has this format, by its content and the options given. It may raise a
        :class:`bioeval.DataError` with advice where the file is a near miss.
    read : callable
        Reads a file. It may raise anything on damaged bytes; the registry turns it into a
        :class:`bioeval.DataError` that names the file.
    first_line : callable
        Whether the first line of a text names this format, which then decides whatever the suffix.
    options : sequence of str
        The fields of :class:`ReadOptions` with a meaning for it.
    suffixes : tuple of str
        Suffixes that promise this format, in lower case.
    needs : str
        For text, which has no magic bytes: how a file is recognised, for the error message.
    written : str
        What is written, as ``"everything in one"``; empty where the format is only read.
    written_as : tuple of str
        How the names of files to write end; `suffixes` unless given.
    otherwise : tuple of Written
        Other ways to write it, by longer endings of the name.
    write, losses, files, check : callable
        Writes scores; what a file cannot hold of them, a sentence each, which a format that is
        written has to declare (`keeps_everything` where there is nothing); all files that writing
        one may replace; and raises where none can be written.
    """

    name: str
    holds: str
    looks: str
    expected: str
    recognised_by: str
    recognise: Callable[[Found], bool]
    read: Callable[[Path, ReadOptions], Scores]
    options: Sequence[str]
    first_line: Callable[[Found], bool] = lambda found: False
    suffixes: tuple[str, ...] = ()
    needs: str = ""
    written: str = ""
    cannot_hold: str = ""
    written_as: tuple[str, ...] = ()
    otherwise: tuple[Written, ...] = ()
    write: Callable[[Scores, Path], None] = lambda scores, path: None
    losses: Callable[[Scores], list[str]] | None = None
    files: Callable[[Path], list[Path]] = lambda path: [path]
    check: Callable[[Path], Path] = check_target

    def __post_init__(self) -> None:
        """Raise unless a format that is written declares what it loses."""
        if self.written and self.losses is None:
            raise TypeError(
                f"the format {self.name} is written and does not declare its losses; give it a "
                "function, or keeps_everything"
            )

    @property
    def word(self) -> str:
        """The name of the format as the value of an option."""
        return self.name.strip("`.").replace(" ", "-")

    def written_to(self, path: Path) -> Format:
        """Return the format with the way to write that the name of a file chooses."""
        ways = (way for way in self.otherwise if path.name.endswith(way.endings))
        way = next(ways, None)
        return self if way is None else replace(self, write=way.write, losses=way.losses)


def metadata_losses(scores: Scores) -> list[str]:
    """Say which metadata columns a format leaves out."""
    names = sorted({*scores.probe_meta, *scores.gallery_meta})
    what = "columns {} are" if len(names) > 1 else "column {} is"
    return [f"the metadata {what.format(', '.join(names))} left out"] * bool(names)


def text_losses(columns: Sequence[np.ndarray], what: str) -> list[str]:
    """Return the loss that `what`, such as ``"labels"``, becomes text, unless all are text."""
    kept = (
        column.dtype.kind == "U" or all(type(x) is str for x in column.reshape(-1).tolist())
        for column in columns
    )
    return [] if all(kept) else [f"{what} become text"]


def is_square(scores: Scores) -> bool:
    """Whether both sides have the same templates in the same order, with equal metadata."""
    if not np.array_equal(scores.probe_ids, scores.gallery_ids):
        return False
    rows, columns = scores.probe_meta, scores.gallery_meta
    same = all(_equal_columns(rows[name], columns[name]) for name in rows if name in columns)
    return same and set(rows) == set(columns)


def _equal_columns(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two columns are equal, missing values included."""
    return np.array_equal(a, b, equal_nan=a.dtype.kind in "fM" and b.dtype.kind in "fM")
