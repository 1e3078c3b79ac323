"""The page of the docs: what was measured of each claim, in short."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from simulations.claims import Claim
from simulations.populations import POPULATIONS
from simulations.store import OUTCOMES, Store
from simulations.table import held_of

#: Between these lines of docs/coverage.md are the tables.
BEGIN, END = "<!-- counts -->", "<!-- end of counts -->"


def page(text: str, claims: Iterable[Claim], store: Store) -> str:
    """Return the page with the tables of these claims."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    parts = [before + BEGIN]
    missing = []
    for claim in claims:
        rows = list(rows_of(claim, store))
        if not rows:
            missing.append(f"- {claim.name}: {claim.claimed} (`{claim.call}`)")
        else:
            parts.append("\n".join([f"## {claim.name}", "", *about(claim, store), *rows]))
    if missing:
        parts.append("\n".join(["## not counted yet", "", *missing]))
    return "\n\n".join([*parts, END + after])


def about(claim: Claim, store: Store) -> Iterator[str]:
    """Yield the sentence above the table of a claim."""
    made = f", from {claim.from_people} people on" if claim.from_people else ""
    yield f"`{claim.call}`: {claim.claimed}{made}."
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
    yield f"| measured | people | data sets | {' | '.join(populations)} |"
    yield f"|---|---|---|{'---|' * len(populations)}"
    for name in dict.fromkeys(key[0] for key in held):
        for people in sorted({key[1] for key in held if key[0] == name}):
            row = []
            sets: list[int] = []
            for population in populations:
                key = name, people, population
                cells = held.get(key, [])
                text = per_cent_of(cells)
                row.append(text if key in claimed or not text else f"*{text}*")
                if cells:
                    sets.append(sum(counts[x] for counts in cells for x in OUTCOMES))
            number = f"{min(sets)}" if min(sets) == max(sets) else f"{min(sets)}-{max(sets)}"
            yield f"| {name} | {people} | {number} | {' | '.join(row)} |"


def per_cent_of(cells: Iterable[dict]) -> str:
    """Return how often a claim held in all of some cells, and how often nothing was given."""
    held = given = none = 0
    for counts in cells:
        of_cell = held_of(counts)
        held += of_cell[0]
        given += of_cell[1]
        none += counts["none"]
    if not given:
        return "none given" if none else ""
    text = f"{100 * held / given:.0f}"
    if none > 0.05 * (given + none):
        text += f" (none given in {100 * none / (given + none):.0f})"
    return text
