"""Rows, numbers and plain tables for all tables."""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from bioeval.base.errors import without_controls
from bioeval.results.words import NOT_DEFINED, in_one_precision


@dataclass(frozen=True)
class SampleSize:
    """Sample size of a result: attempts of each class, None for a class that is not used.

    `subjects` is the number of subjects whose probes made these attempts; 0 if unknown.
    """

    genuine: int | None = None
    impostor: int | None = None
    subjects: int = 0

    @property
    def lacking(self) -> str:
        """The classes without an attempt, in words."""
        classes = {"genuine": self.genuine, "impostor": self.impostor}
        none = [name for name, count in classes.items() if count == 0]
        if none:
            return f"0 {' and 0 '.join(none)} attempts"
        return ""


@dataclass(frozen=True)
class Classes:
    """Sample sizes of a task: both classes of attempts together, and each alone."""

    both: SampleSize
    genuine: SampleSize
    impostor: SampleSize


@dataclass(frozen=True)
class Row:
    """One result: its name, its value and its sample size."""

    measure: str
    value: float
    over: SampleSize
    threshold: float | None = None
    unit: str = "%"
    decimals: int = 2
    undefined: str = ""
    is_proportion: bool = True
    ends: tuple[float, float] | None = None

    @property
    def is_defined(self) -> bool:
        """Whether there is a value."""
        return not math.isnan(self.value)

    @property
    def why_not(self) -> str:
        """Why there is no value."""
        return self.over.lacking or self.undefined or "not defined"

    @property
    def scale(self) -> int:
        """What the value is multiplied by, to be written in its unit."""
        return 100 if self.unit == "%" else 1


@dataclass(frozen=True)
class TableSection:
    """The rows of one task."""

    title: str
    details: str
    rows: list[Row]
    notes: list[str] = field(default_factory=list)


NOT_KNOWN = "-"


def fraction_digits(row: Row) -> int:
    """Return the number of digits after the decimal point of a per cent."""
    return row.decimals if row.unit == "%" and row.is_defined else 0


def with_shared_decimals(rows: Sequence[Row]) -> list[Row]:
    """Return rows whose values in per cent have as many decimals: the most that any needs."""
    most = max(map(_needed_decimals, rows), default=0)
    shared = []
    for row in rows:
        if row.unit == "%":
            row = replace(row, decimals=most)
        shared.append(row)
    return shared


def _needed_decimals(row: Row) -> int:
    """Return as many decimals of a per cent as show two digits of a value near 0 or 100 %.

    At least two, and no more than make one attempt visible.
    """
    if row.unit != "%" or not row.is_defined:
        return 0
    distance = 100 * min(row.value, 1 - row.value)
    digits = 1 - math.floor(math.log10(distance)) if distance > 0 else 2
    return min(row.decimals, max(2, digits))


def number(row: Row) -> str:
    """Return the value without its unit; a proportion is only written as 0 or 1 if it is that."""
    if not row.is_defined:
        return NOT_DEFINED
    exact, least = row.scale * row.value, 10.0**-row.decimals
    text = f"{exact:.{row.decimals}f}"
    if row.is_proportion and float(text) == 0 and exact > 0:
        return f"< {least:.{row.decimals}f}"
    if row.is_proportion and float(text) == row.scale and exact < row.scale:
        return f"> {row.scale - least:.{row.decimals}f}"
    return text


def value(row: Row, fraction: int) -> str:
    """Return the value, padded so that decimal points are aligned."""
    if not row.is_defined:
        return NOT_DEFINED
    unit = " %" if row.unit == "%" else ""
    return number(row) + unit + " " * (fraction + 2 - row.decimals - len(unit))


def ends(row: Row) -> str:
    """Return the interval of a value as text: ``[1.01, 1.50]``; empty without one."""
    if row.ends is None or not row.is_defined:
        return ""
    low, high = row.ends
    return f"[{row.scale * low:.{row.decimals}f}, {row.scale * high:.{row.decimals}f}]"


def fvc_name(target: float) -> str:
    """Return the name that FVC gave to FNMR at a FMR target: 0.01 is `` (FMR100)``."""
    power = round(-math.log10(target)) if target > 0 else 0
    if power in (2, 3) and math.isclose(target, 10.0**-power):
        return f" (FMR{10**power})"
    return ""


def mean_text(value: float, percent: bool = True, none: str = NOT_KNOWN) -> str:
    """Return a mean, in per cent with three decimals, else with five; `none` without one."""
    if not math.isfinite(value):
        return none
    if percent:
        return f"{100 * value:.3f}"
    return f"{value:.5f}"


def decimals_for(attempts: int | None) -> int:
    """Return the decimals of a per cent that make one attempt visible, two to four."""
    return min(4, max(2, len(str(attempts or 0)) - 2))


def thresholds(values: Sequence[float | None]) -> list[str]:
    """Return thresholds of six digits with equal numbers of decimals; empty for None."""
    known = iter(in_one_precision([value for value in values if value is not None], 6))
    return ["" if value is None else next(known) for value in values]


def count(value: int | None) -> str:
    """Return a count with thousands separators."""
    return "" if value is None else f"{value:,}"


def known(value: int) -> str:
    """Return a count as text; 0 means unknown."""
    return count(value) if value else NOT_KNOWN


def wide_console() -> Console:
    """Return a console that no table is too wide for."""
    return Console(width=10_000, color_system=None, highlight=False, emoji=False, markup=False)


def plain(renderable: Any, width: int) -> str:
    """Return a rich renderable as plain text."""
    stream = io.StringIO()
    options: dict[str, Any] = {"highlight": False, "emoji": False, "markup": False}
    Console(file=stream, width=width, color_system=None, **options).print(renderable)
    text = without_controls(stream.getvalue())
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def leaves(item: Any, console: Console, depth: int = 0) -> Iterator[tuple[int, str | Text | Table]]:
    """Yield the texts and tables of a renderable, and how often each is indented."""
    match item:
        case str() | Text() | Table():
            yield depth, item
        case Padding():
            yield from leaves(item.renderable, console, depth + 1)
        case Group():
            for part in item.renderables:
                yield from leaves(part, console, depth)
        case _:
            for part in item.__rich_console__(console, console.options):
                yield from leaves(part, console, depth)


def indented(renderable: Any) -> Padding:
    """Return a renderable indented by two columns."""
    return Padding(renderable, (0, 0, 0, 2))


def grid(rows: Iterable[tuple[str, str]], gap: int = 2, style: str = "dim") -> Table:
    """Return names and their texts, side by side."""
    table = Table.grid(padding=(0, gap))
    table.add_column(no_wrap=True, style=style)
    table.add_column(overflow="fold")
    for name, text in rows:
        table.add_row(Text(name), Text(text))
    return table


def listed(texts: Iterable[str]) -> Padding:
    """Return texts as a list."""
    return indented(grid(zip(itertools.repeat("-"), texts, strict=False), 1, ""))


def warned(texts: Iterable[str]) -> Iterator[Any]:
    """List warnings under their heading, each once; nothing without any."""
    distinct = list(dict.fromkeys(filter(None, texts)))
    if distinct:
        yield Text("")
        yield Text("Warnings", style="bold yellow")
        yield listed(distinct)


class _WholeWords(Table):
    """A table whose columns wrap between words where it is too wide, and never cut a number."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for column in self.columns:
            if not column.no_wrap:
                words = " ".join(map(str, (column.header, *column.cells))).split()
                column.min_width = max(map(cell_len, words), default=0)
        yield from super().__rich_console__(console, options)


def plain_table(heads: Iterable[str] = (), gap: int = 2) -> Table:
    """Return a table without lines; columns with a heading are right-aligned."""
    table = _WholeWords(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="dim")
    for head in heads:
        table.add_column(head, justify="right" if head else "left")
    return table
