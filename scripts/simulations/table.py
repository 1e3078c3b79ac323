"""The tables of what was measured, in Markdown, and the cells in which a claim does not hold."""

from __future__ import annotations

from collections.abc import Iterator

import scipy

from simulations.claims import Claim
from simulations.store import BATCH, Store

#: A claim fails in a cell where so few held would be rarer than this if it were true.
RARE = 0.001


def held_of(counts: dict) -> tuple[int, int]:
    """Return how often a claim held, and how often it was made."""
    given = sum(counts[x] for x in ("held", "below", "above", "broken"))
    return counts["held"], given


def lines(claim: Claim, store: Store) -> Iterator[str]:
    """Yield the table of a claim: a row for each thing measured and size, a column a population."""
    of_claim = store.counts.get(claim.name, {})
    cells = [x for x in claim.cells if str(x) in of_claim]
    if not cells:
        return
    populations = list(dict.fromkeys(x.population for x in cells))
    sizes = list(dict.fromkeys((x.people, x.templates, x.layout) for x in cells))
    names = list(dict.fromkeys(k for x in cells for k in of_claim[str(x)]["measured"]))
    most = max(len(of_claim[str(x)]["batches"]) for x in cells) * BATCH
    yield f"### {claim.name}"
    yield ""
    yield f"`{claim.call}`: {claim.claimed}. Per cent of up to {most} data sets a cell."
    yield ""
    yield f"| measured | people | templates | layout | {' | '.join(populations)} |"
    yield f"|---|---|---|---|{'---|' * len(populations)}"
    for name in names:
        for people, templates, layout in sizes:
            row = []
            for population in populations:
                key = f"{population}, {people} people, {templates} templates, {layout}"
                counts = of_claim.get(key, {}).get("measured", {}).get(name)
                row.append(cell_text(counts) if counts else "")
            if any(row):
                yield f"| {name} | {people} | {templates} | {layout} | {' | '.join(row)} |"
    yield ""


def cell_text(counts: dict) -> str:
    """Return how often it held, with the misses at either end of an interval."""
    held, given = held_of(counts)
    if not given:
        return "none given"
    text = f"{100 * held / given:.1f}"
    if counts["below"] or counts["above"]:
        text += f" (-{100 * counts['below'] / given:.1f}, +{100 * counts['above'] / given:.1f})"
    if counts["none"]:
        text += f", none in {100 * counts['none'] / (given + counts['none']):.0f}"
    return text


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
