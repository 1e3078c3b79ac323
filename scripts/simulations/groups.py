"""Groups of people: limits of their rates together, measures of inequality, and tests."""

from __future__ import annotations

import functools
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import bioeval as be
from bioeval.studies.groups.measures import inequity
from simulations.claims import Cell, Claim, Interval, Verdict, limits
from simulations.populations import POPULATIONS, far_at, frr_at, known_pairs, threshold_of

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
    return be.by_group(
        scores, np.repeat(group, cell.templates), threshold=threshold_of(cell.population, far=FAR),
        far_targets=[], interval="subject-bootstrap", replicates=replicates,
        random_state=int(rng.integers(1 << 30)),
    )  # fmt: skip


def inequality(
    cell: Cell, rng: np.random.Generator, number: int, worse: float
) -> dict[str, Interval | Verdict]:
    """Return limits of rates and measures, and whether the tests are right where groups are equal.

    Rates of all groups are one verdict: whether all limits hold.
    """
    result = grouped(cell, rng, number, worse)
    at = threshold_of(cell.population, far=FAR)
    frr = np.full(number, frr_at(cell.population, at))
    frr[0] = frr_at(cell.population, at - worse)
    far = np.full(number, far_at(cell.population, at))
    measured: dict[str, Interval | Verdict] = {}
    for name, truth in (("FRR", frr), ("FAR", far)):
        low, high = (result[f"{name.lower()}_simultaneous_{end}"].values for end in ("low", "high"))
        defined = not np.isnan(low).any()
        right = bool((low <= truth).all() and (truth <= high).all())
        measured[f"{name} of all groups"] = Verdict(right, defined)
    for name, truth in inequity(far, frr, 0.5).items():
        measured[name] = limits(result, name, float(truth))
    tests = {"FRR": "not said to differ"}
    if worse:
        tests["FRR"] = "said to differ"
    for name in ("FRR", "FAR"):
        p_value = float(result[f"{name.lower()}_groups_p"])
        words = tests.get(name, "not said to differ")
        right = (p_value > LEVEL) == (words == "not said to differ")
        measured[f"{name} {words}"] = Verdict(right, not np.isnan(p_value))
    return measured


@functools.cache
def eer_of(population: str, worse: float, nearer: float) -> float:
    """Return the EER of people whose distances are changed as in :func:`grouped`."""
    genuine, impostor = known_pairs(population)
    genuine, impostor = genuine + worse, impostor - nearer
    at = impostor[:: max(1, len(impostor) // 500_000)]
    far = np.arange(len(at)) / len(at)
    frr = 1 - np.searchsorted(genuine, at, side="right") / len(genuine)
    return float(frr[np.argmax(far >= frr)])


def of_all_pairs(
    cell: Cell, rng: np.random.Generator, number: int, worse: float, nearer: float
) -> dict[str, Verdict | Interval]:
    """Return whether the limits of all differences of two groups hold, and whether tests do.

    Of groups of which the first one differs, how often it is told apart from all others, too.
    """
    result = grouped(cell, rng, number, worse, nearer)
    at = threshold_of(cell.population, far=FAR)
    truth = {
        "FRR": frr_at(cell.population, at - worse) - frr_at(cell.population, at),
        "FAR": far_at(cell.population, at + nearer) - far_at(cell.population, at),
        "EER": eer_of(cell.population, worse, nearer) - eer_of(cell.population, 0.0, 0.0),
    }
    first = np.arange(number) == 0
    sign = first[:, None].astype(int) - first
    apart = ~np.eye(number, dtype=bool)
    measured: dict[str, Verdict | Interval] = {}
    for name, difference in truth.items():
        low, high = (result[f"{name.lower()}_difference_{end}"].values for end in ("low", "high"))
        held = (low <= sign * difference) & (sign * difference <= high)
        measured[f"{name}, all differences"] = Verdict(bool(held[apart].all()))
        if difference:
            separated = result[f"{name.lower()}_separated"].values[0, 1:]
            measured[f"{name}, told apart from all"] = Verdict(bool((separated == 1).all()))
        elif name != "EER":
            p_value = float(result[f"{name.lower()}_groups_p"])
            measured[f"{name} not said to differ"] = Verdict(p_value > LEVEL)
    truth_of_eer = eer_of(cell.population, worse, nearer)
    measured["EER of one group"] = limits(result, "eer", truth_of_eer, group=0)
    return measured


def of_two_systems(
    cell: Cell,
    rng: np.random.Generator,
    number: int,
    worse: tuple[float, float],
    fars: tuple[float, float] = (FAR, FAR),
) -> dict[str, Verdict | Interval]:
    """Return the limits of the differences of inequality of two systems, and what is concluded.

    In each system the first group is `worse`, and the threshold has a FAR of `fars`.
    """
    population = POPULATIONS[cell.population]
    drawn = population.draw(rng, cell.people, cell.templates)
    group = np.arange(cell.people) % number
    who = np.repeat(np.arange(cell.people), cell.templates)
    systems, gaps = [], []
    thresholds = [threshold_of(cell.population, far=far) for far in fars]
    for more, at in zip(worse, thresholds, strict=True):
        genuine = drawn.genuine + more * (group == 0)
        systems.append(be.Scores(replace(drawn, genuine=genuine).values(rng), who))
        frr, far = np.full((2, number), frr_at(cell.population, at))
        frr[0], far[:] = frr_at(cell.population, at - more), far_at(cell.population, at)
        gaps.append((float(np.ptp(frr)), 0.0, inequity(far, frr, 0.5)))
    result = be.compare_groups(
        *systems, group[who], threshold=thresholds[0], threshold_b=thresholds[1],
        random_state=int(rng.integers(1 << 30)),
    )  # fmt: skip
    (frr_a, _, a), (frr_b, _, b) = gaps
    truth = {"frr_gap": frr_a - frr_b, "far_gap": 0.0}
    truth |= {name: float(a[name] - b[name]) for name in ("fdr", "garbe")}
    measured: dict[str, Verdict | Interval] = {}
    for name, difference in truth.items():
        measured[f"{name}, difference"] = limits(result, "difference", difference, measure=name)
        fairer = int(result["fairer"].sel(measure=name))
        sign = 1 if name == "fdr" else -1
        expected = int(np.sign(sign * difference)) if abs(difference) > 1e-9 else 0
        words = "the fairer system is named" if expected else "no system is named fairer"
        measured[f"{name}, {words}"] = Verdict(fairer == expected)
    return measured


def of_one_group(cell: Cell, rng: np.random.Generator) -> dict[str, Interval]:
    """Return the limits of the rates of one of two equal groups, each rate by itself."""
    result = grouped(cell, rng, 2, replicates=500)
    at = threshold_of(cell.population, far=FAR)
    far = far_at(cell.population, at)
    return {
        "FRR": limits(result, "frr", frr_at(cell.population, at), group=0),
        "FAR within the group": limits(result, "far", far, group=0, claimed_group=0),
        "FAR between the groups": limits(result, "far", far, group=0, claimed_group=1),
    }


def cells(people: tuple[int, ...], populations: str = "ENGRH") -> tuple[Cell, ...]:
    """Return cells of four templates."""
    return tuple(Cell(population, n) for population in populations for n in people)


HOLDS = {"E": 0.9, "N": 0.9, "G": 0.85}
TOGETHER = {"N": 0.93, "G": 0.9}

CLAIMS = (
    Claim(
        "two equal groups",
        "limits of rates and measures hold, and tests do not reject, in 90 % (G: 85 %)",
        "be.by_group(interval='subject-bootstrap')",
        partial(inequality, number=2, worse=0.0),
        cells((60, 200)),
        HOLDS,
    ),
    Claim(
        "four equal groups",
        "limits of rates and measures hold, and tests do not reject, in 90 % (G: 85 %)",
        "be.by_group(interval='subject-bootstrap')",
        partial(inequality, number=4, worse=0.0),
        cells((120, 200)),
        HOLDS,
    ),
    Claim(
        "two groups, one with larger genuine distances",
        "limits of rates and measures hold in 90 % (G: 85 %)",
        "be.by_group(interval='subject-bootstrap')",
        partial(inequality, number=2, worse=WORSE),
        cells((60, 200)),
    ),
    Claim(
        "one of two groups",
        "the limits of each rate by itself hold in 90 % (G: 85 %)",
        "be.by_group(interval='subject-bootstrap')",
        of_one_group,
        cells((40, 100, 200)),
        HOLDS,
    ),
    Claim(
        "differences of three equal groups",
        "limits of all differences hold together in 93 % (G: 90 %)",
        "be.by_group(interval='subject-bootstrap')",
        partial(of_all_pairs, number=3, worse=0.0, nearer=0.0),
        cells((90, 300), "NG"),
        TOGETHER,
    ),
    Claim(
        "differences of five equal groups",
        "limits of all differences hold together in 93 % (G: 90 %)",
        "be.by_group(interval='subject-bootstrap')",
        partial(of_all_pairs, number=5, worse=0.0, nearer=0.0),
        cells((150, 500), "NG"),
        TOGETHER,
    ),
    Claim(
        "differences of three groups, one worse",
        "no claim of what is told apart; limits of all differences hold together in 90 %",
        "be.by_group(interval='subject-bootstrap')",
        partial(of_all_pairs, number=3, worse=WORSE, nearer=WORSE),
        cells((90, 300), "NG"),
    ),
    Claim(
        "differences of five groups, one worse",
        "no claim of what is told apart; limits of all differences hold together in 90 %",
        "be.by_group(interval='subject-bootstrap')",
        partial(of_all_pairs, number=5, worse=WORSE, nearer=WORSE),
        cells((150,), "NG"),
    ),
    Claim(
        "gaps of two systems, groups equal in both",
        "limits hold, and no system is named fairer, in 93 %; the second one has a stricter "
        "threshold and more false rejects",
        "be.compare_groups",
        partial(of_two_systems, number=3, worse=(0.0, 0.0), fars=(FAR, FAR / 10)),
        cells((90, 300), "NG"),
        dict.fromkeys("NG", 0.93),
    ),
    Claim(
        "gaps of two systems, one group worse in both",
        "limits hold, and no system is named fairer, in 93 %",
        "be.compare_groups",
        partial(of_two_systems, number=3, worse=(WORSE, WORSE)),
        cells((90, 300), "NG"),
        dict.fromkeys("NG", 0.93),
    ),
    Claim(
        "gaps of two systems, one group worse in the first",
        "no claim: how often the fairer system is named",
        "be.compare_groups",
        partial(of_two_systems, number=3, worse=(WORSE, 0.0)),
        cells((90, 300), "NG"),
    ),
)
