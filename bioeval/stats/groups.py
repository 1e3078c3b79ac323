"""Subject bootstrap of the rates of groups, of their own thresholds, and of what compares them."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.memory import require_memory
from bioeval.base.progress import stage
from bioeval.base.variables import GROUPS
from bioeval.results.groups import INEQUITY, inequity
from bioeval.scores.about import disjoint_among, disjoint_pairs
from bioeval.stats.bootstrap import sample_of
from bioeval.stats.bootstrap_limits import confidence_limits, open_limits
from bioeval.stats.interval_variables import Limits, by_subject, few_people, with_intervals
from bioeval.stats.options import BOOTSTRAPS, IntervalOptions
from bioeval.stats.resampling import QuadraticForms, ratio, weight_columns
from bioeval.stats.verification import frr_at_far
from bioeval.tallies.by_group import GroupTally
from bioeval.tallies.by_subject import EXACT, SubjectAttempts, levels
from bioeval.tallies.pair_counts import PairCounts
from bioeval.tallies.points import allowed_false_accepts
from bioeval.tallies.threshold_search import Attempts

# Numbers of false accepts around that of a target, as its multiples, for replicates.
_AROUND = np.geomspace(0.7, 1.4, 7)

# Proportion of replicates in which a ratio is not defined, above which a warning says so.
_UNDEFINED = 0.05


@stage("bootstrap")
def group_intervals(
    dataset: xr.Dataset,
    tally: GroupTally,
    attempts: SubjectAttempts,
    group: np.ndarray,
    options: IntervalOptions,
) -> xr.Dataset:
    """Return a result by group with confidence intervals; `group` is that of each subject.

    All subjects are resampled together, so that groups differ in size between replicates. The
    threshold of all groups stays; the own thresholds of groups are chosen anew in each replicate.
    """
    number, targets = len(tally.own), dataset["far_target"].values
    weights = weight_columns(attempts.people, options)
    require_memory(
        48 * number**2 * weights.shape[1],  # counts, as tiles and whole, and rates
        f"intervals of {number**2:,} pairs of groups",
        "expected fewer groups or replicates",
    )
    nodes, exact = zip(*(_nodes(one, targets) for one in tally.own), strict=True)
    threshold = tally.chosen.threshold
    at = np.empty(0) if math.isnan(threshold) else np.array([threshold])
    sink = _ByGroup(weights, group, np.unique(np.concatenate([at, *nodes])), (at, nodes))
    values, people = attempts.sweep(sink.thresholds, sink)
    far = ratio(*sink.totals)

    def accepted(of: int, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the weighted genuine attempts of a group accepted at thresholds, and all."""
        inside = group[people] == of
        counts = by_subject(values[inside], people[inside], thresholds, attempts.people)
        layers = np.cumsum(counts.astype(np.float64) @ weights, axis=0)
        return layers[:-1], layers[-1]

    frr = np.empty((number, weights.shape[1]))
    at_far = np.empty((2, number, len(targets), weights.shape[1]))
    for g in range(number):
        taken, made = accepted(g, at)
        frr[g] = ratio(made - taken[0] if len(at) else made, made)
        taken, made = accepted(g, nodes[g])
        own = np.cumsum(sink.own[g], axis=0)
        rates = ratio(own[:-1], own[-1]), ratio(made - taken, made)
        for i, x in enumerate(targets.tolist()):
            at_far[0, g, i] = frr_at_far(*rates, x, exact[g])
            at_far[1, g, i] = _threshold_at_far(rates[0], nodes[g], x, exact[g])
    if not tally.chosen.defined:
        far[:], frr[:] = np.nan, np.nan
    sign = -1.0 if tally.about.kind == "similarity" else 1.0
    itself = np.stack([dataset["frr_at_far"].values, sign * dataset["threshold_at_far"].values])
    itself[~np.isfinite(itself)] = np.nan  # -inf rejects all
    at_far += (itself - at_far[..., 0])[..., None]  # interpolation error of the data
    at_far[..., 0] = itself
    at_far[0] = np.clip(at_far[0], 0, 1)
    found, undefined = _limits(far, frr, at_far, _trials(attempts, group, people, number), options)
    if sign < 0:
        low, high = found["threshold_at_far"]
        found["threshold_at_far"] = -high, -low
    measured, remarks = _of_measures(far, frr, float(dataset.attrs["alpha"]), options)
    found |= measured
    over = {name: tuple(map(str, dataset[name].dims)) for name in found}
    remarks = [*few_people(attempts.people, options), *undefined, *remarks]
    out = with_intervals(dataset, found, over, GROUPS, options, remarks)
    return out.assign_attrs(
        interval_threshold="the threshold of all groups stays in replicates; groups' own are chosen"
        " anew"
    )


def _nodes(own: Attempts, targets: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return thresholds around the FAR targets of a group, and whether they are all its scores."""
    if len(own.edges) == 1:  # listed one by one
        every = np.union1d(own.values, own.genuine)
        if len(every) <= EXACT:
            return every[np.isfinite(every)], True
        strictest = np.nextafter(own.values[:1], -np.inf)
        edges, reached = np.append(strictest, own.values), own.accepted
    else:
        edges, reached = own.edges, own.below[1:]
    allowed = [allowed_false_accepts(x, own.impostor_attempts) for x in targets.tolist()]
    ladder = levels(3 * max(allowed, default=0))[::2]
    level = np.concatenate([[x * _AROUND for x in allowed if x], [ladder]], axis=None)
    at = np.searchsorted(reached, level[level >= 1])
    at = np.append(at, np.searchsorted(reached, 1) - 1)  # the last one without a false accept
    chosen = np.unique(edges[at[(at >= 0) & (at < len(edges))]])
    return chosen[np.isfinite(chosen)], False


def _threshold_at_far(far: np.ndarray, nodes: np.ndarray, target: float, exact: bool) -> np.ndarray:
    """Return the loosest threshold with FAR at most the target, for each column.

    Between thresholds that are not all the scores, it is interpolated; the first stands for all
    that are stricter.
    """
    if not len(nodes):
        return np.full(far.shape[1], np.nan)
    columns = np.arange(far.shape[1])
    last = (far <= target).sum(axis=0) - 1
    found = nodes[np.maximum(last, 0)]
    if not exact:
        after = np.minimum(last + 1, len(nodes) - 1)
        low, high = far[np.maximum(last, 0), columns], far[after, columns]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where((high > low) & (last >= 0), (target - low) / (high - low), 0.0)
        found = found + np.clip(share, 0.0, 1.0) * (nodes[after] - found)
    return np.where(np.isnan(far[0]), np.nan, found)


class _ByGroup:
    """A sink that weighs the impostor attempts of each pair of groups, and those within groups."""

    def __init__(
        self,
        weights: np.ndarray,
        group: np.ndarray,
        thresholds: np.ndarray,
        wanted: tuple[np.ndarray, tuple[np.ndarray, ...]],
    ):
        at, nodes = wanted
        self.group, self.thresholds = group, thresholds
        self.accepted = int(np.searchsorted(thresholds, at[0]) + 1) if len(at) else 0
        # The first layer above each threshold of a group.
        self.starts = [np.append(0, np.searchsorted(thresholds, own) + 1) for own in nodes]
        self._between = QuadraticForms(weights, 2 * len(nodes) ** 2)
        self._within = [QuadraticForms(weights, len(own) + 1) for own in nodes]

    @property
    def totals(self) -> np.ndarray:
        """Attempts accepted at the threshold of all, and all: (2, groups, groups, columns)."""
        number = len(self.starts)
        accepted, rejected = self._between.totals.reshape(2, number, number, -1)
        return np.stack([accepted, accepted + rejected])

    @property
    def own(self) -> list[np.ndarray]:
        """Attempts within each group, between its own thresholds: (layers, columns)."""
        return [forms.totals for forms in self._within]

    def fresh(self) -> _ByGroup:
        """Return the same sink before it has counted anything."""
        sink = copy(self)
        sink._between = self._between.fresh()
        sink._within = [forms.fresh() for forms in self._within]
        return sink

    def counts(self) -> dict[str, Any]:
        """Return all totals, which are whole numbers."""
        own = {str(g): forms.counts() for g, forms in enumerate(self._within)}
        return {"between": self._between.counts(), "own": own}

    def include_counts(self, found: dict[str, Any]) -> None:
        """Add totals of other attempts."""
        self._between.include_counts(found["between"])
        for g, forms in enumerate(self._within):
            forms.include_counts(found["own"][str(g)])

    def add(self, pairs: PairCounts) -> None:
        """Add attempts of pairs of subjects."""
        number = len(self.starts)
        probe, claimed = self.group[pairs.left_of_each], self.group[pairs.right]
        rejected = pairs.layer >= self.accepted
        self._between.add(pairs.in_layers((rejected * number + probe) * number + claimed))
        for g in np.intersect1d(probe, claimed):
            own = np.searchsorted(self.starts[g], pairs.layer, side="right") - 1
            self._within[g].add(pairs.in_layers(own, (probe == g) & (claimed == g)))


def _trials(
    attempts: SubjectAttempts, group: np.ndarray, people: np.ndarray, number: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the independent trials: subjects of each group, disjoint pairs of each two groups."""
    subjects = np.bincount(group[np.unique(people)], minlength=number)
    pairs = np.zeros((number, number), dtype=np.int64)
    if attempts.scores.layout == "pairs":
        values, left, right = attempts.listed()
        made = ~np.isnan(values)
        code = group[left] * number + group[right]
        for k in np.unique(code[made]):
            some = made & (code == k)
            pairs.flat[k] = disjoint_among(left[some], right[some], attempts.people)
        return subjects, pairs
    sides = [np.bincount(group[side], minlength=number) for side in attempts.sides]
    every = np.bincount(group[np.union1d(*attempts.sides)], minlength=number)
    for g in range(number):
        for h in range(number):
            both = every[g] if g == h else 2 * min(sides[0][g], sides[1][h])
            pairs[g, h] = disjoint_pairs(int(sides[0][g]), int(sides[1][h]), int(both))
    return subjects, pairs


def _limits(
    far: np.ndarray,
    frr: np.ndarray,
    at_far: np.ndarray,
    trials: tuple[np.ndarray, np.ndarray],
    options: IntervalOptions,
) -> tuple[dict[str, Limits], list[str]]:
    """Return the limits of all rates and thresholds, and warnings."""
    subjects, pairs = trials

    def limits(values: np.ndarray, numbers: np.ndarray) -> Limits:
        low, high = confidence_limits(values, options)
        for place, trial in np.ndenumerate(numbers):
            ends = values[*place, ..., 0], low[place], high[place]
            low[place], high[place] = open_limits(*ends, int(trial), options.confidence)
        return low, high

    alone = np.array([sample_of(int(n)) for n in subjects])
    found = {
        "frr": limits(frr, alone),
        "far": limits(far, pairs),
        "frr_at_far": limits(at_far[0], np.minimum(alone, pairs.diagonal())),
        "threshold_at_far": confidence_limits(at_far[1], _percentiles(options)),
    }
    return found, []


def _percentiles(options: IntervalOptions) -> IntervalOptions:
    """Return options for values that are no rates, which have no logit."""
    logit = options.method.endswith("logit")
    return replace(options, method=BOOTSTRAPS[0]) if logit else options


def _of_measures(
    far: np.ndarray, frr: np.ndarray, alpha: float, options: IntervalOptions
) -> tuple[dict[str, Limits], list[str]]:
    """Return the limits of what compares groups, and warnings.

    Without an error in any group the replicates do not vary; that shows nothing, and the limits
    are NaN.
    """
    within = far[np.arange(len(far)), np.arange(len(far))]
    found, remarks = {}, []
    for name, drawn in inequity(within, frr, alpha).items():
        low, high = confidence_limits(drawn, _percentiles(options))
        replicates = drawn[1 : 1 + options.replicates]
        known = replicates[~np.isnan(replicates)]
        if not (known != drawn[0]).any():
            low, high = np.full_like(low, np.nan), np.full_like(high, np.nan)
            if not np.isnan(drawn[0]):
                remarks.append(f"no interval of {name}: it is the same in all replicates")
        elif len(known) < (1 - _UNDEFINED) * len(replicates):
            remarks.append(
                f"{name} is not defined in {1 - len(known) / len(replicates):.0%} of the replicates"
                "; its interval is that of the other replicates"
            )
        found[name] = low, high
    without = [
        what for what, rates in (("FAR", within[:, 0]), ("FRR", frr[:, 0])) if (rates == 0).any()
    ]
    if without:
        remarks.append(
            f"{' and '.join(without)} of some group is 0, in every replicate too: intervals of "
            "FDR and GARBE leave out how uncertain it is"
        )
    return {name: found[name] for name in INEQUITY}, remarks
