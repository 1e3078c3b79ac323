"""Rates of verification at given thresholds, and operating points chosen on the data."""

from __future__ import annotations

import numpy as np

import bioeval as be
from simulations.claims import Cell, Claim, Interval, cells, limits
from simulations.populations import known_pairs, threshold_of

FRR = (0.1, 0.02)
FAR = (0.1, 0.01, 0.001)

SIZES = cells(people=(20, 60, 150), templates=(4,))


def at_thresholds(cell: Cell, rng: np.random.Generator) -> dict[str, Interval]:
    """Return the limits of FRR and FAR at thresholds that are given."""
    scores = known_scores(cell, rng)
    frr_at = {x: threshold_of(cell.population, frr=x) for x in FRR}
    far_at = {x: threshold_of(cell.population, far=x) for x in FAR}
    at = np.unique([*frr_at.values(), *far_at.values()])
    result = be.verification(
        scores,
        thresholds=at,
        far_targets=[],
        auc=False,
        interval="people",
    )
    return {
        f"{name.upper()} {100 * x:g} %": limits(result, name, x, threshold=t)
        for name, places in (("frr", frr_at), ("far", far_at))
        for x, t in places.items()
    }


def known_scores(cell: Cell, rng: np.random.Generator) -> be.Scores:
    """Draw the data of a cell."""
    from simulations.populations import POPULATIONS

    drawn = POPULATIONS[cell.population].draw(rng, cell.people, cell.templates)
    return drawn.scores(rng, cell.layout)


def true_points(population: str) -> dict[str, float]:
    """Return EER, FRR at FAR targets and AUC of a population."""
    genuine, impostor = known_pairs(population)
    step = max(1, len(impostor) // 200_000)
    at = impostor[::step]
    far = np.arange(len(at)) * step / len(impostor)
    frr = 1 - np.searchsorted(genuine, at, side="right") / len(genuine)
    crossing = int(np.argmax(far >= frr))
    return {
        "eer": float((far[crossing] + frr[crossing]) / 2),
        "auc": float(1 - np.searchsorted(impostor, genuine).mean() / len(impostor)),
        **{
            f"frr_at_far={x:g}": float((genuine > np.quantile(impostor, x)).mean())
            for x in (0.1, 0.01, 0.001)
        },
    }


def chosen_points(cell: Cell, rng: np.random.Generator) -> dict[str, Interval]:
    """Return the limits of EER, AUC and FRR at FAR targets, supported or not."""
    truth = true_points(cell.population)
    result = be.verification(
        known_scores(cell, rng),
        far_targets=[0.1, 0.01, 0.001],
        interval="people",
    )
    measured = {
        "EER": limits(result, "eer", truth["eer"]),
        "AUC": limits(result, "auc", truth["auc"]),
    }
    for x in (0.1, 0.01, 0.001):
        measured[f"FRR at FAR {100 * x:g} %"] = limits(
            result, "frr_at_far", truth[f"frr_at_far={x:g}"], far_target=x
        )
    return measured


#: With 20 people, 12 % of the data sets of G have no goat to learn a FRR from.
NINETY = {"E": 0.9, "N": 0.9, "G": 0.85}

CLAIMS = (
    Claim(
        "rates at a threshold",
        "95 % intervals of FRR and FAR for new people hold in at least 90 % (G: 85 %)",
        "be.verification(interval='people')",
        at_thresholds,
        (*SIZES, *cells("ENG", (30,), (2, 10)), *cells("ENG", (30,), (4,), ("gallery",))),
        NINETY,
        from_people=20,
    ),
    Claim(
        "operating points chosen on the data",
        "95 % intervals of EER, AUC and FRR at a FAR hold in at least 90 % (G: 85 %)",
        "be.verification(interval='people')",
        chosen_points,
        SIZES,
        NINETY,
        from_people=20,
    ),
)
