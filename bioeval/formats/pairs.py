"""Lists of pairs: as an array of template indices, and as a CSV file of scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bioeval.errors import DataError
from bioeval.formats.csv_tables import Table, matrix_advice, read_table
from bioeval.formats.options import Options, say
from bioeval.scores import PairScores, Scores

#: What may stand in the column ``genuine``.
TRUTH = {
    "1": True,
    "true": True,
    "genuine": True,
    "0": False,
    "false": False,
    "impostor": False,
}


def read_pairs(
    array: np.ndarray, what: str, m: int, n: int, itself: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Take apart an array of pairs.

    Parameters
    ----------
    array
        Integers, shape (p, 2 or more): index a, index b, and in the last of further columns 1
        where it is the same subject. In a structured array, the first two fields are the
        indices and the field ``same`` that column.
    what
        Its name, for messages.
    m, n
        The number of templates that index a and index b choose from.
    itself
        Whether both choose from the same templates, so that a pair (i, i) is an error.

    Returns
    -------
    a, b : ndarray of int64
    same : ndarray of bool, or None where there are only two columns
    """
    if array.dtype.names:
        names = array.dtype.names
        columns = [array[name] for name in names[:2]]
        if "same" in names:
            columns.append(array["same"])
        elif len(names) > 2:
            raise DataError(f"{what} has the fields {', '.join(names)}; expected one called 'same'")
    elif array.ndim == 2:
        columns = [array[:, i] for i in ((0, 1) if array.shape[1] == 2 else (0, 1, -1))]
    else:
        columns = []
    if len(columns) < 2 or len(array) == 0 or any(c.dtype.kind not in "iub" for c in columns):
        raise DataError(
            f"{what} is {array.shape} {array.dtype}; expected integers (pairs, 2 or more): index "
            "a, index b and, last, 1 for the same subject"
        )
    for name, column, count in (("a", columns[0], m), ("b", columns[1], n)):
        wrong = (column < 0) | (column >= count)
        if wrong.any():
            row = int(np.argmax(wrong))
            raise DataError(
                f"{what}: index {name} of pair {row} is {int(column[row])}; expected 0..{count - 1}"
            )
    a, b = (column.astype(np.int64) for column in columns[:2])
    if itself and (a == b).any():
        row = int(np.argmax(a == b))
        raise DataError(f"{what}: pair {row} compares template {int(a[row])} with itself")
    if len(columns) == 2:
        return a, b, None
    same = columns[2]
    wrong = (same != 0) & (same != 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"{what}: the last column of pair {row} is {int(same[row])}; expected 1 for the same "
            "subject and 0 for two (the last column says so where there are more than two)"
        )
    return a, b, same.astype(bool)


def read_pair_csv(path: Path, options: Options) -> PairScores:
    """Read a CSV file with the columns ``score`` and ``genuine``."""
    if options.scores_key is None and (advice := matrix_advice(path)):
        raise DataError(f"{path}: {advice}")
    what = "a CSV file, which is read as a list of pairs (a matrix of scores is .npy or .npz)"
    options.allow(what, "scores_key", "genuine_key", "kind", "nan")
    table = read_table(path)
    score = _column(table, "scores_key", options.scores_key, "score")
    genuine = _column(table, "genuine_key", options.genuine_key, "genuine")
    values = np.empty(len(table.lines))
    for row, cell in enumerate(table.columns[score]):
        values[row] = _number(cell, table, row, score)
    flags = np.empty(len(table.lines), dtype=bool)
    for row, cell in enumerate(table.columns[genuine]):
        if cell.casefold() not in TRUTH:
            raise DataError(
                f"{table.at(row)}: {genuine} is {cell!r}; expected one of {', '.join(TRUTH)}"
            )
        flags[row] = TRUTH[cell.casefold()]
    sides = [table.find(f"subject_{side}") for side in "ab"]
    who = None
    if None not in sides:
        who = np.column_stack([np.array(table.columns[side or ""]) for side in sides])
    return Scores.from_pairs(
        values,
        flags,
        kind=options.kind or "distance",
        nan=options.nan or "raise",
        subjects=who,
        name=path.stem,
    )


def _column(table: Table, option: str, named: str | None, native: str) -> str:
    """Return the column that an option names, or the one with the layout's name."""
    key = named if named in table.columns else None if named else table.find(native)
    if key is not None:
        return key
    columns = ", ".join(map(repr, table.columns))
    raise DataError(
        f"{table.path}: no column {named or native!r}; its columns are {columns}. A CSV list of "
        f"pairs has the columns score and genuine (name others with {say(option)}). A CSV file "
        "of labels goes with a .npy matrix: give the matrix, and the CSV file as "
        f"{say('labels')}. A matrix of scores is read from .npy or .npz"
    )


def _number(cell: str, table: Table, row: int, name: str) -> float:
    try:
        if "_" not in cell:
            return float(cell)
    except ValueError:
        pass
    hint = " (decimals have a point, not a comma)" if "," in cell else ""
    raise DataError(f"{table.at(row)}: {name} is {cell!r}; expected a number{hint}")
