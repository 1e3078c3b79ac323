"""A measure of one's own, from a script: a number from the rates or the counts of verification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_callable, require_flag, require_integer, require_text
from bioeval.base.errors import Argument, DataError, received
from bioeval.base.scalars import COUNTS, SCALARS, Scalar

#: Rates with which a function is tried.
_TRIED = np.linspace(0, 1, 11)

_AT_THRESHOLDS = ("task", "folds", "repeats")


def scalar(
    name: str,
    meaning: str,
    *,
    of_rates: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    quotient: tuple[Sequence[str], Sequence[str]] | None = None,
    label: str = "",
    percent: bool = True,
    decimals: int = 3,
    bounds: tuple[float, float] = (0.0, 1.0),
    larger_is_better: bool = False,
) -> None:
    """Add a measure to all results of verification, until Python ends.

    It is there at each threshold, and over folds and repeated partitions at the threshold of each,
    with intervals. A function of FAR and FRR has, in addition, its best value over all operating
    points and the threshold of it, ``max_<name>`` or ``min_<name>``: in results, tables, JSON and
    CSV, and in comparisons of systems, with intervals.

    Parameters
    ----------
    name : str
        Of the variable; a second call with this name replaces the measure of the first.
    meaning : str
        What it is, in words, with its denominator.
    of_rates : callable, optional
        ``of_rates(far, frr)``, of arrays of one shape in [0, 1]. It must increase with FAR, or
        decrease, or stay, for all FRR, and so with FRR: its best value is looked for at the
        corners of the ROC.
    quotient : pair of sequences of str, optional
        In place of `of_rates`: the counts above and those below, each summed, of ``ga fr fa gr``
        (attempts accepted and rejected), ``genuine_attempts`` and ``impostor_attempts``.
    label : str, optional
        In tables; `name` by default.
    percent : bool
        Whether tables show it in per cent; else with `decimals`.
    decimals : int
        In tables, unless in per cent.
    bounds : pair of float
        Its smallest and its largest possible value; infinite if there is none.
    larger_is_better : bool
        Whether the best value is the largest.

    Raises
    ------
    DataError
        If bioeval has a variable of this name, both or none of `of_rates` and `quotient` are given,
        the function is not monotone or leaves the bounds, or a count is unknown.

    Notes
    -----
    A measure of the scores themselves, such as a divergence, is one for :func:`make_scorer`. A
    package adds measures for all its users: ``scalars`` of its door, in the page on extending
    bioeval.

    Examples
    --------
    Youden's J is GAR - FAR.

    >>> import bioeval as be
    >>> be.scalar(
    ...     "youden",
    ...     "Youden's J: GAR - FAR",
    ...     of_rates=lambda far, frr: 1 - frr - far,
    ...     label="J",
    ...     bounds=(-1, 1),
    ...     larger_is_better=True,
    ... )
    >>> ds = be.verification(be.simulate(20, 4, random_state=1))
    >>> round(ds.max_youden.item(), 4)
    0.9387
    """
    name = require_text("name", name)
    if not name.isidentifier():
        raise DataError(f"{Argument('name', name)} is no name of a variable; expected as in max_f1")
    best: Literal["max", "min"] = "min"
    if require_flag("larger_is_better", larger_is_better):
        best = "max"
    taken = {*SCALARS} - {*SCALARS.of_scripts} | SCALARS.taken
    earlier = (name, f"max_{name}", f"min_{name}")
    for variable in (name, f"{best}_{name}"):
        if variable in taken:
            raise DataError(f"{Argument('name', name)}: bioeval has a variable {variable}")
        if hasattr(xr.Dataset, variable):
            raise DataError(f"{Argument('name', name)}: datasets have a method {variable}")
    if (of_rates is None) == (quotient is None):
        raise DataError(f"expected one of {Argument('of_rates')} and {Argument('quotient')}")
    described: dict[str, Any] = {
        "label": require_text("label", label) or name,
        "percent": require_flag("percent", percent),
        "decimals": require_integer("decimals", decimals, low=0),
        "bounds": _checked_bounds(bounds),
        "larger_is_better": larger_is_better,
    }
    if percent:
        described["decimals"] = "genuine"
    meaning = require_text("meaning", meaning)
    if quotient is not None:
        counts = _checked_quotient(quotient)
        at_each = Scalar(meaning, name=name, quotient=counts, results=_AT_THRESHOLDS, **described)
        SCALARS.add(at_each, in_place_of=earlier)
        return
    function = _checked_function(require_callable("of_rates", of_rates), described["bounds"])
    at_each = Scalar(meaning, name=name, of_rates=function, results=_AT_THRESHOLDS, **described)
    of_all = replace(
        at_each,
        name=f"{best}_{name}",
        best=best,
        label=f"{best} {at_each.label}",
        results=("task", "comparison"),
    )
    SCALARS.add(at_each, of_all, in_place_of=earlier)


def _checked_bounds(bounds: Any) -> tuple[float, float]:
    """Return the smallest and the largest possible value."""
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not low < high:
        raise DataError(
            f"{Argument('bounds')} is {received(bounds)}; expected two increasing numbers"
        )
    return low, high


def _checked_quotient(quotient: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the counts above and below."""
    try:
        above, below = map(tuple, quotient)
    except (TypeError, ValueError):
        above, below = (), ()
    unknown = [count for count in (*above, *below) if count not in COUNTS]
    if unknown or not above or not below or isinstance(quotient[0], str):
        listed = ", ".join(COUNTS)
        raise DataError(
            f"{Argument('quotient')} is {received(quotient)}; expected two tuples of the "
            f"counts {listed}"
        )
    return above, below


def _checked_function(
    of_rates: Callable[..., Any], bounds: tuple[float, float]
) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Return a function of FAR and FRR that was tried on rates of both."""

    def function(far: np.ndarray, frr: np.ndarray) -> np.ndarray:
        values = np.asarray(of_rates(far, frr), np.float64)
        if values.shape != np.shape(far):
            raise DataError(
                f"{Argument('of_rates')} returns shape {values.shape} for rates of shape "
                f"{np.shape(far)}; expected the same shape"
            )
        return values

    far, frr = np.meshgrid(_TRIED, _TRIED, indexing="ij")
    with np.errstate(all="ignore"):
        values = function(far.ravel(), frr.ravel()).reshape(far.shape)
    for axis, rate in enumerate(("FAR", "FRR")):
        steps = np.diff(values, axis=axis)
        steps = steps[np.isfinite(steps)]
        if (steps > 1e-12).any() and (steps < -1e-12).any():
            raise DataError(
                f"{Argument('of_rates')} is not monotone in {rate}: it rises and falls; a measure "
                f"of the scores themselves is one for make_scorer"
            )
    finite = values[np.isfinite(values)]
    low, high = bounds
    if ((finite < low - 1e-9) | (finite > high + 1e-9)).any():
        raise DataError(
            f"{Argument('of_rates')} is {finite.min():g} to {finite.max():g}; expected values "
            f"within {Argument('bounds', bounds)}"
        )
    return function
