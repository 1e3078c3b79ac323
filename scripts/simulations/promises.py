"""Promises of a FAR and claims about rates: assured thresholds, verdicts, the rule of 30."""

from __future__ import annotations

import numpy as np

import bioeval as be
from bioeval.studies.assurance import JudgedAttempts, assured_threshold
from simulations.claims import Cell, Claim, Interval, Verdict, cells
from simulations.populations import (
    POPULATIONS,
    Drawn,
    far_at,
    frr_at,
    threshold_of,
)

CONFIDENCE = 0.95
TARGETS = (0.05, 0.02, 0.01)
#: Data sets in which the estimated rule is kept, at least, by population.
KEPT = {"E": 0.93, "N": 0.93, "G": 0.93}


def drawn(cell: Cell, rng: np.random.Generator) -> Drawn:
    """Draw the people of a cell."""
    return POPULATIONS[cell.population].draw(rng, cell.people, cell.templates)


def promises(cell: Cell, rng: np.random.Generator) -> dict[str, Interval | Verdict]:
    """Say whether assured thresholds keep their FAR in the population.

    And what is paid: FAR in the population as a part of its target, as an interval from 0, so that
    the counts have the mean of its width.
    """
    scores = drawn(cell, rng).scores(rng, cell.layout)
    outcomes: dict[str, Interval | Verdict] = {}
    curve = JudgedAttempts(scores, CONFIDENCE).far_curve()
    for target in TARGETS:
        assured = assured_threshold(curve, target)
        given = assured.refusal is None
        far = far_at(cell.population, assured.threshold) if given else np.nan
        outcomes[f"FAR {100 * target:g} %"] = Verdict(given and far <= target, given)
        outcomes[f"part of the target used, {100 * target:g} %"] = Interval(
            0.0 if given else np.nan, far / target, 0.0
        )
    return outcomes


def verdicts(cell: Cell, rng: np.random.Generator) -> dict[str, Verdict]:
    """Say whether a claim just below the true rate is not shown, and one just above not refuted."""
    scores = drawn(cell, rng).scores(rng, cell.layout)
    outcomes = {}
    for rate, of_population, claims in (
        ("far", far_at, TARGETS),
        ("frr", frr_at, (0.1, 0.05, 0.02)),
    ):
        for x in claims:
            at = threshold_of(cell.population, **{rate: x})
            true = of_population(cell.population, at)
            result = be.check_promise(scores, at, f"{rate}={true!r}")
            name = f"{rate.upper()} {100 * x:g} %"
            outcomes[f"wrong not shown, {name}"] = Verdict(bool(result[f"{rate}_high"] > true))
            outcomes[f"right not refuted, {name}"] = Verdict(bool(result[f"{rate}_low"] <= true))
    return outcomes


def rule_of_30(cell: Cell, rng: np.random.Generator) -> dict[str, Verdict]:
    """Say whether rates are within 30 % of the truth where 30 errors are expected."""
    scores = drawn(cell, rng).scores(rng, cell.layout)
    pairs = cell.people * (cell.people - 1) // 2
    far, frr = 30 / pairs, 30 / cell.people
    near = {}
    at = threshold_of(cell.population, far=far)
    ds = be.verification(scores, thresholds=[at], far_targets=[], auc=False)
    near["FAR, 30 pairs of people expected"] = Verdict(abs(float(ds.far[0]) / far - 1) <= 0.3)
    if frr < 0.5:
        at = threshold_of(cell.population, frr=frr)
        ds = be.verification(scores, thresholds=[at], far_targets=[], auc=False)
        near["FRR, 30 people expected"] = Verdict(abs(float(ds.frr[0]) / frr - 1) <= 0.3)
    return near


_SIZES = cells(people=(20, 40, 100), templates=(2, 5)) + cells(people=(200,), templates=(2,))

CLAIMS = (
    Claim(
        "promises of a FAR",
        "the FAR in the population is at most the target, with 95 % confidence",
        "study_threshold(assure=0.95)",
        promises,
        _SIZES,
        KEPT,
        from_people=40,
    ),
    Claim(
        "claims about rates",
        "a wrong claim is shown, and a right one refuted, in at most 5 % of data sets",
        "check_promise",
        verdicts,
        _SIZES,
        KEPT,
        from_people=40,
    ),
    Claim(
        "rule of 30",
        "not a claim: how often a rate with 30 errors expected is within 30 % of the true one",
        "stats.rule_of_30",
        rule_of_30,
        cells(people=(20, 50, 200), templates=(2, 5), most_templates=500),
    ),
)
