"""What the operating points of all tasks share: the EER's variables, and the rules of support."""

from __future__ import annotations

from collections.abc import Iterable

from bioeval.tallies.points import EqualError
from bioeval.tallies.thresholds import to_user

#: Without an error in n attempts, a rate of 3 / n is still open at 95 %.
RULE_OF_3 = 3

#: So many errors make a rate known to within 30 % with 90 % confidence.
RULE_OF_30 = 30


def equal_error_variables(error: EqualError, kind: str) -> dict[str, tuple[tuple, float]]:
    """Return the EER, its threshold and bracket as variables without dimensions."""
    return {
        "eer": ((), error.eer),
        "eer_threshold": ((), to_user(error.eer_threshold, kind)),
        "far_at_eer": ((), error.far_at_eer),
        "frr_at_eer": ((), error.frr_at_eer),
        "eer_low": ((), error.eer_low),
        "eer_high": ((), error.eer_high),
    }


def supported(target: float, attempts: float) -> bool:
    """Say whether a FAR target could show in so many impostor attempts, by the rule of 3."""
    return not target > 0 or attempts >= RULE_OF_3 / target


def support_warnings(
    targets: Iterable[float], attempts: float, symmetric: bool, rate: str
) -> list[str]:
    """Say which FAR targets the number of impostor attempts cannot support.

    With ``n`` attempts and a target ``x``: ``n < 1/x`` makes the point that of zero false
    accepts; ``n < 3/x``: not even zero errors support ``x`` at 95 % (rule of 3); ``n < 30/x``:
    fewer than 30 errors are expected (rule of 30, Doddington et al. 2000).
    """
    found = []
    for x in targets:
        if not x > 0 or attempts >= RULE_OF_30 / x:
            continue
        if attempts < 1 / x:
            why = "not one false accept is allowed: the same as none at all"
        elif not supported(x, attempts):
            why = "even no false accept would not show it at 95 %, rule of 3"
        else:
            why = f"about {attempts * x:.2g} false accepts expected, rule of 30"
        found.append(f"FAR {x:g} ({why})")
    if not found:
        return []
    counted = f"{attempts:,.0f} impostor {'pairs' if symmetric else 'attempts'}"
    return [f"{counted} are few for {rate} at {'; '.join(found)}"]
