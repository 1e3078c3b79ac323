"""Results without a number: the command ends with the reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bioeval.base.errors import NoResultError

if TYPE_CHECKING:
    import xarray as xr

    from bioeval.protocol.card import Protocol
    from bioeval.scores.matrix import Scores

#: Messages of results that say why all rates of a task are not defined.
_UNDEFINED = ("no-query-with-match", "no-attempt", "no-threshold")


def require_defined(
    values: Iterable[xr.DataArray],
    systems: Iterable[Scores],
    protocol: str | Protocol = "auto",
    results: Iterable[xr.Dataset] = (),
) -> None:
    """Raise :class:`NoResultError` if all `values` are NaN.

    The other arguments serve the reason in the message, which is looked for in this order: a check
    of the scores of the `systems` under the `protocol`, then the messages of the `results`.
    """
    import numpy as np

    if not all(np.isnan(x.values).all() for x in values):  # isnull would import dask
        return
    from bioeval.base.errors import messages_of
    from bioeval.showing.messages import sentence_about
    from bioeval.studies.check import why_undefined

    for scores in systems:
        if reason := why_undefined(scores, protocol):
            raise NoResultError(f"nothing could be evaluated of {scores.name}: {reason}")
    undefined = [
        x for dataset in results for x in messages_of(dataset.attrs) if x.code in _UNDEFINED
    ]
    reason = "; ".join(dict.fromkeys(map(sentence_about, undefined)))
    raise NoResultError(
        f"nothing could be evaluated: {reason or 'no rate is defined for these data'}"
    )


def require_rates(
    tree: xr.DataTree, scores: Scores, protocol: str | Protocol, at_given_thresholds: bool
) -> None:
    """Raise :class:`NoResultError` unless some rate of an evaluation is defined.

    FAR alone is a result only at given thresholds: elsewhere thresholds are chosen by FAR.
    """
    from bioeval.showing.rows import NumbersOfDataset, nodes_of

    results = [node.dataset for node in nodes_of(tree)]
    rates = []
    for dataset in results:
        for name in NumbersOfDataset(dataset, curves=False).names:
            about = dataset[name].attrs
            is_far = about.get("measure", name) == "far"
            # It says how good a system is, and can be better or worse, unlike counts.
            is_rate = "direction" in about and about.get("detail") != "data"
            if is_rate and (at_given_thresholds or not is_far):
                rates.append(dataset[name])
    require_defined(rates, [scores], protocol, results)
