"""Results over folds as a dataset: counts and rates of each fold, and their summaries."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bioeval.base.errors import counted
from bioeval.base.scalars import CMS, DIR, RATES_OF
from bioeval.base.variables import CROSS
from bioeval.evaluation.cross.options import FoldOptions
from bioeval.results.dataset import about_attrs, build
from bioeval.scores.about import About
from bioeval.stats.pooled import PooledRates
from bioeval.stats.repeated import nadeau_bengio
from bioeval.tallies.by_fold.thresholds import Judged
from bioeval.tallies.thresholds import to_user

if TYPE_CHECKING:
    import xarray as xr

PARTS = ("", "train_")

INTERVAL_BY_SUBJECT = (
    "of the pooled rate, by resampling subjects; each fold keeps its threshold, and what choosing "
    "it adds is left out"
)

# Hint where the spread over folds gives no interval.
BOUND = '; interval="subject-bootstrap" has a bound'

# Relative difference of gallery sizes that is ignored: halves of an odd number.
ALIKE = 0.1

# Summaries of a rate over all folds, in the order of the variables.
SUMMARIES = ("mean", "sd", "pooled", "low", "high", "folds")


@dataclass
class Fold:
    """Counts of one fold.

    Attributes
    ----------
    threshold : float
        As a distance.
    defined : bool
        Whether a threshold could be chosen.
    counts : dict of str to int
        With ``train_`` before the names of the training part's.
    detected : dict of str to int array
        For each part, by its prefix, the genuine attempts detected, or identified, at each rank
        or better.
    train_subjects, test_subjects : int
    galleries : tuple of int
        Of identification: the subjects in the gallery of the training part and of the test part.
    """

    threshold: float
    defined: bool
    counts: dict[str, int]
    train_subjects: int
    test_subjects: int
    detected: dict[str, np.ndarray] = field(default_factory=dict)
    galleries: tuple[int, int] = (0, 0)

    @classmethod
    def of_judged(cls, judged: Judged, train_subjects: int, test_subjects: int) -> Fold:
        """Count both parts at the threshold."""
        counts: dict[str, int] = {}
        for prefix, attempts in (("", judged.test), ("train_", judged.train)):
            genuine, impostor = attempts.genuine_attempts, attempts.impostor_attempts
            counts[f"{prefix}genuine_attempts"] = genuine
            counts[f"{prefix}impostor_attempts"] = impostor
            fa = fr = ga = gr = 0
            if judged.chosen.defined:
                fa, fr = judged.chosen.counts(attempts)
                ga, gr = genuine - fr, impostor - fa
            found = {"ga": ga, "fr": fr, "fa": fa, "gr": gr}
            counts |= {f"{prefix}{name}": n for name, n in found.items()}
        chosen = judged.chosen
        return cls(chosen.threshold, chosen.defined, counts, train_subjects, test_subjects)

    @classmethod
    def of_ranks(
        cls,
        train: tuple[np.ndarray, int],
        test: tuple[np.ndarray, int],
        ranks: np.ndarray,
        train_subjects: int,
        test_subjects: int,
    ) -> Fold:
        """Count the probes identified at each rank or better, without any threshold.

        Of each part the ranks, and the number of probes without a mate.
        """
        made = cls(np.nan, True, {}, train_subjects, test_subjects)
        for prefix, (found, skipped) in (("", test), ("train_", train)):
            made.counts[f"{prefix}genuine_attempts"] = len(found)
            made.counts[f"{prefix}skipped"] = skipped
            made.detected[prefix] = np.array([int((found <= k).sum()) for k in ranks])
        return made


def fold_dataset(
    found: Mapping[tuple[int, int], Fold],
    shape: tuple[int, int],
    about: About,
    options: FoldOptions,
    splitter: Any,
    confidence: float,
    resampled: PooledRates | None = None,
) -> xr.Dataset:
    """Return counts and rates over ``repeat, fold``, and their summaries over all folds.

    Intervals are those of `resampled` where it is given.
    """
    over = ("repeat", "fold")
    closed = options.task == "closed_set"
    there = np.zeros(shape, dtype=bool)
    defined = np.zeros(shape, dtype=bool)
    first = next(iter(found.values()))
    counts = {name: np.zeros(shape, dtype=np.int64) for name in first.counts}
    sizes = {f"{part}_subjects": np.zeros(shape, dtype=np.int64) for part in ("train", "test")}
    threshold = np.full(shape, np.nan)
    detected = {
        prefix: np.zeros((*shape, len(options.ranks)), dtype=np.int64) for prefix in first.detected
    }
    for place, fold in found.items():
        there[place], defined[place] = True, fold.defined
        threshold[place] = fold.threshold
        for name, n in fold.counts.items():
            counts[name][place] = n
        for prefix, hits in fold.detected.items():
            detected[prefix][place] = hits
        sizes["train_subjects"][place] = fold.train_subjects
        sizes["test_subjects"][place] = fold.test_subjects

    variables: dict[str, tuple[tuple[str, ...], Any]] = {}
    if not closed:
        variables["threshold"] = (over, to_user(threshold, about.kind))
    ratios = _ratios(counts, detected, defined, closed)
    for name, (_, values) in ratios.items():
        variables[name] = (over if values.ndim == 2 else (*over, "rank"), values)
    variables |= {name: (over, n) for name, n in counts.items()}
    if closed:
        variables |= {f"{p}cms_count": ((*over, "rank"), hits) for p, hits in detected.items()}
    variables |= {name: (over, n) for name, n in sizes.items()}
    variables |= _summaries(ratios, sizes, there, confidence)
    if resampled is not None:
        limits = ends_by_subject(resampled)
        for name in ratios:
            _, low, high = limits.get(name, (np.nan, np.nan, np.nan))
            variables |= {f"{name}_low": ((), low), f"{name}_high": ((), high)}

    coordinates = {"repeat": np.arange(shape[0]), "fold": np.arange(shape[1])}
    if detected:
        coordinates["rank"] = options.ranks
    attrs = _attrs(about, options, splitter, confidence)
    if resampled is not None:
        attrs |= resampled.options.attrs()
        attrs["interval"] = INTERVAL_BY_SUBJECT
    searched, remark = _galleries([fold.galleries for fold in found.values()])
    if options.task != "verification":
        attrs["galleries"] = searched
    attrs["warnings"] = "\n".join(
        [
            *filter(None, attrs["warnings"].split("\n")),
            *_warnings(ratios, there, options),
            *remark,
            *_unmated_warning(counts, about.layout),
            *(() if resampled is None else resampled.remarks()),
        ]
    )
    return build(variables, CROSS, coordinates, attrs)


def ends_by_subject(pooled: PooledRates) -> dict[str, tuple[float, float, float]]:
    """Return each rate of all parts together, with its confidence limits by subject.

    Where FAR or FRR is exactly 0 or 1 it is so in every resampling, which hides the uncertainty of
    a function of both, such as HTER: its interval then reaches at least to its values at the
    limits of FAR and FRR.
    """
    found = pooled.rates()
    far, frr = (np.array(found[name]) for name in ("far", "frr"))
    if far[0] in (0, 1) or frr[0] in (0, 1):
        for scalar in RATES_OF["folds"]:
            if scalar.of_rates is not None:
                value, low, high = found[scalar.name]
                both = [float(x) for x in scalar.of_rates(far[1:], frr[1:])]
                found[scalar.name] = value, min(low, *both), max(high, *both)
    return found


# A rate as its numerator and denominator (for the pooled value) and its value in each fold.
_Ratio = tuple[tuple[np.ndarray, np.ndarray] | None, np.ndarray]


def _ratios(
    counts: Mapping[str, np.ndarray],
    detected: Mapping[str, np.ndarray],
    defined: np.ndarray,
    closed: bool,
) -> dict[str, _Ratio]:
    """Return every rate of both parts."""
    ratios: dict[str, _Ratio] = {}
    for prefix in PARTS:
        genuine = np.where(defined, counts[f"{prefix}genuine_attempts"], 0)
        if not closed:
            impostor = np.where(defined, counts[f"{prefix}impostor_attempts"], 0)
            of = {"genuine_attempts": genuine, "impostor_attempts": impostor}
            for scalar in RATES_OF["folds"]:
                if scalar.quotient:
                    above, below = scalar.quotient
                    ratios[prefix + scalar.name] = _ratio(
                        _sum(counts[prefix + name] for name in above),
                        _sum(of[name] for name in below),
                    )
                elif scalar.of_rates is not None:
                    far, frr = (ratios[prefix + name][1] for name in ("far", "frr"))
                    ratios[prefix + scalar.name] = None, scalar.of_rates(far, frr)
        if prefix in detected:
            name = "cms" if closed else "dir"
            ratios[prefix + name] = _ratio(detected[prefix], genuine[..., None])
    return ratios


def _sum(arrays: Iterable[np.ndarray]) -> np.ndarray:
    return functools.reduce(np.add, arrays)


def _ratio(count: np.ndarray, attempts: np.ndarray) -> _Ratio:
    with np.errstate(invalid="ignore"):
        values = np.where(attempts > 0, count / np.where(attempts > 0, attempts, 1), np.nan)
    return (count, np.broadcast_to(attempts, count.shape)), values


def _summaries(
    ratios: Mapping[str, _Ratio],
    sizes: Mapping[str, np.ndarray],
    there: np.ndarray,
    confidence: float,
) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Return mean, standard deviation, pooled value and interval of each rate over all folds."""
    test = float(sizes["test_subjects"][there].mean())
    train = float(sizes["train_subjects"][there].mean())
    variables: dict[str, tuple[tuple[str, ...], Any]] = {}
    bounds = {scalar.name: scalar.bounds for scalar in (*RATES_OF["folds"], DIR, CMS)}
    for name, (pair, values) in ratios.items():
        limits = bounds[name.removeprefix("train_")]
        columns = values[there].reshape(int(there.sum()), -1)
        found = [_summary(column, test, train, confidence, limits) for column in columns.T]
        dims = () if values.ndim == 2 else ("rank",)
        summary = {key: np.array([one[key] for one in found]) for key in found[0]}
        summary["pooled"] = _pooled(name, pair, ratios)
        for key in SUMMARIES:
            value = np.asarray(summary[key])
            shaped = value.reshape(()) if not dims else value
            variables[f"{name}_{key}"] = (dims, shaped[()] if not dims else shaped)
    return variables


def _summary(
    column: np.ndarray, test: float, train: float, confidence: float, bounds: tuple[float, float]
) -> dict[str, Any]:
    # A part without a subject has no attempt either: then there is nothing to find.
    found = nadeau_bengio(column, max(test, 1e-9), max(train, 1e-9), confidence=confidence)
    known = found.low == found.low and not _all_alike(column)
    return {
        "mean": found.mean,
        "sd": found.sd,
        "low": max(found.low, bounds[0]) if known else np.nan,
        "high": min(found.high, bounds[1]) if known else np.nan,
        "folds": np.int64(found.folds),
    }


def _all_alike(column: np.ndarray) -> bool:
    """Return whether the rate is 0 in every fold, or 1 in every fold: there is no spread."""
    there = column[~np.isnan(column)]
    return len(there) > 1 and bool((there == there[0]).all()) and there[0] in (0, 1)


def _pooled(
    name: str, pair: tuple[np.ndarray, np.ndarray] | None, ratios: Mapping[str, _Ratio]
) -> np.ndarray:
    """Return the rate of all folds' attempts together."""
    if pair is None:  # a function of the pooled FAR and FRR
        prefix = "train_" if name.startswith("train_") else ""
        (of_rates,) = (x.of_rates for x in RATES_OF["folds"] if prefix + x.name == name)
        assert of_rates is not None
        far, frr = (_pooled(prefix + x, ratios[prefix + x][0], ratios) for x in ("far", "frr"))
        return of_rates(far, frr)
    count, attempts = (part.sum(axis=(0, 1)) for part in pair)
    return np.asarray(_ratio(np.asarray(count), np.asarray(attempts))[1])


def _attrs(about: About, options: FoldOptions, splitter: Any, confidence: float) -> dict[str, Any]:
    words = {
        "verification": f"verification, {options.templates}-template",
        "open_set": "open-set identification",
        "closed_set": "closed-set identification",
    }
    attrs: dict[str, Any] = about_attrs(about, f"{words[options.task]}, in folds", [])
    attrs |= {
        "splitter": repr(splitter),
        "confidence": float(confidence),
        "interval_method": "nadeau-bengio",
        "interval": "of the mean, corrected for overlapping training parts (Nadeau and Bengio "
        "2003); a heuristic",
    }
    if options.task == "verification":
        attrs |= {
            "templates": options.templates,
            "fusion": options.fusion if options.templates == "multi" else "none",
        }
    else:
        fused = options.rank_unit == "subject"
        attrs |= {
            "rank_unit": options.rank_unit,
            "fusion": options.fusion if fused else "none",
            "ties": options.ties,
        }
    if options.task == "open_set":
        attrs["impostors"] = options.impostors
    if options.task != "closed_set":
        part = "validation" if type(splitter).__name__ == "TrainValidationTest" else "training"
        chosen = "given" if options.rule.name == "fixed" else f"the {part} part of each fold"
        attrs |= {"chosen_on": chosen, "threshold_rule": str(options.rule)}
        attrs["threshold_rule_in_words"] = options.rule.words
    return attrs


def _warnings(ratios: Mapping[str, _Ratio], there: np.ndarray, options: FoldOptions) -> list[str]:
    said = []
    number = int(there.sum())
    closed = options.task != "verification"
    for name in ("far", "frr", "cms"):
        if name not in ratios:
            continue
        values = ratios[name][1]
        values = values if values.ndim == 2 else values[..., 0]
        missing = int(np.isnan(values[there]).sum())
        if missing:
            said.append(
                f"{name.upper()} is not defined in {missing} of {number} folds, which are left "
                "out of its mean: no attempt of its class, or none to choose a threshold on"
            )
        if options.interval == "nadeau-bengio" and _all_alike(values[there]):
            value = int(np.nanmax(values[there]))
            said.append(
                f"{name.upper()} is {value} in every fold: the spread between folds is 0 and says "
                "nothing, so there is no interval" + ("" if closed else BOUND)
            )
    if number == 1:
        said.append("there is one fold only: no interval and no standard deviation")
    return said


def _unmated_warning(counts: Mapping[str, np.ndarray], layout: str) -> list[str]:
    skipped = int(counts["skipped"].sum()) if "skipped" in counts else 0
    if not skipped or layout == "all-against-all":
        return []
    return [
        f"{counted(skipped, 'probes')} without a mate in the gallery of the test part left out; "
        "a closed set requires enrolment"
    ]


def _galleries(sizes: list[tuple[int, int]]) -> tuple[str, list[str]]:
    """Return the gallery sizes of both parts in words, and a warning where they differ."""
    train, test = (_span([size[part] for size in sizes]) for part in (0, 1))
    said = f"training is searched in galleries of {train} subjects, test in {test}"
    if all(abs(a - b) <= ALIKE * max(a, b) for a, b in sizes):
        return said, []
    return f"{said}: not comparable", [
        "training and test are searched in galleries of different sizes, which alone makes their "
        "rates differ: a smaller one makes fewer errors"
    ]


def _span(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
