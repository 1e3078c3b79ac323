"""Operating points of every task: the variables of the EER, and the rules of 3 and of 30."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from bioeval.base.errors import counted
from bioeval.base.scalars import EQUAL_ERROR, Scalar
from bioeval.tallies.points import EqualError, per_cent
from bioeval.tallies.thresholds import to_user

#: Rule of 3: no error in n attempts bounds a rate by 3 / n at 95 %.
RULE_OF_3 = 3

#: Rule of 30: with 30 errors a rate is known to within 30 % with 90 % confidence.
RULE_OF_30 = 30

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
    """Return whether the number of impostor attempts supports a FAR target, by the rule of 3."""
    return not target > 0 or attempts >= rule / float(target)  # of Python: infinity, no warning


def attempts_for(rule: int, target: float) -> int:
    """Return the impostor attempts that a rule takes for a FAR target, up to `MOST_ATTEMPTS`."""
    wanted = rule / float(target) * (1 - 1e-12)
    return math.ceil(wanted) if wanted < MOST_ATTEMPTS else MOST_ATTEMPTS


def support_warnings(
    targets: Iterable[float], attempts: float, symmetric: bool, rate: str
) -> list[str]:
    """Return a warning of the FAR targets that the number of impostor attempts cannot support.

    With ``n`` attempts and a target ``x``: ``n < 1/x`` makes the point that of zero false
    accepts; ``n < 3/x``: not even zero errors support ``x`` at 95 % (rule of 3); ``n < 30/x``:
    fewer than 30 errors are expected (rule of 30, Doddington et al. 2000).
    """
    found = []
    for x in targets:
        if supported(x, attempts, RULE_OF_30):
            continue
        if not supported(x, attempts, 1):
            why = "not one false accept is allowed: the same as at FAR = 0"
        elif not supported(x, attempts):
            why = "not supported at 95 % even without a false accept, rule of 3"
        else:
            why = f"about {attempts * x:.2g} false accepts expected, rule of 30"
        found.append(f"FAR {per_cent(x)} ({why})")
    if not found:
        return []
    made = counted(attempts, "impostor pairs" if symmetric else "impostor attempts")
    return [f"only {made}: too few for {rate} at {'; '.join(found)}"]


def kind_warnings(eer: float, kind: str) -> list[str]:
    """Return a warning of an EER above 0.5: the scores are likely of the other kind."""
    other = {"distance": "similarities"}.get(kind, "distances")
    if not eer > 0.5 or kind == "order":
        return []
    word = "similarity" if kind == "distance" else "distance"
    return [
        f"the EER is above 50 %: {kind} is likely the wrong kind of these scores; "
        f'`kind="{word}"` reads them as {other}'
    ]
