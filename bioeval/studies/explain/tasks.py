"""What a row adds to the counters of each task, and the rates that are quotients of their sums."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from bioeval.base.kinds import Layout
from bioeval.protocol.choices import Ties
from bioeval.protocol.tasks import ClosedSet, OpenSet
from bioeval.showing.cells import Label, Number
from bioeval.showing.text import Enumeration, Text, say
from bioeval.studies.explain.row import GENUINE, IMPOSTOR, Entry, RankedList

TITLES = {
    "verification/single": "Verification, single-template",
    "verification/multi": "Verification, multi-template",
    "open_set": "Open-set identification",
    "closed_set": "Closed-set identification",
}


#: The counters with their symbols in text, in the order in which sums list them.
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
    "skipped": "skipped",
}


class TaskCount(NamedTuple):
    """A counter of a task, at a rank if it counts ranks."""

    name: str
    rank: int | None = None


#: The amount of each counter.
Counts = dict[TaskCount, float]


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """What a row adds to the counters of one task, in one role.

    Attributes
    ----------
    task : str
        The name of the task in :func:`bioeval.evaluate`: ``"verification/single"``, ``"open_set"``
        and so on.
    role : str
        The role of the probe in open-set identification, ``"genuine"`` or ``"impostor"``; empty in
        other tasks.
    counts : dict or None
        What the row adds to each counter; None if that depends on a threshold, and there is none.
    why : Text
        Why it adds this.
    claims : str
        What the claims are, if the row is one of claims; else empty.
    """

    task: str
    role: str = ""
    counts: Counts | None
    why: Text
    claims: str = ""

    @property
    def title(self) -> str:
        """The task in words."""
        if self.claims:
            return f"Verification, {self.claims}"
        if not self.role:
            return TITLES[self.task]
        return f"{TITLES[self.task]}, as {'a' if self.role == GENUINE else 'an'} {self.role} probe"


def total(sums: Mapping[TaskCount, float], counts: Mapping[TaskCount, float]) -> Counts:
    """Return the sums of both mappings, in the order of :data:`SYMBOLS`."""
    totals = {count: sums.get(count, 0) + counts.get(count, 0) for count in {**sums, **counts}}
    order = [*SYMBOLS]
    return dict(sorted(totals.items(), key=lambda x: (order.index(x[0].name), x[0].rank or 0)))


def verified(ranked: RankedList, task: str, fusion: str) -> Contribution:
    """Return the contribution of a list to verification: every entry is an attempt."""
    counts: Counts | None = {TaskCount(name): 0 for name in ("ga", "fr", "fa", "gr")}
    for entry in ranked.with_role(GENUINE, IMPOSTOR):
        if entry.accepted is None:
            counts = None
            break
        assert counts is not None
        counts[TaskCount(entry.outcome.lower())] += 1
    reason = "each template of the list is an attempt"
    if task == "verification/multi":
        reason = (
            f"the probe claims each subject once, and its templates are fused (fusion {fusion})"
        )
    if not ranked.with_role(GENUINE):
        reason += f"; no {ranked.unit} is genuine"
    return Contribution(task=task, counts=counts, why=reason)


def searched(
    ranked: RankedList, task: OpenSet, role: str, enrolled: bool
) -> Iterator[Contribution]:
    """Yield the contribution of a list to open-set identification for each role of the probe.

    `role` says which probes are impostors, see :func:`role_of`; `enrolled` says whether the subject
    of this probe is in the gallery.
    """
    ranks = ranked.ranks_of_mate(task.ties)
    if ranks:
        yield _genuine_search(ranked, ranks, task.ties)
    elif enrolled:
        reason = "no usable mate is left: no genuine attempt"
        yield Contribution(task="open_set", role=GENUINE, counts={}, why=reason)
    if role == "both" or enrolled == (role == "leave-subject-out"):
        yield _impostor_search(ranked)
    elif not (ranks or enrolled):
        reason = f"its subject is not enrolled, and impostors = {role}: the probe makes no attempt"
        yield Contribution(task="open_set", role=IMPOSTOR, counts={}, why=reason)


def _genuine_search(ranked: RankedList, ranks: list[tuple[int, float]], ties: Ties) -> Contribution:
    """Return the contribution of a genuine probe; `ranks` are the ranks of its nearest mate."""
    best = ranked.with_role(GENUINE)[0]
    weight_not_first = 1 - sum(weight for rank, weight in ranks if rank == 1)
    counts: Counts | None = None
    if best.failed or best.accepted is False:
        counts = {TaskCount("genuine_attempts"): 1, TaskCount("fr"): 1}
    elif best.accepted:
        counts = {TaskCount("genuine_attempts"): 1}
        counts |= {TaskCount("di", rank): weight for rank, weight in ranks}
        counts |= {TaskCount("fr"): weight_not_first} if weight_not_first > 0 else {}
    ending = ""
    if best.accepted is False:
        ending = ", and beyond the threshold"
    elif weight_not_first == 1:
        ending = " (not first: always a {false reject})"
    reason = _nearest_mate(ranked, best, ranks, ties, ending)
    return Contribution(task="open_set", role=GENUINE, counts=counts, why=reason)


def _impostor_search(ranked: RankedList) -> Contribution:
    impostors = ranked.with_role(IMPOSTOR)
    if not impostors:
        reason = "no usable entry of another subject: no impostor attempt"
        return Contribution(task="open_set", role=IMPOSTOR, counts={}, why=reason)
    nearest = impostors[0]
    counts: Counts | None = None
    where = ""
    if nearest.accepted is not None:
        outcome = TaskCount("fa" if nearest.accepted else "gr")
        counts = {TaskCount("impostor_attempts"): 1, outcome: 1}
        where = f", {'within' if nearest.accepted else 'beyond'} the threshold"
    why = say(
        "the nearest of other subjects is {name}{where}", name=_name(ranked, nearest), where=where
    )
    return Contribution(task="open_set", role=IMPOSTOR, counts=counts, why=why)


def closed(ranked: RankedList, task: ClosedSet, layout: Layout) -> Contribution:
    """Return the contribution of a list to closed-set identification: the nearest mate's rank."""
    ranks = ranked.ranks_of_mate(task.ties)
    if ranks:
        best = ranked.with_role(GENUINE)[0]
        ending = "; it counts in {cms} from there on"
        reason = _nearest_mate(ranked, best, ranks, task.ties, ending)
        counts = {TaskCount("attempts"): 1.0}
        if not best.failed:
            counts |= {TaskCount("cms_count", k): weight for k, weight in ranks}
        return Contribution(task="closed_set", counts=counts, why=reason)
    unmated = task.unmated
    reason = f"no usable mate is left: with unmated = {unmated}, an evaluation of these is an error"
    if unmated == "skip" or (unmated == "auto" and layout == "all-against-all"):
        reason = "no usable mate is left: the probe is left out, and counted"
    return Contribution(task="closed_set", counts={TaskCount("skipped"): 1}, why=reason)


def _nearest_mate(
    ranked: RankedList, best: Entry, ranks: list[tuple[int, float]], ties: Ties, ending: str
) -> Text:
    if best.failed:
        return say(
            "all comparisons with mates failed, such as {name}: it is at no rank",
            name=_name(ranked, best),
        )
    tied = sum(entry.distance == best.distance for entry in ranked.with_role(IMPOSTOR))
    shares: list[Text] = [
        say("{rank:name} ({share})", rank=rank, share=Number(weight, digits=3))
        if weight != 1
        else Label(rank)
        for rank, weight in ranks
    ]
    return say(
        "the nearest mate is {name}, at rank {ranks}{ties}{ending}",
        name=_name(ranked, best),
        ranks=Enumeration(shares, ""),
        ties=f", tied with {tied} of other subjects ({ties} ties)" if tied else "",
        ending=say(ending, task="identification") if ending else "",
    )


def _name(ranked: RankedList, entry: Entry) -> Label:
    return Label(entry.template if ranked.unit == "template" else entry.subject)


class Quotient(NamedTuple):
    """A rate, as the quotient of the sums `part` and `over`.

    `name` and `rank` are those of the rate in results; `formula` has the symbols of both sums.
    """

    name: str
    rank: int | None
    formula: Text
    part: float
    over: float

    @property
    def value(self) -> float:
        """The rate; NaN without attempts."""
        return self.part / self.over if self.over else math.nan


def quotients(task: str, counts: Mapping[TaskCount, float]) -> Iterator[Quotient]:
    """Yield the rates of a task from the sums of its counts, up to the last counted rank."""
    sums = {name: counts.get(TaskCount(name), 0) for name in SYMBOLS}
    if task == "closed_set":
        formula = "(mates at rank <= {rank}) / TA"
        yield from _up_to_ranks("cms", counts, "cms_count", formula, sums["attempts"])
        return
    impostor = sums["fa"] + sums["gr"]
    if task == "open_set":
        genuine, missed = sums["genuine_attempts"], "FR / TG = 1 - {dir}(t, 1)"
        formula = "(DI(t, 1) + ... + DI(t, {rank})) / TG"
        yield from _up_to_ranks("dir", counts, "di", formula, genuine)
    else:
        genuine, missed = sums["ga"] + sums["fr"], "FR / TG"
        yield Quotient("gar", None, "GA / TG", sums["ga"], genuine)
    yield Quotient("frr", None, say(missed, task="identification"), sums["fr"], genuine)
    yield Quotient("far", None, "FA / TI", sums["fa"], impostor)
    yield Quotient("grr", None, "GR / TI", sums["gr"], impostor)


def _up_to_ranks(
    rate: str, counts: Mapping[TaskCount, float], counter: str, formula: str, attempts: float
) -> Iterator[Quotient]:
    """Yield a rate up to each rank, from a counter that counts single ranks."""
    last = max((count.rank or 1 for count in counts if count.name == counter), default=1)
    counted = 0.0
    for rank in range(1, last + 1):
        counted += counts.get(TaskCount(counter, rank), 0)
        form = "DI(t, 1) / TG" if (rate, rank) == ("dir", 1) else formula
        formula_at_rank = say(form, task="identification", rank=Label(rank))
        yield Quotient(rate, rank, formula_at_rank, counted, attempts)
