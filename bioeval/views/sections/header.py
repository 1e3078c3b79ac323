"""The header of results: system, data, scores, protocol; and what is said of several tasks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import xarray as xr

from bioeval.base.errors import enumerated
from bioeval.base.messages import Message
from bioeval.document.blocks import Fact, Facts
from bioeval.document.results import data_facts, is_doubt, messages_of_result
from bioeval.document.terms import rates_are_of
from bioeval.document.text import Text, say
from bioeval.protocol.loading import CARD_OF_LAYOUT
from bioeval.views.tasks import system_of

#: Caveat where operating points were selected on the evaluated data.
CHOSEN = (
    "The thresholds of EER and {far} targets were chosen on these data, so their rates are "
    "optimistic."
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
        last=[Fact("Left out", tasks_left_out(results))],
    )


def tasks_left_out(results: Mapping[str, xr.Dataset]) -> str:
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


def optimistic(results: Iterable[xr.Dataset]) -> Text:
    """Return the caveat about rates at thresholds that were chosen on the evaluated data."""
    names = {"eer", "frr_at_far", "dir_at_far"}
    chosen = [x for x in results if "chosen_on" not in x.attrs and not names.isdisjoint(x)]
    if not chosen:
        return ""
    of = {rates_are_of(dataset.attrs) for dataset in chosen}
    return say(CHOSEN, task=of.pop() if len(of) == 1 else "")


def paths_of_messages(results: Mapping[str, xr.Dataset]) -> dict[Message, list[str]]:
    """Return the messages of results, with the paths of the tasks that have them."""
    paths_of: dict[Message, list[str]] = {}
    for path, dataset in results.items():
        for message in messages_of_result(dataset):
            paths_of.setdefault(message, []).append(path)
    return paths_of


def alarms(results: Mapping[str, xr.Dataset]) -> dict[Message, list[str]]:
    """Return reasons to doubt all results, with the paths of the tasks that show them."""
    return {x: paths for x, paths in paths_of_messages(results).items() if is_doubt(x)}
