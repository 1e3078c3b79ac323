"""Looks at a claim as data grow: the error is shared by all of them, and people are recognised."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import xarray as xr

from bioeval import DataError, Scores
from bioeval.base import Argument, counted
from bioeval.results import read_results
from bioeval.scores import codes_of

#: A result of ``check_claim``, or its file or folder.
Previous: TypeAlias = xr.Dataset | str | os.PathLike[str]


@dataclass(frozen=True)
class Look:
    """One look at a claim, of at most so many.

    Each look has an equal part of the error (Bonferroni), so that all of them together are wrong
    with the error of the claim at most, however much their data have in common.
    """

    number: int
    most: int
    #: Earlier results about other people, which are no looks at these.
    elsewhere: int = 0

    def confidence(self, of_claim: float) -> float:
        """Return the confidence of each limit."""
        return 1 - (1 - of_claim) / self.most


def digests_of_people(scores: Scores) -> np.ndarray:
    """Return a digest of the name of each person of some scores, in increasing order."""
    import xxhash

    codes = codes_of(scores)
    present = np.union1d(codes.probe, codes.gallery)
    names = [str(x).encode() for x in codes.values[present].tolist()]
    return np.unique(np.array(list(map(xxhash.xxh3_64_intdigest, names)), dtype=np.uint64))


def current_look(
    claim: dict[str, Any],
    digests: np.ndarray,
    looks: int,
    previous: Previous | Sequence[Previous] | None,
) -> Look:
    """Return which look at a claim this is, after earlier results; raise where none is left.

    `claim` are the threshold, the rate and its bound by the names they have in a result.
    """
    if previous is None:
        return Look(1, looks)
    number, elsewhere = 1, 0
    for one in previous if isinstance(previous, (list, tuple)) else [previous]:
        earlier = _result(one)
        _require_same(claim, earlier, looks)
        if np.isin(earlier["person_digest"].values, digests).any():
            number += 1
        else:
            elsewhere += 1
    if number > looks:
        raise DataError(
            f"this is look {number} at the claim, because people of these data are in "
            f"{counted(number - 1, 'earlier results')}, and ",
            Argument("looks"),
            f" is {looks}: no error is left for it. Plan the number of looks before the first "
            "one, or give data of other people",
        )
    return Look(number, looks, elsewhere)


def _result(previous: Any) -> xr.Dataset:
    """Return an earlier result, from its file or folder if it is not one itself."""
    expected = "expected a result of be.check_claim, or its results.nc or folder"
    if isinstance(previous, (str, os.PathLike)):
        previous = read_results(previous, "a result of be.check_claim").to_dataset()
    if not isinstance(previous, xr.Dataset):
        raise DataError(Argument("previous"), f" has {type(previous).__name__}; {expected}")
    if "verdict" not in previous or "person_digest" not in previous:
        raise DataError(Argument("previous"), f" has a dataset without a verdict; {expected}")
    return previous


def _require_same(claim: dict[str, Any], earlier: xr.Dataset, looks: int) -> None:
    """Raise :class:`DataError` unless an earlier result is about the same claim and plan."""
    before = {
        "rate": earlier.attrs["rate"],
        "claim": float(earlier["claim"]),
        "threshold": float(earlier["threshold"]),
        "confidence": float(earlier.attrs["confidence"]),
    }
    for name, value in claim.items():
        if before[name] != value:
            raise DataError(
                Argument("previous"),
                f" has a result whose {name} is {before[name]}, and here it is {value}; expected "
                "earlier looks at the same claim",
            )
    planned = int(earlier.attrs["looks"])
    if planned != looks:
        raise DataError(
            Argument("previous"),
            f" has a result of {counted(planned, 'planned looks')}, and ",
            Argument("looks"),
            f" is {looks}; expected the number planned before the first look",
        )
