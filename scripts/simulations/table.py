"""The table of what was measured, in Markdown, and the cells in which a claim does not hold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import scipy

from simulations.claims import Claim
from simulations.store import BATCH, Store

#: People alike; people differ; goats and wolves; rare wolves; heavy tails (``populations.py``).
POPULATIONS = ("E", "N", "G", "R", "H")

#: A claim fails in a cell where so few held would be rarer than this if it were true.
RARE = 0.001


def held_of(counts: dict) -> tuple[int, int]:
    """Return how often a claim held, and how often it was made."""
    given = sum(counts[x] for x in ("held", "below", "above", "broken"))
    return counts["held"], given


def table(claims: Iterable[Claim], store: Store, people: Collection[int] = ()) -> Iterator[str]:
    """Yield one table: a row for each thing measured, a column for each population.

    A cell is the smallest and the largest percentage over the sizes and layouts (of some numbers of
    people, if they are given) in which the interval, the test or the promise held.
    """
    yield f"| claim | measured | {' | '.join(POPULATIONS)} | data sets |"
    yield f"|---|---|{'---|' * len(POPULATIONS)}---|"
    for claim in claims:
        of_claim = store.counts.get(claim.name, {})
        percentages: dict[str, dict[str, list[float]]] = {}
        most = 0
        for cell in claim.cells:
            counts = of_claim.get(str(cell))
            if counts is None or (people and cell.people not in people):
                continue
            most = max(most, len(counts["batches"]) * BATCH)
            for name, outcomes in counts["measured"].items():
                held, given = held_of(outcomes)
                if given:
                    row = percentages.setdefault(name, {})
                    row.setdefault(cell.population, []).append(100 * held / given)
        for name, row in percentages.items():
            texts = " | ".join(_range(row.get(x, [])) for x in POPULATIONS)
            yield f"| {claim.name} | {name} | {texts} | {most} |"


def _range(percentages: list[float]) -> str:
    if not percentages:
        return ""
    low, high = (f"{x:.0f}" for x in (min(percentages), max(percentages)))
    return low if low == high else f"{low}-{high}"


def failures(claim: Claim, store: Store) -> Iterator[str]:
    """Yield the cells in which the claim holds clearly less often than it says."""
    for cell in claim.cells:
        least = claim.is_made(cell)
        if least is None:
            continue
        measured = store.counts.get(claim.name, {}).get(str(cell), {}).get("measured", {})
        for name, counts in measured.items():
            held, given = held_of(counts)
            if given and scipy.stats.binom.cdf(held, given, least) < RARE:
                yield (
                    f"{claim.name}, {name}, {cell}: held in {100 * held / given:.1f} % of {given}, "
                    f"claimed {100 * least:g} %"
                )
