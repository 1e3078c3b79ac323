"""Values that number rows, such as the index that pandas writes: whether in the rows' order."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.errors import DataError
from bioeval.scores.labels import plain


def numbering_in_other_order(values: Any) -> bool:
    """Whether values are 0..n-1 or 1..n, whole numbers or texts of them, but not in order."""
    cells = [*map(plain, np.asarray(values).tolist())]
    numbers = [*map(_whole, cells)]
    if len(numbers) < 2 or None in numbers:
        return False
    first = min(numbers)
    counted = range(first, first + len(numbers)) if first in (0, 1) else range(0)
    return sorted(numbers) == [*counted] != numbers


def _whole(cell: Any) -> Any:
    if isinstance(cell, str):
        return int(cell) if cell.isascii() and cell.isdigit() else None
    if isinstance(cell, bool) or not isinstance(cell, (int, float)) or cell % 1 != 0:
        return None
    return int(cell)


def other_order(where: str, values: Any) -> DataError:
    """Return the error of rows that have no names, and are numbered otherwise by `where`."""
    cells = [*map(plain, np.asarray(values).tolist())]
    first = int(min(map(int, cells)))
    row = next(i for i, cell in enumerate(cells) if int(cell) != first + i)
    return DataError(
        f"{where} numbers the rows in another order: row {row} has {cells[row]!r}, expected "
        f"{first + row}, and the scores have no names by which rows could be found. Sort the rows "
        "by these numbers, or drop them if the rows are in the order of the scores"
    )
