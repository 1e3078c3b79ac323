"""A measure of one's own, from a script: a number from the rates or the counts of verification."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from bioeval.base.arguments import require_flag, require_integer
from bioeval.base.errors import Argument, DataError
from bioeval.base.registry import add_scalars, scalar_registry
from bioeval.base.scalars import Scalar


def scalar(
    name: str,
    meaning: str,
    *,
    of_rates: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    quotient: tuple[Sequence[str], Sequence[str]] | None = None,
    label: str | None = None,
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
        ``of_rates(far, frr)``, of read-only arrays of one shape in [0, 1]. It returns an array of
        this shape. It must increase with FAR, or decrease, or stay, for all FRR, and so with FRR:
        its best value is looked for at the corners of the ROC.
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
        the function fails, changes its arrays, is not monotone or leaves the bounds, or a count is
        unknown.

    Notes
    -----
    A measure of the scores themselves, such as a divergence, is one for :func:`make_scorer`.

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
    best: Literal["max", "min"] = "min"
    if require_flag("larger_is_better", larger_is_better):
        best = "max"
    if (of_rates is None) == (quotient is None):
        raise DataError(f"expected one of {Argument('of_rates')} and {Argument('quotient')}")
    digits: Any = require_integer("decimals", decimals, low=0)
    counts: Any = quotient
    at_each = Scalar(
        meaning,
        name=name,
        of_rates=of_rates,
        quotient=counts,
        label=name if label is None else label,
        kind="rate" if require_flag("percent", percent) else "number",
        decimals="genuine" if percent else digits,
        bounds=bounds,
        larger_is_better=larger_is_better,
        results=("task", "folds"),
    )
    taken = scalar_registry().taken
    at_each = at_each.checked(taken)
    made = [at_each]
    if at_each.of_rates is not None:
        of_all = replace(
            at_each,
            name=f"{best}_{name}",
            best=best,
            label=f"{best} {at_each.label}",
            results=("task", "comparison"),
        )
        of_all.require_free(taken)
        made.append(of_all)
    add_scalars(*made, in_place_of=(name, f"max_{name}", f"min_{name}"))
