"""How often a planned test reaches its width: a simulation, printed as tables of docs/planning.md.

    scripts/planning [--runs 2000] [--pilots 400] [--eers 100]

The first table plans from true figures and draws tests of beta-distributed people; the second
draws a pilot, plans from it, and draws the test from the same population, in which subjects,
templates and pairs have normal effects and a pair is in error above a limit; the third plans the
EER from the scores of a pilot. 0 leaves a table out.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from scipy.special import ndtri

import bioeval as be
from bioeval.studies.planning.sample_size import (
    assumed,
    components_of,
    kurtosis,
    subjects_for_width,
)

CONFIDENCE, ASSURANCE = 0.95, 0.92

#: FRR, icc, templates, wanted width.
ASSUMED = (
    (0.05, 0.2, 4, 0.02),
    (0.02, 0.1, 5, 0.01),
    (0.01, 0.3, 3, 0.01),
    (0.1, 0.05, 10, 0.02),
    (0.05, 0.2, 2, 0.03),
)

#: Limit, spread of subjects, templates and pairs; templates, subjects of the pilot, wanted width.
PILOTS = (
    ((2.0, 0.6, 0.4, 0.6), 4, 100, 0.02),
    ((2.0, 0.6, 0.4, 0.6), 4, 200, 0.02),
    ((1.6, 0.4, 0.5, 0.5), 5, 150, 0.02),
    ((1.8, 0.7, 0.2, 0.6), 3, 300, 0.02),
    ((1.4, 0.5, 0.4, 0.5), 3, 60, 0.06),
)


def width(means: np.ndarray) -> float:
    """Return the width of the interval by subject of the mean of subjects' means."""
    z = float(ndtri(0.5 + CONFIDENCE / 2))
    return 2 * z * float(means.std(ddof=1)) / math.sqrt(len(means))


def of_assumptions(
    rng: np.random.Generator, frr: float, icc: float, templates: int, wanted: float, runs: int
) -> tuple[int, float]:
    """Return the subjects of a plan, and the proportion of tests that reach the width."""
    variance = assumed(frr, icc, 0.0).subject_variance(templates)
    subjects = subjects_for_width(variance, kurtosis(frr, variance), wanted, CONFIDENCE, ASSURANCE)
    size, pairs = 1 / icc - 1, templates * (templates - 1) // 2
    reached = 0
    for _ in range(runs):
        people = rng.beta(frr * size, (1 - frr) * size, subjects)
        reached += width(rng.binomial(pairs, people) / pairs) <= wanted
    return subjects, reached / runs


def errors(
    rng: np.random.Generator, effects: tuple[float, ...], subjects: int, templates: int
) -> np.ndarray:
    """Return the errors of all pairs, shape (subjects, templates, templates), NaN for no pair."""
    limit, of_subject, of_template, of_pair = effects
    subject = of_subject * rng.normal(size=(subjects, 1, 1))
    template = of_template * rng.normal(size=(subjects, templates, 1))
    pair = np.triu(of_pair * rng.normal(size=(subjects, templates, templates)), 1)
    total = subject + template + template.swapaxes(1, 2) + pair + pair.swapaxes(1, 2)
    found = np.where(total > limit, 1.0, 0.0)
    found[:, np.eye(templates, dtype=bool)] = np.nan
    return found


def of_pilots(
    rng: np.random.Generator,
    effects: tuple[float, ...],
    templates: int,
    pilot: int,
    wanted: float,
    runs: int,
) -> tuple[float, float, float]:
    """Return FRR and median subjects of the plans, and the proportion that reach the width."""
    planned, reached, rates = [], 0, []
    while len(planned) < runs:
        found = components_of(errors(rng, effects, pilot, templates), symmetric=True)
        if not found.rate:
            continue  # refused: nothing can be planned from it
        variance = found.subject_variance(templates)
        tails = kurtosis(found.rate, variance)
        subjects = subjects_for_width(variance, tails, wanted, CONFIDENCE, ASSURANCE, pilot)
        test = np.nanmean(errors(rng, effects, subjects, templates), axis=(1, 2))
        planned.append(subjects)
        rates.append(test.mean())
        reached += width(test) <= wanted
    return float(np.mean(rates)), float(np.median(planned)), reached / runs


def of_eers(runs: int, wanted: float = 0.015) -> tuple[float, float]:
    """Return the median subjects of plans of the EER, and the proportion that reach the width."""
    planned, reached = [], 0
    for run in range(runs):
        pilot = be.simulate(100, 4, random_state=2 * run)
        plan = be.sample_size(pilot, measure="eer", frr_width=wanted, assurance=ASSURANCE)
        planned.append(int(plan.subjects[0]))
        test = be.simulate(planned[-1], 4, random_state=2 * run + 1)
        ds = be.verification(test, auc=False, interval="subject-bootstrap", replicates=500)
        reached += float(ds.eer_high - ds.eer_low) <= wanted
    return float(np.median(planned)), reached / runs


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000, help="of each line of the first table")
    parser.add_argument("--pilots", type=int, default=400, help="of each line of the second")
    parser.add_argument("--eers", type=int, default=100, help="of the third")
    given = parser.parse_args()
    rng = np.random.default_rng(20240229)
    if given.runs:
        print("| FRR | correlation | templates | width | subjects | reached |")
        print("|---|---|---|---|---|---|")
        for frr, icc, templates, wanted in ASSUMED:
            n, share = of_assumptions(rng, frr, icc, templates, wanted, given.runs)
            row = f"{100 * frr:g} % | {icc} | {templates} | {100 * wanted:g} %"
            print(f"| {row} | {n:,} | {100 * share:.1f} % |")
    if given.pilots:
        print("\n| FRR | templates | pilot | width | subjects, median | reached |")
        print("|---|---|---|---|---|---|")
        for effects, templates, pilot, wanted in PILOTS:
            found = of_pilots(rng, effects, templates, pilot, wanted, given.pilots)
            row = f"{100 * found[0]:.1f} % | {templates} | {pilot} | {100 * wanted:g} %"
            print(f"| {row} | {found[1]:,.0f} | {100 * found[2]:.1f} % |")
    if given.eers:
        planned, share = of_eers(given.eers)
        print(
            f"\nEER, pilot of 100: {planned:,.0f} subjects, reached in {100 * share:.0f} %",
            flush=True,
        )


if __name__ == "__main__":
    main()
