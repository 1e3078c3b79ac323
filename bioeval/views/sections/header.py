"""The header of results: system, data, scores, protocol; and what is said of several tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
import xarray as xr

from bioeval.base.messages import Message
from bioeval.document.blocks import Fact, Facts
from bioeval.document.results import data_facts, is_doubt, messages_of_result
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Text, say
from bioeval.protocol.loading import CARD_OF_LAYOUT
from bioeval.results.words import enumerated
from bioeval.views.tasks import system_of

#: Caveat where operating points were selected on the evaluated data.
CHOSEN = (
    "the thresholds of EER and {far} targets were chosen on these data, so their rates are "
    "optimistic"
)

#: Why thresholds of DIR at a FAR differ between ranks; shown where they do.
OF_RANK_ONE = (
    "The thresholds of {dir} at a {far} are for rank 1; at higher ranks, the same {far} may allow "
    "looser thresholds."
)

# Tasks of the cards of the course, in words.
_TASKS_OF_COURSE = {
    "verification/single": "single-template verification",
    "verification/multi": "multi-template verification",
    "open_set": "open set",
    "closed_set": "closed set",
}


def about(results: Mapping[str, xr.Dataset]) -> Facts:
    """Return the header of results by path: their system, data, scores and protocol."""
    if not results:
        return Facts(())
    protocol = str(next(iter(results.values())).attrs.get("protocol", ""))
    by_system = {system_of(path): dataset for path, dataset in results.items()}
    return data_facts(
        by_system,
        protocol=protocol,
        last=[Fact("Left out", left_out(results))],
    )


def left_out(results: Mapping[str, xr.Dataset]) -> str:
    """Return the tasks that the card has and the scores do not support, with reasons."""
    if not results:
        return ""
    attrs = next(iter(results.values())).attrs
    layout = str(attrs.get("layout"))
    if (
        layout not in CARD_OF_LAYOUT
        or layout == "pairs"
        or (attrs.get("protocol") != CARD_OF_LAYOUT[layout])
    ):
        return ""
    done = {path.removeprefix(system_of(path)).strip("/") for path in results}
    tasks = [words for path, words in _TASKS_OF_COURSE.items() if path not in done]
    if not tasks:
        return ""
    if attrs.get("kind") == "order":
        return f"{enumerated(tasks)}; scores that only order a row have no common thresholds"
    if not attrs.get("probe_subjects") and not attrs.get("gallery_subjects"):
        return f"{enumerated(tasks)}; a mask does not give the subjects of the templates"
    return ""


def has_chosen(dataset: xr.Dataset) -> bool:
    """Whether there are rates at thresholds selected on the evaluated data."""
    names = {"eer", "frr_at_far", "dir_at_far"}
    return "chosen_on" not in dataset.attrs and not names.isdisjoint(dataset)


def optimistic(results: Iterable[xr.Dataset]) -> Text:
    """Return the caveat about such rates; nothing if results have none."""
    chosen = list(filter(has_chosen, results))
    if not chosen:
        return ""
    of = {rates_are_of(dataset.attrs) for dataset in chosen}
    task = of.pop() if len(of) == 1 else ""
    return say(f"{CHOSEN[0].upper()}{CHOSEN[1:]}.", task=task)


def differs_by_rank(dataset: xr.Dataset) -> bool:
    """Whether a FAR target has different thresholds at different ranks."""
    limits = dataset.get("threshold_at_far")
    if limits is None or "rank" not in limits.dims:
        return False
    by_rank = limits.transpose("rank", ...).values
    of_first = np.broadcast_to(by_rank[:1], by_rank.shape)
    return not np.array_equal(of_first, by_rank, equal_nan=True)


def alarms(results: Mapping[str, xr.Dataset]) -> dict[Message, list[str]]:
    """Return reasons to doubt all results, with the paths of the tasks that show them."""
    found: dict[Message, list[str]] = {}
    for path, dataset in results.items():
        for message in alarms_of(dataset):
            found.setdefault(message, []).append(path)
    return found


def alarms_of(dataset: xr.Dataset) -> Iterator[Message]:
    """Yield the reasons to doubt all results that a task shows."""
    yield from filter(is_doubt, messages_of_result(dataset))
