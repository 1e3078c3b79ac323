"""The layout of a list of comparisons: the role of each column.

A first line with names of columns decides; without one, a preset, or numbers of columns. A class
and a score in two columns, and scores alone, need neither. So the list ::

    model,probe,camera,similarity
    anna_1,anna_2,3,0.91

has the layout ``templates=(0, 1)``, ``roles={"template_a": 0, "template_b": 1, "score": 3}``. Below
are lists of trials, which have classes and no scores, and how scores find their trials.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import DataError, Message, backquoted, counted, received
from bioeval.base.kinds import Kind, ListFormat
from bioeval.scores.formats.roles import Arguments
from bioeval.scores.formats.tables import (
    COLUMNS,
    HEADER_NAMES,
    IMPOSTORS,
    KIND_OF_SCORES,
    TRUTH,
    Columns,
    Head,
    Words,
    counts_columns,
    folded,
    head_of,
    is_number,
    is_truth,
    like_number,
    require_names,
    side_and_column,
    truth_word,
)
from bioeval.scores.formats.texts import (
    FileKind,
    fault,
    first_of_role,
    kind_of_file,
    missing,
    one_side_alone,
    read_text,
    refuse_rows,
)
from bioeval.scores.keys import as_names, first_twice, places, united
from bioeval.scores.matrix import Scores

if TYPE_CHECKING:
    import pandas as pd

#: The columns of lists without a header, by their preset and number; ``-`` is a column that is not
#: read. Rows without a score are of lists of trials, of which some list genuine pairs alone.
#: LFW's form has other lines (:func:`bioeval.scores.formats.layouts.read_lfw`).
PRESETS: dict[ListFormat, tuple[str, ...]] = {
    "asvspoof": (
        *("template score", "template genuine score", "template genuine"),
        *("- template - - genuine", "- template - - - genuine - -"),
    ),
    "bob": (
        "subject_a subject_b template_b score",
        "subject_a template_a subject_b template_b score",
    ),
    "kaldi": ("template score", "template_a template_b score", "template_a template_b genuine"),
    "lfw": (),
    "pyeer": ("template_b template_a score", "template_b template_a"),
    "trec": ("template_b - template_a - score -", "template_b - template_a genuine"),
    "voxceleb": (
        *("template_a template_b score", "genuine template_a template_b score"),
        "genuine template_a template_b",
    ),
}

# Names of arrays of a matrix, which say nothing in a list.
_OF_MATRICES = ("mask", "labels", "probe_labels", "gallery_labels", "subjects", "templates")
# In fewer lines, two columns may have texts in common by chance.
_FEW_LINES = 5
# How like a known name a word of ``columns`` is refused: one letter of four is missing, or one of
# seven is another. Words that are less like one may well be meant as metadata.
_LIKE_A_ROLE = 0.85
# How like a known name an unknown one gets a hint at it: one letter of four is another. The hint is
# part of an error that is raised in any case, so that a wrong one does no harm.
_LIKE_A_NAME = 0.75
# Names that only number the sides: both are one set of templates.
_SIDES_BY_NUMBER = ("subject_a", "subject_1", "template_a", "template_1")


@dataclass
class Layout:
    """The columns of a list: a column is its number, and of two sides the enrolled one is first."""

    names: list[str] = field(repr=False)  # names of all columns, for messages
    roles: dict[str, int] = field(default_factory=dict)  # the column that has a role
    #: The columns of names of both templates; a single column has a name for each attempt.
    templates: tuple[int, ...] = ()
    skips_line: bool = False  # whether the first line is no line of the list
    unnamed: int = 0  # number of leading columns that the first line does not number: pandas' index
    #: Whether ``columns`` may say more of the columns, by their names or numbers.
    may_have_metadata: bool = False
    kind: Kind | None = None  # the kind that the name of the column of scores declares
    claims: bool = False  # whether enrolled templates are named by their subjects alone
    #: Columns of metadata by their names: of the enrolled side and of the probe, None if unknown.
    meta: dict[str, tuple[int | None, int | None]] = field(default_factory=dict)
    named: frozenset[str] = frozenset()  # words of ``columns`` that are roles, and no metadata
    #: The texts in the first lines of columns that are not read, by their titles.
    unread: dict[str, list[str]] = field(default_factory=dict)

    def get(self, role: str) -> int | None:
        return self.roles.get(role)

    @property
    def score(self) -> int:
        return self.roles["score"]

    @property
    def subjects(self) -> tuple[int, ...]:
        """The columns of the subjects of both sides; empty if a side lacks its column."""
        sides = [self.roles[side] for side in ("subject_a", "subject_b") if side in self.roles]
        return tuple(sides) if len(sides) == 2 else ()

    @property
    def names_templates(self) -> bool:
        return len(self.templates) == 2 and not self.claims

    @property
    def may_be_blank(self) -> list[int]:
        """The columns with blank cells: unknown metadata, no person, or a failed comparison."""
        columns = [i for both_sides in self.meta.values() for i in both_sides]
        if self.skips_line:
            columns += [*self.subjects, self.score]
        return [i for i in columns if i is not None]


def layout_of(head: Head, arguments: Arguments, of_trials: Arguments | None = None) -> Layout:
    """Return the layout of a list with scores, or of trials, whose columns `of_trials` names."""
    with_scores = of_trials is None
    naming = of_trials or arguments
    layout = layout_by_numbers(head, naming)
    if layout is not None and with_scores and layout.get("score") is None:
        layout = None  # the numbers are those of columns of the trials
    if layout is None:
        layout = with_header(head, naming)
        if layout is not None:
            return layout
        layout = _layout_without_header(head, arguments, with_scores)
    if with_scores:  # without titles, a decimal comma looks like one more column
        refuse_decimal_commas(head, layout.score)
    return layout


# ------------------------------------------------------------------------- without a header


def _layout_without_header(head: Head, arguments: Arguments, with_scores: bool) -> Layout:
    """Return the layout of a list by a preset, or by the cells of one or two columns."""
    unnamed = unnamed_columns(head, arguments)
    below = replace(head, cells=[row[unnamed:] for row in head.rows[unnamed:]])
    if with_scores and "metric" in arguments and "format" not in arguments:
        raise unknown_list(below, arguments, with_scores=with_scores)
    if with_scores and below.width == 1:
        return _layout_of_columns(["score"], unnamed)

    names = _names_by_preset(below, arguments, with_scores)
    if names is None:
        if not with_scores or below.width != 2:
            raise unknown_list(below, arguments, with_scores=with_scores)
        names = _names_by_cells(below, arguments)
    return _layout_of_columns(names, unnamed)


def _names_by_preset(head: Head, arguments: Arguments, with_scores: bool) -> list[str] | None:
    """Return the names of the columns by the argument `format`.

    None without a preset, and of two columns of scores and classes, which need none.
    """
    preset: Any = arguments.peek("format")
    if preset not in PRESETS:
        return None
    for row in PRESETS[preset]:
        names = row.split()
        if len(names) == head.width and ("score" in names) == with_scores:
            arguments.take("format")
            return names
    if with_scores and head.width == 2:
        return None
    raise unknown_list(head, arguments, with_scores=with_scores)


def _names_by_cells(head: Head, arguments: Arguments) -> list[str]:
    """Return the names of two columns, a class and a score in either order, by their cells."""
    first = _classes(head.column(0))
    second = _classes(head.column(1))
    # Words of classes are no scores. Numbers such as 1 and 0 are classes beside other numbers, but
    # scores beside words of classes.
    is_class_first = first == "words" or (first == "numbers" and not second)
    score = head.cells[0][1 if is_class_first else 0]
    has_classes = first or second
    if not has_classes or not like_number(score):
        raise unknown_list(head, arguments, with_scores=True)
    if first == second:
        raise _two_readings(
            head, "columns 1 and 2 hold only classes", "each could mark genuine pairs"
        )
    return ["genuine", "score"] if is_class_first else ["score", "genuine"]


def _layout_of_columns(names: Sequence[str], unnamed: int) -> Layout:
    """Return the layout of columns with these roles behind the index of pandas."""
    names = [*["-"] * unnamed, *names]
    column = {name: i for i, name in enumerate(names) if name != "-"}
    templates = [column[x] for x in ("template", "template_a", "template_b") if x in column]
    # Of bob's lists of four columns, the enrolled templates are named by their subjects.
    claims = "subject_a" in column and len(templates) == 1
    if claims:
        templates = [column["subject_a"], *templates]
    shown = [f"column {i}" if name == "-" else name for i, name in enumerate(names, 1)]
    roles = {name: i for name, i in column.items() if name in COLUMNS}
    return Layout(shown, roles, tuple(templates), bool(unnamed), unnamed, claims=claims)


def layout_by_numbers(head: Head, arguments: Arguments) -> Layout | None:
    """Return the layout of a list whose columns `columns` numbers from 1; None for another list."""
    numbers = _stated_columns(arguments)
    if not numbers or not all(map(str.isdigit, numbers)):
        return None
    if numbers.issubset(head.cells[0]):
        raise fault(
            head.path,
            f"{', '.join(sorted(numbers))} of `columns` may be numbers of columns, or their "
            "names in the first line",
            "write words in the first line, such as 'genuine score'",
            line=head.start_line,
        )
    names = [str(i) for i in range(1, head.width + 1)]
    wrong = numbers.difference(names)
    if wrong:
        raise fault(
            head.path,
            f"has {head.width} columns, and `columns` has the number {min(wrong)}",
            "columns are numbered from 1",
            line=head.start_line,
        )
    numbered = replace(head, cells=[names, *head.cells], start_line=head.start_line - 1)
    layout = with_header(numbered, arguments, by_number=True)
    if layout is not None:
        layout.skips_line = False
        layout.names = [f"column {name}" for name in names]
    return layout


def _stated_columns(arguments: Arguments) -> set[str]:
    """Return the names or numbers of columns that ``columns`` states, of roles and metadata."""
    of_roles = [arguments.peek(role) for role in ("columns.scores", "columns.genuine")]
    return {*arguments.meta.values(), *filter(None, of_roles)}


def _classes(cells: Sequence[str]) -> str:
    """Return whether most cells are classes, as ``"words"`` or ``"numbers"``; empty if not.

    More than half suffice, as a first line may be a misspelt title, and a wrong word further down
    is an error that names its line. One number that is no class, such as 0.7, shows scores.
    """
    are_classes = [is_truth(cell) for cell in cells]
    are_numbers = [like_number(cell) for cell in cells]
    for is_number_here, is_class in zip(are_numbers, are_classes, strict=True):
        if is_number_here and not is_class:
            return ""
    if 2 * sum(are_classes) <= len(cells):
        return ""
    return "numbers" if 2 * sum(are_numbers) > len(cells) else "words"


def unnamed_columns(head: Head, arguments: Arguments) -> int:
    """Return 1 if the first line of a text numbers its columns, but for pandas' index; else 0.

    Raise where such a line may be data.
    """
    first, *rows = head.rows
    if not first[0] and counts_columns(first[1:]):
        if not rows:
            raise fault(head.path, "has a header but no rows")
        arguments.notes.append(f"the first line of {head.path.name} left out: a header")
        return 1
    if counts_columns(first) and not all(map(counts_columns, rows)):
        raise fault(
            head.path,
            f"{head.delimiter.join(first)!r} may number the columns, as pandas writes them, or be "
            "data",
            "leave the line out if it numbers the columns, as by `to_csv(header=False)`; if it "
            "is data, write the names of the columns above it, or decimals, as 0.0",
            line=head.start_line,
        )
    return 0


# ------------------------------------------------------------------------- by names of columns


def with_header(head: Head, arguments: Arguments, *, by_number: bool = False) -> Layout | None:
    """Return the layout of a list whose first line names its columns; None for another list.

    If `by_number`, the names are numbers, which the file does not hold.
    """
    titles = head.cells[0]
    known_names = HEADER_NAMES | {"template"}
    # The words of ``columns`` that are roles; all others are names of metadata.
    renamed = {word: name for word, name in arguments.meta.items() if folded(word) in known_names}
    for word in arguments.meta:
        if word not in renamed:
            _refuse_like_role(head, word, arguments.meta[word], known_names)
    stated_roles = [arguments.peek(role) for role in ("columns.scores", "columns.genuine")]
    is_stated = not {*renamed.values(), *stated_roles}.isdisjoint(titles)
    if not by_number and not is_stated and not names_columns(head):
        return None
    require_names(head.path, head.start_line, titles)

    # The folded name of each column, or the word that stands for it; ignored columns have none.
    names = ["" if title in arguments.ignored else folded(title) for title in titles]
    for word, title in renamed.items():
        # A single column of templates is that of the enrolled ones, as a column `model` is.
        name = "model" if word == "template" else folded(word)
        names[_column(head, title, word, arguments)] = name
    roles = _columns_by_role(head, names, arguments)
    templates = tuple(roles[side] for side in ("template_a", "template_b") if side in roles)
    meta: dict[str, tuple[int | None, int | None]] = {}
    if "labels" not in arguments:  # with them, they are columns of the table of templates
        for word, title in arguments.all_meta().items():
            if word in renamed:
                continue
            number = _column(head, title, word, arguments)
            side, column = side_and_column(word)  # without a prefix, of both sides
            enrolled, probe = meta.get(column, (None, None))
            meta[column] = enrolled if side == 0 else number, probe if side == 1 else number

    columns_of_meta = [i for both_sides in meta.values() for i in both_sides]
    read = {*roles.values(), *templates, *columns_of_meta}
    return Layout(
        titles,
        roles,
        templates,
        skips_line=True,
        may_have_metadata=True,
        kind=KIND_OF_SCORES.get(names[roles["score"]]) if "score" in roles else None,
        meta=meta,
        named=frozenset(renamed),
        unread=_unread_texts(head, read, arguments.ignored),
    )


def _refuse_like_role(head: Head, word: str, name: str, known_names: set[str]) -> None:
    """Raise if a word of ``columns`` nearly is a known name: nobody would read its role.

    A known name without its side, such as ``subject``, is a name of metadata.
    """
    near = difflib.get_close_matches(folded(word), known_names, n=1, cutoff=_LIKE_A_ROLE)
    if not near or re.fullmatch(f"{re.escape(folded(word))}_?[ab12]", near[0]):
        return
    stated = f'`columns={{"{word}": "{name}"}}`'
    raise fault(head.path, f"{stated} names no role", f"did you mean {near[0]!r}?")


def _unread_texts(head: Head, read: set[int | None], ignored: set[str]) -> dict[str, list[str]]:
    """Return the first texts of columns that are not `read`, by title, if they may be names.

    Names are texts that are no numbers, and at least two of them.
    """
    unread = {}
    for i, title in enumerate(head.cells[0]):
        if i in read or title in ignored:
            continue
        texts = head.column(i)[1:]
        are_texts = all(text and not like_number(text) for text in texts)
        if are_texts and len({*texts}) > 1:
            unread[title] = texts
    return unread


def _column(head: Head, name: str, word: str, arguments: Arguments) -> int:
    """Return the number of the column called `name`, which a `word` of ``columns`` names."""
    titles = head.cells[0]
    if name in titles:
        return titles.index(name)
    names_in_use = _stated_columns(arguments)
    raise missing(head.path, "column", name, titles, word, other_arguments=names_in_use)


def refuse_unread_names(path: Any, unread: Mapping[str, Sequence[str]]) -> None:
    """Raise where two columns that are not read seem to name the templates of both sides.

    No line has the texts of another, and the columns share half of their texts, or a line has the
    same text twice, which is a template compared with itself.
    """
    for first, second in combinations(unread, 2):
        lines = [*zip(unread[first], unread[second], strict=True)]
        has_line_twice = len({*lines}) < len(lines)
        if has_line_twice or len(lines) < _FEW_LINES:
            continue
        texts_of_first, texts_of_second = {*unread[first]}, {*unread[second]}
        in_common = sorted(texts_of_first & texts_of_second)
        has_itself = any(text == other for text, other in lines)
        # Half, since lists compare some templates on one side alone; places or days of both sides
        # would be in common, too, but then lines repeat.
        has_half = 2 * len(in_common) >= min(len(texts_of_first), len(texts_of_second))
        if in_common and (has_itself or has_half):
            raise DataError(
                f"{path}: the columns {first!r} and {second!r} are not read, and have the same "
                f"texts, such as {in_common[0]!r}, and no line twice: do they name the templates "
                f'of both sides? Say `columns={{"template_a": "{first}"}}` and '
                f'`columns={{"template_b": "{second}"}}` of templates, '
                f'`columns={{"subject_a": "{first}"}}` and `columns={{"subject_b": "{second}"}}` '
                f'of subjects, or `columns={{"{second}": None}}` if they name neither'
            )


def _columns_by_role(head: Head, names: Sequence[str], arguments: Arguments) -> dict[str, int]:
    """Return the column that has each role, by an argument or by its folded name."""
    roles: dict[str, int] = {}
    for role in COLUMNS:
        column = _column_of_role(head, names, role, arguments)
        if column is not None:
            roles[role] = column
    for noun in ("subject", "template"):
        sides = roles.keys() & {f"{noun}_a", f"{noun}_b"}
        if len(sides) == 1:
            (side,) = sides
            _refuse_one_side(head, roles[side], side)
            del roles[side]
    _refuse_names_of_matrices(head, names, arguments)
    _refuse_unclear_sides(head, names, roles)
    return roles


def _column_of_role(
    head: Head, names: Sequence[str], role: str, arguments: Arguments
) -> int | None:
    """Return the column of one role; None if there is none. Several must hold the same."""
    titles = head.cells[0]
    option = {"score": "columns.scores", "genuine": "columns.genuine"}.get(role, "")
    title = arguments.peek(option)
    if title is not None:
        if title not in titles:  # it may be a column of the trials
            return None
        arguments.take(option)
        return titles.index(title)

    name_of_title = dict(zip(titles, names, strict=True))
    candidates = [title for title in titles if name_of_title[title] in COLUMNS[role]]
    if not candidates:
        return None
    if option and len(candidates) > 1:
        raise fault(
            head.path,
            f"{' and '.join(map(repr, candidates))} could each be the column of "
            f"{option.removeprefix('columns.')}",
            f"say {backquoted(option, candidates[0])}",
            line=head.start_line,
        )
    # Columns that ``columns`` names come before those with a known name.
    candidates.sort(key=lambda title: COLUMNS[role].index(name_of_title[title]))
    stated = [title for title in titles if title in candidates and title in arguments.meta.values()]

    def are_equal(first: str, other: str) -> bool:
        return head.column(titles.index(first))[1:] == head.column(titles.index(other))[1:]

    noun = f"column of {role}"
    first = first_of_role(head.path, stated or candidates, noun, are_equal, head.start_line)
    return titles.index(first)


def _refuse_one_side(head: Head, column: int, side: str) -> None:
    """Raise if the only column of one side, such as ``"subject_a"``, tells its lines apart.

    A column with one value in all lines says nothing of a side, such as a matcher's model.
    """
    title, *cells = head.column(column)
    if len({*cells}) > 1:
        raise one_side_alone(head.path, title, side, head.start_line)


def _refuse_names_of_matrices(head: Head, names: Sequence[str], arguments: Arguments) -> None:
    for title, name in zip(head.cells[0], names, strict=True):
        if name in _OF_MATRICES and title not in arguments.meta.values():
            raise fault(
                head.path,
                f"the column {title!r} has a role in a matrix of scores, and is not read in a list "
                "of pairs",
                'the subjects of both sides are `columns={"subject_a": ...}` and '
                '`columns={"subject_b": ...}`; say '
                f'`columns={{"{title}": None}}` if the column is not to be read',
                line=head.start_line,
            )


def _refuse_unclear_sides(head: Head, names: Sequence[str], roles: Mapping[str, int]) -> None:
    """Raise where the sides of subjects are numbered and those of templates named, or the reverse.

    It is then not known which of the subjects 1 and 2 is that of the probe. Sides that ``columns``
    states are clear.
    """
    titles = head.cells[0]
    sides = [i for role, i in roles.items() if role.endswith(("_a", "_b"))]
    are_by_title = all(folded(titles[i]) == names[i] for i in sides)
    if not are_by_title or not {"subject_a", "template_a"} <= roles.keys():
        return
    of_subjects = names[roles["subject_a"]]
    of_templates = names[roles["template_a"]]
    if (of_subjects in _SIDES_BY_NUMBER) == (of_templates in _SIDES_BY_NUMBER):
        return
    unclear, clear = of_subjects, of_templates
    if of_templates in _SIDES_BY_NUMBER:
        unclear, clear = of_templates, of_subjects
    raise fault(
        head.path,
        f"{unclear!r} does not say whether it is of the probe, as {clear!r} does",
        "call both columns of the subjects, or of the templates, probe_... and gallery_...",
        line=head.start_line,
    )


def names_columns(head: Head) -> bool:
    """Whether the first line of a text holds known names of the columns of a list."""
    column_of_name = {folded(cell): i for i, cell in enumerate(head.cells[0])}
    if any(map(is_number, head.cells[0])):
        return False
    roles = {role for role, names in COLUMNS.items() if not column_of_name.keys().isdisjoint(names)}
    if "score" in roles:
        return True
    for name in column_of_name.keys() & {*COLUMNS["genuine"]}:
        # "target" names a column above 1 and 0; above other words it is a word of the list.
        _, *below = head.column(column_of_name[name])
        return not is_truth(name) or any(map(is_number, below))
    return {"subject_a", "subject_b"} <= roles or {"template_a", "template_b"} <= roles


# ------------------------------------------------------------------------- errors


def unknown_list(head: Head, arguments: Arguments, *, with_scores: bool) -> DataError:
    """Return the error of a list whose columns are not known, with the presets that fit it."""
    first = head.delimiter.join(head.cells[0])[:80]
    if with_scores and "metric" in arguments:
        return fault(
            head.path,
            f"{first!r} names no columns",
            "of embeddings, write the names of the columns in a first line, such as "
            '"f0 f1 f2 label"; a matrix of numbers alone needs `labels`',
            line=head.start_line,
        )
    columns = [head.column(i) for i in range(head.width)]
    numbers = sum(all(map(like_number, cells)) for cells in columns)
    if with_scores and not numbers:
        return no_scores(head)
    fitting = [
        f"{backquoted('format', preset)} ({row})"
        for preset, rows in PRESETS.items()
        for row in rows
        if len(row.split()) == head.width and ("score" in row) == with_scores
    ]
    what, role, example = "a list of trials", "genuine", "template_a template_b genuine"
    if with_scores:
        what, role, example = "a list with scores", "scores", "genuine template_a template_b score"
    presets = f"; {what} of {head.width} columns is {', '.join(fitting)}" if fitting else ""
    return fault(
        head.path,
        f"{first!r} names no columns, and what they hold is not known{presets}",
        f'otherwise write the names of the columns in a first line, such as "{example}", or give '
        f"their numbers, as in {backquoted(f'columns.{role}', str(head.width))}"
        f"{'; a matrix of scores needs `labels`' if with_scores and numbers > 2 else ''}",
        line=head.start_line,
    )


def no_scores(head: Head, named: bool = False) -> DataError:
    """Return the error of a text, or of a table with `named` columns, without scores."""
    first = head.delimiter.join(head.cells[0])[:80]
    problem = f"its first line, {first!r}, is none of a known list"
    if named:
        problem = f"its columns are {', '.join(map(repr, head.cells[0]))}"
    return DataError(
        f"{head.path}: no column 'score'; {problem}; expected a first line with the names of the "
        "columns, such as 'distance,genuine' or 'similarity,subject_a,subject_b' (others by "
        '`columns={"scores": ...}` and `columns={"genuine": ...}`). A CSV file of labels goes with '
        "a .npy matrix: give the matrix, and the CSV file as `labels`. A matrix of scores is "
        f"read from .npy or .npz{misspelt(head.cells[0])}"
    )


def _two_readings(head: Head, problem: str, reading: str) -> DataError:
    return fault(
        head.path,
        f"{problem}, and {reading}",
        "write the names of the columns in a first line, such as 'genuine score'",
        line=head.start_line,
    )


def refuse_decimal_commas(head: Head, score: int) -> None:
    """Raise where a comma beside the column of scores may be the decimal mark."""
    for i in (score - 1, score):
        if head.delimiter != "," or not 0 <= i < head.width - 1:
            continue
        pairs = zip(head.column(i), head.column(i + 1), strict=True)
        decimal = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?", re.ASCII)
        if all(decimal.fullmatch(f"{whole},{fraction}") for whole, fraction in pairs):
            problem = f"columns {i + 1} and {i + 2} each hold digits alone"
            raise _two_readings(head, problem, "could be decimals with a comma")


def misspelt(names: Sequence[str]) -> str:
    """Return a hint at a column that seems to have a misspelt name, or ""."""
    if any(map(is_number, names)):
        return ""
    folded_names = [folded(name) for name in names]
    absent_names = HEADER_NAMES.difference(folded_names)
    for name, folded_name in zip(names, folded_names, strict=True):
        if folded_name in HEADER_NAMES:
            continue
        near = difflib.get_close_matches(folded_name, absent_names, n=1, cutoff=_LIKE_A_NAME)
        if near:
            return f". The column {name!r} is not known. Did you mean {near[0]!r}?"
    return ""


# A genuine pair in LFW's form: a person, and the numbers i and j of two images.
_GENUINE = re.compile(r"(?P<a>\S+) (?P<i>\d+) (?P<j>\d+)", re.ASCII)
# An impostor pair: image i of person a, and image j of person b.
_IMPOSTOR = re.compile(r"(?P<a>\S+) (?P<i>\d+) (?P<b>\S+) (?P<j>\d+)", re.ASCII)
# The first line: the numbers of folds and of pairs, or of pairs alone.
_FOLDS = re.compile(r"\d+( \d+)?", re.ASCII)


@dataclass
class Comparisons:
    """A list of comparisons, each by the names of its templates, the enrolled one first."""

    table: Columns  # the names, in columns of words
    layout: Layout
    genuine: np.ndarray | None  # (lines,); None: every listed comparison is genuine
    fold: np.ndarray | None = None  # (lines,)
    # Subjects of both sides; only LFW's form names them.
    subjects: tuple[Words, Words] | None = None

    @property
    def path(self) -> Path:
        return self.table.path

    @property
    def names(self) -> list[int]:
        """The columns that may hold names: two, or more, of which the names of scores choose."""
        return [i for i in self.table.words if i != self.layout.get("genuine")]


def refuse_impostor_flags(path: Path, *names: str) -> None:
    """Raise if a name is that of flags of impostor pairs, the reverse of `genuine`."""
    for name in names:
        if TRUTH.get(truth_word(name)) is False and name.isalpha():
            raise fault(
                path,
                f"{name!r} marks the impostor pairs",
                f'mark the genuine pairs, as by `x["genuine"] = 1 - x["{name}"]`',
            )


def truth_of(column: Words, table: Columns, name: str) -> np.ndarray:
    """Return which rows are genuine, by a column of words; all for impostors must mean the same."""
    is_genuine = np.array([TRUTH.get(truth_word(x), -1) for x in column.values], dtype=np.int8)
    is_unknown = is_genuine < 0
    if is_unknown.any():
        code = int(np.argmax(is_unknown))
        cell = column.values[code]
        row = int(np.argmax(column.codes == code))
        raise DataError(
            f"{table.place_of(row)}: {name} is {received(cell)}; expected one of 1, true, yes, "
            "genuine, target, match, 0, false, no, impostor, nontarget, nonmatch: with pandas, "
            f'`table["genuine"] = table["{name}"] == {cell!r}` if this is the word for genuine '
            "pairs, and load the table"
        )
    spelled = {*map(truth_word, column.values)}
    # Words such as "impostor" say what they are; of 1, 0, yes and no, the name of the column does.
    words = {x for x in TRUTH if x.isalpha()} - {"true", "false", "t", "f", "yes", "no", "y", "n"}
    if words.isdisjoint(spelled):
        refuse_impostor_flags(table.path, name)
    meanings = [min(spelled.intersection(row)) for row in IMPOSTORS if spelled & {*row}]
    if len(meanings) > 1:
        raise fault(
            table.path,
            f"{name} holds both {' and '.join(map(repr, meanings))}, and they differ in meaning",
            "leave out the lines of one",
        )
    return is_genuine.astype(bool)[column.codes]


def scores_of_classes(
    genuine: np.ndarray, impostor: np.ndarray, arguments: Arguments, options: dict[str, Any]
) -> Scores:
    values = arguments.with_failures(np.concatenate([genuine, impostor]))
    is_genuine = np.repeat([True, False], [len(genuine), len(impostor)])
    return Scores.from_pairs(values, is_genuine, **options)


def lists_trials(path: str | Path) -> bool:
    """Whether a file lists trials without scores, by the names of its columns."""
    place = Path(path)
    if not place.is_file() or kind_of_file(place) != FileKind.TEXT:
        return False
    layout = with_header(head_of(place), Arguments({}))
    if layout is None or layout.get("score") is not None:
        return False
    return "genuine" in layout.roles and len(layout.templates or layout.subjects) == 2


def read_comparisons(path: Path, arguments: Arguments) -> Comparisons:
    """Read a list, in LFW's form or with two names and perhaps a class on each line."""
    if arguments.peek("format") == "lfw":
        arguments.take("format")
        return read_lfw(path)
    head = head_of(path)
    columns: dict[str, Any] = dict.fromkeys(arguments.ignored)
    chosen = arguments.peek("columns.genuine")
    if chosen is not None:
        columns["genuine"] = chosen
    layout = layout_of(head, arguments, of_trials=Arguments({"columns": columns}))
    if layout.may_have_metadata:
        arguments.take("columns.genuine")
        if layout.get("genuine") is None and head.width > 2:
            raise DataError(
                f"{head.path}: no column marks genuine trials; its columns are "
                f"{', '.join(map(repr, layout.names))}, expected one called genuine, target or "
                'label, or another that `columns={"genuine": ...}` names'
            )
    classes = layout.get("genuine")
    names = [*layout.templates]
    if layout.may_have_metadata:
        names = [i for i in range(head.width) if i not in (classes, layout.get("score"))]
    words = names if classes is None else [*names, classes]
    table = head.read(words, [], names=layout.names, header=layout.skips_line)
    genuine = None
    if classes is not None:
        genuine = truth_of(table.words[classes], table, layout.names[classes])
    return Comparisons(table, layout, genuine)


def read_lfw(path: Path) -> Comparisons:
    """Read pairs of images; the first line gives the number of folds and of pairs in a fold."""
    texts = enumerate(read_text(path).split("\n"), 1)
    lines = [(n, " ".join(line.split())) for n, line in texts if line.strip()]
    (_, header), *rows = lines or [(1, "")]
    if not _FOLDS.fullmatch(header):
        raise DataError(
            f"{path}: the first line is {header!r}; expected the number of folds and of genuine "
            "pairs in each, as '10 300', or the latter alone"
        )
    *stated_folds, class_size = map(int, header.split())
    folds = stated_folds[0] if stated_folds else 1
    expected = 2 * folds * class_size
    if not expected or len(rows) != expected:
        raise fault(
            path,
            f"has {len(rows):,} pairs",
            f"expected {folds} x 2 x {class_size} = {expected:,}, from its first line",
        )
    is_genuine = np.arange(len(rows)) // class_size % 2 == 0  # of each fold, genuine pairs first
    people: tuple[list[str], list[str]] = ([], [])
    images: tuple[list[str], list[str]] = ([], [])
    for genuine, (number, line) in zip(is_genuine.tolist(), rows, strict=True):
        match = (_GENUINE if genuine else _IMPOSTOR).fullmatch(line)
        if match is None:
            form = "'name i j', two images of one subject" if genuine else "'name i other j'"
            raise DataError(f"{path}: line {number} is {line!r}; expected {form}")
        first = match["a"], int(match["i"])
        second = match["a" if genuine else "b"], int(match["j"])
        if first[0] == second[0] and (first == second or not genuine):
            compared = "one image with itself" if genuine else "images of one subject as impostors"
            raise DataError(f"{path}: line {number} compares {compared}: {line!r}")
        for side, (person, image) in enumerate((first, second)):
            people[side].append(person)
            images[side].append(f"{person} {image}")
    words = []
    for cells in (*images, *people):
        distinct, codes = np.unique(cells, return_inverse=True)
        words.append(Words.from_codes(codes, distinct.tolist()))
    table = Columns(path, {0: words[0], 1: words[1]}, {}, rows[0][0])
    fold = np.repeat(np.arange(folds), 2 * class_size)
    return Comparisons(table, Layout([]), is_genuine, fold, (words[2], words[3]))


# ------------------------------------------------------------------------- trial scores


# How to leave out lines and pairs that have no partner.
_SKIP = 'to leave them out say `lists={"missing_pairs": "skip"}`'
# The first lines of scores, whose names tell the columns of names in a list of trials.
_SAMPLED_LINES = 1000


def look_up(
    listed: Comparisons, names: Sequence[str], skip: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the comparisons whose templates are both among `names`; others raise, or are skipped.

    The arrays are the numbers of the enrolled templates and of the probes among the names (found,),
    and which comparisons are found.
    """
    template_names = as_names(names)
    if (twice := first_twice(template_names)) is not None:
        raise fault(
            listed.path,
            f"several templates have the name {twice[0]!r}",
            "expected a different name, or a different number of an image, for each",
        )
    if len(listed.names) != 2:
        raise fault(listed.path, "expected two templates on each line, and 1 or 0")
    first, second = (listed.table.words[i] for i in listed.names)
    enrolled = places(as_names(first.values), template_names)[first.codes]
    probe = places(as_names(second.values), template_names)[second.codes]
    is_found = (enrolled >= 0) & (probe >= 0)
    if not is_found.all() and not (skip and is_found.any()):
        row = int(np.argmin(is_found))
        column = first if enrolled[row] < 0 else second
        raise DataError(
            f"{listed.table.place_of(row)}: the template {column.objects()[row]!r} is not among "
            f"the {len(names):,}, as of {int((~is_found).sum()):,} of {len(is_found):,} pairs one "
            f"is not; {_SKIP}"
        )
    return enrolled[is_found], probe[is_found], is_found


# ------------------------------------------------------------------------- scores by names


@dataclass(frozen=True)
class ScoredPairs:
    """The rows of a list of scores that are pairs, and their classes."""

    rows: Any  # int64 (pairs,), increasing; or slice(None), all rows
    genuine: np.ndarray  # bool (pairs,)
    #: bool (pairs,), where trials decide which template is enrolled: whether a row names the probe
    #: first.
    exchanged: np.ndarray | None = None
    notes: list[Message] = field(default_factory=list)  # on rows and trials left out

    def take(self, is_kept: np.ndarray, row_count: int) -> ScoredPairs:
        """Return some of the pairs, by a selection (pairs,)."""
        rows = np.arange(row_count)[self.rows][is_kept]
        exchanged = None if self.exchanged is None else self.exchanged[is_kept]
        return ScoredPairs(rows, self.genuine[is_kept], exchanged, self.notes)


def join(
    table: Columns, layout: Layout, listed: Comparisons, unordered: bool, skip: bool
) -> ScoredPairs:
    """Find the trial of each score by names of templates, in any order of lines and names.

    A trial takes the score of the same order of names, if there is one, and decides which template
    is enrolled. Repeated scores of a pair are left to the checks of all lists.
    """
    import pandas as pd

    trial_columns = _columns_of_trials(table, layout, listed)

    # The names of both files have common numbers, and a pair of names is a number, too.
    names: list[str] = []

    def numbered(column: Words) -> np.ndarray:
        nonlocal names
        names, number_of_value = united(names, column.values)
        return number_of_value[column.codes]

    score_names = [numbered(table.words[i]) for i in layout.templates]  # (rows,) each
    trial_names = [numbered(listed.table.words[i]) for i in trial_columns]  # (lines,) each
    has_two_names = len(score_names) == 2
    unordered = unordered and has_two_names

    def keys(names_of_sides: list[np.ndarray], unordered: bool = False) -> pd.Index:
        if len(names_of_sides) == 1:
            return pd.Index(names_of_sides[0])
        first, second = names_of_sides
        if unordered:
            first, second = np.minimum(first, second), np.maximum(first, second)
        return pd.Index(first * len(names) + second)

    key_of_score = keys(score_names, unordered)
    if not layout.names_templates:
        is_repeated = key_of_score.duplicated()
        refuse_rows(is_repeated, table, "is listed before", "list each pair once")

    # Lines of one pair are one trial, whose line is the first of them. `trial` numbers the trials
    # of scores, -1 without a trial. A score without a trial in its order of names takes the trial
    # of the other order; where impostor pairs are listed, too, only if no score has the order of
    # the trial.
    key_of_line = keys(trial_names, unordered)
    first_line = np.flatnonzero(~key_of_line.duplicated())
    distinct = key_of_line[first_line]
    trial = places(key_of_score, distinct)
    if has_two_names and not unordered:
        trial_if_exchanged = places(keys(score_names[::-1]), distinct)
        if listed.genuine is not None:
            has_own_score = distinct.isin(key_of_score)
            trial_if_exchanged[has_own_score[trial_if_exchanged]] = -1
        trial = np.where(trial < 0, trial_if_exchanged, trial)
    line_of_score = np.where(trial < 0, -1, first_line[trial])
    has_trial = line_of_score >= 0
    # Whether the names are in another order than in the trial, of scores with a trial.
    exchanged = score_names[0] != trial_names[0][line_of_score]
    if unordered:  # a score has the order of its own names if both orders are listed
        exchanged &= ~keys(score_names).isin(keys(trial_names))

    notes = []
    repeated = len(key_of_line) - len(first_line)
    if repeated:
        notes.append(Message("repeated-pairs", pairs=repeated, how="", option=""))
    if listed.genuine is None:
        # A score without a trial is of an impostor pair. Impostor pairs are not listed; they have
        # the order of names of most genuine pairs.
        most_are_exchanged = 2 * exchanged[has_trial].sum() > has_trial.sum()
        exchanged = np.where(has_trial, exchanged, most_are_exchanged)
        file = listed.path.name
        note = Message("only-genuine-pairs-listed", pairs=len(first_line), file=file)
        return ScoredPairs(slice(None), has_trial, exchanged, [note, *notes])

    genuine = listed.genuine
    if repeated:
        first_class = genuine[first_line][places(key_of_line, distinct)]
        wrong = "gives a pair another class than a line before"
        refuse_rows(genuine != first_class, listed.table, wrong, "give each pair one class")
    is_unscored = np.zeros(len(key_of_line), dtype=bool)
    is_unscored[first_line] = True
    is_unscored[line_of_score[has_trial]] = False
    notes += _remarks_on_lone_lines(~has_trial, table, "no trial", skip)
    notes += _remarks_on_lone_lines(is_unscored, listed.table, "no score", skip)
    rows = np.flatnonzero(has_trial)
    return ScoredPairs(rows, genuine[line_of_score[rows]], exchanged[rows], notes)


def _columns_of_trials(table: Columns, layout: Layout, listed: Comparisons) -> tuple[int, ...]:
    """Return the columns of the trials with the names of the scores, the enrolled one first.

    They are those with most of the first names of the scores.
    """
    chosen = list[int]()
    for score_column in layout.templates:
        column = table.words[score_column]
        sample = {column.values[code] for code in column.codes[:_SAMPLED_LINES]}
        common_count = {
            i: len(sample.intersection(listed.table.words[i].values))
            for i in listed.names
            if i not in chosen
        }
        best = max(common_count, key=lambda i: common_count[i], default=None)
        if best is None or not common_count[best]:
            raise fault(
                listed.path,
                f"has none of the names that {table.path.name} scores, such as "
                f"{column.values[0]!r}",
                "expected trials of the same files, with the same spelling of names",
            )
        chosen.append(best)
    # The trials decide which name is enrolled: by titles, else the first one is.
    by_title = listed.layout.templates or listed.layout.subjects
    return by_title if sorted(by_title) == sorted(chosen) else tuple(sorted(chosen))


def _remarks_on_lone_lines(
    is_lone: np.ndarray, table: Columns, have: str, skip: bool
) -> list[Message]:
    """Return a remark on lines without a partner; raise unless they are to be skipped."""
    if not skip or is_lone.all():
        refuse_rows(is_lone, table, f"has {have}", _SKIP)
    if not is_lone.any():
        return []
    lines = int(is_lone.sum())
    return [Message("lines-left-out", lines=lines, file=table.path.name, have=have)]


# ------------------------------------------------------------------------- scores in order


def in_listed_order(
    path: Path, values: np.ndarray, arguments: Arguments, options: dict[str, Any]
) -> Scores:
    """Return scores without names, in the order of a list of comparisons."""
    listed = read_comparisons(arguments.take("trials"), arguments)
    values = arguments.with_failures(values)
    if listed.genuine is None:
        raise DataError(
            f"{listed.path}: lists genuine pairs alone, and {path.name} has no names to find them "
            "by"
        )
    count = len(listed.genuine)
    noun = "pair" if listed.subjects else "trial"
    if values.shape != (count,):
        raise fault(
            path,
            f"has {counted(values.size, 'scores')}, and {listed.path.name} lists "
            f"{counted(count, f'{noun}s')}",
            f"expected one score per {noun}, in their order",
        )
    if listed.subjects is None:
        scores = Scores.from_pairs(values, listed.genuine, **options)
        return scores._with(remarks=(Message("in-order-of-trials", file=listed.path.name),))
    words = listed.table.words
    people, images = (
        np.column_stack([column.objects() for column in sides]).tolist()
        for sides in (listed.subjects, (words[0], words[1]))
    )
    scores = Scores.from_pairs(
        values,
        listed.genuine,
        subjects=people,
        pair_templates=images,
        pair_folds=listed.fold,
        **options,
        **arguments.rules(),
    )
    folds = counted(int(listed.fold[-1]) + 1 if listed.fold is not None else 1, "folds")
    origin = f"scores in the order of the {count:,} pairs of {listed.path.name}, in {folds}"
    return scores._with(reading=(origin,))
