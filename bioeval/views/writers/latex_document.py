"""A document as LaTeX that compiles on its own: headings, sentences and tables."""

from __future__ import annotations

from collections.abc import Iterator

from bioeval.document.blocks import Block, Facts, Messages, Paragraph, Section, Table
from bioeval.views.writers.columns import PrintedColumn, printed_columns
from bioeval.views.writers.latex import LatexLines, tabular
from bioeval.views.writers.lines import Lines, Naming, python_naming

_HEAD = r"""\documentclass[a4paper,11pt]{article}
\usepackage[T1]{fontenc}
\usepackage[margin=2cm]{geometry}
\usepackage{array,booktabs,tabularx}
\newcolumntype{L}{>{\raggedright\arraybackslash}X}
\newcolumntype{R}{>{\raggedleft\arraybackslash}X}
\setlength{\parindent}{0pt}
\setlength{\parskip}{6pt}
\begin{document}"""

_END = r"\end{document}"

_HEADINGS = (r"\section*", r"\subsection*", r"\subsubsection*")

#: Characters of the widest table that fits on a line of A4, and of a column that may be broken.
_WIDEST, _BROKEN = 80, 13


def as_latex_document(
    section: Section, vocabulary: str = "lecture", naming: Naming = python_naming
) -> str:
    """Return a document as LaTeX that compiles on its own.

    Names with letters that the font of pdfLaTeX lacks need LuaLaTeX or XeLaTeX.
    """
    lines = LatexLines(vocabulary, section.task, naming)
    parts = [_HEAD, *_section(section, lines, section, 0), _END]
    return "\n\n".join(parts) + "\n"


def _section(section: Section, lines: Lines, whole: Section, level: int) -> Iterator[str]:
    lines = lines.within(section)
    if title := lines.write(section.title):
        yield f"{_HEADINGS[min(level, len(_HEADINGS) - 1)]}{{{title}}}"
        level += 1
    for block in section.blocks:
        yield from _block(block, lines, whole, level)


def _block(block: Block, lines: Lines, whole: Section, level: int) -> Iterator[str]:
    match block:
        case Paragraph():
            if text := lines.write(block.text):
                yield lines.strong(text) if block.role in ("answer", "warning") else text
        case Facts():
            items = [rf"\item[{fact.name}] {x}" for fact, x in lines.facts(block, whole)]
            if items:
                yield "\n".join([r"\begin{description}", *items, r"\end{description}"])
        case Table():
            yield from _table(block, lines)
        case Messages():
            for about, sentences in lines.sentences_about(block.messages).items():
                for sentence in sentences:
                    yield f"{about}: {sentence}" if about else sentence
        case Section():
            yield from _section(block, lines, whole, level)


def _table(table: Table, lines: Lines) -> Iterator[str]:
    columns = printed_columns(table, lines)
    if not columns:
        return
    if title := lines.write(table.title):
        yield lines.strong(title)
    yield from filter(None, map(lines.write, table.details))
    kinds = _kinds(columns)
    yield "\n".join([r"{\small", *tabular(columns, kinds), "}"])
    yield from filter(None, map(lines.write, table.notes))


def _kinds(columns: list[PrintedColumn]) -> str:
    """Return the kind of each column: in a wide table, ``L`` and ``R`` break what is long."""
    widths = []
    for column in columns:
        widths.append(max(map(len, [column.heading, *column.texts])))
    is_wide = sum(widths) + 2 * len(widths) > _WIDEST
    kinds = []
    for column, width in zip(columns, widths, strict=True):
        kind = "r" if column.numeric else "l"
        kinds.append(kind.upper() if is_wide and width > _BROKEN else kind)
    return "".join(kinds)
