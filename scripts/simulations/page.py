"""The page of the docs: what was measured of each claim, in short."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from simulations.claims import Claim
from simulations.populations import POPULATIONS
from simulations.store import BATCH, Store
from simulations.table import held_of

#: Between these lines of docs/coverage.md are the tables.
BEGIN, END = "<!-- counts -->", "<!-- end of counts -->"


def page(text: str, claims: Iterable[Claim], store: Store) -> str:
    """Return the page with the tables of these claims."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    parts = [before + BEGIN]
    for claim in claims:
        rows = list(rows_of(claim, store))
        if rows:
            parts.append("\n".join([f"## {claim.name}", "", *about(claim, store), *rows]))
    return "\n\n".join([*parts, END + after])


def about(claim: Claim, store: Store) -> Iterator[str]:
    """Yield the sentence above the table of a claim."""
    numbers = [len(x["batches"]) * BATCH for x in store.counts[claim.name].values()]
    sets = (
        f"{min(numbers)}" if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"
    )
    made = ""
    if claim.from_people:
        made = f", from {claim.from_people} people on"
    yield f"`{claim.call}`: {claim.claimed}{made}. {sets} data sets a cell."
    yield ""


def rows_of(claim: Claim, store: Store) -> Iterator[str]:
    """Yield the table: a row for each thing measured and number of people."""
    held = defaultdict(list)
    claimed = set()
    populations: list[str] = []
    for cell in claim.cells:
        of_cell = store.counts.get(claim.name, {}).get(str(cell))
        if of_cell is None:
            continue
        if cell.population not in populations:
            populations.append(cell.population)
        for name, counts in of_cell["measured"].items():
            key = name, cell.people, cell.population
            held[key].append(counts)
            if claim.is_made(cell) is not None:
                claimed.add(key)
    if not held:
        return
    populations.sort(key=[*POPULATIONS, *populations].index)
    yield f"| measured | people | {' | '.join(populations)} |"
    yield f"|---|---|{'---|' * len(populations)}"
    for name in dict.fromkeys(key[0] for key in held):
        for people in sorted({key[1] for key in held if key[0] == name}):
            row = []
            for population in populations:
                key = name, people, population
                text = range_of(held.get(key, ()))
                row.append(text if key in claimed or not text else f"*{text}*")
            yield f"| {name} | {people} | {' | '.join(row)} |"


def range_of(cells: Iterable[dict]) -> str:
    """Return the lowest and the highest proportion in per cent, and how often nothing was given."""
    percent = []
    given = none = 0
    for counts in cells:
        held, made = held_of(counts)
        given += made
        none += counts["none"]
        if made:
            percent.append(100 * held / made)
    if not percent:
        return "none given" if none else ""
    low = f"{min(percent):.0f}"
    high = f"{max(percent):.0f}"
    text = low if low == high else f"{low}-{high}"
    if none > 0.05 * (given + none):
        text += f" (none given in {100 * none / (given + none):.0f})"
    return text
