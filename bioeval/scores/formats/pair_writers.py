"""Writers of lists of pairs: text, JSON lines, and tables of Parquet and Arrow."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from bioeval.scores.arrays import GENUINE, IGNORE
from bioeval.scores.formats.arrow_tables import table_writer
from bioeval.scores.formats.csv import check_cells
from bioeval.scores.formats.files import optional, replacing, text_to_write
from bioeval.scores.formats.format import metadata_losses, text_losses
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.scores.pairs import PairScores

_BLOCK_CELLS = 1 << 20
_LINES = 1 << 17


def _blocks(scores: Scores) -> Iterator[dict[str, list[Any]]]:
    """Yield blocks of lines, as columns: the attempts of single-template verification.

    Of a matrix, each cell that is an attempt is a line, row by row; the probe is a, the enrolled
    subject b.
    """
    # The name of the column declares what the scores are.
    score = "score" if scores.kind == "order" else scores.kind
    if are_pairs(scores):
        columns: dict[str, Any] = {score: scores.values, "genuine": scores.genuine.astype(int)}
        if scores.pair_subjects is not None:
            for i, side in enumerate("ab"):
                columns[f"subject_{side}"] = _words(scores.pair_subjects[:, i])
        called, sides = _templates(scores)
        if scores.pair_folds is not None:
            columns["fold"] = _words(scores.pair_folds)
        for low in range(0, len(scores.values), _LINES):
            some = slice(low, low + _LINES)
            known = {name: column[some].tolist() for name, column in columns.items()}
            yield known | {name: called[codes[some]].tolist() for name, codes in sides.items()}
        return
    names = [score, "genuine", *(("subject_a", "subject_b") if scores.labelled else ())]
    gallery = _words(scores.gallery_labels) if scores.labelled else None
    block: dict[str, list[Any]] = {name: [] for name in names}
    for row, places, values, genuine in _attempts(scores):
        found = [values.tolist(), genuine.astype(int).tolist()]
        if gallery is not None:
            found += [[str(scores.probe_labels[row])] * len(places), gallery[places].tolist()]
        for name, column in zip(names, found, strict=True):
            block[name] += column
        if len(block[score]) >= _LINES:
            yield block
            block = {name: [] for name in names}
    yield block


def _templates(scores: PairScores) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return the names of templates as words, and the columns of their places by name."""
    if scores.templates is None:
        return np.empty(0, dtype=object), {}
    sides = {f"template_{side}": getattr(scores.templates, side) for side in "ab"}
    return _words(np.array(scores.templates.values, dtype=object)), sides


def _words(values: np.ndarray) -> np.ndarray:
    return np.array([str(value) for value in values.tolist()], dtype=object)


def write_text(scores: Scores, path: Path) -> None:
    """Write a text, separated by commas or, with another suffix than .csv, by tabs."""
    scores.require_matrix()
    with replacing(path) as part:
        _check(scores, path)
        with text_to_write(part, path) as file:
            mark = "," if ".csv" in path.suffixes[-2:] else "\t"
            writer = csv.writer(file, delimiter=mark, lineterminator="\n")
            for number, block in enumerate(_blocks(scores)):
                if not number:
                    writer.writerow(block)
                writer.writerows(zip(*block.values(), strict=True))


def write_json(scores: Scores, path: Path) -> None:
    """Write a JSON object a line."""
    scores.require_matrix()
    with replacing(path) as part, text_to_write(part, path) as file:
        for block in _blocks(scores):
            for line in zip(*block.values(), strict=True):
                file.write(json.dumps(dict(zip(block, line, strict=True)), ensure_ascii=False))
                file.write("\n")


def write_arrow(scores: Scores, path: Path) -> None:
    """Write a table of Parquet or, with another suffix, of Arrow (Feather)."""
    scores.require_matrix()
    arrow = optional("pyarrow", path, "a Parquet or Arrow file")
    with replacing(path) as part:
        blocks = map(arrow.table, _blocks(scores))
        first = next(blocks)
        with table_writer(part, path.suffix, first.schema) as writer:
            for table in chain([first], blocks):
                writer.write_table(table)


def _check(scores: Scores, path: Path) -> None:
    """Raise where text would not be read back the same."""
    if are_pairs(scores):
        if scores.pair_subjects is not None:
            for i, side in enumerate("ab"):
                check_cells(scores.pair_subjects[:, i], f"subject_{side}", path)
        check_cells(_templates(scores)[0], "template", path)
        if scores.pair_folds is not None:
            check_cells(scores.pair_folds, "fold", path)
    elif scores.labelled:
        check_cells(scores.probe_labels, "probe label", path)
        check_cells(scores.gallery_labels, "gallery label", path)


def _attempts(scores: Scores) -> Iterator[tuple[int, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield each row with the columns of its attempts, their values and their classes."""
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


def pair_losses(scores: Scores) -> list[str]:
    """List what a list of pairs cannot hold of scores."""
    if are_pairs(scores):
        known = {"labels": scores.pair_subjects, "folds": scores.pair_folds}
        if scores.templates is not None:
            known["names of templates"] = np.array(scores.templates.values, dtype=object)
        lost = [x for k, v in known.items() if v is not None for x in text_losses([v], k)]
    else:
        sides = [scores.probe_labels, scores.gallery_labels] if scores.labelled else []
        lost = text_losses(sides, "labels")
        lost.append("the matrix becomes a list of pairs, for verification alone")
        lost += metadata_losses(scores)
    if scores.kind == "order":
        lost.append('a list of pairs does not record the kind order: read it with `kind="order"`')
    if scores.nan != "raise":
        lost.append(
            "what a failed comparison means is not said in a list: read it with "
            f'`nan="{scores.nan}"`'
        )
    return lost
