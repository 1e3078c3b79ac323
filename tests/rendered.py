"""Sections as every writer writes them, for tests of what studies say."""

import html
import re
from collections.abc import Callable

from bioeval.document.blocks import Section
from bioeval.views.writers.html import as_html
from bioeval.views.writers.latex import LatexLines, as_latex
from bioeval.views.writers.markdown import as_markdown
from bioeval.views.writers.terminal import as_text

#: Names of systems that look like terms, or have a meaning in a form of text.
HOSTILE = ("FAR-net", "<b>", "{far}", "$x$", "a|b", "\\alpha")

#: The lecture's terms that a view in ISO's vocabulary has nowhere but in its list of terms.
_LECTURE = re.compile(r"\b(FAR|FRR|GAR|GRR|DIR|CMS)\b|false (accept|reject)")

WRITERS: dict[str, Callable[[Section, str], str]] = {
    "terminal": lambda section, words: as_text(section, 100, words),
    "narrow": lambda section, words: as_text(section, 60, words),
    "html": as_html,
    "latex": as_latex,
    "markdown": as_markdown,
}


def escaped(name: str, writer: str) -> set[str]:
    """Return how a name may be written in a form of text."""
    if writer == "html":
        return {html.escape(name)}
    if writer == "markdown":
        return {re.sub(r"([\\`*_{}\[\]<>|$~])", r"\\\1", name), re.sub(r"([\\<|$])", r"\\\1", name)}
    if writer == "latex":  # in a comment it is as it is
        return {name, LatexLines().literal(name)}
    return {name}


def require_names_kept(section_of: Callable[[str], Section]) -> None:
    """Check that the name of a system is written as it is, and ISO's terms elsewhere."""
    for name in HOSTILE:
        section = section_of(name)
        for writer, write in WRITERS.items():
            for vocabulary in ("lecture", "iso"):
                text = write(section, vocabulary)
                kept = [x for x in escaped(name, writer) if x in text]
                assert kept, (name, writer, text)
                if vocabulary == "iso":
                    for form in kept:
                        text = text.replace(form, "")
                    assert not lecture_terms(text), (name, writer, text)


def lecture_terms(text: str) -> list[str]:
    """Return the lecture's terms of a text, without those of the list of terms."""
    text = re.sub(r"biometrics\s+lecture,(.|\n)*?(\n\s*\n|\n%|</td>)", "", text, count=1)
    return [match[0] for match in _LECTURE.finditer(text)]
