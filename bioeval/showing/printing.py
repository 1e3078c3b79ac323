"""Results shown to people: as text in a terminal, in a pipe or a file, as HTML in a notebook."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from bioeval.base.errors import without_controls

if TYPE_CHECKING:
    from bioeval.base.errors import Message
    from bioeval.showing.terminal import Form, TerminalDocument
    from bioeval.showing.text import Section

#: Columns of a table that goes to a file or into a pipe.
WIDTH = 100


def print_table(table: TerminalDocument, form: Form | None = None) -> None:
    """Print a table on standard output, as text unless another form is given.

    Colours are left out in a pipe and where ``NO_COLOR`` is set; a table is as wide as the
    terminal, or as ``COLUMNS`` says.
    """
    if form is not None:
        put(table.marked_up(form))
    elif sys.stdout is not None and sys.stdout.isatty():
        from rich.console import Console

        from bioeval.showing.terminal import AS_IT_IS

        with named_errors():
            Console(**AS_IT_IS).print(table, crop=False)
    else:
        put(table.text(pipe_width()))


class Shown(ABC):
    """A result that is no dataset, such as a check of data: print and notebooks show its table."""

    @property
    def messages(self) -> Sequence[Message]:
        return ()

    @abstractmethod
    def _section(self) -> Section:
        """Return the document that people read."""

    @abstractmethod
    def _records(self) -> list[dict[str, Any]]:
        """Return the rows of the data frame."""

    @abstractmethod
    def _document(self) -> dict[str, Any]:
        """Return the entries of a JSON document but for the messages; its lists are CSV tables."""

    def _numbers(self) -> list[dict[str, Any]]:
        """Return the rows of numbers that conditions may be about."""
        return []

    def _table(self) -> TerminalDocument:
        from bioeval.showing.terminal import TerminalDocument

        return TerminalDocument(self._section())

    def __str__(self) -> str:
        return self._table().text(WIDTH)

    def _repr_html_(self) -> str:
        return self._table().html()


def pipe_width() -> int:
    """Return the width of output into a pipe: ``COLUMNS``, else `WIDTH`."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    return WIDTH


def put(text: str) -> None:
    """Write text on standard output, through to the reader; control characters are escaped."""
    if sys.stdout is not None:
        with named_errors():
            sys.stdout.write(without_controls(text))
            sys.stdout.flush()


@contextlib.contextmanager
def named_errors() -> Iterator[None]:
    """Add the name of the output to an error of writing."""
    try:
        yield
    except OSError as error:
        # Windows calls a pipe that nothing reads an invalid argument.
        number = errno.EPIPE if error.errno == errno.EINVAL else error.errno
        raise OSError(number, error.strerror, "standard output") from error
