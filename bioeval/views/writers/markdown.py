"""Documents as Markdown: tables with pipes, text escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.cells import cell_len

from bioeval.document.blocks import Section
from bioeval.views.writers.columns import PrintedColumn
from bioeval.views.writers.lines import Lines
from bioeval.views.writers.pieces import pieces_of

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
        """Return text as code."""
        return super().code(text).replace("|", r"\|")

    def strong(self, text: str) -> str:
        """Return bold text."""
        return f"**{text}**"


def as_markdown(section: Section, vocabulary: str = "lecture") -> str:
    """Return a document as Markdown."""
    lines = MarkdownLines(vocabulary, section.task)
    written = []
    for kind, value, _ in pieces_of(section, lines, lines):
        match kind:
            case "title" | "strong":
                written.append(lines.strong(value))
            case "text":
                written.append(_LINE_START.sub(r"\1\\", value))
            case "facts":
                written.append("\n".join(f"- {name}: {text}" for name, text in value))
            case "table":
                written.append("\n".join(_pipes(value)))
            case "messages":
                written.append("**Warnings**")
                for about, sentences in value.items():
                    written += [about] * bool(about)
                    written.append("\n".join(f"- {text}" for text in sentences))
    return "\n\n".join(written) + "\n"


def _pipes(columns: list[PrintedColumn]) -> Iterator[str]:
    """Yield the lines of a table; the first row is the heading."""
    padded = []
    for column in columns:
        texts = [column.heading, *column.texts]
        width = max(2, *map(cell_len, texts))
        blanks = [" " * (width - cell_len(text)) for text in texts]
        if column.numeric:
            cells = [blank + text for blank, text in zip(blanks, texts, strict=True)]
            rule = f"{'-' * (width - 1)}:"
        else:
            cells = [text + blank for blank, text in zip(blanks, texts, strict=True)]
            rule = f":{'-' * (width - 1)}"
        padded.append([cells[0], rule, *cells[1:]])
    for row in zip(*padded, strict=True):
        yield f"| {' | '.join(row)} |"
