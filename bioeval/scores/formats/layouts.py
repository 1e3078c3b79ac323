"""The layout of a list of comparisons: the role of each column.

A first line with names of columns decides; without one, a preset, or numbers of columns. A class
and a score in two columns, and scores alone, need neither.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

from bioeval.base.errors import DataError, backquoted
from bioeval.base.kinds import Kind, ListFormat
from bioeval.scores.formats.files import fault, missing
from bioeval.scores.formats.roles import (
    COLUMNS,
    HEADER_NAMES,
    KIND_OF_SCORES,
    TRIAL_NAMES,
    TRUTH,
    Arguments,
    counts_columns,
    folded,
    is_number,
    is_truth,
    like_number,
    require_names,
    side_and_column,
    truth_word,
)
from bioeval.scores.formats.tables import Head

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
    "ijb": ("template_a template_b score", "template_a template_b genuine"),
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
        """Return the column that has a role; None if there is none."""
        return self.roles.get(role)

    @property
    def with_roles(self) -> set[str]:
        """The names of the columns that have a role."""
        return {self.names[i] for i in self.roles.values()}

    @property
    def score(self) -> int:
        """The column of scores."""
        return self.roles["score"]

    @property
    def subjects(self) -> tuple[int, ...]:
        """The columns of the subjects of both sides; empty if a side lacks its column."""
        sides = [self.roles[side] for side in ("subject_a", "subject_b") if side in self.roles]
        return tuple(sides) if len(sides) == 2 else ()

    @property
    def names_templates(self) -> bool:
        """Whether the templates of both sides have names."""
        return len(self.templates) == 2 and not self.claims

    @property
    def may_be_blank(self) -> list[int]:
        """The columns in which a cell may be blank.

        A blank cell is unknown metadata; and below a first line with names or numbers also the
        subject of no person, or the score of a failed comparison.
        """
        columns = [i for both_sides in self.meta.values() for i in both_sides]
        if self.skips_line:
            columns += [*self.subjects, self.score]
        return [i for i in columns if i is not None]


def layout_of(head: Head, arguments: Arguments) -> Layout:
    """Return the layout of a list of comparisons with scores."""
    by_number = _layout_by_numbers(head, arguments)
    if by_number is not None and by_number.get("score") is None:
        by_number = None  # the numbers are of a list of trials
    layout = by_number or with_header(head, arguments)
    if layout is not None:
        if by_number is not None and layout.get("score") is not None:
            refuse_decimal_commas(head, layout.score)
        return layout
    skips_line, unnamed = first_line_of(head, arguments)
    below = replace(head, cells=[row[unnamed:] for row in head.rows[skips_line:]])
    layout = _layout_of_preset(below, skips_line, unnamed, arguments, with_scores=True)
    if layout is not None:
        refuse_decimal_commas(below, layout.score - unnamed)
        return layout
    if below.width == 1:
        return _layout_of_columns(["score"], skips_line, unnamed)
    classes = [_classes(below.column(i)) for i in range(below.width)]
    if below.width > 2 or classes == ["", ""]:
        raise _unknown_list(below, with_scores=True)
    if classes[0] == classes[1]:
        raise _two_readings(
            head, "columns 1 and 2 hold only classes", "each could mark genuine pairs"
        )
    genuine = classes.index("words") if "words" in classes else classes.index("numbers")
    score = 1 - genuine
    refuse_decimal_commas(below, score)
    first, *further = below.column(score)
    if not like_number(first) and further and all(map(is_number, further)):
        titles = ", ".join(map(repr, head.cells[0]))
        raise fault(
            head.path,
            f"the columns {titles} have no name that is known",
            f'give `columns={{"scores": "{head.cells[0][score]}"}}` and '
            '`columns={"genuine": ...}`, or call them score and genuine',
            line=head.start_line,
        )
    if not any(map(like_number, below.column(score))):
        raise _unknown_list(below, with_scores=True)
    names = ["genuine", "score"] if score else ["score", "genuine"]
    return _layout_of_columns(names, skips_line, unnamed)


# ------------------------------------------------------------------------- without a header


def _layout_of_columns(names: Sequence[str], skips_line: bool, unnamed: int) -> Layout:
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
    return Layout(shown, roles, tuple(templates), skips_line, unnamed, claims=claims)


def _layout_of_preset(
    head: Head, skips_line: bool, unnamed: int, arguments: Arguments, *, with_scores: bool
) -> Layout | None:
    """Return the layout that the argument `format` names; None without one.

    Scores alone, of which a list of trials has the form, have no layout of a preset either.
    """
    preset: Any = arguments.peek("format")
    if preset not in PRESETS or with_scores and head.width == 1:
        return None
    rows = [row.split() for row in PRESETS[preset] if ("score" in row) == with_scores]
    names = next((row for row in rows if len(row) == head.width), None)
    if names is None:
        if with_scores and head.width == 2:
            return None
        content = "scores" if with_scores else "trials"
        forms = " or ".join(repr(" ".join(row)) for row in rows) or f"no lists of {content}"
        form = backquoted("format", preset)
        raise fault(
            head.path,
            f"has {head.width} columns, and of {content} {form} has {forms}",
            "give the columns by their numbers, as in "
            '`columns={"scores": "3"}`, or write their names in a first line',
            line=head.start_line,
        )
    arguments.take("format")
    return _without_header(_layout_of_columns(names, skips_line, unnamed), head, arguments)


def _without_header(layout: Layout, head: Head, arguments: Arguments) -> Layout:
    """Return a layout that leaves the first line out if its score, or class, can be none."""
    if layout.skips_line:
        return layout
    is_data = is_truth if layout.get("score") is None else like_number
    i = layout.get("genuine") if layout.get("score") is None else layout.score
    first, *below = [""] if i is None else head.column(i)
    if below and not is_data(first) and all(map(is_data, below)):
        arguments.notes.append(f"the first line of {head.path.name} left out: a header")
        layout.skips_line = True
    return layout


def _layout_by_numbers(head: Head, arguments: Arguments) -> Layout | None:
    """Return the layout of a list whose columns `columns` numbers from 1; None for another list."""
    roles = map(arguments.peek, ("columns.scores", "columns.genuine"))
    numbers = {*arguments.meta.values(), *filter(None, roles)}
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
    if wrong := numbers.difference(names):
        raise fault(
            head.path,
            f"has {head.width} columns, and `columns` has the number {min(wrong)}",
            "columns are numbered from 1",
            line=head.start_line,
        )
    numbered = replace(head, cells=[names, *head.cells], start_line=head.start_line - 1)
    layout = with_header(numbered, arguments, by_number=True)
    if layout is None:
        return None
    layout.skips_line = False
    layout.names = [f"column {name}" for name in names]
    return _without_header(layout, head, arguments)


def _classes(cells: Sequence[str]) -> str:
    """Return whether most cells are classes, as words or as numbers; empty if they are not."""
    truths = [*map(is_truth, cells)]
    numbers = [*map(like_number, cells)]
    has_other_numbers = any(x and not y for x, y in zip(numbers, truths, strict=True))
    if has_other_numbers or 2 * sum(truths) <= len(cells):
        return ""
    return "numbers" if 2 * sum(numbers) > len(cells) else "words"


def first_line_of(head: Head, arguments: Arguments) -> tuple[bool, int]:
    """Return whether the first line of a text without names is no data, and the unnamed columns.

    Their number is that of the leading columns, pandas' index, which the line does not number. The
    line is no data if its cells number the columns, after a blank cell or above words for classes;
    raise where it is not clear.
    """
    first, *rows = head.rows
    has_index = not first[0] and counts_columns(first[1:])
    if not has_index:
        if not counts_columns(first) or all(map(counts_columns, rows)):
            return False, 0
        below = replace(head, cells=rows)
        if all(_classes(below.column(i)) != "words" for i in range(head.width)):
            line = head.delimiter.join(first)
            raise fault(
                head.path,
                f"{line!r} may number the columns, as pandas writes them, or be data",
                "leave the line out if it numbers the columns, as by `to_csv(header=False)`; if it "
                "is data, write the names of the columns above it, or decimals, as 0.0",
                line=head.start_line,
            )
    if not rows:
        raise fault(head.path, "has a header but no rows")
    arguments.notes.append(f"the first line of {head.path.name} left out: a header")
    return True, int(has_index)


# ------------------------------------------------------------------------- by names of columns


def with_header(head: Head, arguments: Arguments, *, by_number: bool = False) -> Layout | None:
    """Return the layout of a list whose first line names its columns; None for another list.

    A word of ``columns`` that is a known name stands for the name of its column. If `by_number`,
    the names are numbers, which the file does not hold.
    """
    cells = head.cells[0]
    known_names = HEADER_NAMES | {"template"}
    # Words of `columns` that are known names, and words that nearly are.
    renamed = {word: name for word, name in arguments.meta.items() if folded(word) in known_names}
    for word, name in arguments.meta.items():
        if word in renamed:
            continue
        close_matches = difflib.get_close_matches(folded(word), known_names, n=1, cutoff=0.85)
        is_side = f"{re.escape(folded(word))}_?[ab12]"
        if close_matches and not re.fullmatch(is_side, close_matches[0]):
            raise fault(
                head.path,
                f'`columns={{"{word}": "{name}"}}` names no role',
                f"did you mean {close_matches[0]!r}?",
            )
    chosen = {*renamed.values(), *map(arguments.peek, ("columns.scores", "columns.genuine"))}
    if not by_number and chosen.isdisjoint(cells) and not names_columns(head):
        return None
    require_names(head.path, head.start_line, cells)

    # The folded name of each column, or the word that stands for it; ignored columns have none.
    names = ["" if x in arguments.ignored else folded(x) for x in cells]
    for word, name in renamed.items():
        names[_column(head, name, word, arguments)] = (
            "model" if word == "template" else folded(word)
        )
    roles = _columns_by_role(head, names, arguments)
    templates = tuple(roles[x] for x in ("template_a", "template_b") if x in roles)
    if not templates and _are_recordings(head, roles, names, arguments):
        templates = roles.pop("subject_a"), roles.pop("subject_b")

    # Columns of metadata; with `labels`, they are columns of the table of templates.
    meta = dict[str, tuple[int | None, int | None]]()
    for word, name in () if "labels" in arguments else arguments.all_meta().items():
        if word not in renamed:
            number = _column(head, name, word, arguments)
            side, column = side_and_column(word)
            enrolled, probe = meta.get(column, (None, None))
            meta[column] = enrolled if side == 0 else number, probe if side == 1 else number

    # The first texts of columns that are not read, which may be names.
    read = {*roles.values(), *templates, *(i for sides in meta.values() for i in sides)}
    unread = {}
    for i, title in enumerate(cells):
        texts = head.column(i)[1:]
        if i in read or title in arguments.ignored or len({*texts}) < 2:
            continue
        if all(x and not like_number(x) for x in texts):
            unread[title] = texts
    return Layout(
        cells,
        roles,
        templates,
        skips_line=True,
        may_have_metadata=True,
        kind=KIND_OF_SCORES.get(names[roles["score"]]) if "score" in roles else None,
        meta=meta,
        named=frozenset(renamed),
        unread=unread,
    )


def _column(head: Head, name: str, word: str, arguments: Arguments) -> int:
    """Return the number of a column that a `word` of ``columns`` names; raise if it is absent."""
    if name in head.cells[0]:
        return head.cells[0].index(name)
    roles = map(arguments.peek, ("columns.scores", "columns.genuine"))
    names_in_use = {*arguments.meta.values(), *roles}
    option = f'`columns={{"{word}": "{name}"}}`'
    raise missing(head.path, "column", name, head.cells[0], option, other_arguments=names_in_use)


def refuse_unread_names(path: Any, unread: Mapping[str, Sequence[str]]) -> None:
    """Raise where two columns that are not read seem to name the templates of both sides.

    No line has the texts of another line, and one column has half of the texts of the other, or
    some line twice the same text, which is a template compared with itself.
    """
    for first, second in combinations(unread, 2):
        pairs = [*zip(unread[first], unread[second], strict=True)]
        smaller, larger = sorted(({*unread[first]}, {*unread[second]}), key=len)
        in_common = sorted(smaller & larger)
        has_itself = any(x == y for x, y in pairs)
        if len({*pairs}) < len(pairs) or len(pairs) < _FEW_LINES or not in_common:
            continue
        if has_itself or 2 * len(in_common) >= len(smaller):
            raise DataError(
                f"{path}: the columns {first!r} and {second!r} are not read, and have the same "
                f"texts, such as {in_common[0]!r}, and no line twice: do they name the templates "
                f'of both sides? Say `columns={{"template_a": "{first}"}}` and '
                f'`columns={{"template_b": "{second}"}}` of templates, '
                f'`columns={{"subject_a": "{first}"}}` and `columns={{"subject_b": "{second}"}}` '
                f'of subjects, or `columns={{"{second}": None}}` if they name neither'
            )


def _columns_by_role(head: Head, names: Sequence[str], arguments: Arguments) -> dict[str, int]:
    """Return the column that has each role, by an argument or by its folded name.

    A column of the subjects, or of the templates, of one side alone has no role.
    """
    cells = head.cells[0]
    options = {"score": "columns.scores", "genuine": "columns.genuine"}
    roles = {}
    for role, names_of_role in COLUMNS.items():
        option = options.get(role)
        chosen = arguments.peek(option) if option else None
        candidates = [x for x, name in zip(cells, names, strict=True) if name in names_of_role]
        if option and chosen in cells:
            roles[role] = cells.index(arguments.take(option))
        elif option and chosen is None and len(candidates) > 1:
            raise fault(
                head.path,
                f"{' and '.join(map(repr, candidates))} could each be the column of "
                f"{option.removeprefix('columns.')}",
                f"say {backquoted(option, candidates[0])}",
                line=head.start_line,
            )
        elif chosen is None and candidates:
            stated = [x for x in candidates if x in arguments.meta.values()]
            in_order = sorted(candidates, key=lambda x: names_of_role.index(names[cells.index(x)]))
            first, *others = stated or in_order
            roles[role] = cells.index(first)
            for other in others:
                if head.column(roles[role])[1:] != head.column(cells.index(other))[1:]:
                    raise fault(
                        head.path,
                        f"{first!r} and {other!r} could each be the column of {role}, and differ",
                        f'say `columns={{"{other}": None}}` if {first!r} is meant, or '
                        f'`columns={{"{first}": None}}` if {other!r} is',
                        line=head.start_line,
                    )
    for noun in ("subject", "template"):
        if len(sides := roles.keys() & {f"{noun}_a", f"{noun}_b"}) != 1:
            continue
        (side,) = sides
        column = roles.pop(side)
        title, (_, *below) = cells[column], head.column(column)
        # A column with one value in all lines says nothing of a side, such as a matcher's model.
        if len({*below}) > 1:
            other = f"{noun}_{'b' if side[-1] == 'a' else 'a'}"
            raise fault(
                head.path,
                f"the column {title!r}, with {below[0]!r}, has the {noun}s of one side of the "
                "pairs alone",
                f'name that of the other side as `columns={{"{other}": ...}}`, or say '
                f'`columns={{"{title}": None}}` if it is not to be read',
                line=head.start_line,
            )
    for title, name in zip(cells, names, strict=True):
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
    # Where subjects are called 1 and 2, and templates enrolled and probe, or the reverse, it is not
    # known which of the two is of the probe.
    sides_of_nouns = {
        noun: [roles[f"{noun}_{side}"] for side in "ab"]
        for noun in ("subject", "template")
        if f"{noun}_a" in roles
    }
    numbered = [x for x, (first, _) in sides_of_nouns.items() if names[first] in _SIDES_BY_NUMBER]
    columns = sum(sides_of_nouns.values(), [])
    if (
        len(columns) == 4
        and len(numbered) == 1
        and all(folded(cells[i]) == names[i] for i in columns)
    ):
        (unclear,) = numbered
        (clear,) = sides_of_nouns.keys() - {unclear}
        named = {
            x: " and ".join(repr(cells[i]) for i in sides) for x, sides in sides_of_nouns.items()
        }
        raise fault(
            head.path,
            f"{named[unclear]} do not say which of them is of the probe, as {named[clear]} do",
            "call them probe_subject and gallery_subject, or the others template_a and template_b"
            if unclear == "subject"
            else "call them probe and gallery, or the others subject_a and subject_b",
            line=head.start_line,
        )
    return roles


def _are_recordings(
    head: Head, roles: Mapping[str, int], names: Sequence[str], arguments: Arguments
) -> bool:
    """Whether columns such as enrol and test name recordings, and not the subjects themselves.

    They do if an argument gives the subjects of recordings, or if a genuine pair has two names.
    """
    if "subject_a" not in roles:
        return False
    first = roles["subject_a"]
    second = roles["subject_b"]
    if names[first] not in TRIAL_NAMES or names[second] not in TRIAL_NAMES:
        return False
    if arguments.names_templates:
        return True
    genuine = roles.get("genuine")
    rows = head.rows[1:]
    if genuine is None:  # genuine pairs of subjects would have equal names
        return bool(rows) and all(row[first] != row[second] for row in rows)
    return any(TRUTH.get(truth_word(row[genuine])) and row[first] != row[second] for row in rows)


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


# ------------------------------------------------------------------------- of trials


def trial_layout(head: Head, arguments: Arguments) -> Layout:
    """Return the layout of a list of trials: names, and perhaps a word for genuine or impostor.

    Without such a word, all pairs are genuine.
    """
    genuine = arguments.peek("columns.genuine")
    columns = dict.fromkeys(arguments.ignored) | ({"genuine": genuine} if genuine else {})
    trial_arguments = Arguments({"columns": columns})
    layout = _layout_by_numbers(head, trial_arguments) or with_header(head, trial_arguments)
    if layout is not None:
        if layout.get("genuine") is None and head.width > 2:
            raise DataError(
                f"{head.path}: no column marks genuine trials; its columns are "
                f"{', '.join(map(repr, layout.names))}, expected one called genuine, target or "
                'label, or another that `columns={"genuine": ...}` names'
            )
        arguments.take("columns.genuine")
        return layout
    skips_line, unnamed = first_line_of(head, arguments)
    below = replace(head, cells=[row[unnamed:] for row in head.rows[skips_line:]])
    layout = _layout_of_preset(below, skips_line, unnamed, arguments, with_scores=False)
    if layout is None:
        raise _unknown_list(below, with_scores=False)
    return layout


# ------------------------------------------------------------------------- errors


def _unknown_list(head: Head, *, with_scores: bool) -> DataError:
    """Return the error of a list whose columns are not known, with the presets that fit it."""
    columns = [head.column(i) for i in range(head.width)]
    if with_scores and not any(all(map(like_number, cells)) for cells in columns):
        return no_scores(head)
    fitting = [
        f"{backquoted('format', preset)} ({row})"
        for preset, rows in PRESETS.items()
        for row in rows
        if len(row.split()) == head.width and ("score" in row) == with_scores
    ]
    what = "a list with scores" if with_scores else "a list of trials"
    presets = f"; {what} of {head.width} columns is {', '.join(fitting)}" if fitting else ""
    role = "scores" if with_scores else "genuine"
    return fault(
        head.path,
        f"{head.delimiter.join(head.cells[0])[:80]!r} names no columns, and what they hold is not "
        f"known{presets}",
        'otherwise write the names of the columns in a first line, such as "'
        + (
            "genuine template_a template_b score"
            if with_scores
            else "template_a template_b genuine"
        )
        + f'", or give their numbers, as in {backquoted(f"columns.{role}", str(head.width))}',
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


def misspelt(names: Sequence[str], known_names: Collection[str] = ()) -> str:
    """Return a hint at a column that seems to have a misspelt name, or ""."""
    if any(map(is_number, names)):
        return ""
    folded_names = {*map(folded, names)}
    for name in names:
        if name not in known_names and folded(name) not in HEADER_NAMES:
            close_matches = difflib.get_close_matches(
                folded(name), HEADER_NAMES - folded_names, n=1, cutoff=0.75
            )
            if close_matches:
                return f". The column {name!r} is not known. Did you mean {close_matches[0]!r}?"
    return ""
