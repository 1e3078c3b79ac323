"""What is printed of the solutions of an exam."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bioeval.document import Section, Table
from bioeval.studies.exam.section import heading, title

if TYPE_CHECKING:
    from bioeval.studies.exam.exam import Solutions


def section(solutions: Solutions) -> Section:
    """Return the solution of each question, after its table."""
    blocks = []
    for k, question in enumerate(solutions.questions, start=1):
        given = [block for block in question.setting if isinstance(block, Table)]
        blocks.append(Section(f"question_{k}", title(k, question), (*given, *question.solution)))
    return Section("solutions", heading("Solutions", solutions.variant), blocks)
