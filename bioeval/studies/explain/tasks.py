"""What a row adds to the counters of each task, and the rates that are quotients of their sums."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from bioeval.document.cells import Label, Number
from bioeval.document.text import Enumeration, Text, say
from bioeval.studies.explain.row import GENUINE, IMPOSTOR, Entry, RankedList
from bioeval.tasks.reid.candidate_lists import Lists
from bioeval.tasks.reid.matches import (
    MatchLists,
    average_precision,
    counted_places,
    first_places,
    ranks_of,
)

TITLES = {
    "verification/single": "Verification, single-template",
    "verification/multi": "Verification, multi-template",
    "open_set": "Open-set identification",
    "closed_set": "Closed-set identification",
    "reid": "Re-identification",
}


#: Counters as the lecture writes them, in the order of sums.
SYMBOLS = {
    "genuine_attempts": "TG",
    "ga": "GA",
    "di": "DI(t, {rank})",
    "fr": "FR",
    "impostor_attempts": "TI",
    "fa": "FA",
    "gr": "GR",
    "attempts": "TA",
    "cms_count": "{cms}({rank})",
    "queries": "queries",
    "cmc_count": "CMC({rank})",
    "average_precision": "AP",
    "inp": "INP",
    "skipped": "skipped",
    "left_out": "left out",
}


class Count(NamedTuple):
    """A counter of a task; `rank` is None where it has none."""

    name: str
    rank: int | None = None


#: What a row adds to the counters of a task.
Counts = dict[Count, float]


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """What a row adds to the counters of one task, in one role.

    Attributes
    ----------
    task : str
        As the nodes of :func:`bioeval.evaluate`: ``"verification/single"``, ``"open_set"`` ...
    role : str
        Of the open set ``"genuine"`` or ``"impostor"``; else empty.
    counts : dict or None
        What it adds, by counter; None where that depends on a threshold, and there is none.
    why : Text
        Why it adds this.
    decides : Entry or None
        Of a search: the nearest mate, or of an impostor the nearest entry of another subject.
    ranks : list of (rank, weight)
        The ranks of the nearest mate; several under expected ties alone.
    """

    task: str
    role: str = ""
    counts: Counts | None
    why: Text
    decides: Entry | None = None
    ranks: Sequence[tuple[int, float]] = ()

    @property
    def title(self) -> str:
        """The task in words."""
        if not self.role:
            return TITLES[self.task]
        return f"{TITLES[self.task]}, as {'a' if self.role == GENUINE else 'an'} {self.role} probe"


def total(sums: Mapping[Count, float], counts: Mapping[Count, float]) -> Counts:
    """Return the sums of both, in the order of :data:`SYMBOLS`."""
    both = {count: sums.get(count, 0) + counts.get(count, 0) for count in {**sums, **counts}}
    order = [*SYMBOLS]
    return dict(sorted(both.items(), key=lambda x: (order.index(x[0].name), x[0].rank or 0)))


def verified(ranked: RankedList, task: str, fusion: str) -> Contribution:
    """Return what a list adds to verification: every entry is an attempt."""
    counts: Counts | None = {Count(name): 0 for name in ("ga", "fr", "fa", "gr")}
    for entry in ranked.of(GENUINE, IMPOSTOR):
        if entry.accepted is None:
            counts = None
            break
        assert counts is not None
        counts[Count(entry.outcome.lower())] += 1
    why = "each template of the list is an attempt"
    if task == "verification/multi":
        why = f"the probe claims each subject once, and its templates are fused (fusion {fusion})"
    if not ranked.of(GENUINE):
        why += f"; no {ranked.unit} is genuine"
    return Contribution(task=task, counts=counts, why=why)


def searched(
    ranked: RankedList, options: Mapping[str, Any], role: str, enrolled: bool
) -> Iterator[Contribution]:
    """Yield what a list adds to open-set identification, in each role that the probe plays.

    `role` says which probes are impostors, see :func:`role_of`.
    """
    ranks = ranked.ranks_of_mate(options["ties"])
    others = ranked.of(IMPOSTOR)
    counts: Counts | None
    if ranks:
        best = ranked.of(GENUINE)[0]
        missed = 1 - sum(weight for rank, weight in ranks if rank == 1)
        counts = None
        if best.accepted:
            counts = {Count("genuine_attempts"): 1}
            counts |= {Count("di", rank): weight for rank, weight in ranks}
            counts |= {Count("fr"): missed} if missed > 0 else {}
        elif best.accepted is False:
            counts = {Count("genuine_attempts"): 1, Count("fr"): 1}
        late = " (not first: always a {false reject})" if missed == 1 else ""
        why = _nearest(ranked, best, ranks, options["ties"], late)
        yield Contribution(
            task="open_set", role=GENUINE, counts=counts, why=why, decides=best, ranks=ranks
        )
    elif enrolled:
        why = "no usable mate is left: no genuine attempt"
        yield Contribution(task="open_set", role=GENUINE, counts={}, why=why)
    if not (role == "both" or enrolled == (role == "leave-subject-out")):
        if not (ranks or enrolled):
            why = f"its subject is not enrolled, and impostors = {role}: the probe makes no attempt"
            yield Contribution(task="open_set", role=IMPOSTOR, counts={}, why=why)
        return
    if not others:
        why = "no usable entry of another subject: no impostor attempt"
        yield Contribution(task="open_set", role=IMPOSTOR, counts={}, why=why)
        return
    near, counts = others[0], None
    if near.accepted is not None:
        counts = {Count("impostor_attempts"): 1, Count("fa" if near.accepted else "gr"): 1}
    why = say("the nearest of other subjects is {name}", name=_name(ranked, near))
    yield Contribution(
        task="open_set", role=IMPOSTOR, counts=counts, why=why, decides=near, ranks=[]
    )


def closed(ranked: RankedList, options: Mapping[str, Any], layout: str) -> Contribution:
    """Return what a list adds to closed-set identification: the rank of the nearest mate."""
    ranks = ranked.ranks_of_mate(options["ties"])
    if ranks:
        best = ranked.of(GENUINE)[0]
        late = "; it counts in {cms} from there on"
        why = _nearest(ranked, best, ranks, options["ties"], late)
        counts = {Count("attempts"): 1.0, **{Count("cms_count", k): w for k, w in ranks}}
        return Contribution(task="closed_set", counts=counts, why=why, decides=best, ranks=ranks)
    unmated = options["unmated"]
    why = f"no usable mate is left: with unmated = {unmated}, an evaluation of these is an error"
    if unmated == "skip" or (unmated == "auto" and layout == "all-against-all"):
        why = "no usable mate is left: the probe is left out, and counted"
    return Contribution(task="closed_set", counts={Count("skipped"): 1}, why=why)


def _nearest(
    ranked: RankedList,
    best: Entry,
    ranks: list[tuple[int, float]],
    ties: str,
    late: str,
) -> Text:
    """Return the nearest mate with its ranks, and ties where they decide them."""
    tied = sum(entry.distance == best.distance for entry in ranked.of(IMPOSTOR))
    shares: list[Text] = [
        say("{rank:name} ({share})", rank=rank, share=Number(weight, digits=3, fraction=True))
        if weight != 1
        else Label(rank)
        for rank, weight in ranks
    ]
    return say(
        "the nearest mate is {name}, at rank {ranks}{ties}{late}",
        name=_name(ranked, best),
        ranks=Enumeration(shares, ""),
        ties=f", tied with {tied} of other subjects ({ties} ties)" if tied else "",
        late=say(late, task="identification") if late else "",
    )


def _name(ranked: RankedList, entry: Entry) -> Label:
    return Label(entry.template if ranked.unit == "template" else entry.subject)


def retrieved(ranked: RankedList, lists: Lists, i: int) -> tuple[RankedList, Contribution]:
    """Return the list of a query with the precision at each match, and what it adds."""
    convention, ties = lists.convention, lists.convention.ties
    mates = sorted(ranked.of(GENUINE), key=lambda entry: (entry.distance, entry.column))
    if not mates:
        gone = "every match is removed or failed" if lists.enrolled[i] else "it is not enrolled"
        name, reason = "skipped", f"no match is left ({gone}): it is left out of all means"
        if lists.left_out[i]:
            name, reason = (
                "left_out",
                "junk or a distractor: it is left out of all means",
            )
        elif convention.unmatched == "zero":
            name, reason = "queries", f"no match is left ({gone}): it counts as 0 in all means"
        return ranked, Contribution(task="reid", counts={Count(name): 1}, why=reason)
    others = ranked.of(IMPOSTOR)
    far = np.array([entry.distance for entry in others])
    columns = np.array([entry.column for entry in others], dtype=np.int64)
    found = np.array([entry.distance for entry in mates])
    at = np.array([entry.column for entry in mates])
    same = far == found[:, None]
    matches = MatchLists(
        np.array([0, len(mates)]),
        found,
        (far < found[:, None]).sum(axis=1),
        same.sum(axis=1),
        (same & (columns < at[:, None])).sum(axis=1),
    )
    counts: Counts = {Count("queries"): 1}
    if convention.ap_removed != convention.removed:
        why = "the list is that of average precision; another one is of the CMC, which be.reid has"
    elif convention.cmc in ("first-match", "allshots"):
        places = {"first-match": first_places, "allshots": counted_places}[convention.cmc]
        _, ranks, weights = places(matches, ties)
        for rank, weight in zip(ranks.tolist(), weights.tolist(), strict=True):
            count = Count("cmc_count", rank)
            counts[count] = counts.get(count, 0) + weight
        why = "the first match counts in the CMC"
        if convention.cmc == "allshots":
            why = "each match counts in the CMC, with 1 / matches, at its rank among non-matches"
    else:
        why = f"its CMC is of the convention {convention.cmc}: be.reid has it"
    if ties == "expected" and matches.tied.any():
        return ranked, Contribution(task="reid", counts=counts, why=why)
    ties = "stable" if ties == "expected" else ties
    counts[Count("average_precision")] = float(average_precision(matches, ties, convention.ap)[0])
    at_rank = ranks_of(matches, ties).tolist()
    counts[Count("inp")] = len(mates) / at_rank[-1]
    said = {}
    for k, (entry, rank) in enumerate(zip(mates, at_rank, strict=True), 1):
        said[entry.column] = say(
            "match {k:count} of {h:count}: precision {k:name}/{rank:name}",
            k=k,
            h=len(mates),
            rank=rank,
        )
    entries = (
        replace(entry, reason=said[entry.column]) if entry.column in said else entry
        for entry in ranked.entries
    )
    return replace(ranked, entries=tuple(entries)), Contribution(
        task="reid", counts=counts, why=why, ranks=[]
    )


class Quotient(NamedTuple):
    """A rate as the quotient of two sums: its name in results, with its rank, and its formula."""

    name: str
    rank: int | None
    formula: Text
    part: float
    over: float

    @property
    def value(self) -> float:
        """The rate; NaN without attempts."""
        return self.part / self.over if self.over else math.nan


def quotients(task: str, counts: Mapping[Count, float]) -> Iterator[Quotient]:
    """Yield the rates of a task from the sums of its counters, up to the last rank reached."""

    def of(*names: str) -> float:
        return sum(counts.get(Count(name), 0) for name in names)

    def up_to(name: str, counter: str, formula: str, over: float) -> Iterator[Quotient]:
        ranks = [count.rank or 1 for count in counts if count.name == counter]
        reached = 0.0
        for rank in range(1, max(ranks, default=1) + 1):
            reached += counts.get(Count(counter, rank), 0)
            at = "DI(t, 1) / TG" if (name, rank) == ("dir", 1) else formula
            said = say(at, task="identification", rank=Label(rank))
            yield Quotient(name, rank, said, reached, over)

    if task == "closed_set":
        yield from up_to("cms", "cms_count", "(mates at rank <= {rank}) / TA", of("attempts"))
    elif task == "reid":
        over = of("queries")
        yield from up_to("cmc", "cmc_count", "(matches counted at rank <= {rank}) / queries", over)
        for name, counter in (("mean_ap", "average_precision"), ("mean_inp", "inp")):
            formula = f"sum of {SYMBOLS[counter]} / queries"
            yield Quotient(name, None, formula, of(counter), over)
    else:
        genuine, impostor = of("ga", "fr"), of("fa", "gr")
        missed = "FR / TG"
        if task == "open_set":
            genuine, missed = of("genuine_attempts"), "FR / TG = 1 - {dir}(t, 1)"
            formula = "(DI(t, 1) + ... + DI(t, {rank})) / TG"
            yield from up_to("dir", "di", formula, genuine)
        else:
            yield Quotient("gar", None, "GA / TG", of("ga"), genuine)
        yield Quotient("frr", None, say(missed, task="identification"), of("fr"), genuine)
        yield Quotient("far", None, "FA / TI", of("fa"), impostor)
        yield Quotient("grr", None, "GR / TI", of("gr"), impostor)
