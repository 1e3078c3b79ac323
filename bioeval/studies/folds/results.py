"""Results over folds as a dataset: counts and rates of each fold, and their summaries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval import partition
from bioeval.base.messages import Message
from bioeval.counting.thresholds import to_user
from bioeval.results.dataset import about_attrs, dataset, rates_of
from bioeval.results.layouts import FoldLayout
from bioeval.results.support import beyond_scores, support_messages
from bioeval.results.variables import (
    CLOSED_SET,
    NOT_POOLED,
    VERIFICATION,
    Variable,
    averaged_over_folds,
    entries,
    rates_of_folds,
)
from bioeval.scores.people import ComparedPeople
from bioeval.scores.provenance import Provenance
from bioeval.stats.options import IntervalMethod
from bioeval.stats.people import ratio
from bioeval.stats.repeated import nadeau_bengio
from bioeval.studies.folds.folds import Fold, FoldOptions
from bioeval.studies.folds.splits import Place, SplitPlan

FOLD_COUNTS = {
    **entries(VERIFICATION, "ga", "fr", "fa", "gr", "genuine_attempts", "impostor_attempts"),
    **entries(CLOSED_SET, "cms_count", "skipped"),
    **entries(VERIFICATION, "fa_unenrolled", "unenrolled_attempts"),
}

_EACH = ("repeat", "fold")

_OF_FOLDS: dict[str, Variable] = {
    "threshold": Variable(
        "threshold chosen on the training part", "score", "threshold T", _EACH, shown="threshold"
    ),
    "train_subjects": Variable(
        "subjects of the training part (pairs without subjects: pairs)", dims=_EACH
    ),
    "test_subjects": Variable(
        "subjects of the test part (pairs without subjects: pairs)", dims=_EACH
    ),
    "crossing_pairs": Variable(
        "pairs of a subject of the test part and one outside it", "pairs", dims=_EACH
    ),
}


def cross_names() -> dict[str, Variable]:
    """Describe the variables of results over folds."""
    names, averaged = dict(_OF_FOLDS), averaged_over_folds()
    for name, quantity in (averaged | FOLD_COUNTS).items():
        inner = tuple(dim for dim in quantity.dims if dim != "threshold")
        names[name] = replace(quantity, dims=(*_EACH, *inner))
        if name not in NOT_POOLED:
            long_name = f"on the training part: {quantity.long_name}"
            of_training = Variable(long_name, quantity.units, quantity.iso, (*_EACH, *inner))
            names[f"train_{name}"] = of_training
        if name in averaged:
            names[f"{name}_summary"] = replace(quantity, dims=("statistic", *inner))
    return names


PARTS = ("", "train_")

SPREAD = (
    "central quantiles of the repeats themselves: how a rate depends on the draw of parts and "
    "claims, among these same subjects; no confidence interval for other subjects"
)

CORRECTED = (
    "of the mean, corrected for overlapping training parts (Nadeau and Bengio 2003); a heuristic"
)

# Relative difference of gallery sizes that is ignored: halves of an odd number.
ALIKE = 0.1


def fold_dataset(
    folds: Mapping[Place, Fold], plan: SplitPlan, about: Provenance, options: FoldOptions
) -> xr.Dataset:
    """Return counts and rates over ``repeat, fold``, and their summaries over all folds."""
    at = tuple(np.array(list(folds)).T)
    there: np.ndarray = np.zeros(plan.shape, dtype=bool)
    there[at] = True
    numbers: dict[str, np.ndarray] = {}
    for name in next(iter(folds.values())):
        values = np.array([fold[name] for fold in folds.values()])
        fill = np.nan if values.dtype.kind == "f" else 0
        numbers[name] = np.full((*plan.shape, *values.shape[1:]), fill, dtype=values.dtype)
        numbers[name][at] = values
    names, judges = cross_names(), options.task == "closed_set" or options.rule.name != "none"
    rates, pooled = {}, {}
    if judges:
        counts, summed = {}, {}
        for name, x in numbers.items():
            if x.dtype.kind == "i":  # at a rank, none is detected without a threshold
                counts[name] = x * numbers["defined"] if x.ndim == 2 else x
                summed[name] = counts[name].sum(axis=(0, 1))
        rates, pooled = _ratios(counts), _ratios(summed)
    if "threshold" in numbers:
        numbers["threshold"] = to_user(numbers["threshold"], about.kind)
    points, counted = {}, {}
    for name, x in numbers.items():
        if name in NOT_POOLED:
            points[name] = x
        elif name in names and (judges or name.endswith(("attempts", "subjects"))):
            counted[name] = x
    first = {"threshold": counted.pop("threshold")} if "threshold" in counted else {}
    test, train = numbers["test_subjects"][there], numbers["train_subjects"][there]
    sizes = float(test.mean()), float(train.mean())
    averaged = rates | points
    statistics, summaries = _summaries(averaged, pooled, there, options.interval, names, sizes)

    coordinates = {
        "repeat": np.arange(plan.shape[0]),
        "fold": np.arange(plan.shape[1]),
        "statistic": np.array(statistics),
    }
    if options.task != "verification":
        coordinates["rank"] = options.ranks
    if len(options.frr_targets):
        coordinates["frr_target"] = options.frr_targets
    if len(options.priors):
        coordinates["cost"] = options.priors
    if options.far_targets is not None and options.task != "closed_set":
        coordinates["far_target"] = options.far_targets
    unit = "repeat" if plan.by_parts else "fold"
    messages = list(_messages(numbers, rates, there, options, unit, about))
    if options.rule.name == "fixed" and options.task == "verification":
        given = options.rule.values[0]
        messages += beyond_scores(given, float(pooled["far"]), float(pooled["frr"]))
    words = options.in_words
    if options.task == "verification" and about.use_title:
        words = f"verification, {about.use_title}"
    task = f"{words}, in {'repeated experiments' if plan.by_parts else 'folds'}"
    attrs = about_attrs(about, options.task.replace("_", "-"), task, messages)
    attrs |= _attrs(options, plan.splitter, about.kind)
    if "shared_subjects" in numbers:
        attrs["subjects_in_both_parts"] = int(numbers["shared_subjects"].max())
    return dataset(first | averaged | counted | summaries, names, coordinates, attrs)


def _ratios(counts: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return every rate of both parts; the counts are of folds, or summed over folds."""
    ratios: dict[str, np.ndarray] = {}
    for prefix in PARTS:
        part = {k.removeprefix(prefix): n for k, n in counts.items() if k.startswith(prefix)}
        if "impostor_attempts" in part:
            scalars = *rates_of_folds(), VERIFICATION["far_unenrolled"]
            for name, x in rates_of(scalars, part).items():
                ratios[f"{prefix}{name}"] = x
        for name in ("dir", "cms"):
            if f"{name}_count" in part:
                genuine = part["genuine_attempts"][..., None]
                ratios[f"{prefix}{name}"] = ratio(part[f"{name}_count"], genuine)
    return ratios


def _summaries(
    values: Mapping[str, np.ndarray],
    pooled: Mapping[str, np.ndarray],
    there: np.ndarray,
    interval: IntervalMethod,
    names: Mapping[str, Variable],
    sizes: Sequence[float],
) -> tuple[list[str], dict[str, np.ndarray]]:
    """Return the statistics, ``train_`` before those of training parts, and those of each rate.

    `sizes` are the mean numbers of test and training subjects.
    """
    repeats, several = np.nonzero(there)[0], min(there.shape) > 1
    known = set(_OF_EACH) | ({"pooled"} if pooled else set())
    if several:
        known |= {"repeats_mean", "repeats_sd"}
    statistics: list[str] = []
    for part in PARTS if len(pooled) else PARTS[:1]:
        statistics += [f"{part}{key}" for key in FoldLayout.STATISTICS if key in known]
    tables: dict[str, np.ndarray] = {}
    for name, of_folds in values.items():
        rate = name.removeprefix("train_")
        part, inner = name.removesuffix(rate), of_folds.shape[2:]
        if not math.prod(inner):
            continue  # without a target
        fresh = np.full((len(statistics), *inner), np.nan)
        table = tables.setdefault(f"{rate}_summary", fresh)
        for place in np.ndindex(inner):
            column = of_folds[(there, *place)]
            with np.errstate(invalid="ignore"):  # an infinite Cllr has no spread
                found = _over_folds(column, interval, sizes, names[rate].bounds)
            if several:
                found |= _of_repeats(column, repeats)
            for key, value in found.items():
                table[(statistics.index(f"{part}{key}"), *place)] = value
        if name in pooled:
            table[statistics.index(f"{part}pooled")] = pooled[name]
    return statistics, tables


#: The statistics of every rate.
_OF_EACH = ("mean", "sd", "se", "low", "high", "folds")


def _over_folds(
    column: np.ndarray,
    interval: IntervalMethod,
    sizes: Sequence[float],
    bounds: tuple[float, float],
) -> dict[str, float]:
    """Return mean, spread and interval of a rate over folds."""
    # A part without a subject has no attempt either: then there is nothing to find.
    test, train = np.maximum(sizes, 1e-9).tolist()
    confidence = interval.confidence
    estimate = nadeau_bengio(column, test, train, confidence=confidence)
    low, high = estimate.low, estimate.high
    if interval.method == "quantile":
        there = column[~np.isnan(column)]
        if len(there) > 1:
            ends = (1 - confidence) / 2, (1 + confidence) / 2
            low, high = np.quantile(there, ends).tolist()
    elif _all_alike(column) or not sizes[1]:
        low = high = np.nan
    se = estimate.sd / max(estimate.folds, 1) ** 0.5
    low, high = max(low, bounds[0]), min(high, bounds[1])  # of NaN, which is not smaller, NaN
    values = estimate.mean, estimate.sd, se, low, high, estimate.folds
    return dict(zip(_OF_EACH, values, strict=True))


def _of_repeats(column: np.ndarray, repeats: np.ndarray) -> dict[str, float]:
    """Return mean and standard deviation of the means of the repeats, over those that have one."""
    defined = ~np.isnan(column)
    folds = np.bincount(repeats[defined], minlength=int(repeats.max()) + 1)
    sums = np.bincount(repeats[defined], weights=column[defined], minlength=len(folds))
    means = sums[folds > 0] / folds[folds > 0]
    mean, sd = np.nan, np.nan
    if len(means):
        mean = means.mean()
    if len(means) > 1:
        sd = means.std(ddof=1)
    return {"repeats_mean": mean, "repeats_sd": sd}


def _all_alike(column: np.ndarray) -> bool:
    """Return whether the rate is 0 in every fold, or 1 in every fold: there is no spread."""
    there = column[~np.isnan(column)]
    return len(there) > 1 and bool((there == there[0]).all()) and there[0] in (0, 1)


def _attrs(options: FoldOptions, splitter: Any, kind: str) -> dict[str, Any]:
    """Return the attributes of splitter and options, and on what a threshold is chosen."""
    attrs: dict[str, Any] = {
        "splitter": repr(splitter),
        "splitter_class": type(splitter).__name__,
        "confidence": options.interval.confidence,
        "interval_unit": "folds",
    }
    seed = getattr(splitter, "random_state", None)
    if isinstance(seed, int | np.integer):
        attrs["splitter_seed"] = int(seed)
    if options.interval.method == "quantile":
        attrs |= {"interval_method": "quantile", "interval": SPREAD, "interval_for": "these people"}
    else:
        attrs |= {"interval_method": "nadeau-bengio", "interval": CORRECTED}
        attrs["interval_for"] = "folds like these"
    if options.claims is not None:
        attrs["claims"] = repr(options.claims)
    if options.task == "verification":
        attrs |= options.use.of_kind(kind).attrs
    else:
        how = options.search.of_kind(kind)
        attrs |= {"rank_unit": how.rank_unit, "fusion": how.fused, "ties": how.ties}
    if options.task == "open_set":
        attrs["impostors"] = options.search.impostors
    if options.task != "closed_set" and options.rule.name != "none":
        unit = "fold"
        validates = type(splitter).__name__ == "TrainValidationTest"
        if isinstance(splitter, partition.Experiment):
            unit, validates = "repeat", bool(splitter.validation)
        part = "validation" if validates else "training"
        attrs |= options.rule.attrs(f"the {part} part of each {unit}")
    return attrs


def _messages(
    counts: Mapping[str, np.ndarray],
    ratios: Mapping[str, np.ndarray],
    there: np.ndarray,
    options: FoldOptions,
    unit: str,
    about: Provenance,
) -> Iterator[Message]:
    """Yield messages of rates that are not defined or do not differ, and of what is left out.

    Also of targets that test parts are too small for.
    """
    counts = {name: values[there] for name, values in counts.items()}
    number = int(there.sum())
    shared = counts.get("shared_subjects", np.zeros(1, dtype=np.int64))
    if shared.any():
        about_parts = {"parts": int(np.count_nonzero(shared)), "number": number, "unit": unit}
        yield Message("subjects-in-both-parts", subjects=int(shared.max()), **about_parts)
    yield from parts_without_attempts(counts, number, unit)
    for name in ("far", "frr", "cms"):
        if name not in ratios:
            continue
        values = ratios[name][there]
        if values.ndim > 1:
            values = values[:, 0]
        attempts = counts["impostor_attempts" if name == "far" else "genuine_attempts"]
        undefined = np.isnan(values) & (attempts > 0)
        missing = int(undefined.sum())
        if missing:
            why = "there are no attempts to choose a threshold on"
            chosen_on = [counts.get(f"train_{role}_attempts") for role in ("genuine", "impostor")]
            if all(x is not None and x[undefined].all() for x in chosen_on):
                why = f"too many comparisons failed for {options.rule.words}"
            yield undefined_in_parts([f"{{{name}}}"], missing, number, unit, why)
        if options.interval.method == "nadeau-bengio" and _all_alike(values):
            value = int(np.nanmax(values))
            yield Message("no-spread-between-parts", rate=name, value=value, unit=unit)
    if number == 1:
        yield Message("one-part", unit=unit)
    if "gallery_subjects" in counts:
        of_train, of_test = counts["train_gallery_subjects"], counts["gallery_subjects"]
        apart = np.abs(of_train - of_test) > ALIKE * np.maximum(of_train, of_test)
        if of_train.any() and apart.any():
            yield Message("galleries-of-different-sizes")

    def total(name: str) -> int:
        """Return the sum over all folds; 0 of what is not counted in this task."""
        return int(counts[name].sum()) if name in counts else 0

    skipped = total("skipped")
    if skipped and about.layout != "all-against-all":
        yield Message("probes-without-mate", probes=skipped, where=" of the test part")
    if crossing := total("crossing_pairs"):
        tested = total("genuine_attempts") + total("impostor_attempts")
        repeats, parts = there.shape
        left_out = crossing / repeats / min(parts, 2)  # a pair crosses into both of its folds
        yield Message("pairs-across-parts", pairs=round(left_out), tested=round(tested / repeats))
    if options.far_targets is not None and options.task != "closed_set":
        people = None if about.people is None else int(counts["test_subjects"].min())
        more = "fewer folds have" if unit == "fold" else "a larger test part has"
        genuine = int(counts["genuine_attempts"].min())
        impostor = int(counts["impostor_attempts"].min())
        targets = options.far_targets, options.frr_targets
        searched = options.task == "open_set"
        for message in support_of_parts(*targets, genuine, impostor, people, searched=searched):
            where = f"the smallest test part ({more} more people)"
            yield message.concerning(options.in_words, where)
    if infinite := int(np.isinf(counts.get("cllr", np.zeros(1))).sum()):
        yield Message("cllr-infinite", where=f", and so is its mean, in {infinite:,} folds")
    if tied := total("tied"):
        probes = total("genuine_attempts")
        yield Message("ties-in-partitions", tied=tied, probes=probes, number=number)


def parts_without_attempts(
    attempts: Mapping[str, np.ndarray], number: int, unit: str
) -> Iterator[Message]:
    """Yield messages of parts without an attempt of a class, of the attempts in each by class."""
    for role in ("genuine", "impostor"):
        if f"{role}_attempts" in attempts:
            missing = int(np.count_nonzero(attempts[f"{role}_attempts"] == 0))
            if missing:
                rates = f"rates of {role} attempts"
                why = f"there is no {role} attempt, since {_TOO_FEW[role]}"
                yield undefined_in_parts([rates], missing, number, unit, why)


def support_of_parts(
    far_targets: Iterable[float],
    frr_targets: Iterable[float],
    genuine: float,
    impostor: float,
    people: int | None,
    *,
    searched: bool,
) -> list[Message]:
    """Return the messages of targets that the smallest part, of so many attempts, is too small for.

    The impostors of a search (`searched`) are people who are not compared with each other.
    """
    compared = None
    if people is not None:
        compared = ComparedPeople(people, people) if searched else ComparedPeople.among(people)
    rate = "dir" if searched else "frr"
    messages = support_messages(far_targets, impostor, False, rate, compared)
    return messages + support_messages(frr_targets, genuine, False, "far", compared, "frr")


#: Which parts have no attempt of a class.
_TOO_FEW = {
    "genuine": "no subject has two templates to compare",
    "impostor": "all templates are of one subject",
}


def undefined_in_parts(
    what: Sequence[str], missing: int, number: int, unit: str, why: str
) -> Message:
    """Return the message that rates are not defined in some of the parts."""
    rates = ", ".join(what)
    about = {"what": rates, "missing": missing, "number": number, "unit": unit}
    return Message("undefined-in-parts", **about, why=why)


def span(counts: Sequence[int] | np.ndarray) -> str:
    """Return the smallest and the largest of some counts in words."""
    low, high = min(counts), max(counts)
    if low == high:
        return f"{low:,}"
    return f"{low:,} to {high:,}"
