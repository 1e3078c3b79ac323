"""The result of an evaluation in folds: counts and rates of both parts of each fold."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval import partition
from bioeval.base.errors import Message
from bioeval.base.kinds import Kind
from bioeval.counting.operating_points import COST_LABELS
from bioeval.counting.thresholds import to_user
from bioeval.partition.any_splitter import record_of
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import FIRST, Variables, dataset, rates_of, variables_over
from bioeval.results.support import (
    beyond_scores,
    following_scores,
    independent_searches,
    support_messages,
    supported,
)
from bioeval.results.variables import (
    FOLDS,
    NEXT,
    SUPPORTED,
    TASKS,
    VERIFICATION,
    Variable,
    described,
    rates_of_folds,
    rates_of_scripts,
)
from bioeval.scores.matrix import Scores
from bioeval.scores.people import ComparedPeople
from bioeval.scores.provenance import Provenance
from bioeval.stats.aggregate import attrs_of_interval
from bioeval.stats.weighted_sums import ratio
from bioeval.studies.folds.loop import FoldOptions
from bioeval.studies.folds.splits import SplitPlan

#: Labels of the dimension `part`: the threshold is chosen on the first, and judged on both.
PARTS = ("train", "test")

#: The numbers of the splits of a plan, as arrays by name. Splits are in the order of `plan.splits`,
#: parts in the order of :data:`PARTS`.
#:
#: Arrays over (split, part, ...):
#:
#: - ``subjects``
#: - verification and open set: ``genuine_attempts impostor_attempts ga fr fa gr``; decisions are 0
#:   without a threshold
#: - drawn claims: ``fa_unenrolled unenrolled_attempts``
#: - open set: ``di`` (exactly at each rank) and ``detected`` (up to each rank)
#: - closed set: ``attempts skipped``, and ``cms_count`` at each rank
#: - open and closed set: ``gallery_subjects``
#:
#: Arrays over (split, ...):
#:
#: - ``threshold`` and ``threshold_next`` (distances), ``defined`` (whether there is a threshold)
#: - the operating points of the test part (:data:`POINTS_OF_PARTS`)
#: - ``crossing_pairs``
#: - open set: ``searching``, the people of the test part who search without a mate
#: - for messages: ``shared_subjects`` (in both parts), and ``tied`` (searches of the test part)
SplitNumbers = Mapping[str, np.ndarray]

#: Variables that are described for folds; all others are described as in a single evaluation.
OF_FOLDS: dict[str, Variable] = {
    "gar": replace(VERIFICATION["gar"], detail="data"),
    "grr": replace(VERIFICATION["grr"], detail="data"),
    "threshold": Variable(
        "threshold chosen on the training part",
        "score",
        "threshold T",
        shown="threshold",
        label="threshold",
        detail="verbose",
    ),
    "subjects": Variable(
        "subjects of the part (pairs without subjects: pairs)",
        "subjects",
        label="subjects",
        detail="data",
    ),
    "gallery_subjects": Variable(
        "subjects in the gallery of the part",
        "subjects",
        label="subjects in the gallery",
        detail="data",
    ),
    "crossing_pairs": Variable(
        "pairs of a subject of the test part and one outside it",
        "pairs",
        label="pairs across the parts",
        detail="data",
    ),
}

#: The thresholds, as distances among the numbers of splits.
_THRESHOLDS = ("threshold", "threshold_next")

#: The counts of decisions, which a fold without a threshold does not have.
_DECISIONS = ("ga", "fr", "fa", "gr", "di", "detected", "fa_unenrolled")

# Rates at the threshold of the fold come before operating points of the test part.
_FIRST = ("threshold", "far", "frr", "hter", "dir", "cms", *FIRST)

# A relative difference of gallery sizes up to this is ignored: halves of an odd number differ.
ALIKE = 0.1


def fold_dataset(
    numbers: SplitNumbers,
    plan: SplitPlan,
    about: Provenance,
    options: FoldOptions,
    scores: Scores | None = None,
) -> xr.Dataset:
    """Return counts and rates over ``repeat, fold`` and ``part``.

    NaN are counts of decisions without a threshold, and all values of a fold that a repeat lacks;
    such counts are float64. `scores` are those of all folds, None if each has new ones.
    """
    # Thresholds are in units of the scores; decisions without a threshold are NaN.
    values = dict(numbers)
    if options.has_threshold and options.rule.name == "none":
        for name in (*_THRESHOLDS, *_DECISIONS):
            values.pop(name, None)
    elif options.has_threshold:
        for name in _THRESHOLDS:
            values[name] = to_user(values[name], about.kind)
        is_missing = ~values["defined"]
        if is_missing.any():
            for name in values.keys() & _DECISIONS:
                values[name] = np.where(is_missing, np.nan, values[name].T).T
    rates: dict[str, np.ndarray] = {}
    if "fa" in values:
        rates = rates_of((*rates_of_folds(), VERIFICATION["far_unenrolled"]), values)
    for name, count, attempts in (
        ("dir", "detected", "genuine_attempts"),
        ("cms", "cms_count", "attempts"),
    ):
        if count in values:
            rates[name] = ratio(values[count], values[attempts][..., None])
    values |= rates | _support(values, about, options)
    messages = list(_messages(values, plan, options, about))
    if options.rule.name == "fixed" and {"fa", "fr"} <= {*values}:
        threshold = options.rule.values[0]
        far, frr = (_pooled(values, name) for name in ("far", "frr"))
        following = np.full(1, np.nan)
        if scores is not None:  # FRR of searches has those of a wrong rank, too
            searches = options.task == "open_set" and far > 0.5
            following = following_scores(scores, [threshold], always=searches)
            if searches and np.isinf(following) and not any(scores.failures):
                frr = 0.0
        messages += beyond_scores(threshold, far, frr, *following)

    # The variables, and their descriptions.
    scripts = {x.name: x for x in rates_of_scripts()}
    first = {"threshold": OF_FOLDS["threshold"]}
    names = {**first, **VERIFICATION, **FOLDS, **scripts, **TASKS[options.task], **OF_FOLDS}
    variables: Variables = {}
    for name in filter(values.__contains__, names):
        for variable in filter(values.__contains__, (name, f"{name}{NEXT}", f"{name}{SUPPORTED}")):
            about_variable = described(names, variable)
            variables[variable] = _at_repeat_and_fold(values[variable], plan, about_variable)
    if len(options.priors):
        equal = np.ones_like(options.priors)
        costs = (options.priors, equal, equal)
        variables |= variables_over(("cost",), **dict(zip(COST_LABELS, costs, strict=True)))

    # The attributes.
    words = options.in_words
    if options.task == "verification" and about.use_title:
        words = f"verification, {about.use_title}"
    task = f"{words}, in {'repeated experiments' if plan.by_parts else 'folds'}"
    attrs = about_attrs(about, options.task.replace("_", "-"), task, messages)
    attrs |= {"folds": plan.digest, **_attributes(options, plan.splitter, about.kind)}
    if "shared_subjects" in values:
        attrs["subjects_in_both_parts"] = int(values["shared_subjects"].max())
    repeats, folds = plan.shape
    coordinates = {
        "repeat": np.arange(repeats),
        "fold": np.arange(folds),
        "part": np.array(PARTS),
    }
    if options.task != "verification":
        coordinates["rank"] = options.ranks
    if len(options.frr_targets):
        coordinates["frr_target"] = options.frr_targets
    if len(options.priors):
        coordinates["cost"] = options.priors
    if options.far_targets is not None and options.has_threshold:
        coordinates["far_target"] = options.far_targets
    return dataset(variables, names, coordinates, attrs, _FIRST)


def _support(
    values: SplitNumbers, about: Provenance, options: FoldOptions
) -> dict[str, np.ndarray]:
    if options.far_targets is None or options.task == "closed_set":
        return {}
    genuine, impostor = (values[f"{role}_attempts"][:, 1] for role in ("genuine", "impostor"))
    searched = options.task == "open_set"
    if about.people is not None:
        people = values["subjects"][:, 1]
        genuine = np.minimum(genuine, people)
        if searched:
            impostor = independent_searches(impostor, values["searching"])
        else:
            impostor = np.minimum(impostor, people * (people - 1) // 2)
    at_far = "dir_at_far" if searched else "frr_at_far"
    return {
        f"{at_far}{SUPPORTED}": supported(options.far_targets, impostor),
        f"far_at_frr{SUPPORTED}": supported(options.frr_targets, genuine),
    }


def _pooled(values: SplitNumbers, name: str) -> float:
    """Return a rate of all test parts together; NaN without attempts."""
    quotient = VERIFICATION[name].quotient
    assert quotient is not None
    count, attempts = (float(values[x][:, 1].sum()) for (x,) in quotient)
    return count / attempts if attempts else math.nan


def _at_repeat_and_fold(
    values: np.ndarray, plan: SplitPlan, about: Variable
) -> tuple[tuple[str, ...], np.ndarray]:
    """Return values over splits as a variable over ``repeat, fold``; NaN for a missing fold."""
    inner = tuple(dim for dim in about.dims if dim != "threshold")
    parts = ("part",) if values.ndim - len(inner) == 2 else ()
    shape = *plan.shape, *values.shape[1:]
    if len(plan.splits) == math.prod(plan.shape):
        placed = np.empty(shape, values.dtype)
    else:
        placed = np.full(shape, np.nan)
    placed[tuple(np.array(list(plan.splits)).T)] = values
    return ("repeat", "fold", *parts, *inner), placed


def _attributes(options: FoldOptions, splitter: Any, kind: Kind) -> dict[str, Any]:
    attrs: dict[str, Any] = {**record_of(splitter), **attrs_of_interval(options.interval)}
    if options.claims is not None:
        attrs["claims"] = repr(options.claims)
    if options.task == "verification":
        attrs |= options.use.of_kind(kind).attrs
    else:
        search = options.search.of_kind(kind)
        attrs |= {"rank_unit": search.rank_unit, "fusion": search.fused, "ties": search.ties}
    if options.task == "open_set":
        attrs["impostors"] = options.search.impostors
    if options.task != "closed_set" and options.rule.name != "none":
        unit = "repeat" if isinstance(splitter, partition.Experiment) else "fold"
        attrs |= options.rule.attrs(f"the {_first_part(splitter)} part of each {unit}")
    return attrs


def _first_part(splitter: Any) -> str:
    """Return what the part beside the test part is: training or validation."""
    validates = type(splitter).__name__ == "TrainValidationTest"
    if isinstance(splitter, partition.Experiment):
        validates = bool(splitter.validation)
    return "validation" if validates else "training"


def _messages(
    values: SplitNumbers, plan: SplitPlan, options: FoldOptions, about: Provenance
) -> Iterator[Message]:
    splits = len(plan.splits)
    unit = "repeat" if plan.by_parts else "fold"
    genuine = "attempts" if options.task == "closed_set" else "genuine_attempts"
    attempts = {"genuine_attempts": values[genuine][:, 1]}  # attempts of the test parts, by class
    if "impostor_attempts" in values:
        attempts["impostor_attempts"] = values["impostor_attempts"][:, 1]

    # Subjects in both parts, and rates without a value or without spread.
    shared = values.get("shared_subjects", np.zeros(1, dtype=np.int64))
    if shared.any():
        about_parts = {"parts": int(np.count_nonzero(shared)), "number": splits, "unit": unit}
        yield Message("subjects-in-both-parts", subjects=int(shared.max()), **about_parts)
    yield from parts_without_attempts(attempts, splits, unit)
    yield from _messages_on_rates(values, options, attempts, unit)
    if splits == 1:
        yield Message("one-part", unit=unit)

    if "gallery_subjects" in values:
        sizes = values["gallery_subjects"]
        is_apart = np.abs(sizes[:, 0] - sizes[:, 1]) > ALIKE * sizes.max(axis=1)
        if sizes[:, 0].any() and is_apart.any():
            train, test = (np.unique(x).tolist() for x in sizes.T)
            first = _first_part(plan.splitter)
            yield Message("galleries-of-different-sizes", part=first, train=train, test=test)
    skipped = int(values["skipped"][:, 1].sum()) if "skipped" in values else 0
    if skipped and about.layout != "all-against-all":
        yield Message("probes-without-mate", probes=skipped, where=" of the test part")
    if "crossing_pairs" in values and (crossing := int(values["crossing_pairs"].sum())):
        tested = int(sum(counts.sum() for counts in attempts.values()))
        repeats, folds = plan.shape
        left_out = crossing / repeats / min(folds, 2)  # a pair crosses into both of its folds
        yield Message("pairs-across-parts", pairs=round(left_out), tested=round(tested / repeats))

    # Targets that the test parts are too small for, infinite costs, and ties.
    if options.far_targets is not None and options.has_threshold:
        searched = options.task == "open_set"
        people = None
        if about.people is not None:
            people = int(values["subjects"][:, 1].min())
            if searched:
                people = int(values["searching"].min()) or None
        genuine_attempts, impostor_attempts = (int(x.min()) for x in attempts.values())
        messages = support_of_parts(
            options.far_targets,
            options.frr_targets,
            genuine_attempts,
            impostor_attempts,
            people,
            searched=searched,
        )
        for message in messages:
            yield message.concerning(f"smallest test part ({options.in_words})")
    if "tied" in values and (tied := int(values["tied"].sum())):
        probes = int(attempts["genuine_attempts"].sum())
        yield Message("ties-in-partitions", tied=tied, probes=probes, number=splits)


def _messages_on_rates(
    values: SplitNumbers, options: FoldOptions, attempts: Mapping[str, np.ndarray], unit: str
) -> Iterator[Message]:
    for name in ("far", "frr", "cms"):
        if name not in values:
            continue
        rate = values[name][:, 1]
        if rate.ndim > 1:
            rate = rate[:, 0]
        counts = attempts["impostor_attempts" if name == "far" else "genuine_attempts"]
        undefined = np.isnan(rate) & (counts > 0)
        missing = int(undefined.sum())
        if missing:
            reason = "there are no attempts to choose a threshold on"
            if "defined" in values and all(values[x][undefined, 0].all() for x in attempts):
                reason = f"too many comparisons failed for {options.rule.words}"
            yield undefined_in_parts(f"{{{name}}}", missing, len(rate), unit, reason)
    if options.interval.method != "nadeau-bengio":
        return
    # A rate without spread has no interval; of a curve over ranks, each rank by itself.
    terms = {"task": "identification"} if options.task == "open_set" else {}
    for name in ("far", "frr", "cms", "eer", "auc"):
        if name not in values:
            continue
        rates = values[name]
        rates = (rates[:, 1] if rates.ndim > 1 else rates).reshape(len(rates), -1)
        ranks_with: dict[Any, list[int]] = {}
        for rate, rank in zip(rates.T, options.ranks if name == "cms" else [1], strict=False):
            defined = rate[~np.isnan(rate)]
            if len(defined) > 1 and bool(np.ptp(defined) <= 1e-12 * defined.max()):
                equal = float(np.nanmax(rate))
                value = int(equal) if equal in (0, 1) else f"{100 * equal:.3g} %"
                ranks_with.setdefault(value, []).append(int(rank))
        for value, ranks in ranks_with.items():
            about = {"rate": name, "value": value, "unit": unit, **terms}
            if name == "cms" and ranks != [1]:
                about["ranks"] = ranks
            yield Message("no-spread-between-parts", **about)


def parts_without_attempts(
    attempts: Mapping[str, np.ndarray], number: int, unit: str
) -> Iterator[Message]:
    """Yield messages on parts without an attempt of a class; `attempts` are of parts, by class."""
    for role in ("genuine", "impostor"):
        if f"{role}_attempts" in attempts:
            missing = int(np.count_nonzero(attempts[f"{role}_attempts"] == 0))
            if missing:
                rates = f"rates of {role} attempts"
                reason = f"there is no {role} attempt"
                yield undefined_in_parts(rates, missing, number, unit, reason)


def support_of_parts(
    far_targets: Iterable[float],
    frr_targets: Iterable[float],
    genuine: float,
    impostor: float,
    people: int | None,
    *,
    searched: bool,
) -> list[Message]:
    """Return messages on targets that the smallest part does not support.

    `genuine`, `impostor` and `people` are its numbers of attempts and of people; None if people are
    unknown. The impostors of a search (`searched`) are not compared with each other.
    """
    if searched:
        messages = support_messages(far_targets, impostor, False, "dir at far", people)
    else:
        compared = None if people is None else ComparedPeople.all_pairs(people)
        messages = support_messages(far_targets, impostor, False, "frr at far", compared)
    return messages + support_messages(frr_targets, genuine, False, "far at frr", people)


def undefined_in_parts(
    what: str | list[dict[str, Any]], missing: int, number: int, unit: str, why: str
) -> Message:
    """Return the message that rates are not defined in `missing` of a `number` of parts.

    `what` are the rates in words, or measures with their places.
    """
    rates = {"what" if isinstance(what, str) else "measures": what}
    where = f"{missing:,} of {number:,} {unit}s, so means are over the others"
    if missing == number:
        where = f"any {unit}"
    about = {**rates, "missing": missing, "number": number, "where": where}
    return Message("undefined-in-parts", **about, why=why)


def span(counts: Sequence[int] | np.ndarray) -> str:
    """Return the smallest and the largest of some counts in words."""
    low, high = min(counts), max(counts)
    if low == high:
        return f"{low:,}"
    return f"{low:,} to {high:,}"
