"""Whether one of two systems treats groups more alike: differences of their inequality.

The largest rate of a group less the smallest one is the largest of the differences of each two
groups, ``max_i d_i``, in either order. So the difference of the gaps of two systems is ``max_i
min_j (d_i - e_j)``, with the differences ``e_j`` of the other system, and as well ``min_j max_i``
of the same. Both rise with each ``d_i - e_j``, whose limits hold for all ``i`` and ``j`` together:
the upper limit of the gaps is ``max_i min_j`` of the upper ones, which is the smaller of the two,
and the lower limit is ``min_j max_i`` of the lower ones, which is the larger. No percentile of a
maximum is needed: of equal groups the system with more noise has the larger gap on average, and
resampling takes that for a difference.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval import DataError, Scores, __version__
from bioeval.base import Argument, Client, Name, RandomState, Stream, counted, require_number
from bioeval.document import Message, message_attrs
from bioeval.evaluation import distributable
from bioeval.results import along, build
from bioeval.scores import (
    FusionRule,
    Progress,
    leaves_out_attacks,
    plain,
    require_scores,
    threads_for,
)
from bioeval.stats import IntervalOptions, Limits, by_subject, ratio
from bioeval.studies.groups.combinations import all_pairs, level_together, limits_of_sums
from bioeval.studies.groups.differences import (
    PairsOfGroups,
    PeopleOfRate,
    jackknife_variance,
    limits_of_all,
)
from bioeval.studies.groups.group_rates import (
    FEW_SUBJECTS,
    independent_trials,
    people_with_mates,
)
from bioeval.studies.groups.groups import CountedGroups, about_threshold
from bioeval.studies.groups.measures import gini, gini_limits
from bioeval.tallies import Rule, Templates, to_user

GAPS: dict[str, Name] = {
    "measure": Name("measure of inequality that two systems are compared by"),
    "value_a": Name("value of the first system, over the groups that are compared"),
    "value_b": Name("value of the second system, over the groups that are compared"),
    "difference": Name("first minus second"),
    "difference_low": Name("lower limit of the difference"),
    "difference_high": Name("upper limit of the difference"),
    "fairer": Name(
        "1 where the groups are shown to be more alike in the first system, -1 in the second, "
        "else 0"
    ),
    "group": Name("group of the subject"),
    "subjects": Name("subjects of the group, on either side", "subjects"),
    "few_subjects": Name("1 where the group has fewer than 30 subjects, else 0: not compared"),
    "threshold_a": Name("threshold of all groups, first system", "score"),
    "threshold_b": Name("threshold of all groups, second system", "score"),
}
for _rate, _words in (("frr", "FRR"), ("far", "FAR within the group")):
    for _side, _of in (("a", "first"), ("b", "second")):
        GAPS[f"{_rate}_{_side}"] = Name(f"{_words}, {_of} system")

#: The measures, in the order of the table, and whether a larger value is more alike.
MEASURES = {"frr_gap": False, "far_gap": False, "fdr": True, "garbe": False}

#: More groups are refused: the differences of all pairs are compared with those of all pairs.
MOST_COMPARED = 12


@leaves_out_attacks
@distributable
def compare_groups(
    a: Scores,
    b: Scores,
    group: Any,
    *,
    threshold: Any = "eer",
    threshold_b: Any = None,
    templates: Templates = "single",
    fusion: FusionRule = "min",
    alpha: float = 0.5,
    confidence: float = IntervalOptions.CONFIDENCE,
    random_state: RandomState = 0,
    progress: Progress | None = None,
    client: Client | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
) -> xr.Dataset:
    """Compare how alike two systems treat groups of the same people.

    Parameters
    ----------
    a, b : Scores
        Of the same people: matrices with labels, or lists of pairs with the subjects of both sides.
        Templates, kind and layout may differ.
    group : str, array_like, or pair of array_like
        As for :func:`by_group`, of both systems: each subject has one group, the same in both.
    threshold : float, str or tuple
        As for :func:`by_group`. A rule is applied to each system by itself.
    threshold_b : float, str or tuple, optional
        That of the second system, by default `threshold`.
    templates, fusion
        As for :func:`bioeval.verification`.
    alpha : float
        Weight of FAR in FDR and GARBE, from 0 to 1.
    confidence : float
        Of each measure by itself.
    random_state
        As for :func:`bioeval.verification`.
    progress, client, checkpoint
        As for :func:`tally`.

    Returns
    -------
    xarray.Dataset
        Over ``measure``: ``value_a value_b difference`` (a - b) ``difference_low difference_high``
        and ``fairer``: 1 where the groups are shown to be more alike in `a`, -1 in `b`, else 0. The
        measures are ``frr_gap`` and ``far_gap``, the largest rate of a group less the smallest one
        (FAR within groups), ``fdr`` and ``garbe``. Over ``group``: ``frr_a frr_b far_a far_b
        subjects few_subjects``. Scalars ``threshold_a threshold_b``. Groups of fewer than 30
        subjects have no part in the measures; :func:`bioeval.messages` names them.

    Raises
    ------
    DataError
        If the systems have other people, or other groups for them; there are more than 12 groups;
        or for the reasons of :func:`by_group`.
    ProtocolError
        If subjects are unknown, or scores hold only an order.

    Notes
    -----
    Limits are for new people of the same groups, at thresholds that stay. Each person is left out
    of its group in both systems at once, so that the difficulty of the people that both have in
    common cancels. With ``d`` the difference of the rates of two groups in `a` and ``e`` one in
    `b`, all ``d - e`` have limits that hold together, and those of the difference of the gaps are
    ``min_e max_d`` of the lower ones and ``max_d min_e`` of the upper ones. FDR has the limits of
    both gaps together. Limits of GARBE, a ratio, are those of the two systems apart, and wider.
    ``docs/groups.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> crowd = be.simulate_embeddings(80, 4, random_state=1)
    >>> a, b = crowd.scores("l2"), crowd.scores("l1")
    >>> sex = ["f" if subject % 2 else "m" for subject in a.probe_labels]
    >>> ds = be.compare_groups(a, b, sex, threshold=("far", 0.01))
    >>> gap = ds.sel(measure="frr_gap")
    >>> print(f"{gap.difference:.3f} [{gap.difference_low:.3f}, {gap.difference_high:.3f}]")
    -0.004 [-0.078, 0.078]
    >>> ds.fairer.values
    array([0, 0, 0, 0])
    """
    options = IntervalOptions.parse(
        "subject-bootstrap", confidence, IntervalOptions.REPLICATES, random_state
    )
    assert options is not None
    rules = [Rule.parse(threshold)]
    rules.append(rules[0] if threshold_b is None else Rule.parse(threshold_b, "threshold_b"))
    alpha = require_number("alpha", alpha, low=0, high=1)
    for scores, name in ((a, "a"), (b, "b")):
        require_scores(scores, name)
    one, other = (
        _System.of(scores, group, rule, (templates, fusion), progress)
        for scores, rule in zip((a, b), rules, strict=True)
    )
    groups = one.counted.groups
    if len(groups) > MOST_COMPARED:
        raise DataError(
            Argument("group"),
            f" has {len(groups)} groups; expected at most {MOST_COMPARED}, of which each pair is "
            "compared with each pair; join groups",
        )
    other = other.in_order_of(one)
    subjects = one.counted.subjects
    enough = np.flatnonzero(subjects >= FEW_SUBJECTS)
    remarks = _remarks(groups, subjects)
    for scores, system in ((a, one), (b, other)):
        for doubt in system.counted.doubt(scores, fused=templates == "multi"):
            remarks.append(doubt.concerning(str(scores.name)))
    comparison = _Gaps(one, other, enough, alpha, options)
    values, limits = comparison.values(), comparison.limits()
    difference = values[0] - values[1]
    low, high = limits
    sign = np.array([1 if larger else -1 for larger in MEASURES.values()])
    fairer = sign * ((low > 0).astype(np.int64) - (high < 0))
    variables = {
        **along(
            ("measure",),
            value_a=values[0],
            value_b=values[1],
            difference=difference,
            difference_low=low,
            difference_high=high,
            fairer=fairer,
        ),
        **along(
            ("group",),
            frr_a=one.rates[0],
            frr_b=other.rates[0],
            far_a=one.rates[1],
            far_b=other.rates[1],
            subjects=subjects,
            few_subjects=(subjects < FEW_SUBJECTS).astype(np.int64),
        ),
        "threshold_a": to_user(one.counted.tally.chosen.threshold, a.kind),
        "threshold_b": to_user(other.counted.tally.chosen.threshold, b.kind),
    }
    coordinates = {"measure": np.array(list(MEASURES), dtype=object), "group": groups}
    attrs: dict[str, str | int | float] = {
        "result_type": "group_gaps",
        "task": "inequality of groups in two systems",
        "system_a": _name(a, b, 0),
        "system_b": _name(a, b, 1),
        "layout": a.layout,
        "kind_a": a.kind,
        "kind_b": b.kind,
        "fingerprint_a": a.fingerprint,
        "fingerprint_b": b.fingerprint,
        **about_threshold(group, rules[0]),
        "threshold_rule_b": str(rules[1]),
        "templates": templates,
        "fusion": fusion if templates == "multi" else "none",
        "alpha": alpha,
        "confidence": options.confidence,
        "interval_method": "jackknife over the people of each group, limits of all differences of "
        "two groups together",
        "interval_unit": "people",
        "interval_for": "new people",
        "bioeval_version": __version__,
        **message_attrs(remarks),
    }
    return build(variables, GAPS, coordinates, attrs)


def _name(a: Scores, b: Scores, place: int) -> str:
    """Return the name of a system; of two with one name, or none, with its letter."""
    names = [x.name or "" for x in (a, b)]
    if names[0] == names[1] or not all(names):
        return f"{names[place]} ({'ab'[place]})".strip() if names[place] else "ab"[place]
    return names[place]


def _remarks(groups: np.ndarray, subjects: np.ndarray) -> list[Message]:
    """Return what is not concluded."""
    few = subjects < FEW_SUBJECTS
    if (~few).sum() < 2:
        return [Message("group-gaps-not-compared", needed=FEW_SUBJECTS)]
    if few.any():
        listed = groups[few].tolist()
        return [Message("groups-left-out-of-gaps", needed=FEW_SUBJECTS, groups=listed)]
    return []


@dataclass(frozen=True)
class _System:
    """One system: its errors by person and group.

    - `rejects` (int64 (2, people)): false rejects and all genuine attempts of each person
    - `names`: the label of each person
    - `order` (int64 (people,)): the people in the order in which both systems have them
    """

    counted: CountedGroups
    rejects: np.ndarray
    pairs: PairsOfGroups
    trials: tuple[np.ndarray, np.ndarray]
    names: list[Any]
    order: np.ndarray

    @classmethod
    def of(
        cls,
        scores: Scores,
        group: Any,
        rule: Rule,
        claim: tuple[Templates, FusionRule],
        progress: Progress | None,
    ) -> _System:
        """Count the attempts of a system at its threshold."""
        counted_groups = CountedGroups.of(scores, group, rule, np.empty(0), (), claim, progress)
        attempts, of_person = counted_groups.attempts, counted_groups.group
        assert attempts is not None  # of scores
        number = len(counted_groups.groups)
        chosen = counted_groups.tally.chosen
        at = np.array([chosen.threshold])
        at = at[~np.isnan(at)]
        pairs = PairsOfGroups(of_person, number, len(at))
        with threads_for(scores):
            values, people = attempts.pass_over(at, pairs)
        genuine = by_subject(values, people, at, attempts.people)
        rejects = np.stack([genuine[-1], genuine.sum(axis=0)]).astype(np.int64)
        if not chosen.defined:
            rejects, pairs = np.zeros_like(rejects), pairs.fresh()
        trials = independent_trials(attempts, of_person, people, number)
        names = list(map(plain, attempts.names))
        return cls(counted_groups, rejects, pairs, trials, names, np.arange(len(names)))

    def in_order_of(self, first: _System) -> _System:
        """Return this system with its people in the order of another one's; the groups agree."""
        place = {name: i for i, name in enumerate(self.names)}
        alone = [name for name in first.names if name not in place]
        alone_here = set(self.names).difference(first.names)
        if alone or alone_here:
            some = next(iter(alone or sorted(alone_here, key=str)))
            raise DataError(
                f"the systems are not over the same people: {counted(len(alone), 'subjects')} of "
                f"the first are not in the second, and {counted(len(alone_here), 'subjects')} the "
                f"other way round, such as {some!r}; leave them out of both"
            )
        order = np.array([place[name] for name in first.names], dtype=np.int64)
        mine = self.counted.groups[self.counted.group[order]].tolist()
        theirs = first.counted.groups[first.counted.group].tolist()
        wrong = [i for i, (x, y) in enumerate(zip(mine, theirs, strict=True)) if x != y]
        if wrong:
            i = wrong[0]
            raise DataError(
                Argument("group"),
                f": {counted(len(wrong), 'subjects')} have another group in the second system; "
                f"{first.names[i]!r} is {theirs[i]!r} in the first and {mine[i]!r} in the second",
            )
        return _System(self.counted, self.rejects, self.pairs, self.trials, self.names, order)

    @property
    def rates(self) -> np.ndarray:
        """FRR and FAR within each group, (2, groups)."""
        number = range(len(self.counted.groups))
        return np.array([[self.people(rate, g).rate for g in number] for rate in (0, 1)])

    def people(self, rate: int, g: int) -> PeopleOfRate:
        """Return the people of a group with attempts of FRR (0), or of FAR (1)."""
        subjects, disjoint = self.trials
        if rate == 0:
            genuine = self.rejects[0], self.rejects[1]
            return people_with_mates(g, self.counted.group, genuine, int(subjects[g]))
        return self.pairs.people_of(g, g, int(disjoint[g, g]))

    def changes(self, rate: int, g: int) -> np.ndarray:
        """Return by how much a rate changes without each person of a group, in the common order.

        People without an attempt change nothing.
        """
        inside = self.order[self.counted.group[self.order] == g]
        if rate == 0:
            errors_of, attempts_of = self.rejects[:, inside]
            errors, attempts = errors_of.sum(), attempts_of.sum()
        else:
            probing, claimed = self.pairs.probing[:, inside, g], self.pairs.claimed[:, inside, g]
            errors_of, attempts_of = probing + claimed
            errors, attempts = probing.sum(axis=1)
        return np.nan_to_num(ratio(errors - errors_of, attempts - attempts_of) - errors / attempts)


class _Gaps:
    """The measures of two systems over some groups, and limits of their differences."""

    def __init__(
        self,
        one: _System,
        other: _System,
        groups: np.ndarray,
        alpha: float,
        options: IntervalOptions,
    ):
        self._systems, self._groups = (one, other), groups
        self._alpha, self._options = alpha, options
        self._rates = [system.rates[:, groups] for system in self._systems]
        self._defined = len(groups) > 1 and not np.isnan(self._rates).any()

    def values(self) -> np.ndarray:
        """Return the measures of both systems, (2, measures)."""
        if not self._defined:
            return np.full((2, len(MEASURES)), np.nan)
        return np.array([self._measured(*rates) for rates in self._rates])

    def _measured(self, frr: np.ndarray, far: np.ndarray) -> list[float]:
        weight = self._alpha
        gaps = [float(np.ptp(x)) for x in (frr, far)]
        fdr = 1 - (weight * gaps[1] + (1 - weight) * gaps[0])
        return [*gaps, fdr, float(weight * gini(far) + (1 - weight) * gini(frr))]

    def limits(self) -> Limits:
        """Return the limits of the differences of all measures."""
        if not self._defined:
            return np.full(len(MEASURES), np.nan), np.full(len(MEASURES), np.nan)
        weight, level = self._alpha, self._options.confidence
        both = (1 + level) / 2  # FRR and FAR together (Bonferroni)
        frr, far = (self._of_gap(rate, level) for rate in (0, 1))
        frr_of_both, far_of_both = (self._of_gap(rate, both) for rate in (0, 1))
        low, high = (
            weight * y + (1 - weight) * x for x, y in zip(frr_of_both, far_of_both, strict=True)
        )
        ends = [frr, far, (-high, -low), self._of_garbe()]
        return np.array([x for x, _ in ends]), np.array([y for _, y in ends])

    def _of_gap(self, rate: int, confidence: float) -> tuple[float, float]:
        """Return the limits of the difference of the gaps of a rate."""
        number = len(self._groups)
        people = [system.people(rate, g) for system in self._systems for g in self._groups.tolist()]
        rates = np.array([x.rate for x in people])
        correlation = np.eye(2 * number)
        for i, g in enumerate(self._groups.tolist()):
            shared = _correlation(*(system.changes(rate, g) for system in self._systems))
            correlation[i, number + i] = correlation[number + i, i] = shared
        error = np.sqrt([jackknife_variance(x.without) for x in people])
        covariance = correlation * np.outer(error, error)
        halves = all_pairs(number)
        differences = np.concatenate([halves, -halves])
        sums = _each_with_each(differences, differences)
        stream = Stream(self._options.seed, 6 + rate)
        # The other half of the sums are these with the other sign.
        level = level_together(_each_with_each(halves, differences), covariance, confidence, stream)
        ends = np.array([x.limits(level) for x in people]).T
        low, high = limits_of_sums(sums, rates, (ends[0], ends[1]), correlation)
        square = (len(differences), len(differences))
        least = low.reshape(square).max(axis=0).min()
        most = high.reshape(square).min(axis=1).max()
        return float(least), float(most)

    def _of_garbe(self) -> tuple[float, float]:
        """Return the limits of the difference of GARBE, from those of all rates together."""
        together, weight = 4 * len(self._groups), self._alpha
        of_systems = []
        for system in self._systems:
            frr, far = (
                gini_limits(*limits_of_all(people, together, self._options.confidence))
                for people in (
                    [system.people(rate, g) for g in self._groups.tolist()] for rate in (0, 1)
                )
            )
            ends = zip(frr, far, strict=True)
            of_systems.append([weight * y + (1 - weight) * x for x, y in ends])
        (low, high), (other_low, other_high) = of_systems
        return low - other_high, high - other_low


def _each_with_each(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return a row of coefficients for each row of the first less each row of the second."""
    left = np.repeat(first, len(second), axis=0)
    right = np.tile(second, (len(first), 1))
    return np.concatenate([left, -right], axis=1)


def _correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Return the correlation of the changes of two rates; 0 where one does not change."""
    one, other = first - first.mean(), second - second.mean()
    scale = float(np.sqrt((one**2).sum() * (other**2).sum()))
    return float(np.clip((one * other).sum() / scale, -1, 1)) if scale > 0 else 0.0
