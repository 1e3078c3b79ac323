"""Confidence intervals of identification: for new people, or other probes in the same gallery."""

from __future__ import annotations

import numpy as np
import xarray as xr

from bioeval.base.kinds import larger_is_closer
from bioeval.base.progress import report, stage
from bioeval.base.variables import CLOSED_SET, OPEN_SET
from bioeval.results.open_set import impostor_probes, impostor_role
from bioeval.stats.bands import SimultaneousBand
from bioeval.stats.interval_variables import (
    Limits,
    assumed_independent,
    by_subject,
    few_people,
    independent,
    with_intervals,
)
from bioeval.stats.new_people import FEWEST, Hits, NewPeople
from bioeval.stats.options import IntervalOptions
from bioeval.stats.resampling import linear_forms, ratio
from bioeval.stats.subject_means import ROOM, SubjectMeans, subject_columns
from bioeval.stats.verification import CHOSEN, equal_error
from bioeval.tallies.counts import IdentificationTally
from bioeval.tallies.identification_job import rank_weights
from bioeval.tallies.left_out import LeftOut
from bioeval.tallies.thresholds import to_internal

#: Open-set ranks that have intervals.
RANKS = 10


def closed_set_intervals(
    dataset: xr.Dataset,
    tally: IdentificationTally,
    subjects: np.ndarray | None,
    options: IntervalOptions,
    left_out: LeftOut | None = None,
) -> xr.Dataset:
    """Return a result of closed-set identification with confidence intervals.

    `subjects` is the subject of each probe; None for methods that do not need it. With `left_out`,
    intervals by subject are for new people; otherwise the gallery is fixed.
    """
    attempts = int(dataset["attempts"])
    count = dataset.sizes["rank"]
    remarks = []
    inside: dict[str, np.ndarray] = {}
    options = _of_population(options, left_out)
    if left_out is not None:
        people = NewPeople(tally, left_out, str(dataset.attrs["ties"]), options)
        low, high = people.ranks(count)
        rank_one = low[0], high[0]
        if options.simultaneous:
            low, high, inside["cms"] = people.band_of_ranks(count, (low, high))
        remarks = _without_limits(left_out, count)
    elif options.by_subject:
        probing = _ProbeSubjects(tally, subjects, str(dataset.attrs["ties"]), options)
        of = probing.genuine
        band = SimultaneousBand(attempts, options) if options.simultaneous else None
        low, high = probing.of_genuine.limits_at_ranks(
            of.person, of.rank, of.weight, count, band=band
        )
        rank_one = low[0], high[0]
        if band is not None:
            (low, high), inside["cms"] = band.limits((low, high)), band.inside
        remarks = few_people(probing.people, options)
    else:
        low, high = independent(dataset["cms_count"].values, attempts, options)
        rank_one = low[0], high[0]
        remarks = [assumed_independent(options, "probes", "of one")]
    found = {"cms": (low, high), "recognition_rate": rank_one}
    return with_intervals(dataset, found, CLOSED_SET, options, remarks, inside)


def open_set_intervals(
    dataset: xr.Dataset,
    tally: IdentificationTally,
    subjects: np.ndarray | None,
    options: IntervalOptions,
    left_out: LeftOut | None = None,
) -> xr.Dataset:
    """Return a result of open-set identification with confidence intervals.

    The first ten ranks have intervals; the others are NaN. `subjects` and `left_out` are as for
    :func:`closed_set_intervals`.
    """
    kind = tally.about.kind
    ranks = min(RANKS, dataset.sizes["rank"])
    options = _of_population(options, left_out)
    inside: dict[str, np.ndarray] = {}
    if left_out is not None or options.by_subject:
        given = str(dataset.attrs["ties"]), options, str(dataset.attrs["impostors"])
        by_person: NewPeople | _ProbeSubjects
        if left_out is not None:
            by_person = NewPeople(tally, left_out, *given)
            remarks = _without_limits(left_out, ranks)
        else:
            by_person = _ProbeSubjects(tally, subjects, *given)
            remarks = few_people(by_person.people, options)
            if not options.resamples:
                remarks.append(CHOSEN.format("DIR"))
        grid = to_internal(dataset["threshold"].values, kind)
        found = by_person.curves(grid, ranks, inside)
        if larger_is_closer(kind):
            inside = {name: there[::-1] for name, there in inside.items()}
            found = {name: (low[::-1], high[::-1]) for name, (low, high) in found.items()}
        found |= by_person.points(dataset, ranks)
    else:
        found = _independent_open_set(dataset, ranks, options)
        remarks = [assumed_independent(options, "probes", "of one")]
    for name in ("dir", "dir_at_far"):
        low, high = found[name]
        beyond = ((0, 0), (0, dataset.sizes["rank"] - ranks))
        low, high = (np.pad(x, beyond, constant_values=np.nan) for x in (low, high))
        found[name] = low, high
    if inside:
        beyond = ((0, 0), (0, dataset.sizes["rank"] - ranks))
        inside |= {"dir": np.pad(inside["dir"], beyond), "grr": inside["far"]}
    found["grr"] = 1 - found["far"][1], 1 - found["far"][0]
    return with_intervals(dataset, found, OPEN_SET, options, remarks, inside)


def _of_population(options: IntervalOptions, left_out: LeftOut | None) -> IntervalOptions:
    """Return the options with the population that the intervals are for."""
    return options.for_this_gallery if left_out is None else options.for_new_people


def _without_limits(left_out: LeftOut, ranks: int) -> list[str]:
    """Return warnings of intervals not given: too few people, or too many ranks."""
    people, most = left_out.people, left_out.ranks
    if people < FEWEST:
        return [f"only {people} subjects: intervals for new people need at least {FEWEST}"]
    if most < ranks:
        return [f"no intervals at ranks above {most:,}: they need more memory"]
    return []


# ------------------------------------------------------------------------- independent attempts


def _independent_open_set(
    dataset: xr.Dataset, ranks: int, options: IntervalOptions
) -> dict[str, Limits]:
    genuine, impostor = (int(dataset[f"{x}_attempts"]) for x in ("genuine", "impostor"))
    dir_, at_far = (
        independent(dataset[name].values[:, :ranks] * genuine, genuine, options)
        for name in ("dir", "dir_at_far")
    )
    return {
        "dir": dir_,
        "frr": (1 - dir_[1][:, 0], 1 - dir_[0][:, 0]),
        "far": independent(dataset["fa"].values, impostor, options),
        "dir_at_far": at_far,
    }


# ------------------------------------------------------------------------- by subject


def identification_replicates(
    tally: IdentificationTally,
    subjects: np.ndarray,
    ties: str,
    impostors: str,
    targets: np.ndarray,
    options: IntervalOptions,
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Return the recognition rate and DIR at each FAR target, both at rank 1, and sample sizes.

    The rates have the shapes (columns,) and (targets, columns); the sample sizes are the subjects
    with probes, and those with genuine attempts (0 for a single one).
    """
    probing = _ProbeSubjects(tally, subjects, ties, options, impostors)
    found = probing.genuine.within(1)
    hits = np.bincount(found.person, found.weight, minlength=probing.people)
    recognised = ratio(linear_forms(hits[None], probing.weights)[0], probing.of_genuine.total)
    at_far, _ = probing.drawn_points(targets, 1)
    return recognised, at_far[:, 0], probing.people, probing.of_genuine.trials


def rank_one_decisions(
    tally: IdentificationTally, ties: str, impostors: str, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return which probes are identified at rank 1, by themselves and at FAR targets.

    Of the shapes (probes,) and (targets, probes): 1 or 0, or fractions under expected ties; at a
    target within the loosest threshold with FAR at most the target.
    """
    probes, ranks, weights = rank_weights(tally, np.nonzero(tally.mates > 0)[0], ties)
    first = ranks <= 1
    hits = np.bincount(probes[first], weights[first], minlength=len(tally.mate))
    nearest = np.sort(tally.other[impostor_probes(tally, impostor_role(tally, impostors))])
    far = np.searchsorted(nearest, nearest, side="right") / max(len(nearest), 1)
    within = np.zeros((len(targets), len(hits)))
    for i, target in enumerate(targets):
        allowed = int((far <= target).sum())
        inside = tally.mate < nearest[allowed] if allowed < len(nearest) else True
        within[i] = hits * inside
    return hits, within


def _sorted(person: np.ndarray, distance: np.ndarray, rank: np.ndarray, weight: np.ndarray) -> Hits:
    """Return attempts in ascending order of distance."""
    return Hits(person, distance, rank, weight).by(np.argsort(distance, kind="stable"))


class _ProbeSubjects:
    """Identification attempts by the subject of the probe, with the weights of the subjects."""

    def __init__(
        self,
        tally: IdentificationTally,
        subjects: np.ndarray | None,
        ties: str,
        options: IntervalOptions,
        impostors: str = "auto",
    ):
        if subjects is None:
            raise TypeError(f"{options.method} intervals need the subjects of the probes")
        self.options = options
        who, person = np.unique(subjects, return_inverse=True)
        person = person.reshape(-1)
        self.people = len(who)
        chosen = np.nonzero(tally.mates > 0)[0]
        probes, ranks, weights = rank_weights(tally, chosen, ties)
        self.genuine = _sorted(person[probes], tally.mate[probes], ranks, weights)
        genuine_of = np.bincount(person[chosen], minlength=self.people)
        others = impostor_probes(tally, impostor_role(tally, impostors))
        ones = np.ones(len(others))
        self.impostor = _sorted(person[others], tally.other[others], ones, ones)
        impostor_of = np.bincount(person[others], minlength=self.people)
        self.weights = subject_columns(self.people, options)
        self.of_genuine = SubjectMeans(genuine_of, self.weights, options)
        self.of_impostor = SubjectMeans(impostor_of, self.weights, options)

    @stage("intervals of the curves")
    def curves(
        self, grid: np.ndarray, ranks: int, inside: dict[str, np.ndarray]
    ) -> dict[str, Limits]:
        """Return the limits of FAR, FRR and DIR at increasing distances.

        Where the bands of curves are simultaneous, `inside` gets which points are in them.
        """
        impostor = by_subject(self.impostor.distance, self.impostor.person, grid, self.people)
        far, far_inside = _limits_of_curve(self.of_impostor, impostor[:-1])
        rates, in_band = [], []
        for k in range(1, ranks + 1):
            of = self.genuine.within(k)
            layers = by_subject(of.distance, of.person, grid, self.people, of.weight)[:-1]
            limits, there = _limits_of_curve(self.of_genuine, layers)
            rates.append(limits)
            in_band.append(there)
            report(k, ranks)
        low, high = (np.stack(x, axis=1) for x in zip(*rates, strict=True))
        if self.options.simultaneous:
            inside |= {"far": far_inside, "frr": in_band[0], "dir": np.stack(in_band, axis=1)}
        return {"far": far, "frr": (1 - high[:, 0], 1 - low[:, 0]), "dir": (low, high)}

    def points(self, dataset: xr.Dataset, ranks: int) -> dict[str, Limits]:
        """Return the limits of the operating points, chosen anew in each replicate."""
        targets = dataset["far_target"].values
        if not self.options.resamples:
            undefined = np.full((len(targets), ranks), np.nan)
            return {"dir_at_far": (undefined, undefined)}
        at_far, eer = self.drawn_points(targets, ranks)
        fewer = min(self.of_genuine, self.of_impostor, key=lambda means: means.trials)
        return {"dir_at_far": self.of_genuine.drawn_limits(at_far), "eer": fewer.drawn_limits(eer)}

    @stage("bootstrap")
    def drawn_points(self, targets: np.ndarray, ranks: int) -> tuple[np.ndarray, np.ndarray]:
        """Return DIR at FAR (targets, ranks, columns) and the EER (columns) of all weightings."""
        columns = self.weights.shape[1]
        at_far = np.full((len(targets), ranks, columns), np.nan)
        eer = np.full(columns, np.nan)
        mate, other = self.genuine.within(ranks), self.impostor
        if not self.of_genuine.attempts.any() or not self.of_impostor.attempts.any():
            return at_far, eer
        first = self.genuine.within(1)
        threshold = np.union1d(first.distance, other.distance)
        of_first = np.searchsorted(first.distance, threshold, side="right")
        of_other = np.searchsorted(other.distance, threshold, side="right")
        # Equal scores are accepted together: a limit is the first of its value.
        value = np.searchsorted(other.distance, other.distance, side="right") - 1
        below = np.append(np.searchsorted(mate.distance, other.distance), len(mate.distance))
        step = max(1, ROOM // (len(threshold) + len(mate.distance) + 1))
        for low in range(0, columns, step):
            part = slice(low, low + step)
            weights = self.weights[:, part].astype(np.float64)
            genuine, impostor = self.of_genuine.total[part], self.of_impostor.total[part]
            taken = _cumulative(weights, other)
            far = ratio(taken[of_other], impostor)
            found = ratio(_cumulative(weights, first)[of_first], genuine)
            eer[part] = equal_error(far, np.clip(1 - found, 0.0, 1.0))
            rate = ratio(taken[1:], impostor)[value]
            hits = weights[mate.person] * mate.weight[:, None]
            defined = (genuine > 0) & (impostor > 0)
            for i, target in enumerate(targets):
                limit = below[(rate <= target).sum(axis=0)]
                for c in np.nonzero(defined)[0]:
                    at = np.bincount(
                        mate.rank[: limit[c]] - 1, hits[: limit[c], c], minlength=ranks
                    )
                    share = np.cumsum(at) / genuine[c]
                    at_far[i, :, low + c] = np.where(share > 1 - 1e-12, 1.0, share)
            report(low + weights.shape[1], columns)
        return at_far, eer


def _limits_of_curve(means: SubjectMeans, layers: np.ndarray) -> tuple[Limits, np.ndarray]:
    """Return the limits of a curve, and which of its points are in a simultaneous band."""
    if not means.options.simultaneous:
        return means.limits(layers), np.empty(0)
    band = SimultaneousBand(int(means.attempts.sum()), means.options)
    return band.limits(means.limits(layers, seen=band.add)), band.inside


def _cumulative(weights: np.ndarray, attempts: Hits) -> np.ndarray:
    """Return the cumulative weight of the attempts, from 0 to all of them."""
    taken = np.zeros((len(attempts.distance) + 1, weights.shape[1]))
    np.cumsum(weights[attempts.person] * attempts.weight[:, None], axis=0, out=taken[1:])
    return taken
