"""Lists of trials: comparisons with their classes, without scores, and the scores of each.

A list of trials names the templates of each comparison, and says whether it is genuine. The scores
are in another file: in the order of the trials (:func:`in_listed_order`), or by the names of both
templates (:func:`join`). So the trials ::

    model,probe,genuine
    anna_1,anna_2,1

take the score of the line ``anna_2,anna_1,0.21``, whose names are in the other order.
:func:`read_comparisons` reads such lists, also in LFW's form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import DataError, Message, counted, received
from bioeval.scores.formats.layouts import Layout, layout_of, with_header
from bioeval.scores.formats.roles import Arguments
from bioeval.scores.formats.tables import IMPOSTORS, TRUTH, Columns, Words, head_of, truth_word
from bioeval.scores.formats.texts import FileKind, fault, kind_of_file, read_text, refuse_rows
from bioeval.scores.keys import as_names, first_twice, places, united
from bioeval.scores.matrix import Scores

if TYPE_CHECKING:
    import pandas as pd

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
