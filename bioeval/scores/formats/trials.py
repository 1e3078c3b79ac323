"""Lists of pairs in a second file: trials of scores, pairs of templates as of IJB, pairs of LFW.

Scores may also come in two files, of genuine and of impostor attempts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bioeval.base.errors import (
    DataError,
    Part,
    counted,
    received,
)
from bioeval.base.kinds import Kind
from bioeval.base.messages import Message
from bioeval.scores.columns import places_among, united
from bioeval.scores.formats.files import content, decoded_lines, existing_file
from bioeval.scores.formats.format import ReadOptions, say
from bioeval.scores.formats.pair_layouts import (
    PairLayout,
    find_layout,
    trial_layout,
    unknown_words,
)
from bioeval.scores.formats.spellings import (
    IMPOSTORS,
    SCORE_NAMES,
    TRUTH,
    TRUTH_NAMES,
    is_number,
    truth_word,
)
from bioeval.scores.formats.text_table import Columns, Shape, TextColumn, read_columns, shape_of
from bioeval.scores.matrix import Scores

_EXAMPLES, _COLUMNS_SHOWN = 3, 8
_SAMPLE = 1000  # lines of scores, to find the trials' columns with their names


@dataclass(frozen=True)
class JoinedTrials:
    """The lines of scores that have a trial, in their order, and which of these are genuine."""

    rows: np.ndarray
    genuine: np.ndarray
    notes: list[Message]  # on what was left out
    #: Whether each of these lines has its names in the other order than its trial, whose first
    #: name is enrolled.
    exchanged: np.ndarray


def truth_of(column: TextColumn, table: Columns, name: str) -> np.ndarray:
    """Return which lines are genuine, by a column of words."""
    known = np.array([TRUTH.get(truth_word(x), -1) for x in column.values], dtype=np.int8)
    for code in np.flatnonzero(known < 0)[:1]:
        row, cell = int(np.argmax(column.codes == code)), column.values[code]
        raise DataError(
            f"{table.at(row)}: {name} is {received(cell)}; expected one of 1, true, genuine, "
            "target, match, 0, false, impostor, nontarget, nonmatch"
        )
    _one_meaning(column, table, name)
    return known.astype(bool)[column.codes]


def _one_meaning(column: TextColumn, table: Columns, name: str) -> None:
    """Raise where impostors are spelled in two ways with different meanings."""
    spelled = set(map(truth_word, column.values))
    meanings = []
    for words in IMPOSTORS:
        if not spelled.isdisjoint(words):
            meanings.append(min(spelled.intersection(words)))
    if has_three_classes(column) and len(meanings) == 2:
        return
    if len(meanings) > 1:
        both = " and ".join(map(repr, meanings))
        raise DataError(
            f"{table.path}: {name} holds both {both}, and they differ in meaning; leave out "
            "the lines of one"
        )


def has_three_classes(column: TextColumn) -> bool:
    """Whether a column has words of targets, of nontargets and of attacks (ASVspoof's SASV)."""
    words = set(map(truth_word, column.values))
    attacks, nontargets = IMPOSTORS[-2:]
    return not (words.isdisjoint(attacks) or words.isdisjoint(nontargets))


def join(table: Columns, layout: PairLayout, path: Path, options: ReadOptions) -> JoinedTrials:
    """Look up the trial of each score by the names of its templates.

    Scores of one pair of templates are for the checks of all lists. A list of trials without a word
    for genuine or impostor lists the genuine pairs alone. The trials decide who is enrolled: their
    first name is, or that which their columns call so.
    """
    import pandas as pd

    keys, once = layout.templates or (), not layout.names_templates
    shape = shape_of(path)
    layout = trial_layout(shape, options)
    other_columns = shape.columns_except(layout.genuine, layout.score)
    trials = read_columns(shape, layout.header, layout.called((*other_columns, layout.genuine)), {})
    chosen = _columns_of_keys(table, keys, trials, other_columns)
    sides = layout.templates or layout.subjects or ()
    if sorted(sides) != sorted(chosen):
        sides = tuple(sorted(chosen))
    genuine = None
    truth = layout.genuine
    if truth is None and len(keys) == 1:  # what is beside the one name is a word for the class
        truth = next((i for i in other_columns if i not in chosen), None)
    if truth is not None:
        genuine = truth_of(trials.text[truth], trials, layout.names[truth])
    names: list[str] = []
    # Of each side the number of each line's name.
    scored, listed = list[np.ndarray](), list[np.ndarray]()
    for file, columns, codes in ((table, keys, scored), (trials, sides, listed)):
        for i in columns:
            names, places = united(names, file.text[i].values)
            codes.append(places[file.text[i].codes])

    def key(sides: list[np.ndarray], unordered: bool = False) -> pd.Index:
        """Return a number for the names of each line."""
        if unordered:
            sides = [np.minimum(*sides), np.maximum(*sides)]
        return pd.Index(sides[0] if len(sides) == 1 else sides[0] * len(names) + sides[1])

    unordered, skip = bool(options.unordered) and len(keys) == 2, options.missing_pairs == "skip"
    wanted, there = key(scored, unordered), key(listed, unordered)
    if once:
        _refuse(wanted.duplicated(), table, "is listed before", "; list each pair once")
    if len(keys) == 2 and not unordered:
        turned = key(listed[::-1])
        if wanted.isin(turned).sum() > wanted.isin(there).sum():
            there = turned
        either = key(scored, True), key(listed, True)
        mixed = either[0].isin(either[1]) & ~wanted.isin(there)
        whose = f"pairs of {table.path.name} with their"
        if genuine is None and there.isin(wanted).all():
            mixed[:] = False
        elif genuine is not None and wanted.isin(there).all():
            mixed = either[1].isin(either[0]) & ~there.isin(wanted)
            whose = "pairs whose score has its"
        if mixed.any() and not skip:
            raise DataError(
                f"{trials.path}: lists {int(mixed.sum()):,} of the {len(mixed):,} {whose} names in "
                "the other order (b a); to count a-b and b-a as one attempt, give "
                f"{say('lists.unordered')}"
            )
    notes = []
    lines = np.flatnonzero(~there.duplicated())
    place = there[lines].get_indexer(wanted)
    trial = lines[place]
    turned_rows = scored[0] != listed[0][trial]
    if unordered:  # where both orders are listed, the score has that of its own
        turned_rows &= ~key(scored).isin(key(listed))
    again = len(there) - len(lines)
    if genuine is None:
        notes.append(Message("only-genuine-pairs-listed", pairs=len(lines), file=trials.path.name))
    elif again:
        other = genuine != genuine[lines][there[lines].get_indexer(there)]
        wrong = "gives a pair another class than a line before"
        _refuse(other, trials, wrong, "; give each pair one class")
    if again:
        notes.append(Message("repeated-pairs", pairs=again, how="", remedy=""))
    found = place >= 0
    if genuine is None:
        # An impostor pair is not listed: it has the order of most genuine ones.
        turned_rows[~found] = 2 * turned_rows[found].sum() > found.sum()
        return JoinedTrials(np.arange(len(found)), found, notes, turned_rows)
    notes += _left_out(~found, table, "no trial", skip)
    lacking = np.zeros(len(there), dtype=bool)
    lacking[lines[~there[lines].isin(wanted)]] = True
    notes += _left_out(lacking, trials, "no score", skip)
    rows = np.flatnonzero(found)
    return JoinedTrials(rows, genuine[trial[rows]], notes, turned_rows[rows])


def _columns_of_keys(
    table: Columns, keys: tuple[int, ...], trials: Columns, other_columns: list[int]
) -> tuple[int, ...]:
    """Return the columns of the trials that have the names of the scores' columns `keys`."""
    chosen = []
    for key in keys:
        column = table.text[key]
        sample = {column.values[code] for code in column.codes[:_SAMPLE]}
        best, most = -1, 0
        for i in other_columns:
            common = len(sample.intersection(trials.text[i].values))
            if i not in chosen and common > most:
                best, most = i, common
        if not most:
            first = column.values[0]
            raise DataError(
                f"{trials.path}: has none of the names that {table.path.name} scores, such as "
                f"{first!r}; expected trials of the same files, with the same spelling of names"
            )
        chosen.append(best)
    return tuple(chosen)


def _left_out(missing: np.ndarray, file: Columns, have: str, skip: bool) -> list[Message]:
    """Return a message on lines that are left out; raise where they may not be, or are all."""
    if not skip or missing.all():
        advice = f"; to leave them out say {say('lists.missing_pairs', 'skip')}"
        _refuse(missing, file, f"has {have}", advice)
    if not missing.any():
        return []
    lines = int(missing.sum())
    return [Message("lines-left-out", lines=lines, file=file.path.name, have=have)]


def _refuse(wrong: np.ndarray, file: Columns, input_name: str, advice: Part) -> None:
    rows = np.flatnonzero(wrong)
    if not len(rows):
        return
    lines = ", ".join(map(str, file.lines(rows[:_EXAMPLES].tolist())))
    raise DataError(
        f"{file.path}: {len(rows):,} of {len(wrong):,} {file.noun}s: each {input_name}; the first "
        f"on {file.noun} {lines}{advice}"
    )


def scores_alone(shape: Shape, layout: PairLayout) -> Columns:
    """Return the scores of a file of one class, and the names of templates that it has."""
    score = layout.score or 0
    names: tuple[int, ...] = ()
    if layout.names_templates:
        names = layout.templates or ()
    header = layout.header or not is_number(shape.cells[0][score])
    return read_columns(shape, header, layout.called(names), {score: "score"})


def impostor_scores(
    path: Path, columns: int, genuine: PairLayout, options: ReadOptions
) -> tuple[Columns, PairLayout]:
    """Return the impostor scores of a file whose columns are those of the genuine scores."""
    shape = shape_of(path)
    layout = find_layout(shape, options)
    if layout is None or layout.score is None or shape.columns != columns or layout.genuine:
        raise DataError(
            f"{path}: has {counted(shape.columns, 'columns')}; expected the impostor scores in "
            f"{columns:,}, as the file of the genuine scores has them"
        )
    if (layout.kind or genuine.kind) != (genuine.kind or layout.kind):
        raise DataError(
            f"{path}: line {shape.skipped + 1}: the scores are called "
            f"{shape.cells[0][layout.score]!r}, and those of the genuine file "
            f"{genuine.names[genuine.score or 0]!r}; expected distances or similarities in both"
        )
    if not (layout.header or genuine.header) and layout.score != genuine.score:
        raise DataError(
            f"{path}: line {shape.skipped + 1}: the score is in column {layout.score + 1}, and in "
            f"column {(genuine.score or 0) + 1} of the genuine scores; expected the same columns"
        )
    return scores_alone(shape, layout), layout


def refuse_same(path: Path, values: np.ndarray, other: Path, other_values: np.ndarray) -> None:
    """Raise where the genuine and the impostor scores of two files are the same ones."""
    same = np.array_equal(values, other_values, equal_nan=True) and bool(
        (values != values[0]).any()
    )
    if path.samefile(other) or same:
        raise DataError(
            f"{path}: has the same scores as {other}; expected genuine scores in one file and "
            "impostor scores in another"
        )


def truth_in_order(path: Path, count: int, options: ReadOptions) -> tuple[np.ndarray, Message]:
    """Return the classes of `count` scores from a list of trials in the same order, with a note."""
    trials = options.trials or path
    shape = shape_of(trials)
    layout = trial_layout(shape, options)
    if layout.genuine is None:
        raise DataError(
            f"{trials}: lists genuine pairs alone, and {path.name} has no names to find them "
            f"by{unknown_words(shape)}"
        )
    name = layout.names[layout.genuine]
    table = read_columns(shape, layout.header, {layout.genuine: name}, {})
    flags = truth_of(table.text[layout.genuine], table, name)
    if len(flags) != count:
        raise DataError(
            f"{path}: has {count:,} scores without names, and {trials.name} {len(flags):,} "
            "trials; expected one score per trial, in their order"
        )
    return flags, Message("in-order-of-trials", file=trials.name)


def lists_trials(path: str | Path) -> bool:
    """Whether a file is a list of trials without scores: two names, and if they are genuine."""
    place = Path(path)
    if not place.is_file() or content(place) != "text" or lists_lfw_pairs(place):
        return False
    with suppress(DataError):  # of a text that is no such list, or could be several
        layout = find_layout(shape_of(place), ReadOptions())
        if layout is not None and layout.score is None and layout.genuine is not None:
            return len(layout.templates or layout.subjects or ()) == 2
    return False


def lists_templates(path: Path) -> bool:
    """Whether a text lists the subjects of templates, and is no list of pairs."""
    if content(existing_file(path)) != "text":
        return False
    names = {*map(str.casefold, shape_of(path).cells[0])}
    of_pairs = names.intersection((*SCORE_NAMES, *TRUTH_NAMES))
    known = [names.intersection(_MEDIA_NAMES[word]) for word in ("template", "subject")]
    return all(known) and not of_pairs


_MEDIA_NAMES = {
    "template": ("template_id", "template"),
    "media": ("media_id", "media"),
    "subject": ("subject_id", "subject"),
}


@dataclass(frozen=True)
class MediaList:
    """The template, and perhaps the medium and the subject, of each image."""

    path: Path
    #: Object (images,): ``template`` and, where the list has them, ``media`` and ``subject``, as
    #: text.
    columns: dict[str, np.ndarray]
    templates: list[str]  # each template once, in the order in which they are first named
    #: Object (images,): the other columns that have names, as text.
    more: dict[str, np.ndarray]
    table: Columns  # which finds the lines of rows

    def metadata(
        self, renamed: Mapping[str, str]
    ) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
        """Return further columns with their value for each template, and why others are left out.

        A column with several values for one template, such as the name of an image, is none of
        templates. `renamed` has other names for columns: ``{"sex": "gender"}`` gives the column
        ``gender`` as ``sex``.
        """
        names = {column: name for name, column in renamed.items()}
        columns, left_out = dict[str, dict[str, str]](), dict[str, str]()
        for column, values in self.more.items():
            whose, first = dict[str, str](), dict[str, int]()
            for row, template in enumerate(self.columns["template"].tolist()):
                before = first.setdefault(template, row)
                if whose.setdefault(template, values[row]) != values[row]:
                    lines = self.table.lines([before, row])
                    left_out[column] = (
                        f"has several values for one template in {self.path}, as {template!r} is "
                        f"{values[before]!r} on line {lines[0]} and {values[row]!r} on line "
                        f"{lines[1]}"
                    )
                    break
            else:
                columns[names.get(column, column)] = whose
        for column, name in names.items():
            if name not in columns:
                wrong = (
                    "has several values for one template" if column in left_out else "is no column"
                )
                raise DataError(
                    f"{self.path}: {column!r} (named by {name}={column}) {wrong}; it has "
                    f"{', '.join(map(repr, columns)) or 'no further columns'}"
                )
        return columns, left_out

    def subjects(self) -> list[str] | None:
        """Return the subject of each of the templates; None where the list names none."""
        if "subject" not in self.columns:
            return None
        whose: dict[str, str] = {}
        pairs = zip(self.columns["template"], self.columns["subject"], strict=True)
        for name, who in dict.fromkeys(pairs):
            if whose.setdefault(name, who) != who:
                raise DataError(
                    f"{self.path}: the template {name!r} is of {whose[name]!r} and of {who!r}"
                )
        return [whose[name] for name in self.templates]

    def subject_of(self) -> dict[str, str]:
        """Return the subject of each template by its name."""
        subjects = self.subjects()
        if subjects is None:
            raise DataError(
                f"{self.path}: lists templates without their subjects; expected a first line with "
                "template_id and subject_id"
            )
        return dict(zip(self.templates, subjects, strict=True))


def read_media(path: Path) -> MediaList:
    """Read a list of images: with names of columns, or ``image template medium`` on each line."""
    shape = shape_of(path)
    places, header = _media_columns(shape)
    names = dict(zip(places.values(), places, strict=True))
    others = {}
    if header:
        others = {i: shape.cells[0][i] for i in shape.columns_except(*names)}
    table = read_columns(shape, header, names | others, {}, blanks=list(others))
    columns = {name: table.text[i].objects() for name, i in places.items()}
    more = {name: table.text[i].objects() for i, name in others.items() if name}
    return MediaList(path, columns, [*table.text[places["template"]].values], more, table)


def _media_columns(shape: Shape) -> tuple[dict[str, int], bool]:
    """Return the place of each column, and whether the first line names them."""
    names = [*map(str.casefold, shape.cells[0])]
    places = {}
    for word, known in _MEDIA_NAMES.items():
        for name in reversed(known):
            if name in names:
                places[word] = names.index(name)
    if "template" in places and len(names) > 1:
        return places, True
    if all(len(row) == 3 and row[1].isdigit() and row[2].isdigit() for row in shape.cells):
        return {"template": 1, "media": 2}, False
    if len(names) == 3 and any(map(str.isdigit, names)):  # of IJB
        raise DataError(
            f"{shape.path}: its first line is {' '.join(shape.cells[0])[:80]!r}; expected the "
            "names template_id and subject_id or media_id, or an image, its template and its "
            "medium on each line, as in '1.jpg 17 3'"
        )
    listed = ", ".join(map(repr, shape.cells[0][:_COLUMNS_SHOWN]))
    raise DataError(
        f"{shape.path}: has no column 'template', by which the names of a list find their row; its "
        f"first line is {listed}; expected the names of the columns, such as "
        "'template,subject,gender', and a row for each name in the list"
    )


def read_template_pairs(listed: MediaList, options: ReadOptions) -> FoundPairs:
    """Read the pairs of templates in `trials`: two names on each line, and perhaps 1 or 0."""
    assert options.trials is not None
    shape = shape_of(options.trials)
    layout = trial_layout(shape, options)
    sides = shape.columns_except(layout.genuine, layout.score)
    if len(sides) != 2:
        raise DataError(f"{options.trials}: expected two templates on each line, and 1 or 0")
    table = read_columns(shape, layout.header, layout.called((*sides, layout.genuine)), {})
    a, b = _places(table, sides[0], listed), _places(table, sides[1], listed)
    genuine = None
    if layout.genuine is not None:
        genuine = truth_of(table.text[layout.genuine], table, layout.names[layout.genuine])
    elif "subject" not in listed.columns:
        raise DataError(
            f"{options.trials}: does not mark genuine pairs, and {listed.path} has no subjects; "
            f"expected 1 or 0 after the two templates, or {say('labels')} with subject_id"
        )
    return FoundPairs(a, b, genuine)


def _places(table: Columns, side: int, listed: MediaList) -> np.ndarray:
    """Return the place of the template of each line."""
    column = table.text[side]
    places = places_among(listed.templates, column.values)
    for code in np.flatnonzero(places < 0)[:1]:
        row = int(np.argmax(column.codes == code))
        raise DataError(
            f"{table.at(row)}: the template {column.values[code]!r} is not in {listed.path}, as "
            f"{int((places < 0).sum()):,} of {len(places):,} are not"
        )
    return places[column.codes]


# Impostor and genuine pairs in LFW's form.
_PAIRS = (
    re.compile(r"(?P<a>\S+) (?P<i>\d+) (?P<b>\S+) (?P<j>\d+)", re.ASCII),
    re.compile(r"(?P<a>\S+) (?P<i>\d+) (?P<j>\d+)", re.ASCII),
)


@dataclass(frozen=True)
class NamedPairs:
    """Pairs of images, each identified by subject and number, and the line of each pair."""

    path: Path
    images: list[tuple[tuple[str, int], tuple[str, int]]]
    same: np.ndarray
    fold: np.ndarray
    lines: list[int]


def read_lfw_pairs(path: str | Path) -> NamedPairs:
    """Read a list of pairs in LFW's form."""
    place = existing_file(path, "a list of pairs")
    kind = content(place)
    if kind != "text":
        raise DataError(f"{place}: is {kind}; expected text, a list of pairs in LFW's form")
    rows = []
    lines = []
    for number, line in enumerate(decoded_lines(place), 1):
        if line.strip():
            rows.append(line.split())
            lines.append(number)
    head, *pairs = rows or [[]]
    if len(head) not in (1, 2) or not all(map(_is_digits, head)):
        raise DataError(
            f"{place}: the first line is {' '.join(head)!r}; expected the number of folds and of "
            "genuine pairs in each, as '10 300', or the latter alone"
        )
    folds, each = int(head[0]), int(head[-1])
    if len(head) == 1:
        folds = 1
    if not folds * each or len(pairs) != 2 * folds * each:
        raise DataError(
            f"{place}: has {len(pairs):,} pairs; expected {folds} x 2 x {each} = "
            f"{2 * folds * each:,}, from its first line"
        )
    images = []
    same = np.arange(len(pairs)) // each % 2 == 0
    for genuine, number, words in zip(same.tolist(), lines[1:], pairs, strict=True):
        line = " ".join(words)
        form = "'name i j', two images of one subject" if genuine else "'name i other j'"
        found = _PAIRS[genuine].fullmatch(line)
        if found is None:
            raise DataError(f"{place}: line {number} is {line!r}; expected {form}")
        a = (found["a"], int(found["i"]))
        b = (found["a" if genuine else "b"], int(found["j"]))
        if a[0] == b[0] and (a == b or not genuine):
            compared = "one image with itself" if genuine else "images of one subject as impostors"
            raise DataError(f"{place}: line {number} compares {compared}: {line!r}")
        images.append((a, b))
    fold = np.repeat(np.arange(folds), 2 * each)
    return NamedPairs(place, images, same, fold, lines[1:])


def _is_digits(word: str) -> bool:
    return word.isascii() and word.isdecimal()


def lists_lfw_pairs(path: Path) -> bool:
    """Whether a text is a list of pairs in LFW's form, by its first two lines."""
    if content(existing_file(path)) != "text":
        return False
    head, *rows = shape_of(path).cells
    if len(head) > 2 or not rows or not all(map(_is_digits, head)):
        return False
    numbers = rows[0][1:] if len(rows[0]) == 3 else rows[0][1::2]
    return len(numbers) == 2 and all(map(_is_digits, numbers))


def scores_in_order(path: Path, values: np.ndarray, kind: Kind, options: ReadOptions) -> Scores:
    """Return scores in the order of a list of pairs in LFW's form."""
    listed = read_lfw_pairs(options.pairs or path)
    if values.shape != (len(listed.images),):
        raise DataError(
            f"{path}: has {counted(values.size, 'scores')}, and {listed.path.name} lists "
            f"{counted(len(listed.images), 'pairs')}; expected one score per pair, in their order"
        )
    names, subjects = [], []
    for (one, i), (other, j) in listed.images:
        names.append([f"{one} {i}", f"{other} {j}"])
        subjects.append([one, other])
    pairs = Scores.from_pairs(
        values,
        listed.same,
        kind=kind,
        nan=options.nan or "raise",
        subjects=subjects,
        pair_folds=listed.fold,
        name=path.name.split(".")[0] or path.stem,
        pair_templates=names,
        keep=options.keep or (),
        unordered=bool(options.unordered),
    )
    folds = counted(int(listed.fold[-1]) + 1, "folds")
    origin = f"scores in the order of the {len(names):,} pairs of {listed.path.name}, in {folds}"
    return pairs._with(_reading=(origin,))


@dataclass(frozen=True)
class FoundPairs:
    """Pairs as indices of templates without the `missing`; without `same`, labels decide."""

    a: np.ndarray
    b: np.ndarray
    same: np.ndarray | None
    fold: np.ndarray | None = None
    missing: int = 0


def find_pairs(
    listed: NamedPairs, names: list[str], numbers: list[int], missing: str
) -> FoundPairs:
    """Look up the images of pairs among templates, given by their subjects and image numbers.

    With `missing="skip"`, pairs of which an image is not there are left out.
    """
    images = list(zip(names, numbers, strict=True))
    place = {image: i for i, image in enumerate(images)}
    for i, image in enumerate(images):
        if place[image] != i:
            raise DataError(
                f"{len(names) - len(place)} templates have the name and the number of another, "
                f"such as {names[i]!r}, {numbers[i]}; {listed.path.name} cannot distinguish them"
            )
    index = np.array([[place.get(a, -1), place.get(b, -1)] for a, b in listed.images])
    there = np.logical_and(*(index >= 0).T)
    if not there.all() and (missing == "raise" or not there.any()):
        first = int(np.argmin(there))
        image, other = listed.images[first]
        if image in place:
            image = other
        advice = ""
        if there.any():
            advice = f"; to leave such pairs out say {say('lists.missing_pairs', 'skip')}"
        raise DataError(
            f"{listed.path}: of {int((~there).sum()):,} of {len(there):,} pairs an image is not "
            f"among the {len(names):,} templates, the first on line {listed.lines[first]}: "
            f"{image[0]!r}, {image[1]}{advice}"
        )
    a, b = index[there].T
    return FoundPairs(a, b, listed.same[there], listed.fold[there], int((~there).sum()))
