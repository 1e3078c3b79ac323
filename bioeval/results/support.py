"""Operating points of every task: the variables of the EER, and the rules of 3 and of 30."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from bioeval.base.errors import counted
from bioeval.base.kinds import PLURALS, larger_is_closer
from bioeval.base.scalars import EQUAL_ERROR, Scalar
from bioeval.tallies.points import FAR_TARGETS, EqualError, per_cent
from bioeval.tallies.thresholds import to_user

#: Rule of 3: no error in n attempts bounds a rate by 3 / n at 95 %.
RULE_OF_3 = 3

#: Rule of 30: with 30 errors a rate is known to within 30 % with 90 % confidence.
RULE_OF_30 = 30

#: Attribute of results: the warning that labels or kind of the scores are doubtful.
KIND_DOUBT = "kind_doubt"

#: The largest number of attempts that results hold (int64).
MOST_ATTEMPTS = 2**63 - 1


def equal_error_variables(error: EqualError, kind: str) -> dict[str, tuple[tuple, float]]:
    """Return the EER, its threshold and bracket as variables without dimensions."""
    return point_variables({x: getattr(error, x.name) for x in EQUAL_ERROR}, kind)


def point_variables(values: Mapping[Scalar, float], kind: str) -> dict[str, tuple[tuple, float]]:
    """Return scalars of the operating points as variables, thresholds in the user's units."""
    return {
        scalar.name: ((), to_user(value, kind) if scalar.units == "score" else value)
        for scalar, value in values.items()
    }


def supported(target: float, attempts: float, rule: int = RULE_OF_3) -> bool:
    """Whether the number of impostor attempts supports a FAR target, by the rule of 3."""
    return not target > 0 or attempts >= rule / float(target)  # of Python: infinity, no warning


def wanted_targets(targets: Sequence[float], attempts: float) -> list[bool]:
    """Say of each FAR target whether to show it: the default ones if they are supported."""
    usual = tuple(targets[: len(FAR_TARGETS)]) == FAR_TARGETS
    return [not usual or supported(x, attempts) for x in targets]


def attempts_for(rule: int, target: float) -> int:
    """Return the impostor attempts that a rule needs for a FAR target, up to `MOST_ATTEMPTS`."""
    wanted = rule / float(target) * (1 - 1e-12)
    return math.ceil(wanted) if wanted < MOST_ATTEMPTS else MOST_ATTEMPTS


def support_warnings(
    targets: Iterable[float], attempts: float, symmetric: bool, rate: str, chosen: str = "FAR"
) -> list[str]:
    """Return a warning of the targets that the number of attempts cannot support.

    The targets are of the `chosen` rate: of FAR, with impostor attempts, or of FRR, with genuine
    ones. With ``n`` attempts and a target ``x``: ``n < 1/x`` makes the point that of zero false
    errors; ``n < 3/x``: not even zero errors support ``x`` at 95 % (rule of 3); ``n < 30/x``:
    fewer than 30 errors are expected (rule of 30, Doddington et al. 2000).
    """
    found, errors, role = [], "false accepts", "impostor"
    if chosen == "FRR":
        errors, role = "false rejects", "genuine"
    for x in targets:
        if supported(x, attempts, RULE_OF_30):
            continue
        if not supported(x, attempts, 1):
            why = f"fewer attempts than 1 / {chosen}: the same as at {chosen} = 0"
        elif not supported(x, attempts):
            why = f"{attempts_for(RULE_OF_3, x):,} needed: rule of 3"
        else:
            why = f"about {attempts * x:.2g} {errors} expected, 30 needed: rule of 30"
        found.append(f"{chosen} {per_cent(x)} ({why})")
    if not found:
        return []
    made = counted(attempts, f"{role} pairs" if symmetric else f"{role} attempts")
    verb = "is" if attempts == 1 else "are"
    return [f"{made} {verb} too few for {rate} at {'; '.join(found)}"]


#: EER of fused attempts of scores at random, at most: a probe is no template of its own subject, so
#: that the group of a genuine attempt has one template less than others (of 2 templates, 0.618).
_CHANCE_OF_FUSED = 0.62


def judge_kind(
    eer: float, kind: str, people: int, *, diagonal: int = 0, fused: bool = False
) -> tuple[str, str, str]:
    """Return what an EER shows of the kind of scores: severity, finding and remedy.

    `people` is the number of subjects, or of genuine attempts where these are fewer, `diagonal` 1
    where a template is nearest to itself, -1 where it is farthest, 0 if unknown. Attempts of
    several templates are `fused`.
    """
    other = "distance" if larger_is_closer(kind) else "similarity"
    margin = 1.0 / math.sqrt(max(2, people))  # two standard errors of a rate of one half
    message = f"{PLURALS[kind]}; EER about {100 * eer:.3g} %"
    if not eer > 0.5:
        if not eer > 0.5 - margin / 2:
            return "ok", message, ""
        remedy = "check labels and kind, since the scores hardly separate subjects"
        return "warning", f"{message}, near chance", remedy
    swap = f'`kind="{other}"` reverses them'
    certain = eer > (_CHANCE_OF_FUSED if fused else 0.5) + margin
    if diagonal > 0:
        severity = "error" if certain else "warning"
        message += ": worse than chance, yet each template is nearest to itself"
        return (
            severity,
            message,
            ("the kind seems right and the labels wrong; check the order of the labels"),
        )
    if certain or diagonal < 0:
        proof = ", and each template is farthest from itself" if diagonal < 0 else ""
        remedy = f"{kind} is probably the wrong kind: {swap}"
        return "error", f"{message}: worse than chance{proof}", remedy
    remedy = f"check the labels, and the kind: {swap}"
    return "warning", f"{message}: no better than chance", remedy


#: What is said instead of a threshold to install, where the kind or the labels are doubtful.
NO_INSTALL = (
    "No threshold to install: impostor scores are nearer than genuine scores. Mend the kind or the "
    "labels as the warning says, and repeat."
)


def refuses_threshold(doubt: str) -> bool:
    """Whether a doubt of the kind or the labels is so strong that no threshold is of use."""
    return bool(doubt) and "near chance" not in doubt


def kind_doubt(eer: float, kind: str, people: int, *, fused: bool = False) -> str:
    """Return a warning of scores near chance or below it; empty where there is no doubt."""
    if kind == "order" or math.isnan(eer):
        return ""
    severity, message, remedy = judge_kind(eer, kind, people, fused=fused)
    return "" if severity == "ok" else f"{message}; {remedy}"
