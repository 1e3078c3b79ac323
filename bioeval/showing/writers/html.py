"""Documents as HTML, for a notebook and for a page: text is escaped, nothing is loaded."""

from __future__ import annotations

import re
from html import escape, unescape

from bioeval.base.errors import without_controls
from bioeval.showing.blocks import Section
from bioeval.showing.writers.lines import Lines
from bioeval.showing.writers.pieces import Grid, Line, Pairs, Points, pieces_of

_DIGIT = "\u2007"  # a blank that is as wide as a digit
#: Letters of a line on paper, and between two columns: a table that is wider has a line for a cell.
LETTERS_ON_PAPER, GAP = 96, 2

_BLANKS = re.compile(r"^ +| {2,}| +$")

CSS = """
.bioeval{overflow-x:auto;max-width:100%;padding:.2em 0;color:inherit;line-height:1.45;
font-variant-numeric:tabular-nums}
.bioeval p{margin:0;max-width:60em}
.bioeval p.t,.bioeval .in+p:not(.in){margin-top:.7em}
.bioeval .in{padding-left:1.2em}
.bioeval ul{margin:.1em 0;padding-left:2em;max-width:60em}
.bioeval caption{caption-side:top;text-align:left;font-weight:bold;padding:.5em 0 .1em}
.bioeval table{border-collapse:collapse;margin:.1em 0;border:0;width:auto}
.bioeval tr:nth-child(n):nth-child(n){background:transparent}
.bioeval th,.bioeval td{background:transparent;color:inherit;border:0;font-weight:inherit;
padding:.06em 1.3em .06em 0;text-align:left;vertical-align:top;max-width:44em}
.bioeval .r.r{text-align:right}
.bioeval .r.r,.bioeval .n.n{white-space:pre}
.bioeval thead th{border-bottom:1px solid rgba(128,128,128,.5)}
.bioeval span[title]{cursor:help}
.bioeval i{font-style:normal;opacity:.72}
"""

# Notebooks align cells to the right by stronger selectors. In a wide table, headings are folded,
# and the words of the last column (which system is better) stay in sight.
NOTEBOOK_CSS = """
.bioeval.bioeval.bioeval :is(tr,th,td){text-align:left;vertical-align:top}
.bioeval.bioeval.bioeval .r.r{text-align:right}
.bioeval table{table-layout:auto}
.bioeval.bioeval.bioeval .wide td{padding-right:.7em}
.bioeval.bioeval .wide thead th{white-space:normal;max-width:11em;vertical-align:bottom}
.bioeval .wide tr>:last-child:not(.r,.n){position:sticky;right:0;padding-left:.6em;background:
var(--jp-layout-color0,var(--vscode-notebook-editorBackground,var(--colab-primary-surface-color,Canvas)))}
"""


def _safe(text: str) -> str:
    return escape(without_controls(text)).replace("\n", "<br>")


class HtmlLines(Lines):
    """Lines of HTML."""

    line_break = "<br>"

    def literal(self, text: str) -> str:
        """Return text with its characters escaped."""
        return _safe(text)

    def code(self, text: str) -> str:
        return f"<code>{self.literal(text)}</code>"

    def explained(self, text: str, about: str) -> str:
        """Return text whose explanation a pointer shows."""
        return f'<span title="{_safe(about)}">{text}</span>' if about else text


def as_html(section: Section) -> str:
    """Return a document as one element with its style."""
    written = body(section, HtmlLines(section.task))
    css = (CSS + NOTEBOOK_CSS).replace("\n", "")
    return f'<div class="bioeval"><style>{css}</style>{written}</div>'


def body(section: Section, lines: Lines) -> str:
    """Return the HTML of the pieces of a section; a title above a table is its caption."""
    pieces = list(pieces_of(section, lines, lines))
    written, title = "", ""
    for piece, next_piece in zip(pieces, [*pieces[1:], None], strict=True):
        match piece:
            case Line(role="title" | "heading" | "next heading") if isinstance(next_piece, Grid):
                title = piece.text
            case Grid():
                written += _table(piece, title)
                title = ""
            case _:
                written += _html(piece)
    return written


def _html(piece: Line | Pairs | Points) -> str:
    match piece:
        case Line(role=""):
            return f"<p>{piece.text}</p>"
        case Line(role="note"):
            return f"<p><i>{piece.text}</i></p>"
        case Line(role="remark"):
            return f'<p class="in"><i>{piece.text}</i></p>'
        case Line():
            return f'<p class="t"><b>{piece.text}</b></p>'
        case Pairs():
            rows = (
                f'<tr><th scope="row"><i>{name}</i></th><td>{text}</td></tr>'
                for name, text in piece.pairs
            )
            return f"<table><tbody>{''.join(rows)}</tbody></table>"
        case Points():
            return f"<ul>{''.join(f'<li>{sentence}</li>' for sentence in piece.sentences)}</ul>"


def _table(grid: Grid, title: str) -> str:
    """Return a table; on paper, one that is too wide has a line for each of its cells."""
    kinds, columns, headings = [], [], ""
    for column in grid.columns:
        # Numbers with different things behind them stand at their points, others at the right.
        is_ragged = any(text.endswith(" ") for text in column.texts)
        kind = "" if not column.is_numeric else ' class="n"' if is_ragged else ' class="r"'
        kinds.append(kind)
        columns.append([_BLANKS.sub(_of_digits, x) if kind else x for x in column.texts])
        heading = f'<th scope="col"{kind}><i>{column.heading}</i></th>'
        headings += heading if column.heading else "<td></td>"
    longest = [max(map(len, map(_without_marks, [x.heading, *x.texts]))) for x in grid.columns]
    is_wide = sum(longest) + GAP * len(longest) > LETTERS_ON_PAPER
    names = [f' data-name="{escape(_without_marks(x.heading))}"' * is_wide for x in grid.columns]
    rows = ""
    for texts in zip(*columns, strict=True):
        rows += "<tr>"
        for i, (text, kind) in enumerate(zip(texts, kinds, strict=True)):
            is_name = i < grid.name_columns and text
            cell = f"<td{kind}{names[i]}>{text}</td>"
            rows += f'<th scope="row"{kind}>{text}</th>' if is_name else cell
        rows += "</tr>"
    head = f"<thead><tr>{headings}</tr></thead>" if grid.has_headings else ""
    caption = f"<caption>{title}</caption>" if title else ""
    table = '<table class="wide">' if is_wide else "<table>"
    return f'<div class="in">{table}{caption}{head}<tbody>{rows}</tbody></table></div>'


def _without_marks(text: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", text))


def _of_digits(blanks: re.Match[str]) -> str:
    return "" if blanks.end() == len(blanks.string) else _DIGIT * len(blanks[0])
