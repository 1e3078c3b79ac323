"""Names of the rules that fuse the scores of a subject's templates."""

from __future__ import annotations

from bioeval.base.errors import Argument, DataError, require_choice

FUSIONS = ("min", "mean", "max", "median", "kth:K")


def parse_fusion(fusion: str) -> tuple[str, int]:
    """Return the method and the order of a fusion: ``"kth:2"`` is ``("kth", 2)``."""
    if isinstance(fusion, str) and fusion.startswith("kth:"):
        order = fusion[4:]
        if order.isdecimal() and 1 <= int(order) < 2**31:
            return "kth", int(order)
        raise DataError(
            f"{Argument('fusion')} is {fusion!r}; expected kth:K, K a whole number >= 1"
        )
    require_choice("fusion", fusion, FUSIONS)
    return fusion, 0
