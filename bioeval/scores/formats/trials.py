"""Classes of a list of scores from a second file: trials, or impostor scores."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError, counted
from bioeval.scores.columns import PIECE, release
from bioeval.scores.formats.files import content, existing_file
from bioeval.scores.formats.options import ReadOptions, say
from bioeval.scores.formats.pair_layouts import PairLayout, find_layout, trial_layout
from bioeval.scores.formats.spellings import IMPOSTORS, TRUTH, is_number
from bioeval.scores.formats.text_columns import Columns, TextColumn
from bioeval.scores.formats.text_shape import Shape, shape_of
from bioeval.scores.formats.text_table import read_columns

_EXAMPLES = 3
_SAMPLE = 1000  # lines of scores, to find the trials' columns with their names


@dataclass(frozen=True)
class JoinedTrials:
    """Trials looked up for scores.

    Attributes
    ----------
    rows : int64 array
        The lines of scores that have a trial, in their order.
    genuine : bool array
        Whether the attempt of each of these is genuine.
    notes : list of str
        What was left out.
    """

    rows: np.ndarray
    genuine: np.ndarray
    notes: list[str]


def truth_of(column: TextColumn, table: Columns, name: str) -> np.ndarray:
    """Return which lines are genuine, by a column of words."""
    known = np.array([TRUTH.get(_word(value), -1) for value in column.values], dtype=np.int8)
    for code in np.flatnonzero(known < 0)[:1]:
        row, cell = int(np.argmax(column.codes == code)), column.values[code]
        more = ""
        if cell == "2" and "1" in column.values:
            more = "; 1 and 2 do not mark genuine pairs"
        raise DataError(
            f"{table.at(row)}: {name} is {cell!r}; expected one of 1, true, genuine, target, "
            f"match, 0, false, impostor, nontarget, nonmatch{more}"
        )
    _one_meaning(column, table, name)
    flags = np.empty(len(column.codes), dtype=bool)
    for low in range(0, len(flags), PIECE):
        flags[low : low + PIECE] = known[column.codes[low : low + PIECE]]
    release(column.codes)
    return flags


def _one_meaning(column: TextColumn, table: Columns, name: str) -> None:
    """Raise where impostors are spelled in two ways with different meanings."""
    found = {_word(value) for value in column.values}
    meanings = [sorted(found & set(words)) for words in IMPOSTORS if not found.isdisjoint(words)]
    if has_three_classes(column) and len(meanings) == 2:
        return
    if len(meanings) > 1:
        words = " and ".join(repr(words[0]) for words in meanings)
        raise DataError(
            f"{table.path}: {name} holds both {words}, and they differ in meaning; leave out "
            "the lines of one"
        )


def has_three_classes(column: TextColumn) -> bool:
    """Whether a column has words of targets, of nontargets and of attacks (ASVspoof's SASV)."""
    found = {_word(value) for value in column.values}
    attacks, nontargets = (set(words) for words in IMPOSTORS[-2:])
    return not (found.isdisjoint(attacks) or found.isdisjoint(nontargets))


def _word(cell: str) -> str:
    return cell.casefold().replace("_", "-")


def join(table: Columns, layout: PairLayout, path: Path, options: ReadOptions) -> JoinedTrials:
    """Look up the trial of each score by the names of its templates.

    Scores of one pair of templates are for the checks of all lists. A list of trials without a word
    for genuine or impostor lists the genuine pairs alone.
    """
    import pandas as pd

    keys, once = layout.templates or (), not layout.names_templates
    shape = shape_of(path)
    layout = trial_layout(shape, options)
    others = [i for i in range(shape.columns) if i not in (layout.genuine, layout.score)]
    words = {i: layout.names[i] for i in others}
    if layout.genuine is not None:
        words[layout.genuine] = layout.names[layout.genuine]
    trials = read_columns(shape, layout.header, words, {})
    chosen = _columns_of_keys(table, keys, trials, others)
    listed = layout.genuine is not None
    flags = (
        truth_of(trials.text[layout.genuine], trials, layout.names[layout.genuine])
        if layout.genuine is not None
        else np.ones(len(trials.text[others[0]].codes), dtype=bool)
    )
    wanted, known = _numbers(table, keys, trials, chosen)
    if once:
        doubles = pd.Series(wanted).duplicated().to_numpy()
        _refuse(doubles, table, "is listed before", "; list each pair once")
    return _match(table, wanted, trials, known, flags, options, listed)


def _columns_of_keys(
    table: Columns, keys: tuple[int, ...], trials: Columns, others: list[int]
) -> tuple[int, ...]:
    """Return the columns of the trials that have the names of the scores' columns `keys`."""
    chosen: list[int] = []
    for key in keys:
        column = table.text[key]
        sample = {column.values[code] for code in column.codes[:_SAMPLE]}
        found = {i: len(sample.intersection(trials.text[i].values)) for i in others}
        best = max((i for i in others if i not in chosen), key=lambda i: found[i], default=None)
        if best is None or not found[best]:
            first = column.values[0]
            raise DataError(
                f"{trials.path}: has none of the names that {table.path.name} scores, such as "
                f"{first!r}; expected trials of the same files, with the same spelling of names"
            )
        chosen.append(best)
    return tuple(chosen)


def _match(
    table: Columns,
    wanted: np.ndarray,
    trials: Columns,
    known: np.ndarray,
    flags: np.ndarray,
    options: ReadOptions,
    listed: bool,
) -> JoinedTrials:
    import pandas as pd

    lines = np.flatnonzero(~pd.Series(known).duplicated().to_numpy())
    index = pd.Index(known[lines])
    again, notes = len(known) - len(lines), []
    if again:
        other = flags != flags[lines][index.get_indexer(known)]
        what = "gives a pair another class than a line before"
        _refuse(other, trials, what, "; give each pair one class")
        notes = [f"{again:,} lines of {trials.path.name} list a pair again"]
    place = index.get_indexer(wanted)
    if not listed:
        genuine = place >= 0
        note = f"the {len(lines):,} pairs of {trials.path.name} are genuine, all others impostors"
        return JoinedTrials(np.arange(len(wanted)), genuine, [note, *notes])
    skip = options.missing_pairs == "skip"
    advice = f"; to leave them out say {say('missing_pairs', 'skip')}"
    lacking = np.zeros(len(known), dtype=bool)
    lacking[lines] = True
    lacking[lines[place[place >= 0]]] = False
    for missing, file, what in ((place < 0, table, "no trial"), (lacking, trials, "no score")):
        if skip and not missing.all():
            if missing.any():
                count = int(missing.sum())
                notes.append(f"{count:,} lines of {file.path.name} are left out: they have {what}")
        else:
            _refuse(missing, file, f"has {what}", advice)
    rows = np.flatnonzero(place >= 0)
    return JoinedTrials(rows, flags[lines][place[rows]], notes)


def _numbers(
    table: Columns, keys: tuple[int, ...], trials: Columns, chosen: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Return a number for the names of each line; equal names have equal numbers in both files."""
    left = np.zeros(len(table.text[keys[0]].codes), dtype=np.int64)
    right = np.zeros(len(trials.text[chosen[0]].codes), dtype=np.int64)
    for key, other in zip(keys, chosen, strict=True):
        a, b = table.text[key], trials.text[other]
        number = {value: i for i, value in enumerate(a.values)}
        shared = [number.setdefault(value, len(number)) for value in b.values]
        left = left * len(number) + a.codes
        right = right * len(number) + np.array(shared, dtype=np.int64)[b.codes]
    return left, right


def _refuse(wrong: np.ndarray, file: Columns, what: str, advice: str) -> None:
    rows = np.flatnonzero(wrong)
    if not len(rows):
        return
    lines = ", ".join(map(str, file.lines(rows[:_EXAMPLES].tolist())))
    raise DataError(
        f"{file.path}: {len(rows):,} of {len(wrong):,} {file.noun}s: each {what}; the first on "
        f"{file.noun} {lines}{advice}"
    )


def scores_alone(shape: Shape, layout: PairLayout) -> Columns:
    """Return the scores of a file of one class, and the names of templates that it has."""
    score, names = layout.score or 0, (layout.templates or ()) if layout.names_templates else ()
    header = layout.header or not is_number(shape.cells[0][score])
    words = {i: layout.names[i] for i in names}
    return read_columns(shape, header, words, {score: "score"}, bounded=names)


def impostor_scores(path: Path, columns: int, options: ReadOptions) -> tuple[Columns, PairLayout]:
    """Return the impostor scores of a file with as many columns as that of the genuine scores."""
    shape = shape_of(path)
    layout = find_layout(shape, options)
    if layout is None or layout.score is None or shape.columns != columns or layout.genuine:
        raise DataError(
            f"{path}: has {counted(shape.columns, 'columns')}; expected the impostor scores in "
            f"{columns:,}, as the file of the genuine scores has them"
        )
    return scores_alone(shape, layout), layout


def refuse_same(path: Path, values: np.ndarray, other: Path, others: np.ndarray) -> None:
    """Raise where the genuine and the impostor scores of two files are the same ones."""
    same = np.array_equal(values, others, equal_nan=True) and bool((values != values[0]).any())
    if path.samefile(other) or same:
        raise DataError(
            f"{path}: has the same scores as {other}, the file of {say('impostor')}; expected "
            "genuine scores in one file and impostor scores in another"
        )


def in_order(trials: Path) -> str:
    """Return the note that scores without names are in the order of the trials."""
    return f"the scores are taken to be in the order of the trials of {trials.name}"


def truth_in_order(path: Path, count: int, options: ReadOptions) -> np.ndarray:
    """Return the classes of `count` scores from a list of trials in the same order."""
    trials = options.trials or path
    shape = shape_of(trials)
    layout = trial_layout(shape, options)
    if layout.genuine is None:
        raise DataError(
            f"{trials}: lists genuine pairs alone, and {path.name} has no names to find them by"
        )
    name = layout.names[layout.genuine]
    table = read_columns(shape, layout.header, {layout.genuine: name}, {})
    flags = truth_of(table.text[layout.genuine], table, name)
    if len(flags) != count:
        raise DataError(
            f"{path}: has {count:,} scores without names, and {trials.name} {len(flags):,} "
            "trials; expected one score per trial, in their order"
        )
    return flags


def lists_templates(path: Path) -> bool:
    """Whether a text lists the subjects of templates."""
    if content(existing_file(path)) != "text":
        return False
    names = {cell.casefold() for cell in shape_of(path).cells[0]}
    return {"template_id", "subject_id"} <= names
