"""What is printed of an exam: its questions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bioeval.document import Paragraph, Section, Text, say
from bioeval.studies.exam.question import Question

if TYPE_CHECKING:
    from bioeval.studies.exam.exam import Exam


def section(exam: Exam) -> Section:
    """Return the questions of an exam."""
    blocks = []
    for k, question in enumerate(exam.questions, start=1):
        asked = map(Paragraph, parts(question.asked))
        blocks.append(Section(f"question_{k}", title(k, question), (*question.setting, *asked)))
    return Section("exam", heading("Exam", exam.variant), blocks)


def heading(noun: str, variant: int) -> str:
    """Return the title of an exam or of its solutions, with its variant from the second on."""
    return noun if variant == 1 else f"{noun}, variant {variant}"


def title(k: int, question: Question) -> str:
    """Return the title of a question."""
    return f"Question {k}: {question.title}"


def parts(asked: tuple[Text, ...]) -> Iterator[Text]:
    """Yield the parts of a question, with their letters."""
    for letter, text in zip("abcdefgh", asked, strict=False):
        yield say("({letter:name}) {text}", letter=letter, text=text)
