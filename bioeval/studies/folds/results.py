"""Results over folds as a dataset: variables, counts and rates of each fold, their summaries."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import xarray as xr

from bioeval import partition
from bioeval.attempts.judged import Judged, TrainingThresholds
from bioeval.attempts.thresholds import to_user
from bioeval.base.messages import Message
from bioeval.base.registry import names_of, scalar_registry
from bioeval.base.scalars import CALIBRATION_POINTS, POINTS_OF_PARTS, Name, rates_of
from bioeval.results.dataset import Variables, about_attrs, along, build
from bioeval.results.layouts import Layout
from bioeval.results.support import ComparedPeople, support_messages
from bioeval.scores.provenance import Provenance
from bioeval.stats.bootstrap import ratio
from bioeval.stats.over_folds import nadeau_bengio
from bioeval.studies.folds.intervals import LeftOutRates, PooledRates
from bioeval.studies.folds.options import FoldOptions
from bioeval.studies.folds.parts import Searched
from bioeval.studies.folds.splits import PartSizes, Place

FOLD_COUNTS = {
    **names_of("verification", "ga", "fr", "fa", "gr", "genuine_attempts", "impostor_attempts"),
    **names_of("closed_set", "cms_count", "skipped"),
    **names_of("verification", "fa_unenrolled", "unenrolled_attempts"),
}

_OF_FOLDS: dict[str, Name] = {
    "threshold": Name("threshold chosen on the training part", "score", "threshold T"),
    "train_subjects": Name("subjects of the training part (pairs without subjects: pairs)"),
    "test_subjects": Name("subjects of the test part (pairs without subjects: pairs)"),
    "crossing_pairs": Name("pairs of a subject of the test part and one outside it", "pairs"),
}


def cross_names() -> dict[str, Name]:
    """Describe the variables of results over folds."""
    names = dict(_OF_FOLDS)
    both_parts = {**scalar_registry().averaged, **FOLD_COUNTS}
    points = itertools.chain(*POINTS_OF_PARTS.values(), CALIBRATION_POINTS)
    of_test_parts = {x.name for x in points}
    for name, quantity in both_parts.items():
        names[name] = quantity
        if name not in of_test_parts:
            long_name = f"on the training part: {quantity.long_name}"
            names[f"train_{name}"] = Name(long_name, quantity.units, quantity.iso)
    for rate in scalar_registry().averaged:
        names[f"{rate}_summary"] = names[rate]
    return names


PARTS = ("", "train_")

INTERVAL_BY_SUBJECT = (
    "of the pooled rate, by leaving out each subject, with the threshold of each fold chosen anew"
)

INTERVAL_AT_THRESHOLD = "of the pooled rate at the given threshold, by leaving out each subject"

SPREAD = (
    "central quantiles of the repeats themselves: how a rate depends on the draw of parts and "
    "claims, among these same subjects; no confidence interval for other subjects"
)

CORRECTED = (
    "of the mean, corrected for overlapping training parts (Nadeau and Bengio 2003); a heuristic"
)

# Relative difference of gallery sizes that is ignored: halves of an odd number.
ALIKE = 0.1


@dataclass
class Fold:
    """Counts of one fold, at its threshold (a distance), if one could be chosen (`defined`).

    Names of the training part's counts begin with ``train_``. `detected` has, by that prefix, the
    genuine attempts detected, or identified, at each rank or better; `galleries` the numbers of
    subjects in which training and test part are searched. `points` are operating points of the
    test part by itself, over FAR targets and ranks; `among` is there if the threshold is to be
    chosen anew without each person.
    """

    threshold: float
    defined: bool
    counts: dict[str, int]
    subjects: PartSizes
    detected: dict[str, np.ndarray] = field(default_factory=dict)
    galleries: tuple[int, int] = (0, 0)
    points: dict[str, float | np.ndarray] = field(default_factory=dict)
    among: TrainingThresholds | None = None

    @classmethod
    def of_judged(cls, judged: Judged, subjects: PartSizes, *, anew: bool = False) -> Fold:
        """Count both parts at the threshold, which may be chosen `anew` later."""
        counts = {}
        chosen = judged.chosen
        for prefix, attempts in (("", judged.test), ("train_", judged.train)):
            genuine, impostor = attempts.genuine_attempts, attempts.impostor_attempts
            counts[f"{prefix}genuine_attempts"] = genuine
            counts[f"{prefix}impostor_attempts"] = impostor
            fa = fr = ga = gr = 0
            if chosen.defined:
                fa, fr = attempts.errors_at(chosen.threshold)
                ga, gr = genuine - fr, impostor - fa
            counts |= {f"{prefix}ga": ga, f"{prefix}fr": fr, f"{prefix}fa": fa, f"{prefix}gr": gr}
        among = judged.training_thresholds() if anew and chosen.defined else None
        return cls(chosen.threshold, chosen.defined, counts, subjects, among=among)

    def add_searches(self, trained: Searched, tested: Searched, ranks: np.ndarray) -> None:
        """Add the genuine attempts detected at the threshold, and the galleries searched."""
        self.galleries = trained.gallery, tested.gallery
        at = self.threshold if self.defined else np.nan
        for prefix, part in (("", tested), ("train_", trained)):
            self.detected[prefix] = part.detected(at, ranks)


class _Places:
    """Where the values of folds are in arrays over ``repeat, fold``."""

    def __init__(self, places: Iterable[Place], shape: tuple[int, int]):
        self.at = tuple(np.array(list(places)).T)
        self.there: np.ndarray = np.zeros(shape, dtype=bool)
        self.there[self.at] = True

    def spread(self, values: Sequence[Any], fill: Any = 0) -> np.ndarray:
        """Return an array with the value of each fold at its place."""
        array = np.asarray(values)
        spread = np.full((*self.there.shape, *array.shape[1:]), fill, dtype=array.dtype)
        spread[self.at] = array
        return spread

    def spread_each(self, values: Sequence[Mapping], fill: Any = 0) -> dict[str, np.ndarray]:
        """Return such an array of every value by name."""
        return {name: self.spread([x[name] for x in values], fill) for name in values[0]}


def fold_dataset(
    fold_of: Mapping[Place, Fold],
    shape: tuple[int, int],
    about: Provenance,
    options: FoldOptions,
    splitter: Any,
    confidence: float,
    left_out: LeftOutRates | None = None,
) -> xr.Dataset:
    """Return counts and rates over ``repeat, fold``, and their summaries over all folds.

    Intervals are those of `left_out` where it is given.
    """
    over, folds = ("repeat", "fold"), list(fold_of.values())
    places = _Places(fold_of, shape)
    there, spread = places.there, places.spread
    closed, judges = options.task == "closed_set", options.rule.name != "none"
    counts = places.spread_each([fold.counts for fold in folds])
    detected = places.spread_each([fold.detected for fold in folds])
    points = places.spread_each([fold.points for fold in folds], np.nan)
    sizes = {
        "train_subjects": spread([fold.subjects.train for fold in folds]),
        "test_subjects": spread([fold.subjects.test for fold in folds]),
    }
    variables: dict[str, tuple[tuple[str, ...], Any]] = {}
    if not closed and judges:
        threshold = spread([fold.threshold for fold in folds], np.nan)
        variables["threshold"] = (over, to_user(threshold, about.kind))
    defined = spread([fold.defined for fold in folds])
    attempts = {name: np.where(defined, n, 0) for name, n in counts.items()}
    ratios = _ratios(attempts, detected) if closed or judges else {}
    summed = [{k: x.sum(axis=(0, 1)) for k, x in y.items()} for y in (attempts, detected)]
    for name, values in {**ratios, **points}.items():
        variables[name] = ((*over, *dims_of_point(name)), values)
    for name, number in counts.items():
        if judges or closed or name.endswith("attempts"):
            variables[name] = (over, number)
    if closed:
        for part, hits in detected.items():
            variables[f"{part}cms_count"] = ((*over, "rank"), hits)
    variables |= along(over, **sizes)
    how = IntervalOverFolds(
        options.interval,
        confidence,
        test_size=float(sizes["test_subjects"][there].mean()),
        train_size=float(sizes["train_subjects"][there].mean()),
    )
    summaries = _summaries({**ratios, **points}, _ratios(*summed), there, how)
    if left_out is not None:
        limits = ends_by_subject(left_out)
        for name in ratios:
            _, low, high = limits.get(name, (np.nan, np.nan, np.nan))
            part, rate = _part_of(name)
            summaries[rate] |= {f"{part}low": low, f"{part}high": high}
    of_rates, statistics = _summarised(summaries)
    variables |= of_rates

    coordinates = {
        "repeat": np.arange(shape[0]),
        "fold": np.arange(shape[1]),
        "statistic": statistics,
    }
    if options.task != "verification":
        coordinates["rank"] = options.ranks
    if len(options.frr_targets):
        coordinates["frr_target"] = options.frr_targets
    if len(options.priors):
        coordinates["cost"] = options.priors
    if {"frr_at_far", "dir_at_far"} & points.keys():
        coordinates["far_target"] = options.targets
    searched, remark = _galleries(np.array([fold.galleries for fold in folds]))
    repeated = isinstance(splitter, partition.Experiment)
    unit = "repeat" if repeated else "fold"
    warnings: list[Message] = [
        *_warnings(ratios, counts, there, options, unit),
        *remark,
        *_unmated_warning(counts, about.layout),
        *_crossing_warning(counts, shape),
        *_few_attempts(counts | sizes, there, options, unit, about),
        *_infinite_warning(points),
    ]
    attrs = _attrs(options, splitter, confidence)
    if left_out is not None:
        warnings += left_out.remarks()
        attrs |= left_out.options.attrs()
        fixed = options.rule.name == "fixed"
        attrs["interval"] = INTERVAL_AT_THRESHOLD if fixed else INTERVAL_BY_SUBJECT
    if options.task != "verification":
        attrs["galleries"] = searched
    task = f"{options.in_words}, in {'repeated experiments' if repeated else 'folds'}"
    attrs = about_attrs(about, options.task.replace("_", "-"), task, warnings) | attrs
    return build(variables, cross_names(), coordinates, attrs)


Ends = tuple[float, float, float]


def ends_by_subject(
    pooled: PooledRates | LeftOutRates, known: Mapping[str, Ends] | None = None
) -> dict[str, Ends]:
    """Return each rate of all parts together, with its confidence limits by subject.

    Rates that are `known` with their limits, of a curve, take the place of the resampled ones.
    Where FAR or FRR is exactly 0 or 1 it is so in every resampling, which hides the uncertainty of
    a function of both, such as HTER: its interval then reaches at least to its values at the
    limits of FAR and FRR.
    """
    ends = pooled.rates() | dict(known or {})
    far = np.array(ends["far"])
    frr = np.array(ends["frr"])
    if far[0] in (0, 1) or frr[0] in (0, 1):
        for scalar in scalar_registry().at_threshold["folds"]:
            if scalar.of_rates is not None:
                value, low, high = ends[scalar.name]
                both = scalar.of_rates(far[1:], frr[1:]).tolist()
                ends[scalar.name] = value, min(low, *both), max(high, *both)
    return ends


def _ratios(
    counts: Mapping[str, np.ndarray], detected: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return every rate of both parts; the counts are of folds, or summed over folds."""
    ratios: dict[str, np.ndarray] = {}
    for prefix in PARTS:
        closed = f"{prefix}impostor_attempts" not in counts
        scalars = () if closed else scalar_registry().in_parts
        at_ranks = "cms" if closed else "dir"
        part = {k.removeprefix(prefix): n for k, n in counts.items() if k.startswith(prefix)}
        ratios |= {f"{prefix}{name}": x for name, x in rates_of(scalars, part).items()}
        if prefix in detected:
            genuine = part["genuine_attempts"][..., None]
            ratios[f"{prefix}{at_ranks}"] = ratio(detected[prefix], genuine)
    return ratios


@dataclass(frozen=True)
class IntervalOverFolds:
    """How the interval of a mean over folds is found; sizes are mean numbers of subjects."""

    method: str
    confidence: float
    test_size: float
    train_size: float

    def summary(self, column: np.ndarray, bounds: tuple[float, float]) -> dict[str, Any]:
        """Return the summaries of a rate over folds, but the pooled one."""
        # A part without a subject has no attempt either: then there is nothing to find.
        estimate = nadeau_bengio(
            column,
            max(self.test_size, 1e-9),
            max(self.train_size, 1e-9),
            confidence=self.confidence,
        )
        low, high = estimate.low, estimate.high
        if self.method == "quantile":
            there = column[~np.isnan(column)]
            if len(there) > 1:
                ends = (1 - self.confidence) / 2, (1 + self.confidence) / 2
                low, high = np.quantile(there, ends).tolist()
        elif _all_alike(column) or not self.train_size:
            low = high = np.nan
        return {
            "mean": estimate.mean,
            "sd": estimate.sd,
            "se": estimate.sd / max(estimate.folds, 1) ** 0.5,
            "low": max(low, bounds[0]),  # of NaN, which is not smaller, NaN
            "high": min(high, bounds[1]),
            "folds": estimate.folds,
        }


def dims_of_point(name: str) -> tuple[str, ...]:
    """Return the dimensions of a scalar within a fold."""
    dims = {"dir": ("rank",), "cms": ("rank",), "frr_at_far": ("far_target",)}
    dims |= {"far_at_frr": ("frr_target",)}
    dims["min_dcf"] = ("cost",)
    return {**dims, "dir_at_far": ("far_target", "rank")}.get(name.removeprefix("train_"), ())


def _part_of(name: str) -> tuple[str, str]:
    """Return what the name of a rate has before it if it is of training parts, and the rate."""
    rate = name.removeprefix("train_")
    return name.removesuffix(rate), rate


def _summaries(
    ratios: Mapping[str, np.ndarray],
    pooled: Mapping[str, np.ndarray],
    there: np.ndarray,
    how: IntervalOverFolds,
) -> dict[str, dict[str, Any]]:
    """Return mean, standard deviation, pooled value and interval of each rate over all folds."""
    summaries: dict[str, dict[str, Any]] = {}
    for name, values in ratios.items():
        part, rate = _part_of(name)
        limits = scalar_registry().averaged[rate].bounds
        inner = values.shape[2:]
        repeats = np.nonzero(there)[0]
        columns = values[there].reshape(len(repeats), math.prod(inner))
        if not columns.shape[1]:
            continue  # without a target
        with np.errstate(invalid="ignore"):  # an infinite Cllr has no spread
            of_columns = [how.summary(column, limits) for column in columns.T]
            if there.shape[0] > 1 and there.shape[1] > 1:
                for summary, column in zip(of_columns, columns.T, strict=True):
                    summary |= _of_repeats(column, repeats)
        of_rate = summaries.setdefault(rate, {})
        for key in Layout.STATISTICS:
            if key in of_columns[0]:
                values = np.array([summary[key] for summary in of_columns])
                of_rate[f"{part}{key}"] = values.reshape(inner)
        if name in pooled:
            of_rate[f"{part}pooled"] = np.asarray(pooled[name])
    return summaries


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


def splitter_attrs(splitter: Any) -> dict[str, Any]:
    """Return the attributes of a splitter: its text, its class, and its seed if it is a number."""
    attrs: dict[str, Any] = {"splitter": repr(splitter), "splitter_class": type(splitter).__name__}
    seed = getattr(splitter, "random_state", None)
    if isinstance(seed, int | np.integer):
        attrs["splitter_seed"] = int(seed)
    return attrs


def _attrs(options: FoldOptions, splitter: Any, confidence: float) -> dict[str, Any]:
    """Return the attributes of the options, and on what a threshold is chosen."""
    attrs = {**splitter_attrs(splitter), "confidence": float(confidence)}
    if options.interval == "quantile":
        attrs |= {"interval_method": "quantile", "interval": SPREAD, "interval_for": "these people"}
    else:
        attrs |= {"interval_method": "nadeau-bengio", "interval": CORRECTED}
        attrs["interval_for"] = "folds like these"
    attrs["interval_unit"] = "folds"
    if options.claims is not None:
        attrs["claims"] = repr(options.claims)
    if options.task == "verification":
        attrs["templates"] = options.templates
    else:
        attrs |= {"rank_unit": options.rank_unit, "ties": options.ties}
    attrs["fusion"] = options.fusion if options.fuses else "none"
    if options.task == "open_set":
        attrs["impostors"] = options.impostors
    if options.task != "closed_set" and options.rule.name != "none":
        unit = "fold"
        validates = type(splitter).__name__ == "TrainValidationTest"
        if isinstance(splitter, partition.Experiment):
            unit, validates = "repeat", bool(splitter.validation)
        part = "validation" if validates else "training"
        chosen = "given"
        if options.rule.name != "fixed":
            chosen = f"the {part} part of each {unit}"
        attrs |= {"chosen_on": chosen, "threshold_rule": str(options.rule)}
        attrs["threshold_rule_in_words"] = options.rule.words
    return attrs


def _warnings(
    ratios: Mapping[str, np.ndarray],
    counts: Mapping[str, np.ndarray],
    there: np.ndarray,
    options: FoldOptions,
    unit: str,
) -> Iterator[Message]:
    """Yield messages of rates that are not defined in each fold, or without a spread."""
    number = int(there.sum())
    yield from without_attempts(
        {name: values[there] for name, values in counts.items()}, number, unit
    )
    for name in ("far", "frr", "cms"):
        if name not in ratios:
            continue
        values = ratios[name]
        if values.ndim != 2:
            values = values[..., 0]
        attempts = counts["impostor_attempts" if name == "far" else "genuine_attempts"]
        missing = int(np.isnan(values[there & (attempts > 0)]).sum())
        if missing:
            yield Message(
                "rate-undefined-in-parts", rate=name, missing=missing, number=number, unit=unit
            )
        if options.interval == "nadeau-bengio" and _all_alike(values[there]):
            value = int(np.nanmax(values[there]))
            yield Message("no-spread-between-parts", rate=name, value=value, unit=unit)
    if number == 1:
        yield Message("one-part", unit=unit)


def without_attempts(
    attempts: Mapping[str, np.ndarray], number: int, unit: str
) -> Iterator[Message]:
    """Yield messages of parts without an attempt of a class, of the attempts in each by class."""
    for role in ("genuine", "impostor"):
        if f"{role}_attempts" in attempts:
            missing = int(np.count_nonzero(attempts[f"{role}_attempts"] == 0))
            if missing:
                yield Message(
                    f"no-{role}-attempt-in-parts", missing=missing, number=number, unit=unit
                )


def _unmated_warning(counts: Mapping[str, np.ndarray], layout: str) -> list[Message]:
    """Return a message of the probes that closed set leaves out."""
    if "skipped" not in counts or layout == "all-against-all":
        return []
    skipped = int(counts["skipped"].sum())
    if not skipped:
        return []
    return [Message("probes-of-test-without-mate", probes=skipped)]


def _crossing_warning(counts: Mapping[str, np.ndarray], shape: tuple[int, int]) -> list[Message]:
    """Return a message of the pairs tested in no fold: their subjects are in two folds."""
    if "crossing_pairs" not in counts:
        return []
    crossing = counts["crossing_pairs"].sum()
    if not crossing:
        return []
    tested = counts["genuine_attempts"].sum() + counts["impostor_attempts"].sum()
    repeats, folds = shape
    left_out = crossing / repeats / min(folds, 2)  # a pair crosses into both of its folds
    return [Message("pairs-across-parts", pairs=round(left_out), tested=round(tested / repeats))]


def _few_attempts(
    counts: Mapping[str, np.ndarray],
    there: np.ndarray,
    options: FoldOptions,
    unit: str,
    about: Provenance,
) -> list[Message]:
    """Return messages of the targets for which a test part has too few people or attempts."""
    if options.far_targets is None or options.task == "closed_set":
        return []
    genuine = int(counts["genuine_attempts"][there].min())
    impostor = int(counts["impostor_attempts"][there].min())
    rate = "dir" if options.task == "open_set" else "frr"
    people = None
    if options.task == "verification" and about.people is not None:
        people = ComparedPeople.among(int(counts["test_subjects"][there].min()))
    remarks = support_messages(options.far_targets, impostor, False, rate, people)
    remarks += support_messages(options.frr_targets, genuine, False, "far", people, "frr")
    more = "fewer folds have" if unit == "fold" else "a larger test part has"
    return [
        x.concerning(options.in_words, f"the smallest test part ({more} more people)")
        for x in remarks
    ]


def _infinite_warning(points: Mapping[str, np.ndarray]) -> list[Message]:
    """Return a message of the folds whose log-likelihood ratios have an infinite cost."""
    if "cllr" not in points:
        return []
    number = int(np.isinf(points["cllr"]).sum())
    if not number:
        return []
    return [Message("infinite-cllr", parts=number)]


def _galleries(sizes: np.ndarray) -> tuple[str, list[Message]]:
    """Return the gallery sizes of both parts in words, and a message where they differ.

    `sizes` has a row for each fold: the size in the training part, and in the test part.
    """
    train, test = sizes.T
    if not train.any():
        return f"galleries of the test parts: {span(test)} subjects", []
    sizes_in_words = f"galleries: training {span(train)} subjects, test {span(test)}"
    if (np.abs(train - test) <= ALIKE * np.maximum(train, test)).all():
        return sizes_in_words, []
    return f"{sizes_in_words}: rates are not comparable", [Message("galleries-of-different-sizes")]


def span(counts: Sequence[int] | np.ndarray) -> str:
    """Return the smallest and the largest of some counts in words."""
    low, high = min(counts), max(counts)
    if low == high:
        return f"{low:,}"
    return f"{low:,} to {high:,}"


def _summarised(summaries: Mapping[str, Mapping[str, Any]]) -> tuple[Variables, np.ndarray]:
    """Return a variable over ``statistic`` for each rate, and the statistics that any rate has.

    `summaries` has the values of each statistic by the rate.
    """
    known = {*itertools.chain.from_iterable(summaries.values())}
    labels = []
    for part in PARTS:
        labels += [part + key for key in Layout.STATISTICS if part + key in known]
    variables = {}
    for rate, values in summaries.items():
        rows = np.full((len(labels), *np.shape(values["mean"])), np.nan)
        for i, label in enumerate(labels):
            rows[i] = values.get(label, np.nan)
        variables[f"{rate}_summary"] = (("statistic", *dims_of_point(rate)), rows)
    return variables, np.array(labels)
