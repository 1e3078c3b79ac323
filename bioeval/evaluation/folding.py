"""Folding the tallies of tasks on a fixed grid of thresholds and ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import Argument, MergeError, ProtocolError
from bioeval.evaluation.task_counts import TaskCounts
from bioeval.results.open_set import open_set_grid
from bioeval.results.verification import grid_of
from bioeval.tallies.counts import IdentificationTally, VerificationTally
from bioeval.tallies.folded import Folded, fold_identification, fold_verification
from bioeval.tallies.thresholds import check_thresholds, to_internal

# Ranks of a folded tally.
RANKS = 100


def fold_parts(
    parts: dict[str, TaskCounts],
    far_targets: np.ndarray,
    *,
    thresholds: Any = None,
    max_rank: int = RANKS,
    genuine: bool = False,
) -> dict[str, TaskCounts]:
    """Return the counts of tasks on a grid.

    Verification keeps its genuine scores, which are few and from which its points follow, unless
    `genuine` says that they are folded as well.
    """
    require_integer("max_rank", max_rank, low=1)
    grid = check_thresholds(thresholds)
    if isinstance(grid, int):
        raise ProtocolError(f"{Argument('thresholds')} is a number; a fixed grid is an array")
    ranks = np.arange(1, max_rank + 1)
    made: dict[tuple[Any, ...], Folded] = {}
    found = {}
    for node, part in parts.items():
        tally, options = part.tally, part.options
        given = None if grid is None else to_internal(grid, tally.about.kind)
        if isinstance(tally, VerificationTally):
            if genuine:
                at = grid_of(tally) if given is None else given
                options = {"far_targets": far_targets.tolist()}
                found[node] = TaskCounts(_folded_verification(tally, at), options)
            else:
                found[node] = part
            continue
        if not isinstance(tally, IdentificationTally):
            found[node] = _as_it_is(node, part)
            continue
        ties = options["ties"]
        if given is None:
            own = parts.get("open_set", part).options
            given = open_set_grid(tally, own.get("thresholds"), own.get("impostors", "auto"),
                                  ties, far_targets)  # fmt: skip
        key = (id(tally), ties)
        if key not in made:
            made[key] = fold_identification(tally, given, ranks, ties)
        kept = {k: v for k, v in options.items() if k in ("impostors", "unmated", "far_targets")}
        found[node] = TaskCounts(made[key], kept)
    return found


def _as_it_is(node: str, part: TaskCounts) -> TaskCounts:
    """Return counts that are folded already."""
    if node in ("reid", "gom"):
        raise ProtocolError(
            f"{node} has means over queries, which need the ranks of each query's matches: it "
            "cannot be folded into counts"
        )
    return part


def _folded_verification(tally: VerificationTally, thresholds: np.ndarray) -> Folded:
    if tally.given is None and not np.array_equal(thresholds, grid_of(tally)):
        raise MergeError(
            "the tally has not counted at these thresholds; count at them: "
            f"be.tally(..., {Argument('thresholds')}=...)"
        )
    return fold_verification(tally, thresholds)
