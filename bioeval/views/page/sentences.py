"""The answer of a page in sentences, in words for a manager that a reviewer accepts.

A sentence is a list of texts and numbers; the numbers of the first one move with the threshold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base.errors import counted
from bioeval.tallies.points import per_cent
from bioeval.views.page import words
from bioeval.views.page.cells import Number, Text, attempts_of
from bioeval.views.page.live import Chosen, LivePart, LiveState
from bioeval.views.page.parts import PageItem, systems_of
from bioeval.views.tables.tasks import value_of
from bioeval.views.terms import speaker

# What each task is searched for, in the order in which a page speaks of them.
_ORDER = ("verification/single", "verification/multi", "open_set", "closed_set", "reid", "gom")

#: Systems with sentences of their own, at most.
MOST = 8


@dataclass(frozen=True)
class OutOf:
    """A rate as so many of a power of ten, as 1.3 in 1,000; an end of its interval in the same."""

    number: Number
    of: str = ""  # the variable of the rate, for an end of its interval
    rate: float = np.nan  # its value

    @property
    def text(self) -> str:
        """The rate in words."""
        value = float(self.number.value)
        if self.of:
            return words.rounded(value * words.base_of(self.rate))
        return words.out_of(value)

    @property
    def attributes(self) -> dict[str, str]:
        """The data attributes of its element."""
        given = dict(self.number.attributes)
        if "data-format" in given:
            given |= {"data-format": "in-base" if self.of else "out-of", "data-of": self.of}
        return given


def headline(parts: list[PageItem], state: LiveState) -> list[dict[str, Any]]:
    """Return the sentences of each system: its name, and the sentences."""
    found = []
    at = {live.number: (live, threshold, row) for live, threshold, row in state.rows()}
    for system in systems_of(parts)[:MOST]:
        own = [(i, part) for i, part in enumerate(parts) if part.system == system]
        say = speaker(own[0][1].dataset)
        said = [
            [say(x) if isinstance(x, str) else x for x in sentence]
            for sentence in _of_system(own, at, state, parts)
        ]
        if said:
            found.append({"system": system, "sentences": said})
    return found


def _of_system(own: list, at: dict, state: LiveState, parts: list[PageItem]) -> Iterator[list[Any]]:
    tasks = {part.task: i for i, part in own}
    first = next((task for task in _ORDER if task in tasks), "")
    live, threshold, row = at.get(tasks.get(first, -1), (None, np.nan, -1))
    if live is not None and len(live.thresholds) and {"far", "frr"} <= set(live.columns):
        yield _rates(live, threshold, row)
        yield from _chosen(live, state, parts)
    elif live is not None and live.by_rank:
        yield _ranks(live, state.rank)
    for _, part in own:
        yield from _others(part)


def _rates(live: LivePart, threshold: float, row: int) -> list[Any]:
    """Say how many impostors are accepted and how many genuine attempts are rejected.

    The threshold is that of the row, whose counts they are.
    """
    part = live.part
    moved = Number(part, "threshold", threshold, live=True)
    impostors, verb = ("impostor attempts", "are accepted")
    if "dir" in live.ranked:
        impostors, verb = "searches by people who are not enrolled", "raise a false alarm"
    said: list[Any] = ["At the threshold ", moved, ", about "]
    said += [*_out_of(live, "far", row), f" {impostors} {verb}"]
    said += _bracketed(_ends(live, "far", row), _of_counts(live, "fa", "impostor_attempts", row))
    said += [", and about ", *_out_of(live, "frr", row), " genuine attempts are rejected"]
    said += _bracketed(_ends(live, "frr", row), _of_counts(live, "fr", "genuine_attempts", row))
    return [*said, "."]


def _bracketed(*lists: list[Any]) -> list[Any]:
    """Return lists in brackets, with semicolons between them; nothing of empty ones."""
    given = [part for part in lists if part]
    inside = [x for i, part in enumerate(given) for x in ([*(["; "] if i else []), *part])]
    return [" (", *inside, ")"] if inside else []


def _out_of(live: LivePart, name: str, row: int) -> list[Any]:
    value = live.value(name, row, 1)
    return [OutOf(Number(live.part, name, value, "percent", live=True))]


def _ends(live: LivePart, name: str, row: int) -> list[Any]:
    """Return the interval of a rate, in the same power of ten."""
    if f"{name}_low" not in live.columns:
        return []
    rate = float(live.value(name, row, 1))
    level = 100 * float(live.part.dataset.attrs.get("confidence", 0.95))
    ends = []
    for end in ("_low", "_high"):
        value = live.value(f"{name}{end}", row, 1)
        number = Number(live.part, f"{name}{end}", value, "percent", live=True)
        ends.append(OutOf(number, name, rate))
    return [f"{level:g}\u00a0%: ", ends[0], " to ", ends[1]]


def _of_counts(live: LivePart, count: str, attempts: str, row: int) -> list[Any]:
    if count not in live.columns:
        return []
    total = attempts_of(live.part, attempts)
    value = live.value(count, row, 1)
    return [Number(live.part, count, value, "count", live=True), f" of {total:,}"]


def _chosen(live: LivePart, state: LiveState, parts: list[PageItem]) -> Iterator[list[Any]]:
    """Say where the threshold of the page was chosen, and what to expect on new people."""
    system = live.part.system
    if state.chosen is None or state.leader is None:
        return
    if system == state.leader.part.system:
        yield _opened(state.chosen, str(live.part.dataset.attrs.get("chosen_on", "")))
    study = next((p for p in parts if p.system == system and _is_study(p)), None)
    yield _on_new_people(study)


def _opened(chosen: Chosen, chosen_on: str) -> list[Any]:
    """Say what the threshold is that the page opens with."""
    said: list[Any] = ["The threshold that this page opens with, ", _score(chosen.threshold), ", "]
    if not np.isfinite(chosen.exact):
        return [*said, "is one in the middle of the scores; no operating point is known."]
    rule = "that of the equal error rate"
    if chosen.target is not None:
        rule = f"the loosest with FAR at most {per_cent(chosen.target)}"
    where = "on these same data: the rates there are optimistic."
    where = f"on {chosen_on}." if chosen_on else where
    if chosen.exact == chosen.threshold:
        return [*said, f"is {rule}, chosen {where}"]
    said += ["is the nearest threshold of these results that is not looser than "]
    return [*said, _score(chosen.exact), f", {rule}, chosen {where}"]


def _score(value: float) -> Text:
    return Text(words.score(value), digits=words.digits(value))


def _is_study(part: PageItem) -> bool:
    return "far_mean" in part.dataset and "frr_mean" in part.dataset


def _on_new_people(study: PageItem | None) -> list[Any]:
    """Say what to expect of new people, from folds of subjects, or that it is not known."""
    if study is None:
        return [
            "What to expect of new people was not estimated here: ",
            Text("bioeval threshold", code=True),
            " chooses the threshold on some of the people and tests it on the others.",
        ]
    ds = study.dataset
    rule = str(ds.attrs.get("threshold_rule_in_words", "this rule"))
    folds = f"{ds.sizes.get('repeat', 1) * ds.sizes.get('fold', 1)} folds"
    if study.task.startswith("folds/"):  # of which a page may have several
        folds += f" of {ds.attrs.get('templates', 'single')}-template verification"
    said: list[Any] = [
        f"On new people, expect about {words.out_of(float(ds['far_mean']))} impostor attempts "
        "accepted",
        *_between(ds, "far"),
        f" and about {words.out_of(float(ds['frr_mean']))} genuine attempts rejected",
        *_between(ds, "frr"),
        f": {rule}, chosen on other people in {folds}.",
    ]
    return said


def _between(ds: Any, name: str) -> list[str]:
    low, high, mean = (value_of(ds, f"{name}{end}") for end in ("_low", "_high", "_mean"))
    if low is None or high is None or mean is None or np.isnan([low, high]).any():
        return []
    base = words.base_of(mean)
    ends = " to ".join(words.rounded(base * x) for x in (low, high))
    return [f" ({100 * float(ds.attrs.get('confidence', 0.95)):g}\u00a0%: {ends})"]


def _ranks(live: LivePart, rank: int) -> list[Any]:
    """Say how often the right person is found among the first."""
    name = next((n for n in ("cms", "cmc") if n in live.by_rank), "")
    if not name:
        return []
    part, total = live.part, attempts_of(live.part, "attempts") or attempts_of(live.part, "queries")
    rate = float(live.value(name, -1, rank))
    said: list[Any] = [
        "In about ",
        OutOf(Number(part, name, rate, "percent", live=True)),
        " searches the right person is found at rank ",
        Text(str(rank), rank=True),
        " or better",
    ]
    if f"{name}_low" in live.by_rank:
        ends = [
            OutOf(
                Number(part, f"{name}{end}", live.value(f"{name}{end}", -1, rank), "percent",
                       live=True), name, rate
            )
            for end in ("_low", "_high")
        ]  # fmt: skip
        level = 100 * float(part.dataset.attrs.get("confidence", 0.95))
        said += [f" ({level:g}\u00a0%: ", ends[0], " to ", ends[1], ")"]
    return [*said, f", of {counted(total, 'searches')}." if total else "."]


def _others(part: PageItem) -> Iterator[list[Any]]:
    """Say what a comparison, groups or the zoo found."""
    ds = part.dataset
    if "value_a" in ds:
        lines = str(ds.attrs.get("conclusions", "")).splitlines()
        yield from ([line.rstrip(".") + "."] for line in lines[:3])
    elif "garbe" in ds:
        rates = ds["frr"].dropna("group")
        if rates.sizes["group"]:
            order = np.argsort(rates.values, kind="stable")
            best, worst = (rates.isel(group=int(order[i])) for i in (0, -1))
            yield [
                "At the threshold ", _score(float(ds["threshold"])),
                ", the same for all groups, genuine attempts are rejected in "
                f"{words.percent(float(best))} (group {best['group'].item()}) to "
                f"{words.percent(float(worst))} (group {worst['group'].item()}).",
            ]  # fmt: skip
    elif "animal_of_subject" in ds:
        share = ds["fr_share"]
        if share.notnull().any():
            most = share.isel(subject=int(np.nanargmax(share.values)))
            yield [
                "At the threshold ", _score(float(ds["threshold"])),
                f", subject {most['subject'].item()} makes {words.percent(float(most))} of all "
                "false rejects, the most of all subjects.",
            ]  # fmt: skip
    elif part.task.startswith("folds/") and _is_study(part) and "verification" in part.task:
        yield _on_new_people(part)
    elif "mean_ap" in ds and part.task == "reid":
        yield [
            f"Mean average precision (mAP) is {words.percent(float(ds['mean_ap']))}, over "
            f"{counted(int(ds['queries']), 'queries')}."
        ]
