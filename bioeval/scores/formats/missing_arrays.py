"""Messages about arrays that are missing, with the options that would name them."""

from __future__ import annotations

import numpy as np

from bioeval.scores.formats.archive import Arrays
from bioeval.scores.formats.options import say


def nothing_found(file: Arrays) -> str:
    """Say that a file has no scores or embeddings, and which arrays could be meant."""
    shapes = file.headers
    if "header" in shapes and shapes["header"].dtype == np.uint8:
        return (
            f"{file.path}: is a saved tally, as it seems; expected scores or embeddings. "
            "bioeval.Tally.load reads tallies"
        )
    wide = [k for k, h in shapes.items() if len(h.shape) == 2 and h.dtype.kind in "iuf"]
    hint = f"name the array to use with {say('scores_key')} or {say('embeddings_key')}"
    likely = [k for k in wide if "/" not in k and k not in ("pairs", "mask")]
    if likely:
        key = likely[0]
        m, n = shapes[key].shape
        per_row = [k for k, h in shapes.items() if h.shape == (m,) and "/" not in k]
        per_column = [k for k, h in shapes.items() if h.shape == (n,) and "/" not in k]
        option = "scores_key" if per_row and (m == n or per_column) else "embeddings_key"
        hint = f"say, for instance, {say(option, key)}"
        if option == "scores_key" and m != n:
            hint += (
                f" with {say('probe_labels_key', per_row[0])} and "
                f"{say('gallery_labels_key', per_column[0])}"
            )
        elif per_row and option == "scores_key":
            hint += f" with {_of_both_sides(file, per_row[0])}"
        elif per_row:
            hint += f" with {say('labels_key', per_row[0])}"
    return f"{file.path}: no array 'scores' or 'embeddings'; {hint}. It holds: {file.listing()}"


def _of_both_sides(file: Arrays, key: str) -> str:
    """Return the options that name the labels of a square matrix of scores.

    With one template a subject, rows and columns are two sets: else nobody would have a mate.
    """
    labels = file.read(key)
    if len(set(labels.tolist())) < len(labels):
        return say("labels_key", key)
    return f"{say('probe_labels_key', key)} and {say('gallery_labels_key', key)}"


def no_labels(file: Arrays, m: int, n: int | None) -> str:
    """Say that `m` rows and `n` columns have no labels, and which arrays could be meant.

    Without `n`, the columns are those of the rows.
    """

    def of(count: int) -> list[str]:
        return [
            key
            for key, header in file.headers.items()
            if header.shape == (count,) and header.dtype.kind in "iuSU"
        ]

    rows, columns = of(m), of(m if n is None else n)
    if n == m and rows:
        hint = f"say {_of_both_sides(file, rows[0])}"
    elif n is None or n == m:
        hint = f"say {say('labels_key', rows[0])}" if rows else f"give {say('labels')} a CSV"
    elif rows and columns:
        hint = f"say {say('probe_labels_key', rows[0])} and {say('gallery_labels_key', columns[0])}"
    else:
        hint = f"give CSV files with {say('probe_labels')} and {say('gallery_labels')}"
    return (
        f"{file.path}: no labels, the subject of each of {m} rows"
        f"{'' if n is None or n == m else f' and {n} columns'}; {hint}. "
        f"It holds: {file.listing()}"
    )
