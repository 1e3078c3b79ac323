"""What a reader is shown of a result: a tree of sections, paragraphs, facts and tables.

The writers of :mod:`bioeval.showing.writers` make a terminal's table, a page, LaTeX or Markdown of
a :class:`Section`, and know no study.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from bioeval.base.errors import Message
from bioeval.showing.text import Text

#: What a reader is shown: a short view, all numbers that the data support, or all numbers.
Detail = Literal["brief", "supported", "all"]


@dataclass(frozen=True)
class Paragraph:
    """A sentence or several; a `note` is secondary, an `answer` is what the reader asked for."""

    text: Text
    role: Literal["", "note", "answer", "warning"] = ""


@dataclass(frozen=True)
class Vocabulary:
    """The abbreviations that a document shows, in full, with ISO's terms; a writer finds them.

    In short, only ISO's terms.
    """

    is_short: bool = False


@dataclass(frozen=True)
class Fact:
    """A name with what there is to say."""

    name: str
    text: Text | Vocabulary


@dataclass(frozen=True)
class Facts:
    """Names and their texts side by side; a fact with an empty text is left out."""

    facts: Sequence[Fact]


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, its heading, and whether it stays beside the one before it."""

    name: str
    heading: Text = ""
    is_attached: bool = False


@dataclass(frozen=True)
class Legend:
    """Labels with their explanations, for terminals; a page has pointers."""

    explanations: Sequence[tuple[Text, Text]]


@dataclass(frozen=True)
class Table:
    """Rows of cells below column headings; a cell without a value is None.

    The `title` stands above, the `details` below it, the `notes` below the rows. The first columns,
    `names` of them, name the rows: where a table is too wide, they stand before each of its parts.
    """

    id: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Text | None]]
    title: Text = ""
    details: Sequence[Text] = ()
    notes: Sequence[Text] = ()
    names: int = 1
    is_continued: bool = False  # stands closely below the table above

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise TypeError(
                    f"the table {self.id} has a row of {len(row)} cells; expected "
                    f"{len(self.columns)}"
                )


@dataclass(frozen=True)
class Messages:
    """Messages of results, each with the names of its systems where not all have it.

    An `alarm` stands above the results that it makes doubtful.
    """

    messages: Sequence[Message]
    alarm: bool = False


@dataclass(frozen=True)
class Section:
    """What a study says of a result. `task` is what its rates are of unless a phrase says it."""

    id: str
    title: Text
    blocks: Sequence[Block]
    task: str = ""


Block = Paragraph | Facts | Legend | Table | Messages | Section


def walk(section: Section) -> Iterator[tuple[Section, Block]]:
    """Yield the blocks of a section and of its inner sections, each block after its section."""
    for block in section.blocks:
        yield section, block
        if isinstance(block, Section):
            yield from walk(block)


def tables(section: Section) -> Iterator[Table]:
    """Yield the tables of a section and of its inner sections."""
    for _, block in walk(section):
        if isinstance(block, Table):
            yield block
