"""Checks of results before they are shown: is any rate defined, and is any doubtful?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from bioeval.base.errors import NoResultError

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.cli.progress import Stages
    from bioeval.protocol.card import Protocol
    from bioeval.scores.matrix import Scores


def checked(
    tree: xr.DataTree,
    scores: Scores,
    protocol: str | Protocol,
    stages: Stages,
    given: bool = False,
) -> xr.DataTree:
    """Return the results of an evaluation, doubtful ones with the findings of the data check.

    Where thresholds are `given`, a rate of one class of attempts at them is a result, too.

    Raises
    ------
    NoResultError
        If no task has a result.
    """
    from bioeval.evaluation.data_check import with_kind_finding
    from bioeval.views.tables import datasets
    from bioeval.views.tables.folds import has_folds
    from bioeval.views.tables.sections import section

    found = dict(datasets(tree))
    if has_folds(tree):
        rates = [x for ds in found.values() for k, x in ds.items() if str(k).endswith("_mean")]
        require_values(rates, [scores], protocol)
    else:
        rows = [row for path, dataset in found.items() for row in section(dataset, path).rows]
        if not any(row.is_defined and (given or row.measure != "FAR") for row in rows):
            refuse([scores], protocol)
    return with_kind_finding(tree, scores, protocol, progress=stages.counting)


def require_values(
    values: Iterable[xr.DataArray], systems: Iterable[Scores], protocol: str | Protocol = "auto"
) -> None:
    """Raise :class:`NoResultError` unless one of the values is defined."""
    if all(np.isnan(x.values).all() for x in values):
        refuse(systems, protocol)


def refuse(systems: Iterable[Scores], protocol: str | Protocol) -> NoReturn:
    """Raise :class:`NoResultError` with the reason that the check of the data gives."""
    for scores in systems:
        if why := _why(scores, protocol):
            raise NoResultError(f"nothing could be evaluated of {scores.name}: {why}")
    raise NoResultError("nothing could be evaluated: no rate is defined for these data")


def _why(scores: Scores, protocol: str | Protocol) -> str:
    """Return the first error that the check of the data finds; empty without any."""
    from bioeval.evaluation.data_check import check_data

    if scores.layout == "top-k":
        return ""
    for read_scores in (False, True):
        for found in check_data(scores, protocol, read_scores=read_scores).of("error"):
            return "; ".join(filter(None, (found.message, found.remedy)))
    return ""
