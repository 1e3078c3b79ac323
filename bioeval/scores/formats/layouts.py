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
from bioeval.scores.bona_fide import is_bona_fide
from bioeval.scores.formats.faults import fault, missing
from bioeval.scores.formats.layout_table import (
    KEYED,
    LISTS,
    MOST_UNNAMED,
    TRIALS,
    Row,
    signature,
)
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.spellings import (
    COLUMNS,
    KINDS,
    TRIAL_NAMES,
    TRUTH,
    counts_columns,
    folded,
    is_attack,
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


class Numbered(NamedTuple):
    """The first line of a text without names of columns, as pandas writes it or as data."""

    header: bool  # whether the line is no data
    unnamed: int = 0  # leading columns without a name: the index of pandas


@dataclass
class Layout:
    """The columns of a list by their number; the enrolled side is first."""

    names: list[str] = field(repr=False)  # of the columns, in messages
    roles: dict[str, int] = field(default_factory=dict)
    #: The columns of names of both templates; a single column is the key of an attempt.
    templates: tuple[int, ...] = ()
    header: bool = False  # whether the first line has the names
    #: Columns that pandas numbered, not named: the first line is none of the list.
    numbered: Numbered = field(default_factory=lambda: Numbered(False))
    kind: Kind | None = None  # what the scores are, where the file declares it
    claims: bool = False  # whether enrolled templates are named by their subjects alone
    #: Columns of metadata by their names: of the enrolled side and of the probe, None if unknown.
    meta: dict[str, tuple[int | None, int | None]] = field(default_factory=dict)
    named: frozenset[str] = frozenset()  # words of ``columns`` that are roles, and no metadata

    def get(self, role: str) -> int | None:
        """Return the column of a role."""
        return self.roles.get(role)

    @property
    def with_roles(self) -> set[str]:
        """The names of the columns that have a role."""
        return {self.names[i] for i in self.roles.values()}

    @property
    def skips_line(self) -> bool:
        """Whether the first line is none of the list."""
        return self.header or self.numbered.header

    @property
    def score(self) -> int:
        """The column of scores."""
        return self.roles["score"]

    @property
    def subjects(self) -> tuple[int, ...]:
        """The columns of the subjects of both sides, or none."""
        sides = [self.roles[side] for side in ("subject_a", "subject_b") if side in self.roles]
        return tuple(sides) if len(sides) == 2 else ()

    @property
    def names_templates(self) -> bool:
        """Whether the templates of both sides have names."""
        return len(self.templates) == 2 and not self.claims

    @property
    def may_be_blank(self) -> list[int]:
        """The columns in which a cell may be blank: metadata that are unknown, or no attack.

        So may scores with a name, of a comparison that failed, and subjects, of no person.
        """
        blank = [i for two in self.meta.values() for i in two]
        blank += self.subjects if self.skips_line else ()
        species_and_score = self.get("species"), self.score if self.skips_line else None
        return [i for i in (*blank, *species_and_score) if i is not None]

    def called(self, columns: Iterable[int | None]) -> dict[int, str]:
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
    if layout.numbered.header:
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
            line=head.first,
        )
    return layout


def matched(head: Head, table: Sequence[Row], arguments: Arguments) -> Layout | None:
    """Return the first layout of a table that has the signature of a list without names."""
    numbered = numbered_columns(head, arguments)
    index = numbered.unnamed  # leading columns that pandas added
    if numbered.header:
        head = replace(head, cells=[row[index:] for row in head.rows[1:]])
    letters = signature(head)
    species = _column_of_species(head, letters)
    if species is not None:
        letters = f"{letters[:species]}t{letters[species + 1 :]}"
    for row in table if len(letters) <= MOST_UNNAMED else ():
        if match := re.fullmatch(row.pattern, letters):
            roles = {role: index + match.start(role) for role in match.groupdict()}
            if species is not None:
                roles["species"] = index + species
            names = [*map("column {}".format, range(1, index + len(letters) + 1))]
            for role, i in roles.items():
                names[i] = role
            further_columns = [i for i in range(index, len(names)) if i not in roles.values()]
            if "subject_a" not in roles:
                return Layout(names, roles, tuple(further_columns), numbered=numbered)
            templates = roles.get("template_a", index), roles["template_b"]
            claims = "template_a" not in roles
            return Layout(names, roles, templates, numbered=numbered, claims=claims)  # bob's
    return None


def numbered_columns(head: Head, arguments: Arguments) -> Numbered:
    """Return whether the first line of a text without names of columns is no data.

    The first line is no data where the cells after a blank cell number the columns, or number them
    above words for classes, or where `header` says so. A line that may be data raises an error.
    """
    first, *rows = head.rows
    index = int(not first[0] and counts_columns(first[1:]))
    stated = arguments.take("header")
    below = replace(head, cells=rows) if rows else None
    if stated is None and not index and counts_columns(first):
        if all(map(counts_columns, rows)):
            return Numbered(False)
        if below is None or "w" not in signature(below):
            line = head.delimiter.join(first)
            raise fault(
                head.path,
                f"{line!r} may number the columns, as pandas writes them, or be data",
                "give `header=True` if it numbers the columns and `header=False` if it is data",
                line=head.first,
            )
        stated = True
    is_header = bool(index) if stated is None else stated
    if is_header and below is None:
        raise fault(head.path, "has a header but no rows")
    if is_header:
        arguments.notes.append(f"the first line of {head.path.name} left out: a header")
    return Numbered(is_header, index if is_header else 0)


def _column_of_species(head: Head, letters: str) -> int | None:
    """Return the column that names the species of attacks, beside a column of classes.

    Some attacks have a species, and no bona fide presentation has one.
    """
    for genuine in (i for i, x in enumerate(letters) if x == "w"):
        attacks = [*map(is_attack, head.column(genuine))]
        if all(attacks) or not any(attacks):
            continue
        for i in (i for i, x in enumerate(letters) if i != genuine and x in "tw"):
            kinds = {*zip(attacks, map(is_bona_fide, head.column(i)), strict=True)}
            # Pairs of (is an attack, has no species); an attack may lack its species.
            if kinds - {(True, True)} == {(True, False), (False, True)}:
                return i
    return None


def with_header(head: Head, arguments: Arguments) -> Layout | None:
    """Return the layout of a list whose first line names its columns; None if it does not.

    A word of ``columns`` that a column might be called gives it this name, and so its role.
    """
    if arguments.peek("header") is False:
        return None
    cells = head.cells[0]
    renamed = _renamed(head, arguments)
    chosen = {*renamed.values(), *map(arguments.peek, ("columns.scores", "columns.genuine"))}
    if chosen.isdisjoint(cells) and not names_columns(head):
        return None
    require_names(head.path, head.first, cells)
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
    layout = Layout(cells, roles, templates, header=True, kind=kind, named=frozenset(renamed))
    if "labels" not in arguments:  # else they are columns of the table of templates
        _add_metadata(head, layout, arguments)
    return layout


def _renamed(head: Head, arguments: Arguments) -> dict[str, str]:
    """Return the words of ``columns`` that give a role, each with the column that gets it."""
    known_names = {name for names in COLUMNS.values() for name in names} | {"template"}
    _require_roles(head, arguments.meta, known_names)
    return {word: name for word, name in arguments.meta.items() if folded(word) in known_names}


def _names_of_columns(head: Head, renamed: Mapping[str, str], arguments: Arguments) -> list[str]:
    """Return the folded name of each column, or the word that `renamed` gives it instead."""
    cells = head.cells[0]
    names = [*map(folded, cells)]
    for word, name in renamed.items():
        if name not in cells:
            raise _no_column(head, name, word, arguments)
        names[cells.index(name)] = "model" if word == "template" else folded(word)
    return names


def _columns_by_role(head: Head, names: Sequence[str], arguments: Arguments) -> dict[str, int]:
    """Return the number of the column of each role, by an argument or by its folded name.

    Subjects, or templates, of one side alone have no meaning, and no role.
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
                line=head.first,
            )
        elif chosen is None and candidates:
            roles[role] = names.index(next(name for name in names_of_role if name in names))
    for noun in ("subject", "template"):
        if not {f"{noun}_a", f"{noun}_b"} <= roles.keys():
            roles = {role: i for role, i in roles.items() if not role.startswith(noun)}
    return roles


def _require_same_sides(head: Head, names: Sequence[str], roles: Mapping[str, int]) -> None:
    """Raise where numbers tell apart the subjects, and sides the templates, or the reverse.

    Which side a number means is then not known. `names` are the folded names of the columns.
    """
    cells = head.cells[0]
    by_number = {
        noun: names[roles[f"{noun}_a"]] in _SIDES_BY_NUMBER
        for noun in ("subject", "template")
        if f"{noun}_a" in roles
    }
    columns = [roles[f"{noun}_{side}"] for noun in by_number for side in "ab"]
    is_renamed = any(folded(cells[i]) != names[i] for i in columns)
    if len({*by_number.values()}) < 2 or is_renamed:
        return
    noun = max(by_number, key=lambda x: by_number[x])
    unclear, clear = (
        " and ".join(repr(cells[roles[f"{x}_{side}"]]) for side in "ab")
        for x in (noun, *(by_number.keys() - {noun}))
    )
    raise fault(
        head.path,
        f"{unclear} do not say which of them is of the probe, as {clear} do",
        "call them probe_subject and gallery_subject, or the others template_a and template_b"
        if noun == "subject"
        else "call them probe and gallery, or the others subject_a and subject_b",
        line=head.first,
    )


def _add_metadata(head: Head, layout: Layout, arguments: Arguments) -> None:
    """Add the columns of metadata that ``columns`` names, each to the sides of its word."""
    stated = {word: name for word, name in arguments.all_meta().items() if word not in layout.named}
    cells = head.cells[0]
    sides = dict[str, dict[str, int]]()
    for word, name in stated.items():
        if name not in cells:
            raise _no_column(head, name, word, arguments)
        column = re.sub("^(probe|gallery)_", "", word)
        for side in ("gallery", "probe"):
            if word in (column, f"{side}_{column}"):
                sides.setdefault(column, {})[side] = cells.index(name)
    for column, places in sides.items():
        layout.meta[column] = (places.get("gallery"), places.get("probe"))


def _no_column(head: Head, name: str, word: str, arguments: Arguments) -> DataError:
    names_in_use = {
        *arguments.meta.values(),
        arguments.peek("columns.scores"),
        arguments.peek("columns.genuine"),
    }
    option = f'`columns={{"{word}": "{name}"}}`'
    return missing(head.path, "column", name, head.cells[0], option, other_arguments=names_in_use)


def _require_roles(head: Head, columns: Mapping[str, str], known_names: Collection[str]) -> None:
    """Raise where a word of ``columns`` is a misspelt role, and would be taken for metadata."""
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
    """Raise where the column of scores holds words, and another column may hold the scores."""
    names = head.cells[0]
    columns = [[str(x) for x in head.column(i)[1:] if x == x and x] for i in range(len(names))]
    scores = columns[roles["score"]]
    if not scores or any(map(like_number, scores)):
        return
    word_of = {name: word for word, name in renamed.items()}
    with_roles = {names[i] for i in roles.values()} - word_of.keys()
    numeric = [x for x, cells in zip(names, columns, strict=True) if cells and x not in with_roles]
    numeric = [x for x in numeric if all(map(like_number, columns[names.index(x)]))]
    if not numeric:
        return
    numeric_column = next((x for x in numeric if x in word_of), numeric[0])
    advice = f"expected numbers, such as those of {numeric_column!r}"
    if numeric_column in word_of:
        advice = (
            f"{numeric_column!r}, which `columns` has as {word_of[numeric_column]!r}, holds "
            "numbers: exchange the two"
        )
    problem = f"{names[roles['score']]!r} is the column of the scores and holds {scores[0]!r}"
    raise fault(head.path, problem, advice, line=head.first + 1)


def _are_recordings(
    head: Head, roles: Mapping[str, int], names: Sequence[str], arguments: Arguments
) -> bool:
    """Whether columns such as enrol and test name recordings, and not the subjects themselves.

    An argument then says whose they are, or a genuine pair has two names.
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
    if genuine is None:  # a pair of equal names would be a genuine pair of subjects
        return bool(rows) and all(row[first] != row[second] for row in rows)
    return any(TRUTH.get(truth_word(row[genuine])) and row[first] != row[second] for row in rows)


def names_columns(head: Head) -> bool:
    """Whether the first line of a text names the columns of a list, as far as they are known."""
    places = {folded(cell): i for i, cell in enumerate(head.cells[0])}
    if any(map(is_number, head.cells[0])):
        return False
    roles = {role for role, names in COLUMNS.items() if not places.keys().isdisjoint(names)}
    if "score" in roles:
        return True
    for name in places.keys() & {*COLUMNS["genuine"]}:
        # "target" is a name above 1 and 0, and a word above other words.
        _, *below = head.column(places[name])
        return not is_truth(name) or any(map(is_number, below))
    return {"subject_a", "subject_b"} <= roles or {"template_a", "template_b"} <= roles


def trial_layout(head: Head, arguments: Arguments) -> Layout:
    """Return the layout of a list of trials: names, and a word for genuine or impostor.

    Two names alone are a genuine pair.
    """
    genuine = arguments.peek("columns.genuine")
    of_trials = Arguments({"columns": {"genuine": genuine}} if genuine else {})
    layout = with_header(head, of_trials)
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
    of_first_line = arguments if counts_columns(head.cells[0]) else of_trials
    layout = matched(head, TRIALS, of_first_line)
    if layout is not None:
        return layout
    classes = [i for x in "wb" for i, y in enumerate(letters) if x == y]
    if len(classes) > 1:
        content = "words such as target, 1 or 0"
        raise two_readings(head, classes, content, "could mark genuine pairs")
    raise DataError(
        f"{head.path}: is not a list of trials; expected two names and a word such as target or "
        "nontarget, 1 or 0, on each line, or the names of genuine pairs alone (impostor scores are "
        f"the second of two files of scores){unknown_words(head)}"
    )


def layout_with_scores(head: Head) -> bool:
    """Whether a list without names of columns has names and a score with a fraction."""
    letters = signature(head)
    return 2 <= head.width <= MOST_UNNAMED and {*letters} <= {*"tif"} and letters.count("f") == 1
