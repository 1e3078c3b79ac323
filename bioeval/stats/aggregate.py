"""Statistics of results over some of their dimensions: partitions, folds, galleries.

:func:`aggregate` puts a dimension ``statistic`` in the place of these dimensions. A rate of 0.1,
0.2 and 0.6 over three folds, with 10, 10 and 20 attempts, becomes::

    mean 0.3, sd 0.265, ..., pooled (1 + 2 + 12) / 40 = 0.375, number 3

and, with an interval, limits of the mean. :func:`nadeau_bengio` is that interval for a list of
numbers.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

import numpy as np
import scipy
import xarray as xr

from bioeval.base.arguments import (
    check_confidence,
    require_list,
    require_listed_numbers,
    require_number,
    require_numbers,
    require_text,
)
from bioeval.base.errors import (
    DataError,
    Message,
    backquoted,
    enumerated,
    message_attrs,
    messages_of,
    received,
    short_name,
)
from bioeval.results.attributes import tree_of
from bioeval.results.dataset import MEAN, VariableParts, indexed, repeated_over, unchecked
from bioeval.results.variables import (
    COORDINATES,
    GALLERY,
    SUPPORTED,
    TASKS,
    VARIABLES,
    Variable,
    described,
    limits_of,
)
from bioeval.stats.jackknife import quantiles
from bioeval.stats.options import IntervalMethod, required_interval

#: Intervals over folds, or over other parts of the same data.
RepeatedInterval = Literal["nadeau-bengio", "quantile"]
REPEATED_INTERVALS: tuple[RepeatedInterval, ...] = get_args(RepeatedInterval)

_SPREAD = (
    "central quantiles of the repeats themselves: how a rate depends on the draw of parts and "
    "claims, among these same subjects; no confidence interval for other subjects"
)

_CORRECTED = (
    "of the mean, corrected for overlapping training parts (Nadeau and Bengio 2003); a heuristic"
)

Results = TypeVar("Results", xr.Dataset, xr.DataTree)

_INTERVAL_ATTRS = ("interval_method", "confidence", "interval_unit", "interval_for", "interval")

#: Units of variables with an interval; counts and thresholds have no interval.
_UNITS_WITH_LIMITS = ("", "proportion", "1", "cost")


def aggregate(
    results: Results,
    over: str | Sequence[str] = "partition",
    *,
    interval: RepeatedInterval | IntervalMethod | None = None,
    quantiles: Sequence[float] = (0.025, 0.975),
) -> Results:
    """Return statistics of each variable over partitions, folds or other dimensions.

    Parameters
    ----------
    results : xarray.Dataset or xarray.DataTree
        Results with the dimensions `over`, such as the results of :func:`repeat`,
        :func:`cross_evaluate`, or :func:`evaluate` with several galleries.
    over : str or sequence of str
        The dimensions, such as ``("repeat", "fold")``. In a tree, datasets that lack one of them
        are returned unchanged.
    interval : {"nadeau-bengio", "quantile"} or :class:`bioeval.stats.IntervalMethod`, optional
        Limits of the mean of each rate or cost. ``"nadeau-bengio"``: by the spread of folds, whose
        training parts overlap (:func:`bioeval.stats.nadeau_bengio`), with the sizes of parts in
        ``subjects`` over ``part``. ``"quantile"``: the central quantiles of the values themselves,
        which say how they depend on the parts, not how they would differ for other people. By
        default, the interval that the attributes of the results name, if any;
        :func:`cross_evaluate` writes these attributes.
    quantiles : sequence of float
        Levels of the quantiles, from 0 (the smallest value) to 1 (the largest).

    Returns
    -------
    xarray.Dataset or xarray.DataTree
        Each variable over these dimensions, in float64. In their place, ``statistic`` is its first
        dimension, with the labels:

        - ``"mean"``, ``"median"``, and ``"sd"`` (with ``ddof=1``)
        - ``"se"``: ``sd`` divided by the root of the number of values. It is too small for folds,
          whose training parts overlap.
        - ``"q0.025"`` and so on: the quantiles
        - ``"pooled"``: for rates that are counts over attempts, the sum of the counts divided by
          the sum of the attempts; NaN for other variables
        - ``"number"``: how many values are not NaN; other values are ignored in all statistics
        - ``"repeats_mean"``, ``"repeats_sd"``: statistics of the means of the repeats, where
          several repeats have several folds each

        With an interval, ``<name>_low`` and ``<name>_high``, which have no ``statistic``, are the
        limits of the mean. They are NaN with fewer than two values, and with
        ``"nadeau-bengio"`` where a rate is 0 in each fold, or 1 in each fold. Limits in the parts,
        and variables of text, are left out.

    Raises
    ------
    DataError
        If no dataset has these dimensions, a quantile is not in [0, 1], the results lack the sizes
        of parts that an interval needs, or the results are a whole threshold study, whose folds are
        one of its nodes.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(30, 4, random_state=1)
    >>> galleries = be.partition.ProbeGallerySplit(1, n_repeats=20, random_state=0)
    >>> found = be.aggregate(be.repeat(scores, galleries))["closed_set"]
    >>> found["recognition_rate"].sel(statistic="number").item()
    20.0
    >>> found["statistic"].values.tolist()
    ['mean', 'sd', 'se', 'median', 'q0.025', 'q0.975', 'pooled', 'number']
    """
    names = (over,) if isinstance(over, str) else require_list("over", over)
    dims = tuple(require_text("over", name) for name in names)
    levels = require_listed_numbers(
        "quantiles", quantiles, "numbers from 0 to 1", lambda x: ((x >= 0) & (x <= 1)).all()
    )
    if interval is not None:
        interval = required_interval(interval, REPEATED_INTERVALS)
    if not isinstance(results, xr.Dataset | xr.DataTree):
        raise DataError(f"`results` is {received(results)}; expected a result of bioeval")
    if isinstance(results, xr.DataTree):
        if results.attrs.get("result_type") == "threshold-study":
            raise DataError('`results` is a threshold study; expected its folds, study["folds"]')
        return _aggregated_tree(results, dims, levels, interval)
    _require_dims([results], dims)
    return _Aggregation(results, dims, levels, interval).dataset()


def _aggregated_tree(
    tree: xr.DataTree, over: tuple[str, ...], levels: np.ndarray, interval: IntervalMethod | None
) -> xr.DataTree:
    datasets: dict[str, xr.Dataset] = {}
    for path, node in tree.subtree_with_keys:
        datasets["" if path == "." else path] = node.to_dataset(inherit=False)
    _require_dims([*datasets.values()], over)
    for path, dataset in datasets.items():
        if _has_all(dataset, over):
            datasets[path] = _Aggregation(dataset, over, levels, interval).dataset()
    return tree_of(datasets)


def _has_all(dataset: xr.Dataset, dims: Sequence[str]) -> bool:
    return all(dim in dataset.dims for dim in dims)


def _require_dims(datasets: Sequence[xr.Dataset], over: Sequence[str]) -> None:
    if over and any(_has_all(dataset, over) for dataset in datasets):
        return
    dimensions = dict.fromkeys(str(dim) for dataset in datasets for dim in dataset.dims)
    names = [f"`{short_name(dim)}`" for dim in over]
    raise DataError(
        f"`over` is {enumerated(names) if names else 'empty'}; expected dimensions of the results, "
        f"which have {enumerated(map(backquoted, dimensions)) if dimensions else 'none'}"
    )


@dataclass(frozen=True)
class _Aggregation:
    """The statistics of one dataset over the dimensions `over`; :meth:`dataset` returns them.

    Methods work on arrays (values, ...): the dimensions `over` are joined to one axis in front
    (:meth:`_joined`), and statistics, without it, have the kept dimensions, in the order that they
    have in the variable. NumPy computes them, since xarray imports dask to do so.
    """

    results: xr.Dataset
    over: tuple[str, ...]
    levels: np.ndarray  # of the quantiles
    interval: IntervalMethod | None  # None: the one that the attributes of `results` name, if any

    def dataset(self) -> xr.Dataset:
        interval = self._interval()
        labels = ["mean", "sd", "se", "median", *(f"q{level:g}" for level in self.levels)]
        labels += ["pooled", "number"]
        if self._has_repeats():
            labels += ["repeats_mean", "repeats_sd"]
        variables: dict[Hashable, VariableParts | xr.Variable] = {}
        limits: dict[Hashable, VariableParts] = {}
        for key, array in self.results.data_vars.items():
            name = str(key)
            if not self._varies(array):
                variables[name] = array.variable
                continue
            # A mean of the limits of folds is no limit of anything, and texts have no mean.
            is_limit = _ends_as_limit(name) and _without_end(name) in self.results
            if is_limit or array.dtype.kind not in "biuf":
                continue
            if name.endswith(SUPPORTED):
                if name.removesuffix(SUPPORTED) in self.results:
                    variables[name] = self._support_of_average(array)
                continue
            statistics = self._statistics(name, array)
            # Statistics that this variable does not have are NaN.
            table = np.full((len(labels), *statistics["number"].shape), np.nan)
            for row, label in enumerate(labels):
                if label in statistics:
                    table[row] = statistics[label]
            variables[name] = ("statistic", *self._kept(array)), table, array.attrs
            has_limits = array.attrs.get("units", "") in _UNITS_WITH_LIMITS
            if interval is not None and has_limits and not _ends_as_limit(name):
                limits |= self._limits(name, array, statistics, interval)

        _, statistic = indexed("statistic", labels, COORDINATES["statistic"].attrs)
        coordinates: dict[Hashable, Any] = {"statistic": statistic}
        for key, coordinate in self.results.coords.items():
            if not self._varies(coordinate):
                coordinates[key] = coordinate.variable
        averaged = unchecked(variables | limits).variables
        return xr.Dataset(averaged, coordinates, self._attrs(interval))

    def _interval(self) -> IntervalMethod | None:
        """Return the interval asked for, or else the one that the attributes name."""
        if self.interval is not None:
            return self.interval
        attrs = self.results.attrs
        method = attrs.get("interval_method")
        if method not in REPEATED_INTERVALS:
            return None
        # Selected variables, or a part of the data, may lack the sizes that the interval needs.
        if method == "nadeau-bengio" and not self._has_sizes_of_parts():
            return None
        return IntervalMethod(method, float(attrs["confidence"]))

    def _attrs(self, interval: IntervalMethod | None) -> dict[str, Any]:
        attrs = {k: x for k, x in self.results.attrs.items() if k not in _INTERVAL_ATTRS}
        attrs["aggregated_over"] = " ".join(self.over)
        if "partition" in self.over:
            attrs["partitions"] = self.results.sizes["partition"]
        if interval is not None:
            attrs |= attrs_of_interval(interval)
        return attrs

    # The dimensions and the values of a variable.

    def _varies(self, array: xr.DataArray) -> bool:
        """Whether the variable has a dimension that is aggregated."""
        return any(dim in self.over for dim in array.dims)

    def _kept(self, array: xr.DataArray) -> list[str]:
        """Return the dimensions that a statistic of the variable has."""
        return [str(dim) for dim in array.dims if dim not in self.over]

    def _joined(self, array: xr.DataArray) -> np.ndarray:
        """Return the values of a variable, float64 (values, *kept dimensions)."""
        joined = [dim for dim in self.over if dim in array.dims]
        kept = [dim for dim in array.dims if dim not in self.over]
        axes = [array.dims.index(dim) for dim in (*joined, *kept)]
        values = array.values.transpose(axes).astype(np.float64, copy=False)
        return values.reshape(-1, *values.shape[len(joined) :])

    def _joined_like(
        self, dims: Sequence[Hashable], values: np.ndarray, like: xr.DataArray
    ) -> np.ndarray:
        """Return the same of `values`, repeated over the dimensions of `like` that they lack.

        NumPy does it, since a new variable of xarray would load dask.
        """
        kept = self._kept(like)
        all_dims = [*(dim for dim in self.over if dim in like.dims), *kept]
        values = repeated_over(dims, values, {dim: like.sizes[dim] for dim in all_dims})
        values = values.astype(np.float64, copy=False)
        return values.reshape(-1, *(like.sizes[dim] for dim in kept))

    def _has_sizes_of_parts(self) -> bool:
        return "subjects" in self.results and "part" in self.results["subjects"].dims

    def _has_repeats(self) -> bool:
        """Whether there are statistics over the means of several repeats, of several folds each."""
        if "repeat" not in self.over or "fold" not in self.over:
            return False
        return self.results.sizes["repeat"] > 1 and self.results.sizes["fold"] > 1

    # Statistics.

    def _statistics(self, name: str, array: xr.DataArray) -> dict[str, np.ndarray]:
        """Return the statistics of a variable by their labels, each with the kept dimensions."""
        scale = _scale_of(array.values)
        array = array / scale if scale > 1 else array
        statistics = _statistics_of_values(self._joined(array), self.levels)
        if self._has_repeats() and "repeat" in array.dims and "fold" in array.dims:
            within_repeat = [dim for dim in self.over if dim != "repeat" and dim in array.dims]
            means = array.mean(within_repeat).transpose("repeat", *self._kept(array)).values
            of_repeats = _statistics_of_values(means, np.empty(0))
            statistics["repeats_mean"] = of_repeats["mean"]
            statistics["repeats_sd"] = of_repeats["sd"]
        if scale > 1:
            statistics = {x: y if x == "number" else scale * y for x, y in statistics.items()}
        statistics["pooled"] = np.asarray(self._pooled(name))
        return statistics

    def _pooled(self, name: str) -> np.ndarray | float:
        """Return the sum of counts over the sum of attempts, or a function of two such rates.

        NaN for other variables, and if the results lack a number that is needed.
        """
        about = self._described(name)
        if about is None:
            return np.nan
        # A function of FAR and FRR at a threshold that all parts share, such as a cost. (With a
        # threshold of its own, each part has FAR and FRR at another one.)
        if about.of_rates is not None and not about.threshold:
            if "far" not in self.results or "frr" not in self.results:
                return np.nan
            far, frr = np.asarray(self._pooled("far")), np.asarray(self._pooled("frr"))
            return about.of_rates(far, frr)
        if about.quotient is None:
            return np.nan
        _, attempt_names = about.quotient
        if any(attempt_name not in self.results for attempt_name in attempt_names):
            return np.nan
        # The count of a part is its rate times its attempts; a part without a rate is left out.
        rate = self.results[name]
        rates = self._joined(rate)
        attempts = np.where(np.isnan(rates), np.nan, 0.0)
        for attempt_name in attempt_names:
            number = self.results[attempt_name]
            attempts = attempts + self._joined_like(number.dims, number.values, rate)
        with np.errstate(invalid="ignore"):
            return np.nansum(rates * attempts, axis=0) / np.nansum(attempts, axis=0)

    def _support_of_average(self, support: xr.DataArray) -> VariableParts:
        """Return the support of a mean: the least of those parts whose number is in the mean.

        The support of ``x`` may lack dimensions of ``x``. A part is in the mean if any number of
        ``x`` over these is defined.
        """
        number = self.results[str(support.name).removesuffix(SUPPORTED)]
        further_axes = tuple(i for i, dim in enumerate(number.dims) if dim not in support.dims)
        is_defined = (~np.isnan(number.values)).any(axis=further_axes)
        dims = [dim for dim in number.dims if dim in support.dims]
        is_averaged = self._joined_like(dims, is_defined, support) == 1  # 0 and 1 as float64
        values = np.where(is_averaged, self._joined(support), np.nan)
        return self._kept(support), np.fmin.reduce(values), support.attrs

    def _described(self, name: str) -> Variable | None:
        """Return the description of a variable in its task, or in any task; None without one."""
        task = str(self.results.attrs.get("result_type", "")).replace("-", "_")
        try:
            return described(TASKS.get(task, VARIABLES), name)
        except KeyError:
            return VARIABLES.get(name)

    # Limits of the mean.

    def _limits(
        self,
        name: str,
        array: xr.DataArray,
        statistics: dict[str, np.ndarray],
        interval: IntervalMethod,
    ) -> dict[Hashable, VariableParts]:
        """Return the variables ``<name>_low`` and ``<name>_high``."""
        values = self._joined(array)
        if interval.method == "quantile":
            levels = np.array([1 - interval.confidence, 1 + interval.confidence]) / 2
            low, high = quantiles(np.moveaxis(values, 0, -1), levels)
        else:
            half = self._half_widths(array, values, statistics, interval.confidence)
            low, high = statistics["mean"] - half, statistics["mean"] + half
        smallest, largest = self._bounds(name, values)
        has_limits = statistics["number"] > 1
        low = np.where(has_limits, np.maximum(low, smallest), np.nan)
        high = np.where(has_limits, np.minimum(high, largest), np.nan)
        described_ends = limits_of(name, array.attrs.get("units", "")).items()
        return {
            end: (self._kept(array), limit, description.attrs)
            for (end, description), limit in zip(described_ends, (low, high), strict=True)
        }

    def _half_widths(
        self,
        array: xr.DataArray,
        values: np.ndarray,
        statistics: dict[str, np.ndarray],
        confidence: float,
    ) -> np.ndarray:
        """Return half of the intervals of Nadeau and Bengio, NaN where all values are equal."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = self._test_to_train(self._kept(array))
            half = _half_width(statistics["number"], statistics["sd"], ratio, confidence)
        # Equal values, up to rounding, have no spread to estimate a width from.
        smallest, largest = np.fmin.reduce(values), np.fmax.reduce(values)
        has_no_spread = largest - smallest <= 1e-12 * np.maximum(abs(largest), abs(smallest))
        return np.where(has_no_spread, np.nan, half)

    def _bounds(self, name: str, values: np.ndarray) -> tuple[float, float]:
        """Return the smallest and the largest number that a limit of the variable can be."""
        unbounded = -np.inf, np.inf
        about = self._described(name)
        # A difference of rates has the name of a rate, and not its bounds; nor is it a result.
        if about is None or "result_type" not in self.results.attrs:
            return unbounded
        smallest, largest = about.bounds
        if ((values < smallest) | (values > largest)).any():
            return unbounded
        return smallest, largest

    def _test_to_train(self, kept: Sequence[str]) -> np.ndarray:
        """Return test over training size, which broadcasts to the kept dimensions of a variable."""
        if not self._has_sizes_of_parts():
            raise DataError(
                'interval "nadeau-bengio" needs the sizes of parts, variable `subjects` over '
                '`part`, which these results lack; expected "quantile"'
            )
        sizes = self.results["subjects"].variable
        sizes = sizes.mean([dim for dim in self.over if dim in sizes.dims])
        labels = self.results["part"].values.tolist()
        test, train = (sizes.isel(part=labels.index(part)) for part in ("test", "train"))
        ratio = test / train
        ratio = ratio.transpose(*[dim for dim in kept if dim in ratio.dims])
        # A length of 1 for each dimension of the variable that the sizes of parts do not have.
        shape = [ratio.sizes.get(dim, 1) for dim in kept]
        return np.where(np.isfinite(ratio.values), ratio.values, np.nan).reshape(shape)


def _without_end(name: str) -> str:
    return name.removesuffix("_low").removesuffix("_high")


def _ends_as_limit(name: str) -> bool:
    return _without_end(name) != name


def _scale_of(values: np.ndarray) -> float:
    """Return the power of two by which values are divided, exactly, so that no square overflows."""
    largest = np.max(np.abs(values), initial=0.0, where=np.isfinite(values))
    return 2.0**600 if largest > 2.0**500 else 1.0


def _statistics_of_values(values: np.ndarray, levels: np.ndarray) -> dict[str, np.ndarray]:
    """Return statistics over the first axis of those `values` that are not NaN, by their labels."""
    is_defined = ~np.isnan(values)
    number = is_defined.sum(axis=0).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(is_defined, values, 0).sum(axis=0) / number
        squares = np.where(is_defined, values - mean, 0) ** 2
        sd = np.sqrt(squares.sum(axis=0) / np.where(number > 1, number - 1, np.nan))
        se = sd / np.sqrt(number)
    median, *at_levels = quantiles(np.moveaxis(values, 0, -1), np.append(0.5, levels))
    statistics = {"mean": mean, "sd": sd, "se": se, "median": median, "number": number}
    for level, quantile in zip(levels, at_levels, strict=True):
        statistics[f"q{level:g}"] = quantile
    return statistics


def attrs_of_interval(interval: IntervalMethod) -> dict[str, str | float]:
    """Return the attributes of results over folds with this interval."""
    attrs: dict[str, str | float] = {
        "interval_method": interval.method,
        "confidence": interval.confidence,
        "interval_unit": "folds",
    }
    if interval.method == "quantile":
        return attrs | {"interval": _SPREAD, "interval_for": "these people"}
    return attrs | {"interval": _CORRECTED, "interval_for": "folds like these"}


@dataclass(frozen=True)
class RepeatedMean:
    """The mean of a rate over folds, with its interval.

    Attributes
    ----------
    mean : float
        Over the folds that are not NaN.
    sd : float
        Standard deviation between these folds (``ddof = 1``).
    low, high : float
        The interval; NaN with fewer than two folds.
    folds : int
        Number of folds that are not NaN.
    """

    mean: float
    sd: float
    low: float
    high: float
    folds: int


def nadeau_bengio(
    values: Any, *, test_size: float, train_size: float, confidence: float = 0.95
) -> RepeatedMean:
    """Return the mean over folds with the interval of Nadeau and Bengio.

    The training parts of folds overlap, so their rates are not independent, and the usual
    standard error of a mean is too small. Nadeau and Bengio replace ``1 / J`` by
    ``1 / J + test_size / train_size``: with the variance ``s^2`` between the ``J`` folds,
    the interval is ``mean +- t(J - 1) sqrt((1 / J + test_size / train_size) s^2)``.

    Parameters
    ----------
    values : array_like
        The rate in each fold, of all repeats. NaN marks a fold whose class had no attempt; it is
        left out.
    test_size, train_size : float
        Sizes of the two parts of a fold, in subjects (in pairs where the folds are of pairs).
    confidence : float
        Confidence in (0, 1).

    Returns
    -------
    RepeatedMean

    Raises
    ------
    DataError
        If a size is not positive, or the confidence not inside (0, 1).

    Notes
    -----
    A heuristic without a proven coverage; the dependence of pairs that share subjects enters
    only through the spread between folds. The limits are not clipped to [0, 1]. Nadeau, C.,
    Bengio, Y. (2003). Inference for the generalization error. *Machine Learning* 52, 239-281,
    equation 10; for repeated folds: Bouckaert, R. R., Frank, E. (2004), PAKDD.

    Examples
    --------
    >>> from bioeval.stats import nadeau_bengio
    >>> found = nadeau_bengio([0.02, 0.04, 0.03, 0.03], test_size=10, train_size=30)
    >>> round(found.mean, 3), round(found.low, 4), round(found.high, 4)
    (0.03, 0.0102, 0.0498)
    """
    test = require_number("test_size", test_size, above=0)
    train = require_number("train_size", train_size, above=0)
    confidence = check_confidence(confidence)
    array = require_numbers("values", values).ravel()
    array = array[~np.isnan(array)]
    folds = len(array)
    mean = float(array.mean()) if folds else float("nan")
    if folds < 2:
        return RepeatedMean(mean, float("nan"), float("nan"), float("nan"), folds)
    sd = float(array.std(ddof=1))
    half = float(_half_width(folds, sd, test / train, confidence))
    return RepeatedMean(mean, sd, mean - half, mean + half, folds)


def _half_width(folds: Any, sd: Any, ratio: Any, confidence: float) -> Any:
    """Return half of the intervals of Nadeau and Bengio; `ratio` is test over training size."""
    quantile = scipy.special.stdtrit(folds - 1, 0.5 + confidence / 2)
    return quantile * sd * (1 / folds + ratio) ** 0.5


# ------------------------------------------------------------------------- several galleries


#: Rates that are averaged, where the results have them.
_MEANS = ("eer", "auc", "frr_at_far", "dir_at_far", "cms", "recognition_rate", "cmc", "mean_ap")

#: Attempts, which are added up; they do not weight any mean.
_SUMS = ("genuine_attempts", "impostor_attempts", "attempts", "skipped", "queries")


def each_gallery(results: xr.Dataset) -> dict[str, xr.Dataset]:
    """Return the results of each gallery by its name, and their mean as a further gallery."""
    names = results["gallery"].values.tolist()
    sizes = [name for name in GALLERY if name in results]
    by_name = {}
    for place, name in enumerate(names):
        of_gallery = results.isel(gallery=place, drop=True)
        if "rank" in of_gallery.dims:  # a smaller gallery has fewer ranks
            of_gallery = of_gallery.dropna("rank", how="all")
        messages = []
        for message in messages_of(results.attrs):
            if name in message.about or {*names}.isdisjoint(message.about):
                messages.append(_without_galleries(message, names))
        attrs = {**results.attrs, **message_attrs(messages)}
        attrs |= {size: int(of_gallery[size]) for size in sizes}
        by_name[name] = of_gallery.drop_vars(sizes).assign_attrs(attrs)
    by_name[MEAN] = mean_of_galleries(results)
    return by_name


def _without_galleries(message: Message, names: list[str]) -> Message:
    about = [name for name in message.about if name not in names]
    return Message(message.code, about, **message.arguments)


def mean_of_galleries(results: xr.Dataset) -> xr.Dataset:
    """Return the mean of the rates over several galleries, and the sums of their attempts.

    Each gallery keeps its own threshold at each FAR, and all galleries have the same weight:
    attempts are never pooled. IJB-C's figures are such means, over its galleries G1 and G2. Ranks
    that not all galleries have are left out, and so are curves over thresholds.

    Definition: Maze and others, IARPA Janus Benchmark - C (ICB 2018), 1:N identification;
    ``docs/definitions.md``, "Several galleries".
    """
    rates = results[[name for name in _MEANS if name in results]]
    statistics = aggregate(rates, "gallery")
    in_all = statistics.sel(statistic="number", drop=True) == results.sizes["gallery"]
    means = statistics.sel(statistic="mean", drop=True).where(in_all)
    if "rank" in means.dims:
        means = means.dropna("rank", how="all")
    counts = results[[name for name in _SUMS if name in results]].sum("gallery", keep_attrs=True)
    means = means.assign(counts.drop_vars(counts.coords).astype("int64"))
    names = results["gallery"].values.tolist()
    messages = [Message("mean-over-galleries", galleries=names)]
    messages += [_without_galleries(message, names) for message in messages_of(results.attrs)]
    sums = {name: int(results[name].sum()) for name in ("gallery_templates", "gallery_subjects")}
    means.attrs = {**results.attrs, **sums, **message_attrs(messages)}
    return means
