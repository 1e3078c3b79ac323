"""Documents as LaTeX, Markdown and HTML, from their pieces (:mod:`bioeval.showing.pieces`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape, unescape

from rich.cells import cell_len

from bioeval.base.errors import escaped, without_controls
from bioeval.showing.numbers import Lines
from bioeval.showing.pieces import Grid, Line, Pairs, Points, pieces_of
from bioeval.showing.text import Section

_ESCAPED = str.maketrans(
    {
        **{c: f"\\{c}" for c in "%&#$_{}"},
        **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
        **{"|": r"\textbar{}", "<": "$<$", ">": "$>$", "\u2264": r"$\leq$", "\u2265": r"$\geq$"},
        **{"\u00b1": r"$\pm$", "\u00d7": r"$\times$", "\u2212": "$-$", "\u2013": "--"},
    }
)
_MINUS = re.compile(r"(?<!e)-(?=\d|inf)")


class LatexLines(Lines):
    """Lines of LaTeX."""

    def literal(self, text: str) -> str:
        r"""Return text with the characters of LaTeX escaped.

        Examples
        --------
        >>> print(LatexLines().literal("a_1 & b: FAR <= 1"))
        a\_1 \& b: FAR $\leq$ 1
        """
        text = text.replace("<=", "\u2264").replace(">=", "\u2265")
        return " ".join(text.split("\n")).translate(_ESCAPED)

    def code(self, text: str) -> str:
        return rf"\texttt{{{self.literal(text)}}}"

    def number(self, text: str) -> str:
        """Return a number with minus signs, its unit after a thin space."""
        text = _MINUS.sub("\u2212", " ".join(text.split()))
        return self.literal(text).replace(r" \%", r"\,\%")


def as_latex(section: Section) -> str:
    """Return the tables of a document as LaTeX, and its other parts as comments."""
    cells, words = (kind(section.task) for kind in (LatexLines, Lines))
    written = [r"% needs \usepackage{booktabs}"]
    for piece in pieces_of(section, cells, words):
        match piece:
            case Line():
                comments = [piece.text]
            case Pairs():
                comments = [f"{name}: {text}" for name, text in piece.pairs]
            case Points():
                comments = [f"- {sentence}" for sentence in piece.sentences]
            case Grid():
                comments = []
                written += ["", *_latex_table(piece), ""]
        written += [f"% {escaped(comment)}" for comment in comments]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(written)).rstrip("\n") + "\n"


def _latex_table(grid: Grid) -> list[str]:
    """Return the lines of a table."""
    padded: list[list[str]] = []
    for column in grid.columns:
        texts = [column.heading, *column.texts]
        if not padded:  # else "[" or "*" is an argument of the line break before it
            texts = [f"{{}}{x}" if x.startswith(("[", "*")) else x for x in texts]
        padded.append(_padded(texts, column.is_numeric))
    headings, *rows = (rf"{' & '.join(row)} \\" for row in zip(*padded, strict=True))
    columns = "".join("lr"[x.is_numeric] for x in grid.columns)
    head = [headings, r"\midrule"] if grid.has_headings else []
    begin = rf"\begin{{tabular}}{{{columns}}}"
    return [begin, r"\toprule", *head, *rows, r"\bottomrule", r"\end{tabular}"]


def _padded(texts: Sequence[str], is_numeric: bool, least: int = 0) -> list[str]:
    """Return the texts of a column at one width; numbers are at the right."""
    width = max(least, *map(cell_len, texts))
    blanks = (" " * (width - cell_len(text)) for text in texts)
    pairs = zip(blanks, texts, strict=True)
    return [blank + text if is_numeric else text + blank for blank, text in pairs]


# What Markdown would read as its marks, within a line and at its start.
_MARKS = re.compile(r"[\\`*_|~$]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<=\])\(")
_LINE_START = re.compile(r"^(?=[#>+=-])|^(\d+)(?=[.)] )")


class MarkdownLines(Lines):
    """Lines of Markdown."""

    def literal(self, text: str) -> str:
        r"""Return text with the characters of Markdown escaped.

        Examples
        --------
        >>> print(MarkdownLines().literal("a_1 | <b> 5 %"))
        a\_1 \| \<b> 5 %
        """
        text = " ".join(text.split("\n"))
        return _MARKS.sub(lambda mark: "&amp;" if mark[0] == "&" else f"\\{mark[0]}", text)

    def code(self, text: str) -> str:
        return super().code(text).replace("|", r"\|")

    def number(self, text: str) -> str:
        return self.literal(" ".join(text.split()))


def as_markdown(section: Section) -> str:
    lines = MarkdownLines(section.task)
    written = []
    for piece in pieces_of(section, lines, lines):
        match piece:
            case Line(role="" | "note" | "remark"):
                written.append(_LINE_START.sub(r"\1\\", piece.text))
            case Line():
                written.append(f"**{piece.text}**")
            case Pairs():
                written.append("\n".join(f"- {name}: {text}" for name, text in piece.pairs))
            case Points():
                written.append("\n".join(f"- {sentence}" for sentence in piece.sentences))
            case Grid():
                written.append(_markdown_table(piece))
    return "\n\n".join(written) + "\n"


def _markdown_table(grid: Grid) -> str:
    padded: list[list[str]] = []
    for column in grid.columns:
        heading, *cells = _padded([column.heading, *column.texts], column.is_numeric, least=2)
        rule = "-" * (cell_len(heading) - 1)
        padded.append([heading, f"{rule}:" if column.is_numeric else f":{rule}", *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in zip(*padded, strict=True))


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

    def literal(self, text: str) -> str:
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


#: A line in HTML by its role; others are headings.
_LINES = {
    "": "<p>{}</p>",
    "note": "<p><i>{}</i></p>",
    "remark": '<p class="in"><i>{}</i></p>',
}


def body(section: Section, lines: Lines) -> str:
    """Return the HTML of the pieces of a section; a title above a table is its caption."""
    pieces = list(pieces_of(section, lines, lines))
    written, title = "", ""
    for piece, next_piece in zip(pieces, [*pieces[1:], None], strict=True):
        match piece:
            case Line(role="title" | "heading" | "next heading") if isinstance(next_piece, Grid):
                title = piece.text
            case Line():
                written += _LINES.get(piece.role, '<p class="t"><b>{}</b></p>').format(piece.text)
            case Grid():
                written += _html_table(piece, title)
                title = ""
            case Pairs():
                rows = "".join(
                    f'<tr><th scope="row"><i>{name}</i></th><td>{text}</td></tr>'
                    for name, text in piece.pairs
                )
                written += f"<table><tbody>{rows}</tbody></table>"
            case Points():
                written += f"<ul>{''.join(f'<li>{x}</li>' for x in piece.sentences)}</ul>"
    return written


def _html_table(grid: Grid, title: str) -> str:
    """Return a table; on paper, one that is too wide has a line for each of its cells."""
    widths = [
        max(len(_without_marks(x)) for x in (column.heading, *column.texts))
        for column in grid.columns
    ]
    is_wide = sum(widths) + GAP * len(widths) > LETTERS_ON_PAPER
    headings = ""
    columns: list[list[str]] = []
    for column in grid.columns:
        kind, texts = "", column.texts
        if column.is_numeric:
            # Numbers with different things behind them stand at their points, others at the right.
            is_ragged = any(text.endswith(" ") for text in texts)
            kind = ' class="n"' if is_ragged else ' class="r"'
            texts = [_BLANKS.sub(_of_digits, text) for text in texts]
        heading = f'<th scope="col"{kind}><i>{column.heading}</i></th>'
        headings += heading if column.heading else "<td></td>"
        name = f' data-name="{escape(_without_marks(column.heading))}"' if is_wide else ""
        cells = [f"<td{kind}{name}>{text}</td>" for text in texts]
        if len(columns) < grid.name_columns:
            names_of_rows = [f'<th scope="row"{kind}>{text}</th>' for text in texts]
            pairs = zip(texts, names_of_rows, cells, strict=True)
            cells = [row_name if text else cell for text, row_name, cell in pairs]
        columns.append(cells)
    rows = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*columns, strict=True))
    head = f"<thead><tr>{headings}</tr></thead>" if grid.has_headings else ""
    caption = f"<caption>{title}</caption>" if title else ""
    table = '<table class="wide">' if is_wide else "<table>"
    return f'<div class="in">{table}{caption}{head}<tbody>{rows}</tbody></table></div>'


def _without_marks(text: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", text))


def _of_digits(blanks: re.Match[str]) -> str:
    return "" if blanks.end() == len(blanks.string) else _DIGIT * len(blanks[0])
