"""Documents as HTML, for a notebook and for a page: text is escaped, nothing is loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from bioeval.base.errors import printable
from bioeval.document.blocks import Block, Facts, Messages, Paragraph, Section, Table
from bioeval.views.writers.columns import PrintedColumn, printed_columns
from bioeval.views.writers.lines import Lines

_DIGIT = "\u2007"  # a blank that is as wide as a digit
_BLANKS = re.compile(r"^ +| {2,}| +$")

CSS = """
.bioeval{overflow-x:auto;max-width:100%;padding:.2em 0;color:inherit;line-height:1.45;
font-variant-numeric:tabular-nums}
.bioeval p{margin:0;max-width:60em}
.bioeval p.t{margin-top:.7em}
.bioeval .in{padding-left:1.2em}
.bioeval .s{margin-top:.7em}
.bioeval ul{margin:.1em 0;padding-left:2em;max-width:60em}
.bioeval table{border-collapse:collapse;margin:.1em 0;border:0;width:auto}
.bioeval tr:nth-child(n):nth-child(n){background:transparent}
.bioeval th,.bioeval td{background:transparent;color:inherit;border:0;font-weight:inherit;
padding:.06em 1.3em .06em 0;text-align:left;vertical-align:top;max-width:44em}
.bioeval .r.r{text-align:right}
.bioeval .r.r,.bioeval .n.n{white-space:pre}
.bioeval thead th{border-bottom:1px solid rgba(128,128,128,.5)}
.bioeval i{font-style:normal;opacity:.72}
"""


def _safe(text: str) -> str:
    """Return text escaped for HTML, its line ends kept."""
    return escape(printable(text)).replace("\n", "<br>")


class HtmlLines(Lines):
    """Lines of HTML."""

    line_break = "<br>"

    def literal(self, text: str) -> str:
        """Return text with its characters escaped."""
        return _safe(text)

    def code(self, text: str) -> str:
        """Return text as code."""
        return f"<code>{self.literal(text)}</code>"

    def strong(self, text: str) -> str:
        """Return bold text."""
        return f"<b>{text}</b>"


def as_html(section: Section, vocabulary: str = "lecture") -> str:
    """Return a document as one element with its style."""
    written = "".join(body(section, HtmlLines(vocabulary, section.task), section))
    css = CSS.replace("\n", "")
    return f'<div class="bioeval"><style>{css}</style>{written}</div>'


def body(section: Section, lines: Lines, whole: Section) -> Iterator[str]:
    """Yield the HTML of the blocks of a section."""
    lines = lines.within(section)
    if title := lines.write(section.title):
        yield f'<p class="t"><b>{title}</b></p>'
    for block in section.blocks:
        yield from _block(block, lines, whole)


def _block(block: Block, lines: Lines, whole: Section) -> Iterator[str]:
    match block:
        case Paragraph():
            yield _paragraph(lines.write(block.text), block.role)
        case Facts():
            rows = []
            for fact, text in lines.facts(block, whole):
                name = lines.literal(fact.name)
                rows.append(f'<tr><th scope="row"><i>{name}</i></th><td>{text}</td></tr>')
            if rows:
                yield f"<table><tbody>{''.join(rows)}</tbody></table>"
        case Table():
            yield table_html(block, lines)
        case Messages():
            yield from _messages(block, lines)
        case Section():
            yield '<div class="s">'
            yield from body(block, lines, whole)
            yield "</div>"


def _messages(block: Messages, lines: Lines) -> Iterator[str]:
    groups = lines.sentences_about(block.messages)
    if block.alarm:
        for about, sentences in groups.items():
            whose = f" ({about})" if about else ""
            yield from (f'<p class="t"><b>Warning{whose}: {x}</b></p>' for x in sentences)
        return
    if groups:
        yield '<p class="t"><b>Warnings</b></p>'
    for about, sentences in groups.items():
        if about:
            yield f'<p class="in"><i>{about}</i></p>'
        yield f"<ul>{''.join(f'<li>{x}</li>' for x in sentences)}</ul>"


def _paragraph(text: str, role: str) -> str:
    if not text:
        return ""
    if role == "note":
        return f"<p><i>{text}</i></p>"
    if role:
        return f'<p class="t"><b>{text}</b></p>'
    return f"<p>{text}</p>"


def table_html(table: Table, lines: Lines) -> str:
    """Return a table between its title and its notes; the first column names its rows."""
    columns = printed_columns(table, lines, lines.surface)
    if not columns:
        return ""
    written = []
    if title := lines.write(table.title):
        written.append(f'<p class="t"><b>{title}</b></p>')
    written += [f'<p class="in"><i>{x}</i></p>' for x in map(lines.write, table.details) if x]
    heads = ""
    if any(column.heading for column in columns):
        ends = [_how(x) if not _is_ragged(x) else "" for x in columns]
        cells = "".join(
            f'<th scope="col"{how}><i>{x.heading}</i></th>' if x.heading else "<td></td>"
            for x, how in zip(columns, ends, strict=True)
        )
        heads = f"<thead><tr>{cells}</tr></thead>"
    rows = []
    texts = [_aligned(column) for column in columns]
    for row in zip(*texts, strict=True):
        first, *others = row
        cells = f'<th scope="row"{_how(columns[0])}>{first}</th>' if first else "<td></td>"
        for text, column in zip(others, columns[1:], strict=True):
            cells += f"<td{_how(column)}>{text}</td>"
        rows.append(f"<tr>{cells}</tr>")
    written.append(f'<div class="in"><table>{heads}<tbody>{"".join(rows)}</tbody></table></div>')
    written += [f'<p class="in"><i>{x}</i></p>' for x in map(lines.write, table.remarks) if x]
    return "".join(written)


def _how(column: PrintedColumn) -> str:
    """Return how the cells of a column are set: numbers at the right, or at their points."""
    if not column.numeric:
        return ""
    return ' class="n"' if _is_ragged(column) else ' class="r"'


def _is_ragged(column: PrintedColumn) -> bool:
    """Whether numbers of a column have different things behind their points."""
    behind = {(x.places[1], x.unit, x.mark) for x in column.numbers if x is not None}
    return len(behind) > 1 or any(x is not None and x.limits for x in column.numbers)


def _aligned(column: PrintedColumn) -> list[str]:
    """Return the cells of a column; blanks as wide as digits set numbers at their points."""
    if not column.numeric or not _is_ragged(column):
        return column.texts
    return [
        _BLANKS.sub(lambda run: _DIGIT * len(run[0]), _safe(x.rstrip())) for x in column.aligned()
    ]
