"""Attack instrument species of presentations: spellings of bona fide, and names that are errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.arguments import require_array
from bioeval.base.errors import DataError, subject
from bioeval.scores.labels import missing_values, plain

#: The code of a bona fide presentation.
BONA_FIDE = -1

# Spellings of bona fide, in lower case.
_BONA_FIDE = ("", "bona fide", "bonafide", "bona-fide", "bona_fide")


def is_bona_fide(cell: str) -> bool:
    """Whether a cell of a column of species says that a presentation is bona fide."""
    return cell.strip().casefold() in _BONA_FIDE


def species_of(attack: Any, what: str = "attack") -> np.ndarray:
    """Return the attack instrument species of presentations, as text; empty for bona fide.

    Raise :class:`DataError` for species whose names differ in case or spaces alone.
    """
    given = require_array(what, attack)
    if given.ndim != 1:
        raise DataError(f"{subject(what)} has shape {given.shape}; expected (n,), a name for each")
    missing = missing_values(given)
    values = given[~missing].tolist()
    written: dict[Any, str] = {}
    for value in dict.fromkeys(values):
        name = str(plain(value))
        written[value] = "" if is_bona_fide(name) else name
    folded: dict[str, str] = {}
    for name in written.values():
        other = folded.setdefault(name.strip().casefold(), name)
        if other != name:
            number = (sum(written[value] == x for value in values) for x in (other, name))
            first, second = (f"{n:,}" for n in number)
            raise DataError(
                f"{subject(what)} has the species {other!r} ({first}) and {name!r} ({second}), "
                "different in case or spaces alone; write both in one way"
            )
    found = np.full(len(given), "", dtype=object)
    found[~missing] = [written[value] for value in values]
    return found.astype(str)


def coded_species(attack: Any, what: str = "attack") -> tuple[list[str], np.ndarray]:
    """Return the sorted species of presentations, and the code of each, -1 for bona fide."""
    species = species_of(attack, what)
    names = np.unique(species[species != ""])
    codes = np.where(species == "", BONA_FIDE, np.searchsorted(names, species))
    return names.tolist(), codes.astype(np.int64)
