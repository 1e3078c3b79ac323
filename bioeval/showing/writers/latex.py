"""Documents as LaTeX: tables with the rules of booktabs, sentences as comments or as text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bioeval.base.errors import escaped
from bioeval.showing.blocks import Section
from bioeval.showing.writers.lines import Lines
from bioeval.showing.writers.pieces import Grid, Line, Pairs, Points, pieces_of

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
        return rf"\texttt{{{self.literal(text)}}}"

    def number(self, text: str) -> str:
        """Return a number with minus signs, its unit after a thin space."""
        text = _MINUS.sub("\u2212", " ".join(text.split()))
        return self.literal(text).replace(r" \%", r"\,\%")


class _Words(Lines):
    """Lines of a comment."""

    line_break = "; "


def as_latex(section: Section) -> str:
    """Return the tables of a document as LaTeX, and its other parts as comments."""
    cells, words = (kind(section.task) for kind in (LatexLines, _Words))
    written = [r"% needs \usepackage{booktabs}"]
    for piece in pieces_of(section, cells, words):
        if isinstance(piece, Grid):
            written += ["", *_tabular(piece), ""]
            continue
        match piece:
            case Line():
                comments = [piece.text]
            case Pairs():
                comments = [f"{name}: {text}" for name, text in piece.pairs]
            case Points():
                comments = [f"- {sentence}" for sentence in piece.sentences]
        written += [f"% {escaped(comment)}" for comment in comments]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(written)).rstrip("\n") + "\n"


def as_latex_document(section: Section) -> str:
    """Return a document as LaTeX that compiles on its own.

    Names with letters that the font of pdfLaTeX lacks need LuaLaTeX or XeLaTeX.
    """
    lines = LatexLines(section.task)
    written = [_HEAD]
    for piece in pieces_of(section, lines, lines):
        match piece:
            case Line(role="title"):
                heading = ("section", "subsection", "subsubsection")[min(piece.level, 2)]
                written.append(rf"\{heading}*{{{piece.text}}}")
            case Line(role="" | "note" | "remark"):
                written.append(piece.text)
            case Line():
                written.append(rf"\textbf{{{piece.text}}}")
            case Pairs():
                written.append(_list("description", (rf"[{x}] {text}" for x, text in piece.pairs)))
            case Points():
                written.append(_list("itemize", (f" {{}}{x}" for x in piece.sentences)))
            case Grid():
                written.append("\n".join(_tabular(piece)))
    return "\n\n".join([*written, r"\end{document}"]) + "\n"


_HEAD = r"""\documentclass[a4paper,11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[margin=2cm]{geometry}
\usepackage{booktabs}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt}
\begin{document}"""


def _list(kind: str, items: Iterator[str]) -> str:
    lines = [rf"\begin{{{kind}}}", *(rf"\item{item}" for item in items), rf"\end{{{kind}}}"]
    return "\n".join(lines)


def _tabular(grid: Grid) -> Iterator[str]:
    padded = []
    for i, column in enumerate(grid.columns):
        texts = [column.heading, *column.texts]
        if i == 0:  # else "[" or "*" is an argument of the line break before it
            texts = [f"{{}}{x}" if x.startswith(("[", "*")) else x for x in texts]
        width = max(map(len, texts))
        pad = str.rjust if column.is_numeric else str.ljust
        padded.append([pad(text, width) for text in texts])
    headings, *rows = zip(*padded, strict=True)
    yield rf"\begin{{tabular}}{{{''.join('lr'[x.is_numeric] for x in grid.columns)}}}"
    yield r"\toprule"
    if grid.has_headings:
        yield rf"{' & '.join(headings)} \\"
        yield r"\midrule"
    for row in rows:
        yield rf"{' & '.join(row)} \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"
