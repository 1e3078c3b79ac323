"""Matrices as tables: a column of labels, and a column for each gallery template."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.options import ReadOptions, say
from bioeval.scores.formats.pair_layouts import SCORE_NAMES
from bioeval.scores.matrix import Scores

_ROW_NAMES = ("label", "probe")


def is_wide(names: Sequence[str], options: ReadOptions) -> bool:
    """Whether columns are those of a matrix: the first names the rows, the others templates."""
    return (
        len(names) > 2
        and names[0].casefold() in _ROW_NAMES
        and options.scores_key is None
        and SCORE_NAMES.keys().isdisjoint(name.casefold() for name in names)
    )


def wide_scores(
    path: Path, labels: np.ndarray, names: Sequence[str], values: np.ndarray, options: ReadOptions
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
