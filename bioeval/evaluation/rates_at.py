"""Rates at exactly one threshold, or at several: counted in scores, looked up in results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol as Interface

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, DataError, ProtocolError, chosen_task
from bioeval.base.studies import manifests, offered
from bioeval.evaluation.all_tasks import evaluate
from bioeval.evaluation.identification import open_set
from bioeval.evaluation.threshold_choice import chosen_threshold
from bioeval.evaluation.verification_task import verification
from bioeval.protocol.card import Protocol
from bioeval.results.dataset import tree_of
from bioeval.results.threshold_lookup import at_rows, check_places, rates_at, rates_of_tree_at
from bioeval.scores.blocks import BlockReader
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.matrix import Scores
from bioeval.tallies.threshold_rules import Rule, is_number
from bioeval.tallies.thresholds import to_user

RatesTask = Literal["verification", "open_set", "reid", "gom"]

#: The calls of the tasks; studies offer others.
_TASKS: dict[str, Callable[..., Any]] = {"verification": verification, "open_set": open_set}
_EXACT = "exact: counted in the scores at the threshold itself"


class Counted(Interface):
    """Counts that make a tree of results, such as a Tally."""

    def tree(self) -> xr.DataTree:
        """Return the results of all tasks."""


@leaves_out_attacks
def at(
    result: Scores | xr.Dataset | xr.DataTree | Counted,
    threshold: Any,
    *,
    task: RatesTask | None = None,
    protocol: str | Protocol | None = None,
    **options: Any,
) -> xr.Dataset | xr.DataTree:
    """Return the rates at a threshold: exact for scores, within limits for results.

    A result has rates at the thresholds of its grid alone. At any other threshold it has bounds:
    the rates of its stricter and of its looser neighbour. Those of the stricter one are given: the
    threshold before for distances, the one after for similarities, whichever is nearer.

    Parameters
    ----------
    result : Scores, xarray.Dataset, xarray.DataTree or Tally
        Scores, whose attempts are then counted at the threshold itself; or a result with a
        dimension ``threshold``, or a tree with such results.
    threshold : float, str, tuple, or array of float, shape (t,)
        In the units of the scores, in any order, infinities included. Of GOM: of distances scaled
        to 0 ... 1. Or a rule as for :func:`cross_evaluate`, which chooses on all attempts of
        verification; of a result ``"eer"``, or ``("far", x)`` or ``("frr", x)`` at one of its
        targets.
    task : {"verification", "open_set", "reid", "gom"}, optional
        Of scores: what is evaluated; ``"verification"`` by default.
    protocol : str or Protocol, optional
        Of scores, in place of `task`: all tasks of a card that have thresholds, as a tree.
    **options
        Of scores: those of the task, such as ``templates="multi"``, or of :func:`evaluate`.
        Operating points that need every impostor score are left out unless ``auc=True``.

    Returns
    -------
    xarray.Dataset or xarray.DataTree
        The variables of the result at the thresholds given, which label the dimension
        ``threshold``; of a single number the dimension is dropped. Added are ``threshold_used``,
        the threshold of which the rates are, and of results ``threshold_next``, the looser
        neighbour (infinite beyond the last threshold), and ``_at_least`` and ``_at_most`` of ``gar
        frr far grr dir ttr ttr_identity ftr``, between which the rate at `threshold` lies. Where
        `threshold` is one of the results, these are equal. The attribute ``threshold_lookup`` says
        which rule was applied. Tasks of a tree without thresholds are left out.

    Raises
    ------
    DataError
        If the threshold is NaN, or stricter than every threshold of a result of which the
        strictest accepts some attempts already. Where it accepts none, nothing is accepted before,
        and ``threshold_used`` is that of rejecting all: ``-inf``, of similarities ``inf``.
    ProtocolError
        If the task has no threshold, or the scores cannot support it.

    Notes
    -----
    A claim is accepted iff ``d <= t``, or ``s >= t`` (biometrics lecture, "decision"). The nearest
    threshold of a grid, ``ds.sel(threshold=t, method="nearest")``, may accept attempts that `t`
    rejects.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0, 1, 4, 6], [1, 0, 5, 3], [4, 5, 0, 2], [6, 3, 2, 0]]
    >>> scores = be.Scores(d, ["ann", "ann", "bob", "bob"])
    >>> float(be.at(scores, 3.2).far)
    0.25
    >>> ds = be.verification(scores, thresholds=[1, 2, 4, 6])
    >>> found = be.at(ds, 3.9)
    >>> float(found.threshold_used), float(found.far)
    (2.0, 0.0)
    >>> float(found.far_at_least), float(found.far_at_most)
    (0.0, 0.5)
    """
    places = _places(threshold)
    if isinstance(result, Scores):
        if isinstance(places, Rule):
            places = _chosen(result, places, task, protocol, options)
        if protocol is None:
            return _counted(result, places, task or "verification", options)
        if task is not None:
            raise DataError(
                Argument("task"),
                " and ",
                Argument("protocol"),
                " are both given; expected one: a protocol has its tasks",
            )
        return _all_counted(result, places, protocol, options)
    of_scores = {"task": task, "protocol": protocol, **options}
    if unused := [name for name, value in of_scores.items() if value is not None]:
        raise DataError(
            f"{' and '.join(unused)}: of scores alone; a result has been evaluated already"
        )
    if isinstance(result, xr.DataTree):
        return rates_of_tree_at(result, places)
    if isinstance(result, xr.Dataset):
        return rates_at(result, places)
    if hasattr(result, "tree"):
        return rates_of_tree_at(result.tree(), places)
    raise DataError(
        f"result is a {type(result).__name__}; expected Scores, a result (a Dataset or a tree of "
        "them) or a Tally"
    )


def _places(threshold: Any) -> np.ndarray | Rule:
    """Return thresholds, or a rule that chooses one."""
    if isinstance(threshold, (tuple, list)) and threshold:
        first = threshold[0]
    else:
        first = threshold
    if not isinstance(first, (str, Rule)) or isinstance(first, str) and is_number(first):
        return check_places(threshold)
    rule = Rule.parse(threshold)
    if rule.name == "fixed":
        return np.array(rule.values[0])
    return rule


def _chosen(
    scores: Scores, rule: Rule, task: str | None, protocol: Any, options: dict[str, Any]
) -> np.ndarray:
    """Return the threshold that a rule chooses on all attempts of verification."""
    if protocol is not None or task not in (None, "verification"):
        raise DataError(
            Argument("threshold", str(rule)),
            " is chosen on attempts of verification; expected a number with another task or a "
            "protocol, or their result instead of the scores",
        )
    templates, fusion = options.get("templates", "single"), options.get("fusion", "min")
    threshold = chosen_threshold(BlockReader(scores), rule, templates=templates, fusion=fusion)
    return check_places(to_user(threshold, scores.kind))


def _counted(scores: Scores, places: np.ndarray, task: str, options: dict[str, Any]) -> xr.Dataset:
    """Evaluate one task at thresholds."""
    if task in ("closed_set", "closed-set"):
        raise ProtocolError("closed-set identification has no threshold: its rates are by rank")
    of_studies = [name for study in manifests().values() for name in study.tasks]
    task = chosen_task(task, [*_TASKS, *of_studies])
    if task == "verification":
        options = {"auc": False, **options}
    call = _TASKS[task] if task in _TASKS else offered("tasks", task).CALLS[task]
    dataset = call(scores, **_with_thresholds(places, options))
    return _exact(dataset, places)


def _all_counted(
    scores: Scores, places: np.ndarray, protocol: str | Protocol, options: dict[str, Any]
) -> xr.DataTree:
    """Evaluate the tasks of a protocol at thresholds."""
    tree = evaluate(scores, protocol, **_with_thresholds(places, {"auc": False, **options}))
    nodes = {node.path.strip("/"): node.to_dataset() for node in tree.leaves}
    datasets = {k: _exact(x, places) for k, x in nodes.items() if "threshold" in x.dims}
    if not datasets:
        raise ProtocolError(f"no task of this protocol ({', '.join(nodes)}) has a threshold")
    return tree_of(datasets)


def _with_thresholds(places: np.ndarray, options: dict[str, Any]) -> dict[str, Any]:
    if "thresholds" in options:
        raise DataError(
            Argument("thresholds"), " cannot be given: the rates are those at `threshold`"
        )
    return {**options, "thresholds": np.unique(places)}


def _exact(counted: xr.Dataset, places: np.ndarray) -> xr.Dataset:
    """Return results in the order of the given thresholds, all of which they contain."""
    row = np.searchsorted(counted["threshold"].values, places)
    rates = at_rows(counted, row, places, places)
    rates.attrs["threshold_lookup"] = _EXACT
    return rates
