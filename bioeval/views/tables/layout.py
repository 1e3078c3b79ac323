"""Parts that tables share: names beside texts, plain tables, warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text


def indented(renderable: Any) -> Padding:
    """Return a renderable that is set in by two columns."""
    return Padding(renderable, (0, 0, 0, 2))


def grid(rows: Iterable[tuple[str, str]], gap: int = 2, style: str = "dim") -> Table:
    """Return names and the texts that belong to them, side by side."""
    table = Table.grid(padding=(0, gap))
    table.add_column(no_wrap=True, style=style)
    table.add_column(overflow="fold")
    for name, text in rows:
        table.add_row(Text(name), Text(text))
    return table


def listed(texts: Iterable[str]) -> Padding:
    """Return texts as a list."""
    return indented(grid((("-", text) for text in texts), 1, ""))


def warned(texts: Iterable[str]) -> Iterator[Any]:
    """List warnings under their head, each once; nothing without any."""
    found = list(dict.fromkeys(filter(None, texts)))
    if found:
        yield Text("")
        yield Text("Warnings", style="bold yellow")
        yield listed(found)


def plain_table(heads: Iterable[str] = (), gap: int = 2) -> Table:
    """Return a table without lines; columns with a head are set flush right."""
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="dim")
    for head in heads:
        table.add_column(head, justify="right" if head else "left", no_wrap=True)
    return table
