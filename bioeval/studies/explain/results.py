"""One row of scores, comparison by comparison: the counter that each adds to, and the reason."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from bioeval.document.cells import Label, Number
from bioeval.document.text import Enumeration, Text, say
from bioeval.views.show import Shown
from bioeval.views.writers.lines import written

if TYPE_CHECKING:
    from bioeval.document.blocks import Section
    from bioeval.scores.matrix import Scores

#: Counters as the lecture writes them, by name.
SYMBOLS = {
    "genuine_attempts": "TG",
    "ga": "GA",
    "di": "DI(t, {rank})",
    "fr": "FR",
    "impostor_attempts": "TI",
    "fa": "FA",
    "gr": "GR",
    "fa_unenrolled": "FA (not enrolled)",
    "gr_unenrolled": "GR (not enrolled)",
    "attempts": "TA",
    "cms_count": "{cms}({rank})",
    "queries": "queries",
    "cmc_queries": "queries of the CMC",
    "cmc_count": "CMC({rank})",
    "average_precision": "AP",
    "rank_k_average_precision": "AP of the cut list",
    "inp": "INP",
    "skipped": "skipped",
    "left_out": "left out",
}

_ORDER = list(SYMBOLS)

#: Of more ranks of one counter, texts give the sum.
MOST_RANKS = 4


class Count(NamedTuple):
    """Contribution of one entry to one counter; `rank` is None where the counter has none."""

    name: str
    rank: int | None = None
    amount: float = 1


def counter(count: Count, *, amount: bool = True) -> Text:
    """Return a counter as the lecture writes it, such as ``GA`` or ``DI(t, 3)``, with its amount.

    Examples
    --------
    >>> written(counter(Count("ga"))), written(counter(Count("di", 3, 0.5)))
    ('GA', '1/2 DI(t, 3)')
    """
    name = _symbol(count.name, Label(count.rank))
    if not amount or count.amount == 1:
        return name
    return say("{amount} {name}", amount=in_fractions(count.amount), name=name)


def _symbol(name: str, rank: Text) -> Text:
    """Return the symbol of a counter at a rank, or at several."""
    symbol = SYMBOLS.get(name, name)
    if "{" in symbol:
        return say(symbol, task="identification", rank=rank)
    return symbol


def in_fractions(amount: float) -> Number:
    """Return a number that is written as a fraction where its terms are small.

    Examples
    --------
    >>> written(in_fractions(2.0)), written(in_fractions(1 / 3)), written(in_fractions(0.61803))
    ('2', '1/3', '0.618')
    """
    return Number(amount, digits=3, fraction=True)


@functools.lru_cache(maxsize=4096)
def counts_text(counts: tuple[Count, ...]) -> str:
    """Return counters with their amounts as plain text, in the lecture's words.

    Examples
    --------
    >>> counts_text((Count("di", 3), Count("fr")))
    'DI(t, 3), FR'
    """
    return written(Enumeration(list(counters(counts)), ""))


def added(counts: Iterable[Count]) -> Text:
    """Return counters with their amounts as a sum; empty without any.

    Examples
    --------
    >>> written(added([Count("di", 3), Count("fr")]))
    'DI(t, 3) + FR'
    """
    texts = {f"term{i}": text for i, text in enumerate(counters(counts))}
    return say(" + ".join(f"{{{name}}}" for name in texts), **texts) if texts else ""


def counters(counts: Iterable[Count]) -> Iterator[Text]:
    """Yield counters with their amounts; many ranks of one counter are summed.

    Examples
    --------
    >>> [written(x) for x in counters(Count("cmc_count", rank, 0.2) for rank in range(1, 6))]
    ['CMC(1 to 5)']
    """
    by_name: dict[str, list[Count]] = {}
    for count in counts:
        by_name.setdefault(count.name, []).append(count)
    for name, same in by_name.items():
        if len(same) <= MOST_RANKS:
            yield from map(counter, same)
            continue
        ranks = [count.rank or 0 for count in same]
        amount = sum(count.amount for count in same)
        if abs(amount - round(amount)) < 1e-9:
            amount = round(amount)
        text = _symbol(name, say("{least:name} to {most:name}", least=min(ranks), most=max(ranks)))
        if amount != 1:
            text = say("{amount} {counter}", amount=in_fractions(amount), counter=text)
        yield text


def total(counts: Iterable[Count]) -> dict[Count, float]:
    """Return the sum of counts by counter, a :class:`Count` of amount 0, in their order."""
    sums: dict[Count, float] = {}
    for count in counts:
        key = count._replace(amount=0)
        sums[key] = sums.get(key, 0) + count.amount
    return dict(sorted(sums.items(), key=lambda x: (_ORDER.index(x[0].name), x[0].rank or 0)))


def amounts(sums: Mapping[Count, float]) -> list[Count]:
    """Return sums as counts of these amounts."""
    return [count._replace(amount=amount) for count, amount in sums.items()]


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
        return self.part / self.over if self.over else float("nan")


def quotients(task: str, counts: Mapping[Count, float]) -> Iterator[Quotient]:
    """Yield the rates of a task from the sums of its counters, up to the last rank reached."""

    def of(name: str) -> float:
        return counts.get(Count(name, None, 0), 0)

    def up_to(
        name: str, counter: str, formula: Callable[[int], Text], over: float
    ) -> Iterator[Quotient]:
        last = max((k.rank or 1 for k in counts if k.name == counter), default=1)
        so_far = 0.0
        for rank in range(1, last + 1):
            so_far += counts.get(Count(counter, rank, 0), 0)
            yield Quotient(name, rank, formula(rank), so_far, over)

    if task.startswith("verification"):
        genuine, impostor = of("ga") + of("fr"), of("fa") + of("gr")
        yield Quotient("gar", None, "GA / TG", of("ga"), genuine)
        yield Quotient("frr", None, "FR / TG", of("fr"), genuine)
        yield Quotient("far", None, "FA / TI", of("fa"), impostor)
        yield Quotient("grr", None, "GR / TI", of("gr"), impostor)
    elif task == "open_set":
        genuine, impostor = of("genuine_attempts"), of("impostor_attempts")
        yield from up_to("dir", "di", _sum_of_di, genuine)
        formula = say("FR / TG = 1 - {dir}(t, 1)", task="identification")
        yield Quotient("frr", None, formula, of("fr"), genuine)
        yield Quotient("far", None, "FA / TI", of("fa"), impostor)
        yield Quotient("grr", None, "GR / TI", of("gr"), impostor)
    elif task == "closed_set":
        yield from up_to("cms", "cms_count", _found_to_rank, of("attempts"))
    else:
        queries = of("queries")
        of_cmc = counts.get(Count("cmc_queries", None, 0), queries)  # there if it has its own list
        yield from up_to("cmc", "cmc_count", _counted_to_rank, of_cmc)
        yield Quotient("mean_ap", None, "sum of AP / queries", of("average_precision"), queries)
        yield Quotient("mean_inp", None, "sum of INP / queries", of("inp"), queries)


def _found_to_rank(rank: int) -> str:
    """Return the formula of CMS(k) at one rank k."""
    return f"(probes with a mate at rank <= {rank}) / TA"


def _counted_to_rank(rank: int) -> str:
    """Return the formula of CMC(k) at one rank k; some conventions count several matches."""
    return f"(matches counted at rank <= {rank}) / queries"


def _sum_of_di(rank: int) -> str:
    """Return the formula of DIR(t, k) at one rank k."""
    if rank == 1:
        return "DI(t, 1) / TG"
    between = " + " if rank == 2 else " + ... + "
    return f"(DI(t, 1){between}DI(t, {rank})) / TG"


#: Roles of an entry of a list.
GENUINE, IMPOSTOR, LEFT_OUT = "genuine", "impostor", "left out"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One entry of the ordered list of a probe: a gallery template, or a subject.

    Attributes
    ----------
    place : int or None
        Place in the list, from 1; None if it is not in it.
    column : int
        The gallery template, from 0; of a subject the template that decides its score, or else its
        nearest.
    template, subject : str
        Name of the template, and of its subject (empty if a mask decides what is genuine).
    score : float or None
        In the units of the scores; None where it is never read.
    role : str
        ``"genuine"``, ``"impostor"`` or ``"left out"``, which is not an attempt.
    reasons, reason : tuple of Text, str
        Why it is left out, why it adds nothing, or what it adds.
    accepted : bool or None
        Whether the score is accepted at the threshold; None without a threshold.
    if_accepted, if_rejected : tuple of Count
        What it adds to the counters.
    tied : bool
        Whether an entry of another role has the same score.
    """

    place: int | None
    column: int
    template: str
    subject: str
    score: float | None
    role: str
    reasons: tuple[Text, ...] = ()
    accepted: bool | None = None
    if_accepted: tuple[Count, ...] = ()
    if_rejected: tuple[Count, ...] = ()
    tied: bool = False

    @property
    def reason(self) -> str:
        """Why it is left out, why it adds nothing, or what it adds, as plain text."""
        return written(Enumeration(self.reasons, ";")) if self.reasons else ""

    @property
    def counts(self) -> tuple[Count, ...]:
        """Counters it adds to at the threshold; none where they depend on one not given."""
        if self.if_accepted == self.if_rejected:
            return self.if_accepted
        if self.accepted is None:
            return ()
        if self.accepted:
            return self.if_accepted
        return self.if_rejected

    @property
    def conditional(self) -> bool:
        """Whether its counters depend on a threshold, and none is given."""
        return self.accepted is None and self.if_accepted != self.if_rejected

    def document(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        names = "place", "column", "template", "subject", "score", "role", "reason", "accepted"
        document = _fields(self, *names, "tied")
        if self.conditional:
            document["if_accepted"] = _documents(self.if_accepted)
            document["if_rejected"] = _documents(self.if_rejected)
        else:
            document["counts"] = _documents(self.counts)
        return document


def _fields(thing: object, *names: str) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in names}


def _documents(counts: Iterable[Count]) -> list[dict[str, Any]]:
    """Return counts as plain values, without a rank where they have none."""
    documents = []
    for count in counts:
        document = count._asdict()
        if count.rank is None:
            del document["rank"]
        documents.append(document)
    return documents


@dataclass(frozen=True, kw_only=True)
class TaskExplanation:
    """The list of one probe under one task, in one role.

    Attributes
    ----------
    task : str
        As the nodes of :func:`bioeval.evaluate`: ``"verification/single"``, ``"open_set"`` ...
    role : str
        Of the open set: ``"genuine"`` or ``"impostor"``; of re-identification which list it is,
        where it has two; else empty.
    unit : str
        What an entry is: ``"template"`` or ``"subject"``.
    rule : str
        What counts, in one sentence.
    entries : tuple of Entry
        In order of the list, then those that are left out.
    also : tuple of Count
        What the row adds beside its entries.
    remarks, notes : tuple of Text, tuple of str
        What happens in this row, in sentences.
    """

    task: str
    unit: str
    rule: str
    entries: tuple[Entry, ...]
    role: str = ""
    also: tuple[Count, ...] = ()
    remarks: tuple[Text, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What happens in this row, as plain text."""
        return tuple(map(written, self.remarks))

    @property
    def counts(self) -> dict[Count, float]:
        """The sum of the row's contributions, by counter (of amount 0)."""
        counts: list[Count] = []
        for entry in self.entries:
            counts += entry.counts
        return total([*counts, *self.also])

    @property
    def conditional(self) -> bool:
        """Whether the counters of an entry depend on a threshold that is not given."""
        return any(entry.conditional for entry in self.entries)

    @property
    def title(self) -> str:
        """The task in words."""
        name = TITLES.get(self.task, self.task)
        if not self.role:
            return name
        roles = {GENUINE: "as a genuine probe", IMPOSTOR: "as an impostor probe"}
        return f"{name}, {roles.get(self.role, self.role)}"

    def document(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        document = {"task": self.task}
        if self.role:
            document["role"] = self.role
        return document | {
            "unit": self.unit,
            "rule": self.rule,
            "counts": _documents(amounts(self.counts)),
            "notes": list(self.notes),
            "list": [entry.document() for entry in self.entries],
        }


TITLES = {
    "verification/single": "Verification, single-template",
    "verification/multi": "Verification, multi-template",
    "open_set": "Open-set identification",
    "closed_set": "Closed-set identification",
    "reid": "Re-identification",
}


def in_words(entry: Entry) -> str:
    """Return the counters that an entry adds to, and on which condition."""
    if not entry.conditional:
        return counts_text(entry.counts)
    yes = counts_text(entry.if_accepted)
    no = counts_text(entry.if_rejected)
    return f"{yes} if accepted, else {no}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Explanation(Shown):
    """One row of scores under every task of a protocol.

    Attributes
    ----------
    probe : int
        The row, from 0.
    name, subject : str
        Of the probe; empty where there is none.
    probes : int
        Number of rows.
    layout, kind, protocol, system : str
    threshold : float or None
        In the units of the scores; None if none is given and none can be chosen. NaN rejects all.
    threshold_source, threshold_is : Text, str
        Where it comes from, in words.
    tasks : tuple of TaskExplanation
    remarks, notes : tuple of Text, tuple of str
        What is not explained, and why.
    """

    probe: int
    name: str
    subject: str
    probes: int
    layout: str
    kind: str
    protocol: str
    system: str
    threshold: float | None
    threshold_source: Text
    tasks: tuple[TaskExplanation, ...]
    remarks: tuple[Text, ...]

    def _section(self) -> Section:
        from bioeval.studies.explain.section import section

        return section(self)

    def __repr__(self) -> str:
        return f"<Explanation of {self.title}, protocol {self.protocol}; print shows it>"

    @property
    def threshold_is(self) -> str:
        """Where the threshold comes from, as plain text."""
        return written(self.threshold_source, "verification")

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not explained, and why, as plain text."""
        return tuple(map(written, self.remarks))

    @property
    def heading(self) -> Text:
        """The probe in words."""
        names: list[Text] = []
        if self.name:
            names.append(Label(self.name))
        if self.subject:
            names.append(say("subject {subject:name}", subject=self.subject))
        if not names:
            return f"Probe {self.probe}"
        return say("Probe {probe:name} ({names})", probe=self.probe, names=Enumeration(names, ""))

    @property
    def title(self) -> str:
        """The probe in words, as plain text."""
        return written(self.heading)

    def document(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        names = ["probe", "name", "subject", "probes", "layout", "kind", "protocol", "system"]
        return _fields(self, *names, "threshold", "threshold_is") | {
            "notes": list(self.notes),
            "tasks": [task.document() for task in self.tasks],
        }

    def columns(self) -> dict[str, list[Any]]:
        """Return all entries of all tasks as columns, for a table."""
        return columns_of([self])


def columns_of(walks: Iterable[Explanation]) -> dict[str, list[Any]]:
    """Return all entries of some rows as columns, for a table."""
    names = "place", "column", "template", "subject", "score", "role", "accepted"
    columns: dict[str, list[Any]] = {}
    for explained in walks:
        for task in explained.tasks:
            for entry in task.entries:
                row = {"probe": explained.probe, "task": task.task, "as": task.role}
                row |= _fields(entry, *names)
                row |= {"counts": in_words(entry), "reason": entry.reason}
                for name, value in row.items():
                    columns.setdefault(name, []).append(value)
    return columns


@dataclass(frozen=True, kw_only=True, repr=False)
class Steps(Shown):
    """Every row of a small matrix, one after the other, with the running totals of each counter.

    Attributes
    ----------
    walks : tuple of Explanation
    totals : tuple of dict
        After each row: by task, the sum by counter so far.
    scores : Scores
        The scores that are explained; a small matrix is shown before the steps.
    """

    walks: tuple[Explanation, ...]
    totals: tuple[Mapping[str, Mapping[Count, float]], ...]
    scores: Scores

    def _section(self) -> Section:
        from bioeval.studies.explain.steps_section import section

        return section(self)

    def __repr__(self) -> str:
        return f"<Steps of {len(self.walks)} probes; print shows them>"

    @property
    def rates(self) -> dict[str, dict[str, float | dict[int, float]]]:
        """The rates of each task at the end, by their names in :func:`bioeval.evaluate`.

        Rates over ranks are mappings by rank, as far as a rank was reached. NaN without attempts.
        """
        by_task: dict[str, dict[str, float | dict[int, float]]] = {}
        for task, counts in self.totals[-1].items():
            rates: dict[str, Any] = by_task.setdefault(task, {})
            for rate in quotients(task, counts):
                if rate.rank is None:
                    rates[rate.name] = rate.value
                else:
                    rates.setdefault(rate.name, {})[rate.rank] = rate.value
        return by_task

    def columns(self) -> dict[str, list[Any]]:
        """Return all entries of all rows as columns, for a table."""
        return columns_of(self.walks)

    def document(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        steps = []
        for explained, sums in zip(self.walks, self.totals, strict=True):
            totals = {}
            for task, counts in sums.items():
                totals[task] = _documents(amounts(counts))
            steps.append(explained.document() | {"totals": totals})
        return {"steps": steps, "rates": self.rates}
