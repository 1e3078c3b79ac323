"""Messages on thresholds that are beyond the scores, such as those on another scale.

A threshold of 80 for distances from 0 to 1 accepts all attempts, and one of -1 rejects all: its
rates are right, and of no use.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from bioeval.base.errors import Message, message_attrs, messages_of
from bioeval.counting.reduce import Extent, reduce
from bioeval.counting.thresholds import to_internal
from bioeval.scores.matrix import Scores

# A threshold that accepts, or rejects, all but this proportion of both classes may be on another
# scale than the scores.
_ALL_BUT = 0.001

#: The message of one threshold, and of several.
_BEYOND = "threshold-beyond-scores", "thresholds-beyond-scores"


def note_thresholds_beyond_scores(
    dataset: xr.Dataset, thresholds: Sequence[float] | np.ndarray
) -> None:
    """Add a message to a curve if all of these thresholds are beyond its scores.

    A search counts as accepted if any template is within the threshold, at whatever rank.
    """
    far = dataset.get("far")
    frr = dataset.get("frr")
    if "ttr" in dataset:  # open-set searches
        frr = 1 - dataset["ttr"]
    if far is None or frr is None or not far.dims == frr.dims == ("threshold",):
        return
    values = np.asarray(thresholds, dtype=np.float64)
    following = dataset.get("threshold_next", far * np.nan)
    rates_at_each = [x.sel(threshold=values).values for x in (far, frr, following)]
    messages = all_beyond_scores(values, *rates_at_each)
    if messages:
        other_messages = [x for x in messages_of(dataset.attrs) if x not in messages]
        dataset.attrs.update(message_attrs([*messages, *other_messages]))


def all_beyond_scores(
    thresholds: np.ndarray, far: np.ndarray, frr: np.ndarray, following: np.ndarray | None = None
) -> list[Message]:
    """Return the message that no threshold separates the attempts, if none does.

    `following` has the next score beyond each threshold.
    """
    if following is None:
        following = np.full(len(thresholds), np.nan)
    finite = np.flatnonzero(np.isfinite(thresholds)).tolist()
    messages: list[Message] = []
    is_outside = True
    for index in finite:
        messages = beyond_scores(float(thresholds[index]), far[index], frr[index], following[index])
        if not messages:
            return []
        is_outside &= messages[0].arguments["outside"]
    if len(finite) <= 1:
        return messages
    values = thresholds[finite]
    about = {"smallest": float(values.min()), "largest": float(values.max())}
    about |= {"number": len(values), "outside": is_outside}
    return [Message("thresholds-beyond-scores", **about)]


def beyond_scores(
    threshold: float, far: float, frr: float, following: float = np.nan
) -> list[Message]:
    """Return the message that a threshold accepts, or rejects, nearly all of both classes, if so.

    The threshold may be on another scale than the scores. `following` is the next score beyond it.
    """
    # Failed attempts are rejected at any threshold, also at one beyond which there is no score.
    # Where most are rejected, it is infinite distances that do it.
    accepts_scores = bool(np.isinf(following) and far > 0.5 and frr < 0.5)
    part = "at least 99.9 % of the"
    if accepts_scores or (far >= 1 - _ALL_BUT and frr <= _ALL_BUT):
        does = "accepts"
        is_all = accepts_scores or bool(far == 1 and frr == 0)
        if is_all:
            part = "all" if far == 1 and frr == 0 else "all successful"
    elif far <= _ALL_BUT and frr >= 1 - _ALL_BUT:
        does = "rejects"
        is_all = bool(far == 0 and frr == 1)
        if is_all:
            part = "all"
    else:
        return []
    return [Message(_BEYOND[0], threshold=threshold, does=does, part=part, outside=is_all)]


def following_scores(
    scores: Scores, thresholds: Sequence[float] | np.ndarray, *, always: bool = False
) -> np.ndarray:
    """Return infinity for each threshold beyond which no score is accepted, NaN for the others.

    Rates tell it, too, unless comparisons failed, which no threshold accepts: without failures, all
    are NaN, and no score is read, except `always`.
    """
    distances = to_internal(np.asarray(thresholds, dtype=np.float64), scores.kind)
    following = np.full(len(distances), np.nan)
    if always or (scores.nan == "reject" and any(scores.failures)):
        (extent,) = reduce(scores, Extent())
        following[distances >= extent.high] = np.inf
    return following


def outside_scores(result: xr.Dataset | xr.DataTree) -> Message | None:
    """Return the message that all given thresholds are outside all scores of both classes.

    In a tree, they are outside the scores of each task with thresholds.
    """
    results = [result]
    if isinstance(result, xr.DataTree) and not result.attrs.get("messages"):
        results = [x for x in result.subtree if "threshold" in x.variables]
    last_message = None
    for of_task in results:
        messages = [
            message
            for message in messages_of(of_task.attrs)
            if message.code in _BEYOND and message.arguments["outside"]
        ]
        if not messages:  # this task has thresholds among its scores
            return None
        last_message = messages[0]
    return last_message
