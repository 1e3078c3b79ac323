"""Matrices as tables: a column of labels, and a column for each gallery template.

A text of numbers alone is read where the labels of its rows and columns are in other files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.format import FileFacts, Format, ReadOptions, say
from bioeval.scores.formats.label_files import first_numbers, matrix_advice, side_arguments
from bioeval.scores.formats.listed_pairs import EXAMPLES, named_by
from bioeval.scores.formats.npy import matrix_labels, read_bare
from bioeval.scores.formats.spellings import COLUMN_NAMES, MOST_COLUMNS, SCORE_NAMES, folded
from bioeval.scores.formats.text_table import read_columns, shape_of
from bioeval.scores.formats.trials import lists_templates, read_media
from bioeval.scores.matrix import Scores

_ROW_NAMES = ("label", "probe")


def is_wide(names: Sequence[str], options: ReadOptions) -> bool:
    """Whether the columns are those of a matrix: the first names the rows, the others templates."""
    return (
        len(names) > 2
        and names[0].casefold() in _ROW_NAMES
        and options.columns.get("scores") is None
        and SCORE_NAMES.keys().isdisjoint(map(str.casefold, names))
    )


def wide_columns(names: Sequence[str], is_text: Sequence[bool]) -> tuple[list[int], list[int]]:
    """Return the places of scores and of metadata beside the labels; none where it is a list."""
    words, numbers, of_list = [], [], False
    for i in range(1, len(names)):
        if is_text[i]:
            words.append(i)
            of_list = of_list or folded(names[i]) in COLUMN_NAMES
        else:
            numbers.append(i)
    if len(numbers) < 2 and words or of_list:
        return [], []
    return numbers, words


def wide_scores(
    path: Path,
    labels: np.ndarray,
    names: Sequence[str],
    values: Any,
    options: ReadOptions,
    meta: Mapping[str, np.ndarray] | None = None,
) -> Scores:
    """Return the matrix of a table: all against all where rows and columns have the same names.

    `names` are those of the rows' labels and of the scores; `meta` are columns of text, metadata of
    the rows.
    Where the options say how to find subjects, the names are those of templates.
    """
    options.allow("a matrix as a table", ("kind", "nan", "subject_from", "labels", "lists.as"))
    if options.as_ == "pairs":
        raise DataError(
            f"{path}: is a matrix, not a list of pairs; leave out {say('lists.as', 'pairs')}, or "
            "convert it to a list"
        )
    square_named, names = names[0].casefold() == _ROW_NAMES[0], names[1:]
    rows, columns = np.array(labels, dtype=str), np.array(names, dtype=str)
    square, listed = np.array_equal(rows, columns), rows.tolist()
    known = {*listed}
    more = [name for name in names if name not in known]
    if more and square_named and [name for name in names if name in known] == listed:
        raise DataError(
            f"{path}: the column {more[0]!r} holds numbers and is the label of no row, though all "
            f"labels of rows are columns; write metadata as text ('{more[0]} 1'), and above the "
            "rows of a table whose gallery has more templates, probe for label"
        )
    finds_subjects = options.subject_from is not None or options.labels is not None
    if square_named and not finds_subjects and not square and sorted(listed) == sorted(names):
        raise DataError(
            f"{path}: rows and columns have the same labels in another order, so that it is not "
            "known which cells compare a template with itself; bring both into one order, or, of "
            "two sets of templates, write probe for label above the rows"
        )
    subjects, metas = [rows, columns], [dict(meta or {}), {}]
    for i, side in enumerate(subjects if finds_subjects else ()):
        parts = _subjects(path, side, options)
        subjects[i] = parts.pop("subject")
        metas[i] |= {"template": side, **parts}
    scores = Scores(
        values,
        subjects[0],
        None if square else subjects[1],
        kind=options.required_kind(path),
        nan=options.nan or "raise",
        name=path.name.split(".")[0],
        probe_meta=metas[0],
        gallery_meta=None if square else metas[1],
    )
    reading = []
    if options.subject_from is not None:
        first = zip(listed[:EXAMPLES], subjects[0][:EXAMPLES], strict=True)
        reading.append(named_by(dict(first)))
    if meta:
        noun = "columns" if len(meta) > 1 else "column"
        reading.append(f"metadata from the {noun} {', '.join(meta)}")
    return scores._with(_reading=tuple(reading))


def _subjects(path: Path, names: np.ndarray, options: ReadOptions) -> dict[str, np.ndarray]:
    """Return the subjects of the templates of a side, and other parts of their names."""
    templates, pattern = names.tolist(), options.subject_from
    if pattern is not None:
        found = {}
        for part in ("subject", *pattern.metadata):
            parts = pattern.parts(templates, part, lambda place: str(path), templates)
            found[part] = np.array(parts, dtype=str)
        return found
    subjects = [*map(read_media(options.labels or Path()).subject_of().get, templates)]
    if None not in subjects:
        return {"subject": np.array(subjects, dtype=str)}
    first = templates[subjects.index(None)]
    raise DataError(
        f"{path}: the template {first!r} is not in {options.labels}, as "
        f"{subjects.count(None):,} of {len(templates):,} templates are not"
    )


# ------------------------------------------------------------------------- numbers alone


def _recognise(file: FileFacts) -> bool:
    """Whether a text begins with numbers alone and labels of a matrix are given.

    Whole numbers under another name than .csv are a top-K list where both sides have labels.
    """
    options = file.options
    sides, square = options.gallery_labels, None
    if not sides:
        square = options.labels
    if file.content != "text" or not (sides or square):
        return False
    if not options.in_use().keys() <= {*_BARE}:  # no option of a matrix without names
        return False
    count = first_numbers(file.path)
    if count < (2 if sides else 3) or (square and square.is_file() and lists_templates(square)):
        return False
    if count > MOST_COLUMNS:
        raise DataError(f"{file.path}: {matrix_advice(file.path)}")
    if square or file.suffix == ".csv":
        return True
    cells = chain.from_iterable(shape_of(file.path).cells)
    return not {*".eE"}.isdisjoint(chain.from_iterable(cells))


def _read(path: Path, options: ReadOptions) -> Scores:
    shape = shape_of(path)
    names = {i: f"column {i + 1}" for i in range(shape.columns)}
    values = np.column_stack([*read_columns(shape, False, {}, names).numbers.values()])
    if options.metric is not None:
        return read_bare(path, values, options)
    probe, gallery = matrix_labels(path, options, *values.shape)
    kind, notes = options.kind_of()
    scores = Scores(
        values,
        **side_arguments(probe, gallery),
        kind=kind,
        nan=options.nan or "raise",
        name=path.stem,
    )
    return scores._with(_reading=(*shape.reading, *notes))


_BARE = ("labels", "gallery_labels", "names_of", "meta", "kind", "nan", "metric")

FORMAT = Format(
    name="matrix text",
    suffixes=(".csv",),
    holds=(
        "a matrix of numbers alone, or with `--metric` an embedding a row, of up to 1,000 columns; "
        "labels are given as files"
    ),
    expected="a text of numbers alone, a matrix of scores",
    recognise=_recognise,
    needs=(
        f"a matrix needs {say('labels')}, and {say('gallery_labels')} if the columns are other "
        "templates"
    ),
    read=_read,
    options=_BARE,
)
