"""Sizes of tests: how often a planned test reaches its width, and how many people it takes."""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy.special import ndtri

from bioeval.studies.planning.sample_size import GenuineErrors
from bioeval.studies.planning.variance_components import (
    ASSURANCE,
    Components,
    components_of,
    components_without_each,
)
from simulations.claims import Cell, Claim, Interval, Verdict, cells
from simulations.populations import PAIR, POPULATIONS, threshold_of

CONFIDENCE = 0.95
FRR, WIDTH = 0.1, 0.05
#: People from whom a test is drawn.
_MANY = 40_000


def width(means: np.ndarray) -> float:
    """Return the width of the interval by subject of the mean of subjects' means."""
    z = float(ndtri(0.5 + CONFIDENCE / 2))
    return 2 * z * float(means.std(ddof=1)) / math.sqrt(len(means))


def errors(population: str, rng: np.random.Generator, people: int, templates: int) -> np.ndarray:
    """Return the errors of all pairs, shape (people, templates, templates), NaN for no pair."""
    drawn = POPULATIONS[population].draw(rng, people, templates)
    noise = np.triu(PAIR * rng.normal(size=(people, templates, templates)), 1)
    each = drawn.templates
    scores = drawn.genuine[:, None, None] + each[:, :, None] + each[:, None, :]
    scores = scores + noise + noise.swapaxes(1, 2)
    wrong = np.where(scores > threshold_of(population, frr=FRR), 1.0, 0.0)
    wrong[:, np.eye(templates, dtype=bool)] = np.nan
    return wrong


@functools.cache
def many(population: str, templates: int) -> np.ndarray:
    """Return the FRR of many people."""
    rng = np.random.default_rng([8, ord(population), templates])
    return np.nanmean(errors(population, rng, _MANY, templates), axis=(1, 2))


@functools.cache
def needed(population: str, templates: int) -> int:
    """Return the people with whom the width is reached in 92 % of tests."""
    rng, people = (
        np.random.default_rng([9, ord(population), templates]),
        many(population, templates),
    )
    low, high = 10, 100_000
    while high > 1.02 * low:
        middle = round(math.sqrt(low * high))
        reached = [width(rng.choice(people, middle)) <= WIDTH for _ in range(300)]
        low, high = (low, middle) if np.mean(reached) >= ASSURANCE else (middle, high)
    return high


def planned_people(pilot: np.ndarray, templates: int) -> int | None:
    """Return the people of a plan from the errors of a pilot; None where there is no error."""
    components = components_of(pilot, symmetric=True)
    if not components.rate or not components.total:
        return None
    without = components_without_each(list(pilot), symmetric=True)
    errors_of_pilot = GenuineErrors(components, np.array([templates]), without)
    return errors_of_pilot.people(templates, WIDTH, CONFIDENCE)


def from_pilots(cell: Cell, rng: np.random.Generator) -> dict[str, Interval | Verdict]:
    """Plan with the pilot's number of templates and with another, and draw the tests."""
    pilot = errors(cell.population, rng, cell.people, cell.templates)
    outcomes: dict[str, Interval | Verdict] = {}
    for templates in (2, 4, 10):
        people = planned_people(pilot, templates)
        part, reached = np.nan, False
        if people is not None:
            part = people / needed(cell.population, templates)
            reached = width(rng.choice(many(cell.population, templates), people)) <= WIDTH
        what = f"{templates} templates planned"
        outcomes[what] = Verdict(reached, people is not None)
        outcomes[f"people over those needed, {what}"] = Interval(0.0, part, 0.0)
    return outcomes


#: FRR, correlation, templates and width of tests that are planned from true figures.
ASSUMED = (
    (0.05, 0.2, 4, 0.02),
    (0.02, 0.1, 5, 0.01),
    (0.01, 0.3, 3, 0.01),
    (0.1, 0.05, 10, 0.02),
    (0.05, 0.2, 2, 0.03),
)


def reached_of_assumed(
    rng: np.random.Generator, frr: float, icc: float, templates: int, wanted: float, runs: int
) -> float:
    """Return the proportion of tests of beta-distributed people that reach the planned width."""
    total = frr * (1 - frr)
    assumed = GenuineErrors(Components(frr, icc * total, 0.0, total), np.array([templates]))
    people = assumed.people(templates, wanted, CONFIDENCE)
    size, pairs = 1 / icc - 1, templates * (templates - 1) // 2
    reached = 0
    for _ in range(runs):
        rates = rng.beta(frr * size, (1 - frr) * size, people)
        reached += width(rng.binomial(pairs, rates) / pairs) <= wanted
    return reached / runs


def from_true_figures(cell: Cell, rng: np.random.Generator) -> dict[str, Verdict]:
    """Plan from true figures, and draw one test of each plan."""
    return {
        f"FRR {100 * frr:g} %, correlation {icc:g}, {templates} templates": Verdict(
            reached_of_assumed(rng, frr, icc, templates, wanted, 1) == 1
        )
        for frr, icc, templates, wanted in ASSUMED
    }


CLAIMS = (
    Claim(
        "size of a test, from a pilot",
        "the width is reached with a probability of 92 %, planned for 2, 4 and 10 templates",
        "sample_size(pilot)",
        from_pilots,
        cells(people=(30, 60), templates=(4,)),
    ),
    Claim(
        "size of a test, from true figures",
        "the width is reached with a probability of 92 %",
        "sample_size(frr=, icc=)",
        from_true_figures,
        (Cell("E", 0),),
        {"E": 0.9},
    ),
)
