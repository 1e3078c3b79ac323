"""Lists of comparisons with scores, and matrices whose rows and columns have names.

Both are a text, a Parquet file or a DataFrame. A list has a pair of templates on each line, and a
matrix has the names of templates above its columns and before its rows::

    template_a,template_b,genuine,distance        label,anna,ben
    anna_1,anna_2,1,0.21                          anna,0,0.83
    anna_1,ben_1,0,0.83                           ben,0.83,0

`_scores_of_table` decides which of them a table is; :mod:`bioeval.scores.formats.listed` makes
scores of the lines of a list. A text of scores alone has the scores of trials in their order, or of
genuine and of impostor pairs apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.base.kinds import Kind
from bioeval.scores.features import NO_FEATURES
from bioeval.scores.formats.arrays import scores_of, scores_of_array, vectors_of_classes
from bioeval.scores.formats.containers import Lazy, open_npy
from bioeval.scores.formats.labels import Description, column_of_subjects, descriptions
from bioeval.scores.formats.layouts import (
    layout_of,
    misspelt,
    no_scores,
    unnamed_columns,
    with_header,
)
from bioeval.scores.formats.listed import scores_of_listed
from bioeval.scores.formats.roles import Arguments
from bioeval.scores.formats.tables import (
    COLUMNS,
    HEADER_NAMES,
    Head,
    as_integers,
    counts_columns,
    folded,
    head_of,
    is_number,
    like_number,
    require_names,
)
from bioeval.scores.formats.texts import (
    FileKind,
    existing_file,
    fault,
    guarded,
    kind_of_file,
    optional,
    text_array,
    wrong_shape,
)
from bioeval.scores.formats.trials import in_listed_order, scores_of_classes
from bioeval.scores.keys import as_keys, counts_rows, keys_of
from bioeval.scores.labels import as_objects, missing_values, normal
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import LABEL_COLUMNS


def _scores_of_table(head: Head, arguments: Arguments) -> Scores:
    """Return the scores of a text or a table: of named arrays, of a matrix, or of a list."""
    head = with_corner(head)
    names = head.cells[0]
    if (scores := _of_arrays(head, arguments)) is not None:
        return scores
    if len(head.rows) > 1 and is_wide(names, arguments):
        return _matrix_with_names(head, arguments)
    layout = layout_of(head, arguments) if head.is_text else with_header(head, arguments)
    if layout is None or layout.get("score") is None:
        raise no_scores(head, named=True)
    hint = f", or name the column distance or similarity{misspelt(layout.names)}"
    source = f"the column {layout.names[layout.score]!r}"
    options = _options(head.path, layout.kind, arguments, source, hint)
    if head.width - layout.unnamed == 1 and layout.get("genuine") is None:
        if "trials" in arguments and head.is_text:
            return scores_in_order(head.path, arguments)
        raise DataError(
            f"{head.path}: holds one number per line; if these are genuine scores, give the file "
            "of the impostor scores as a second one; if they are in the order of a list of "
            "trials, give that as `trials`. A command of several systems takes one file of each: "
            f"bioeval convert {head.path} IMPOSTOR {head.path.stem}.npz --kind KIND"
        )
    # The columns of words: all columns with a role except the scores.
    columns = [layout.get("genuine"), layout.get("fold"), *layout.subjects]
    columns += [i for both_sides in layout.meta.values() for i in both_sides]
    words = {i for i in columns if i is not None}
    if arguments.names_templates or "lists.as" in arguments or layout.names_templates:
        words |= {*layout.templates}
    table = head.read(
        sorted(words),
        [layout.score],
        names=layout.names,
        header=layout.skips_line,
        digits=words & {layout.get("genuine")},
        blanks=layout.may_be_blank,
        labels=words.intersection((*layout.templates, *layout.subjects)),
    )
    return scores_of_listed(table, layout, arguments, options)


# ------------------------------------------------------------------------- scores alone


def _vector(path: Path, arguments: Arguments) -> tuple[np.ndarray, Kind | None]:
    """Return the scores of a .npy array or a text, one an attempt, and the kind it declares."""
    if kind_of_file(existing_file(path)) == FileKind.NPY:
        values = open_npy(path)
        if prod(values.shape) != max(values.shape, default=0):
            raise wrong_shape(path, "", values.shape, "one score an attempt")
        return np.ravel(np.asarray(values[:] if values.ndim else values)), None
    head = head_of(path)
    layout = layout_of(head, arguments)
    if (width := head.width - layout.unnamed) != 1:
        raise fault(path, f"has {width} columns", "expected one score on each line")
    if layout.get("score") is None:
        raise no_scores(head, named=True)
    header = layout.skips_line or not is_number(head.cells[0][0])
    names, blanks = ["score"] * head.width, layout.may_be_blank
    table = head.read([], [layout.score], names=names, header=header, blanks=blanks)
    return table.numbers[layout.score], layout.kind


def _options(
    path: Path,
    kind: Kind | None,
    arguments: Arguments,
    source: str = "the name of the scores",
    hint: str = "",
) -> dict[str, Any]:
    # The name of a compressed text has several suffixes.
    name = path.stem if path.suffix == ".npy" else path.name.split(".")[0]
    return {
        "kind": arguments.kind_of(path, kind, source, hint),
        "nan": arguments.take("nan", "raise"),
        "name": name or path.stem,
    }


def scores_in_order(path: Path, arguments: Arguments) -> Scores:
    values, kind = _vector(path, arguments)
    return in_listed_order(path, values, arguments, _options(path, kind, arguments))


def scores_of_two_files(path: Path, impostor_path: Path, arguments: Arguments) -> Scores:
    """Read two files, of genuine and of impostor scores, as one list."""
    (genuine, kind), (impostor, second_kind) = (
        _vector(x, arguments) for x in (path, impostor_path)
    )
    if kind and second_kind and kind != second_kind:
        raise fault(
            impostor_path,
            f"the scores are called {second_kind}, and those of the genuine file {kind}",
            "expected distances or similarities in both",
        )
    has_several_values = (genuine != genuine[0]).any()
    are_equal = np.array_equal(genuine, impostor, equal_nan=True) and has_several_values
    if path.samefile(impostor_path) or are_equal:
        raise fault(
            path,
            f"has the same scores as {impostor_path}",
            "expected genuine scores in one file and impostor scores in another",
        )
    options = _options(path, kind or second_kind, arguments)
    reading = f"genuine scores from {path.name}, impostor scores from {impostor_path.name}"
    return scores_of_classes(genuine, impostor, arguments, options)._with(reading=(reading,))


# ------------------------------------------------------------------------- a matrix with names


# The names above the rows of a matrix: rows that are the templates of the columns, and others.
_SAME_TEMPLATES = "label"
_OTHER_TEMPLATES = "probe"
# Rows of a Parquet file that are read together.
_ROWS_PER_PIECE = 1 << 17
# The most rows, and cells, of a table by which its columns are known, and the least rows.
_FIRST_ROWS, _FIRST_CELLS, _FEW_ROWS = 1000, 200_000, 20


def is_wide(names: Sequence[str], arguments: Arguments) -> bool:
    """Whether columns are a matrix: names of the rows, and a column for each gallery template."""
    return (
        len(names) > 2
        and names[0].casefold() in (_SAME_TEMPLATES, _OTHER_TEMPLATES)
        and "columns.scores" not in arguments
        and {*COLUMNS["score"]}.isdisjoint(map(str.casefold, names))
        and HEADER_NAMES.isdisjoint(map(folded, names[1:]))
    )


def with_corner(head: Head) -> Head:
    """Return the first lines; the empty first cell of a matrix becomes ``label`` or ``probe``."""
    corner, *column_names = head.cells[0]
    rows = head.cells[1:]
    row_names = [row[0] for row in rows]
    if corner or len(rows) < 2:
        return head
    # Numbers of columns are no names, nor are the numbers of a matrix whose diagonal is blank.
    has_decimals = any("." in x and is_number(x) for x in column_names)
    if has_decimals or counts_columns(column_names):
        return head

    corner = ""
    if row_names == column_names[: len(rows)]:  # `rows` may be the first rows alone
        corner = _SAME_TEMPLATES
    elif (
        len(column_names) > 1
        and not any(map(is_number, column_names))
        and HEADER_NAMES.isdisjoint(map(folded, column_names))
        and not all(map(is_number, row_names))
        and all(not cell or is_number(cell) for row in rows for cell in row[1:])
    ):
        are_same = sorted(row_names) == sorted(column_names)
        corner = _SAME_TEMPLATES if are_same else _OTHER_TEMPLATES
    return replace(head, cells=[[corner, *column_names], *rows])


def read_text_table(path: Path, arguments: Arguments) -> Scores:
    head = head_of(path)
    scores = _scores_of_table(head, arguments)
    return scores._with(reading=(*head.reading, *scores.reading))


def read_numbers(path: Path, arguments: Arguments) -> Scores:
    """Read a text of numbers alone: a matrix, or with a metric an embedding on each line."""
    import pandas as pd

    head = head_of(path)
    titles = head.cells[0]
    has_titles = not any(map(is_number, titles))
    index_count = int(not titles[0]) if has_titles else unnamed_columns(head, arguments)
    header = has_titles or bool(index_count)
    columns = range(index_count, head.width)
    names = ["the index"] * index_count + [f"column {i + 1}" for i in columns]
    words = range(index_count)
    table = head.read(words, columns, names=names, header=header, blanks=columns)
    values: Any = np.column_stack([*table.numbers.values()])
    numbers = as_keys(table.words[0].objects()).numbers if index_count else None
    if numbers is not None or has_titles:
        values = pd.DataFrame(values, index=numbers, columns=titles[index_count:])
    scores = scores_of_array(path, values, arguments)
    return scores._with(reading=(*head.reading, *scores.reading))


def _matrix_with_names(head: Head, arguments: Arguments) -> Scores:
    path, names = head.path, head.cells[0]
    table = head.read([0], range(1, head.width), names=names, blanks=range(head.width))
    row_names = table.words[0].objects().astype(str).tolist()
    corner, *column_names = names
    column_names = [*as_integers([*map(normal, column_names)])]  # as those of the rows
    square = row_names == column_names
    has_same_names = sorted(row_names) == sorted(column_names)
    if corner.casefold() == _SAME_TEMPLATES and has_same_names and not square:
        raise fault(
            path,
            "rows and columns have the same labels in another order, so that it is not known which "
            "cells compare a template with itself",
            "bring both into one order, or, of two sets of templates, write probe for label above "
            "the rows",
        )

    # The subject and the metadata of each name, by a table or a pattern; else names are subjects.
    every_name = [*dict.fromkeys([*row_names, *column_names])]
    meta_names = arguments.all_meta() if "labels" in arguments else {}
    described = descriptions(
        arguments, path, every_name, lambda _: str(path), meta_names, are_subjects_needed=True
    )
    _, subject_of, meta, _ = next(described, Description("", None, {}, {}))
    labels: dict[str, list[str]] = {}
    meta_of_side: dict[str, dict[str, list[str]]] = {}
    for side, side_names in (("probe", row_names), ("gallery", column_names)):
        if subject_of is None:
            labels[side], meta_of_side[side] = side_names, {}
            continue
        labels[side] = [subject_of[name] for name in side_names]
        meta_of_side[side] = {"template": side_names}
        for column, value_of in meta.items():
            meta_of_side[side][column] = [value_of[name] for name in side_names]
    hint = ""
    if {*labels["probe"]}.isdisjoint(labels["gallery"]):
        hint = ", or, if the columns are features of embeddings, `metric`"
    return Scores(
        np.column_stack([*table.numbers.values()]),
        labels["probe"],
        None if square else labels["gallery"],
        kind=arguments.kind_of(path, None, "", hint),
        nan=arguments.take("nan", "raise"),
        name=path.name.split(".")[0],
        probe_meta=meta_of_side["probe"],
        gallery_meta=None if square else meta_of_side["gallery"],
        shared=arguments.take("shared"),
    )


# ------------------------------------------------------------------------- columns as arrays


def holds_features(head: Head, arguments: Arguments) -> bool:
    """Whether rows are embeddings, beside their labels or other columns, by titles of columns."""
    titles = head.cells[0]
    is_stated = not {"metric", "average"}.isdisjoint(arguments.values)
    if not is_stated or len(head.rows) < 2 or "columns.scores" in arguments:
        return False
    if "gallery" in arguments or not {*COLUMNS["score"]}.isdisjoint(map(folded, titles)):
        return False
    features, others = _features(head, arguments)
    if features and not NO_FEATURES.isdisjoint(titles[i].casefold() for i in others if titles[i]):
        return True
    if not arguments.ignored.isdisjoint(titles):
        return True
    are_titles = not any(map(like_number, titles))
    return are_titles and bool(features) and (len(others) > 0 or "labels" not in arguments)


def _features(head: Head, arguments: Arguments) -> tuple[list[int], list[int]]:
    """Return the columns of features, numbers without another title or role, and the others."""
    named = {*arguments.meta.values(), arguments.peek("columns.labels"), *arguments.ignored}
    features: list[int] = []
    others: list[int] = []
    for i, title in enumerate(head.cells[0]):
        is_other = title in named or title.casefold() in NO_FEATURES
        is_number = all(not x or like_number(x) for x in head.column(i)[1:])
        (others if is_other or not is_number else features).append(i)
    return features, others


def _of_arrays(head: Head, arguments: Arguments) -> Scores | None:
    """Read columns as arrays: features with labels, or the scores of each class; else None."""
    if holds_features(head, arguments):
        return _embeddings(head, arguments)
    titles = head.cells[0]
    classes = vectors_of_classes(titles)
    if classes is None or not {*classes} <= {*titles} <= {"", *classes}:
        return None
    cells = [x for name in classes for x in head.column(titles.index(name))[1:] if x]
    are_flags = all(is_number(x) and float(x) in (0, 1) for x in cells)
    if are_flags or not all(map(like_number, cells)):
        return None  # words, or flags, which are no scores
    arguments.kind_of(head.path, None, "")
    chosen = [titles.index(x) for x in classes]
    table = head.read([], chosen, names=titles, blanks=chosen)
    arrays: dict[str, Lazy] = {}
    for i, values in table.numbers.items():  # the shorter column ends in blank cells
        count = int(np.flatnonzero(~np.isnan(values)).max(initial=-1)) + 1
        arrays[titles[i]] = Lazy.of(values[:count])
    return scores_of(head.path, arrays, arguments)


def _embeddings(head: Head, arguments: Arguments) -> Scores:
    """Read columns of features, and beside them the labels and metadata of each row."""
    import pandas as pd

    path, titles = head.path, head.cells[0]
    require_names(path, head.start_line, titles)
    features, others = _features(head, arguments)
    if not features:
        raise fault(path, "has no column of numbers that may be a feature")
    others = [i for i in others if titles[i] not in arguments.ignored]
    table = head.read(others, features, names=titles, blanks=range(head.width), labels=others)
    values = np.column_stack([table.numbers[i] for i in features])
    frame = pd.DataFrame(values, columns=[titles[i] for i in features])

    columns: dict[str, np.ndarray] = {}
    for i in others:
        cells = table.words[i].objects()
        if titles[i] or not counts_rows(cells):  # 0, 1, 2, ... without a title: pandas' index
            columns[titles[i] or "name"] = text_array(cells.tolist(), str(path))

    # The column of labels: the first known name that `columns` does not give to metadata.
    known = [x for x in columns if x.casefold() in LABEL_COLUMNS]
    known = [x for x in known if x not in arguments.meta.values()]
    label = min(known, key=lambda x: LABEL_COLUMNS.index(x.casefold()), default=None)
    if label is not None and "labels" in arguments:
        raise fault(
            path,
            f"the column {label!r} and `labels` each state the labels",
            f'leave out `labels`, or say `columns={{"{label}": None}}`',
        )
    if label is not None and "columns.labels" not in arguments:
        columns["labels"] = columns.pop(column_of_subjects(path, label, columns, "labels"))
    arrays = {"embeddings": frame} | columns
    return scores_of(path, {name: Lazy.of(array) for name, array in arrays.items()}, arguments)


# ------------------------------------------------------------------------- Parquet, a DataFrame


def read_parquet(path: Path, arguments: Arguments) -> Scores:
    """Read a matrix, or a list of pairs, as the names of the columns show."""
    optional("pyarrow.parquet", path, "a Parquet file")
    arrow = optional("pyarrow", path, "a Parquet file")
    opened = arrow.parquet.ParquetFile(path, page_checksum_verification=True)
    with guarded(path, expected="a Parquet file"), opened as file:
        names = file.schema_arrow.names
        # pandas stores an index of names as a column.
        index = (file.schema_arrow.pandas_metadata or {}).get("index_columns", [])
        index = [x for x in index if x in names]
        if len(index) == 1 and "string" in str(file.schema_arrow.field(index[0]).type):
            names = [*index, *(x for x in names if x != index[0])]
        else:
            index = [None]

        def pieces(columns: Sequence[int]) -> Iterator[dict[int, Any]]:
            for batch in file.iter_batches(_ROWS_PER_PIECE, columns=[names[i] for i in columns]):
                yield {i: batch.column(names[i]).to_pandas() for i in columns}

        def first(row_count: int) -> Any:
            return next(file.iter_batches(row_count)).to_pandas(ignore_metadata=True)[names]

        return _of_frame(path, index[0], names, first, pieces, file.metadata.num_rows, arguments)


def read_frame(frame: Any, arguments: Arguments) -> Scores:
    """Read a DataFrame, as a file with the same columns is read."""
    index = None
    if frame.index.nlevels == 1 and keys_of(frame).names is not None:
        index = str(frame.index.name)
        frame = frame.reset_index(names=index)
    missing = missing_values(as_objects([*frame.columns]))
    names = [
        "" if is_missing else str(name)
        for name, is_missing in zip(frame.columns, missing, strict=True)
    ]

    def pieces(columns: Sequence[int]) -> Iterator[dict[int, Any]]:
        yield {i: frame.iloc[:, i] for i in columns}

    path = Path("DataFrame")
    return _of_frame(path, index, names, frame.head, pieces, len(frame), arguments)


def _of_frame(
    path: Path,
    index: str | None,
    names: Sequence[str],
    first: Callable[[int], Any],
    pieces: Callable[[Sequence[int]], Iterator[dict[int, Any]]],
    row_count: int,
    arguments: Arguments,
) -> Scores:
    """Return the scores of a table; `first` returns some rows, and `pieces` columns."""
    if not row_count:
        raise fault(path, "has no rows")
    shown_rows = max(_FEW_ROWS, min(_FIRST_ROWS, _FIRST_CELLS // max(1, len(names))))
    rows = first(shown_rows).astype(str).to_numpy().tolist()
    cells = [[x if isinstance(x, str) else "" for x in row] for row in rows]  # NaN is blank
    is_corner = index is None or index.casefold() in (_SAME_TEMPLATES, _OTHER_TEMPLATES)
    titles = [*names] if is_corner else ["", *names[1:]]
    head = Head(path, "", [titles, *cells], pieces=pieces, row_count=row_count)
    return _scores_of_table(head, arguments)
