"""Scores without attack presentations, for all calls but the studies of attacks.

The metadata column ``attack`` has the species of attacks; for bona fide presentations the cell is
empty, or a mark such as ``-``, ``none`` or ``bona fide``.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar
from unicodedata import category

import numpy as np

from bioeval.base.arguments import require_array
from bioeval.base.errors import DataError, named
from bioeval.base.messages import Message
from bioeval.scores.labels import missing_values, plain
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import ATTACK

P = ParamSpec("P")
R = TypeVar("R")

# Words for the class of bona fide presentations, and of zero-effort impostors, by `_folded`.
_WORDS = frozenset(("bonafide", "live", "genuine", "real", "target", "nontarget", "impostor"))

# Cells of bona fide presentations in a column of species: empty, or a word for nothing.
_NO_SPECIES = frozenset(("", "none", "n/a", "na", "nan", "<na>", "nat"))


def _folded(cell: str) -> str:
    return "".join(
        letter
        for letter in cell.casefold()
        if not letter.isspace() and letter != "_" and category(letter) != "Pd"
    )


def is_bona_fide_word(cell: str) -> bool:
    """Whether a class word says that a presentation is bona fide."""
    return _folded(cell) in _WORDS


def is_bona_fide(cell: str) -> bool:
    """Whether a cell of a column of species says that a presentation is bona fide."""
    return _folded(cell) in _WORDS | _NO_SPECIES


def species_of(attack: Any, input_name: str = "attack") -> np.ndarray:
    """Return the attack instrument species of presentations, as text; empty for bona fide.

    Raise :class:`DataError` for species whose names differ only in case or spaces.
    """
    labels = require_array(input_name, attack)
    if labels.ndim != 1:
        raise DataError(
            f"{named(input_name)} has shape {labels.shape}; expected (n,), a name for each"
        )
    missing = missing_values(labels)
    values = labels[~missing].tolist()
    written = {}
    for value in dict.fromkeys(values):
        name = str(plain(value))
        if is_bona_fide(name):
            written[value] = ""
        else:
            written[value] = name
    names = [written[value] for value in values]
    folded: dict[str, str] = {}
    for name in written.values():
        first_spelling = folded.setdefault(name.strip().casefold(), name)
        if first_spelling != name:
            number = Counter(names)
            raise DataError(
                f"{named(input_name)} has the species {first_spelling!r} "
                f"({number[first_spelling]:,}) and {name!r} ({number[name]:,}), which differ only "
                "in case or spaces; write both in one way"
            )
    species = np.full(len(labels), "", dtype=object)
    species[~missing] = names
    return species.astype(str)


def attacks_of(scores: Scores) -> tuple[np.ndarray, np.ndarray]:
    """Return which probes and which gallery templates are attacks, by the column ``attack``."""
    if scores.layout == "pairs":
        return _are_attacks(scores.pairs.attack, scores.shape[0]), np.zeros(0, dtype=bool)
    probe_count, gallery_count = scores.shape
    rows = _are_attacks(scores.probe_meta.get(ATTACK), probe_count)
    return rows, _are_attacks(scores.gallery_meta.get(ATTACK), gallery_count)


def _are_attacks(species: np.ndarray | None, length: int) -> np.ndarray:
    if species is None:
        return np.zeros(length, dtype=bool)
    return species_of(species) != ""


def without_attacks(scores: Scores) -> Scores:
    """Return scores without attack presentations, with a remark on the removed presentations.

    Raise :class:`DataError` if no bona fide presentation is left.
    """
    has_species = ATTACK in scores.probe_meta or ATTACK in scores.gallery_meta
    if not has_species and scores.layout != "pairs":
        return scores
    rows, columns = attacks_of(scores)
    if not rows.any() and not columns.any():
        return scores
    for attacks, side in ((rows, "row"), (columns, "gallery template")):
        if len(attacks) and attacks.all():
            raise DataError(
                f"every {side} is an attack presentation by its column {ATTACK!r}; expected bona "
                "fide presentations, too"
            )
    view = scores.select(
        probes=np.flatnonzero(~rows) if rows.any() else None,
        gallery=np.flatnonzero(~columns) if columns.any() else None,
    )
    left_out = int(rows.sum())
    # Rows and columns of one set are the same presentations.
    is_one_set = scores.layout != "pairs" and scores.probe_ids is scores.gallery_ids
    if not is_one_set:
        left_out += int(columns.sum())
    remark = Message("attacks-left-out", presentations=left_out, column=ATTACK)
    return view._with(_attacks_left_out=left_out, remarks=(*scores.remarks, remark))


def leaves_out_attacks(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function to remove attack presentations from its scores."""

    @functools.wraps(function)
    def called(*args: P.args, **options: P.kwargs) -> R:
        bona_fide_options = {name: _without_attacks_in(x) for name, x in options.items()}
        return function(*map(_without_attacks_in, args), **bona_fide_options)

    return called


def _without_attacks_in(scores: Any) -> Any:
    if isinstance(scores, Scores):
        return without_attacks(scores)
    # Systems by name. Results are mappings with attributes, and hold no scores.
    if isinstance(scores, Mapping) and not hasattr(scores, "attrs"):
        items = list(scores.items())
        parts = {name: _without_attacks_in(system) for name, system in items}
        if any(parts[name] is not system for name, system in items):
            return parts
    return scores
