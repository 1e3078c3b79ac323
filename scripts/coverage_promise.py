"""How often an assured threshold is broken: its FAR in the population is above its target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from coverage_checks import euclidean

import bioeval as be
from bioeval.stats.options import IntervalOptions
from bioeval.studies.assurance.assured import assured_threshold

TEMPLATES, DIMENSIONS, WITHIN = 4, 16, 0.6
CONFIDENCE = 0.95
PEOPLE = (40, 100, 400, 1000)
TARGETS = (0.05, 0.01, 0.001)

# Independent attempts by which the FAR in the population is known, drawn so many at a time.
DRAWN, STEP = 4_000_000, 100_000

# A cell fails where this share is clearly exceeded: one-sided p below 0.01.
HELD = {"estimated": 0.065, "guaranteed": 0.05}


@dataclass(frozen=True)
class Population:
    """People around a common centre, and templates around each of them."""

    name: str
    wolves: float = 0.0  # share of people who are half as far from the centre
    spread: float = 1.0  # of the second half of people, around the centre
    cosine: bool = False

    def people(self, rng: np.random.Generator, number: int) -> np.ndarray:
        """Draw the centres of people."""
        centres = rng.normal(size=(number, DIMENSIONS))
        centres[rng.random(number) < 0.5] *= self.spread
        centres[rng.random(number) < self.wolves] *= 0.5
        return centres + (1.0 if self.cosine else 0.0)

    def templates(self, rng: np.random.Generator, centres: np.ndarray, each: int) -> np.ndarray:
        """Draw templates, shape (people, each, dimensions)."""
        return centres[:, None] + WITHIN * rng.normal(size=(len(centres), each, DIMENSIONS))

    def distances(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return the distances of templates along the last axis."""
        if not self.cosine:
            return np.sqrt(((x - y) ** 2).sum(axis=-1))
        norms = np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1)
        return 1 - (x * y).sum(axis=-1) / norms

    def matrix(self, rng: np.random.Generator, number: int) -> be.Scores:
        """Draw data: all templates of all people against each other."""
        x = self.templates(rng, self.people(rng, number), TEMPLATES).reshape(-1, DIMENSIONS)
        if self.cosine:
            x = x / np.linalg.norm(x, axis=1, keepdims=True)
            values = 1 - x @ x.T
        else:
            values = euclidean(x)
        values = np.maximum((values + values.T) / 2, 0)
        return be.Scores(values, np.repeat(np.arange(number), TEMPLATES))

    def impostors(self, rng: np.random.Generator, *, multi: bool) -> np.ndarray:
        """Draw independent impostor attempts, sorted; a claim is at its nearest template."""
        found = []
        for _ in range(DRAWN // STEP):
            probes, claimed = (self.people(rng, STEP) for _ in range(2))
            each = TEMPLATES if multi else 1
            probe, gallery = self.templates(rng, probes, 1), self.templates(rng, claimed, each)
            found.append(self.distances(probe, gallery).min(axis=1))
        return np.sort(np.concatenate(found))


POPULATIONS = (
    Population("alike"),
    Population("one in ten a wolf", wolves=0.1),
    Population("two spreads", spread=0.7),
    Population("cosine", cosine=True),
)


def lines(runs: int, people: tuple[int, ...], seed: int) -> Iterator[str]:
    """Yield the table, a line a cell, and the shares over all cells."""
    yield (
        "| people differ | templates | people | target | plain broken | estimated broken | "
        "of promises | refused | FRR paid | guaranteed broken | refused | FRR paid | verdict |"
    )
    yield "|" + "---|" * 13
    rng, broken, all_runs = np.random.default_rng(seed), 0, 0
    for population in POPULATIONS:
        for templates in ("single", "multi"):
            truth = population.impostors(rng, multi=templates == "multi")
            for number in people:
                cells = {
                    target: _cell(target, runs, rng, population, number, templates, truth)
                    for target in TARGETS
                }
                for target, (plain, found) in cells.items():
                    row = [population.name, templates, f"{number}", f"{100 * target:g} %"]
                    row.append(f"{100 * plain / runs:.0f}")
                    for assurance, (bad, refused, price) in found.items():
                        row.append(f"{100 * bad / runs:.1f}")
                        if assurance == "estimated":
                            promises = runs - refused
                            row.append(f"{100 * bad / promises:.1f}" if promises else "-")
                            broken, all_runs = broken + bad, all_runs + runs
                        row.append(f"{100 * refused / runs:.0f}")
                        row.append(f"{100 * price:.1f}" if np.isfinite(price) else "-")
                    row.append(_verdict(found, runs))
                    yield f"| {' | '.join(row)} |"
    yield ""
    yield f"All cells together: {100 * broken / all_runs:.1f} % broken (estimated)."


def _cell(
    target: float,
    runs: int,
    rng: np.random.Generator,
    population: Population,
    number: int,
    templates: str,
    truth: np.ndarray,
) -> tuple[int, dict[str, tuple[int, int, float]]]:
    """Return how often the plain threshold is broken; of each rule also refusals and the price."""
    plain, broken, refused, paid = (
        0,
        dict.fromkeys(HELD, 0),
        dict.fromkeys(HELD, 0),
        dict.fromkeys(HELD, 0.0),
    )
    for _ in range(runs):
        scores = population.matrix(rng, number)
        alone = be.verification(scores, templates=templates, far_targets=[target], auc=False)
        plain += _far(truth, float(alone["threshold_at_far"][0])) > target
        for assurance in HELD:
            interval = IntervalOptions.parse(
                "subject-bootstrap", CONFIDENCE, 2000, int(rng.integers(1 << 31))
            )
            assert interval is not None
            found = assured_threshold(
                scores, target, CONFIDENCE, assurance, templates=templates, fusion="min",
                new_gallery=False, interval=interval,
            )  # fmt: skip
            if found.reason:
                refused[assurance] += 1
                continue
            broken[assurance] += _far(truth, found.threshold) > target
            paid[assurance] += found.frr - float(alone["frr_at_far"][0])
    return plain, {
        name: (
            broken[name],
            refused[name],
            paid[name] / (runs - refused[name]) if runs > refused[name] else np.nan,
        )
        for name in HELD
    }


def _far(truth: np.ndarray, threshold: float) -> float:
    """Return the FAR in the population."""
    return float(np.searchsorted(truth, threshold, side="right") / len(truth))


def _verdict(found: dict[str, tuple[int, int, float]], runs: int) -> str:
    """Return whether each rule holds: refuses, holds or fails."""
    said = []
    for name, (broken, refused, _) in found.items():
        p = float(scipy.stats.binom.sf(broken - 1, runs, HELD[name]))
        said.append("refuses" if refused > 0.9 * runs else "fails" if p < 0.01 else "holds")
    return ", ".join(said)
