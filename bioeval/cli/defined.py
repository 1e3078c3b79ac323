"""Results without any defined value are refused, with the reason."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bioeval.base.errors import NoResultError, messages_of

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

    The reason in the message is looked for in a check of the scores of the `systems` under the
    `protocol`, and then in the messages of the `results`.
    """
    import numpy as np

    for array in values:
        if not np.isnan(array.values).all():  # isnull would import dask
            return
    from bioeval.showing.messages import sentence_about
    from bioeval.studies.check import why_undefined

    for scores in systems:
        if reason := why_undefined(scores, protocol):
            raise NoResultError(f"nothing could be evaluated of {scores.name}: {reason}")
    reasons: list[str] = []
    for dataset in results:
        for message in messages_of(dataset.attrs):
            if message.code in _UNDEFINED:
                reasons.append(sentence_about(message))
    reason = "; ".join(dict.fromkeys(reasons)) or "no rate is defined for these data"
    raise NoResultError(f"nothing could be evaluated: {reason}")


def require_rates(
    tree: xr.DataTree,
    scores: Scores,
    protocol: str | Protocol,
    at_given_thresholds: bool,
) -> None:
    """Raise :class:`NoResultError` unless some rate of an evaluation is defined.

    FAR alone is a result only at given thresholds: elsewhere thresholds are chosen by FAR.
    """
    from bioeval.showing.nodes import nodes_of
    from bioeval.showing.rows import NumbersOfDataset

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
