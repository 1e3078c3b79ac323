"""A document as pieces in a row, and these pieces as LaTeX, Markdown and HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape, unescape
from typing import Any, Literal, NamedTuple

from rich.cells import cell_len

from bioeval.base.errors import escaped, without_controls
from bioeval.showing.numbers import Lines, Printed, printed_column
from bioeval.showing.text import (
    Facts,
    Legend,
    Messages,
    Paragraph,
    Quantity,
    Section,
    Table,
    Text,
    Vocabulary,
    names_in_full,
)


class Line(NamedTuple):
    """A text and its role in the document; a `remark` belongs to the grid above or below it."""

    text: str
    role: Literal["title", "heading", "next heading", "", "note", "remark", "answer", "warning"]


class Pairs(NamedTuple):
    """Names with their texts."""

    pairs: list[tuple[str, Any]]  # texts; a vocabulary until all is written


class Points(NamedTuple):
    """Sentences of a list."""

    sentences: list[str]


class GridColumn(NamedTuple):
    """A heading and texts; those of numbers have their decimal points at the same place."""

    heading: str
    texts: list[str]
    is_numeric: bool
    is_attached: bool  # whether the column follows the column before it without a gap


class Grid(NamedTuple):
    """The columns of a table; the first ones name its rows."""

    columns: list[GridColumn]
    name_columns: int  # how many of them name the rows

    @property
    def has_headings(self) -> bool:
        return any(column.heading for column in self.columns)

    @property
    def rows(self) -> Iterator[tuple[str, ...]]:
        return zip(*(column.texts for column in self.columns), strict=True)


Piece = Line | Pairs | Points | Grid


def pieces_of(section: Section, cells: Lines, words: Lines) -> Iterator[Piece]:
    """Yield the pieces of a section that are not empty.

    `cells` writes the cells of tables, `words` all sentences.
    """
    cells.rates, cells.names = words.rates, words.names = {}, {}  # both note the same terms
    pieces = [*_pieces(section, cells, words)]  # the terms are known when all is written
    rates = names_in_full(words.rates)
    by_term: dict[str, list[str]] = {}  # abbreviations by ISO's term
    for short, (_, term) in rates.items():
        by_term.setdefault(term, []).append(short)
    by_term.pop("", None)
    heads = ["ISO: ", *[""] * len(by_term)]
    in_short = ", ".join(
        f"{' and '.join(shorts)} ({head}{term})"
        for (term, shorts), head in zip(by_term.items(), heads, strict=False)
    )
    names = {x: f"{name} (ISO: {term})" if term else name for x, (name, term) in rates.items()}
    names = {**names, **words.names, **names}
    in_full = "; ".join(f"{x}: {name}" for x, name in names.items())
    for piece in pieces:
        if isinstance(piece, Pairs):
            pairs = []
            for name, text in piece.pairs:
                if isinstance(text, Vocabulary):
                    text = words.write(in_short if text.is_short else in_full)
                pairs += [(name, text)] * bool(text)
            if pairs:
                yield Pairs(pairs)
        else:
            yield piece


def _pieces(section: Section, cells: Lines, words: Lines) -> Iterator[Piece]:
    cells, words = cells.of_task(section.task), words.of_task(section.task)
    if title := words.write(section.title):
        yield Line(title, "title")
    for block in section.blocks:
        match block:
            case Paragraph():
                yield from _lines([block.text], block.role, words)
            case Facts():
                pairs: list[tuple[str, Any]] = []
                for name, text in block.facts:
                    text = text if isinstance(text, Vocabulary) else words.write(text)
                    pairs += [(words.literal(name), text)] * bool(name and text)
                if pairs:
                    yield Pairs(pairs)
            case Legend() if words.has_legends and block.explanations:
                write = words.unnoted().write
                yield Pairs([(write(x), write(y)) for x, y in block.explanations])
            case Messages():
                groups = words.sentences_about(block.messages)
                if groups and not block.alarm:
                    yield Line("Warnings", "heading")
                for about, sentences in groups.items():
                    if block.alarm:
                        whose = f" ({about})" if about else ""
                        yield from (Line(f"Warning{whose}: {x}", "warning") for x in sentences)
                        continue
                    if about:
                        yield Line(about, "remark")
                    yield Points(sentences)
            case Section():
                yield from _pieces(block, cells, words)
            case Table():
                grid = grid_of(block, cells)
                if grid.columns:
                    role = "next heading" if block.is_continued else "heading"
                    yield from _lines([block.title], role, words)
                    yield from _lines(block.details, "remark", words)
                    yield grid
                    yield from _lines(block.notes, "remark", words)


def _lines(texts: Sequence[Text], role: str, words: Lines) -> Iterator[Line]:
    for text in filter(None, map(words.write, texts)):
        yield Line(text, role)  # type: ignore[arg-type]


def grid_of(table: Table, lines: Lines) -> Grid:
    """Return the non-empty columns of a table; numbers of a column are rounded together."""
    columns: list[GridColumn] = []
    name_columns = 0
    for i, column in enumerate(table.columns):
        cells = [row[i] for row in table.rows]
        if i < table.names - 1:  # a name that several rows share stands in the first of them
            cells = [None if k and x == cells[k - 1] else x for k, x in enumerate(cells)]
        quantities = [x for x in cells if isinstance(x, Quantity)]
        texts = ["" if isinstance(x, Quantity) else lines.write(x) for x in cells]
        is_numeric = not any(texts)
        if is_numeric and not quantities:
            continue
        numbers = iter(printed_column(quantities))
        printed = [next(numbers) if isinstance(x, Quantity) else None for x in cells]
        if is_numeric:  # the decimal points are at one place
            texts = list(map(lines.number, aligned(printed)))
        else:
            pairs = zip(printed, texts, strict=True)
            texts = [lines.number("".join(number)) if number else text for number, text in pairs]
        name_columns += i < table.names
        heading = lines.write(column.heading)
        columns.append(GridColumn(heading, texts, is_numeric, column.is_attached))
    return Grid(columns, name_columns if len(table.rows) > 1 else 0)


def aligned(numbers: Sequence[Printed | None]) -> list[str]:
    """Return numbers as texts of one width with their decimal points at the same place."""
    parts = [number or ("", "", "") for number in numbers]
    head, tail, limits = (max(map(len, each)) for each in zip(*parts, strict=True))
    return [a.rjust(head) + b.ljust(tail) + c.ljust(limits) for a, b, c in parts]


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
                padded = []
                for i, column in enumerate(piece.columns):
                    texts = [column.heading, *column.texts]
                    if i == 0:  # else "[" or "*" is an argument of the line break before it
                        texts = [f"{{}}{x}" if x.startswith(("[", "*")) else x for x in texts]
                    padded.append(_padded(texts, column.is_numeric))
                headings, *rows = (rf"{' & '.join(row)} \\" for row in zip(*padded, strict=True))
                columns = "".join("lr"[x.is_numeric] for x in piece.columns)
                head = [headings, r"\midrule"] if piece.has_headings else []
                written += ["", rf"\begin{{tabular}}{{{columns}}}", r"\toprule", *head, *rows]
                written += [r"\bottomrule", r"\end{tabular}", ""]
        written += [f"% {escaped(comment)}" for comment in comments]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(written)).rstrip("\n") + "\n"


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
                padded = []
                for column in piece.columns:
                    texts = [column.heading, *column.texts]
                    heading, *cells = _padded(texts, column.is_numeric, least=2)
                    rule = "-" * (cell_len(heading) - 1)
                    padded.append(
                        [heading, f"{rule}:" if column.is_numeric else f":{rule}", *cells]
                    )
                rows = (f"| {' | '.join(row)} |" for row in zip(*padded, strict=True))
                written.append("\n".join(rows))
    return "\n\n".join(written) + "\n"


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


def body(section: Section, lines: Lines) -> str:
    """Return the HTML of the pieces of a section; a title above a table is its caption."""
    pieces = list(pieces_of(section, lines, lines))
    written, title = "", ""
    for piece, next_piece in zip(pieces, [*pieces[1:], None], strict=True):
        match piece:
            case Line(role="title" | "heading" | "next heading") if isinstance(next_piece, Grid):
                title = piece.text
            case Grid():
                # A table; on paper, one that is too wide has a line for each of its cells.
                kinds, columns, headings = [], [], ""
                for column in piece.columns:
                    # Numbers with different things behind them stand at their points, others at
                    # the right.
                    is_ragged = any(text.endswith(" ") for text in column.texts)
                    kind = (
                        "" if not column.is_numeric else ' class="n"' if is_ragged else ' class="r"'
                    )
                    kinds.append(kind)
                    columns.append(
                        [_BLANKS.sub(_of_digits, x) if kind else x for x in column.texts]
                    )
                    heading = f'<th scope="col"{kind}><i>{column.heading}</i></th>'
                    headings += heading if column.heading else "<td></td>"
                longest = [
                    max(map(len, map(_without_marks, [x.heading, *x.texts]))) for x in piece.columns
                ]
                is_wide = sum(longest) + GAP * len(longest) > LETTERS_ON_PAPER
                names = [
                    f' data-name="{escape(_without_marks(x.heading))}"' * is_wide
                    for x in piece.columns
                ]
                rows = ""
                for texts in zip(*columns, strict=True):
                    rows += "<tr>"
                    for i, (text, kind) in enumerate(zip(texts, kinds, strict=True)):
                        is_name = i < piece.name_columns and text
                        cell = f"<td{kind}{names[i]}>{text}</td>"
                        rows += f'<th scope="row"{kind}>{text}</th>' if is_name else cell
                    rows += "</tr>"
                head = f"<thead><tr>{headings}</tr></thead>" if piece.has_headings else ""
                caption = f"<caption>{title}</caption>" if title else ""
                table = '<table class="wide">' if is_wide else "<table>"
                written += (
                    f'<div class="in">{table}{caption}{head}<tbody>{rows}</tbody></table></div>'
                )
                title = ""
            case Line(role=""):
                written += f"<p>{piece.text}</p>"
            case Line(role="note"):
                written += f"<p><i>{piece.text}</i></p>"
            case Line(role="remark"):
                written += f'<p class="in"><i>{piece.text}</i></p>'
            case Line():
                written += f'<p class="t"><b>{piece.text}</b></p>'
            case Pairs():
                rows = "".join(
                    f'<tr><th scope="row"><i>{name}</i></th><td>{text}</td></tr>'
                    for name, text in piece.pairs
                )
                written += f"<table><tbody>{rows}</tbody></table>"
            case Points():
                written += f"<ul>{''.join(f'<li>{x}</li>' for x in piece.sentences)}</ul>"
    return written


def _without_marks(text: str) -> str:
    return unescape(re.sub(r"<[^>]*>", "", text))


def _of_digits(blanks: re.Match[str]) -> str:
    return "" if blanks.end() == len(blanks.string) else _DIGIT * len(blanks[0])
