"""Groups of people: limits of their rates together, of their differences, and tests."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import bioeval as be
from simulations.claims import Cell, Claim, Interval, Verdict, limits
from simulations.populations import POPULATIONS, far_at, frr_at, threshold_of

FAR = 0.02
#: What is added to the genuine distances of the first group where groups differ.
WORSE = 1.0
LEVEL = 0.05


def grouped(
    cell: Cell,
    rng: np.random.Generator,
    number: int,
    worse: float = 0.0,
    nearer: float = 0.0,
    replicates: int = 100,
) -> Any:
    """Return the result of people in groups of equal size, by person's number.

    The genuine distances of the first group are larger by `worse`, and its impostors nearer to each
    other by `nearer`.
    """
    drawn = POPULATIONS[cell.population].draw(rng, cell.people, cell.templates)
    group = np.arange(cell.people) % number
    drawn.genuine[group == 0] += worse
    drawn.impostor[group == 0] -= nearer / 2
    scores = drawn.scores(rng)
    result = be.by_group(
        scores,
        np.repeat(group, cell.templates),
        threshold=threshold_of(cell.population, far=FAR),
        interval=be.stats.IntervalMethod(
            "people", replicates=replicates, random_state=int(rng.integers(1 << 30))
        ),
    )
    return result.drop_sel(group="all", claimed_group="all")


def together(cell: Cell, rng: np.random.Generator, number: int, worse: float) -> dict[str, Verdict]:
    """Return whether limits of rates hold, and whether the tests are right where groups are equal.

    Rates of all groups are one verdict: whether all limits hold.
    """
    result = grouped(cell, rng, number, worse)
    at = threshold_of(cell.population, far=FAR)
    frr = np.full(number, frr_at(cell.population, at))
    frr[0] = frr_at(cell.population, at - worse)
    far = np.full(number, far_at(cell.population, at))
    measured: dict[str, Verdict] = {}
    for name, truth in (("FRR", frr), ("FAR", far)):
        low, high = (result[f"{name.lower()}_simultaneous_{end}"].values for end in ("low", "high"))
        defined = not np.isnan(low).any()
        right = bool((low <= truth).all() and (truth <= high).all())
        measured[f"{name} of all groups"] = Verdict(right, defined)
    tests = {"FRR": "not said to differ"}
    if worse:
        tests["FRR"] = "said to differ"
    for name in ("FRR", "FAR"):
        p_value = float(result[f"{name.lower()}_groups_p"])
        words = tests.get(name, "not said to differ")
        right = (p_value > LEVEL) == (words == "not said to differ")
        measured[f"{name} {words}"] = Verdict(right, not np.isnan(p_value))
    return measured


def of_all_pairs(
    cell: Cell, rng: np.random.Generator, number: int, worse: float, nearer: float
) -> dict[str, Verdict]:
    """Return whether the limits of all differences of two groups hold, and whether tests do.

    Of groups of which the first one differs, how often it is told apart from all others, too.
    """
    result = grouped(cell, rng, number, worse, nearer)
    at = threshold_of(cell.population, far=FAR)
    truth = {
        "FRR": frr_at(cell.population, at - worse) - frr_at(cell.population, at),
        "FAR": far_at(cell.population, at + nearer) - far_at(cell.population, at),
    }
    first = np.arange(number) == 0
    sign = first[:, None].astype(int) - first
    apart = ~np.eye(number, dtype=bool)
    measured: dict[str, Verdict] = {}
    for name, difference in truth.items():
        low, high = (result[f"{name.lower()}_difference_{end}"].values for end in ("low", "high"))
        held = (low <= sign * difference) & (sign * difference <= high)
        measured[f"{name}, all differences"] = Verdict(bool(held[apart].all()))
        if difference:
            separated = result[f"{name.lower()}_separated"].values[0, 1:]
            measured[f"{name}, told apart from all"] = Verdict(bool((separated == 1).all()))
        else:
            p_value = float(result[f"{name.lower()}_groups_p"])
            measured[f"{name} not said to differ"] = Verdict(p_value > LEVEL)
    return measured


def of_one_group(cell: Cell, rng: np.random.Generator) -> dict[str, Interval]:
    """Return the limits of the rates of one of two equal groups, each rate by itself."""
    result = grouped(cell, rng, 2, replicates=500)
    at = threshold_of(cell.population, far=FAR)
    far = far_at(cell.population, at)
    return {
        "FRR": limits(result, "frr", frr_at(cell.population, at), group="0"),
        "FAR within the group": limits(result, "far", far, group="0", claimed_group="0"),
        "FAR between the groups": limits(result, "far", far, group="0", claimed_group="1"),
    }


def cells(people: tuple[int, ...], populations: str = "ENGRH") -> tuple[Cell, ...]:
    """Return cells of four templates."""
    return tuple(Cell(population, n) for population in populations for n in people)


HOLDS = {"E": 0.9, "N": 0.9, "G": 0.85}
TOGETHER = {"N": 0.93, "G": 0.9}

CLAIMS = (
    Claim(
        "two equal groups",
        "limits of rates hold, and tests do not reject, in 90 % (G: 85 %)",
        "be.by_group(interval='people')",
        partial(together, number=2, worse=0.0),
        cells((60, 200)),
        HOLDS,
    ),
    Claim(
        "four equal groups",
        "limits of rates hold, and tests do not reject, in 90 % (G: 85 %)",
        "be.by_group(interval='people')",
        partial(together, number=4, worse=0.0),
        cells((120, 200)),
        HOLDS,
    ),
    Claim(
        "two groups, one with larger genuine distances",
        "limits of rates hold in 90 % (G: 85 %)",
        "be.by_group(interval='people')",
        partial(together, number=2, worse=WORSE),
        cells((60, 200)),
    ),
    Claim(
        "one of two groups",
        "the limits of each rate by itself hold in 90 % (G: 85 %)",
        "be.by_group(interval='people')",
        of_one_group,
        cells((40, 100, 200)),
        HOLDS,
    ),
    Claim(
        "differences of three equal groups",
        "limits of all differences hold together in 93 % (G: 90 %)",
        "be.by_group(interval='people')",
        partial(of_all_pairs, number=3, worse=0.0, nearer=0.0),
        cells((90, 300), "NG"),
        TOGETHER,
    ),
    Claim(
        "differences of five equal groups",
        "limits of all differences hold together in 93 % (G: 90 %)",
        "be.by_group(interval='people')",
        partial(of_all_pairs, number=5, worse=0.0, nearer=0.0),
        cells((150, 500), "NG"),
        TOGETHER,
    ),
    Claim(
        "differences of three groups, one worse",
        "no claim of what is told apart; limits of all differences hold together in 90 %",
        "be.by_group(interval='people')",
        partial(of_all_pairs, number=3, worse=WORSE, nearer=WORSE),
        cells((90, 300), "NG"),
    ),
    Claim(
        "differences of five groups, one worse",
        "no claim of what is told apart; limits of all differences hold together in 90 %",
        "be.by_group(interval='people')",
        partial(of_all_pairs, number=5, worse=WORSE, nearer=WORSE),
        cells((150,), "NG"),
    ),
)
