"""Scores as distances, and the rules that fuse distances of several templates.

Similarities are negated, and failed comparisons come after every score.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from bioeval.base.arguments import require_choice
from bioeval.base.errors import DataError, ProtocolError, received
from bioeval.base.kinds import LARGER_IS_CLOSER, Kind


def distance_dtype(dtype: np.dtype) -> np.dtype:
    """Return the smaller dtype that holds scores of a dtype exactly for counting."""
    small = dtype.itemsize <= 2 or dtype == np.float32
    return np.dtype(np.float32 if small else np.float64)


def with_failures(distances: np.ndarray, failed: np.ndarray) -> np.ndarray:
    """Return distances in which failed comparisons are attempts that no threshold accepts.

    Failed comparisons are +inf, after every score. An infinite score, which the infinite threshold
    accepts, is the largest number of the dtype instead; see :func:`scored`.
    """
    attempts = np.minimum(distances, np.finfo(distances.dtype).max)  # NaN stays
    attempts[failed] = np.inf
    return attempts


def scored(attempts: np.ndarray) -> np.ndarray:
    """Return scores as they were before :func:`with_failures`, with NaN for failed comparisons."""
    scores = np.where(attempts == np.inf, attempts.dtype.type(np.nan), attempts)
    scores[attempts == np.finfo(attempts.dtype).max] = np.inf
    return scores


def farthest(attempts: np.ndarray) -> np.ndarray:
    """Return distances of :func:`with_failures` with +inf for infinite scores and for failures."""
    return np.where(attempts == np.finfo(attempts.dtype).max, np.inf, attempts)


def as_distances(
    raw: np.ndarray, kind: Kind, unread: Callable[[], np.ndarray] | None = None
) -> np.ndarray:
    """Return values as C-contiguous float32 or float64 distances, exactly.

    Similarities are negated. Raise where float64 cannot represent an integer or an extended float,
    except in the cells that `unread` returns as a mask.
    """
    target = distance_dtype(raw.dtype)
    with np.errstate(over="ignore"):
        values = np.require(raw, target, ("C", "A"))
    if raw.dtype.itemsize >= 8 and raw.dtype != np.float64:
        inexact = (values != raw) & (raw == raw)
        if raw.dtype.kind != "f":
            inexact = (raw > 2**53) | (raw < (0 if raw.dtype.kind == "u" else -(2**53)))
        if inexact.any() and unread is not None:
            inexact &= ~unread()
        if inexact.any():
            row, column = np.unravel_index(int(np.argmax(inexact)), inexact.shape)
            raise DataError(
                f"{int(inexact.sum())} {raw.dtype} scores of one block of rows cannot be counted "
                f"exactly in float64, the first is {raw[row, column]}; scale the scores (whole "
                "numbers up to 2**53 are exact)"
            )
    return np.negative(values) if kind in LARGER_IS_CLOSER else values


# ---------------------------------------------------------------------------------- rules of fusion


#: Whether a claim is compared with one template of the subject, or with all.
Templates = Literal["single", "multi"]

# Type checkers know K up to 9; a larger K works too.
_Plain = Literal["best", "mean", "worst", "median", "min", "max"]
_Kth = Literal["kth:1", "kth:2", "kth:3", "kth:4", "kth:5", "kth:6", "kth:7", "kth:8", "kth:9"]

#: Rules that fuse the scores of a subject's templates.
FusionRule = Literal[_Plain, _Kth]

#: The rules in words. `min` and `max` become `best` or `worst` by the kind of the scores (see
#: :func:`by_closeness`) before distances are fused.
FUSIONS = {
    "best": "the closest of the subject's templates decides: the smallest distance, the largest "
    "similarity",
    "mean": "the mean over the subject's templates: the exact sum of their scores, rounded once, "
    "over their number",
    "worst": "the farthest of the subject's templates decides: the largest distance, the smallest "
    "similarity",
    "median": "the median over the subject's templates",
    "kth:K": "the K-th closest of the subject's templates decides; a subject with fewer than K "
    "usable templates is not an attempt, and results say how many there are",
    "min": "the smallest score of the subject's templates decides: of distances the best, of "
    "similarities the worst",
    "max": "the largest score of the subject's templates decides: of distances the worst, of "
    "similarities the best",
}


def parse_fusion(fusion: str) -> tuple[str, int]:
    """Return the method and the order of a rule: ``"kth:2"`` is ``("kth", 2)``."""
    if isinstance(fusion, str) and fusion.startswith("kth:"):
        order = fusion[4:]
        if order.isdecimal() and 1 <= int(order) < 2**31:
            return "kth", int(order)
        raise DataError(f"`fusion` is {received(fusion)}; expected kth:K, K a whole number >= 1")
    require_choice("fusion", fusion, tuple(FUSIONS))
    return fusion, 0


def require_use_of_fusion(fusion: str, is_fused: bool, call: str, need: str) -> None:
    """Raise :class:`ProtocolError` for a rule of fusion where no scores are fused."""
    parse_fusion(fusion)
    if fusion != "best" and not is_fused:
        raise ProtocolError(f"`fusion` has no effect in be.{call} without `{need}`; leave it out")


def order_of(fusion: str | None) -> int:
    """Return the number of templates that a rule needs: K for ``"kth:K"``, else 1."""
    return max(1, parse_fusion(fusion or "best")[1])


def by_closeness(fusion: str, kind: Kind) -> str:
    """Return the rule that holds for distances: "min" and "max" become best or worst."""
    best, worst = ("max", "min") if kind in LARGER_IS_CLOSER else ("min", "max")
    return {best: "best", worst: "worst"}.get(fusion, fusion)
