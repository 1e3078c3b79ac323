"""The section of a task in a table: its title, the options of its evaluation, its rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import xarray as xr

from bioeval.base.errors import counted
from bioeval.base.kinds import larger_is_closer
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
from bioeval.results.words import threshold_text
from bioeval.scores.arrays import parse_fusion
from bioeval.tallies.points import per_cent
from bioeval.views.tables import layout as numbers
from bioeval.views.tables.layout import Classes, Row, SampleSize, TableSection, with_shared_decimals
from bioeval.views.tasks import place_in, report_ranks, system_of, value_of, values_at
from bioeval.views.terms import term_translator

#: Up to this number of thresholds each has its rows: they were given.
FEW = 12

# Bounds of what is not known exactly, in words and at the ends of names.
_ENDS = {"at least": "_at_least", "at most": "_at_most"}

# Recall levels that are shown.
_LEVELS = (0.0, 0.5, 1.0)

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
            yield _row(scalar, value, over, threshold, ends, over_class=attempts)


def open_set_rows(dataset: xr.Dataset) -> Iterator[Row]:
    """Return the rows of open-set identification."""
    over = _classes(dataset)
    for scalar in (OPEN_SET_EER, DIR_AT_FAR):
        yield from _of_scalar(dataset, scalar, over)
    # Expected rates have bounds of the operating points, between two thresholds of the result.
    instead = "dir_at_far" if "dir_at_far" in dataset else "dir_at_far_at_least"
    for i, threshold in _few_thresholds(dataset, instead):
        value, ends = _bounded(dataset, "dir", threshold=i, rank=0)
        yield _row(DIR, value, over, threshold, ends, label="DIR, rank 1", over_class=over.genuine)
        value, ends = _bounded(dataset, "far", threshold=i)
        yield _row(
            scalar_registry().averaged["far"],
            value,
            over,
            threshold,
            ends,
            over_class=over.impostor,
        )


def closed_set_rows(dataset: xr.Dataset) -> Iterator[Row]:
    """Return the rows of closed-set identification."""
    attempts = int(value_of(dataset, "attempts") or 0)
    over = SampleSize(attempts, None, _classes(dataset).genuine.subjects)
    for rank, value, ends in _at_ranks(dataset, "cms"):
        name = f"CMS, rank {rank:,}"
        if rank == 1:
            name += " (recognition rate)"
        yield Row(name, value, over, decimals=numbers.decimals_for(attempts), ends=ends)


def reid_rows(dataset: xr.Dataset) -> Iterator[Row]:
    """Return the rows of re-identification."""
    queries = int(value_of(dataset, "queries") or 0)
    over = SampleSize(queries, None, _classes(dataset).genuine.subjects)
    why = "not offered under expected ties"
    if "beyond_lists" in dataset:
        why = "some matches are beyond the ends of the lists"
    cut = dataset.attrs.get("rank_k", value_of(dataset, "rank_k"))
    decimals = numbers.decimals_for(queries)
    for mean in QUERY_MEANS.values():
        if mean.name not in MATCH_SUMS:
            label = f"mAP, lists cut at rank {cut or 0:.0f}" if mean.cut else mean.label
            yield from _mean(dataset, mean, over, why, decimals, label)
    yield from _cmc_rows(dataset, over, decimals=decimals)
    for mean in MATCH_SUMS.values():
        yield from _mean(dataset, mean, over, why, decimals)
    if dataset.attrs.get("rules"):  # folded: CMC and bounds alone
        return
    for scalar in RANKED_LISTS:
        for rank, value, ends in _at_ranks(dataset, scalar.name):
            yield _of_queries(scalar, over, why, f"{rank:,}", value, ends)
    for i, level in enumerate(dataset["recall_level"].values.tolist()):
        if level in _LEVELS:
            value, ends = _bounded(dataset, INTERPOLATED_PRECISION.name, recall_level=i)
            yield _of_queries(INTERPOLATED_PRECISION, over, why, f"{level:g}", value, ends)
    for i, threshold in _few_thresholds(dataset, ""):
        for scalar in RETRIEVED_SETS:
            value, ends = _bounded(dataset, scalar.name, threshold=i)
            yield _of_queries(scalar, over, "", threshold_text(threshold), value, ends)


def _mean(
    dataset: xr.Dataset, scalar: Scalar, over: SampleSize, why: str, decimals: int, label: str = ""
) -> Iterator[Row]:
    """Return the row of a number over queries, and those of its bounds, not known exactly."""
    name, label = scalar.name, label or scalar.label
    shown: dict[str, Any] = {"unit": "", "decimals": scalar.decimals}
    if scalar.percent:
        shown = {"unit": "%", "decimals": decimals}
    shown["is_proportion"] = scalar.bounds == (0.0, 1.0)
    for end, suffix in _ENDS.items():
        if (value := value_of(dataset, f"{name}{suffix}")) is not None:
            yield Row(f"{label}, {end}", value, over, **shown)
    if (value := value_of(dataset, name)) is not None:
        yield Row(label, value, over, undefined=why, ends=_ends(dataset, name), **shown)


def _cmc_rows(dataset: xr.Dataset, over: SampleSize, **shown: Any) -> Iterator[Row]:
    """Return the rows of the CMC, or of its bounds, at the ranks that are shown."""
    for rank, place in _shown_ranks(dataset).items():
        label, value, ends = f"Rank {rank:,}", math.nan, None
        if "cmc" in dataset:
            value, ends = _bounded(dataset, "cmc", rank=place)
        if math.isnan(value) and "cmc_at_least" in dataset:
            for end, suffix in _ENDS.items():
                limit = _value_at(dataset, f"cmc{suffix}", rank=place)
                yield Row(f"{label}, {end}", limit, over, **shown)
        else:
            yield Row(label, value, over, ends=ends, **shown)


def _of_queries(
    scalar: Scalar, over: SampleSize, why: str, place: str, value: Any, ends: Any
) -> Row:
    """Return the row of a mean over queries at a rank or a threshold, written as `place`."""
    label = scalar.label.format(rank=place, threshold=place, level=place)
    return Row(
        label[0].upper() + label[1:],
        value,
        over,
        decimals=numbers.decimals_for(over.genuine),
        undefined=why,
        ends=ends,
    )


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
    decimals = numbers.decimals_for(int(queries or 0))
    for scalar in (*GOM_POINTS, *QUERY_MEANS.values()):
        if scalar.name in ("mfr_area", "tau_nz"):
            yield from _mean(dataset, scalar, absent, why_open or scalar.undefined, decimals)
        else:
            yield from _mean(dataset, scalar, ranked, why or scalar.undefined, decimals)
    yield from _cmc_rows(dataset, ranked, decimals=decimals, undefined=why)


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
        if math.isnan(point.rate) and f"{scalar.name}_at_least" in dataset:
            continue
        ends = _ends(dataset, scalar.name, **point.place)
        label = _at_target(scalar, point.target)
        yield _row(scalar, point.rate, over, point.threshold, ends, label=label)


def _at_target(scalar: Scalar, target: float) -> str:
    """Return the label of a scalar at a FAR or FRR target."""
    fvc = numbers.fvc_name(target) if scalar is FRR_AT_FAR else ""
    return scalar.label.format(target=per_cent(target)) + fvc


def _bounds(dataset: xr.Dataset, scalar: Scalar, over: Classes) -> Iterator[Row]:
    """Return the rows of the bounds of a scalar that is not known exactly."""
    name = scalar.name
    if f"{name}_at_least" not in dataset or f"{name}_at_most" not in dataset:
        return
    if not dataset[f"{name}_at_least"].dims:
        for end, suffix in _ENDS.items():
            value = float(dataset[f"{name}{suffix}"])
            yield replace(_row(scalar, value, over, label=f"{scalar.label}, {end}"), undefined="")
    for point in _targets(dataset, f"{name}_at_least"):
        if name in dataset and not math.isnan(_value_at(dataset, name, **point.place)):
            continue
        for end, suffix in _ENDS.items():
            value = _value_at(dataset, f"{name}{suffix}", **point.place)
            yield _row(scalar, value, over, label=f"{_at_target(scalar, point.target)}, {end}")


def _row(
    scalar: Scalar,
    value: float,
    over: Classes,
    threshold: float | None = None,
    ends: tuple[float, float] | None = None,
    *,
    label: str = "",
    over_class: SampleSize | None = None,
) -> Row:
    """Return a row as the scalar describes it, over both classes unless one is given."""
    decimals = scalar.decimals
    if not isinstance(decimals, int):
        decimals = numbers.decimals_for(getattr(over.both, decimals))
    also = f" ({scalar.also})" if scalar.also else ""
    return Row(
        label or scalar.label + also,
        value,
        over_class or over.both,
        threshold,
        unit="%" if scalar.percent else "",
        decimals=decimals,
        undefined=scalar.undefined,
        is_proportion=scalar.bounds == (0.0, 1.0),
        ends=ends,
    )


def _costs(dataset: xr.Dataset, scalar: Scalar, over: Classes) -> Iterator[Row]:
    """Return the normalised least cost at each prior except one half, where it is defined."""
    for i in range(dataset.sizes["cost"]):
        prior = _value_at(dataset, "cost_prior", cost=i)
        value = _value_at(dataset, scalar.name, cost=i)
        if prior != 0.5 and not math.isnan(value):
            threshold = _value_at(dataset, scalar.threshold, cost=i)
            label = scalar.label.format(prior=f"{prior:g}")
            yield _row(scalar, value, over, threshold, label=label)


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
            yield _AtTarget(target, at, _value_at(dataset, name, **at), limit)


def _few_thresholds(dataset: xr.Dataset, instead: str) -> Iterator[tuple[int, float]]:
    """Return all thresholds if they are few; else three, unless the table has `instead`."""
    single = "threshold" in dataset.coords and not dataset["threshold"].ndim
    count = dataset.sizes.get("threshold", int(single))
    places: Iterable[int] = range(count)
    if count > FEW:
        places = ()
        if instead not in dataset:
            places = [round(i * (count - 1) / 4) for i in (1, 2, 3)]
    # Rates of be.at are those of a threshold of the result that they were looked up in.
    used = "threshold_used" if "threshold_lookup" in dataset.attrs else "threshold"
    for i in places:
        yield i, _value_at(dataset, used, threshold=i)


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


#: Number of the worst queries that are named.
WORST = 5


def section(dataset: xr.Dataset, path: str = "", several: bool = False) -> TableSection:
    """Return the section of a task, with the name of its system where there are several."""
    attrs = dataset.attrs
    more = []
    if _holds(dataset, "mrep"):
        rows = gom_rows(dataset)
        options = ["removes", "junk", "variant", "budget", "ties"]
        if "queries" in dataset:
            more = [_queries(dataset)]
    elif _holds(dataset, "mean_ap") and "queries" in dataset:
        rows = reid_rows(dataset)
        options = ["removes", "junk", "cmc_counts", "ties", "ap"]
        more = [_queries(dataset), *_worst(dataset)]
    elif "cms" in dataset:
        rows = closed_set_rows(dataset)
        options = ["gallery", "rank_unit", "ties", "fusion"]
    elif "dir" in dataset or "dir_at_far" in dataset:
        rows = open_set_rows(dataset)
        options = ["genuine_gallery_subjects", "gallery", "rank_unit", "ties", "impostors"]
        options.append("fusion")
    else:
        rows = verification_rows(dataset)
        options = ["claims", "attempts", "fta", "fte"]
        if attrs.get("templates") == "multi":
            options.insert(0, "fusion")
        more = list(_independent(dataset))
        auc = value_of(dataset, "auc")
        if auc is not None and auc < 0.5:
            more.append("AUC below 0.5: impostor scores are nearer; d' has no sign")
    translate = term_translator(dataset)
    listed = []
    reasons: dict[str, None] = {}
    number_undefined = 0
    for row in rows:
        said = replace(row, measure=translate(row.measure), undefined=translate(row.undefined))
        listed.append(said)
        if not said.is_defined:
            number_undefined += 1
            reasons[said.why_not] = None
    named = title(dataset, path, several)
    if listed and len(listed) == number_undefined:
        return TableSection(f"{named}: no results ({'; '.join(reasons)})", "", [])
    more += [f"n/a: {why}" for why in reasons]
    return TableSection(named, _details(attrs, options), with_shared_decimals(listed), more)


# What the policies of ties mean.
_TIES = {
    "pessimistic": " (of equal scores the mate ranks last)",
    "optimistic": " (of equal scores the mate ranks first)",
    "expected": " (mean over all orders of equal scores)",
    "stable": " (equal scores in the order of the gallery)",
}


def _holds(dataset: xr.Dataset, name: str) -> bool:
    """Whether a dataset has a measure, or its bounds."""
    return name in dataset or f"{name}_at_least" in dataset


def title(dataset: xr.Dataset, path: str, several: bool) -> str:
    """Return the title of a task, with the name of its system where there are several."""
    task = str(dataset.attrs.get("task", path)) or "results"
    if several:
        return f"{system_of(path)}: {task}"
    return task[0].upper() + task[1:]


def _details(attrs: Mapping[str, Any], names: Iterable[str]) -> str:
    """Return the options of the evaluation in words."""
    says = {
        "genuine_gallery_subjects": lambda x: _searched(attrs),
        "gallery": lambda x: _drawn(x, str(attrs.get("sampling", ""))),
        "rank_unit": lambda x: f"ranks count {x}s",
        "ties": lambda x: f"{x} ties{_TIES.get(x, '')}",
        "impostors": lambda x: f"impostors {x}",
        "fusion": lambda x: fusion_in_words(x, str(attrs.get("kind", ""))),
        "claims": lambda x: "" if x in ("", "all") else f"claims {x}",
        "attempts": lambda x: f"one attempt for all probes of a subject with the same {x}",
        "fta": lambda x: f"FTA {100 * float(x):g} %",
        "fte": lambda x: f"FTE {100 * float(x):g} %",
        "removes": lambda x: f"removed: {x.replace('-', ' ')}",
        "junk": lambda x: f"junk {x}",
        "cmc_counts": lambda x: f"CMC counts {x}",
        "ap": lambda x: f"AP {x}",
        "variant": lambda x: {"reference": "as the authors' program"}.get(x, ""),
        "budget": lambda x: f"B = {int(x):,}",
    }
    said = [says[name](str(attrs[name])) for name in names if name in attrs]
    return ", ".join(filter(None, said))


def fusion_in_words(fusion: str, kind: str) -> str:
    """Return how the scores of a subject's templates are fused, in words of their kind."""
    if fusion in ("", "none"):
        return ""
    near, far = ("most", "least") if larger_is_closer(kind) else ("nearest", "farthest")
    alike = " similar" if larger_is_closer(kind) else ""
    method, order = parse_fusion(fusion)
    words = {
        "min": f"{near}{alike} template",
        "max": f"{far}{alike} template",
        "kth": f"template number {order} from the {near}{alike}",
    }
    of_all = f"{method} {kind or 'score'} of the templates"
    return f"subject scored by the {words.get(method, of_all)}"


def _drawn(gallery: str, sampling: str) -> str:
    """Return in words how galleries were drawn, if templates were."""
    if gallery == "multi":
        return ""
    count = f"{int(gallery):,} templates" if gallery != "single" else "1 template"
    how = "exact mean over all galleries"
    if sampling != "exact":
        how = f"{sampling} galleries drawn"
    return f"{count} of each subject, {how}"


def _searched(attrs: Mapping[str, Any]) -> str:
    """Return the size of the gallery in words; impostors may search one subject fewer."""
    genuine = attrs["genuine_gallery_subjects"]
    impostor = attrs.get("impostor_gallery_subjects", genuine)
    if not int(genuine):
        templates = int(attrs.get("gallery_templates", 0))
        return f"gallery of {counted(templates, 'templates')}, subjects unknown"
    text = f"N = {counted(int(genuine), 'subjects')}"
    if str(impostor) == str(genuine):
        return text
    if isinstance(impostor, int):
        impostor = f"{impostor:,}"
    return f"{text} ({impostor} for impostors: without their own)"


def _independent(dataset: xr.Dataset) -> Iterator[str]:
    """Return in words the number of independent attempts."""
    if "disjoint_pairs" not in dataset:
        return
    pairs = int(dataset["disjoint_pairs"])
    subjects = int(dataset["subjects"])
    attempts = int(dataset["impostor_attempts"])
    unordered = int(value_of(dataset, "impostor_pairs") or attempts)
    if attempts == 2 * unordered:
        yield f"each of {counted(unordered, 'impostor pairs')} makes an attempt in each order"
    disjoint = counted(pairs, "disjoint pairs")
    yield f"{counted(subjects, 'subjects')} make at most {disjoint} (no subject in two pairs)"


def _worst(dataset: xr.Dataset) -> Iterator[str]:
    """Return the worst queries in words, if each query has a value."""
    if "probe" not in dataset.dims:
        return
    precision = precision_of_queries(dataset).dropna("probe")
    precision = precision.sortby(precision)[:WORST]
    rows = zip(precision["probe"].values.tolist(), precision.values.tolist(), strict=True)
    listed = ", ".join(f"{row} (AP {100 * value:.2f} %)" for row, value in rows)
    if listed:
        yield f"worst queries (rows, from 0): {listed}"


def _queries(dataset: xr.Dataset) -> str:
    """Return the number of queries and of comparisons removed, in words."""
    said = counted(value_of(dataset, "queries") or 0, "queries")
    if "open_queries" in dataset:
        said += f"; {int(dataset['open_queries']):,} not in the gallery"
    said += f"; {value_of(dataset, 'skipped') or 0:,.0f} skipped"
    if "removed" not in dataset:  # unknown of lists
        return said
    return f"{said}; {counted(value_of(dataset, 'removed') or 0, 'comparisons')} removed"
