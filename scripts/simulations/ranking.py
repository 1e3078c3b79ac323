"""Many systems ranked: whether equal ones are told apart, and limits of minDCF and the hull."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import bioeval as be
from simulations.claims import Cell, Claim, Interval, Outcomes, Verdict, cells, limits
from simulations.comparison import NEARER, separated_of
from simulations.populations import POPULATIONS, Drawn, known_pairs
from simulations.rates import known_scores

REPLICATES = 500

#: Measures of systems, those of the hull and of costs at a prior at which errors are not rare.
MEASURES = (
    *("eer", "frr_at_far=0.05", "auc", "eer_hull", "min_dcf=0.5"),
    *("frr_at_threshold=2", "far_at_threshold=2", "recognition_rate", "cms=5", "dir_at_far=0.1"),
)

PRIOR = 0.1


def equal_systems(number: int, *, own: bool) -> Callable[[Cell, np.random.Generator], Outcomes]:
    """Return what says whether no two of so many equally good systems are told apart.

    They have the same effects of people, or their `own`.
    """

    def once(cell: Cell, rng: np.random.Generator) -> dict[str, Verdict]:
        population = POPULATIONS[cell.population]
        people = population.draw(rng, cell.people, cell.templates)
        who = np.repeat(np.arange(cell.people), cell.templates)
        systems = {}
        for i in range(number):
            if own:
                genuine, impostor = population.effects(rng, cell.people)
                people = Drawn(genuine, impostor, people.templates)
            drawn = replace(people, impostor=people.impostor - NEARER / 2)
            systems[f"system {i}"] = be.Scores(drawn.values(rng), who)
        ranking = be.compare(
            systems,
            measures=list(MEASURES),
            interval=be.stats.IntervalMethod(
                "people", replicates=REPLICATES, random_state=int(rng.integers(1 << 30))
            ),
        )
        return {name: Verdict(not better.any()) for name, better in separated_of(ranking).items()}

    return once


@functools.cache
def _true_points(population: str) -> dict[str, float]:
    """Return the EER of the hull and minDCF of a population."""
    genuine, impostor = known_pairs(population)
    at = impostor[:: max(1, len(impostor) // 200_000)]
    far = np.append(np.arange(len(at)) / len(at), 1.0)
    frr = np.append(1 - np.searchsorted(genuine, at, side="right") / len(genuine), 0.0)
    least = np.minimum.accumulate(PRIOR * frr + (1 - PRIOR) * far)[-1]
    crossing = int(np.argmax(far >= frr))
    # The ROC of these populations is convex where it crosses the diagonal.
    return {
        "eer_hull": float((far[crossing] + frr[crossing]) / 2),
        "min_dcf": float(least / min(PRIOR, 1 - PRIOR)),
    }


def chosen_costs(cell: Cell, rng: np.random.Generator) -> dict[str, Interval]:
    """Return the limits of minDCF and of the EER on the hull."""
    truth = _true_points(cell.population)
    result = be.verification(
        known_scores(cell, rng),
        costs=[(PRIOR, 1, 1)],
        far_targets=[],
        interval="people",
    )
    return {
        "EER on the hull": limits(result, "eer_hull", truth["eer_hull"]),
        f"minDCF at prior {PRIOR:g}": limits(result.isel(cost=0), "min_dcf", truth["min_dcf"]),
    }


NOBODY = "in at most 7 % of data sets any two are told apart, for each measure"

CLAIMS = (
    *(
        Claim(
            f"{number} equal systems, {words}",
            f"of {number} equally good systems, {NOBODY}; {who}",
            "be.compare({...})",
            equal_systems(number, own=own),
            cells("ENGRH" if number < 20 else "NG", (30,), (4,)),
            dict.fromkeys("ENGH" if own else "ENGRH", 0.93),
        )
        for number, (own, words, who) in itertools.product(
            (3, 5, 20),
            (
                (False, "the same people", "all have the same easy and difficult people"),
                (True, "own people", "each has its own easy and difficult people"),
            ),
        )
    ),
    Claim(
        "least costs",
        "limits of minDCF and of the EER on the hull hold in at least 90 %",
        "be.verification(costs=...)",
        chosen_costs,
        cells(people=(20, 60, 150), templates=(4,)),
        {"E": 0.9, "N": 0.9, "G": 0.85},
    ),
)
