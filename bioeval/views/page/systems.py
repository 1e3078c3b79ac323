"""What keeps the systems of a page from being read side by side: other attempts, other scales."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bioeval.views.page import words
from bioeval.views.page.live import LivePart, LiveState
from bioeval.views.page.parts import PageItem
from bioeval.views.terms import speaker

# FAR + FRR at the EER threshold of another system, where scores are on another scale: most
# decisions of one class are wrong, and a threshold of its own makes at most half the errors.
_USELESS = 0.9

#: The attribute of results that says what a system lacks of another one.
NOT_SHARED = "not_shared"

_CLASSES = ("genuine_attempts", "impostor_attempts")


def doubts_of_systems(parts: list[PageItem], state: LiveState) -> list[dict[str, Any]]:
    """Return warnings about systems that do not share their attempts, or the scale of scores."""
    said = [
        (part.title, speaker(part.dataset)(text))
        for part, text in (*_attempts(parts), *_scales(state))
    ]
    return [{"text": text, "of": of, "serious": True} for of, text in dict.fromkeys(said)]


def _attempts(parts: list[PageItem]) -> Iterator[tuple[PageItem, str]]:
    """Say which systems made other numbers of attempts than the first."""
    first: dict[str, tuple[str, list[int]]] = {}
    for part in sorted(parts, key=lambda part: part.place):
        if not all(name in part.dataset and not part.dataset[name].ndim for name in _CLASSES):
            continue
        numbers = [int(part.dataset[name]) for name in _CLASSES]
        system, known = first.setdefault(part.task, (part.system, numbers))
        text = str(part.dataset.attrs.get(NOT_SHARED, ""))
        if not text and numbers != known:
            text = (
                f"{system} and {part.system} did not make the same attempts: {system} "
                f"{known[0]:,} genuine and {known[1]:,} impostor, {part.system} {numbers[0]:,} "
                f"and {numbers[1]:,}"
            )
        if text:
            text += ". Rates are of different data; bioeval compare is over what both have"
            yield part, text


def _scales(state: LiveState) -> Iterator[tuple[PageItem, str]]:
    """Say which systems have nothing but errors at the EER threshold of the first."""
    leader = state.leader
    if leader is None or "eer_threshold" not in leader.part.dataset:
        return
    threshold = float(leader.part.dataset["eer_threshold"])
    for live in state.parts:
        if live.part.system == leader.part.system or not state.follows(live):
            continue
        if not {"far", "frr"} <= set(live.columns) or not np.isfinite(threshold):
            continue
        far, frr = _at(live, threshold)
        own = float(np.nanmin(live.columns["far"] + live.columns["frr"], initial=2.0))
        if far + frr >= _USELESS and 2 * own <= far + frr:
            yield (
                live.part,
                f"{leader.part.system} and {live.part.system} have scores on different scales: at "
                f"{words.score(threshold)}, the EER threshold of {leader.part.system}, "
                f"{live.part.system} has FAR {100 * far:.4g} % and FRR {100 * frr:.4g} %. Rates at "
                "one threshold for both mean nothing; read each system at thresholds of its own",
            )


def _at(live: LivePart, threshold: float) -> tuple[float, float]:
    """Return FAR and FRR at a threshold; one stricter than all rows rejects everything."""
    row = live.row(threshold)
    if row < 0:
        return 0.0, 1.0
    return float(live.columns["far"][row]), float(live.columns["frr"][row])
