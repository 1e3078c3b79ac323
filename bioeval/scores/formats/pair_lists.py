"""Lists of pairs as CSV files, with the columns ``score`` and ``genuine``."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.arrays import GENUINE, IGNORE
from bioeval.scores.formats.csv import Table, check_cells, matrix_advice, read_table
from bioeval.scores.formats.files import replacing, text_array
from bioeval.scores.formats.format import Format, Found, text_losses
from bioeval.scores.formats.options import ReadOptions, say
from bioeval.scores.matrix import PairScores, Scores

_BLOCK_CELLS = 1 << 20

#: The words of the column ``genuine``.
TRUTH = {
    "1": True,
    "true": True,
    "genuine": True,
    "0": False,
    "false": False,
    "impostor": False,
}


#: The columns of the subjects of both sides.
SUBJECTS = (("subject_a", "enrol"), ("subject_b", "test"))


def _recognise(found: Found) -> bool:
    recognised = found.content == "text" and found.suffix == ".csv"
    if recognised and found.options.scores_key is None and (advice := matrix_advice(found.path)):
        raise DataError(f"{found.path}: {advice}")
    return recognised


def _read(path: Path, options: ReadOptions) -> PairScores:
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
    sides = [table.find(*names) for names in SUBJECTS]
    who = None
    if None not in sides:
        columns = [text_array(table.columns[side or ""], f"{path}: {side}") for side in sides]
        who = np.column_stack(columns)
    fold = table.find("fold")
    return Scores.from_pairs(
        values,
        flags,
        folds=None if fold is None else text_array(table.columns[fold], f"{path}: {fold}"),
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


def _write(scores: Scores, path: Path) -> None:
    """Write the attempts of single-template verification, one a line, as `_read` reads them.

    Of a matrix, each cell that is an attempt is a line, row by row; the probe is a, the enrolled
    subject b.
    """
    scores.require_matrix()
    with replacing(path) as part:
        _check(scores, path)
        with open(part, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if isinstance(scores, PairScores):
                writer.writerows(_pair_lines(scores))
            else:
                writer.writerows(_matrix_lines(scores))


def _check(scores: Scores, path: Path) -> None:
    """Raise where text would not be read back as it is."""
    if isinstance(scores, PairScores):
        if scores.pair_subjects is not None:
            for i, side in enumerate("ab"):
                check_cells(scores.pair_subjects[:, i], f"subject_{side}", path)
        if scores.pair_folds is not None:
            check_cells(scores.pair_folds, "fold", path)
    elif scores.labelled:
        check_cells(scores.probe_labels, "probe label", path)
        check_cells(scores.gallery_labels, "gallery label", path)


def _pair_lines(scores: PairScores) -> Iterator[Sequence[object]]:
    table = {"score": scores.values.tolist(), "genuine": scores.genuine.astype(int).tolist()}
    if scores.pair_subjects is not None:
        for i, side in enumerate("ab"):
            table[f"subject_{side}"] = scores.pair_subjects[:, i].tolist()
    if scores.pair_folds is not None:
        table["fold"] = scores.pair_folds.tolist()
    yield list(table)
    yield from zip(*table.values(), strict=True)


def _matrix_lines(scores: Scores) -> Iterator[Sequence[object]]:
    names = ("score", "genuine", "subject_a", "subject_b")
    yield names if scores.labelled else names[:2]
    gallery = scores.gallery_labels.tolist()
    for row, columns, values, genuine in _attempts(scores):
        lines = zip(values.tolist(), genuine.astype(int).tolist(), strict=True)
        if not scores.labelled:
            yield from lines
            continue
        probe = scores.probe_labels[row]
        for line, j in zip(lines, columns.tolist(), strict=True):
            yield (*line, probe, gallery[j])


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


def _losses(scores: Scores) -> list[str]:
    if isinstance(scores, PairScores):
        lost = text_losses([] if scores.pair_subjects is None else [scores.pair_subjects], "labels")
    else:
        sides = [scores.probe_labels, scores.gallery_labels] if scores.labelled else []
        lost = text_losses(sides, "labels")
        lost.append("the matrix becomes a list of pairs, which has no identification")
        names = sorted({*scores.probe_meta, *scores.gallery_meta})
        if names:
            lost.append(f"the metadata {', '.join(names)} are left out")
    if scores.kind != "distance":
        plural = {"similarity": "similarities", "order": "orders"}[scores.kind]
        lost.append(
            f'a CSV file does not say that these are {plural}: read it with `kind="{scores.kind}"`'
        )
    if scores.nan != "raise":
        lost.append(
            "what a failed comparison means is not said in a CSV file: read it with "
            f'`nan="{scores.nan}"`'
        )
    return lost


FORMAT = Format(
    name="`.csv`",
    suffixes=(".csv",),
    holds="a list of pairs, with the columns `score` and `genuine`",
    looks="text",
    expected="a CSV file, which is read as a list of pairs (a matrix of scores is .npy or .npz)",
    recognise=_recognise,
    needs="a list of pairs is a .csv file with the columns score and genuine",
    read=_read,
    options=("scores_key", "genuine_key", "kind", "nan"),
    written="a list of pairs",
    write=_write,
    losses=_losses,
)
