"""Rates by group, and the descriptions of all their variables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from bioeval.base.messages import Message
from bioeval.counting.folds import FoldCounts
from bioeval.counting.threshold_rules import ChosenThreshold
from bioeval.results.attributes import about_attrs
from bioeval.results.dataset import dataset, variables_over
from bioeval.results.support import RuleOf
from bioeval.results.variables import VERIFICATION, Variable, entries
from bioeval.scores.provenance import Provenance
from bioeval.stats.weighted_sums import ratio

#: The last label of the dimension `group`: all groups together.
ALL = "all"

_FLAG = "1 where {}, else 0"
_FEW = "fewer than 30 subjects, or than 30 expected"

GROUPS: dict[str, Variable] = {
    "claimed_group": Variable(
        "group of the claimed subject; all: any subject",
        title="{far} by groups of probe and claimed subject",
    ),
    "other_group": Variable(
        "group whose rate is subtracted", title="Differences: the group minus the other group"
    ),
    "group": Variable("group of the probe; all: all groups together"),
    "threshold": Variable("threshold of all groups", "score", label="threshold", shown="threshold"),
    "subjects": Variable(
        "subjects of the group: of groups of people on either side, else with a probe of it",
        "subjects",
        label="subjects",
    ),
    "genuine_attempts": Variable("genuine attempts", "attempts", label="genuine attempts"),
    **entries(VERIFICATION, "frr", "fr"),
    "impostor_attempts": Variable("impostor attempts", "attempts", label="impostor attempts"),
    **entries(VERIFICATION, "far", "fa"),
    "expected_fr": Variable(
        "false rejects expected at the FRR of all groups", "attempts", detail="data"
    ),
    "expected_fa": Variable(
        "false accepts expected at the FAR of all groups", "attempts", detail="data"
    ),
    "few_subjects": Variable(
        _FLAG.format("the group has fewer than 30 subjects"), "1", detail="data"
    ),
    "frr_flagged": Variable(_FLAG.format(f"there are {_FEW} false rejects"), "1"),
    "far_flagged": Variable(_FLAG.format(f"there are {_FEW} false accepts"), "1"),
}

#: Groups with fewer subjects are flagged.
FEW_SUBJECTS = 30

for _rate, _attempts, _words, _label in (
    ("frr", "genuine_attempts", "FRR", "{frr}"),
    ("far", "impostor_attempts", "FAR within groups", "{far} within"),
):
    GROUPS |= {
        f"{_rate}_groups_p": Variable(
            f"p-value by permutation: people of all groups have the same distribution ({_words})",
            "p",
            label=f"{_label}, p of a permutation test of equal groups",
            detail="verbose",  # the answer has it
        ),
        f"{_rate}_simultaneous": Variable(
            f"{_words}, with limits that hold for all groups together",
            "proportion",
            label=f"{_label}, limits for all groups together",
            detail="verbose",
            measure=_rate,
            statistic="simultaneous",
            out_of=_attempts,
        ),
        **{
            f"{_rate}_simultaneous_{_end}": Variable(
                f"{_word} limit of {_words}; the limits hold for all groups together", "proportion"
            )
            for _end, _word in (("low", "lower"), ("high", "upper"))
        },
        f"{_rate}_letters": Variable(
            f"groups that share a letter are not significantly different in {_words}; empty: not "
            "compared",
            label=f"{_label}, letters",
            detail="data",  # the differences have limits
        ),
        f"{_rate}_difference": Variable(
            f"{_words}: the group minus the other group",
            "proportion",
            label=f"{_label}, difference",
            measure=_rate,
            statistic="difference",
        ),
        **{
            f"{_rate}_difference_{_end}": Variable(
                f"{_word} limit of {_rate}_difference; the limits hold for all pairs of groups "
                "together",
                "proportion",
                measure=_rate,
                statistic=f"difference_{_end}",
            )
            for _end, _word in (("low", "lower"), ("high", "upper"))
        },
        f"{_rate}_p_value": Variable(
            f"two-sided p-value of {_rate}_difference, paired over people and adjusted for the "
            "number of pairs of groups",
            "p",
            label=f"p value of {_label}",
            measure=_rate,
            statistic="p_value",
        ),
        f"{_rate}_discordant": Variable(
            f"people, at least, whose {_rate.upper()} is another one in the other group",
            "subjects",
            measure=_rate,
            statistic="discordant",
            detail="data",
        ),
        f"{_rate}_separated": Variable(
            f"1 where {_words} is shown to be larger in the group than in the other group, -1 "
            "where it is shown to be smaller, else 0",
            "1",
            measure=_rate,
            statistic="separated",
            detail="data",
        ),
    }


class GroupRates(NamedTuple):
    """Attempts and errors by group, at one threshold."""

    chosen: ChosenThreshold  # a distance
    subjects: np.ndarray  # int64 (groups + 1,): number of people in each group, and in all
    of_attempts: bool  # whether the probe alone decides the group of an attempt
    counts: FoldCounts  # counts by the groups of probe and gallery template


def groups_dataset(
    rates: GroupRates, groups: np.ndarray, about: Provenance, symmetric: bool
) -> xr.Dataset:
    """Return the rates by group and of all groups together; `groups` are the labels.

    In `symmetric` data, each pair of templates is compared twice.
    """
    counts = rates.counts
    defined = rates.chosen.defined
    rejects = counts.genuine_attempts - counts.genuine_accepted
    # The group of the probe alone decides a genuine attempt.
    frr = _rate_of_groups(rejects, counts.genuine_attempts, defined, symmetric).by_probe
    far = _rate_of_groups(counts.impostor_accepted, counts.impostor_attempts, defined, symmetric)
    labels = np.append(groups, ALL)
    by_group: tuple[str, ...] = ("group",)
    by_pair: tuple[str, ...] = ("group", "claimed_group")
    coordinates = {"group": labels, "claimed_group": labels}
    if rates.of_attempts:
        far = far.by_probe
        by_pair = by_group
        coordinates = {"group": labels}
    is_small = rates.subjects < FEW_SUBJECTS  # (groups + 1,)
    variables = {
        **variables_over(
            by_group,
            subjects=rates.subjects,
            genuine_attempts=frr.attempts,
            frr=frr.rate,
            fr=frr.errors,
        ),
        **variables_over(by_pair, impostor_attempts=far.attempts, far=far.rate, fa=far.errors),
        "expected_fr": (by_group, frr.expected),
        "expected_fa": (by_pair, far.expected),
        "few_subjects": (by_group, is_small.astype(np.int64)),
        "frr_flagged": (by_group, frr.is_flagged(is_small).astype(np.int64)),
        "far_flagged": (by_pair, far.is_flagged(is_small).astype(np.int64)),
        **rates.chosen.in_units(about.kind),
    }

    # Remarks, which leave out all groups together.
    far_within = far.rate if rates.of_attempts else far.rate.diagonal()
    remarks = [*_undefined(defined, groups, frr.rate[:-1], far_within[:-1])]
    remarks += few_subjects(groups, is_small[:-1])
    remarks += few_errors(groups, is_small, "frr", frr, symmetric)
    remarks += few_errors(groups, is_small, "far", far, symmetric)
    attrs = about_attrs(about, "groups", "verification by group", remarks)
    attrs["groups_of"] = "attempts" if rates.of_attempts else "people"
    return dataset(variables, GROUPS, coordinates, attrs)


class _RateOfGroups(NamedTuple):
    """A rate by group; arrays are (groups + 1, groups + 1).

    Rows are groups of the probe, and columns groups of the gallery template; the last row and the
    last column are all groups together.
    """

    rate: np.ndarray
    errors: np.ndarray
    attempts: np.ndarray
    attempts_once: np.ndarray  # attempts, but each pair of templates of symmetric data once

    @property
    def by_probe(self) -> _RateOfGroups:
        """The rate by group of the probe alone; arrays are (groups + 1,)."""
        return _RateOfGroups(*(x[:, -1] for x in self))

    @property
    def overall(self) -> float:
        return float(self.rate.flat[-1])

    @property
    def expected(self) -> np.ndarray:
        return self.attempts_once * self.overall

    def is_flagged(self, is_small: np.ndarray) -> np.ndarray:
        """Whether a group is small, (groups + 1,), or fewer than 30 errors are expected."""
        return self._involves(is_small) | ~(self.expected >= RuleOf(30))

    def lacks_errors(self, is_small: np.ndarray) -> np.ndarray:
        """Whether fewer than 30 errors are expected, though no group is small."""
        return self.is_flagged(is_small) & ~self._involves(is_small)

    def _involves(self, is_group: np.ndarray) -> np.ndarray:
        return is_group if self.rate.ndim == 1 else is_group[:, None] | is_group


def _rate_of_groups(
    errors: np.ndarray, attempts: np.ndarray, defined: bool, symmetric: bool
) -> _RateOfGroups:
    """Return a rate from counts (groups, groups); NaN unless the threshold is `defined`."""
    attempts_once = with_totals(attempts)
    if symmetric:
        # Pairs within a group are counted twice on the diagonal, and pairs of two groups once on
        # each side of it.
        attempts_once = with_totals(attempts - np.diag(attempts.diagonal() // 2))
        attempts_once[-1, -1] = attempts.sum() // 2
    errors = with_totals(errors)
    attempts = with_totals(attempts)
    return _RateOfGroups(ratio(errors, attempts * defined), errors, attempts, attempts_once)


def with_totals(counts: np.ndarray) -> np.ndarray:
    """Return counts (groups, groups) with a last row and a last column of sums."""
    rows = np.column_stack([counts, counts.sum(axis=1)])
    return np.vstack([rows, rows.sum(axis=0)])


def _undefined(
    defined: bool, groups: np.ndarray, frr: np.ndarray, far: np.ndarray
) -> Iterator[Message]:
    """Yield messages on rates that no group has, or that some groups do not have."""
    code = "rates-of-groups-undefined"
    if not defined:
        why = "there is no genuine or no impostor attempt to choose a threshold on"
        advice = "; give a number as `threshold`"
        yield Message(code, what="rates are", why=why, groups=groups.tolist(), advice=advice)
        return
    for rate, rates, attempts in (("{frr}", frr, "genuine"), ("{far}", far, "impostor")):
        if (unknown := np.isnan(rates)).any():
            why = f"groups without {attempts} attempts"
            listed = groups[unknown].tolist()
            yield Message(code, what=f"{rate} is", why=why, groups=listed, advice="")


def few_subjects(groups: np.ndarray, is_small: np.ndarray) -> list[Message]:
    """Return a warning that groups have too few subjects to be ranked."""
    if not is_small.any():
        return []
    listed = groups[is_small].tolist()
    return [Message("groups-of-few-subjects", needed=FEW_SUBJECTS, groups=listed)]


def few_errors(
    groups: np.ndarray, is_small: np.ndarray, name: str, rate: _RateOfGroups, symmetric: bool
) -> list[Message]:
    """Return a warning that groups, or pairs of groups, have too few errors to be ranked.

    Groups with few subjects, `is_small` (groups + 1,), have a warning of their own.
    """
    is_listed = rate.lacks_errors(is_small)[(slice(-1),) * rate.rate.ndim]
    if not is_listed.any() or math.isnan(rate.overall):
        return []
    errors = {"frr": "false rejects", "far": "false accepts"}[name]
    expected: dict[str, Any] = {
        "needed": int(RuleOf(30)),
        "errors": errors,
        "rate": name,
        "overall": rate.overall,
    }
    if symmetric:
        expected["once"] = "each pair of templates counts once"
    if is_listed.ndim == 1:
        listed = groups[is_listed].tolist()
    else:
        listed = [f"{groups[i]} against {groups[j]}" for i, j in np.argwhere(is_listed)]
    return [Message("few-expected-errors-in-groups", **expected, groups=listed)]


def has_enough_subjects(dataset: xr.Dataset) -> np.ndarray:
    """Return whether each group has enough subjects to be compared, bool (groups,)."""
    return dataset["few_subjects"].values[:-1] == 0
