"""Two systems compared: winners among equal ones, and worse systems that are declared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import xarray as xr

import bioeval as be
from bioeval.counting.targets import per_cent
from bioeval.protocol.fields import in_lecture_words
from bioeval.studies.compare import measures_of
from simulations.claims import Cell, Claim, Verdict, cells
from simulations.populations import POPULATIONS, Drawn

REPLICATES = 500
TARGETS = (0.1, 0.05)

#: Impostors are so much nearer to each other than in other simulations: people are confused.
NEARER = 1.0

#: Embeddings in which some people, the hubs, are near to the centre and so to everyone.
HUBS = "hubs"
DIMENSIONS, TEMPLATE_NOISE = 16, 0.75
HUB_SHARE, HUB_RADIUS = 0.08, 0.2

#: Equally good systems may differ in the scores of so many people alone.
FEW = ((1, 5), (6, 12))

#: Of 40 people, so many have genuine distances in one of two systems that are so much larger.
CHANGED = (5, 6, 12)
CHANGED_BY = 3.0
#: The same of all people.
WORSE_BY = 0.5


def systems(cell: Cell, rng: np.random.Generator, *, own: bool) -> Iterator[be.Scores]:
    """Yield scores of two equally good systems, with the same effects of people or their `own`.

    Of the population :data:`HUBS` embeddings, of the others distances.
    """
    if cell.population == HUBS:
        matrices = _of_hubs(cell, rng, own)
    else:
        matrices = _of_population(cell, rng, own)
    for values in matrices:
        yield _scores(values, cell)


def _of_population(cell: Cell, rng: np.random.Generator, own: bool) -> Iterator[np.ndarray]:
    population = POPULATIONS[cell.population]
    people = population.draw(rng, cell.people, cell.templates)
    for _ in range(2):
        if own:
            genuine, impostor = population.effects(rng, cell.people)
            people = Drawn(genuine, impostor, people.templates)
        yield replace(people, impostor=people.impostor - NEARER / 2).values(rng)


def _of_hubs(cell: Cell, rng: np.random.Generator, own: bool) -> Iterator[np.ndarray]:
    def radius() -> np.ndarray:
        return np.where(rng.random(cell.people) < HUB_SHARE, HUB_RADIUS, 1.0)[:, None]

    common = rng.normal(size=(cell.people, DIMENSIONS))
    centre = radius() * common
    for _ in range(2):
        if own:
            centre = radius() * (common + rng.normal(size=common.shape)) / np.sqrt(2)
        noise = TEMPLATE_NOISE * rng.normal(size=(cell.people, cell.templates, DIMENSIONS))
        templates = (centre[:, None] + noise).reshape(-1, DIMENSIONS)
        yield be.Scores.from_embeddings(templates, np.arange(len(templates)), metric="l2").values


def _scores(values: np.ndarray, cell: Cell) -> be.Scores:
    """Return all against all, or half of the templates of each person against the other half."""
    who = np.repeat(np.arange(cell.people), cell.templates)
    if cell.layout == "square":
        return be.Scores(values, who)
    probe = np.tile(np.arange(cell.templates) < cell.templates // 2, cell.people)
    return be.Scores(values[np.ix_(probe, ~probe)], who[probe], who[~probe])


def no_winner(
    cell: Cell, rng: np.random.Generator, *, own: bool = False, **options: object
) -> dict[str, Verdict]:
    """Return for each measure whether no winner is declared of two equal systems."""
    both = systems(cell, rng, own=own)
    seed = int(rng.integers(1 << 30))
    method = be.stats.IntervalMethod("people", replicates=REPLICATES, random_state=seed)
    compared = be.compare(*both, **options, interval=method)
    return {name: Verdict(not better[0, 1]) for name, better in separated_of(compared).items()}


def separated_of(compared: xr.Dataset) -> dict[str, np.ndarray]:
    """Return which systems are better, (systems, systems), by the label of each measure."""
    found = {}
    for x in measures_of(compared):
        places = {k: per_cent(at) if k == "target" else f"{at:g}" for k, at in x.places.items()}
        values = compared[x.variable("separated")]
        own = {dim: at for dim, at in x.coordinates.items() if dim in values.dims}
        found[in_lecture_words(x.scalar.label, **places)] = values.sel(own).values
    return found


def searches(cell: Cell, rng: np.random.Generator, **options: object) -> dict[str, Verdict]:
    """Return :func:`no_winner` of all measures that need no protocol."""
    return no_winner(cell, rng, far_targets=TARGETS, **options)


def retrieval(cell: Cell, rng: np.random.Generator, **options: object) -> dict[str, Verdict]:
    """Return :func:`no_winner` of the measures of re-identification."""
    return no_winner(cell, rng, protocol="vehicleid", **options)


def few_apart(cell: Cell, rng: np.random.Generator) -> dict[str, Verdict]:
    """Return whether no winner is declared of systems that differ in the scores of few people."""
    one, other = systems(cell, rng, own=False)
    verdicts = {}
    for fewest, most in FEW:
        apart = one.probe_labels < rng.integers(fewest, most + 1)
        differ = apart[:, None] | apart
        second = be.Scores(np.where(differ, other.values, one.values), one.probe_labels)
        compared = be.compare(
            one,
            second,
            far_targets=TARGETS,
            interval=be.stats.IntervalMethod(
                "people", replicates=REPLICATES, random_state=int(rng.integers(1 << 30))
            ),
        )
        for name, better in separated_of(compared).items():
            verdicts[f"{name}, {fewest} to {most} people"] = Verdict(not better[0, 1])
    return verdicts


def found_better(cell: Cell, rng: np.random.Generator) -> dict[str, Verdict]:
    """Return whether the better of two systems is declared so; one is worse for some people."""
    first, second = systems(cell, rng, own=False)
    who, verdicts = first.probe_labels, {}
    for number, by in (*((x, CHANGED_BY) for x in CHANGED), (cell.people, WORSE_BY)):
        worse = (who[:, None] == who) & (who < number)
        compared = be.compare(
            first,
            be.Scores(second.values + by * worse, who),
            far_targets=TARGETS[:1],
            interval=be.stats.IntervalMethod(
                "people", replicates=REPLICATES, random_state=int(rng.integers(1 << 30))
            ),
        )
        for name, better in separated_of(compared).items():
            verdicts[f"{name}, {number} people worse"] = Verdict(bool(better[0, 1] == 1))
    return verdicts


def with_own(cell: Cell, rng: np.random.Generator) -> dict[str, Verdict]:
    """Return :func:`searches` of systems each with its own easy and difficult people."""
    return searches(cell, rng, own=True)


def with_own_retrieval(cell: Cell, rng: np.random.Generator) -> dict[str, Verdict]:
    """Return :func:`retrieval` of systems each with its own easy and difficult people."""
    return retrieval(cell, rng, own=True)


PLACES = ("E", "N", "G", "R", "H", HUBS)
ALL_BUT_R = dict.fromkeys(("E", "N", "G", "H", HUBS), 0.95)
BOTH = ("square", "gallery")
NO_WINNER = "of two equally good systems a winner is declared in at most 5 %"

CLAIMS = (
    Claim(
        "two equal systems",
        f"{NO_WINNER}, for each measure; both have the same easy and difficult people",
        "be.compare",
        searches,
        cells(PLACES, (30, 60), (4,), BOTH),
        dict.fromkeys(PLACES, 0.95),
    ),
    Claim(
        "two equal systems, own people",
        f"{NO_WINNER}, for each measure; each has its own easy and difficult people",
        "be.compare",
        with_own,
        cells(PLACES, (30, 60), (4,), BOTH),
        ALL_BUT_R,
    ),
    Claim(
        "two equal systems that differ in few people",
        f"{NO_WINNER}, for each measure",
        "be.compare",
        few_apart,
        cells("EN", (25, 50), (4,)),
        dict.fromkeys("EN", 0.95),
    ),
    Claim(
        "two equal systems, re-identification",
        f"{NO_WINNER}, for each measure; both have the same easy and difficult people",
        "be.compare(protocol='vehicleid')",
        retrieval,
        cells(PLACES, (30, 60), (4,)),
        dict.fromkeys(PLACES, 0.95),
    ),
    Claim(
        "two equal systems, re-identification, own people",
        f"{NO_WINNER}, for each measure; each has its own easy and difficult people",
        "be.compare(protocol='vehicleid')",
        with_own_retrieval,
        cells(PLACES, (30, 60), (4,)),
        ALL_BUT_R,
    ),
    Claim(
        "a worse system",
        "no claim: how often the better of two systems is declared so",
        "be.compare",
        found_better,
        cells("NG", (40,), (4,)),
    ),
)
