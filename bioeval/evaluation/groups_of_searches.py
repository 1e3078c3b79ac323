"""Open-set identification by demographic group of the probe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import Argument, DataError, ProtocolError
from bioeval.base.scalars import Name
from bioeval.base.variables import OPEN_SET, ends, picked
from bioeval.evaluation.identification import open_set
from bioeval.results.dataset import along, build
from bioeval.results.groups import FEW_SUBJECTS, GROUPS, INEQUITY, Grouping, inequity, named
from bioeval.results.support import RULE_OF_30
from bioeval.scores.matrix import Scores
from bioeval.tallies.threshold_rules import Rule

SEARCHES: dict[str, Name] = {
    **picked(OPEN_SET, "frr", "far", "fa"),
    "fr": Name("mated searches without the mate at rank 1 within the threshold", "searches"),
    **picked(OPEN_SET, "genuine_attempts", "impostor_attempts"),
    "subjects": Name("subjects of the group among the probes", "subjects"),
    **picked(GROUPS, "threshold", "frr_overall", "far_overall"),
    "threshold_at_far": Name(
        "loosest attainable threshold with FAR at most the target in the group", "score"
    ),
    "frr_at_far": Name("smallest FRR of the group with FAR at most the target in the group"),
    **picked(GROUPS, "expected_fr", "few_subjects", "frr_flagged"),
    "expected_fa": Name("false accepts expected at the overall FAR", "searches"),
    "far_flagged": Name("1 where subjects or expected false accepts are fewer than 30, else 0"),
    **{name: GROUPS[name] for name in INEQUITY},
}
SEARCHES |= ends(SEARCHES, ("frr", "far", "frr_at_far"))


def searches_by_group(
    scores: Scores,
    groups: tuple[np.ndarray, np.ndarray],
    rule: Rule,
    targets: np.ndarray,
    alpha: float,
    options: Mapping[str, Any],
) -> xr.Dataset:
    """Return FRR and FAR at rank 1 by the probe's group: `groups` are labels and places of probes.

    Every group searches the whole gallery. Its counts are those of its own probes.
    """
    if rule.name not in ("eer", "far", "fixed"):
        raise DataError(
            f"{Argument('threshold', str(rule))} of open-set identification; expected a number, "
            '"eer" or ("far", x)'
        )
    sought = [*targets.tolist(), *(rule.values if rule.name == "far" else ())]
    given = {
        **options,
        "max_rank": 1,
        "selectivity": False,
        "far_targets": list(dict.fromkeys(sought)),
    }
    plain = {**given, "interval": None}
    at = rule.values[0] if rule.name == "fixed" else 0.0
    whole = open_set(scores, **plain, thresholds=[at])
    if rule.name != "fixed":
        chosen = whole["eer_threshold"]
        if rule.name == "far":
            chosen = whole["threshold_at_far"].sel(far_target=rule.values[0])[0]
        at = float(chosen)
        if np.isnan(at):
            raise ProtocolError(
                f"{Argument('threshold', str(rule))} chooses no threshold on these searches; give "
                "a number"
            )
        whole = open_set(scores, **plain, thresholds=[at])
    # All probes together decide who plays the impostor, not those of one group.
    given |= {"impostors": whole.attrs["impostors"], "thresholds": [at]}
    labels, group = groups
    parts = [
        open_set(scores.select(probes=np.flatnonzero(group == g)), **given)
        for g in range(len(labels))
    ]
    return _dataset(parts, whole, labels, targets, alpha)


def _dataset(
    parts: list[xr.Dataset],
    whole: xr.Dataset,
    labels: np.ndarray,
    targets: np.ndarray,
    alpha: float,
) -> xr.Dataset:
    """Return the results of the groups in one dataset."""
    over, own = ("group",), ("group", "far_target")

    def of(name: str) -> np.ndarray:
        return np.array([x[name].values.reshape(-1)[0] for x in parts])

    def at_targets(name: str) -> np.ndarray:
        rows = [x[name].sel(far_target=targets).values[:, 0] for x in parts]
        return np.array(rows).reshape(len(parts), len(targets))

    genuine, impostor = of("genuine_attempts"), of("impostor_attempts")
    frr, far = of("frr"), of("far")
    overall = {x: float(whole[x].values[0]) for x in ("frr", "far")}
    expected = {"fr": genuine * overall["frr"], "fa": impostor * overall["far"]}
    subjects = np.array([x.attrs["probe_subjects"] for x in parts])
    few = subjects < FEW_SUBJECTS
    flags = {
        "few_subjects": few,
        "frr_flagged": few | ~(expected["fr"] >= RULE_OF_30),
        "far_flagged": few | ~(expected["fa"] >= RULE_OF_30),
    }
    variables: dict[str, Any] = {
        **along(
            over,
            frr=frr,
            fr=genuine - of("di"),
            genuine_attempts=genuine,
            subjects=subjects,
            far=far,
            fa=of("fa"),
            impostor_attempts=impostor,
        ),
        "threshold_at_far": (own, at_targets("threshold_at_far")),
        "frr_at_far": (own, 1 - at_targets("dir_at_far")),
        **{f"expected_{name}": (over, x) for name, x in expected.items()},
        **{name: (over, x.astype(np.int64)) for name, x in flags.items()},
        "threshold": float(whole["threshold"][0]),
        **{f"{name}_overall": x for name, x in overall.items()},
        **inequity(far, frr, alpha),
    }
    if "frr_low" in parts[0]:
        for end, other in (("low", "high"), ("high", "low")):
            variables |= {f"{x}_{end}": (over, of(f"{x}_{end}")) for x in ("frr", "far")}
            variables[f"frr_at_far_{end}"] = own, 1 - at_targets(f"dir_at_far_{other}")
    attrs = {**whole.attrs, **{k: parts[0].attrs[k] for k in _OF_INTERVALS if k in parts[0].attrs}}
    attrs |= {"task": "open-set identification by group", "alpha": alpha}
    attrs["warnings"] = "\n".join(_warnings(Grouping(labels, subjects), flags))
    return build(variables, SEARCHES, {"group": labels, "far_target": targets}, attrs)


_OF_INTERVALS = ("interval_method", "confidence", "interval_for", "replicates", "random_state")


def _warnings(groups: Grouping, flags: Mapping[str, np.ndarray]) -> list[str]:
    """Return warnings of groups with too few subjects or errors to be ranked."""
    few, found = flags["few_subjects"], []
    if few.any():
        found.append(
            f"fewer than {FEW_SUBJECTS} subjects: {named(groups, few)}; flagged, and not to be "
            "ranked"
        )
    for name, what in (("frr_flagged", "missed mates"), ("far_flagged", "false accepts")):
        wrong = flags[name] & ~few
        if wrong.any():
            found.append(
                f"fewer than {RULE_OF_30} {what} expected at the overall rate (rule of 30): "
                f"{named(groups, wrong)}"
            )
    return found
