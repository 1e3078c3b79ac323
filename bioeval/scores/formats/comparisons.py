"""Lists of comparisons without scores: trials of speakers, pairs of LFW, of templates as in IJB.

Scores find their comparison by the names of templates, in any order of names and lines, or are in
the order of the list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import DataError, counted, received
from bioeval.base.messages import Message
from bioeval.scores.formats.faults import fault, refuse_rows
from bioeval.scores.formats.files import content, existing_file, read_text
from bioeval.scores.formats.layout_table import TRIALS
from bioeval.scores.formats.layouts import Layout, matched, trial_layout, with_header
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.spellings import IMPOSTORS, TRUTH, has_three_classes, truth_word
from bioeval.scores.formats.tables import Columns, Words, head_of, read_columns
from bioeval.scores.formats.unknown_lists import unknown_words
from bioeval.scores.matrix import Scores
from bioeval.scores.names import as_names, first_twice, places, united

if TYPE_CHECKING:
    import pandas as pd

# The first lines of scores, whose names tell the columns of names in a list of trials.
_SAMPLED_LINES = 1000

# Impostor and genuine pairs in LFW's form: people a and b, and the numbers i and j of their images.
_PAIRS = (
    re.compile(r"(?P<a>\S+) (?P<i>\d+) (?P<b>\S+) (?P<j>\d+)", re.ASCII),
    re.compile(r"(?P<a>\S+) (?P<i>\d+) (?P<j>\d+)", re.ASCII),
)
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
    hint: str = ""  # part of an error: the column that may hold the classes

    @property
    def path(self) -> Path:
        """The path of the list."""
        return self.table.path

    @property
    def names(self) -> list[int]:
        """The columns that may hold names: two, or more, of which the names of scores choose."""
        return [i for i in self.table.words if i != self.layout.get("genuine")]


def truth_of(column: Words, table: Columns, name: str) -> np.ndarray:
    """Return which rows are genuine, by a column of words for the classes.

    All words for impostors must mean the same; `name` is the name of the column in messages.
    """
    is_genuine = np.array([TRUTH.get(truth_word(x), -1) for x in column.values], dtype=np.int8)
    for code in np.flatnonzero(is_genuine < 0)[:1]:
        row = int(np.argmax(column.codes == code))
        cell = column.values[code]
        raise DataError(
            f"{table.place_of(row)}: {name} is {received(cell)}; expected one of 1, true, genuine, "
            "target, match, 0, false, impostor, nontarget, nonmatch"
        )
    spelled = {*map(truth_word, column.values)}
    meanings = [min(spelled.intersection(row)) for row in IMPOSTORS if spelled & {*row}]
    if len(meanings) > 1 and not (has_three_classes(spelled) and len(meanings) == 2):
        raise fault(
            table.path,
            f"{name} holds both {' and '.join(map(repr, meanings))}, and they differ in meaning",
            "leave out the lines of one",
        )
    return is_genuine.astype(bool)[column.codes]


# ------------------------------------------------------------------------- reading


def is_lfw(path: Path) -> bool:
    """Whether a text is a list of pairs in LFW's form, by its first two lines."""
    if content(existing_file(path)) != "text":
        return False
    first, *rows = (" ".join(row) for row in head_of(path).cells[:2])
    named = any(pattern.fullmatch(row) for row in rows for pattern in _PAIRS)
    return named and bool(_FOLDS.fullmatch(first))


def lists_trials(path: str | Path) -> bool:
    """Whether a file lists trials without scores: two names and a class on each line."""
    place = Path(path)
    if not place.is_file() or content(place) != "text" or is_lfw(place):
        return False
    with suppress(DataError):  # the text is no such list, or could be several
        head = head_of(place)
        layout = with_header(head, Arguments({})) or matched(head, TRIALS[:2], Arguments({}))
        if layout is not None and layout.get("score") is None:
            return "genuine" in layout.roles and len(layout.templates or layout.subjects) == 2
    return False


def read_comparisons(path: Path, arguments: Arguments) -> Comparisons:
    """Read a list, in LFW's form or with two names and perhaps a class on each line."""
    if is_lfw(path):
        return read_lfw(path)
    head = head_of(path)
    layout = trial_layout(head, arguments)
    classes = layout.get("genuine")
    index = range(layout.first_line.unnamed)
    names = head.columns_except(classes, layout.get("score"), *index)
    table = read_columns(head, layout.skips_line, layout.names_of([*names, classes]), {})
    genuine = (
        None if classes is None else truth_of(table.words[classes], table, layout.names[classes])
    )
    return Comparisons(table, layout, genuine, hint=unknown_words(head) if classes is None else "")


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
    numbers = [int(number) for number in header.split()]
    folds = numbers[0] if len(numbers) == 2 else 1
    class_size = numbers[-1]  # pairs of a class in each fold, genuine pairs first
    if not folds * class_size or len(rows) != 2 * folds * class_size:
        expected = (
            f"expected {folds} x 2 x {class_size} = {2 * folds * class_size:,}, from its first line"
        )
        raise fault(path, f"has {len(rows):,} pairs", expected)
    is_genuine = np.arange(len(rows)) // class_size % 2 == 0
    images: tuple[list[str], list[str]] = ([], [])
    people: tuple[list[str], list[str]] = ([], [])
    for genuine, (number, line) in zip(is_genuine.tolist(), rows, strict=True):
        match = _PAIRS[genuine].fullmatch(line)
        if match is None:
            form = "'name i j', two images of one subject" if genuine else "'name i other j'"
            raise DataError(f"{path}: line {number} is {line!r}; expected {form}")
        first_image = (match["a"], int(match["i"]))
        second_image = (match["a" if genuine else "b"], int(match["j"]))
        if first_image[0] == second_image[0] and (first_image == second_image or not genuine):
            compared = "one image with itself" if genuine else "images of one subject as impostors"
            raise DataError(f"{path}: line {number} compares {compared}: {line!r}")
        for side, (person, image) in enumerate((first_image, second_image)):
            images[side].append(f"{person} {image}")
            people[side].append(person)
    words = {i: _words(cells) for i, cells in enumerate(images)}
    fold = np.repeat(np.arange(folds), 2 * class_size)
    subjects = (_words(people[0]), _words(people[1]))
    table = Columns(path, words, {}, rows[0][0])
    return Comparisons(table, Layout([]), is_genuine, fold, subjects)


def _words(cells: list[str]) -> Words:
    distinct, codes = np.unique(cells, return_inverse=True)
    return Words.from_codes(codes, distinct.tolist())


# ------------------------------------------------------------------------- by names


def look_up(
    listed: Comparisons, names: Sequence[str], skip: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the places among `names` of both templates of comparisons, and which are found.

    The places of the enrolled template and of the probe are (found,), and a mask (comparisons,) has
    which comparisons are found. With `skip`, the others are left out; else they raise an error.
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
    columns = [listed.table.words[i] for i in listed.names]
    enrolled, probe = (
        places(as_names(column.values), template_names)[column.codes] for column in columns
    )
    is_found = (enrolled >= 0) & (probe >= 0)
    if not is_found.all() and not (skip and is_found.any()):
        row = int(np.argmin(is_found))
        name = columns[int(enrolled[row] >= 0)].objects()[row]
        advice = ""
        if is_found.any():
            advice = '; to leave such pairs out say `lists={"missing_pairs": "skip"}`'
        raise DataError(
            f"{listed.table.place_of(row)}: the template {name!r} is not among the {len(names):,}, "
            f"as of {int((~is_found).sum()):,} of {len(is_found):,} pairs one is not{advice}"
        )
    return enrolled[is_found], probe[is_found], is_found


@dataclass(frozen=True)
class Joined:
    """The rows of scores that have a trial, and the classes that the trials state."""

    rows: np.ndarray  # int64 (k,), increasing
    genuine: np.ndarray  # bool (k,)
    #: bool (k,): whether a row has its names in another order than its trial, whose first name is
    #: enrolled.
    exchanged: np.ndarray
    notes: list[Message]  # on rows and trials left out


def join(table: Columns, layout: Layout, listed: Comparisons, arguments: Arguments) -> Joined:
    """Find the trial of each score by names of templates, in any order of lines and names.

    A trial takes the score of the same order of names, if listed. Repeated scores of a pair of
    templates are left to the checks of all lists. The trials decide which template is enrolled: the
    first name, or the name in a column of enrolled templates.
    """
    trials = listed.table
    score_columns = layout.templates
    trial_columns, genuine = _names_and_classes(table, score_columns, listed)
    keys = _PairKeys.from_names(
        [table.words[i] for i in score_columns],
        [trials.words[i] for i in trial_columns],
        unordered=bool(arguments.peek("lists.unordered")) and len(score_columns) == 2,
    )
    if not layout.names_templates:
        is_repeated = keys.of_scores.duplicated()
        refuse_rows(is_repeated, table, "is listed before", "list each pair once")
    first_line = np.flatnonzero(~keys.of_trials.duplicated())  # (trials,): of distinct trials
    distinct = keys.of_trials[first_line]
    trial_of_score = keys.trials_of_scores(distinct, not_twice=genuine is not None)
    is_listed = trial_of_score >= 0
    line = first_line[trial_of_score]  # (scores,): meaningless where a score has no trial
    exchanged = keys.are_exchanged(line)

    notes = []
    repeated = len(keys.of_trials) - len(first_line)
    if genuine is None:
        listed_pairs = len(first_line)
        notes.append(
            Message("only-genuine-pairs-listed", pairs=listed_pairs, file=listed.path.name)
        )
    elif repeated:
        has_other_class = genuine != genuine[first_line][places(keys.of_trials, distinct)]
        wrong = "gives a pair another class than a line before"
        refuse_rows(has_other_class, trials, wrong, "give each pair one class")
    if repeated:
        notes.append(Message("repeated-pairs", pairs=repeated, how="", option=""))

    if genuine is None:
        # Impostor pairs are not listed: they have the order of most genuine pairs.
        exchanged[~is_listed] = 2 * exchanged[is_listed].sum() > is_listed.sum()
        return Joined(np.arange(len(is_listed)), is_listed, exchanged, notes)
    skip = arguments.take("lists.missing_pairs") == "skip"
    is_unscored = np.zeros(len(keys.of_trials), dtype=bool)
    is_unscored[first_line] = True
    is_unscored[line[is_listed]] = False
    notes += _note_left_out(~is_listed, table, "no trial", skip)
    notes += _note_left_out(is_unscored, trials, "no score", skip)
    rows = np.flatnonzero(is_listed)
    return Joined(rows, genuine[line[rows]], exchanged[rows], notes)


def _names_and_classes(
    table: Columns, score_columns: Sequence[int], listed: Comparisons
) -> tuple[tuple[int, ...], np.ndarray | None]:
    """Return the columns of names in a list of trials, and the classes; None: all are genuine.

    If scores have one name, such as of a pair, a column beside the name may hold the classes.
    """
    columns = _columns_of_names(table, score_columns, listed)
    genuine = listed.genuine
    if genuine is None and len(score_columns) == 1:
        for i in [i for i in listed.names if i not in columns][:1]:
            genuine = truth_of(listed.table.words[i], listed.table, listed.layout.names[i])
    enrolled_first = listed.layout.templates or listed.layout.subjects
    if sorted(enrolled_first) != sorted(columns):
        return tuple(sorted(columns)), genuine
    return enrolled_first, genuine


@dataclass(frozen=True)
class _PairKeys:
    """The pairs of names of scores and of trials as keys: equal pairs have equal keys."""

    score_names: list[np.ndarray]  # each (scores,): numbers of the names of one side
    trial_names: list[np.ndarray]  # each (lines,)
    name_count: int
    unordered: bool  # whether both orders of two names are one pair

    @classmethod
    def from_names(
        cls, score_names: list[Words], trial_names: list[Words], *, unordered: bool
    ) -> _PairKeys:
        (of_scores, of_trials), name_count = _names_as_numbers(score_names, trial_names)
        return cls(of_scores, of_trials, name_count, unordered)

    @cached_property
    def of_scores(self) -> pd.Index:
        return self._keys(self.score_names, self.unordered)

    @cached_property
    def of_trials(self) -> pd.Index:
        return self._keys(self.trial_names, self.unordered)

    def _keys(self, names: list[np.ndarray], unordered: bool = False) -> pd.Index:
        import pandas as pd

        if unordered:
            names = [np.minimum(*names), np.maximum(*names)]
        return pd.Index(names[0] if len(names) == 1 else names[0] * self.name_count + names[1])

    def trials_of_scores(self, distinct: pd.Index, *, not_twice: bool) -> np.ndarray:
        """Return the place of each score's trial among `distinct` trials, -1 for none, (scores,).

        A score without a trial in its order of names takes the trial of the other order; if
        `not_twice`, it does so only where no score has the order of the trial.
        """
        trial = places(self.of_scores, distinct)
        if len(self.score_names) == 1 or self.unordered:
            return trial
        trial_if_exchanged = places(self._keys(self.score_names[::-1]), distinct)
        if not_twice:
            has_own_score = distinct.isin(self.of_scores)
            trial_if_exchanged[has_own_score[trial_if_exchanged]] = -1
        return np.where(trial < 0, trial_if_exchanged, trial)

    def are_exchanged(self, line: np.ndarray) -> np.ndarray:
        exchanged = self.score_names[0] != self.trial_names[0][line]
        if self.unordered:  # a score has the order of its own names if both orders are listed
            exchanged &= ~self._keys(self.score_names).isin(self._keys(self.trial_names))
        return exchanged


def _names_as_numbers(*tables: list[Words]) -> tuple[list[list[np.ndarray]], int]:
    """Number the names in all columns together: return the columns of each table, and the count."""
    names: list[str] = []
    numbered_tables = []
    for columns in tables:
        numbered_columns = []
        for column in columns:
            names, number_of_value = united(names, column.values)
            numbered_columns.append(number_of_value[column.codes])
        numbered_tables.append(numbered_columns)
    return numbered_tables, len(names)


def _columns_of_names(
    table: Columns, score_columns: Sequence[int], listed: Comparisons
) -> tuple[int, ...]:
    """Return, for each column of scores, the column of trials with the most names in common."""
    chosen = list[int]()
    for score_column in score_columns:
        column = table.words[score_column]
        sample = {column.values[code] for code in column.codes[:_SAMPLED_LINES]}
        common = {
            i: len(sample.intersection(listed.table.words[i].values))
            for i in listed.names
            if i not in chosen
        }
        best = max(common, key=lambda i: common[i], default=None)
        if best is None or not common[best]:
            raise fault(
                listed.path,
                f"has none of the names that {table.path.name} scores, such as "
                f"{column.values[0]!r}",
                "expected trials of the same files, with the same spelling of names",
            )
        chosen.append(best)
    return tuple(chosen)


def _note_left_out(missing: np.ndarray, file: Columns, have: str, skip: bool) -> list[Message]:
    """Return the message that the `missing` lines of a file are left out; raise unless `skip`.

    The lines `have` "no trial" or "no score".
    """
    if not skip or missing.all():
        advice = 'to leave them out say `lists={"missing_pairs": "skip"}`'
        refuse_rows(missing, file, f"has {have}", advice)
    if not missing.any():
        return []
    return [Message("lines-left-out", lines=int(missing.sum()), file=file.path.name, have=have)]


# ------------------------------------------------------------------------- in order


def in_listed_order(
    path: Path, values: np.ndarray, arguments: Arguments, options: dict[str, Any]
) -> Scores:
    """Return scores without names, in the order of a list of comparisons."""
    listed = read_comparisons(arguments.take("trials"), arguments)
    values = arguments.with_failures(values)
    if listed.genuine is None:
        raise DataError(
            f"{listed.path}: lists genuine pairs alone, and {path.name} has no names to find them "
            f"by{listed.hint}"
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
        pairs = Scores.from_pairs(values, listed.genuine, **options)
        return pairs._with(remarks=(Message("in-order-of-trials", file=listed.path.name),))
    subjects, names = (
        np.column_stack([column.objects() for column in pair_of_columns]).tolist()
        for pair_of_columns in (listed.subjects, (listed.table.words[0], listed.table.words[1]))
    )
    pairs = Scores.from_pairs(
        values,
        listed.genuine,
        subjects=subjects,
        pair_templates=names,
        pair_folds=listed.fold,
        **options,
        **arguments.rules(),
    )
    folds = counted(int(listed.fold[-1]) + 1 if listed.fold is not None else 1, "folds")
    origin = f"scores in the order of the {count:,} pairs of {listed.path.name}, in {folds}"
    return pairs._with(reading=(origin,))
