"""Documents as LaTeX: tables with the rules of booktabs, sentences as comments or as text."""

from __future__ import annotations

from collections.abc import Iterator

from bioeval.base.errors import escaped
from bioeval.document.blocks import Section
from bioeval.views.writers.columns import PrintedColumn
from bioeval.views.writers.lines import Lines
from bioeval.views.writers.numbers import NOT_DEFINED, Printed
from bioeval.views.writers.pieces import pieces_of

_ESCAPED = str.maketrans(
    {
        **{c: f"\\{c}" for c in "%&#$_{}"},
        **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
        **{"|": r"\textbar{}", "<": "$<$", ">": "$>$", "\u2264": r"$\leq$", "\u2265": r"$\geq$"},
        **{"\u00b1": r"$\pm$", "\u00d7": r"$\times$", "\u2212": "$-$", "\u2013": "--"},
    }
)


class LatexLines(Lines):
    """Lines of LaTeX."""

    line_break = "; "

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
        """Return text as code."""
        return rf"\texttt{{{self.literal(text)}}}"

    def number(self, number: Printed) -> str:
        """Return a number with a minus sign, its unit after a thin space."""
        if number.number == NOT_DEFINED:
            return NOT_DEFINED
        before = f"{self.literal(number.before)} " if number.before else ""
        unit = {"": "", "%": r"\,\%"}.get(number.unit, f" {self.literal(number.unit)}")
        deviation = rf" $\pm$ {number.deviation}" if number.deviation else ""
        text = f"{before}{_signed(number.number)}{deviation}{unit}{number.mark}"
        if number.limits is not None:
            low, high = map(_signed, number.limits)
            text = f"{text} [{low}, {high}]"
        return text

    def strong(self, text: str) -> str:
        """Return bold text."""
        return rf"\textbf{{{text}}}"


class _Words(Lines):
    """Lines of a comment."""

    line_break = "; "


def _signed(number: str) -> str:
    return f"$-${number[1:]}" if number.startswith("-") else number


def as_latex(section: Section, vocabulary: str = "lecture") -> str:
    """Return the tables of a document as LaTeX, and its other parts as comments."""
    words = _Words(vocabulary, section.task)
    cells = LatexLines(vocabulary, section.task)
    written: list[str] = []
    comments: list[str] = []
    packages = "booktabs"
    for kind, value, _ in pieces_of(section, cells, words):
        match kind:
            case "table":
                written += [_commented(comments)] * bool(comments)
                written.append("\n".join(_of_paper(value)))
                comments = []
                if r"\begin{tabularx}" in written[-1]:
                    packages = "array,booktabs,tabularx"
            case "facts":
                comments += [f"{name}: {text}" for name, text in value]
            case "messages":
                for about, sentences in value.items():
                    comments += [f"{about}: {x}" if about else x for x in sentences]
            case _:
                comments.append(value)
    written += [_commented(comments)] * bool(comments)
    needs = rf"% needs \usepackage{{{packages}}}"
    together = written and written[0].startswith("%")  # comments follow each other
    return needs + ("\n" if together else "\n\n") + "\n\n".join(written) + "\n"


def _commented(texts: list[str]) -> str:
    return "\n".join(f"% {escaped(text)}" for text in texts)


def as_latex_document(section: Section, vocabulary: str = "lecture") -> str:
    """Return a document as LaTeX that compiles on its own.

    Names with letters that the font of pdfLaTeX lacks need LuaLaTeX or XeLaTeX.
    """
    lines = LatexLines(vocabulary, section.task)
    written = [_HEAD]
    for kind, value, level in pieces_of(section, lines, lines):
        match kind:
            case "title":
                written.append(f"{_HEADINGS[min(level, len(_HEADINGS) - 1)]}{{{value}}}")
            case "strong":
                written.append(lines.strong(value))
            case "text":
                written.append(value)
            case "facts":
                items = [rf"\item[{name}] {text}" for name, text in value]
                parts = [r"\begin{description}", *items, r"\end{description}"]
                written.append("\n".join(parts))
            case "table":
                written.append("\n".join(_of_paper(value)))
            case "messages":
                for about, sentences in value.items():
                    written += [f"{about}: {x}" if about else x for x in sentences]
    return "\n\n".join([*written, _END]) + "\n"


_HEAD = r"""\documentclass[a4paper,11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[margin=2cm]{geometry}
\usepackage{array,booktabs,tabularx}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt}
\begin{document}"""

_END = r"\end{document}"

_HEADINGS = (r"\section*", r"\subsection*", r"\subsubsection*")

#: Characters of the widest table that fits on a line of a paper, in normal and in small type, and
#: of text that is not broken.
_WIDEST, _SMALL, _BROKEN = 68, 100, 13


def _of_paper(columns: list[PrintedColumn]) -> Iterator[str]:
    """Yield a table as wide as a line of a paper: a wide one in small type, with long text broken.

    Numbers are not broken, but a heading that is longer than the numbers of its column is.
    """
    kinds, width, of_cells = "", 2 * len(columns), 2 * len(columns)
    for column in columns:
        longest = max(map(len, column.texts), default=0)
        width += max(longest, len(column.heading))
        of_cells += longest if column.numeric else min(longest, _BROKEN)
        if column.numeric:
            kinds += "R" if len(column.heading) > max(longest, _BROKEN) else "r"
        else:
            kinds += "L" if max(longest, len(column.heading)) > _BROKEN else "l"
    if width <= _WIDEST:
        yield from _tabular(columns, kinds.lower())
        return
    if kinds.islower() and "l" in kinds:  # else the table stays as wide as it is
        kinds = kinds.replace("l", "L", 1)
    size, space = ("footnotesize", 4) if of_cells <= _SMALL else ("scriptsize", 2)
    yield rf"{{\{size}\setlength{{\tabcolsep}}{{{space}pt}}"
    for line in _tabular(columns, kinds):
        if line.startswith(r"\begin"):  # no other capital letters are in it
            for kind, side in (("L", "right"), ("R", "left")):
                line = line.replace(kind, rf">{{\ragged{side}\arraybackslash}}X")
        yield line
    yield "}"


def _tabular(columns: list[PrintedColumn], kinds: str) -> Iterator[str]:
    """Yield the lines of a ``tabular``; the first row is the heading.

    With a column of the kind ``L`` or ``R``, whose text is broken, it is as wide as the page.
    """
    form, of_page = "tabular", ""
    if "L" in kinds or "R" in kinds:
        form, of_page = "tabularx", r"{\linewidth}"
    padded = []
    for i, column in enumerate(columns):
        texts = [column.heading, *column.texts]
        if i == 0:  # else "[" or "*" is an argument of the line break before it
            texts = [f"{{}}{x}" if x.startswith(("[", "*")) else x for x in texts]
        width = max(map(len, texts))
        pad = str.rjust if column.numeric else str.ljust
        padded.append([pad(text, width) for text in texts])
    heads, *rows = zip(*padded, strict=True)
    yield f"\\begin{{{form}}}{of_page}{{{kinds}}}"
    yield "\\toprule"
    if any(column.heading for column in columns):
        yield f"{' & '.join(heads)} \\\\"
        yield "\\midrule"
    for row in rows:
        yield f"{' & '.join(row)} \\\\"
    yield "\\bottomrule"
    yield f"\\end{{{form}}}"
