"""Statistics of results over some of their dimensions: partitions, folds, galleries."""

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
from bioeval.results.dataset import MEAN, VariableParts, indexed, unchecked
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
        if {*over} <= {*dataset.dims}:
            datasets[path] = _Aggregation(dataset, over, levels, interval).dataset()
    return tree_of(datasets)


def _require_dims(datasets: Sequence[xr.Dataset], over: Sequence[str]) -> None:
    if over and any({*over} <= {*dataset.dims} for dataset in datasets):
        return
    dimensions = dict.fromkeys(str(dim) for dataset in datasets for dim in dataset.dims)
    names = [f"`{short_name(dim)}`" for dim in over]
    raise DataError(
        f"`over` is {enumerated(names) if names else 'empty'}; expected dimensions of the results, "
        f"which have {enumerated(map(backquoted, dimensions)) if dimensions else 'none'}"
    )


@dataclass(frozen=True)
class _Aggregation:
    """The statistics of a dataset; without `interval`, the interval of its attributes is used."""

    results: xr.Dataset
    over: tuple[str, ...]
    levels: np.ndarray
    interval: IntervalMethod | None

    def dataset(self) -> xr.Dataset:
        attrs = self.results.attrs
        interval = self.interval
        method = attrs.get("interval_method")
        # Selected variables, or a part of the data, may lack the sizes that the interval needs.
        is_possible = method != "nadeau-bengio" or self._has_sizes_of_parts()
        if interval is None and method in REPEATED_INTERVALS and is_possible:
            interval = IntervalMethod(method, float(attrs["confidence"]))
        labels = ["mean", "sd", "se", "median", *(f"q{level:g}" for level in self.levels)]
        labels += ["pooled", "number"]
        if self._has_repeats():
            labels += ["repeats_mean", "repeats_sd"]
        variables: dict[Hashable, VariableParts | xr.Variable] = {}
        limits: dict[Hashable, VariableParts] = {}
        for key, array in self.results.data_vars.items():
            name = str(key)
            is_limit = _ends_as_limit(name) and _without_end(name) in self.results
            if not {*self.over} & {*array.dims}:
                variables[name] = array.variable
            elif array.dtype.kind not in "biuf" or is_limit:
                continue
            elif name.endswith(SUPPORTED):
                if name.removesuffix(SUPPORTED) in self.results:
                    variables[name] = self._support_of_average(array)
            else:
                statistics = self._statistics(name, array)
                undefined = np.full(statistics["number"].shape, np.nan)
                in_order = [
                    np.broadcast_to(statistics.get(x, undefined), undefined.shape) for x in labels
                ]
                dims = "statistic", *self._inner(array)
                variables[name] = dims, np.stack(in_order), array.attrs
                has_limits = array.attrs.get("units", "") in _UNITS_WITH_LIMITS
                if interval is not None and has_limits and not _ends_as_limit(name):
                    limits |= self._limits(name, array, statistics, interval)
        attrs = {k: x for k, x in attrs.items() if k not in _INTERVAL_ATTRS}
        attrs["aggregated_over"] = " ".join(self.over)
        if "partition" in self.over:
            attrs["partitions"] = self.results.sizes["partition"]
        if interval is not None:
            attrs |= attrs_of_interval(interval)
        averaged = unchecked(variables | limits).variables
        _, statistic = indexed("statistic", labels, COORDINATES["statistic"].attrs)
        coordinates: dict[Hashable, Any] = {"statistic": statistic}
        for key, coordinate in self.results.coords.items():
            if not {*self.over} & {*coordinate.dims}:
                coordinates[key] = coordinate.variable
        return xr.Dataset(averaged, coordinates, attrs)

    def _statistics(self, name: str, array: xr.DataArray) -> dict[str, np.ndarray]:
        statistics = _statistics(self._in_front(array.dims, array.values), self.levels)
        statistics["pooled"] = np.asarray(self._pooled(name))
        if self._has_repeats() and {"repeat", "fold"} <= {*array.dims}:
            within_repeat = [dim for dim in self.over if dim != "repeat" and dim in array.dims]
            means = array.mean(within_repeat).transpose("repeat", *self._inner(array)).values
            of_repeats = _statistics(means, np.empty(0))
            statistics["repeats_mean"] = of_repeats["mean"]
            statistics["repeats_sd"] = of_repeats["sd"]
        return statistics

    def _inner(self, array: xr.DataArray) -> list[str]:
        return [str(dim) for dim in array.dims if dim not in self.over]

    def _has_sizes_of_parts(self) -> bool:
        return "subjects" in self.results and "part" in self.results["subjects"].dims

    def _has_repeats(self) -> bool:
        sizes = self.results.sizes
        return {"repeat", "fold"} <= {*self.over} and min(sizes["repeat"], sizes["fold"]) > 1

    def _in_front(
        self, dims: Sequence[Hashable], values: np.ndarray, like: xr.DataArray | None = None
    ) -> np.ndarray:
        """Return values in float64, with the aggregated dimensions joined in front.

        The other dimensions follow, in the order of `dims`. With `like`, values are repeated over
        the dimensions of this variable, in its order. NumPy does it, since xarray imports dask to
        sum.
        """
        sizes = dict(zip(dims, values.shape, strict=True)) if like is None else like.sizes
        inner = [dim for dim in sizes if dim not in self.over]
        all_dims = [*(dim for dim in self.over if dim in sizes), *inner]
        own = [dim for dim in all_dims if dim in dims]
        values = values.transpose([*map(dims.index, own)]).astype(np.float64, copy=False)
        values = values.reshape([sizes[dim] if dim in own else 1 for dim in all_dims])
        values = np.broadcast_to(values, [sizes[dim] for dim in all_dims])
        return values.reshape(-1, *(sizes[dim] for dim in inner))

    def _pooled(self, name: str) -> np.ndarray | float:
        """Return the sum of counts over the sum of attempts, or a function of two such rates.

        NaN for other variables, and if the results lack a number that is needed.
        """
        about = self._described(name)
        if about is None:
            return np.nan
        if about.of_rates is not None and not about.threshold:
            if not {"far", "frr"} <= {*self.results}:
                return np.nan
            return about.of_rates(*(np.asarray(self._pooled(rate)) for rate in ("far", "frr")))
        if about.quotient is None or not {*about.quotient[1]} <= {*self.results}:
            return np.nan
        rate = self.results[name]
        rates = self._in_front(rate.dims, rate.values)
        attempts = np.where(np.isnan(rates), np.nan, 0.0)
        for class_ in about.quotient[1]:
            number = self.results[class_]
            attempts = attempts + self._in_front(number.dims, number.values, like=rate)
        with np.errstate(invalid="ignore"):
            return np.nansum(rates * attempts, axis=0) / np.nansum(attempts, axis=0)

    def _support_of_average(self, support: xr.DataArray) -> VariableParts:
        inner = self._inner(support)
        number = self.results[str(support.name).removesuffix(SUPPORTED)]
        further = tuple(i for i, dim in enumerate(number.dims) if dim not in support.dims)
        is_defined = (~np.isnan(number.values)).any(axis=further)  # xarray would load dask
        dims = [dim for dim in number.dims if dim in support.dims]
        is_averaged = self._in_front(dims, is_defined, like=support) == 1
        values = np.where(is_averaged, self._in_front(support.dims, support.values), np.nan)
        return inner, np.fmin.reduce(values), support.attrs

    def _described(self, name: str) -> Variable | None:
        task = str(self.results.attrs.get("result_type", "")).replace("-", "_")
        try:
            return described(TASKS.get(task, VARIABLES), name)
        except KeyError:
            return VARIABLES.get(name)

    def _limits(
        self,
        name: str,
        array: xr.DataArray,
        statistics: dict[str, np.ndarray],
        interval: IntervalMethod,
    ) -> dict[Hashable, VariableParts]:
        inner = self._inner(array)
        values = self._in_front(array.dims, array.values)
        number = statistics["number"]
        if interval.method == "quantile":
            levels = np.array([1 - interval.confidence, 1 + interval.confidence]) / 2
            low, high = quantiles(np.moveaxis(values, 0, -1), levels)
        else:
            with np.errstate(invalid="ignore", divide="ignore"):
                ratio = self._test_to_train(inner)
                half = _half_width(number, statistics["sd"], ratio, interval.confidence)
            smallest = np.fmin.reduce(values)
            largest = np.fmax.reduce(values)
            # Equal values, up to rounding, have no spread to estimate a width from.
            has_no_spread = largest - smallest <= 1e-12 * np.maximum(abs(largest), abs(smallest))
            half = np.where(has_no_spread, np.nan, half)
            low = statistics["mean"] - half
            high = statistics["mean"] + half
        about = self._described(name)
        lower_bound, upper_bound = -np.inf, np.inf
        # A difference of rates has the name of a rate, and not its bounds; nor is it a result.
        if about is not None and "result_type" in self.results.attrs:
            smallest_bound, largest_bound = about.bounds
            if not ((values < smallest_bound) | (values > largest_bound)).any():
                lower_bound, upper_bound = smallest_bound, largest_bound
        low = np.where(number > 1, np.maximum(low, lower_bound), np.nan)
        high = np.where(number > 1, np.minimum(high, upper_bound), np.nan)
        described_ends = limits_of(name, array.attrs.get("units", "")).items()
        return {
            end: (inner, limit, description.attrs)
            for (end, description), limit in zip(described_ends, (low, high), strict=True)
        }

    def _test_to_train(self, inner: Sequence[str]) -> np.ndarray | float:
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
        # The dimensions of the ratio take the places that they have in the variable.
        shape = [ratio.sizes.get(dim, 1) for dim in inner]
        ratio = ratio.transpose(*[dim for dim in inner if dim in ratio.dims])
        return np.where(np.isfinite(ratio.values), ratio.values, np.nan).reshape(shape)


def _without_end(name: str) -> str:
    return name.removesuffix("_low").removesuffix("_high")


def _ends_as_limit(name: str) -> bool:
    return _without_end(name) != name


def _statistics(values: np.ndarray, levels: np.ndarray) -> dict[str, np.ndarray]:
    is_defined = ~np.isnan(values)
    number = is_defined.sum(axis=0).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(is_defined, values, 0).sum(axis=0) / number
        squares = np.where(is_defined, values - mean, 0) ** 2
        sd = np.sqrt(squares.sum(axis=0) / np.where(number > 1, number - 1, np.nan))
        se = sd / np.sqrt(number)
    median, *at_levels = quantiles(np.moveaxis(values, 0, -1), np.append(0.5, levels))
    statistics = {"mean": mean, "sd": sd, "se": se, "median": median}
    statistics |= {f"q{level:g}": x for level, x in zip(levels, at_levels, strict=True)}
    return statistics | {"number": number}


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


# ------------------------------------------------------------------------------ several galleries

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
