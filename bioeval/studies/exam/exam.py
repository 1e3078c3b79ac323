"""Exams: questions that are drawn from a seed, with solutions."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bioeval import DataError, to_latex, to_markdown
from bioeval.base import (
    Argument,
    RandomState,
    Stream,
    received,
    require_choice,
    require_integer,
    require_list,
    seed_sequence,
)
from bioeval.scores import replacing
from bioeval.studies.exam.identification import question_of_closed_set, question_of_open_set, ties
from bioeval.studies.exam.other_people import threshold_of_others
from bioeval.studies.exam.question import Draws, Question
from bioeval.studies.exam.retrieval import re_identification
from bioeval.studies.exam.verification import all_templates, rates_of_each_class, single_template
from bioeval.views import Shown

#: The topics of questions, in the order in which they stand in an exam.
TOPICS: dict[str, Callable[[Draws], Question]] = {
    "rates": rates_of_each_class,
    "verification": single_template,
    "multi-template": all_templates,
    "threshold": threshold_of_others,
    "open-set": question_of_open_set,
    "closed-set": question_of_closed_set,
    "ties": ties,
    "reid": re_identification,
}

#: The endings of the files in which an exam is written.
ENDINGS = (".md", ".tex", ".txt")

#: More questions, or variants, are refused.
_MOST = 1000


@dataclass(frozen=True, repr=False)
class Solutions(Shown):
    """The solutions of an exam, which ``print`` shows.

    Attributes
    ----------
    questions : tuple of Question
    variant : int
    """

    questions: tuple[Question, ...]
    variant: int = 1

    def __repr__(self) -> str:
        return f"<Solutions of {len(self.questions)} questions; print shows them>"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the solutions to a file, as :meth:`Exam.save` writes the exam."""
        _save(self, path)


@dataclass(frozen=True, repr=False)
class Exam(Shown):
    """Result of :func:`exam`: an exam that ``print`` shows, with its solutions.

    Attributes
    ----------
    questions : tuple of Question
        Each has its arrays in ``given`` and the numbers that are asked for in ``answers``.
    variant : int
    """

    questions: tuple[Question, ...]
    variant: int = 1

    def __repr__(self) -> str:
        return f"<Exam of {len(self.questions)} questions; print shows them>"

    @property
    def solutions(self) -> Solutions:
        """The solutions, step by step."""
        return Solutions(self.questions, self.variant)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the exam to a file: Markdown (.md), LaTeX (.tex) or plain text (.txt)."""
        _save(self, path)

    def document(self) -> dict[str, Any]:
        """Return the arrays and the answers of each question as plain values, for JSON."""
        questions = [question.document() for question in self.questions]
        return {"variant": self.variant, "questions": questions}


def require_ending(path: str | os.PathLike[str], argument: str) -> Path:
    """Return a path whose ending says how an exam is written, or raise :class:`DataError`."""
    place = Path(path)
    if place.suffix not in ENDINGS:
        raise DataError(
            Argument(argument),
            f" is {received(str(path))}; expected a name that ends in {', '.join(ENDINGS[:-1])} or "
            f"{ENDINGS[-1]}",
        )
    return place


def _save(sheet: Exam | Solutions, path: str | os.PathLike[str]) -> None:
    """Write an exam or its solutions in the form that the ending of a path names."""
    place = require_ending(path, "path")
    if place.suffix == ".md":
        text = to_markdown(sheet)
    elif place.suffix == ".tex":
        text = to_latex(sheet, document=True)
    else:
        text = str(sheet)
    with replacing(place) as part:
        part.write_text(text, encoding="utf-8", newline="\n")


def exam(
    questions: int = 5,
    *,
    topics: Sequence[str] = (),
    variant: int = 1,
    random_state: RandomState = 0,
) -> Exam:
    """Make an exam: questions to be solved by hand, with solutions.

    Arrays are small (at most 6 x 6), scores are whole numbers, and each question asks for counts
    and rates of one topic. The same seed gives the same exam.

    Parameters
    ----------
    questions : int
        Their number. No topic comes a second time before all have come once.
    topics : sequence of str
        Those to draw from: ``"rates"`` (over the attempts of their own class), ``"verification"``
        (single templates), ``"multi-template"``, ``"threshold"`` (chosen on other people),
        ``"open-set"``, ``"closed-set"``, ``"ties"``, ``"reid"`` (average precision, with images of
        the same camera removed). Empty: all of them.
    variant : int
        Variants of one seed have the same topics, with arrays of the same shape, and other numbers:
        comparable exams for groups of students that sit side by side.
    random_state : int, None, or a generator of numpy
        Seed of the arrays and of the choice of topics.

    Returns
    -------
    Exam
        ``print`` shows the questions, ``print(exam.solutions)`` how they are solved; ``save``
        writes either as Markdown, LaTeX or text. `questions` have the arrays and the answers.

    Raises
    ------
    DataError
        No such topic, or no such number of questions or variant.

    See Also
    --------
    step_by_step : Every count of scores of your own, for an example on a blackboard.

    Notes
    -----
    Answers are computed by the public calls (:func:`verification`, :func:`open_set`,
    :func:`closed_set`, :func:`reid`), the steps by :func:`step_by_step`. Definitions:
    ``docs/definitions.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> exam = be.exam(1, topics=["rates"], random_state=7)
    >>> print(exam)  # doctest: +ELLIPSIS
    Exam
    <BLANKLINE>
    Question 1: Rates of each class
    ...
    >>> exam.questions[0].answers["errors_of_all"]
    0.2
    """
    number = require_integer("questions", questions, low=1, high=_MOST)
    require_integer("variant", variant, low=1, high=_MOST)
    names = require_list("topics", topics)
    for name in names:
        require_choice("topics", name, tuple(TOPICS))
    pool = [name for name in TOPICS if not names or name in names]
    seed = seed_sequence(random_state)
    order = Draws(Stream(seed, 0), Stream(seed, 0))
    drawn: list[str] = []
    while len(drawn) < number:
        drawn += order.sample(pool, min(len(pool), number - len(drawn)))
    drawn.sort(key=pool.index)
    made = []
    for k, topic in enumerate(drawn, start=1):
        numbers = Stream(seed, k + 2 * _MOST * (variant - 1))
        made.append(TOPICS[topic](Draws(numbers, layout=Stream(seed, k + _MOST))))
    return Exam(tuple(made), variant)
