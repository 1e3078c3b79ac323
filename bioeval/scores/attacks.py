"""Attack presentations among scores: their species, and scores without them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from bioeval.base.arguments import require_text
from bioeval.base.errors import Argument, DataError, counted, nearest_name
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.scores.species import species_of

#: The metadata column that every study reads.
ATTACK = "attack"

P = ParamSpec("P")
R = TypeVar("R")


def column_of(scores: Scores, name: str, what: str = "scores") -> np.ndarray:
    """Return the species of each row by a metadata column of the probes.

    Raises
    ------
    DataError
        If there is no such column.
    """
    meta = attack_meta(scores)
    if require_text("attack", name) not in meta:
        there = f"they have: {', '.join(meta)}" if meta else "they have none"
        raise DataError(
            f"{Argument('attack')} is {name!r}, but the probe metadata of {what} have no such "
            f"column; {there}.{nearest_name(str(name), [*meta])} Expected the column with the "
            "attack instrument species of each row"
        )
    return species_of(meta[name], f"column {name!r} of {what}")


def attack_meta(scores: Scores) -> Mapping[str, np.ndarray]:
    """Return the metadata columns of rows, of a list those that its classes give."""
    if not are_pairs(scores):
        return scores.probe_meta
    return {} if scores.attack is None else {ATTACK: scores.attack}


def filled(meta: Mapping[str, np.ndarray], name: str, length: int) -> np.ndarray:
    """Return which templates of one side are attack presentations."""
    return species_of(meta[name]) != "" if name in meta else np.zeros(length, dtype=bool)


def without_attacks(scores: Scores, name: str = ATTACK) -> Scores:
    """Return scores without rows and columns of attack presentations, with a remark on them.

    Raises
    ------
    DataError
        If no bona fide presentation is left.
    """
    meta = attack_meta(scores)
    sides = (meta, {} if are_pairs(scores) else scores.gallery_meta)
    if name not in meta and name not in sides[1]:
        return scores
    rows, columns = (
        filled(side, name, length) for side, length in zip(sides, _lengths(scores), strict=True)
    )
    if not rows.any() and not columns.any():
        return scores
    for attacks, side in ((rows, "row"), (columns, "gallery template")):
        if len(attacks) and attacks.all():
            raise DataError(
                f"every {side} is an attack presentation by its column {name!r}; expected bona "
                "fide presentations, too"
            )
    view = scores.select(
        probes=np.flatnonzero(~rows) if rows.any() else None,
        gallery=np.flatnonzero(~columns) if columns.any() else None,
    )
    view.attacks_left_out = int(rows.sum()) + (
        0 if are_pairs(scores) or scores.probe_ids is scores.gallery_ids else int(columns.sum())
    )
    view.attacked = scores
    view.remarks = (
        *scores.remarks,
        f"{counted(view.attacks_left_out, 'attack presentations')} left out (column {name!r}); "
        "be.vulnerability (bioeval vulnerability) evaluates them",
    )
    return view


def _lengths(scores: Scores) -> tuple[int, int]:
    return scores.shape[0], 0 if are_pairs(scores) else scores.shape[1]


def leaves_out_attacks(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function evaluate scores without their attack presentations.

    Where its argument `attack` names their column, it evaluates them itself.
    """

    @functools.wraps(function)
    def called(*args: P.args, **options: P.kwargs) -> R:
        if options.get("attack") is not None:
            return function(*args, **options)
        given = tuple(map(_plain, args)), {name: _plain(x) for name, x in options.items()}
        return function(*cast(Any, given[0]), **cast(Any, given[1]))

    return called


def _plain(given: Any) -> Any:
    """Return what was given without attack presentations: scores, or several by name."""
    if isinstance(given, Scores):
        return without_attacks(given)
    if isinstance(given, dict):  # systems by name; results are mappings, too
        parts = {name: _plain(x) for name, x in given.items()}
        return parts if any(parts[name] is not x for name, x in given.items()) else given
    return given
