"""The rows of a task: each number with its label, its threshold and its sample size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import xarray as xr

from bioeval.base.registry import scalar_registry
from bioeval.base.scalars import (
    DIR,
    DIR_AT_FAR,
    EQUAL_ERROR,
    FAR_AT_FRR,
    FRR_AT_FAR,
    GOM_POINTS,
    INTERPOLATED_PRECISION,
    MATCH_SUMS,
    MIN_DCF,
    OPEN_SET_EER,
    QUERY_MEANS,
    RANKED_LISTS,
    RETRIEVED_SETS,
    WITH_FAILURES,
    Scalar,
)
from bioeval.base.variables import TARGETS
from bioeval.document.cells import Interval, Quantity, Rate
from bioeval.document.scalars import cell_of_scalar, label_of
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Text, say
from bioeval.views.tasks import place_in, report_ranks, value_of, values_at

#: Up to this number of thresholds each has its rows: they were given.
FEW = 12

# Bounds of what is not known exactly, in words and at the ends of names.
_ENDS = {"at least": "_at_least", "at most": "_at_most"}

# Recall levels that are shown.
_LEVELS = (0.0, 0.5, 1.0)


@dataclass(frozen=True)
class SampleSize:
    """Sample size of a result: attempts of each class, None for a class that is not used.

    `subjects` is the number of subjects whose probes made these attempts; 0 if unknown.
    """

    genuine: int | None = None
    impostor: int | None = None
    subjects: int = 0

    @property
    def lacking(self) -> str:
        """The classes without an attempt, in words."""
        classes = {"genuine": self.genuine, "impostor": self.impostor}
        none = [name for name, count in classes.items() if count == 0]
        return f"0 {' and 0 '.join(none)} attempts" if none else ""


@dataclass(frozen=True)
class Classes:
    """Sample sizes of a task: both classes of attempts together, and each alone."""

    both: SampleSize
    genuine: SampleSize
    impostor: SampleSize


@dataclass(frozen=True)
class Row:
    """One number of a task, with its sample size."""

    label: Text
    value: Quantity
    over: SampleSize
    threshold: float | None = None
    undefined: str = ""  # why it is not defined, as a template

    @property
    def heading(self) -> Text:
        """The label where thresholds have no column: it names a threshold that was given."""
        if self.threshold is None or "threshold" not in self.value.at:
            return self.label
        text = "{label} at threshold {threshold:score}"
        return say(text, label=self.label, threshold=self.threshold)

    @property
    def why_not(self) -> Text:
        """Why there is no value."""
        return self.over.lacking or say(self.undefined or "not defined")


# First rows of verification; other scalars of the operating points that have a label follow.
_FIRST = (
    *("eer", "frr_at_far", "far_at_frr", *(x.name for x in WITH_FAILURES)),
    *("zero_far", "zero_frr", "auc", "min_dcf", "d_prime"),
)


def verification_rows(dataset: xr.Dataset) -> Iterator[Row]:
    """Return the rows of verification."""
    over = _classes(dataset)
    points = (
        *EQUAL_ERROR,
        *scalar_registry().points_of_verification,
        FRR_AT_FAR,
        FAR_AT_FRR,
        *WITH_FAILURES,
        MIN_DCF,
    )
    for scalar in sorted(points, key=lambda scalar: place_in(_FIRST, scalar.name)):
        if scalar.label:
            yield from _of_scalar(dataset, scalar, over)
    for i, threshold in _few_thresholds(dataset, "frr_at_far"):
        for scalar in scalar_registry().at_threshold["task"]:
            if not scalar.label or scalar.name not in dataset:
                continue
            attempts = over.both
            if scalar.quotient and len(scalar.quotient[1]) == 1:
                (below,) = scalar.quotient[1]
                attempts = {
                    "genuine_attempts": over.genuine,
                    "impostor_attempts": over.impostor,
                }[below]
            value, ends = _bounded(dataset, scalar.name, threshold=i)
            at = {"threshold": threshold}
            yield _row(scalar, value, over, threshold, ends, over_class=attempts, at=at)


def open_set_rows(dataset: xr.Dataset) -> Iterator[Row]:
    """Return the rows of open-set identification."""
    over = _classes(dataset)
    for scalar in (OPEN_SET_EER, DIR_AT_FAR):
        yield from _of_scalar(dataset, scalar, over)
    # Expected rates have bounds of the operating points, between two thresholds of the result.
    instead = "dir_at_far" if "dir_at_far" in dataset else "dir_at_far_at_least"
    for i, threshold in _few_thresholds(dataset, instead):
        at: dict[str, Any] = {"threshold": threshold}
        value, ends = _bounded(dataset, "dir", threshold=i, rank=0)
        yield _row(
            DIR,
            value,
            over,
            threshold,
            ends,
            label=say("{dir}, rank 1"),
            over_class=over.genuine,
            at={**at, "rank": 1},
        )
        far = scalar_registry().averaged["far"]
        value, ends = _bounded(dataset, "far", threshold=i)
        yield _row(far, value, over, threshold, ends, over_class=over.impostor, at=at)


def closed_set_rows(dataset: xr.Dataset) -> Iterator[Row]:
    """Return the rows of closed-set identification."""
    attempts = int(value_of(dataset, "attempts") or 0)
    over = SampleSize(attempts, None, _classes(dataset).genuine.subjects)
    for rank, value, ends in _at_ranks(dataset, "cms"):
        label = say("{cms}, rank {rank:count}", rank=rank)
        if rank == 1:
            label = say("{cms}, rank 1 (recognition rate)")
        cell = Rate(value, ends, "cms", {"rank": rank}, attempts=attempts)
        yield Row(label, cell, over)


def reid_rows(dataset: xr.Dataset) -> Iterator[Row]:
    """Return the rows of re-identification."""
    queries = int(value_of(dataset, "queries") or 0)
    over = SampleSize(queries or None, None, int(value_of(dataset, "subjects") or 0))
    why = "not offered under expected ties" if queries else "no query has a match"
    if "beyond_lists" in dataset:
        why = "some matches are beyond the ends of the lists"
    cut = int(dataset.attrs.get("rank_k", value_of(dataset, "rank_k")) or 0)
    for mean in QUERY_MEANS.values():
        if mean.name not in MATCH_SUMS:
            label: Text = ""
            if mean.cut:
                label = say("mAP, lists cut at rank {cut:count}", cut=cut)
            yield from _mean(dataset, mean, over, why, label)
    yield from _cmc_rows(dataset, over)
    for mean in MATCH_SUMS.values():
        yield from _mean(dataset, mean, over, why)
    if dataset.attrs.get("rules"):  # folded: CMC and bounds alone
        return
    for scalar in RANKED_LISTS:
        for rank, value, ends in _at_ranks(dataset, scalar.name):
            yield _of_queries(scalar, over, why, {"rank": rank}, value, ends)
    for i, level in enumerate(dataset["recall_level"].values.tolist()):
        if level in _LEVELS:
            value, ends = _bounded(dataset, INTERPOLATED_PRECISION.name, recall_level=i)
            yield _of_queries(INTERPOLATED_PRECISION, over, why, {"level": level}, value, ends)
    for i, threshold in _few_thresholds(dataset, ""):
        for scalar in RETRIEVED_SETS:
            value, ends = _bounded(dataset, scalar.name, threshold=i)
            yield _of_queries(scalar, over, "", {"threshold": threshold}, value, ends)


def _mean(
    dataset: xr.Dataset, scalar: Scalar, over: SampleSize, why: str, label: Text = ""
) -> Iterator[Row]:
    """Return the row of a number over queries, and those of its bounds, not known exactly."""
    name, label = scalar.name, label or label_of(scalar)
    for end, suffix in _ENDS.items():
        if (value := value_of(dataset, f"{name}{suffix}")) is not None:
            cell = cell_of_scalar(scalar, value, attempts=over.genuine, variable=f"{name}{suffix}")
            yield Row(say("{label}, {end}", label=label, end=end), cell, over)
    if (value := value_of(dataset, name)) is not None:
        ends = _ends(dataset, name)
        cell = cell_of_scalar(scalar, value, attempts=over.genuine, interval=ends)
        yield Row(label, cell, over, undefined=why)


def _cmc_rows(dataset: xr.Dataset, over: SampleSize, undefined: str = "") -> Iterator[Row]:
    """Return the rows of the CMC at the ranks that are shown."""
    for rank, place in _shown_ranks(dataset).items():
        label, at = say("Rank {rank:count}", rank=rank), {"rank": rank}
        value, ends = math.nan, None
        if "cmc" in dataset:
            value, ends = _bounded(dataset, "cmc", rank=place)
        cell = Rate(value, ends, "cmc", at, attempts=over.genuine)
        yield Row(label, cell, over, undefined=undefined)


def _of_queries(
    scalar: Scalar,
    over: SampleSize,
    why: str,
    at: dict[str, Any],
    value: float,
    ends: Interval | None,
) -> Row:
    """Return the row of a mean over queries at a rank, a recall level or a threshold."""
    first = f"{scalar.label[0].upper()}{scalar.label[1:]}"
    label = label_of(replace(scalar, label=first), **at)
    cell = cell_of_scalar(scalar, value, attempts=over.genuine, interval=ends, at=at)
    return Row(label, cell, over, undefined=why)


def gom_rows(dataset: xr.Dataset) -> Iterator[Row]:
    """Return the rows of GOM: the columns of its paper's table, and the CMC at other ranks."""
    queries = value_of(dataset, "queries")
    opened = value_of(dataset, "open_queries")
    subjects = _classes(dataset).genuine.subjects
    others = int(dataset.attrs.get("probe_subjects", 0)) - subjects
    ranked = SampleSize(int(queries or 0) or None, None, subjects)
    absent = SampleSize()
    if opened:
        absent = SampleSize(int(opened), None, others)
    why = "no query has a match" if queries == 0 else ""
    why_open = "the identity of every query is in the gallery" if opened == 0 else ""
    means = [mean for mean in QUERY_MEANS.values() if "gom" in mean.results]
    for scalar in (*GOM_POINTS, *means):
        if scalar.name in ("mfr_area", "tau_nz"):
            yield from _mean(dataset, scalar, absent, why_open or scalar.undefined)
        else:
            yield from _mean(dataset, scalar, ranked, why or scalar.undefined)
    yield from _cmc_rows(dataset, ranked, undefined=why)


def precision_of_queries(dataset: xr.Dataset) -> xr.DataArray:
    """Return the average precision of each query; for top-K lists, of the cut lists."""
    if "average_precision" in dataset:
        return dataset["average_precision"]
    return dataset["rank_k_average_precision"]


# ------------------------------------------------------------------------ of a scalar


def _of_scalar(dataset: xr.Dataset, scalar: Scalar, over: Classes) -> Iterator[Row]:
    """Return the row of a scalar, its rows at FAR targets or costs, or those of its bounds."""
    yield from _bounds(dataset, scalar, over)
    if scalar.name not in dataset:
        return
    dims = dataset[scalar.name].dims
    if not dims:
        value, threshold = float(dataset[scalar.name]), None
        if scalar.threshold:
            threshold = value_of(dataset, scalar.threshold)
        yield _row(scalar, value, over, threshold, _ends(dataset, scalar.name))
    elif dims == ("cost",):
        yield from _costs(dataset, scalar, over)
    for point in _targets(dataset, scalar.name):
        ends = _ends(dataset, scalar.name, **point.place)
        label = _at_target(scalar, point.target, dataset)
        yield _row(scalar, point.rate, over, point.threshold, ends, label=label, at=point.at)


def _at_target(scalar: Scalar, target: float, dataset: xr.Dataset) -> Text:
    """Return the label of a scalar at a FAR or FRR target."""
    label = label_of(scalar, target=target)
    name = ""
    if scalar is FRR_AT_FAR and rates_are_of(dataset.attrs) == "verification":
        name = fvc_name(target)  # which is of matches
    return say("{label} ({name})", label=label, name=name) if name else label


def fvc_name(target: float) -> str:
    """Return the name that FVC gave to FNMR at a FMR target: 0.01 is ``FMR100``."""
    power = round(-math.log10(target)) if target > 0 else 0
    if power in (2, 3) and math.isclose(target, 10.0**-power):
        return f"FMR{10**power}"
    return ""


def _bounds(dataset: xr.Dataset, scalar: Scalar, over: Classes) -> Iterator[Row]:
    """Return the rows of the bounds of a scalar that is not known exactly."""
    name = scalar.name
    if f"{name}_at_least" not in dataset or f"{name}_at_most" not in dataset:
        return
    if not dataset[f"{name}_at_least"].dims:
        for end, suffix in _ENDS.items():
            value = float(dataset[f"{name}{suffix}"])
            label = say("{label}, {end}", label=label_of(scalar), end=end)
            bound = _row(scalar, value, over, label=label, variable=f"{name}{suffix}")
            yield replace(bound, undefined="")
    for point in _targets(dataset, f"{name}_at_least"):
        for end, suffix in _ENDS.items():
            value = _value_at(dataset, f"{name}{suffix}", **point.place)
            label = say("{label}, {end}", label=_at_target(scalar, point.target, dataset), end=end)
            yield _row(scalar, value, over, label=label, variable=f"{name}{suffix}", at=point.at)


def _row(
    scalar: Scalar,
    value: float,
    over: Classes,
    threshold: float | None = None,
    ends: Interval | None = None,
    *,
    label: Text = "",
    over_class: SampleSize | None = None,
    **more: Any,
) -> Row:
    """Return a row as the scalar describes it, over both classes unless one is given."""
    attempts = None
    if not isinstance(scalar.decimals, int):  # enough to make an attempt of the class visible
        attempts = getattr(over.both, scalar.decimals)
    cell = cell_of_scalar(scalar, value, interval=ends, attempts=attempts, **more)
    if not label:
        label = label_of(scalar)
        if scalar.also:
            label = say("{label} ({also})", label=label, also=scalar.also)
    return Row(label, cell, over_class or over.both, threshold, scalar.undefined)


def _costs(dataset: xr.Dataset, scalar: Scalar, over: Classes) -> Iterator[Row]:
    """Return the normalised least cost at each prior except one half, where it is defined."""
    for i in range(dataset.sizes["cost"]):
        prior = _value_at(dataset, "cost_prior", cost=i)
        value = _value_at(dataset, scalar.name, cost=i)
        if prior != 0.5 and not math.isnan(value):
            threshold = _value_at(dataset, scalar.threshold, cost=i)
            label = label_of(scalar, prior=prior)
            ends = _ends(dataset, scalar.name, cost=i)
            yield _row(scalar, value, over, threshold, ends, label=label, at={"prior": prior})


# ------------------------------------------------------------------------ picking


def _value_at(dataset: xr.Dataset, name: str, **at: int) -> float:
    """Return one value, by numpy, since xarray takes long and may load dask to find it."""
    return float(values_at(dataset[name].variable, at))


def _ends(dataset: xr.Dataset, name: str, **at: int) -> tuple[float, float] | None:
    """Return the limits of the interval of a variable, or None without one."""
    if f"{name}_low" not in dataset or f"{name}_high" not in dataset:
        return None
    low = _value_at(dataset, f"{name}_low", **at)
    high = _value_at(dataset, f"{name}_high", **at)
    if math.isnan(low) or math.isnan(high):
        return None
    return (low, high)


def _bounded(dataset: xr.Dataset, name: str, **at: int) -> tuple[float, tuple[float, float] | None]:
    """Return one value and the limits of its interval."""
    return _value_at(dataset, name, **at), _ends(dataset, name, **at)


def _shown_ranks(dataset: xr.Dataset) -> dict[int, int]:
    """Return each rank that is shown, with its place."""
    return {rank: dataset["rank"].values.tolist().index(rank) for rank in report_ranks(dataset)}


def _at_ranks(dataset: xr.Dataset, name: str) -> Iterator[tuple[int, Any, Any]]:
    """Return each rank that is shown, with the value there and its interval."""
    for rank, place in _shown_ranks(dataset).items():
        yield rank, *_bounded(dataset, name, rank=place)


class _AtTarget(NamedTuple):
    """A rate at a FAR or FRR target."""

    target: float
    place: dict[str, int]
    at: dict[str, float]
    rate: float
    threshold: float | None


def _targets(dataset: xr.Dataset, name: str) -> Iterator[_AtTarget]:
    """Yield a rate at each FAR or FRR target, at rank 1 of ranks."""
    if name not in dataset:
        return
    for dim, limits in TARGETS.items():
        if {*dataset[name].dims, "rank"} != {dim, "rank"}:
            continue
        for i, target in enumerate(dataset[dim].values.tolist()):
            at = {dim: i, "rank": 0}
            limit = _value_at(dataset, limits, **at) if limits in dataset else None
            labels = {dim: target}
            if "rank" in dataset[name].dims:
                labels["rank"] = 1
            yield _AtTarget(target, at, labels, _value_at(dataset, name, **at), limit)


def _few_thresholds(dataset: xr.Dataset, instead: str) -> Iterator[tuple[int, float]]:
    """Return all thresholds if they are few; else three, unless the table has `instead`."""
    single = "threshold" in dataset.coords and not dataset["threshold"].ndim
    count = dataset.sizes.get("threshold", int(single))
    places: Iterable[int] = range(count)
    if count > FEW:
        places = ()
        if instead not in dataset:
            places = [round(i * (count - 1) / 4) for i in (1, 2, 3)]
    for i in places:
        yield i, _value_at(dataset, "threshold", threshold=i)


def _classes(dataset: xr.Dataset) -> Classes:
    """Return the numbers of attempts, and of the subjects whose probes made them.

    Genuine attempts are those of subjects that are in the gallery. In verification every probe
    makes impostor attempts; in open set, those that the option ``impostors`` says.
    """
    attrs = dataset.attrs
    genuine = int(value_of(dataset, "genuine_attempts") or 0)
    impostor = int(value_of(dataset, "impostor_attempts") or 0)
    everyone = int(attrs.get("probe_subjects", 0))
    enrolled = int(
        attrs.get("enrolled_subjects", everyone if attrs.get("layout") == "all-against-all" else 0)
    )
    both = others = everyone
    if attrs.get("impostors") == "unenrolled":
        others = everyone - enrolled
    elif attrs.get("impostors") == "leave-subject-out":
        both = others = enrolled
    return Classes(
        SampleSize(genuine, impostor, both),
        SampleSize(genuine, None, enrolled),
        SampleSize(None, impostor, others),
    )
