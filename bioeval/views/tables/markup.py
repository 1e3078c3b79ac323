"""Tables as Markdown, or as LaTeX for the package booktabs, from what they yield for rich."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

from bioeval.base.errors import escaped
from bioeval.views.tables.layout import leaves, wide_console
from bioeval.views.writers.terminal import TerminalDocument

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
    """Return a table for rich as Markdown, or as LaTeX with sentences as comments."""
    if isinstance(table, TerminalDocument):
        return table.marked_up(form)
    console = wide_console()
    latex = form == "latex"
    blocks = []
    if latex:
        blocks.append(["% needs \\usepackage{booktabs}"])
    for _, item in leaves(table, console):
        if isinstance(item, Table) and item.show_header:
            if latex:
                blocks.append(list(_tabular(list(_columns(item, console, in_latex)))))
            else:
                blocks.append(list(_pipes(list(_columns(item, console, in_markdown)))))
            continue
        lines = [_plain(item, console)]
        if isinstance(item, Table):
            lines = list(map(_fact, _rows(item, console)))
        if latex:
            blocks.append([f"% {line}" for line in lines if line])
        elif isinstance(item, Table):
            blocks.append([f"- {in_markdown(line)}" for line in lines])
        else:
            style = console.get_style(getattr(item, "style", ""))
            blocks.append([_paragraph(lines[0], bool(style.bold))])
    written: list[str] = []
    after_comment = False
    for block in filter(any, blocks):
        comment = latex and block[0].startswith("%")
        if written and not (comment and after_comment):  # comments follow each other
            written.append("")
        written += block
        after_comment = comment
    return "\n".join(written) + "\n"


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
    texts = []
    for _, part in leaves(item, console):
        if isinstance(part, Table):
            texts.append(_fact(itertools.chain.from_iterable(_rows(part, console))))
        else:
            texts.append(str(part))
    return escaped(" ".join(" ".join(texts).split()))


def _rows(table: Table, console: Console) -> Iterator[list[str]]:
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        yield [_plain(cell, console) for cell in cells]


@dataclass(frozen=True)
class _MarkedColumn:
    """A column of a table: its heading and its cells, and whether these are numbers alone."""

    texts: list[str]
    numeric: bool

    def padded(self) -> Iterator[str]:
        """Yield its texts in one width, numbers flush right."""
        width = max(2, *map(cell_len, self.texts))
        for text in self.texts:
            blanks = " " * (width - cell_len(text))
            if self.numeric:
                yield blanks + text
            else:
                yield text + blanks


def _columns(
    table: Table, console: Console, written: Callable[[str], str]
) -> Iterator[_MarkedColumn]:
    """Yield the columns of a table that are not empty, their texts as they are `written`."""
    for column in table.columns:
        cells = [_plain(cell, console) for cell in column.cells]
        texts = [_plain(column.header, console), *cells]
        if any(texts):
            numeric = any(cells) and all(map(_NUMBER.match, filter(None, cells)))
            yield _MarkedColumn(list(map(written, texts)), numeric)


def _padded(columns: Iterable[_MarkedColumn]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of columns, the headings first."""
    return zip(*map(_MarkedColumn.padded, columns), strict=True)


def _fact(cells: Iterable[str]) -> str:
    """Return a name with its text, or an entry of a list."""
    name, *others = cells
    text = " ".join(filter(None, others))
    if name not in ("", "-") and text:
        return f"{name}: {text}"
    return text or name


def _pipes(columns: Sequence[_MarkedColumn]) -> Iterator[str]:
    """Yield the lines of a table of Markdown; the first row is the heading."""
    heads, *rows = _padded(columns)
    yield f"| {' | '.join(heads)} |"
    rules = []
    for column, head in zip(columns, heads, strict=True):
        dashes = "-" * (cell_len(head) - 1)
        rules.append(f"{dashes}:" if column.numeric else f":{dashes}")
    for row in (rules, *rows):
        yield f"| {' | '.join(row)} |"


def _tabular(columns: Sequence[_MarkedColumn]) -> Iterator[str]:
    """Yield the lines of a ``tabular`` with the rules of booktabs; the first row is the heading."""
    first = columns[0].texts
    for i, text in enumerate(first):
        if text.startswith(("[", "*")):  # else an argument of the line break before it
            first[i] = f"{{}}{text}"
    heads, *rows = _padded(columns)
    yield f"\\begin{{tabular}}{{{''.join('r' if x.numeric else 'l' for x in columns)}}}"
    yield "\\toprule"
    if any(map(str.strip, heads)):
        yield f"{' & '.join(heads)} \\\\"
        yield "\\midrule"
    for row in rows:
        yield f"{' & '.join(row)} \\\\"
    yield "\\bottomrule"
    yield "\\end{tabular}"
