"""The layout of a list of comparisons: the role of each column.

A first line with names of columns decides; without one, a preset, or numbers of columns. A class
and a score in two columns, and scores alone, need neither. So the list ::

    model,probe,camera,similarity
    anna_1,anna_2,3,0.91

has the layout ``templates=(0, 1)``, ``roles={"template_a": 0, "template_b": 1, "score": 3}``. Lists
of trials, which have classes and no scores, are in :mod:`bioeval.scores.formats.trials`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from bioeval.base.errors import DataError, backquoted
from bioeval.base.kinds import Kind, ListFormat
from bioeval.scores.formats.roles import Arguments
from bioeval.scores.formats.tables import (
    COLUMNS,
    HEADER_NAMES,
    KIND_OF_SCORES,
    Head,
    counts_columns,
    folded,
    is_number,
    is_truth,
    like_number,
    require_names,
    side_and_column,
)
from bioeval.scores.formats.texts import fault, first_of_role, missing, one_side_alone

if TYPE_CHECKING:
    pass

#: The columns of lists without a header, by their preset and number; ``-`` is a column that is not
#: read. Rows without a score are of lists of trials, of which some list genuine pairs alone.
#: LFW's form has other lines (:func:`bioeval.scores.formats.trials.read_lfw`).
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
