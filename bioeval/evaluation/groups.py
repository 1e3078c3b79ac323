"""Verification and open-set identification by demographic group."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_number
from bioeval.base.engine import Client
from bioeval.base.errors import Argument, DataError, cut, escaped, require_choice
from bioeval.base.memory import require_memory
from bioeval.base.progress import stage
from bioeval.base.random import RandomState
from bioeval.evaluation.blocks.engine import distributable
from bioeval.evaluation.groups_of_searches import searches_by_group
from bioeval.evaluation.ticker import ticker
from bioeval.results.blocks import (
    Block,
    DataHeader,
    Found,
    Intervals,
    Note,
    Sentence,
    Table,
    Title,
    Warnings,
)
from bioeval.results.groups import GROUPS, INEQUITY, Grouping, groups_dataset, inequity
from bioeval.results.words import number, percent, threshold_text
from bioeval.scores.blocks import BlockReader, Progress, require_subjects, threads_for
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.labels import Codes, plain
from bioeval.scores.matrix import Scores, are_pairs, require_scores
from bioeval.scores.provenance import disjoint_among, disjoint_pairs
from bioeval.scores.template_columns import probe_column, template_columns
from bioeval.stats.bootstrap import (
    QuadraticForms,
    confidence_limits,
    open_limits,
    ratio,
    sample_of,
    weight_columns,
)
from bioeval.stats.limits import Limits, by_subject, few_people, with_intervals
from bioeval.stats.options import BOOTSTRAPS, CONFIDENCE, REPLICATES, IntervalOptions
from bioeval.stats.verification import frr_at_far
from bioeval.tallies.by_subject import (
    EXACT,
    PairCounts,
    SubjectAttempts,
    codes_of_pairs,
    levels,
    require_pair_subjects,
)
from bioeval.tallies.judged import GroupTally, count_groups, count_listed
from bioeval.tallies.points import FAR_TARGETS, allowed_errors, check_far_targets, per_cent
from bioeval.tallies.symmetry import is_symmetric
from bioeval.tallies.threshold_rules import Rule, parse_rule
from bioeval.tallies.threshold_search import Attempts
from bioeval.tallies.thresholds import require_values
from bioeval.tallies.verification_job import VerificationJob

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
        """Return the weighted genuine attempts of a group, accepted at thresholds and in all."""
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
    remarks = [*few_people(attempts.people, options), *undefined, *remarks]
    out = with_intervals(dataset, found, GROUPS, options, remarks)
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
    allowed = [allowed_errors(x, own.impostor_attempts) for x in targets.tolist()]
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
    """A sink of impostor attempts, weighted, for each pair of groups and within each group."""

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
        """Attempts accepted at the common threshold, and all: (2, groups, groups, columns)."""
        number = len(self.starts)
        accepted, rejected = self._between.totals.reshape(2, number, number, -1)
        return np.stack([accepted, accepted + rejected])

    @property
    def own(self) -> list[np.ndarray]:
        """Attempts within each group, between the group's thresholds: (layers, columns)."""
        return [forms.totals for forms in self._within]

    def fresh(self) -> _ByGroup:
        """Return the same sink before it has counted anything."""
        sink = copy(self)
        sink._between = self._between.fresh()
        sink._within = [forms.fresh() for forms in self._within]
        return sink

    def counts(self) -> dict[str, Any]:
        """Return all totals, whole numbers."""
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
    """Return numbers of independent trials: subjects of a group, disjoint pairs of two groups."""
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
    """Return interval options for values that are not rates and have no logit."""
    logit = options.method.endswith("logit")
    return replace(options, method=BOOTSTRAPS[0]) if logit else options


def _of_measures(
    far: np.ndarray, frr: np.ndarray, alpha: float, options: IntervalOptions
) -> tuple[dict[str, Limits], list[str]]:
    """Return the limits of the measures that compare groups, and warnings.

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


# Up to this many comparisons are listed one by one.
LISTED = 1 << 17

TASKS = ("verification", "open_set")

# More groups are refused: counts of all their pairs would take too much memory.
MOST_GROUPS = 256


@leaves_out_attacks
@distributable
def by_group(
    scores: Scores,
    group: Any,
    *,
    threshold: Any = "eer",
    far_targets: Sequence[float] = FAR_TARGETS,
    templates: str = "single",
    fusion: str = "min",
    task: str = "verification",
    rank_unit: str = "template",
    ties: str = "pessimistic",
    impostors: str = "auto",
    alpha: float = 0.5,
    interval: str | None = None,
    confidence: float = CONFIDENCE,
    replicates: int = REPLICATES,
    random_state: RandomState = 0,
    progress: Progress | None = None,
    client: Client | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """Evaluate verification by demographic group: FRR of each, and FAR of each pair of groups.

    With ``task="open_set"`` open-set identification at rank 1, by the group of the probe.

    Parameters
    ----------
    scores : Scores
        A matrix with labels, or a list of pairs with the subjects of both sides.
    group : str, array_like, or pair of array_like
        A metadata column that both sides have; one value a template of all-against-all scores; or
        the values of the probes and those of the gallery (of listed pairs, of both sides). All
        templates of a subject are of one group.
    threshold : float, str or tuple
        A number in the units of the scores, or a rule as for :func:`cross_evaluate`, which is
        applied to all attempts together: ``"eer"``, ``("far", 0.001)`` (the loosest threshold),
        ``"hter"``, ``("cost", prior, c_miss, c_fa)``.
    far_targets : sequence of float
        For each, the threshold and the FRR of each group alone, by its own impostor attempts.
    templates, fusion
        As for :func:`bioeval.verification`.
    task : {"verification", "open_set"}
        ``"open_set"``: searches of the whole gallery. `group` may then be a column of the probes
        alone, and `threshold` is a number, ``"eer"`` or ``("far", x)``.
    rank_unit, ties, impostors
        Of open-set identification, as for :func:`bioeval.open_set`.
    alpha : float
        Weight of FAR in FDR and GARBE, from 0 to 1; that of FRR is ``1 - alpha``.
    interval : {None, "subject-bootstrap", "subject-bootstrap-bca", "subject-bootstrap-logit"}
        Method of the confidence intervals; none by default, since they take another sweep.
        Subjects are resampled, of all groups together. The threshold of all groups stays; those of
        each group are chosen anew in each replicate.
    confidence, replicates, random_state
        As for :func:`bioeval.verification`.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.
    client, checkpoint
        As for :func:`tally`.

    Returns
    -------
    xarray.Dataset
        Over ``group``, sorted: ``frr fr genuine_attempts subjects``; over ``group`` (of the probe)
        and ``claimed_group``: ``far fa impostor_attempts``; over ``group, far_target``:
        ``threshold_at_far frr_at_far``, from the impostor attempts within the group. Scalars
        ``threshold frr_overall far_overall``, and of FAR within groups and FRR: ``fdr`` (1: all
        groups alike), ``garbe`` (0: all alike), ``far_max_over_min far_max_over_geomean
        frr_max_over_min frr_max_over_geomean`` (NaN where a rate is 0). With an interval,
        ``_low`` and ``_high`` of each.

        With ``task="open_set"`` ``far fa impostor_attempts`` are over ``group`` alone, of searches
        without a mate in the gallery; ``fr`` counts mated searches without the mate at rank 1
        within the threshold. Intervals are those of :func:`bioeval.open_set`: the rates have them.

        ``few_subjects frr_flagged far_flagged frr_at_far_flagged`` are 1 where there are fewer
        than 30 subjects, or fewer than 30 errors are expected at the overall rate or at the target
        (``expected_fr expected_fa expected_fa_at_far``; each pair of a symmetric matrix once):
        too little to rank groups by. The attribute ``warnings`` names them.

    Raises
    ------
    DataError
        If a column is unknown or has missing values, a subject is in two groups, or an option is
        wrong; NaN under ``nan="raise"``.
    ProtocolError
        If subjects are unknown, or scores hold only an order.

    Notes
    -----
    With ``x`` the FAR within each of ``n`` groups and ``y`` their FRR: ``fdr = 1 - (alpha max|x_i -
    x_j| + (1 - alpha) max|y_i - y_j|)`` (de Freitas Pereira and Marcel 2021, "Fairness in
    biometrics: a figure of merit to assess biometric verification systems", IEEE T-BIOM 4);
    ``garbe = alpha G(x) + (1 - alpha) G(y)`` with the Gini coefficient ``G(x) = n / (n - 1) sum_ij
    |x_i - x_j| / (2 n^2 mean(x))`` (Howard, Laird, Rubin, Sirotin, Tipton and Vemury 2022,
    "Evaluating proposed fairness models for face recognition algorithms"). ISO/IEC 19795-10 names
    the terms: differential performance of demographic groups. ``docs/groups.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> scores = be.simulate(80, 4, random_state=1)
    >>> group = ["f" if subject % 2 else "m" for subject in scores.probe_labels]
    >>> ds = be.by_group(scores, group, threshold=("far", 0.01))
    >>> ds.frr.to_series().round(3).to_dict()
    {'f': 0.121, 'm': 0.146}
    >>> ds.far.values.round(3)
    array([[0.009, 0.011],
           [0.011, 0.009]])
    """
    if interval is not None:
        require_choice("interval", interval, BOOTSTRAPS)
    options = IntervalOptions.parse(interval, confidence, replicates, random_state)
    rule, targets = parse_rule(threshold), check_far_targets(far_targets)
    alpha = require_number("alpha", alpha, low=0, high=1)
    require_choice("task", task, TASKS)
    if task == "open_set":
        searches = {
            "rank_unit": rank_unit, "ties": ties, "impostors": impostors, "fusion": fusion,
            "interval": interval, "confidence": confidence, "replicates": replicates,
            "random_state": random_state,
        }  # fmt: skip
        require_scores(scores)
        scores.require_matrix()
        require_subjects(scores, "identification by group")
        column = probe_column(scores, group, "group")
        labels, places = _groups_of_subjects(scores.codes.probe, scores.codes.values, column)
        places = places[scores.codes.probe]
        ds = searches_by_group(scores, (labels, places), rule, targets, alpha, searches)
        return ds.assign_attrs(_about(group, rule))
    reader = BlockReader(scores)
    require_values(scores, "verification by group")
    codes = _subjects(scores)
    sides = template_columns(scores, group, "group")
    everyone = np.concatenate([codes.probe, codes.gallery])
    groups, of_code = _groups_of_subjects(everyone, codes.values, *sides)
    job = VerificationJob(reader, templates=templates, fusion=fusion)
    attempts = SubjectAttempts(job)
    of_person = of_code[np.unique(np.concatenate([codes.probe, codes.gallery]))]
    distance_rule = rule.as_distance(scores.kind)
    if are_pairs(scores) or math.prod(scores.shape) <= LISTED:
        with threads_for(scores):
            tally = count_listed(attempts, of_person, distance_rule)
    else:
        both = of_code[codes.probe], of_code[codes.gallery]
        tick = ticker(progress, 2 * scores.shape[0])
        tally = count_groups(reader, both, distance_rule, targets, (templates, fusion), tick)
    symmetric = templates == "single" and is_symmetric(scores)
    subjects = np.bincount(of_person, minlength=len(groups))
    ds = groups_dataset(tally, Grouping(groups, subjects), targets, alpha, symmetric)
    ds.attrs |= {
        **_about(group, rule),
        "templates": templates,
        "fusion": fusion if templates == "multi" else "none",
    }
    if options is not None:
        with threads_for(scores):
            ds = group_intervals(ds, tally, attempts, of_person, options)
    return ds


def _about(group: Any, rule: Rule) -> dict[str, str]:
    """Return the attributes of the groups and of the threshold."""
    given = rule.name == "fixed"
    return {
        "by": group if isinstance(group, str) else "given values",
        "threshold_rule": str(rule),
        "threshold_rule_in_words": rule.words,
        "chosen_on": "given" if given else "the same data; its errors there are optimistic",
    }


def _subjects(scores: Scores) -> Codes:
    """Return the subjects of the attempts as codes."""
    if are_pairs(scores):
        require_pair_subjects(scores, "verification by group")
        return codes_of_pairs(scores)
    require_subjects(scores, "verification by group")
    return scores.codes


def _groups_of_subjects(
    subject: np.ndarray, names: np.ndarray, probe: np.ndarray, gallery: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of the groups, sorted, and the group of each subject by its code.

    `subject` has the subject's code of each template of either side, `names` are those of codes.
    """
    found = Codes(probe, probe[:0] if gallery is None else gallery, str(Argument("group")))
    labels, order = _sorted(found.values[np.union1d(found.probe, found.gallery)])
    place = np.full(len(found.values), -1, dtype=np.int64)
    place[np.union1d(found.probe, found.gallery)[order]] = np.arange(len(order))
    if len(labels) > MOST_GROUPS:
        raise DataError(
            f"{Argument('group')} has {len(labels):,} groups; expected at most {MOST_GROUPS}: a "
            "group is of many subjects"
        )
    of_template = place[np.concatenate([found.probe, found.gallery])]
    group = np.full(len(names), -1, dtype=np.int64)
    group[subject] = of_template
    wrong = np.flatnonzero(group[subject] != of_template)
    if len(wrong):
        who = np.unique(subject[wrong])
        first = plain(names[subject[wrong[0]]])
        several = labels[np.unique(of_template[subject == subject[wrong[0]]])].tolist()
        more = f" ({len(who):,} subjects have several)" if len(who) > 1 else ""
        raise DataError(
            f"{Argument('group')}: subject {first!r} is in the groups "
            f"{', '.join(map(repr, several))}{more}; expected one group for all templates of a "
            "subject"
        )
    return labels, group


def _sorted(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of groups, numbers or text, in increasing order, and that order."""
    plain_values = [plain(value) for value in values.tolist()]
    if all(isinstance(value, (int, float)) and abs(value) < 2**63 for value in plain_values):
        numbers = np.array(plain_values)
        numbers = numbers.astype(np.int64) if numbers.dtype.kind == "b" else numbers
        order = np.argsort(numbers, kind="stable")
        return numbers[order], order
    texts = [str(value) for value in values.tolist()]
    if len(set(texts)) < len(texts):  # 1 and "1"
        texts = [repr(value) for value in values.tolist()]
    order = np.argsort(np.array(texts, dtype=str), kind="stable")
    return np.array(texts, dtype=str)[order], order


_LABELS = {
    "fdr": "FDR (1: all groups equal; weight of FAR {alpha:g})",
    "garbe": "GARBE (0: all groups equal; weight of FAR {alpha:g})",
    "far_max_over_min": "FAR within groups, largest / smallest",
    "far_max_over_geomean": "FAR within groups, largest / geometric mean",
    "frr_max_over_min": "FRR, largest / smallest",
    "frr_max_over_geomean": "FRR, largest / geometric mean",
}

# Most groups whose pairs are shown, and the length of a name.
_PAIRED, _LONGEST = 12, 20


def blocks(found: Found) -> Iterator[Block]:
    """Yield the rates of groups and of pairs of groups, and the measures that compare them.

    A rate that is flagged has an asterisk; groups are in the order of their names.
    """
    ds = found[""]
    names = [cut(escaped(str(x)), _LONGEST) for x in ds["group"].values.tolist()]
    given = ds.attrs["chosen_on"] == "given"
    searches = "claimed_group" not in ds.dims
    if searches:
        yield Title("Open-set identification by group of the probe, rank 1")
    else:
        yield Title(f"Verification by group, {ds.attrs['templates']}-template")
    yield DataHeader(found)
    rule = "" if given else f", {ds.attrs['threshold_rule_in_words']} of all groups"
    yield Note(f"At the threshold {threshold_text(float(ds['threshold']))}{rule}")
    yield Sentence()
    counted = ["subjects", "genuine_attempts", *(["impostor_attempts"] * searches)]
    rows = []
    for i, name in enumerate(names):
        few = "*" if ds["few_subjects"][i] else ""
        counts = [f"{int(ds[x][i]):,}" for x in counted]
        far = _written(ds, "far", i, *([] if searches else [i]))
        rows.append([name, counts[0] + few, *counts[1:], _written(ds, "frr", i), far])
    total = [f"{int(ds[x].sum()):,}" for x in counted]
    far_overall = percent(float(ds["far_overall"]), "fine", "") if searches else ""
    rows.append(["all", *total, percent(float(ds["frr_overall"]), "fine", ""), far_overall])
    made = ["mated", "non-mated", "FRR, %", "FAR, %"]
    heads = made if searches else ["genuine", "FRR, %", "FAR within, %"]
    yield Table(["", "subjects", *heads], rows, folds=True)
    yield Sentence()
    if not searches:
        yield from _pairs_of_groups(ds, names)
    targets = ds["far_target"].values.tolist()
    if targets:
        yield Sentence("FRR, %, of each group at its own threshold")
        rows = [
            [name, *(_written(ds, "frr_at_far", i, k) for k in range(len(targets)))]
            for i, name in enumerate(names)
        ]
        yield Table(["", *(f"at FAR {per_cent(x)}" for x in targets)], rows, folds=True)
    rows = []
    for name in INEQUITY:
        low, high = (float(ds.get(f"{name}_{end}", np.nan)) for end in ("low", "high"))
        between = "" if low != low else f"[{low:.4g}, {high:.4g}]"
        label = _LABELS[name].format(alpha=float(ds.attrs["alpha"]))
        label = label.replace(" within groups", "") if searches else label
        rows.append([label, number(float(ds[name]), ".4f"), between])
    yield Table(["", "", ""], rows, said="labels", folds=True)
    if not given:
        text = "The threshold was chosen on these data, so the rates are optimistic."
        yield Note(text, indented=False)
    yield Intervals(found)
    if any(ds[x].values.any() for x in ds.data_vars if str(x).endswith("_flagged")):
        text = "*: fewer than 30 subjects or expected errors, too few to rank groups."
        yield Note(text, indented=False)
    yield Warnings(found)


def _pairs_of_groups(ds: xr.Dataset, names: Sequence[str]) -> Iterator[Block]:
    """Yield FAR by the group of the probe and that of the claimed subject."""
    if len(names) > _PAIRED:
        text = f"FAR of {len(names) ** 2:,} pairs of groups: see pairs.csv (--out)"
        yield Note(text, indented=False, exact=True)
    elif len(names) > 1:
        yield Sentence("FAR, %, by group of the probe (line) and of the claimed subject (column)")
        rows = [
            [name, *(_written(ds, "far", i, j, ends=False) for j in range(len(names)))]
            for i, name in enumerate(names)
        ]
        yield Table(["", *names], rows, said="", folds=True)
    else:
        return
    yield Sentence()


def _written(ds: xr.Dataset, name: str, *place: int, ends: bool = True) -> str:
    """Return a rate in per cent, with its interval and its flag."""
    value = float(ds[name].values[place])
    flagged = f"{name}_flagged" in ds and ds[f"{name}_flagged"].values[place]
    flag = "*" if flagged and value == value else ""
    text = percent(value, "fine", "") + flag
    if ends and f"{name}_low" in ds:
        low, high = (float(ds[f"{name}_{end}"].values[place]) for end in ("low", "high"))
        if low == low:
            text += f" [{percent(low, 'fine', '')}, {percent(high, 'fine', '')}]"
    return text
