"""The layouts of lists of comparisons without names of columns, as a table.

Each column of a list has a letter, by the cells of its first lines: ``w`` a word for genuine or
impostor (target, nontarget), ``b`` the same as a number (1, 0, -1), ``i`` whole numbers, ``f``
numbers with a fraction, ``t`` other text. The letters of all columns are the list's signature, such
as ``bttf`` for ``1 a.wav b.wav 0.7``. A layout is a regular expression for signatures, and its
groups are roles; the other columns name the templates, or the attempt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bioeval.scores.formats.spellings import is_truth, like_number
from bioeval.scores.formats.tables import Head

#: The most columns of a list without their names.
MOST_UNNAMED = 12


@dataclass(frozen=True)
class Row:
    """A layout of lists without names of columns."""

    pattern: str  # a regular expression for signatures, whose groups are roles
    example: str  # a line of such a list
    meaning: str = ""  # meaning of the columns; empty: a variant of the row before
    source: str = ""  # programs and data sets that have the layout


def _with_class(
    other: str, genuine: str, score: str, example: str, meaning: str = "", source: str = ""
) -> tuple[Row, Row]:
    """Return two rows, in which the class comes before the score and after it.

    Other columns may stand around both.
    """
    first, _, rest = example.partition(" ")
    class_column = f"(?P<genuine>{genuine})"
    score_column = f"(?P<score>{score})"
    return (
        Row(other.join(("", class_column, score_column, "")), example, meaning, source),
        Row(other.join(("", score_column, class_column, "")), f"{rest} {first}"),
    )


LISTS = (
    # The first column is no class 1 or 0 before names, and the last two are no whole number before
    # 1 or 0, which may be a score and its class. The same holds in the next row.
    Row(
        r"(?!bt..|..[ib]b)(?P<subject_a>[tib])(?P<subject_b>[tib])(?P<template_b>[tib])"
        r"(?P<score>[fib])",
        "ann bob probe7 0.7",
        "claimed and real subject, probe, score",
        "bob, 4 columns",
    ),
    Row(
        r"(?!b.t..|...[ib]b)(?P<subject_a>[tib])(?P<template_a>[tib])(?P<subject_b>[tib])"
        r"(?P<template_b>[tib])(?P<score>[fib])",
        "ann model3 bob probe7 0.7",
        "claimed subject, its model, real subject, probe, score",
        "bob, 5 columns",
    ),
    *_with_class(
        "[tib]*",
        "w",
        "f",
        "target a.wav b.wav 0.7",
        "a word for the class, perhaps names, and the score",
    ),
    *_with_class("t*", "w", "[ib]", "target a.wav b.wav 7"),
    *_with_class(
        "[ti]*",
        "b",
        "f",
        "1 a.wav b.wav 0.7",
        "1 or 0, perhaps names, and the score",
        "VoxCeleb",
    ),
    *_with_class("t*", "b", "i", "1 a.wav b.wav 7"),
    Row(
        r"(?P<score>[fib])",
        "0.7",
        "genuine scores, with the impostor scores as a second file; or in the order of trials",
        "PyEER, FVC",
    ),
)

#: Lists whose classes come from another file or from the names. They are tried first if an argument
#: says so.
KEYED = (
    # Two or three columns. If there are two, neither has whole numbers, which may be the class.
    Row(
        r"(?=.{2,3}$)(?!.[ib]$|[ib].$)[tibw]*(?P<score>f)[tibw]*",
        "a.wav b.wav 0.7",
        "names and a score, with trials, labels or a pattern for subjects",
        "Kaldi, PyEER",
    ),
    Row(r"(?=.{2,3}$)[tw]*(?P<score>[ib])[tw]*", "a.wav b.wav 7"),
)

#: Lists of comparisons without scores.
TRIALS = (
    Row(r"[tibf]*(?P<genuine>w)[tibf]*", "a.wav b.wav target", "two names and a word", "Kaldi"),
    Row(r"[tif]*(?P<genuine>b)[tif]*", "1 a.wav b.wav", "two names, and 1 or 0", "VoxCeleb"),
    Row(r"[tib][tib]", "a.wav b.wav", "two names: a genuine pair", "PyEER"),
)


def signature(head: Head) -> str:
    """Return the letter of each column."""
    return "".join(letter(head.column(i)) for i in range(head.width))


def letter(cells: Sequence[str]) -> str:
    """Return the letter of a column, by most of its cells; see the module."""
    truths = [*map(is_truth, cells)]
    numbers = [*map(like_number, cells)]
    has_other_numbers = any(
        number and not truth for number, truth in zip(numbers, truths, strict=True)
    )
    if _most(truths) and not has_other_numbers:
        return "b" if _most(numbers) else "w"
    if not _most(numbers):
        return "t"
    numeric_cells = (cell for cell, number in zip(cells, numbers, strict=True) if number)
    return "i" if all(cell.lstrip("+-").isalnum() for cell in numeric_cells) else "f"


def _most(flags: Sequence[bool]) -> bool:
    return 2 * sum(flags) > len(flags)
