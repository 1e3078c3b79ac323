"""Matrices as tables: a column of labels, and a column for each gallery template.

``x.wide.csv``, ``x.wide.tsv``, ``x.wide.parquet`` and ``x.wide.feather`` are written.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.csv import check_cells
from bioeval.scores.formats.files import optional, replacing
from bioeval.scores.formats.format import text_losses
from bioeval.scores.formats.npz_layout import is_square
from bioeval.scores.formats.options import ReadOptions, say
from bioeval.scores.formats.spellings import SCORE_NAMES
from bioeval.scores.formats.text_shape import MOST_COLUMNS
from bioeval.scores.matrix import Scores

_ROW_NAMES = ("label", "probe")

#: How the names of such files end, where they are written: text, and tables of Arrow.
WIDE_TEXT = (".wide.csv", ".wide.tsv")
WIDE_ARROW = (".wide.parquet", ".wide.feather", ".wide.arrow")

_ROWS = 1 << 10


def is_wide(names: Sequence[str], options: ReadOptions) -> bool:
    """Whether columns are those of a matrix: the first names the rows, the others templates."""
    return (
        len(names) > 2
        and names[0].casefold() in _ROW_NAMES
        and options.scores_key is None
        and SCORE_NAMES.keys().isdisjoint(name.casefold() for name in names)
    )


def wide_scores(
    path: Path, labels: np.ndarray, names: Sequence[str], values: Any, options: ReadOptions
) -> Scores:
    """Return the matrix of a table: all against all where rows and columns have the same names."""
    if options.kind is None:
        raise DataError(
            f"{path}: is a matrix, and does not say whether its scores are distances or "
            f"similarities; say {say('kind', 'distance')} or {say('kind', 'similarity')}"
        )
    square = list(labels) == list(names)
    return Scores(
        values,
        np.array(labels, dtype=str),
        None if square else np.array(names, dtype=str),
        kind=options.kind,
        nan=options.nan or "raise",
        name=path.name.split(".")[0],
    )


# ------------------------------------------------------------------------- writing


def _columns(scores: Scores, path: Path, most: int) -> tuple[list[str], np.ndarray]:
    """Return the names of the columns, and the labels of the rows; raise where they do not do."""
    if scores.layout in ("pairs", "top-k"):
        raise DataError(f"{path}: is a matrix, and these scores are {scores.layout}")
    if scores.has_mask or scores.exclude or not scores.labelled:
        raise DataError(f"{path}: a table has no mask and no metadata to exclude by; save .npz")
    square = is_square(scores)
    rows, columns = (
        np.array([str(x) for x in side.tolist()], dtype=object)
        for side in (scores.probe_labels, scores.gallery_labels)
    )
    if not square and (
        np.array_equal(rows, columns) or np.isin(scores.probe_ids, scores.gallery_ids).any()
    ):
        raise DataError(
            f"{path}: rows and columns share labels or templates in a way that a table does not "
            "say; save it as .npz"
        )
    for side, what in ((rows, "probe label"), (columns, "gallery label")):
        check_cells(side, what, path)
    names = [_ROW_NAMES[not square], *columns.tolist()]
    if not 2 < len(names) <= most or not is_wide(names, ReadOptions()):
        raise DataError(
            f"{path}: has {len(names) - 1:,} gallery templates; expected 2 to {most - 1:,}, and "
            "none called score, distance or similarity"
        )
    return names, rows


def _blocks(scores: Scores) -> Iterator[tuple[slice, np.ndarray]]:
    for low in range(0, scores.shape[0], _ROWS):
        high = min(low + _ROWS, scores.shape[0])
        yield slice(low, high), np.asarray(scores.read_rows(low, high))


def write_wide_text(scores: Scores, path: Path) -> None:
    """Write a table as text, separated by commas or tabs."""
    names, rows = _columns(scores, path, MOST_COLUMNS)
    with replacing(path) as part, open(part, "w", encoding="utf-8", newline="") as file:
        mark = "," if path.suffix == ".csv" else "\t"
        writer = csv.writer(file, delimiter=mark, lineterminator="\n")
        writer.writerow(names)
        for which, block in _blocks(scores):
            cells = zip(rows[which].tolist(), block.astype(float).tolist(), strict=True)
            writer.writerows([label, *values] for label, values in cells)


def write_wide_arrow(scores: Scores, path: Path) -> None:
    """Write a table of Parquet or, with another suffix, of Arrow (Feather)."""
    names, rows = _columns(scores, path, 1 << 16)
    what = "a Parquet or Arrow file"
    arrow, parquet = optional("pyarrow", path, what), optional("pyarrow.parquet", path, what)
    dtype = np.float32 if scores.dtype == np.float32 else np.float64
    kinds = [arrow.string(), *[arrow.from_numpy_dtype(dtype)] * (len(names) - 1)]
    schema = arrow.schema([*map(arrow.field, names, kinds)])
    make = parquet.ParquetWriter if path.suffix == ".parquet" else arrow.ipc.new_file
    with replacing(path) as part, make(str(part), schema) as writer:
        for which, block in _blocks(scores):
            columns = [rows[which].tolist(), *np.ascontiguousarray(block.T, dtype=dtype)]
            arrays = [arrow.array(x, kind) for x, kind in zip(columns, kinds, strict=True)]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))


def wide_losses(scores: Scores, kept: tuple[str, ...]) -> list[str]:
    """List what a table cannot hold of a matrix; `kept` are the dtypes that it holds."""
    lost = text_losses([scores.probe_labels, scores.gallery_labels], "labels")
    names = sorted({*scores.probe_meta, *scores.gallery_meta})
    if names:
        lost.append(f"the metadata {', '.join(names)} are left out")
    if scores.dtype.name not in kept:
        lost.append(f"{scores.dtype} scores become float64")
    lost.append(f'a table does not say what its scores are: read it with `kind="{scores.kind}"`')
    if scores.nan != "raise":
        lost.append(
            f'what a failed comparison means is not said: read it with `nan="{scores.nan}"`'
        )
    return lost
