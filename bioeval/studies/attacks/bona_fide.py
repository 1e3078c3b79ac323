"""Studies of bona fide presentations alone: functions that leave attack presentations out."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, cast

from bioeval.scores.labels import ATTACK
from bioeval.scores.matrix import Scores, are_pairs

P = ParamSpec("P")
R = TypeVar("R")


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
        if are_pairs(given):
            marked = given.attack is not None
        else:
            marked = ATTACK in given.probe_meta or ATTACK in given.gallery_meta
        if not marked:
            return given
        from bioeval.studies.attacks.scores import without_attacks

        return without_attacks(given)
    if isinstance(given, dict):  # systems by name; results are mappings, too
        parts = {name: _plain(x) for name, x in given.items()}
        return parts if any(parts[name] is not x for name, x in given.items()) else given
    return given
