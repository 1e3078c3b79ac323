"""Measures of one's own: of FAR and FRR or of counts, and of the scores themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bioeval.base.arguments import require_callable, require_flag, require_integer, require_text
from bioeval.base.errors import DataError, received
from bioeval.results.variables import ADDED, COORDINATES, GENUINE, VARIABLES, Variable

#: The counts of which a quotient may consist.
COUNTS = ("ga", "fr", "fa", "gr", "genuine_attempts", "impostor_attempts")

RateFunction = Callable[[np.ndarray, np.ndarray], np.ndarray]

#: Rates with which a function is tried: many are small, since systems are operated at small rates.
_TRIED = np.union1d(np.linspace(0, 1, 51), np.geomspace(1e-6, 0.1, 26))

#: Smaller steps, as a proportion of the largest value, are taken for rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Measure:
    """A number of scores, such as a divergence, that systems are compared by.

    Its value without each of some groups of people says how sure it is: it is computed anew for
    each of them. A measure of FAR and FRR is one for :func:`bioeval.scalar`: it costs less.

    Parameters
    ----------
    name : str
        Name of the measure in results.
    function : callable
        ``function(scores)``, a number; it is called with all scores and with those without each
        group of people.
    label : str, optional
        Label in tables; `name` by default.
    larger_is_better : bool
    percent : bool
        Whether it is a proportion from 0 to 1 that tables show in per cent.
    decimals : int
        Number of decimals in tables, unless in per cent.
    meaning : str, optional
        Meaning of the measure in words.

    Examples
    --------
    >>> import bioeval as be
    >>> apart = be.Measure("d_prime", lambda scores: be.verification(scores).d_prime.item(),
    ...     label="d'", larger_is_better=True)
    >>> systems = {f"spread {x}": be.simulate(30, 3, within=x) for x in (0.4, 0.5, 0.6)}
    >>> ranking = be.compare(systems, measures=["eer", apart])
    >>> ranking["d_prime_letters"].values.tolist()
    ['a', 'b', 'c']
    """

    name: str
    function: Callable[[Any], float] = field(repr=False)
    label: str = ""
    larger_is_better: bool = False
    percent: bool = False
    decimals: int = 3
    meaning: str = ""

    def value_of(self, scores: Any) -> float:
        """Return the measure of some scores, NaN if infinite."""
        value = self.function(scores)
        try:
            is_number = np.ndim(value) == 0 and not isinstance(value, str | bytes)
            number = float(value) if is_number else None
        except (TypeError, ValueError):
            number = None
        if number is None:
            raise DataError(f"the measure {self.name} is {received(value)}; expected a number")
        return number if np.isfinite(number) else np.nan

    @property
    def scalar(self) -> Variable:
        """The number of the measure."""
        label = (self.label or self.name).replace("{", "{{").replace("}", "}}")
        return Variable(
            self.meaning or self.name,
            name=require_text("name", self.name),
            label=label,
            units="proportion" if self.percent else "1",
            decimals=None if self.percent else self.decimals,
            bounds=(0.0, 1.0) if self.percent else (-np.inf, np.inf),
            direction="larger" if self.larger_is_better else "smaller",
        )


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

    Results have the measure at each threshold, and over folds and repeated partitions at the
    threshold of each, with intervals. Of a function of FAR and FRR, they also have the best value
    over all operating points, ``max_<name>`` or ``min_<name>``, and its threshold; comparisons of
    systems have the best value, with intervals.

    Parameters
    ----------
    name : str
        Name of the variable; a second call with this name replaces the measure of the first.
    meaning : str
        Meaning of the measure in words, with its denominator.
    of_rates : callable, optional
        ``of_rates(far, frr)``, of read-only arrays of one shape in [0, 1], returns an array of this
        shape. The function must be monotone in FAR and in FRR, since its best value is looked for
        at the corners of the ROC.
    quotient : pair of sequences of str, optional
        The counts above and the counts below, each summed, in place of `of_rates`, from ``ga fr fa
        gr`` (attempts accepted and rejected), ``genuine_attempts`` and ``impostor_attempts``.
    label : str, optional
        Label in tables; `name` by default.
    percent : bool
        Whether tables show it in per cent; else with `decimals`.
    decimals : int
        Number of decimals in tables, unless in per cent.
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
    if (of_rates is None) == (quotient is None):
        raise DataError("expected one of `of_rates` and `quotient`")
    name = require_text("name", name)
    if not name.isidentifier():
        raise DataError(f'`name="{name}"` is no name of a variable; expected as in max_f1')
    digits = require_integer("decimals", decimals, low=0)
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not low < high:
        raise DataError(f"`bounds` is {received(bounds)}; expected two increasing numbers")
    at_threshold = Variable(
        require_text("meaning", meaning),
        name=name,
        label=require_text("label", name if label is None else label),
        units="proportion" if require_flag("percent", percent) else "1",
        dims=("threshold",),
        out_of=GENUINE if percent else "",
        decimals=None if percent else digits,
        direction="larger" if require_flag("larger_is_better", larger_is_better) else "smaller",
        bounds=(low, high),
    )
    if quotient is not None:
        try:
            above, below = map(tuple, quotient)
        except (TypeError, ValueError):
            above, below = (), ()
        unknown = [x for x in (*above, *below) if x not in COUNTS]
        if unknown or not above or not below or isinstance(quotient[0], str):
            all_counts = ", ".join(COUNTS)
            raise DataError(
                f"`quotient` is {received(quotient)}; expected two tuples of the counts "
                f"{all_counts}"
            )
        variables = [replace(at_threshold, quotient=(above, below))]
    else:
        function = tried_function(require_callable("of_rates", of_rates), at_threshold.bounds)
        at_threshold = replace(at_threshold, of_rates=function)
        prefix, extreme = "min", "smallest"
        if at_threshold.larger_is_better:
            prefix, extreme = "max", "largest"
        best = replace(
            at_threshold,
            long_name=f"{at_threshold.long_name}; the {extreme} of any threshold",
            name=f"{prefix}_{at_threshold.name}",
            dims=(),
            label=f"{prefix} {at_threshold.label}",
            threshold=f"{prefix}_{at_threshold.name}_threshold",
        )
        words = f"strictest threshold at which {best.name} is reached"
        threshold = Variable(words, "score", name=best.threshold, shown="threshold")
        variables = [at_threshold, best, threshold]
    # A measure of this name that was added before is replaced.
    best_values = [f"{end}_{name}{of}" for end in ("max", "min") for of in ("", "_threshold")]
    other_measures = {key: x for key, x in ADDED.items() if key not in (name, *best_values)}
    import xarray as xr

    for variable in variables:
        if variable.name in {**COORDINATES, **VARIABLES, **other_measures}:
            raise DataError(f'`name="{name}"`: there is a variable {variable.name} already')
        if hasattr(xr.Dataset, variable.name):
            raise DataError(f'`name="{name}"`: datasets have a method {variable.name}')
    ADDED.clear()
    ADDED.update(other_measures | {x.name: x for x in variables})


def tried_function(of_rates: Callable[..., Any], bounds: tuple[float, float]) -> RateFunction:
    """Return the function with checks of its values; it cannot change its arguments.

    Raise :class:`DataError` unless `of_rates` is monotone in each rate and within the bounds.
    """

    def checked_rates(far: np.ndarray, frr: np.ndarray) -> np.ndarray:
        read_only = [np.asarray(x).view() for x in (far, frr)]
        for view in read_only:
            view.setflags(write=False)
        try:
            values = of_rates(*read_only)
            values = np.array(values).astype(np.float64, casting="same_kind")
        except Exception as error:
            raise DataError(
                "`of_rates` fails on arrays of FAR and FRR, which it cannot change: "
                f"{type(error).__name__}: {error}"
            ) from error
        if values.shape != np.shape(far):
            raise DataError(
                f"`of_rates` returns shape {values.shape} for rates of shape "
                f"{np.shape(far)}; expected the same shape"
            )
        return values

    far, frr = np.meshgrid(_TRIED, _TRIED, indexing="ij")
    with np.errstate(all="ignore"):
        values = checked_rates(far, frr)
    finite = values[np.isfinite(values)]
    if not finite.size:
        raise DataError(
            f"`of_rates` is infinite or NaN at all rates; expected numbers within `bounds={bounds}`"
        )
    smallest, largest = float(finite.min()), float(finite.max())
    rounding = _ROUNDING * max(1.0, abs(smallest), abs(largest))
    for axis, rate in enumerate(("FAR", "FRR")):
        with np.errstate(invalid="ignore"):
            steps = np.diff(values, axis=axis)
        steps = steps[np.isfinite(steps)]
        if (steps > rounding).any() and (steps < -rounding).any():
            raise DataError(
                f"`of_rates` is not monotone in {rate}: it rises and falls; a measure "
                "of the scores themselves is one for make_scorer"
            )
    low, high = bounds
    if smallest < low - 1e-9 or largest > high + 1e-9:
        raise DataError(
            f"`of_rates` is {smallest:g} to {largest:g}; expected values within `bounds={bounds}`"
        )
    return checked_rates
