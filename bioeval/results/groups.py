"""Verification by group: rates, own thresholds, and measures of inequality between groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import cut, escaped
from bioeval.base.scalars import Name
from bioeval.base.variables import VERIFICATION, ends, picked
from bioeval.results.dataset import about_attrs, along, build
from bioeval.results.support import RULE_OF_30
from bioeval.tallies.judged import GroupTally
from bioeval.tallies.points import per_cent
from bioeval.tallies.thresholds import to_user

_FLAG = "1 where {}, else 0"

GROUPS: dict[str, Name] = {
    **picked(VERIFICATION, "frr", "fr", "genuine_attempts", "far", "fa", "impostor_attempts"),
    "subjects": Name("subjects of the group, on either side", "subjects"),
    "threshold": Name("threshold of all groups", "score"),
    "frr_overall": Name("FRR of all groups together", iso="FNMR"),
    "far_overall": Name("FAR of all groups together", iso="FMR"),
    "threshold_at_far": Name(
        "loosest attainable threshold with FAR at most the target within the group", "score"
    ),
    "frr_at_far": Name(
        "smallest FRR of the group with FAR at most the target within the group", iso="FNMR at FMR"
    ),
    "expected_fr": Name("false rejects expected at the overall FRR", "attempts"),
    "expected_fa": Name("false accepts expected at the overall FAR", "attempts"),
    "expected_fa_at_far": Name("false accepts expected within the group at the target", "attempts"),
    "few_subjects": Name(_FLAG.format("the group has fewer than 30 subjects")),
    "frr_flagged": Name(_FLAG.format("subjects or expected false rejects are fewer than 30")),
    "far_flagged": Name(
        _FLAG.format("subjects of either group or expected false accepts are fewer than 30")
    ),
    "frr_at_far_flagged": Name(
        _FLAG.format("subjects or false accepts expected at the target are fewer than 30")
    ),
    "fdr": Name(
        "fairness discrepancy rate: 1 less the weighted ranges of FAR and FRR over groups; 1 where "
        "all groups are alike"
    ),
    "garbe": Name(
        "Gini aggregation rate for biometric equitability: weighted Gini coefficients of FAR and "
        "FRR over groups; 0 where all groups are alike"
    ),
    **{
        f"{rate}_max_over_{other}": Name(
            f"largest {rate.upper()}{within} of a group over the {words}"
        )
        for rate, within in (("far", " within the group"), ("frr", ""))
        for other, words in (("min", "smallest"), ("geomean", "geometric mean"))
    },
}

GROUPS |= ends(
    GROUPS,
    (
        *("frr", "far", "frr_at_far", "threshold_at_far", "fdr", "garbe"),
        *(x for x in GROUPS if "_max_over_" in x),
    ),
)

#: Groups with fewer subjects are flagged.
FEW_SUBJECTS = 30

#: The scalars that compare groups, in the order of tables.
INEQUITY = (
    "fdr", "garbe",
    "far_max_over_min", "far_max_over_geomean", "frr_max_over_min", "frr_max_over_geomean",
)  # fmt: skip

# Groups that a warning names.
_NAMED = 6


def inequity(far: np.ndarray, frr: np.ndarray, alpha: float) -> dict[str, np.ndarray]:
    """Return the measures of `INEQUITY`.

    Parameters
    ----------
    far, frr : float arrays, shape (groups, ...)
        FAR within each group, and FRR of each.
    alpha : float
        Weight of FAR in FDR and GARBE.
    """
    found = {
        "fdr": 1 - (alpha * _range(far) + (1 - alpha) * _range(frr)),
        "garbe": alpha * _gini(far) + (1 - alpha) * _gini(frr),
    }
    if len(far) < 2:
        found = {name: np.full(far.shape[1:], np.nan) for name in found}
    for name, rates in (("far", far), ("frr", frr)):
        known = np.where((rates > 0).all(axis=0), rates, np.nan)
        largest = known.max(axis=0)
        found[f"{name}_max_over_min"] = largest / known.min(axis=0)
        found[f"{name}_max_over_geomean"] = largest / np.exp(np.log(known).mean(axis=0))
    return found


def _range(rates: np.ndarray) -> np.ndarray:
    return rates.max(axis=0) - rates.min(axis=0)


def _gini(rates: np.ndarray) -> np.ndarray:
    """Return the Gini coefficient, corrected for the number of groups; 0 where all rates are 0."""
    n = len(rates)
    place = (2 * np.arange(n) - n + 1).reshape(-1, *[1] * (rates.ndim - 1))
    differences = 2 * (place * np.sort(rates, axis=0)).sum(axis=0)
    mean = rates.mean(axis=0)
    defined = np.where(mean > 0, mean, 1.0)
    return np.where(mean == 0, 0.0, differences / (2 * max(n - 1, 1) * n * defined))


@dataclass(frozen=True)
class Grouping:
    """The groups of a result: their labels, and the number of subjects of each."""

    labels: np.ndarray
    subjects: np.ndarray

    @property
    def texts(self) -> list[str]:
        """The labels, short and printable."""
        return [cut(escaped(str(label)), 40) for label in self.labels.tolist()]


def groups_dataset(
    tally: GroupTally, groups: Grouping, targets: np.ndarray, alpha: float, symmetric: bool
) -> xr.Dataset:
    """Return the rates by group; `symmetric` data hold each pair of templates twice."""
    kind, defined = tally.about.kind, tally.chosen.defined
    genuine, impostor = tally.genuine_attempts, tally.impostor_attempts
    frr, far = (
        _rate(errors, made, defined)
        for errors, made in ((tally.false_rejects, genuine), (tally.false_accepts, impostor))
    )
    frr_all = float(_rate(tally.false_rejects.sum(), genuine.sum(), defined))
    far_all = float(_rate(tally.false_accepts.sum(), impostor.sum(), defined))
    at_far = np.array([
        [one.at_far(x) if one.defined else (np.nan, np.nan) for x in targets.tolist()]
        for one in tally.own
    ]).reshape(len(tally.own), len(targets), 2)  # fmt: skip
    pairs = impostor - np.diag(impostor.diagonal() // 2) if symmetric else impostor
    expected = {
        "expected_fr": (genuine // 2 if symmetric else genuine) * frr_all,
        "expected_fa": pairs * far_all,
        "expected_fa_at_far": pairs.diagonal()[:, None] * targets,
    }
    few = groups.subjects < FEW_SUBJECTS
    over, both, own = ("group",), ("group", "claimed_group"), ("group", "far_target")
    flags = {
        "few_subjects": few,
        "frr_flagged": few | ~(expected["expected_fr"] >= RULE_OF_30),
        "far_flagged": few[:, None] | few | ~(expected["expected_fa"] >= RULE_OF_30),
        "frr_at_far_flagged": few[:, None] | ~(expected["expected_fa_at_far"] >= RULE_OF_30),
    }
    dims = {"fr": over, "fa": both, "fa_at_far": own}
    shapes = {1: over, 2: both}
    measures = inequity(far.diagonal(), frr, alpha)
    variables: dict[str, Any] = {
        **along(
            over,
            frr=frr,
            fr=tally.false_rejects,
            genuine_attempts=genuine,
            subjects=groups.subjects,
        ),
        **along(both, far=far, fa=tally.false_accepts, impostor_attempts=impostor),
        "threshold_at_far": (own, to_user(at_far[..., 1], kind)),
        "frr_at_far": (own, at_far[..., 0]),
        **{name: (dims[name.removeprefix("expected_")], x) for name, x in expected.items()},
        **{
            name: (own if "at_far" in name else shapes[x.ndim], x.astype(np.int64))
            for name, x in flags.items()
        },
        "threshold": to_user(tally.chosen.threshold, kind),
        "frr_overall": frr_all,
        "far_overall": far_all,
        **{name: measures[name] for name in INEQUITY},
    }
    coordinates = {"group": groups.labels, "claimed_group": groups.labels, "far_target": targets}
    remarks = [
        *_undefined(tally, groups, frr, far.diagonal()),
        *_flagged(groups, flags, frr_all, far_all, targets),
    ]
    attrs = about_attrs(tally.about, "verification by group", remarks)
    return build(variables, GROUPS, coordinates, attrs | {"alpha": alpha})


def _rate(errors: Any, attempts: Any, defined: bool) -> np.ndarray:
    """Return errors over attempts; NaN without attempts, or without a threshold."""
    known = (np.asarray(attempts) > 0) & defined
    return np.where(known, errors / np.where(known, attempts, 1), np.nan)


def _undefined(tally: GroupTally, groups: Grouping, frr: np.ndarray, far: np.ndarray) -> list[str]:
    """Return why measures of inequity are not defined."""
    if not tally.chosen.defined:
        return [
            "there is no genuine or no impostor attempt to choose a threshold on: rates are not "
            "defined (NaN); give a number as `threshold`"
        ]
    if len(groups.labels) < 2:
        return [f"there is only one group ({groups.texts[0]}): FDR and GARBE are not defined (NaN)"]
    found = []
    for rates, what, attempt in (
        (frr, "FRR", "genuine attempt"), (far, "FAR within the group", "impostor attempt")
    ):  # fmt: skip
        if (unknown := np.isnan(rates)).any():
            found.append(
                f"no {attempt} in {named(groups, unknown)}: {what} is not defined (NaN), nor are "
                "FDR, GARBE and its ratios"
            )
        elif (rates == 0).any():
            found.append(
                f"{what} is 0 in {named(groups, rates == 0)}: its ratios are not defined (NaN)"
            )
    return found


def _flagged(
    groups: Grouping, flags: dict[str, np.ndarray], frr: float, far: float, targets: np.ndarray
) -> list[str]:
    """Return warnings of groups with too few attempts or errors to be ranked."""
    found = []
    few = flags["few_subjects"]
    if few.any():
        found.append(
            f"fewer than {FEW_SUBJECTS} subjects: {named(groups, few)}; flagged, and not to be "
            "ranked"
        )
    by_errors = flags["frr_flagged"] & ~few
    if by_errors.any():
        found.append(
            f"fewer than {RULE_OF_30} false rejects expected at the overall FRR of "
            f"{per_cent(round(frr, 6))} (rule of 30): {named(groups, by_errors)}"
        )
    pairs = flags["far_flagged"] & ~(few[:, None] | few)
    if pairs.any():
        found.append(
            f"fewer than {RULE_OF_30} false accepts expected at the overall FAR of "
            f"{per_cent(round(far, 8))} (rule of 30): {int(pairs.sum())} of {pairs.size} pairs of "
            "groups"
        )
    for i, target in enumerate(targets.tolist()):
        own = flags["frr_at_far_flagged"][:, i] & ~few
        if own.any():
            found.append(
                f"fewer than {RULE_OF_30} false accepts expected at FAR {per_cent(target)} within "
                f"the group (rule of 30): {named(groups, own)}"
            )
    return found


def named(groups: Grouping, which: Sequence[bool] | np.ndarray) -> str:
    """Return the names of groups; of many, the first few."""
    names = [text for text, flag in zip(groups.texts, which, strict=True) if flag]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
