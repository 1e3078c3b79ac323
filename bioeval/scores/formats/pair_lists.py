"""Lists of pairs: as an array of template indices, and as a CSV file of scores."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.arrays import GENUINE, IGNORE
from bioeval.scores.formats.csv import Table, check_cells, matrix_advice, read_table
from bioeval.scores.formats.options import Options, say
from bioeval.scores.matrix import PairScores, Scores

_BLOCK_CELLS = 1 << 20

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
        where it is the same subject; the third of four columns is the fold. In a structured
        array, the first two fields are the indices and the fields ``same`` and ``fold`` those
        columns.
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


def folds_of_pairs(array: np.ndarray) -> np.ndarray | None:
    """Return the fold of each pair of an array: the field ``fold``, or the third of four columns.

    None where there is no such column.
    """
    if array.dtype.names:
        return array["fold"] if "fold" in array.dtype.names else None
    return array[:, 2] if array.ndim == 2 and array.shape[1] == 4 else None


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
    fold = table.find("fold")
    return Scores.from_pairs(
        values,
        flags,
        folds=None if fold is None else np.array(table.columns[fold]),
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


def write_pair_csv(scores: Scores, target: Path, named: Path) -> None:
    """Write attempts of single-template verification, one a line, as `read_pair_csv` reads them.

    Of a matrix, each cell that is an attempt is a line, row by row; the probe is a, the enrolled
    subject b. `named` is the final name of the file, for messages.
    """
    if isinstance(scores, PairScores):
        if scores.pair_subjects is not None:
            for i, side in enumerate("ab"):
                check_cells(scores.pair_subjects[:, i], f"subject_{side}", named)
        if scores.pair_folds is not None:
            check_cells(scores.pair_folds, "fold", named)
    elif scores.labelled:
        check_cells(scores.probe_labels, "probe label", named)
        check_cells(scores.gallery_labels, "gallery label", named)
    with open(target, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if isinstance(scores, PairScores):
            table = {
                "score": scores.values.tolist(),
                "genuine": scores.genuine.astype(int).tolist(),
            }
            if scores.pair_subjects is not None:
                for i, side in enumerate("ab"):
                    table[f"subject_{side}"] = scores.pair_subjects[:, i].tolist()
            if scores.pair_folds is not None:
                table["fold"] = scores.pair_folds.tolist()
            writer.writerow(table)
            writer.writerows(zip(*table.values(), strict=True))
            return
        names = ("score", "genuine", "subject_a", "subject_b")
        writer.writerow(names if scores.labelled else names[:2])
        gallery = scores.gallery_labels.tolist()
        for row, columns, values, genuine in _attempts(scores):
            lines = zip(values.tolist(), genuine.astype(int).tolist(), strict=True)
            if not scores.labelled:
                writer.writerows(lines)
                continue
            probe = scores.probe_labels[row]
            writer.writerows(
                (*line, probe, gallery[j]) for line, j in zip(lines, columns.tolist(), strict=True)
            )


def _attempts(scores: Scores) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield each row with the columns of its attempts, their values, and which are genuine."""
    m, n = scores.shape
    step = max(1, _BLOCK_CELLS // n)
    places = np.arange(n)
    for low in range(0, m, step):
        high = min(m, low + step)
        block = scores.read_rows(low, high)
        mask = scores.read_mask(low, high) if scores.has_mask else None
        for row in range(low, high):
            kept = scores.gallery_ids != scores.probe_ids[row]
            kept &= ~scores.excluded(np.full(n, row), places)
            if mask is not None:
                kept &= mask[row - low] != IGNORE
            if scores.labelled or mask is None:
                genuine = scores.codes.gallery == scores.codes.probe[row]
            else:
                genuine = mask[row - low] == GENUINE
            columns = np.nonzero(kept)[0]
            yield row, columns, block[row - low][columns], genuine[columns]
