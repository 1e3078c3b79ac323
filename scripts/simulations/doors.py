"""The log of a door with known truth: visits that end when accepted, failures, conditions.

A person makes several visits of up to three tries, and a visit ends with the first accepted try.
Each try is compared with every person, in daylight or at night, and some comparisons fail. People
are alike (E), or differ in how well they are recognised and whom they look like (N).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import scipy.special

import bioeval as be
from simulations.claims import Cell, Claim, Interval, Outcomes, Verdict, cells, limits

TRIES, VISITS = 3, 6
#: Scores are similarities; the door accepts from the threshold on.
THRESHOLD, GENUINE, IMPOSTOR, NOISE = 5.0, 7.0, 0.0, 2.0
#: How much less similar genuine tries at night are, and how many tries are; how many failed.
NIGHT, DARK, FAILED = 1.5, 0.3, 0.02
#: How much people differ, and pairs of people, by population.
SPREAD = {"E": (0.0, 0.0), "N": (1.0, 1.0)}


def rejected(mean: np.ndarray, night: float) -> np.ndarray:
    """Return the probability that a try with this mean by day is rejected."""
    by_day, at_night = (scipy.special.ndtr((THRESHOLD - mean + x) / NOISE) for x in (0.0, night))
    return FAILED + (1 - FAILED) * ((1 - DARK) * by_day + DARK * at_night)


def truth(population: str, tries: int) -> tuple[float, float]:
    """Return FAR and FRR of claims with a number of tries, over new people."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    of_people, of_pairs = SPREAD[population]
    frr = weights @ rejected(GENUINE + of_people * nodes, NIGHT) ** tries
    far = weights @ (1 - rejected(IMPOSTOR + of_pairs * nodes, 0.0) ** tries)
    return float(far), float(frr)


def log(cell: Cell, rng: np.random.Generator) -> be.Scores:
    """Draw the log of a door: the claims of its visits."""
    of_people, of_pairs = SPREAD[cell.population]
    n = cell.people
    mean = IMPOSTOR + of_pairs * rng.normal(size=(n, n))
    mean = np.triu(mean, 1) + np.triu(mean, 1).T
    np.fill_diagonal(mean, GENUINE + of_people * rng.normal(size=n))
    rows, person, visits, light = list[np.ndarray](), list[int](), list[str](), list[str]()
    for who in range(n):
        for visit in range(VISITS):
            for _ in range(TRIES):
                dark = rng.random() < DARK
                scores = mean[who] + NOISE * rng.normal(size=n)
                scores[who] -= NIGHT * dark
                scores[rng.random(n) < FAILED] = np.nan
                rows.append(scores)
                person.append(who)
                visits.append(f"{who}-{visit}")
                light.append("night" if dark else "day")
                if scores[who] >= THRESHOLD:
                    break
    scores = be.Scores(
        np.array(rows),
        person,
        np.arange(n),
        kind="similarity",
        nan="reject",
        probe_meta={"visit": visits, "light": light},
    )
    return be.claim_scores(scores, attempts="visit")


def tries(cell: Cell, rng: np.random.Generator) -> Outcomes:
    """Say whether limits of three pooled tries hold the truth, and those of the log as it is."""
    claims = log(cell, rng)
    found = be.tries(claims, THRESHOLD, TRIES)
    logged = be.verification(claims, thresholds=[THRESHOLD], interval="people", auc=False)
    outcomes: dict[str, Interval | Verdict] = {}
    for name, true in zip(("far", "frr"), truth(cell.population, TRIES), strict=True):
        outcomes[f"{name.upper()} of 3 tries"] = limits(found, name, true, tries=TRIES)
        outcomes[f"{name.upper()} of the log as that of 3 tries"] = limits(
            logged, name, true, threshold=THRESHOLD
        )
    return outcomes


def table(runs: int = 100, people: Iterable[int] = (30, 100)) -> None:
    """Print the truth, and the means of what is estimated."""
    for population in SPREAD:
        far, frr = truth(population, TRIES)
        print(f"{population}: of {TRIES} tries FAR {far:.4f}, FRR {frr:.4f}")
        for number in people:
            cell, rng = Cell(population, number, VISITS), np.random.default_rng(1)
            claims = [log(cell, rng) for _ in range(runs)]
            pooled = [be.tries(x, THRESHOLD, TRIES) for x in claims]
            means = (np.mean([x[name].item() for x in pooled]) for name in TABLE)
            print(f"  {number} people: " + ", ".join(map("{} {:.4f}".format, TABLE, means)))


TABLE = ("far", "far_logged", "frr", "frr_logged")

CLAIMS = (
    Claim(
        "several tries at a door",
        "limits of pooled tries hold the rates of three tries, those of a log that ends do not",
        "tries",
        tries,
        cells("EN", people=(30, 100), templates=(VISITS,)),
    ),
)

if __name__ == "__main__":
    table()
