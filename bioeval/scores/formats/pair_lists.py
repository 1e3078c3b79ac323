"""Lists of pairs as text, with a score on each line, read and written."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import (
    DataError,
)
from bioeval.scores.arrays import Mask
from bioeval.scores.columns import places_among
from bioeval.scores.formats.files import existing_file, replacing, text_to_write
from bioeval.scores.formats.format import (
    FileFacts,
    Format,
    ReadOptions,
    say,
)
from bioeval.scores.formats.label_files import as_cells, check_cells, matrix_advice
from bioeval.scores.formats.listed_pairs import how_read, pairs_of_columns, templates_of_two
from bioeval.scores.formats.pair_layouts import (
    PairLayout,
    find_layout,
    misspelt,
    names_columns,
    two_readings,
    unknown_layout,
    unknown_words,
)
from bioeval.scores.formats.spellings import is_attack, is_number, is_truth
from bioeval.scores.formats.text_table import Columns, Shape, read_columns, shape_of
from bioeval.scores.formats.trials import (
    impostor_scores,
    lists_templates,
    refuse_same,
    scores_alone,
    truth_in_order,
)
from bioeval.scores.formats.wide_tables import is_wide, wide_columns, wide_scores
from bioeval.scores.labels import as_objects
from bioeval.scores.listed_templates import ListRules, places
from bioeval.scores.matrix import Scores
from bioeval.scores.pairs import PairList

_LINES = 1 << 17


def blocks_of_lines(scores: Scores) -> Iterator[dict[str, list[Any]]]:
    """Yield blocks of lines, as columns: the attempts of single-template verification.

    Of a matrix, each cell that is an attempt is a line, row by row; the enrolled subject is a, the
    probe b.
    """
    # The name of the column declares what the scores are.
    score = scores.kind if scores.kind != "order" else "score"
    if scores.layout == "pairs":
        columns = {score: scores.values, "genuine": scores.genuine.astype(int)}
        if scores.pair_subjects is not None:
            for side, subjects in zip("ab", scores.pair_subjects.T, strict=True):
                columns[f"subject_{side}"] = _words(subjects)
        if (listed := scores.pairs.templates) is not None:
            called = _words(as_objects(listed.values))
            columns |= {"template_a": called[listed.a], "template_b": called[listed.b]}
        if scores.pair_folds is not None:
            columns["fold"] = _words(scores.pair_folds)
        for low in range(0, len(scores.values), _LINES):
            yield {name: column[low : low + _LINES].tolist() for name, column in columns.items()}
        return
    (m, n), codes = scores.shape, scores._codes
    probes, gallery = _words(scores.probe_labels), _words(scores.gallery_labels)
    step = max(1, _LINES // n)
    for low in range(0, m, step):
        high = min(m, low + step)
        kept = scores.probe_ids[low:high, None] != scores.gallery_ids
        left_out = scores._left_out(low, high)
        if left_out is not None:
            kept &= ~left_out
        i, j = np.nonzero(kept)
        genuine = codes.gallery[j] == codes.probe[low + i]
        if not scores._labelled and scores._has_mask:
            genuine = scores._read_mask(low, high)[i, j] == Mask.GENUINE
        block = {score: scores._read_rows(low, high)[i, j], "genuine": genuine.astype(int)}
        if scores._labelled:
            block |= {"subject_a": gallery[j], "subject_b": probes[low + i]}
        yield {name: column.tolist() for name, column in block.items()}


def _words(values: np.ndarray) -> np.ndarray:
    return np.array([*map(str, values.tolist())], dtype=object)


def write_text(scores: Scores, path: Path) -> None:
    """Write a text, separated by commas or, with another suffix than .csv, by tabs."""
    scores._require_matrix()
    with replacing(path) as part:
        for name, (_, values) in _texts(scores).items():
            check_cells(values, name, path)
        with text_to_write(part, path) as file:
            mark = "," if ".csv" in path.suffixes[-2:] else "\t"
            writer = csv.writer(file, delimiter=mark, lineterminator="\n")
            for number, block in enumerate(blocks_of_lines(scores)):
                if not number:
                    writer.writerow(block)
                writer.writerows(zip(*map(as_cells, block.values()), strict=True))


def _texts(scores: Scores) -> dict[str, tuple[str, np.ndarray]]:
    """Return the columns that become text, by their names, with what they are."""
    texts = {}
    if scores.layout != "pairs":
        if scores._labelled:
            texts["probe label"] = "labels", scores.probe_labels
            texts["gallery label"] = "labels", scores.gallery_labels
        return texts
    if scores.pair_subjects is not None:
        for side, subjects in zip("ab", scores.pair_subjects.T, strict=True):
            texts[f"subject_{side}"] = "labels", subjects
    if scores.pairs.templates is not None:
        texts["template"] = "names of templates", as_objects(scores.pairs.templates.values)
    if scores.pair_folds is not None:
        texts["fold"] = "folds", scores.pair_folds
    return texts


def pair_losses(scores: Scores) -> list[str]:
    """List what a list of pairs cannot hold of scores."""
    changed = dict.fromkeys(
        noun
        for noun, values in _texts(scores).values()
        if values.dtype.kind != "U" and {*map(type, values.tolist())} - {str}
    )
    lost = [f"{noun} become text" for noun in changed]
    if scores.layout != "pairs":
        lost.append("the matrix becomes a list of pairs, for verification alone")
    if names := sorted({*scores.probe_meta, *scores.gallery_meta}):
        statement = "columns {} are" if len(names) > 1 else "column {} is"
        lost.append(f"the metadata {statement.format(', '.join(names))} left out")
    if scores.kind == "order":
        unsaid = "a list of pairs does not record the kind order: read it with "
        lost.append(f"{unsaid}{say('kind', 'order')}")
    if scores.nan != "raise":
        unsaid = "what a failed comparison means is not said in a list: read it with "
        lost.append(f"{unsaid}{say('nan', scores.nan)}")
    return lost


def _recognise(file: FileFacts) -> bool:
    """Whether a text is a list of pairs, or a matrix with names."""
    options = file.options
    if not file.is_text:
        return False
    if options.gallery_labels:
        if file.suffix == ".csv":
            raise DataError(
                f"{file.path}: is text with other first cells than numbers; {say('labels')} and "
                f"{say('gallery_labels')} label the rows and columns of a matrix of numbers alone, "
                "without names of rows and columns"
            )
        return False
    listed: object = options.columns.get("scores") or options.trials or options.subject_from
    labels = options.labels
    listed = listed or (labels and labels.is_file() and lists_templates(labels))
    advice = matrix_advice(file.path) if not listed else ""
    named = file.suffix == ".csv"
    if advice and named:
        raise DataError(f"{file.path}: {advice}")
    if named:
        return True
    shape = _shape(file.path)
    return not advice and (
        is_wide(shape.cells[0], options) or find_layout(shape, options) is not None
    )


def begins_with_names(file: FileFacts) -> bool:
    """Whether the first line of a text names the columns of a list or of a matrix."""
    options = file.options
    if options.gallery_labels:
        return False
    shape = _shape(file.path)
    return names_columns(shape) or is_wide(shape.cells[0], options)


def _shape(path: Path) -> Shape:
    """Return the columns of a text; an empty first cell is `label` in a square matrix."""
    shape = shape_of(path)
    (corner, *names), *rows = shape.cells
    if not corner and len(rows) > 1 and [row[0] for row in rows] == names[: len(rows)]:
        shape.cells[0][0] = "label"
    return shape


def _read(path: Path, options: ReadOptions) -> Scores:
    shape = _shape(path)
    scores = _read_shape(path, shape, options)
    return scores._with(_reading=(*shape.reading, *scores._reading))


def _read_shape(path: Path, shape: Shape, options: ReadOptions) -> Scores:
    """Read a text as a matrix with names, as two files of scores, or as a list."""
    scores, words = _wide(shape, options)
    if scores:
        named = PairLayout(shape.cells[0])
        text, numbers = named.called((0, *words)), named.called(scores)
        table = read_columns(shape, True, text, numbers, blanks=words)
        matrix = np.column_stack([*table.numbers.values()])
        who = table.text[0].objects().astype(str)
        about = {text[i]: table.text[i].objects().astype(str) for i in words}
        return wide_scores(path, who, [text[0], *numbers.values()], matrix, options, about)
    layout = find_layout(shape, options)
    if layout is None:
        raise unknown_layout(shape)
    if layout.score is None:
        if not layout.header:
            raise DataError(
                f"{shape.path}: is a list of trials without scores; give the file with the scores, "
                f"and this one as {say('trials')}"
            )
        columns = ", ".join(map(repr, layout.names))
        raise DataError(
            f"{shape.path}: no column {options.columns.get('scores', 'score')!r}; its columns are "
            f"{columns}. A list of pairs has a column score, distance or similarity (name others "
            f"with {say('columns.scores')}). A CSV file of labels goes with a .npy matrix: give "
            f"the matrix, and the CSV file as {say('labels')}. A matrix of scores is read from "
            f".npy or .npz{misspelt(layout.names)}"
        )
    how = how_read(path, layout, options)
    alone = layout.genuine is None and shape.columns == 1 and options.pairs is None
    if options.impostor is not None or alone:
        return _two_files(shape, layout, options, how)
    sides = {*(layout.subjects or ())}
    known = options.as_ or options.trials or options.labels or options.subject_from
    keys = {*(layout.templates or ())}
    if known or layout.names_templates or layout.subjects and not layout.header:
        sides |= keys
    extra_columns = layout.called((layout.genuine, layout.fold, layout.species))
    table = read_columns(
        shape,
        layout.header,
        text=layout.called(sides | extra_columns.keys()),
        numbers=layout.called([layout.score]),
        digits=layout.called([layout.genuine]),
        blanks=layout.called([layout.species]),
    )
    if layout.subjects and not layout.header:
        _one_reading(shape, table, layout)
    return pairs_of_columns(table, layout, options, how)


def _wide(shape: Shape, options: ReadOptions) -> tuple[list[int], list[int]]:
    """Return the columns of scores and of metadata of a matrix; none if it is not a matrix."""
    names = shape.cells[0]
    if len(shape.rows) < 2 or not is_wide(names, options):
        return [], []
    is_text = []
    for i in range(len(names)):
        _, *cells = shape.column(i)
        is_text.append(2 * sum(map(is_number, cells)) <= len(cells))
    return wide_columns(names, is_text)


def _one_reading(shape: Shape, table: Columns, layout: PairLayout) -> None:
    """Raise where a list in bob's layout could equally have a column of classes."""
    columns = [i for i, column in table.text.items() if all(map(is_truth, column.values))]
    score = layout.score or 0
    if np.isin(table.numbers[score], (0, 1, -1)).all():
        columns.append(score)
    if columns:
        so = "could mark genuine pairs, or have the layout of bob's lists"
        raise two_readings(shape, sorted(columns), "only 0 and 1", so)
    first, second = layout.subjects or (0, 0)
    claimed, real = table.text[first], table.text[second]
    attacks = all(is_attack(value.partition("/")[0]) for value in real.values)
    genuine = places_among(claimed.values, real.values)[real.codes] == claimed.codes
    if not genuine.any() and not attacks:
        raise DataError(
            f"{shape.path}: is taken for bob's list of claimed and real subjects, which are the "
            "same on no line; if it is another, write the names of its columns in a first line, "
            f"such as 'genuine template_a template_b score'{unknown_words(shape)}"
        )


def _two_files(
    shape: Shape, layout: PairLayout, options: ReadOptions, how: dict[str, Any]
) -> Scores:
    """Read genuine scores and, from a second file, impostor scores or trials in order."""
    if layout.genuine is not None:
        raise DataError(
            f"{shape.path}: {layout.names[layout.genuine]} marks genuine pairs; give this "
            "file alone"
        )
    if options.impostor is None and options.trials is None:
        raise DataError(
            f"{shape.path}: holds one number per line; if these are genuine scores, give the file "
            "of the impostor scores as a second one; if they are in the order of a list of "
            f"trials, give that as {say('trials')}. A command of several systems takes one file of "
            f"each: bioeval convert {shape.path} IMPOSTOR {shape.path.stem}.npz --kind KIND"
        )
    if options.impostor is None:
        alone = scores_alone(shape, layout)
        values = alone.numbers[layout.score or 0]
        flags, remark = truth_in_order(shape.path, len(values), options)
        listed, notes = PairList.of(values, flags).attempts(
            ListRules(), how["kind"], lambda rows: places("line", alone.lines(rows))
        )
        return Scores._of_pairs(listed, **how, remarks=(*notes, remark))
    other = existing_file(options.impostor)
    genuine = scores_alone(shape, layout)
    impostor, theirs = impostor_scores(other, shape.columns, layout, options)
    values, impostor_values = (
        genuine.numbers[layout.score or 0],
        impostor.numbers[theirs.score or 0],
    )
    refuse_same(shape.path, values, other, impostor_values)
    templates = templates_of_two(genuine, impostor, layout, theirs)

    def where(rows: Sequence[int]) -> str:
        lines = []
        for row in rows:
            if row < len(values):
                lines.append(f"line {genuine.line(row)}")
            else:
                lines.append(f"line {impostor.line(row - len(values))} of {other.name}")
        return " and ".join(lines)

    flags = np.repeat([True, False], [len(values), len(impostor_values)])
    both = PairList.of(np.concatenate([values, impostor_values]), flags, pair_templates=templates)
    rules = ListRules.parse(options.keep, options.unordered)
    both, remarks = both.attempts(rules, how["kind"], where)
    return Scores._of_pairs(both, **how, remarks=remarks)


FORMAT = Format(
    name="text",
    suffixes=(".csv",),
    holds="a list of pairs with a score on each line, with or without the names of its columns",
    expected="a text with a score on each line (a matrix of scores is .npy or .npz)",
    recognise=_recognise,
    needs="a list of pairs has a score on each line",
    read=_read,
    options=(
        *("columns.scores", "columns.genuine", "kind", "nan"),
        *("trials", "impostor", "lists.missing_pairs", "subject_from", "lists.as", "labels"),
        *("meta", "lists.keep", "lists.unordered", "pairs"),
    ),
    written="a list of pairs, also as .tsv, .txt or .csv.gz",
    written_as=(".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz"),
    write=write_text,
    losses=pair_losses,
)
