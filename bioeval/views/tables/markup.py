"""Tables as Markdown, or as LaTeX for the package booktabs, from what they yield for rich."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from bioeval.base.errors import escaped
from bioeval.views.tables.layout import leaves, wide_console

Form = Literal["markdown", "latex"]

# Negative numbers and ranges get the signs of typesetting.
_MINUS = re.compile(r"(?<![\w.)\]])-(?=\d)")
_RANGE = re.compile(r"(?<=\d) - (?=[\d\u2212])")
_PER_CENT = re.compile(r"(?<=\d) \\%")
_NUMBER = re.compile(r"[-+<>]? ?\d[\d,.]*(e[-+]\d+)?( %| pp)?( [\[±].*)?$|n/a$|-$|[-+]?inf$")

_LATEX = str.maketrans(
    {
        **{c: f"\\{c}" for c in "%&#$_{}"},
        **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
        **{"|": r"\textbar{}", "<": "$<$", ">": "$>$", "\u2264": r"$\leq$", "\u2265": r"$\geq$"},
        **{"\u00b1": r"$\pm$", "\u00d7": r"$\times$", "\u2212": "$-$", "\u2013": "--"},
    }
)

_MARKS = re.compile(r"[\\`*_|~$]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<=\])\(")
_LINE_START = re.compile(r"^(?=[#>+=-])|^(\d+)(?=[.)] )")


def as_markup(table: Any, form: Form) -> str:
    """Return a table that rich can print as Markdown or as LaTeX.

    Sentences are paragraphs of Markdown, and comments of LaTeX.
    """
    console = wide_console()
    latex = form == "latex"
    blocks: list[list[str]] = [["% needs \\usepackage{booktabs}"]] if latex else []
    for _, item in leaves(table, console):
        if isinstance(item, Table):
            rows = [[_plain(cell, console) for cell in row] for row in _rows(item)]
            if item.show_header:
                heads = [_plain(column.header, console) for column in item.columns]
                blocks.append([*(_tabular if latex else _pipes)(*_filled([heads, *rows]))])
                continue
            lines = [_fact(row) for row in rows]
            if not latex:
                blocks.append([f"- {in_markdown(line)}" for line in lines])
                continue
        else:
            lines = [_plain(item, console)]
            if not latex:
                style = "" if isinstance(item, str) else item.style
                blocks.append([_paragraph(lines[0], bool(console.get_style(style).bold))])
                continue
        blocks.append([f"% {line}" for line in lines if line])
    kept = [block for block in blocks if any(block)]
    joined: list[str] = []
    for before, block in zip([[""], *kept], kept, strict=False):
        # Comments follow each other; all else is apart.
        together = latex and before[0].startswith("%") and block[0].startswith("%")
        joined += [*([] if together or not joined else [""]), *block]
    return "\n".join(joined) + "\n"


def in_latex(text: str) -> str:
    r"""Return text with the characters of LaTeX escaped.

    Examples
    --------
    >>> print(in_latex("a_1 & b: -0.5 %, FAR <= 1 %"))
    a\_1 \& b: $-$0.5\,\%, FAR $\leq$ 1\,\%
    """
    text = text.replace("<=", "\u2264").replace(">=", "\u2265")
    text = _RANGE.sub(" \u2013 ", _MINUS.sub("\u2212", text))
    return _PER_CENT.sub(r"\\,\\%", text.translate(_LATEX))


def in_markdown(text: str) -> str:
    r"""Return text with the characters of Markdown escaped.

    Examples
    --------
    >>> print(in_markdown("a_1 | <b> 5 %"))
    a\_1 \| \<b> 5 %
    """
    return _MARKS.sub(lambda found: "&amp;" if found[0] == "&" else f"\\{found[0]}", text)


def _paragraph(text: str, bold: bool) -> str:
    written = in_markdown(text)
    if bold and text:
        return f"**{written}**"
    return _LINE_START.sub(r"\1\\", written)


def _plain(item: Any, console: Console) -> str:
    """Return the text of a cell or a line, with single blanks."""
    parts = (part for _, part in leaves(item, console))
    said = (
        _fact(sum(([_plain(x, console) for x in row] for row in _rows(part)), []))
        if isinstance(part, Table)
        else str(part)
        for part in parts
    )
    return escaped(" ".join(" ".join(said).split()))


def _rows(table: Table) -> Iterator[tuple[Any, ...]]:
    return zip(*(column.cells for column in table.columns), strict=True)


def _filled(rows: list[list[str]]) -> tuple[list[list[str]], list[bool]]:
    """Return heading and rows without empty columns, and which columns hold numbers alone."""
    columns = [column for column in zip(*rows, strict=True) if any(column)]
    right = [
        all(_NUMBER.match(text) for text in column[1:] if text) and any(column[1:])
        for column in columns
    ]
    return [list(row) for row in zip(*columns, strict=True)], right


def _fact(cells: Sequence[str]) -> str:
    """Return a name with its text, or an entry of a list."""
    name, *others = cells
    text = " ".join(filter(None, others))
    if name not in ("", "-") and text:
        return f"{name}: {text}"
    return text or name


def _padded(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[list[str]]:
    widths = [max(2, *map(cell_len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        blanks = [" " * (w - cell_len(x)) for x, w in zip(row, widths, strict=True)]
        yield [b + x if r else x + b for x, b, r in zip(row, blanks, right, strict=True)]


def _pipes(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    """Yield the lines of a table of Markdown; the first row is the heading."""
    cells = [[in_markdown(cell) for cell in row] for row in rows]
    for i, row in enumerate(_padded(cells, right)):
        yield f"| {' | '.join(row)} |"
        if i == 0:
            rules = ("-" * (cell_len(x) - 1) for x in row)
            marks = (f"{x}:" if r else f":{x}" for x, r in zip(rules, right, strict=True))
            yield f"| {' | '.join(marks)} |"


def _tabular(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    """Yield the lines of a ``tabular`` with the rules of booktabs; the first row is the heading."""
    cells = [[in_latex(cell) for cell in row] for row in rows]
    headed = any(cells[0])
    for row in cells:
        if row[0].startswith(("[", "*")):  # else an argument of the line break before it
            row[0] = f"{{}}{row[0]}"
    yield f"\\begin{{tabular}}{{{''.join('r' if x else 'l' for x in right)}}}"
    yield "\\toprule"
    for i, row in enumerate(_padded(cells, right)):
        if i or headed:
            yield f"{' & '.join(row)} \\\\"
        if i == 0 and headed:
            yield "\\midrule"
    yield "\\bottomrule"
    yield "\\end{tabular}"
