"""Texts of scores alone: of trials in their order, or of genuine and impostor pairs apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.formats.comparisons import in_listed_order
from bioeval.scores.formats.faults import fault
from bioeval.scores.formats.files import existing_file
from bioeval.scores.formats.layouts import Layout, layout_of
from bioeval.scores.formats.options import Arguments
from bioeval.scores.formats.spellings import is_number
from bioeval.scores.formats.tables import Head, head_of, read_columns
from bioeval.scores.matrix import Scores


def read_scores_alone(
    head: Head, layout: Layout, impostor: Path | None, arguments: Arguments, options: dict[str, Any]
) -> Scores:
    """Read the scores of trials, or genuine scores with a file `impostor` of impostor scores."""
    path = head.path
    if impostor is not None:
        return _read_two_texts(head, layout, impostor, arguments, options)
    if "trials" in arguments:
        return in_listed_order(path, _only_column(head, layout), arguments, options)
    raise DataError(
        f"{path}: holds one number per line; if these are genuine scores, give the file "
        "of the impostor scores as a second one; if they are in the order of a list of "
        "trials, give that as `trials`. A command of several systems takes one file of "
        f"each: bioeval convert {path} IMPOSTOR {path.stem}.npz --kind KIND"
    )


def _read_two_texts(
    genuine: Head,
    layout: Layout,
    impostor_path: Path,
    arguments: Arguments,
    options: dict[str, Any],
) -> Scores:
    path = genuine.path
    if layout.get("genuine") is not None:
        name = layout.names[layout.roles["genuine"]]
        raise fault(path, f"{name} marks genuine pairs", "give this file alone")
    impostor = head_of(existing_file(impostor_path))
    impostor_layout = layout_of(impostor, arguments)
    for head, layout_of_head in ((genuine, layout), (impostor, impostor_layout)):
        width = head.width - layout_of_head.first_line.unnamed
        if width != 1:
            raise fault(
                head.path,
                f"has {width} columns",
                "expected one score on each line in both files, of genuine and of impostor scores",
            )
    if (impostor_layout.kind or layout.kind) != (layout.kind or impostor_layout.kind):
        raise fault(
            impostor_path,
            f"the scores are called {impostor_layout.names[0]!r}, and those of the genuine file "
            f"{layout.names[0]!r}",
            "expected distances or similarities in both",
            line=impostor.start_line,
        )
    genuine_scores = _only_column(genuine, layout)
    impostor_scores = _only_column(impostor, impostor_layout)
    return scores_of_two_files(
        path, genuine_scores, impostor_path, impostor_scores, arguments, options
    )


def _only_column(head: Head, layout: Layout) -> np.ndarray:
    header = layout.skips_line or not is_number(head.cells[0][0])
    names = {layout.score: "score"}
    blanks = layout.may_be_blank
    return read_columns(head, header, {}, names, blanks=blanks).numbers[layout.score]


def scores_of_two_files(
    path: Path,
    genuine: np.ndarray,
    impostor_path: Path,
    impostor: np.ndarray,
    arguments: Arguments,
    options: dict[str, Any],
) -> Scores:
    """Return the scores of two files, of genuine and of impostor attempts, as one list."""
    has_several_values = (genuine != genuine[0]).any()
    are_equal = np.array_equal(genuine, impostor, equal_nan=True) and has_several_values
    if path.samefile(impostor_path) or are_equal:
        raise fault(
            path,
            f"has the same scores as {impostor_path}",
            "expected genuine scores in one file and impostor scores in another",
        )
    reading = f"genuine scores from {path.name}, impostor scores from {impostor_path.name}"
    return scores_of_classes(genuine, impostor, arguments, options)._with(reading=(reading,))


def scores_of_classes(
    genuine: np.ndarray, impostor: np.ndarray, arguments: Arguments, options: dict[str, Any]
) -> Scores:
    """Return genuine and impostor scores as pairs without names."""
    values = arguments.with_failures(np.concatenate([genuine, impostor]))
    is_genuine = np.repeat([True, False], [len(genuine), len(impostor)])
    return Scores.from_pairs(values, is_genuine, **options)
