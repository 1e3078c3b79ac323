"""The layouts of lists of comparisons, as a table.

Each column of a list has a letter, by the cells of its first lines: ``w`` a word for genuine or
impostor (target, bonafide), ``b`` the same as a number (1, 0, -1), ``i`` whole numbers, ``f``
numbers with a fraction, ``t`` other text. The letters of all columns are the list's signature, such
as ``bttf`` for ``1 a.wav b.wav 0.7``. A layout is a regular expression for signatures, and its
groups are roles; the other columns name the templates, or the attempt. A first line with names of
columns decides before the signature.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from bioeval.base.errors import DataError, backquoted
from bioeval.base.kinds import Kind
from bioeval.scores.bona_fide import is_bona_fide
from bioeval.scores.formats.faults import fault, missing

# ------------------------------------------------------------------------- spellings

_GENUINE = (
    *("1", "1.0", "+1", f"{1:.18e}", "true", "genuine", "target", "match", "mated", "same"),
    *("client", "bonafide", "bona-fide"),
)
#: Spellings of impostor by their meaning; words of two rows in one list are refused, except attacks
#: beside another row. (As np.savetxt writes 0 and -1 where nothing else is asked for, too.)
IMPOSTORS = (
    ("0", "0.0", f"{0:.18e}"),
    ("-1", "-1.0", f"{-1:.18e}"),
    ("spoof", "attack"),
    ("nontarget", "non-target", "impostor", "imposter", "nonmatch", "non-match", "different"),
)
#: Spellings of genuine and impostor, in lower case and with ``-`` for ``_``.
TRUTH = dict.fromkeys(_GENUINE, True) | dict.fromkeys(
    ("false", "nonmated", "non-mated", *sum(IMPOSTORS, ())), False
)

#: Names of columns by role; the first name present counts. Side a is enrolled.
COLUMNS: dict[str, tuple[str, ...]] = {
    "score": ("score", "scores", "distance", "dissimilarity", "similarity", "llr", "y_score"),
    "genuine": (
        *("genuine", "target", "is_target", "match", "mated", "same", "is_genuine", "label"),
        *("targettype", "target_type", "y_true"),
    ),
    "subject_a": (
        *("subject_a", "subject_1", "enrol", "enroll", "claimed_id", "gallery_subject"),
        "bio_ref_subject_id",
    ),
    "subject_b": (
        *("subject_b", "subject_2", "test", "real_id", "probe_subject", "probe_subject_id"),
    ),
    "template_a": (
        *("template_a", "template_1", "model", "model_label", "gallery", "bio_ref_template_id"),
        *("modelid", "model_id"),  # NIST's evaluations of speakers
        *("image1", "image_1", "file1", "file_1", "path1", "path_1", "img1", "img_1"),
    ),
    "template_b": (
        *("template_b", "template_2", "probe", "probe_label", "probe_template_id", "probe_key"),
        *("segmentid", "segment_id", "segment", "query"),
        *("image2", "image_2", "file2", "file_2", "path2", "path_2", "img2", "img_2"),
    ),
    "fold": ("fold",),
    "species": ("attack", "species", "attack_type", "pai", "pais"),
}
#: Every name of a column of a list, except columns of species.
HEADER_NAMES = {name for role, names in COLUMNS.items() if role != "species" for name in names}
#: The kind of scores that the name of their column declares.
KINDS: dict[str, Kind] = {
    "distance": "distance",
    "dissimilarity": "distance",
    "similarity": "similarity",
    "llr": "llr",
}
#: Names of the sides of a trial, which lists of speakers give to subjects or to recordings.
TRIAL_NAMES = ("enrol", "enroll", "test")
# Names that only number the sides: both are one set of templates.
_NUMBERED = ("subject_a", "subject_1", "template_a", "template_1")

#: The most columns of a table, or arrays of metadata: more are a matrix, or damage.
MOST_COLUMNS = 1000
_MOST_UNNAMED = 12  # columns of a list without their names: ASVspoof 2021 has 8

# ------------------------------------------------------------------------- the table


@dataclass(frozen=True)
class Row:
    """A layout of lists without names of columns: its signature, an example, and who has it.

    A row without a meaning is a variant of the row before.
    """

    pattern: str
    example: str
    meaning: str = ""
    source: str = ""


LISTS = (
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
    Row(
        r"[tib]*(?P<genuine>w)[tib]*(?P<score>f)[tib]*",
        "target a.wav b.wav 0.7",
        "a word for the class, perhaps names, and the score",
        "ASVspoof",
    ),
    Row(r"[tib]*(?P<score>f)[tib]*(?P<genuine>w)[tib]*", "a.wav b.wav 0.7 target"),
    Row(r"t*(?P<genuine>w)t*(?P<score>[ib])t*", "target a.wav b.wav 7"),
    Row(r"t*(?P<score>[ib])t*(?P<genuine>w)t*", "a.wav b.wav 7 target"),
    Row(
        r"[ti]*(?P<genuine>b)[ti]*(?P<score>f)[ti]*",
        "1 a.wav b.wav 0.7",
        "1 or 0, perhaps names, and the score",
        "VoxCeleb",
    ),
    Row(r"[ti]*(?P<score>f)[ti]*(?P<genuine>b)[ti]*", "0.7 1"),
    Row(r"t*(?P<genuine>b)t*(?P<score>i)t*", "1 7"),
    Row(r"t*(?P<score>i)t*(?P<genuine>b)t*", "7 1"),
    Row(
        r"(?P<score>[fib])",
        "0.7",
        "genuine scores, with the impostor scores as a second file; or in the order of trials",
        "PyEER, FVC",
    ),
)
#: Lists whose class another file or the names tell; tried first where an argument says so.
KEYED = (
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


# ------------------------------------------------------------------------- cells


def folded(name: str) -> str:
    """Return the name of a column in lower case, with ``_`` for blanks and hyphens."""
    return name.casefold().replace("-", "_").replace(" ", "_")


def is_number(cell: str) -> bool:
    """Whether a cell is a number, NaN and infinity among them."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def like_number(cell: str) -> bool:
    """Whether a cell is a number, or a near-number with advice in its error: ``50%``, ``0,5``."""
    return is_number(cell.removesuffix("%").replace(",", ".", 1))


def truth_word(cell: str) -> str:
    """Return a cell as :data:`TRUTH` spells it."""
    return cell.casefold().replace("_", "-")


def is_truth(cell: str) -> bool:
    """Whether a cell states genuine or impostor."""
    return truth_word(cell) in TRUTH


def is_attack(cell: str) -> bool:
    """Whether a cell states that a presentation is an attack."""
    return cell.casefold() in ("spoof", "attack")


def has_three_classes(words: Iterable[str]) -> bool:
    """Whether there are words of targets, of nontargets and of attacks (ASVspoof's SASV)."""
    spelled, (*_, attacks, nontargets) = {*map(truth_word, words)}, IMPOSTORS
    return not (spelled.isdisjoint(attacks) or spelled.isdisjoint(nontargets))


def require_few(path: Any, line: int, cells: Sequence[str]) -> None:
    """Raise where a line has more columns than a list or a table."""
    if len(cells) > MOST_COLUMNS:
        problem = f"has more than {MOST_COLUMNS:,} columns"
        raise fault(path, problem, "a matrix of scores is read from .npy or .npz", line=line)


def require_names(path: Any, line: int, cells: Sequence[str]) -> None:
    """Raise where a column has no name, or the name of another."""
    for number, name in enumerate(cells, 1):
        if not name and number > 1:  # the first may be the index of pandas
            raise fault(path, f"column {number} has no name in the header", line=line)
        if name in cells[: number - 1]:
            raise fault(path, f"two columns are called {name!r}", line=line)


def _most(cells: Sequence[bool]) -> bool:
    return 2 * sum(cells) > len(cells)


def letter(cells: Sequence[str]) -> str:
    """Return the letter for the content of most cells of a column; see the module."""
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


def signature(head: Any) -> str:
    """Return the letter of each column."""
    return "".join(letter(head.column(i)) for i in range(head.width))


def counts_columns(cells: Sequence[str]) -> bool:
    """Whether cells are 0..k-1 in some order, as pandas writes above columns without names."""
    return {*cells} == {*map(str, range(len(cells)))}


def numbered_columns(head: Any, arguments: Any) -> Numbered:
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


# ------------------------------------------------------------------------- finding a layout


def layout_of(head: Any, arguments: Any) -> Layout:
    """Return the layout of a list of comparisons, by the names of columns or by its signature."""
    layout = with_header(head, arguments)
    if "columns.scores" not in arguments and (description := foreign(head)):
        raise fault(head.path, description)
    if layout is not None:
        return layout
    table = (*KEYED, *LISTS) if arguments.names_templates else (*LISTS, *KEYED)
    layout = matched(head, table, arguments)
    if layout is None:
        raise _unknown(head)
    if layout.numbered.header:
        return layout
    _refuse_decimal_commas(head, layout.score)
    first, *below = head.column(layout.score)
    if "%" in head.cells[0] or "%" in head.cells[-1]:
        raise fault(head.path, "has per cent signs", "write per cent as fractions")
    description = head.width == 1 and first.isalpha()
    if below and not like_number(first) and all(map(is_number, below)) and not description:
        names = ", ".join(map(repr, head.cells[0]))
        raise fault(
            head.path,
            f"the columns {names} have no name that is known",
            f'give `columns={{"scores": "{head.cells[0][layout.score]}"}}` and '
            '`columns={"genuine": ...}`, or call them score and genuine',
            line=head.first,
        )
    return layout


def matched(head: Any, table: Sequence[Row], arguments: Any) -> Layout | None:
    """Return the first layout of a table that has the signature of a list without names."""
    numbered = numbered_columns(head, arguments)
    index = numbered.unnamed
    if numbered.header:
        head = replace(head, cells=[row[index:] for row in head.rows[1:]])
    letters = signature(head)
    species = _column_of_species(head, letters)
    if species is not None:
        letters = f"{letters[:species]}t{letters[species + 1 :]}"
    for row in table if len(letters) <= _MOST_UNNAMED else ():
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


def _column_of_species(head: Any, letters: str) -> int | None:
    for genuine in (i for i, x in enumerate(letters) if x == "w"):
        attacks = [*map(is_attack, head.column(genuine))]
        if all(attacks) or not any(attacks):
            continue
        for i in (i for i, x in enumerate(letters) if i != genuine and x in "tw"):
            kinds = {*zip(attacks, map(is_bona_fide, head.column(i)), strict=True)}
            # An attack may lack its species, but no bona fide presentation has one.
            if kinds - {(True, True)} == {(True, False), (False, True)}:
                return i
    return None


def with_header(head: Any, arguments: Any) -> Layout | None:
    """Return the layout of a list whose first line names its columns.

    A word of ``columns`` that a column might be called gives it this name, and so its role.
    """
    cells = head.cells[0]
    if arguments.peek("header") is False:
        return None
    known_names = {name for names in COLUMNS.values() for name in names} | {"template"}
    _require_roles(head, arguments.meta, known_names)
    renamed = {word: name for word, name in arguments.meta.items() if folded(word) in known_names}
    chosen = {
        "score": arguments.peek("columns.scores"),
        "genuine": arguments.peek("columns.genuine"),
    }
    if {*renamed.values(), *chosen.values()}.isdisjoint(cells) and not names_columns(head):
        return None
    require_names(head.path, head.first, cells)
    arguments.take("header")
    folded_names = [*map(folded, cells)]
    for word, name in renamed.items():
        if name not in cells:
            raise _no_column(head, name, word, arguments)
        folded_names[cells.index(name)] = "model" if word == "template" else folded(word)
    roles = {}
    for role, names in COLUMNS.items():
        option = "columns.scores" if role == "score" else f"columns.{role}"
        several = [cell for cell, name in zip(cells, folded_names, strict=True) if name in names]
        if chosen.get(role) in cells:
            roles[role] = cells.index(arguments.take(option))
        elif role in chosen and chosen[role] is None and len(several) > 1:
            raise fault(
                head.path,
                f"{' and '.join(map(repr, several))} could each be the column of "
                f"{option.removeprefix('columns.')}",
                f"say {backquoted(option, several[0])}",
                line=head.first,
            )
        elif chosen.get(role) is None and several:
            roles[role] = folded_names.index(next(name for name in names if name in folded_names))
    for side in ("subject", "template"):  # of one side alone, a name has no meaning
        if not {f"{side}_a", f"{side}_b"} <= roles.keys():
            roles = {role: i for role, i in roles.items() if not role.startswith(side)}
    if "score" in roles:
        _refuse_words(head, roles, renamed)
    _require_same_sides(head, cells, folded_names, roles)
    templates = tuple(roles[x] for x in ("template_a", "template_b") if x in roles)
    if not templates and _are_recordings(head, roles, folded_names, arguments):
        templates = roles.pop("subject_a"), roles.pop("subject_b")
    kind = KINDS.get(folded_names[roles["score"]]) if "score" in roles else None
    named = frozenset(renamed)
    layout = Layout(cells, roles, templates, header=True, kind=kind, named=named)
    if "labels" not in arguments:  # else they are columns of the table of templates
        _add_metadata(head, layout, arguments)
    return layout


def _require_same_sides(
    head: Any, cells: list[str], folded_names: list[str], roles: dict[str, int]
) -> None:
    numbered = {
        noun: folded_names[roles[f"{noun}_a"]] in _NUMBERED
        for noun in ("subject", "template")
        if f"{noun}_a" in roles
    }
    columns = [roles[f"{noun}_{side}"] for noun in numbered for side in "ab"]
    if len({*numbered.values()}) < 2 or any(folded(cells[i]) != folded_names[i] for i in columns):
        return
    noun = max(numbered, key=lambda x: numbered[x])
    unclear, clear = (
        " and ".join(repr(cells[roles[f"{x}_{side}"]]) for side in "ab")
        for x in (noun, *(numbered.keys() - {noun}))
    )
    raise fault(
        head.path,
        f"{unclear} do not say which of them is of the probe, as {clear} do",
        "call them probe_subject and gallery_subject, or the others template_a and template_b"
        if noun == "subject"
        else "call them probe and gallery, or the others subject_a and subject_b",
        line=head.first,
    )


def _add_metadata(head: Any, layout: Layout, arguments: Any) -> None:
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


def _no_column(head: Any, name: str, word: str, arguments: Any) -> DataError:
    names_in_use = {
        *arguments.meta.values(),
        arguments.peek("columns.scores"),
        arguments.peek("columns.genuine"),
    }
    option = f'`columns={{"{word}": "{name}"}}`'
    return missing(head.path, "column", name, head.cells[0], option, other_arguments=names_in_use)


def _require_roles(head: Any, columns: Mapping[str, str], known_names: Collection[str]) -> None:
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


def _refuse_words(head: Any, roles: Mapping[str, int], renamed: Mapping[str, str]) -> None:
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
    head: Any, roles: Mapping[str, int], folded_names: list[str], arguments: Any
) -> bool:
    """Whether columns such as enrol and test name recordings, and not the subjects themselves.

    An argument then says whose they are, or a genuine pair has two names.
    """
    if "subject_a" not in roles:
        return False
    first, second = roles["subject_a"], roles["subject_b"]
    if folded_names[first] not in TRIAL_NAMES or folded_names[second] not in TRIAL_NAMES:
        return False
    if arguments.names_templates:
        return True
    genuine = roles.get("genuine")
    rows = head.rows[1:]
    if genuine is None:  # without a pair of equal names, they tell no genuine pair
        return bool(rows) and all(row[first] != row[second] for row in rows)
    return any(TRUTH.get(truth_word(row[genuine])) and row[first] != row[second] for row in rows)


def names_columns(head: Any) -> bool:
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


def trial_layout(head: Any, arguments: Any) -> Layout:
    """Return the layout of a list of trials: names, and a word for genuine or impostor.

    Two names alone are a genuine pair.
    """
    named = arguments.peek("columns.genuine")
    of_trials = type(arguments)({"columns": {"genuine": named}} if named else {})
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
        _refuse_decimal_commas(head, 1)
    # `header` is stated for the scores, and counts for trials with a numbered first line, too.
    of_first_line = arguments if counts_columns(head.cells[0]) else of_trials
    layout = matched(head, TRIALS, of_first_line)
    if layout is not None:
        return layout
    truths = [i for x in "wb" for i, y in enumerate(letters) if x == y]
    if len(truths) > 1:
        content = "words such as target, 1 or 0"
        raise _two_readings(head, truths, content, "could mark genuine pairs")
    raise DataError(
        f"{head.path}: is not a list of trials; expected two names and a word such as target or "
        "nontarget, 1 or 0, on each line, or the names of genuine pairs alone (impostor scores are "
        f"the second of two files of scores){unknown_words(head)}"
    )


def layout_with_scores(head: Any) -> bool:
    """Whether a list without names of columns has names and a score with a fraction."""
    letters = signature(head)
    return 2 <= head.width <= _MOST_UNNAMED and {*letters} <= {*"tif"} and letters.count("f") == 1


# ------------------------------------------------------------------------- other programs' files

#: Classes in labels of KITTI, in lower case.
KITTI_CLASSES = {
    "car",
    "van",
    "truck",
    "pedestrian",
    "person_sitting",
    "cyclist",
    "tram",
    "dontcare",
}
_COUNTS = re.compile(r"(.*_)?(count|counts|freq|frequency|bin|bins|hist|histogram)(_.*)?")


def foreign(head: Any) -> str:
    """Return the description of a text of another program; empty if unknown."""
    rows = head.rows
    width = head.width
    names = [*map(folded, head.cells[0])]
    named = not any(map(is_number, head.cells[0]))
    kitti = [
        i for i in (0, 2) if i < width and {*map(str.casefold, head.column(i))} <= KITTI_CLASSES
    ]
    if kitti and 15 <= width <= 18:
        return (
            "looks like labels of KITTI, boxes of objects; boxes of tracking are read by `bioeval "
            "tracking` with MOTChallenge's columns (frame, id, left, top, width, height)"
        )
    if width == 6 and {*head.column(1)} <= {"Q0", "0"} and all(map(is_number, head.column(4))):
        return (
            "looks like a run of TREC (query, Q0, document, rank, score, run); write a list with "
            "the columns probe, model, similarity and genuine"
        )
    if width == 4 and {*head.column(1)} <= {"Q0", "0"} and all(map(str.isdigit, head.column(3))):
        return (
            "looks like relevance judgements of TREC (query, 0, document, relevance); write a "
            "list with the columns probe, model and genuine as `trials`"
        )
    bins = len(rows) > 2 and width == 3 and letter(head.column(0)) == "f" and _are_even(head)
    if named:
        has_both_classes = {"genuine", "impostor"} <= {*names} or {"mated", "nonmated"} <= {*names}
        of_lists = HEADER_NAMES.difference(COLUMNS["score"]).isdisjoint(names)
        bins = has_both_classes and not {*COLUMNS["score"]}.isdisjoint(names)
        bins = bins or of_lists and any(map(_COUNTS.fullmatch, names))
    if bins:
        return (
            "looks like a histogram, counts of scores in bins; expected the scores themselves, "
            "one attempt a line"
        )
    return ""


def _are_even(head: Any) -> bool:
    try:
        bins = [float(cell) for cell in head.column(0)]
    except ValueError:
        return False
    steps = [high - low for low, high in zip(bins, bins[1:], strict=False)]
    even = min(steps) > 0 and max(steps) - min(steps) <= 1e-6 * max(steps)
    return even and all(cell.isdigit() for i in (1, 2) for cell in head.column(i))


# ------------------------------------------------------------------------- unknown lists


def _two_readings(head: Any, columns: list[int], content: str, so: str) -> DataError:
    *numbers, last = [str(i + 1) for i in columns]
    hold = f"column {last} holds"
    if numbers:
        hold = f"columns {', '.join(numbers)} and {last} each hold"
    return fault(
        head.path,
        f"{hold} {content}, and {so}",
        "write the names of the columns in a first line, such as 'genuine template_a template_b "
        "score' or 'claimed_id real_id probe_label score'",
        line=head.first,
    )


def refuse_two_readings(head: Any, columns: Sequence[int]) -> None:
    """Raise where columns of a list in bob's layout hold 0 and 1 alone."""
    if columns:
        so = "could mark genuine pairs, or have the layout of bob's lists"
        raise _two_readings(head, sorted(columns), "only 0 and 1", so)


def _refuse_decimal_commas(head: Any, score: int) -> None:
    for i in (score - 1, score):
        if head.delimiter != "," or not 0 <= i < head.width - 1:
            continue
        pairs = zip(head.column(i), head.column(i + 1), strict=True)
        decimal = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?", re.ASCII)
        if all(decimal.fullmatch(f"{whole},{fraction}") for whole, fraction in pairs):
            so = "could be decimals with a comma"
            raise _two_readings(head, [i, i + 1], "digits alone", so)


def _unknown(head: Any) -> DataError:
    letters = signature(head)
    places = {x: [i for i, y in enumerate(letters) if x == y] for x in "wbif"}
    numbers = sorted(places["b"] + places["i"] + places["f"])
    genuine = places["w"] or places["b"]
    if head.width <= _MOST_UNNAMED and len(places["w"]) < 2:
        if not places["w"] and len(places["b"]) > 1:
            return _two_readings(head, places["b"], "only 0 and 1", "could mark genuine pairs")
        further_numbers = [i for i in numbers if i not in genuine[:1]]
        if genuine and not further_numbers and head.width > 1:
            return fault(
                head.path,
                "is a list of trials without scores",
                "give the file with the scores, and this one as `trials`",
            )
        if len(further_numbers) > 1 and len(places["f"]) != 1 and (genuine or head.width > 2):
            return _two_readings(head, further_numbers, "numbers", "could be the scores")
    return no_scores(head)


def no_scores(head: Any, named: bool = False) -> DataError:
    """Return the error of a text, or of a table with `named` columns, without scores."""
    if description := foreign(head):
        return fault(head.path, description)
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


def unknown_words(head: Any) -> str:
    """Return a hint at a column of two words that could mean genuine and impostor, or nothing."""
    for i in range(head.width):
        words = [*dict.fromkeys(head.column(i))]
        names = {cell for j in head.columns_except(i) for cell in head.column(j)}
        repeated = len(words) == 2 < len(head.rows)
        if repeated and names.isdisjoint(words) and not any(map(like_number, words)):
            known_words = "target and nontarget, or 1 and 0"
            return (
                f". Column {i + 1} has the words {words[0]!r} and {words[1]!r}; write {known_words}"
            )
    return ""


def misspelt(names: Sequence[str], known_names: Collection[str] = ()) -> str:
    """Return a hint at the name that an unknown column may mean, or an empty string."""
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
