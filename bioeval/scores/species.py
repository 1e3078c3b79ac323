"""Attack instrument species of presentations: spellings of bona fide, and names that are errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.arguments import require_array
from bioeval.base.errors import DataError, subject

#: The code of a bona fide presentation.
BONA_FIDE = -1

# Spellings of bona fide, in lower case.
_BONA_FIDE = ("", "bona fide", "bonafide", "bona-fide", "bona_fide")


def is_bona_fide(cell: str) -> bool:
    """Whether a cell of a column of species says that a presentation is bona fide."""
    return cell.strip().casefold() in _BONA_FIDE


def species_of(attack: Any, what: str = "attack") -> tuple[list[str], np.ndarray]:
    """Return the sorted species of presentations, and the code of each, -1 for bona fide.

    Raise :class:`DataError` for species whose names differ in case alone.
    """
    given = require_array(what, attack)
    if given.ndim != 1:
        raise DataError(f"{subject(what)} has shape {given.shape}; expected (n,), a name for each")
    words = ["" if x is None or x != x else str(x).strip() for x in given.tolist()]
    names = sorted({x for x in words if not is_bona_fide(x)})
    by_folded: dict[str, str] = {}
    for name in names:
        other = by_folded.setdefault(name.casefold(), name)
        if other != name:
            raise DataError(
                f"{subject(what)} has the species {other!r} ({words.count(other):,}) and {name!r} "
                f"({words.count(name):,}), which differ in case alone; write both in one way"
            )
    place = {name: i for i, name in enumerate(names)}
    codes = np.array([place.get(x, BONA_FIDE) for x in words], dtype=np.int64)
    return names, codes
