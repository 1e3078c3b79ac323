"""Documents as Markdown: tables with pipes, text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

from bioeval.showing.blocks import Section
from bioeval.showing.writers.lines import Lines
from bioeval.showing.writers.pieces import Grid, Line, Pairs, Points, pieces_of

# What Markdown would read as its marks, within a line and at its start.
_MARKS = re.compile(r"[\\`*_|~$]|<(?=[A-Za-z/!?])|&(?=#?\w+;)|(?<=\])\(")
_LINE_START = re.compile(r"^(?=[#>+=-])|^(\d+)(?=[.)] )")


class MarkdownLines(Lines):
    """Lines of Markdown."""

    line_break = "; "

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
        """Return a number without the blanks that align it."""
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
                written.append("\n".join(_pipes(piece)))
    return "\n\n".join(written) + "\n"


def _pipes(grid: Grid) -> Iterator[str]:
    padded = []
    for column in grid.columns:
        texts = [column.heading, *column.texts]
        width = max(2, *map(cell_len, texts))
        blanks = [" " * (width - cell_len(text)) for text in texts]
        rule = "-" * (width - 1)
        if column.is_numeric:
            heading, *cells = (blank + text for blank, text in zip(blanks, texts, strict=True))
            padded.append([heading, f"{rule}:", *cells])
        else:
            heading, *cells = (text + blank for blank, text in zip(blanks, texts, strict=True))
            padded.append([heading, f":{rule}", *cells])
    for row in zip(*padded, strict=True):
        yield f"| {' | '.join(row)} |"
