"""Lists of pairs as text, with a score on each line, and those that `save` writes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.csv import matrix_advice
from bioeval.scores.formats.format import Format, Found
from bioeval.scores.formats.listed_matrix import Side, as_matrix
from bioeval.scores.formats.options import ReadOptions, say
from bioeval.scores.formats.pair_layouts import (
    PairLayout,
    find_layout,
    is_number,
    is_truth,
    two_readings,
    unknown_layout,
)
from bioeval.scores.formats.pair_writers import pair_losses, write_text
from bioeval.scores.formats.text_table import (
    COMPRESSED,
    Columns,
    Shape,
    TextColumn,
    read_columns,
    shape_of,
)
from bioeval.scores.formats.trials import (
    impostor_scores,
    join,
    lists_templates,
    subjects_of_templates,
    truth_in_order,
    truth_of,
)
from bioeval.scores.formats.wide_tables import is_wide, wide_scores
from bioeval.scores.matrix import PairScores, Scores

_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def _recognise(found: Found) -> bool:
    options = found.options
    if options.probe_labels or options.gallery_labels:
        return False
    if found.content != "text" and (
        found.content not in COMPRESSED or found.suffix not in _SUFFIXES
    ):
        return False
    listed: object = options.scores_key or options.trials or options.subject_from
    labels = options.labels
    listed = listed or (labels and labels.is_file() and lists_templates(labels))
    advice = "" if listed else matrix_advice(found.path)
    named = found.suffix == ".csv"
    if advice and named:
        raise DataError(f"{found.path}: {advice}")
    if named:
        return True
    shape = shape_of(found.path)
    return not advice and (
        is_wide(shape.cells[0], options) or find_layout(shape, options) is not None
    )


def _read(path: Path, options: ReadOptions) -> Scores:
    shape = shape_of(path)
    if is_wide(shape.cells[0], options) and all(map(is_number, shape.cells[-1][1:])):
        columns = shape.cells[0]
        table = read_columns(shape, True, {0: columns[0]}, dict(enumerate(columns[1:], 1)))
        matrix = np.column_stack([*table.numbers.values()])
        return wide_scores(path, table.text[0].objects(), columns[1:], matrix, options)
    layout = find_layout(shape, options)
    if layout is None:
        raise unknown_layout(shape)
    if layout.score is None:
        raise _no_score(shape, layout, options)
    how = how_read(path, layout, options)
    if options.impostor is not None or layout.genuine is None and shape.columns == 1:
        return _two_files(shape, layout, options, how)
    sides = {*(layout.subjects or ()), *(layout.templates or ())}
    others = {i for i in (layout.genuine, layout.fold) if i is not None}
    text = {i: layout.names[i] for i in sides | others}
    number = {layout.score: layout.names[layout.score]}
    digits = () if layout.genuine is None else (layout.genuine,)
    table = read_columns(shape, layout.header, text, number, digits)
    if layout.subjects and not layout.header:
        _one_reading(shape, table, layout)
    return pairs_of_columns(table, layout, options, how)


def _one_reading(shape: Shape, table: Columns, layout: PairLayout) -> None:
    """Raise where a list in bob's layout could as well have a column of genuine."""
    columns = [i for i, column in table.text.items() if all(map(is_truth, column.values))]
    score = layout.score or 0
    if np.isin(table.numbers[score], (0, 1, -1)).all():
        columns.append(score)
    if columns:
        so = "could say which pairs are genuine, or be as bob's lists have it"
        raise two_readings(shape, [i + 1 for i in sorted(columns)], "only 0 and 1", so)
    claimed, real = (table.text[i] for i in layout.subjects or (0, 0))
    if set(claimed.values).isdisjoint(real.values):
        raise DataError(
            f"{shape.path}: is taken for bob's list of claimed and real subjects, and none are the "
            "same; if it is another, write the names of its columns in a first line, such as "
            "'genuine template_a template_b score'"
        )


def pairs_of_columns(
    table: Columns, layout: PairLayout, options: ReadOptions, how: dict[str, str]
) -> Scores:
    """Return the pairs of a table whose columns are known, or their matrix."""
    path = table.path
    values, notes = table.numbers[layout.score or 0], []
    rows: np.ndarray | slice = slice(None)
    genuine = None
    if options.trials is not None:
        if layout.templates is None:
            raise DataError(
                f"{path}: has no names of templates, by which {say('trials')} are found"
            )
        if layout.genuine is not None:
            raise DataError(
                f"{path}: {layout.names[layout.genuine]} says which pairs are genuine; leave out "
                f"{say('trials')}, or name the columns in a first line"
            )
        joined = join(table, layout.templates, options.trials, options)
        rows, genuine, notes = joined.rows, joined.genuine, joined.notes
    elif layout.genuine is not None:
        genuine = truth_of(table.text[layout.genuine], table, layout.names[layout.genuine])
    subjects, said = _subjects(table, layout, options)
    notes = [*notes, *said]
    if genuine is None:
        if subjects is None:
            raise DataError(
                f"{path}: does not say which pairs are genuine; give the list of trials as "
                f"{say('trials')}, or the part of a name that is its subject as "
                f"{say('subject_from')}"
            )
        genuine = _same(*subjects)
    values = values[rows]
    if options.as_ == "matrix":
        scores = _matrix(path, layout, table, rows, values, genuine, subjects, how)
        scores.remarks += tuple(notes)
        return scores
    who = None
    if subjects is not None:
        who = np.column_stack([side.objects()[rows] for side in subjects])
    fold = None if layout.fold is None else table.text[layout.fold].objects()[rows]
    scores = Scores.from_pairs(
        values, genuine, folds=None if fold is None else fold.astype(str), subjects=who, **how
    )
    scores.remarks = tuple(notes)
    return scores


def how_read(path: Path, layout: PairLayout, options: ReadOptions) -> dict[str, str]:
    """Return kind, policy for NaN and name of the scores of a list."""
    name = path.name.split(".")[0] or path.stem
    return {"kind": _kind(path, layout, options), "nan": options.nan or "raise", "name": name}


def _kind(path: Path, layout: PairLayout, options: ReadOptions) -> str:
    """Return what the scores are: what the file declares, or the option."""
    if layout.kind is None and options.kind is None:
        raise DataError(
            f"{path}: does not say whether its scores are distances or similarities; say "
            f"{say('kind', 'distance')} or {say('kind', 'similarity')}, or name the column "
            "distance or similarity"
        )
    if layout.kind and options.kind and layout.kind != options.kind:
        name = layout.names[layout.score or 0]
        raise DataError(
            f"{path}: the column {name!r} declares the kind {layout.kind}, which "
            f"{say('kind', options.kind)} contradicts"
        )
    return options.kind or layout.kind or ""


def holds_numbers_alone(path: Path) -> bool:
    """Whether a text has one number a line."""
    return shape_of(path).columns == 1


def _two_files(
    shape: Shape, layout: PairLayout, options: ReadOptions, how: dict[str, str]
) -> PairScores:
    """Read genuine scores and, of a second file, impostor scores; or their trials, in order."""
    if layout.genuine is not None:
        raise DataError(
            f"{shape.path}: {layout.names[layout.genuine]} says which pairs are genuine; leave out "
            f"{say('impostor')}"
        )
    if options.impostor is None and options.trials is None:
        raise DataError(
            f"{shape.path}: holds one number a line; if these are genuine scores, give the file of "
            f"the impostor scores as {say('impostor')}; if they are in the order of a list of "
            f"trials, give that as {say('trials')}"
        )
    score = layout.score or 0
    header = layout.header or not is_number(shape.cells[0][score])
    values = read_columns(shape, header, {}, {score: "score"}).numbers[score]
    if options.impostor is None:
        flags = truth_in_order(shape.path, len(values), options)
        scores = Scores.from_pairs(values, flags, **how)
        name = "" if options.trials is None else options.trials.name
        scores.remarks = (f"the scores are taken to be in the order of the trials of {name}",)
        return scores
    impostor = impostor_scores(options.impostor, shape.columns, options)
    flags = np.repeat([True, False], [len(values), len(impostor)])
    return Scores.from_pairs(np.concatenate([values, impostor]), flags, **how)


def _subjects(
    table: Columns, layout: PairLayout, options: ReadOptions
) -> tuple[tuple[TextColumn, TextColumn] | None, list[str]]:
    """Return the subjects of both sides, and notes: columns, parts of names, or of a file."""
    if options.subject_from is None and options.labels is None:
        if layout.subjects is None:
            return None, []
        a, b = (table.text[i] for i in layout.subjects)
        return (a, b), []
    for option in ("subject_from", "labels"):
        if getattr(options, option) is None:
            continue
        if layout.templates is None or len(layout.templates) != 2:
            raise DataError(f"{table.path}: has no names of templates for {say(option)}")
        if layout.subjects is not None:
            raise DataError(
                f"{table.path}: names the subjects of both sides; leave out {say(option)}"
            )
    if options.subject_from is None:
        whose = subjects_of_templates(options.labels or Path())
        a, b = (_looked_up(table, layout, i, whose, options) for i in layout.templates or ())
        return (a, b), []
    a, b = (_named_subjects(table, layout, i, options.subject_from) for i in layout.templates or ())
    name, subject = (table.text[(layout.templates or (0,))[0]].objects()[:1], a.objects()[:1])
    return (a, b), [f"subjects from names: {name[0]} -> {subject[0]}"]


def _looked_up(
    table: Columns, layout: PairLayout, number: int, whose: dict[str, str], options: ReadOptions
) -> TextColumn:
    column = table.text[number]
    missing = [i for i, name in enumerate(column.values) if name not in whose]
    if missing:
        row = int(np.argmax(column.codes == missing[0]))
        raise DataError(
            f"{table.at(row)}: {layout.names[number]} {column.values[missing[0]]!r} is not in "
            f"{options.labels}, as {len(missing):,} of {len(column.values):,} templates are not"
        )
    found = TextColumn()
    found.append([whose[name] for name in column.values])
    return TextColumn(found.values, [found.codes[column.codes]])


def _named_subjects(table: Columns, layout: PairLayout, number: int, pattern: str) -> TextColumn:
    column = table.text[number]
    found = TextColumn()
    subjects = []
    for code, name in enumerate(column.values):
        match = re.search(pattern, name)
        if match is None or not match[1]:
            row = int(np.argmax(column.codes == code))
            raise DataError(
                f"{table.at(row)}: {say('subject_from', pattern)} does not match "
                f"{layout.names[number]} {name!r}; expected a regular expression with one group, "
                "the subject"
            )
        subjects.append(match[1])
    found.append(subjects)
    return TextColumn(found.values, [found.codes[column.codes]])


def _same(a: TextColumn, b: TextColumn) -> np.ndarray:
    number = {value: i for i, value in enumerate(a.values)}
    other = np.array([number.get(value, -1) for value in b.values])
    return np.asarray(a.codes == other[b.codes])


def _matrix(
    path: Path,
    layout: PairLayout,
    table: Columns,
    rows: np.ndarray | slice,
    values: np.ndarray,
    genuine: np.ndarray,
    subjects: tuple[TextColumn, TextColumn] | None,
    how: dict[str, str],
) -> Scores:
    """Return the pairs as a matrix of the probes against the gallery."""
    if layout.templates is None or len(layout.templates) != 2:
        raise DataError(
            f"{path}: has no names of templates, which {say('as_', 'matrix')} needs; expected two "
            "columns such as template_a and template_b"
        )
    sides = []
    for i, number in enumerate(layout.templates):
        column = table.text[number]
        who = None
        if subjects is not None:
            # A name of a template within its subject: two subjects may use one.
            who = np.empty(len(column.values), dtype=object)
            who[column.codes] = subjects[i].objects()
            whose = np.empty(len(column.values), dtype=np.int64)
            whose[column.codes] = subjects[i].codes
            for row in np.flatnonzero(whose[column.codes] != subjects[i].codes)[:1]:
                raise DataError(
                    f"{table.at(row)}: the template {column.values[column.codes[row]]!r} is of "
                    "another subject than on a line before"
                )
        names = [f"claim {name}" for name in column.values] if layout.claims and not i else None
        sides.append(Side(column.codes[rows], names or column.values, who))
    if layout.probe:
        sides.reverse()
    return as_matrix(path, values, genuine, sides, **how)


def _no_score(shape: Shape, layout: PairLayout, options: ReadOptions) -> DataError:
    columns = ", ".join(map(repr, layout.names))
    if not layout.header:
        return DataError(
            f"{shape.path}: is a list of trials without scores; give the file with the scores, and "
            f"this one as {say('trials')}"
        )
    return DataError(
        f"{shape.path}: no column {options.scores_key or 'score'!r}; its columns are {columns}. A "
        f"list of pairs has a column score, distance or similarity (name others with "
        f"{say('scores_key')}). A CSV file of labels goes with a .npy matrix: give the matrix, and "
        f"the CSV file as {say('labels')}. A matrix of scores is read from .npy or .npz"
    )


FORMAT = Format(
    name="text",
    suffixes=(".csv",),
    holds="a list of pairs with a score on each line, with or without the names of its columns",
    looks="text",
    expected="a text with a score on each line (a matrix of scores is .npy or .npz)",
    recognise=_recognise,
    needs="a list of pairs has a score on each line",
    read=_read,
    options=(
        *("scores_key", "genuine_key", "kind", "nan"),
        *("trials", "impostor", "missing_pairs", "subject_from", "as_", "labels"),
    ),
    written="a list of pairs, also as .tsv or .txt",
    written_as=(".csv", ".tsv", ".txt"),
    write=write_text,
    losses=pair_losses,
)
