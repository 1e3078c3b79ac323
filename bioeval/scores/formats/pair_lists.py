"""Lists of pairs as text, with a score on each line; also as written by `save`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.csv import matrix_advice
from bioeval.scores.formats.files import existing_file
from bioeval.scores.formats.format import Format, Found, Written
from bioeval.scores.formats.listed_pairs import how_read, pairs_of_columns
from bioeval.scores.formats.named_templates import templates_of_two
from bioeval.scores.formats.options import ReadOptions, say
from bioeval.scores.formats.pair_layouts import (
    PairLayout,
    find_layout,
    misspelt,
    names_columns,
    two_readings,
    unknown_layout,
)
from bioeval.scores.formats.pair_writers import pair_losses, write_text
from bioeval.scores.formats.spellings import is_attack, is_number, is_truth
from bioeval.scores.formats.text_columns import Columns
from bioeval.scores.formats.text_shape import Shape, shape_of
from bioeval.scores.formats.text_table import read_columns
from bioeval.scores.formats.trials import (
    impostor_scores,
    in_order,
    lists_templates,
    refuse_same,
    scores_alone,
    truth_in_order,
)
from bioeval.scores.formats.wide_tables import (
    WIDE_TEXT,
    is_wide,
    wide_columns,
    wide_losses,
    wide_scores,
    write_wide_text,
)
from bioeval.scores.listed_templates import ListRules, places
from bioeval.scores.matrix import Scores
from bioeval.scores.pairs import PairScores


def _recognise(found: Found) -> bool:
    options = found.options
    if options.probe_labels or options.gallery_labels:
        return False
    if not found.is_text:
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
    shape = _shape(found.path, options)
    return not advice and (
        is_wide(shape.cells[0], options) or find_layout(shape, options) is not None
    )


def _first_line(found: Found) -> bool:
    options = found.options
    if options.probe_labels or options.gallery_labels:
        return False
    shape = _shape(found.path, options)
    return names_columns(shape) or is_wide(shape.cells[0], options)


def _shape(path: Path, options: ReadOptions) -> Shape:
    """Return the columns of a text; an empty first cell is `label` in a square matrix."""
    shape = shape_of(path, (options.scores_key, options.genuine_key))
    (corner, *names), *rows = shape.cells
    if not corner and len(rows) > 1 and [row[0] for row in rows] == names[: len(rows)]:
        shape.cells[0][0] = "label"
    return shape


def _read(path: Path, options: ReadOptions) -> Scores:
    shape = _shape(path, options)
    scores = _read_shape(path, shape, options)
    scores.reading = (*shape.reading, *scores.reading)
    return scores


def _read_shape(path: Path, shape: Shape, options: ReadOptions) -> Scores:
    scores, words = _wide(shape, options)
    if scores:
        columns = dict(enumerate(shape.cells[0]))
        named = {i: columns[i] for i in (0, *words)}
        table = read_columns(shape, True, named, {i: columns[i] for i in scores})
        matrix = np.column_stack([*table.numbers.values()])
        who, *meta = (table.text[i].objects().astype(str) for i in named)
        about = dict(zip([columns[i] for i in words], meta, strict=True))
        names = [columns[i] for i in (0, *scores)]
        return wide_scores(path, who, names, matrix, options, about)
    layout = find_layout(shape, options)
    if layout is None:
        raise unknown_layout(shape)
    if layout.score is None:
        raise _no_score(shape, layout, options)
    how = how_read(path, layout, options)
    alone = layout.genuine is None and shape.columns == 1 and options.pairs is None
    if options.impostor is not None or alone:
        return _two_files(shape, layout, options, how)
    sides = {*(layout.subjects or ())}
    known = options.as_ or options.trials or options.labels or options.subject_from
    keys = {*(layout.templates or ())}
    if known or layout.names_templates or layout.subjects and not layout.header:
        sides |= keys
    others = {i for i in (layout.genuine, layout.fold, layout.species) if i is not None}
    text = {i: layout.names[i] for i in sides | others}
    number = {layout.score: layout.names[layout.score]}
    digits = () if layout.genuine is None else (layout.genuine,)
    bounded = () if known else keys
    species = () if layout.species is None else (layout.species,)
    table = read_columns(shape, layout.header, text, number, digits, bounded, species)
    if layout.subjects and not layout.header:
        _one_reading(shape, table, layout)
    return pairs_of_columns(table, layout, options, how)


def _wide(shape: Shape, options: ReadOptions) -> tuple[list[int], list[int]]:
    """Return the columns of scores and of metadata of a matrix; none if it is not a matrix."""
    names, *rows = shape.cells
    rows = [row for row in rows if len(row) == len(names)]
    if not rows or not is_wide(names, options):
        return [], []
    numbers = [sum(is_number(row[i]) for row in rows) for i in range(len(names))]
    return wide_columns(names, [2 * count <= len(rows) for count in numbers])


def _one_reading(shape: Shape, table: Columns, layout: PairLayout) -> None:
    """Raise where a list in bob's layout could equally have a column of classes."""
    columns = [i for i, column in table.text.items() if all(map(is_truth, column.values))]
    score = layout.score or 0
    if np.isin(table.numbers[score], (0, 1, -1)).all():
        columns.append(score)
    if columns:
        so = "could mark genuine pairs, or have the layout of bob's lists"
        raise two_readings(shape, [i + 1 for i in sorted(columns)], "only 0 and 1", so)
    claimed, real = (table.text[i] for i in layout.subjects or (0, 0))
    attacks = all(is_attack(value.partition("/")[0]) for value in real.values)
    if set(claimed.values).isdisjoint(real.values) and not attacks:
        raise DataError(
            f"{shape.path}: is taken for bob's list of claimed and real subjects, and none are the "
            "same; if it is another, write the names of its columns in a first line, such as "
            "'genuine template_a template_b score'"
        )


def _two_files(
    shape: Shape, layout: PairLayout, options: ReadOptions, how: dict[str, str]
) -> PairScores:
    """Read genuine scores and, from a second file, impostor scores or trials in order."""
    if layout.genuine is not None:
        raise DataError(
            f"{shape.path}: {layout.names[layout.genuine]} marks genuine pairs; leave out "
            f"{say('impostor')}"
        )
    if options.impostor is None and options.trials is None:
        raise DataError(
            f"{shape.path}: holds one number per line; if these are genuine scores, give the file "
            f"of the impostor scores as {say('impostor')}; if they are in the order of a list of "
            f"trials, give that as {say('trials')}"
        )
    if options.impostor is None:
        alone = scores_alone(shape, layout)
        values = alone.numbers[layout.score or 0]
        flags = truth_in_order(shape.path, len(values), options)
        listed = PairScores(values, flags, **how)
        scores = listed.attempts(ListRules(), lambda rows: places("line", alone.lines(rows)))
        scores.remarks += (in_order(options.trials or Path()),)
        return scores
    other = existing_file(options.impostor)
    genuine = scores_alone(shape, layout)
    impostor, theirs = impostor_scores(other, shape.columns, options)
    values, others = genuine.numbers[layout.score or 0], impostor.numbers[theirs.score or 0]
    refuse_same(shape.path, values, other, others)
    templates = templates_of_two(genuine, impostor, layout, theirs)

    def where(rows: Sequence[int]) -> str:
        of_first = (row < len(values) for row in rows)
        return " and ".join(
            f"line {genuine.line(row)}" if mine else f"line {impostor.line(row - len(values))} of "
            f"{other.name}" for row, mine in zip(rows, of_first, strict=True)
        )  # fmt: skip

    flags = np.repeat([True, False], [len(values), len(others)])
    both = PairScores(np.concatenate([values, others]), flags, templates=templates, **how)
    return both.attempts(ListRules.parse(options.keep, options.unordered), where)


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
        f"{misspelt(layout.names)}"
    )


FORMAT = Format(
    name="text",
    suffixes=(".csv",),
    holds="a list of pairs with a score on each line, with or without the names of its columns",
    looks="text",
    expected="a text with a score on each line (a matrix of scores is .npy or .npz)",
    recognised_by=(
        "the names of its columns, or its first lines; a matrix by a first column `label` or "
        "`probe`"
    ),
    cannot_hold=(
        "metadata, the policy for failed comparisons; a matrix becomes its single comparisons; "
        "labels become text; a `.wide.csv` file: lists, masks, metadata, the kind, text, more "
        "than 999 columns, float32"
    ),
    recognise=_recognise,
    first_line=_first_line,
    needs="a list of pairs has a score on each line",
    read=_read,
    options=(
        *("scores_key", "genuine_key", "kind", "nan"),
        *("trials", "impostor", "missing_pairs", "subject_from", "session_from", "as_", "labels"),
        *("keep", "unordered", "pairs"),
    ),
    written="a list of pairs, also as .tsv, .txt or .csv.gz; a matrix as .wide.csv",
    otherwise=(
        Written(WIDE_TEXT, write_wide_text, lambda scores: wide_losses(scores, ("float64",))),
    ),
    written_as=(".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"),
    write=write_text,
    losses=pair_losses,
)
