"""Tables as HTML for a notebook, from what they yield for rich: texts, tables, indents.

Text is escaped, nothing is loaded, and colours are those of the page, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import Console, Group
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from bioeval.base.panels import safe

# A width that no table reaches: narrow pages scroll.
_ROOM = 10_000

_CSS = """
.bioeval{overflow-x:auto;max-width:100%;padding:.2em 0;color:inherit;line-height:1.45;
font-variant-numeric:tabular-nums}
.bioeval p{margin:0;max-width:60em;white-space:pre-wrap}
.bioeval hr{border:0;margin:.7em 0 0}
.bioeval .in{padding-left:1.2em}
.bioeval table{border-collapse:collapse;margin:.1em 0;border:0;width:auto}
.bioeval tr,.bioeval tr:nth-child(n):nth-child(n){background:transparent}
.bioeval th,.bioeval td{background:transparent;color:inherit;border:0;font-weight:inherit;
padding:.06em 1.3em .06em 0;text-align:left;vertical-align:top;white-space:pre-wrap;max-width:44em;
min-width:0}
.bioeval th{white-space:nowrap}
.bioeval .r{text-align:right;white-space:pre}
.bioeval thead th{border-bottom:1px solid rgba(128,128,128,.5)}
.bioeval i{font-style:normal;opacity:.72}
.bioeval tbody td>b:only-child{font-weight:600}
"""


def as_html(table: Any) -> str:
    """Return a table that rich can print as HTML: real tables, and lines of text."""
    options = {"highlight": False, "emoji": False, "markup": False}
    console = Console(width=_ROOM, color_system=None, **options)
    css = _CSS.replace("\n", "")
    return f'<div class="bioeval"><style>{css}</style>{"".join(_parts(table, console))}</div>'


def _parts(item: Any, console: Console) -> Iterator[str]:
    """Yield the HTML of a renderable, part by part."""
    match item:
        case str() | Text():
            text = _text(item, console)
            yield f"<p>{text}</p>" if text.strip() else "<hr>"
        case Table():
            yield _table(item, console)
        case Padding():
            yield f'<div class="in">{"".join(_parts(item.renderable, console))}</div>'
        case Group():
            for part in item.renderables:
                yield from _parts(part, console)
        case _:
            for part in item.__rich_console__(console, console.options):
                yield from _parts(part, console)


def _text(text: str | Text, console: Console, style: Any = "") -> str:
    """Return a text with its bold and dim parts marked; `style` is that of its row or column."""
    text = console.render_str(text) if isinstance(text, str) else text
    whole = console.get_style(style) if style else None
    segments: Iterable[Segment] = text.render(console)
    return "".join(_marked(x.text, whole + x.style if whole and x.style else x.style or whole)
                   for x in segments)  # fmt: skip


def _marked(text: str, style: Any) -> str:
    found = safe(text)
    if not text.strip() or style is None:
        return found
    found = f"<b>{found}</b>" if style.bold else found
    return f"<i>{found}</i>" if style.dim else found


def _table(table: Table, console: Console) -> str:
    """Return a table; the first column holds the headings of its rows."""
    columns = [(column, list(column.cells)) for column in table.columns]
    right = [' class="r"' if column.justify == "right" else "" for column, _ in columns]
    head = ""
    if table.show_header and any(str(column.header).strip() for column, _ in columns):
        cells = (
            f'<th scope="col"{at}>{_text(column.header, console, "dim").strip()}</th>'
            for (column, _), at in zip(columns, right, strict=True)
        )
        head = f"<thead><tr>{''.join(cells)}</tr></thead>"
    rows = []
    for i, row in enumerate(table.rows):
        cells = (
            _cell(cells[i], console, [column.style, row.style], at, first=j == 0)
            for j, ((column, cells), at) in enumerate(zip(columns, right, strict=True))
        )
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return f"<table>{head}<tbody>{''.join(rows)}</tbody></table>"


def _cell(cell: Any, console: Console, styles: list[Any], at: str, first: bool) -> str:
    style = next((x for x in reversed(styles) if x), "")
    found = (
        _text(cell, console, style)
        if isinstance(cell, str | Text)
        else "".join(_parts(cell, console))
    )
    if at:  # blanks behind a number stand for digits that it lacks
        kept = found.lstrip()
        text = kept.rstrip()
        found = text + "\u2007" * (len(kept) - len(text))
    return f'<th scope="row"{at}>{found}</th>' if first else f"<td{at}>{found}</td>"
