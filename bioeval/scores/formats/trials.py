"""Lists of comparisons without scores: trials of speakers, pairs of LFW, of templates as in IJB."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bioeval.base.errors import DataError, counted, received
from bioeval.base.messages import Message
from bioeval.scores.formats.files import FileKind, fault, kind_of_file, read_text, refuse_rows
from bioeval.scores.formats.layouts import Layout, trial_layout, with_header
from bioeval.scores.formats.roles import IMPOSTORS, TRUTH, Arguments, truth_word
from bioeval.scores.formats.tables import Columns, Words, head_of, read_columns
from bioeval.scores.matrix import Scores
from bioeval.scores.sides import as_names, first_twice, places, united

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
    if len(meanings) > 1:
        raise fault(
            table.path,
            f"{name} holds both {' and '.join(map(repr, meanings))}, and they differ in meaning",
            "leave out the lines of one",
        )
    return is_genuine.astype(bool)[column.codes]


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
    layout = trial_layout(head, arguments)
    classes = layout.get("genuine")
    names = [*layout.templates]
    if layout.may_have_metadata:
        names = head.columns_except(classes, layout.get("score"))
    table = read_columns(head, layout.skips_line, layout.names_of([*names, classes]), {})
    genuine = (
        None if classes is None else truth_of(table.words[classes], table, layout.names[classes])
    )
    return Comparisons(table, layout, genuine)


class _Image(NamedTuple):
    """An image of LFW: its person, and its number among the images of this person."""

    person: str
    number: int


def read_lfw(path: Path) -> Comparisons:
    """Read pairs of images; the first line gives the number of folds and of pairs in a fold."""
    texts = enumerate(read_text(path).split("\n"), 1)
    lines = [(n, " ".join(line.split())) for n, line in texts if line.strip()]
    (_, header), *rows = lines or [(1, "")]
    folds, class_size = _sizes_of_lfw(path, header, len(rows))
    is_genuine = np.arange(len(rows)) // class_size % 2 == 0  # of each fold, genuine pairs first
    pairs = [
        _pair_of_images(path, number, line, genuine)
        for genuine, (number, line) in zip(is_genuine.tolist(), rows, strict=True)
    ]
    images = {}
    people = {}
    for side in (0, 1):
        images[side] = _words([f"{pair[side].person} {pair[side].number}" for pair in pairs])
        people[side] = _words([pair[side].person for pair in pairs])
    table = Columns(path, images, {}, rows[0][0])
    fold = np.repeat(np.arange(folds), 2 * class_size)
    return Comparisons(table, Layout([]), is_genuine, fold, (people[0], people[1]))


def _sizes_of_lfw(path: Path, header: str, pair_count: int) -> tuple[int, int]:
    if not _FOLDS.fullmatch(header):
        raise DataError(
            f"{path}: the first line is {header!r}; expected the number of folds and of genuine "
            "pairs in each, as '10 300', or the latter alone"
        )
    *stated_folds, class_size = map(int, header.split())
    folds = stated_folds[0] if stated_folds else 1
    expected = 2 * folds * class_size
    if not expected or pair_count != expected:
        raise fault(
            path,
            f"has {pair_count:,} pairs",
            f"expected {folds} x 2 x {class_size} = {expected:,}, from its first line",
        )
    return folds, class_size


def _pair_of_images(path: Path, number: int, line: str, genuine: bool) -> tuple[_Image, _Image]:
    """Return the images of a line; `genuine` is the class that the place of the line states."""
    match = (_GENUINE if genuine else _IMPOSTOR).fullmatch(line)
    if match is None:
        form = "'name i j', two images of one subject" if genuine else "'name i other j'"
        raise DataError(f"{path}: line {number} is {line!r}; expected {form}")
    first = _Image(match["a"], int(match["i"]))
    second = _Image(match["a" if genuine else "b"], int(match["j"]))
    if first.person == second.person and (first == second or not genuine):
        compared = "one image with itself" if genuine else "images of one subject as impostors"
        raise DataError(f"{path}: line {number} compares {compared}: {line!r}")
    return first, second


def _words(cells: list[str]) -> Words:
    distinct, codes = np.unique(cells, return_inverse=True)
    return Words.from_codes(codes, distinct.tolist())


# ------------------------------------------------------------------------- trial scores


# The first lines of scores, whose names tell the columns of names in a list of trials.
_SAMPLED_LINES = 1000


class FoundPairs(NamedTuple):
    """The comparisons of a list whose templates are both in a set of templates."""

    enrolled: np.ndarray  # int64 (found,): the number of the enrolled template in the set
    probe: np.ndarray  # int64 (found,): the number of the probe
    is_found: np.ndarray  # bool (comparisons,)


def look_up(listed: Comparisons, names: Sequence[str], skip: bool = False) -> FoundPairs:
    """Return the comparisons whose templates are both among `names`; others raise, or are skipped.

    With `skip`, at least one comparison must be found.
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
    return FoundPairs(enrolled[is_found], probe[is_found], is_found)


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


def join(table: Columns, layout: Layout, listed: Comparisons, arguments: Arguments) -> ScoredPairs:
    """Find the trial of each score by names of templates, in any order of lines and names.

    - A trial takes the score of the same order of names, if there is one.
    - The trials decide which template is enrolled: the first name, or the name in a column of
      enrolled templates.
    - Repeated scores of a pair of templates are left to the checks of all lists.
    """
    genuine = listed.genuine
    trial_columns = _columns_of_names(table, layout.templates, listed)
    enrolled_first = listed.layout.templates or listed.layout.subjects
    same_columns = sorted(enrolled_first) == sorted(trial_columns)
    trial_columns = enrolled_first if same_columns else tuple(sorted(trial_columns))
    keys = _PairKeys.from_names(
        [table.words[i] for i in layout.templates],
        [listed.table.words[i] for i in trial_columns],
        unordered=bool(arguments.peek("lists.unordered")) and len(layout.templates) == 2,
    )
    if not layout.names_templates:
        is_repeated = keys.of_scores.duplicated()
        refuse_rows(is_repeated, table, "is listed before", "list each pair once")
    match = keys.match(not_twice=genuine is not None)
    notes = []
    if repeated := len(keys.of_trials) - len(match.first_line):
        notes.append(Message("repeated-pairs", pairs=repeated, how="", option=""))
    if genuine is None:
        return _pairs_of_genuine_trials(match, listed.path.name, notes)
    if repeated:
        first_class = genuine[match.first_line][places(keys.of_trials, match.distinct)]
        wrong = "gives a pair another class than a line before"
        refuse_rows(genuine != first_class, listed.table, wrong, "give each pair one class")
    skip = arguments.take("lists.missing_pairs") == "skip"
    has_trial = match.line_of_score >= 0
    is_unscored = np.zeros(len(keys.of_trials), dtype=bool)
    is_unscored[match.first_line] = True
    is_unscored[match.line_of_score[has_trial]] = False
    notes += _note_left_out(~has_trial, table, "no trial", skip)
    notes += _note_left_out(is_unscored, listed.table, "no score", skip)
    rows = np.flatnonzero(has_trial)
    return ScoredPairs(rows, genuine[match.line_of_score[rows]], match.exchanged[rows], notes)


def _pairs_of_genuine_trials(match: _Match, file: str, notes: list[Message]) -> ScoredPairs:
    """Return all scores: a score without a trial is of an impostor pair.

    Impostor pairs are not listed; they have the order of names of most genuine pairs.
    """
    has_trial = match.line_of_score >= 0
    most_are_exchanged = 2 * match.exchanged[has_trial].sum() > has_trial.sum()
    exchanged = np.where(has_trial, match.exchanged, most_are_exchanged)
    note = Message("only-genuine-pairs-listed", pairs=len(match.first_line), file=file)
    return ScoredPairs(slice(None), has_trial, exchanged, [note, *notes])


def _columns_of_names(
    table: Columns, score_columns: Sequence[int], listed: Comparisons
) -> tuple[int, ...]:
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


class _Match(NamedTuple):
    """The trial of each score; several lines with one pair of names are one trial."""

    distinct: pd.Index  # (trials,): their keys
    first_line: np.ndarray  # int64 (trials,)
    line_of_score: np.ndarray  # int64 (scores,): the first line of the trial, -1 without a trial
    #: bool (scores,): whether the names are in another order than in the trial; of scores without a
    #: trial meaningless.
    exchanged: np.ndarray


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
        names: list[str] = []
        numbered_columns = []
        for column in (*score_names, *trial_names):
            names, number_of_value = united(names, column.values)
            numbered_columns.append(number_of_value[column.codes])
        sides = len(score_names)
        return cls(numbered_columns[:sides], numbered_columns[sides:], len(names), unordered)

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

    def match(self, *, not_twice: bool) -> _Match:
        """Return the trial of each score.

        A score without a trial in its order of names takes the trial of the other order; if
        `not_twice`, it does so only where no score has the order of the trial.
        """
        first_line = np.flatnonzero(~self.of_trials.duplicated())
        distinct = self.of_trials[first_line]
        trial = places(self.of_scores, distinct)
        if len(self.score_names) > 1 and not self.unordered:
            trial_if_exchanged = places(self._keys(self.score_names[::-1]), distinct)
            if not_twice:
                has_own_score = distinct.isin(self.of_scores)
                trial_if_exchanged[has_own_score[trial_if_exchanged]] = -1
            trial = np.where(trial < 0, trial_if_exchanged, trial)
        line_of_score = np.where(trial < 0, -1, first_line[trial])
        exchanged = self.score_names[0] != self.trial_names[0][line_of_score]
        if self.unordered:  # a score has the order of its own names if both orders are listed
            exchanged &= ~self._keys(self.score_names).isin(self._keys(self.trial_names))
        return _Match(distinct, first_line, line_of_score, exchanged)


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
    images = (listed.table.words[0], listed.table.words[1])
    scores = Scores.from_pairs(
        values,
        listed.genuine,
        subjects=_as_pairs(listed.subjects),
        pair_templates=_as_pairs(images),
        pair_folds=listed.fold,
        **options,
        **arguments.rules(),
    )
    folds = counted(int(listed.fold[-1]) + 1 if listed.fold is not None else 1, "folds")
    origin = f"scores in the order of the {count:,} pairs of {listed.path.name}, in {folds}"
    return scores._with(reading=(origin,))


def _as_pairs(sides: tuple[Words, Words]) -> list[list[str]]:
    return np.column_stack([column.objects() for column in sides]).tolist()
