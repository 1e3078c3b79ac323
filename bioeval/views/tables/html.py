"""Tables as HTML for a notebook, from what they yield for rich: texts, tables, indents.

Text is escaped, nothing is loaded, and colours are those of the page, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from bioeval.base.panels import safe
from bioeval.views.tables.layout import leaves, wide_console
from bioeval.views.writers.terminal import TerminalDocument

_DIGIT = "\u2007"  # a blank that is as wide as a digit

_CSS = """
.bioeval{overflow-x:auto;max-width:100%;padding:.2em 0;color:inherit;line-height:1.45;
font-variant-numeric:tabular-nums}
.bioeval p{margin:0;max-width:60em;white-space:pre-wrap}
.bioeval hr{border:0;margin:.7em 0 0}
.bioeval .in{padding-left:1.2em}
.bioeval table{border-collapse:collapse;margin:.1em 0;border:0;width:auto}
.bioeval tr:nth-child(n):nth-child(n){background:transparent}
.bioeval th,.bioeval td{background:transparent;color:inherit;border:0;font-weight:inherit;
padding:.06em 1.3em .06em 0;text-align:left;vertical-align:top;white-space:pre-wrap;max-width:44em}
.bioeval tbody th{min-width:6em}
.bioeval .m.m,.bioeval .n.n,.bioeval .r.r{white-space:pre;min-width:0}
.bioeval .m.m{font-family:monospace}
.bioeval .r.r{text-align:right}
.bioeval thead th{border-bottom:1px solid rgba(128,128,128,.5)}
.bioeval i{font-style:normal;opacity:.72}
"""


def as_html(table: Any) -> str:
    """Return a table that rich can print as HTML: real tables, and lines of text."""
    if isinstance(table, TerminalDocument):
        return table.html()
    console = wide_console()
    css = _CSS.replace("\n", "")
    return f'<div class="bioeval"><style>{css}</style>{"".join(_parts(table, console))}</div>'


def _parts(item: Any, console: Console) -> Iterator[str]:
    """Yield the HTML of a renderable, part by part."""
    for depth, part in leaves(item, console):
        if isinstance(part, Table):
            written = _table(part, console)
        elif (text := _text(part, console)).strip():
            written = f"<p>{text}</p>"
        else:
            written = "<hr>"
        yield '<div class="in">' * depth + written + "</div>" * depth


def _text(text: str | Text, console: Console, style: Any = "") -> str:
    """Return a text with its bold and dim parts marked; `style` is that of its row or column."""
    if isinstance(text, str):
        text = console.render_str(text)
    whole = console.get_style(style) + console.get_style(text.style)
    parts = []
    for segment in text.render(console):
        combined = whole
        if segment.style:
            combined += segment.style
        part = safe(segment.text)
        if part.strip():
            if combined.bold:
                part = f"<b>{part}</b>"
            if combined.dim:
                part = f"<i>{part}</i>"
        parts.append(part)
    return "".join(parts)


def _table(table: Table, console: Console) -> str:
    """Return a table; the first column holds the headings of its rows."""
    columns = [_Column(column, console) for column in table.columns]
    first, *others = columns
    head = ""
    if table.show_header and any(column.head for column in columns):
        heads = "".join(f'<th scope="col"{x.how}>{x.head}</th>' for x in columns)
        head = f"<thead><tr>{heads}</tr></thead>"
    rows = []
    for i, row in enumerate(table.rows):
        cells = [f'<th scope="row"{first.how}>{first.cell(i, row.style)}</th>']
        cells += [f"<td{x.how}>{x.cell(i, row.style)}</td>" for x in others]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{head}<tbody>{''.join(rows)}</tbody></table>"


class _Column:
    """A column of a table: numbers at the right, or with blanks as wide as digits before them."""

    def __init__(self, column: Column, console: Console):
        """Find how the cells of a column are set from their texts."""
        self._column, self._console = column, console
        self._cells = list(column.cells)
        texts = [str(x) for x in self._cells if isinstance(x, str | Text) and str(x).strip()]
        within, followed, blanks = False, False, []
        for text in texts:
            within = within or "  " in text.strip()
            followed = followed or "[" in text or text != text.rstrip()
            blanks.append(_blanks(text))
        self._least = min(blanks, default=0)
        self.head = str(column.header).strip()
        # A number with more behind it is not flush right.
        self._digits = any(blanks) and followed
        self._kind = self.how = ""
        if within:  # columns within the column
            self._kind = "m"
            self.head = str(column.header)
        elif column.justify == "right" or (any(blanks) and not followed):
            self._kind = "r"
        elif self._digits or column.no_wrap:
            self._kind = "n"
        if self._kind:
            self.how = f' class="{self._kind}"'
        if self.head:
            self.head = _text(self.head, console, "dim")

    def cell(self, i: int, row_style: Any) -> str:
        """Return the HTML of a cell."""
        content = self._cells[i]
        if not isinstance(content, str | Text):
            return "".join(_parts(content, self._console))
        text = _text(content, self._console, row_style or self._column.style)
        if self._kind == "m":
            return text
        return _DIGIT * (_blanks(str(content)) - self._least) * self._digits + text.strip()


def _blanks(text: str) -> int:
    """Return the number of blanks before a text."""
    return len(text) - len(text.lstrip())
