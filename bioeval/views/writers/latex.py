"""Documents as LaTeX: tables with the rules of the package booktabs, sentences as comments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bioeval.base.errors import escaped
from bioeval.document.blocks import Block, Facts, Messages, Paragraph, Section, Table
from bioeval.views.writers.columns import PrintedColumn, printed_columns
from bioeval.views.writers.lines import Lines, Naming, python_naming
from bioeval.views.writers.numbers import NOT_DEFINED, Printed

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


def as_latex(section: Section, vocabulary: str = "lecture", naming: Naming = python_naming) -> str:
    """Return the tables of a document as LaTeX, and its other parts as comments."""
    words = _Words(vocabulary, section.task, naming)
    lines = LatexLines(vocabulary, section.task, naming)
    blocks = list(_section(section, lines, words, section))
    packages = "booktabs"
    if any(line.startswith(r"\begin{tabularx}") for block in blocks for line in block):
        packages = "array,booktabs,tabularx"
    blocks.insert(0, [rf"% needs \usepackage{{{packages}}}"])
    written: list[str] = []
    after_comment = False
    for block in filter(any, blocks):
        comment = block[0].startswith("%")
        if written and not (comment and after_comment):  # comments follow each other
            written.append("")
        written += block
        after_comment = comment
    return "\n".join(written) + "\n"


def _section(section: Section, lines: Lines, words: Lines, whole: Section) -> Iterator[list[str]]:
    lines, words = lines.within(section), words.within(section)
    yield _comments([words.write(section.title)])
    for block in section.blocks:
        yield from _block(block, lines, words, whole)


def _block(block: Block, lines: Lines, words: Lines, whole: Section) -> Iterator[list[str]]:
    match block:
        case Paragraph():
            yield _comments([words.write(block.text)])
        case Facts():
            facts = words.facts(block, whole)
            yield _comments([f"{fact.name}: {text}" for fact, text in facts])
        case Table():
            if columns := printed_columns(block, lines):
                yield _comments(map(words.write, (block.title, *block.details)))
                yield list(_of_paper(columns))
                yield _comments(map(words.write, block.notes))
        case Messages():
            written = []
            for about, sentences in words.sentences_about(block.messages).items():
                written += [f"{about}: {x}" if about else x for x in sentences]
            yield _comments(written)
        case Section():
            yield from _section(block, lines, words, whole)


def _comments(texts: Iterator[str] | Sequence[str] | dict[str, None] | map[str]) -> list[str]:
    return [f"% {escaped(text)}" for text in texts if text]


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
        yield from tabular(columns, kinds.lower())
        return
    if kinds.islower() and "l" in kinds:  # else the table stays as wide as it is
        kinds = kinds.replace("l", "L", 1)
    size, space = ("footnotesize", 4) if of_cells <= _SMALL else ("scriptsize", 2)
    yield rf"{{\{size}\setlength{{\tabcolsep}}{{{space}pt}}"
    for line in tabular(columns, kinds):
        if line.startswith(r"\begin"):  # no other capital letters are in it
            for kind, side in (("L", "right"), ("R", "left")):
                line = line.replace(kind, rf">{{\ragged{side}\arraybackslash}}X")
        yield line
    yield "}"


def tabular(columns: list[PrintedColumn], kinds: str) -> Iterator[str]:
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
