"""Cross-evaluation: rates at thresholds that other people chose."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

import bioeval as be
from simulations.claims import Cell, Claim, Interval
from simulations.populations import POPULATIONS, far_at, frr_at

FOLDS = 5
RULES: dict[str, Any] = {"FAR 1 %": "far=0.01", "EER": "eer", "HTER": "hter"}
RATES = ("far", "frr", "hter")
#: Data sets whose folds choose the thresholds by which the expected rates are known.
KNOWN = 60


def crossed(cell: Cell, rng: np.random.Generator, rule: Any) -> Any:
    """Evaluate people in folds."""
    scores = POPULATIONS[cell.population].draw(rng, cell.people, cell.templates).scores(rng)
    return be.cross_evaluate(scores, be.partition.SubjectKFold(FOLDS), threshold=rule)


@functools.cache
def expected(cell: Cell, name: str) -> dict[str, float]:
    """Return the mean true rates at thresholds that the training parts of such data choose."""
    rng = np.random.default_rng([13, ord(cell.population), cell.people])
    at: list[float] = []
    for _ in range(KNOWN):
        at += crossed(cell, rng, RULES[name]).threshold.values.ravel().tolist()
    far = float(np.mean([far_at(cell.population, t) for t in at]))
    frr = float(np.mean([frr_at(cell.population, t) for t in at]))
    return {"far": far, "frr": frr, "hter": (far + frr) / 2}


def in_folds(cell: Cell, rng: np.random.Generator) -> dict[str, Interval]:
    """Return the limits of the rates that are expected of the rule."""
    measured = {}
    for name, rule in RULES.items():
        truth = expected(cell, name)
        found = be.aggregate(crossed(cell, rng, rule), ("repeat", "fold")).sel(part="test")
        for rate in RATES:
            low, high = (found[f"{rate}_{end}"].item() for end in ("low", "high"))
            measured[f"{rate.upper()} at {name}"] = Interval(low, high, truth[rate])
    return measured


CLAIMS = (
    Claim(
        "rates at thresholds of training parts",
        "95 % intervals hold the rates that are expected of the rule in 90 % (a heuristic)",
        "be.cross_evaluate(...)",
        in_folds,
        tuple(Cell(x, n) for x in "ENGRH" for n in (30, 100)),
        {"E": 0.85, "N": 0.85, "G": 0.85},
    ),
)
