"""Lists of cohort scores: a template, one of the cohort, and their score on each line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.files import content, existing_file
from bioeval.scores.formats.format import ReadOptions
from bioeval.scores.formats.listed_pairs import both_sides, how_read
from bioeval.scores.formats.pair_layouts import keyed, with_header
from bioeval.scores.formats.text_table import read_columns, shape_of
from bioeval.scores.pairs import PairScores


def is_text(path: str | Path) -> bool:
    """Whether a file is text, and so a list of cohort scores."""
    return content(existing_file(path, "cohort scores")) == "text"


def read_cohort_list(path: str | Path, options: ReadOptions) -> PairScores:
    """Read two names and a score on each line, in either order of names; all are impostors."""
    place = existing_file(path, "cohort scores")
    shape = shape_of(place)
    layout = with_header(shape, options) or keyed(shape, options)
    if layout is None or layout.score is None or len(layout.templates or ()) != 2:
        first = (shape.mark or " ").join(shape.cells[0])[:80]
        raise DataError(
            f"{place}: its first line is {first!r}; expected the cohort's scores: a name of the "
            "trials, a name of the cohort and their score on each line, such as "
            "'id1/a.wav cohort7.wav 0.12'"
        )
    assert layout.templates is not None
    table = read_columns(
        shape,
        layout.header,
        text=layout.called(layout.templates),
        numbers=layout.called([layout.score]),
    )
    a, b = (table.text[i] for i in layout.templates)
    values = table.numbers[layout.score]
    how: dict[str, Any] = {**how_read(place, layout, options)}
    return PairScores(
        values,
        np.zeros(len(values), dtype=bool),
        templates=both_sides(a, b),
        **how,
    )
