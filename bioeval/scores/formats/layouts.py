"""The layout of a list of comparisons: the role of each column.

A first line with names of columns decides; without one, the signature of the list, as in
:mod:`bioeval.scores.formats.layout_table`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from bioeval.base.errors import DataError, backquoted
from bioeval.base.kinds import Kind
from bioeval.scores.formats.faults import fault, missing
from bioeval.scores.formats.layout_table import KEYED, LISTS, MOST_UNNAMED, TRIALS, Row, signature
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.spellings import (
    COLUMNS,
    KINDS,
    TRIAL_NAMES,
    TRUTH,
    counts_columns,
    folded,
    is_number,
    is_truth,
    like_number,
    require_names,
    truth_word,
)
from bioeval.scores.formats.tables import Head
from bioeval.scores.formats.unknown_lists import (
    foreign,
    refuse_decimal_commas,
    two_readings,
    unknown_list,
    unknown_words,
)

# Names that only number the sides: both are one set of templates.
_SIDES_BY_NUMBER = ("subject_a", "subject_1", "template_a", "template_1")


class FirstLine(NamedTuple):
    """The first line of a text without names of columns: data, or numbers that pandas wrote."""

    is_header: bool  # whether the line numbers the columns, and is no data
    unnamed: int = 0  # number of leading columns that the line does not number: pandas' index


@dataclass
class Layout:
    """The columns of a list: a column is its number, and of two sides the enrolled one is first."""

    names: list[str] = field(repr=False)  # names of all columns, for messages
    roles: dict[str, int] = field(default_factory=dict)  # the column that has a role
    #: The columns of names of both templates; a single column has a name for each attempt.
    templates: tuple[int, ...] = ()
    header: bool = False  # whether the first line names the columns
    #: The first line where it does not name the columns.
    first_line: FirstLine = field(default_factory=lambda: FirstLine(False))
    kind: Kind | None = None  # the kind that the name of the column of scores declares
    claims: bool = False  # whether enrolled templates are named by their subjects alone
    #: Columns of metadata by their names: of the enrolled side and of the probe, None if unknown.
    meta: dict[str, tuple[int | None, int | None]] = field(default_factory=dict)
    named: frozenset[str] = frozenset()  # words of ``columns`` that are roles, and no metadata

    def get(self, role: str) -> int | None:
        """Return the column that has a role; None if there is none."""
        return self.roles.get(role)

    @property
    def with_roles(self) -> set[str]:
        """The names of the columns that have a role."""
        return {self.names[i] for i in self.roles.values()}

    @property
    def skips_line(self) -> bool:
        """Whether the first line is no line of the list."""
        return self.header or self.first_line.is_header

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

    def names_of(self, columns: Iterable[int | None]) -> dict[int, str]:
        """Return the names of columns by their number, without columns that are None."""
        return {i: self.names[i] for i in columns if i is not None}


def layout_of(head: Head, arguments: Arguments) -> Layout:
    """Return the layout of a list of comparisons, by the names of columns or by its signature."""
    layout = with_header(head, arguments)
    if "columns.scores" not in arguments and (description := foreign(head)):
        raise fault(head.path, description)
    if layout is not None:
        return layout
    table = (*KEYED, *LISTS) if arguments.names_templates else (*LISTS, *KEYED)
    layout = matched(head, table, arguments)
    if layout is None:
        raise unknown_list(head)
    if layout.first_line.is_header:
        return layout
    refuse_decimal_commas(head, layout.score)
    first, *below = head.column(layout.score)
    if "%" in head.cells[0] or "%" in head.cells[-1]:
        raise fault(head.path, "has per cent signs", "write per cent as fractions")
    is_title = head.width == 1 and first.isalpha()  # above a single column, such as "Scores"
    if below and not like_number(first) and all(map(is_number, below)) and not is_title:
        names = ", ".join(map(repr, head.cells[0]))
        raise fault(
            head.path,
            f"the columns {names} have no name that is known",
            f'give `columns={{"scores": "{head.cells[0][layout.score]}"}}` and '
            '`columns={"genuine": ...}`, or call them score and genuine',
            line=head.start_line,
        )
    return layout


# ------------------------------------------------------------------------- by the signature


def matched(head: Head, table: Sequence[Row], arguments: Arguments) -> Layout | None:
    """Return the first layout of a table that has the signature of a list without names."""
    first_line = first_line_of(head, arguments)
    if first_line.is_header:
        head = replace(head, cells=[row[first_line.unnamed :] for row in head.rows[1:]])
    letters = signature(head)
    for row in table if len(letters) <= MOST_UNNAMED else ():
        if match := re.fullmatch(row.pattern, letters):
            roles = {role: match.start(role) for role in match.groupdict()}
            return _layout_without_names(len(letters), roles, first_line)
    return None


def _layout_without_names(width: int, roles: Mapping[str, int], first_line: FirstLine) -> Layout:
    """Return the layout of `width` columns behind the index of pandas, as `roles` numbers them."""
    index = first_line.unnamed
    column_of_role = {role: index + i for role, i in roles.items()}
    names = [f"column {number}" for number in range(1, index + width + 1)]
    for role, i in column_of_role.items():
        names[i] = role
    if "subject_a" not in roles:
        others = (i for i in range(index, len(names)) if i not in column_of_role.values())
        return Layout(names, column_of_role, tuple(others), first_line=first_line)
    # bob's layouts alone have subjects; in the shorter one, claims name no template.
    templates = column_of_role.get("template_a", index), column_of_role["template_b"]
    claims = "template_a" not in roles
    return Layout(names, column_of_role, templates, first_line=first_line, claims=claims)


def first_line_of(head: Head, arguments: Arguments) -> FirstLine:
    """Return the meaning of the first line of a text without names of columns.

    The line is no data in one of these cases; raise where it is not clear:

    - `header` says so;
    - its cells after a blank cell number the columns;
    - its cells number the columns, above words for classes.
    """
    first, *rows = head.rows
    has_index = not first[0] and counts_columns(first[1:])
    stated = arguments.take("header")
    if stated is False:
        return FirstLine(False)
    if stated is None and not has_index:
        if not counts_columns(first) or all(map(counts_columns, rows)):
            return FirstLine(False)
        if "w" not in signature(replace(head, cells=rows)):
            line = head.delimiter.join(first)
            raise fault(
                head.path,
                f"{line!r} may number the columns, as pandas writes them, or be data",
                "give `header=True` if it numbers the columns and `header=False` if it is data",
                line=head.start_line,
            )
    if not rows:
        raise fault(head.path, "has a header but no rows")
    arguments.notes.append(f"the first line of {head.path.name} left out: a header")
    return FirstLine(True, int(has_index))


# ------------------------------------------------------------------------- by names of columns


def with_header(head: Head, arguments: Arguments) -> Layout | None:
    """Return the layout of a list whose first line names its columns; None for another list.

    A word of ``columns`` that is a known name stands for the name of its column.
    """
    if arguments.peek("header") is False:
        return None
    cells = head.cells[0]
    renamed = _renamed(head, arguments)
    chosen = {*renamed.values(), *map(arguments.peek, ("columns.scores", "columns.genuine"))}
    if chosen.isdisjoint(cells) and not names_columns(head):
        return None
    require_names(head.path, head.start_line, cells)
    arguments.take("header")
    names = _names_of_columns(head, renamed, arguments)
    roles = _columns_by_role(head, names, arguments)
    if "score" in roles:
        _refuse_words(head, roles, renamed)
    _require_same_sides(head, names, roles)
    templates = tuple(roles[x] for x in ("template_a", "template_b") if x in roles)
    if not templates and _are_recordings(head, roles, names, arguments):
        templates = roles.pop("subject_a"), roles.pop("subject_b")
    kind = KINDS.get(names[roles["score"]]) if "score" in roles else None
    # With `labels`, metadata are columns of the table of templates.
    meta = {} if "labels" in arguments else _metadata_columns(head, renamed, arguments)
    named = frozenset(renamed)
    return Layout(cells, roles, templates, header=True, kind=kind, meta=meta, named=named)


def _renamed(head: Head, arguments: Arguments) -> dict[str, str]:
    known_names = {name for names in COLUMNS.values() for name in names} | {"template"}
    _require_roles(head, arguments.meta, known_names)
    return {word: name for word, name in arguments.meta.items() if folded(word) in known_names}


def _names_of_columns(head: Head, renamed: Mapping[str, str], arguments: Arguments) -> list[str]:
    """Return the folded name of each column, or the word of `renamed` that stands for it."""
    cells = head.cells[0]
    names = [*map(folded, cells)]
    for word, name in renamed.items():
        if name not in cells:
            raise _no_column(head, name, word, arguments)
        names[cells.index(name)] = "model" if word == "template" else folded(word)
    return names


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
            roles[role] = names.index(next(name for name in names_of_role if name in names))
    for noun in ("subject", "template"):
        if not {f"{noun}_a", f"{noun}_b"} <= roles.keys():
            roles = {role: i for role, i in roles.items() if not role.startswith(noun)}
    return roles


def _require_same_sides(head: Head, names: Sequence[str], roles: Mapping[str, int]) -> None:
    """Raise where subjects are called 1 and 2, and templates enrolled and probe, or the reverse.

    Which of the two is the probe's is then not known. `names` are the folded names of the columns.
    """
    cells = head.cells[0]
    columns_of_noun = {
        noun: [roles[f"{noun}_{side}"] for side in "ab"]
        for noun in ("subject", "template")
        if f"{noun}_a" in roles
    }
    is_renamed = any(
        folded(cells[i]) != names[i] for pair in columns_of_noun.values() for i in pair
    )
    clear = [x for x, (first, _) in columns_of_noun.items() if names[first] not in _SIDES_BY_NUMBER]
    if len(columns_of_noun) < 2 or len(clear) != 1 or is_renamed:
        return
    (unclear,) = columns_of_noun.keys() - {*clear}
    named = {x: " and ".join(repr(cells[i]) for i in pair) for x, pair in columns_of_noun.items()}
    raise fault(
        head.path,
        f"{named[unclear]} do not say which of them is of the probe, as {named[clear[0]]} do",
        "call them probe_subject and gallery_subject, or the others template_a and template_b"
        if unclear == "subject"
        else "call them probe and gallery, or the others subject_a and subject_b",
        line=head.start_line,
    )


def _metadata_columns(
    head: Head, renamed: Mapping[str, str], arguments: Arguments
) -> dict[str, tuple[int | None, int | None]]:
    """Return the columns that ``columns`` names as metadata, of the enrolled side and the probe.

    A word with the prefix of a side is of this side, another word of both sides.
    """
    cells = head.cells[0]
    column_by_side = dict[str, dict[str, int]]()
    for word, name in arguments.all_meta().items():
        if word in renamed:
            continue
        if name not in cells:
            raise _no_column(head, name, word, arguments)
        column = re.sub("^(probe|gallery)_", "", word)
        for side in ("gallery", "probe"):
            if word in (column, f"{side}_{column}"):
                column_by_side.setdefault(column, {})[side] = cells.index(name)
    return {
        column: (number.get("gallery"), number.get("probe"))
        for column, number in column_by_side.items()
    }


def _no_column(head: Head, name: str, word: str, arguments: Arguments) -> DataError:
    names_in_use = {
        *arguments.meta.values(),
        arguments.peek("columns.scores"),
        arguments.peek("columns.genuine"),
    }
    option = f'`columns={{"{word}": "{name}"}}`'
    return missing(head.path, "column", name, head.cells[0], option, other_arguments=names_in_use)


def _require_roles(head: Head, columns: Mapping[str, str], known_names: Collection[str]) -> None:
    """Raise where a word of ``columns`` is nearly a known name, and no known name."""
    for word, name in columns.items():
        if folded(word) in known_names:
            continue
        close_matches = difflib.get_close_matches(folded(word), known_names, n=1, cutoff=0.85)
        if close_matches and not re.fullmatch(
            f"{re.escape(folded(word))}_?[ab12]", close_matches[0]
        ):
            raise fault(
                head.path,
                f'`columns={{"{word}": "{name}"}}` names no role',
                f"did you mean {close_matches[0]!r}?",
            )


def _refuse_words(head: Head, roles: Mapping[str, int], renamed: Mapping[str, str]) -> None:
    """Raise where the column of scores has words alone, and a column without a role numbers."""
    names = head.cells[0]
    cells_of_column = {
        name: [str(cell) for cell in head.column(i)[1:] if cell == cell and cell]
        for i, name in enumerate(names)
    }
    score = names[roles["score"]]
    scores = cells_of_column[score]
    if not scores or any(map(like_number, scores)):
        return
    word_of = {name: word for word, name in renamed.items()}
    with_roles = {names[i] for i in roles.values()} - word_of.keys()
    numeric = [
        name
        for name, cells in cells_of_column.items()
        if cells and name not in with_roles and all(map(like_number, cells))
    ]
    if not numeric:
        return
    suggested = next((name for name in numeric if name in word_of), numeric[0])
    advice = f"expected numbers, such as those of {suggested!r}"
    if suggested in word_of:
        advice = (
            f"{suggested!r}, which `columns` has as {word_of[suggested]!r}, holds "
            "numbers: exchange the two"
        )
    problem = f"{score!r} is the column of the scores and holds {scores[0]!r}"
    raise fault(head.path, problem, advice, line=head.start_line + 1)


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
    trial_arguments = Arguments({"columns": {"genuine": genuine}} if genuine else {})
    layout = with_header(head, trial_arguments)
    if layout is not None:
        if layout.get("genuine") is None and head.width > 2:
            raise DataError(
                f"{head.path}: no column marks genuine trials; its columns are "
                f"{', '.join(map(repr, layout.names))}, expected one called genuine, target or "
                'label, or another that `columns={"genuine": ...}` names'
            )
        arguments.take("columns.genuine")
        return layout
    if layout_with_scores(head):
        raise fault(
            head.path,
            "is not a list of trials: it has names and a score on each line, and no word for the "
            "class",
            "give the trials, and other systems to `bioeval compare`",
        )
    letters = signature(head)
    if head.width == 2 and not {*letters}.isdisjoint("wb"):
        refuse_decimal_commas(head, 1)
    # `header` is stated for the scores, and counts for trials with a numbered first line, too.
    has_numbered_line = counts_columns(head.cells[0])
    layout = matched(head, TRIALS, arguments if has_numbered_line else trial_arguments)
    if layout is None:
        raise _no_trials(head, letters)
    return layout


def _no_trials(head: Head, letters: str) -> DataError:
    class_columns = [i for x in "wb" for i, letter in enumerate(letters) if letter == x]
    if len(class_columns) > 1:
        content = "words such as target, 1 or 0"
        return two_readings(head, class_columns, content, "could mark genuine pairs")
    return DataError(
        f"{head.path}: is not a list of trials; expected two names and a word such as target or "
        "nontarget, 1 or 0, on each line, or the names of genuine pairs alone (impostor scores are "
        f"the second of two files of scores){unknown_words(head)}"
    )


def layout_with_scores(head: Head) -> bool:
    """Whether a list without names of columns has names and a score with a fraction."""
    letters = signature(head)
    return 2 <= head.width <= MOST_UNNAMED and {*letters} <= {*"tif"} and letters.count("f") == 1
