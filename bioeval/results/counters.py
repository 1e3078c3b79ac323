"""Counters that one row of scores adds to, in the lecture's words, and rates of their sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

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
    "cms_count": "CMS({rank})",
    "queries": "queries",
    "cmc_count": "CMC({rank})",
    "average_precision": "AP",
    "rank_k_average_precision": "AP of the cut list",
    "inp": "INP",
    "skipped": "skipped",
}

_ORDER = list(SYMBOLS)

#: Of more ranks of one counter, texts give the sum.
MOST_RANKS = 4


class Count(NamedTuple):
    """Contribution of one entry to one counter; `rank` is None where the counter has none."""

    name: str
    rank: int | None = None
    amount: float = 1


def counter_text(count: Count, *, amount: bool = True) -> str:
    """Return a counter as the lecture writes it, such as ``GA`` or ``DI(t, 3)``, with its amount.

    Examples
    --------
    >>> counter_text(Count("ga")), counter_text(Count("di", 3, 0.5))
    ('GA', '1/2 DI(t, 3)')
    """
    name = SYMBOLS.get(count.name, count.name).format(rank=count.rank)
    if not amount or count.amount == 1:
        return name
    return f"{amount_text(count.amount)} {name}"


def amount_text(amount: float) -> str:
    """Return a number as text, as a fraction where its terms are small.

    Examples
    --------
    >>> amount_text(2.0), amount_text(1 / 3), amount_text(0.6180339887)
    ('2', '1/3', '0.618')
    """
    if amount != amount:
        return "NaN"
    near = Fraction(amount).limit_denominator(100)
    return str(near) if abs(near - amount) < 1e-9 else f"{amount:.3g}"


def counts_text(counts: Iterable[Count], joined: str = " + ") -> str:
    """Return counters with their amounts; many ranks of one counter are summed.

    Examples
    --------
    >>> counts_text([Count("di", 3), Count("fr")])
    'DI(t, 3) + FR'
    >>> counts_text(Count("cmc_count", rank, 0.2) for rank in range(1, 6))
    'CMC(1 to 5)'
    """
    given = list(counts)
    found = []
    for name in dict.fromkeys(count.name for count in given):
        same = [count for count in given if count.name == name]
        if len(same) > MOST_RANKS:
            ranks = sorted(count.rank or 0 for count in same)
            amount = sum(count.amount for count in same)
            amount = round(amount) if abs(amount - round(amount)) < 1e-9 else amount
            text = SYMBOLS[name].format(rank=f"{ranks[0]} to {ranks[-1]}")
            found.append(text if amount == 1 else f"{amount_text(amount)} {text}")
        else:
            found += [counter_text(count) for count in same]
    return joined.join(found)


def total(counts: Iterable[Count]) -> dict[Count, float]:
    """Return the sum of counts by counter, a :class:`Count` of amount 0, in their order."""
    found: dict[Count, float] = {}
    for count in counts:
        key = count._replace(amount=0)
        found[key] = found.get(key, 0) + count.amount
    return dict(sorted(found.items(), key=lambda x: (_ORDER.index(x[0].name), x[0].rank or 0)))


class Quotient(NamedTuple):
    """A rate as the quotient of two sums: its name in results, with its rank, and its formula."""

    name: str
    rank: int | None
    formula: str
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

    def up_to(name: str, counter: str, formula: str, over: float) -> Iterator[Quotient]:
        at = {k.rank: v for k, v in counts.items() if k.name == counter and k.rank is not None}
        so_far = 0.0
        for rank in range(1, max(at, default=1) + 1):
            so_far += at.get(rank, 0)
            yield Quotient(name, rank, formula, so_far, over)

    if task.startswith("verification"):
        genuine, impostor = of("ga") + of("fr"), of("fa") + of("gr")
        yield Quotient("gar", None, "GA / TG", of("ga"), genuine)
        yield Quotient("frr", None, "FR / TG", of("fr"), genuine)
        yield Quotient("far", None, "FA / TI", of("fa"), impostor)
        yield Quotient("grr", None, "GR / TI", of("gr"), impostor)
    elif task == "open_set":
        genuine, impostor = of("genuine_attempts"), of("impostor_attempts")
        yield from up_to("dir", "di", "sum of DI(t, k) up to it / TG", genuine)
        yield Quotient("frr", None, "FR / TG = 1 - DIR(t, 1)", of("fr"), genuine)
        yield Quotient("far", None, "FA / TI", of("fa"), impostor)
        yield Quotient("grr", None, "GR / TI", of("gr"), impostor)
    elif task == "closed_set":
        yield from up_to("cms", "cms_count", "found up to this rank / TA", of("attempts"))
    else:
        queries = of("queries")
        yield from up_to("cmc", "cmc_count", "found up to this rank / queries", queries)
        yield Quotient("mean_ap", None, "sum of AP / queries", of("average_precision"), queries)
        yield Quotient("mean_inp", None, "sum of INP / queries", of("inp"), queries)
