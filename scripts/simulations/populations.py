"""Populations of people whose true rates are known, and scores drawn from them.

A distance is a mean of its class, plus what the people add, what the templates add, and noise:

    genuine  (a, i), (a, j):   g_a + t_ai + t_aj + e            mean 0
    impostor (a, i), (b, j):   APART + w_a + w_b + t_ai + t_bj + e

with ``g_a`` of a goat large and ``w_a`` of a wolf negative. Matrices are symmetric.

| name | people |
|---|---|
| E | all alike: no person effect |
| N | Gaussian person effects |
| G | as N, and one in ten a goat, one in twenty a wolf |
| R | as N, and one in fifty a strong wolf |
| H | person effects of Student's t with 3 degrees of freedom |
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

import bioeval as be

#: Mean distance of impostors, in standard deviations of the noise; that of genuine pairs is 0.
APART = 4.0
#: Standard deviation of a template's effect, of a person's, and of one pair of templates.
TEMPLATE, PERSON, PAIR = 0.5, 0.5, 0.75
GOAT, WOLF, STRONG_WOLF = 2.0, -1.0, -2.5

#: Independent pairs of people by which rates of a population are known.
KNOWN = 4_000_000
_STEP = 500_000


@dataclass(frozen=True)
class Population:
    """People, by the effects that each adds to genuine and to impostor distances."""

    name: str
    person: float = 0.0  # standard deviation of a person's effects
    goats: float = 0.0  # proportion of people
    wolves: float = 0.0
    wolf: float = WOLF
    heavy: bool = False

    def effects(self, rng: np.random.Generator, people: int) -> tuple[np.ndarray, np.ndarray]:
        """Draw what each person adds to genuine and to impostor distances."""
        if self.heavy:  # of the same spread: t with 3 degrees of freedom has the variance 3
            genuine, impostor = self.person * rng.standard_t(3, size=(2, people)) / np.sqrt(3)
        else:
            genuine, impostor = self.person * rng.normal(size=(2, people))
        genuine = genuine + GOAT * (rng.random(people) < self.goats)
        impostor = impostor + self.wolf * (rng.random(people) < self.wolves)
        return genuine, impostor

    def draw(self, rng: np.random.Generator, people: int, templates: int) -> Drawn:
        """Draw people and their templates."""
        genuine, impostor = self.effects(rng, people)
        each = TEMPLATE * rng.normal(size=(people, templates))
        return Drawn(genuine, impostor, each)

    def pairs(self, rng: np.random.Generator, number: int = KNOWN) -> tuple[np.ndarray, np.ndarray]:
        """Return sorted genuine and impostor distances of independent pairs, one a person."""
        genuine, impostor = [], []
        for _ in range(-(-number // _STEP)):
            g, w = self.effects(rng, _STEP)
            noise = np.hypot(np.hypot(TEMPLATE, TEMPLATE), PAIR) * rng.normal(size=(2, _STEP))
            genuine.append(g + noise[0])
            impostor.append(APART + w + self.effects(rng, _STEP)[1] + noise[1])
        return np.sort(np.concatenate(genuine)), np.sort(np.concatenate(impostor))


@dataclass(frozen=True)
class Drawn:
    """People of one data set: their effects, and those of their templates (people, templates)."""

    genuine: np.ndarray
    impostor: np.ndarray
    templates: np.ndarray

    def values(self, rng: np.random.Generator) -> np.ndarray:
        """Return the symmetric distances of all templates, people in order; the diagonal is 0."""
        people, each = self.templates.shape
        who = np.repeat(np.arange(people), each)
        flat = self.templates.ravel()
        apart = APART + self.impostor[who][:, None] + self.impostor[who]
        same = who[:, None] == who
        noise = np.triu(PAIR * rng.normal(size=(len(who), len(who))), 1)
        values = np.where(same, self.genuine[who][:, None], apart)
        values = values + flat[:, None] + flat + noise + noise.T
        np.fill_diagonal(values, 0.0)
        return values

    def scores(self, rng: np.random.Generator, layout: str = "square") -> be.Scores:
        """Return all against all, or the first half of templates against the other as a gallery."""
        people, each = self.templates.shape
        who = np.repeat(np.arange(people), each)
        values = self.values(rng)
        if layout == "square":
            return be.Scores(values, who)
        probe = np.tile(np.arange(each) < (each + 1) // 2, people)
        return be.Scores(values[np.ix_(probe, ~probe)], who[probe], who[~probe])


POPULATIONS = {
    x.name: x
    for x in (
        Population("E"),
        Population("N", person=PERSON),
        Population("G", person=PERSON, goats=0.1, wolves=0.05),
        Population("R", person=PERSON, wolves=0.02, wolf=STRONG_WOLF),
        Population("H", person=PERSON, heavy=True),
    )
}


@functools.cache
def known_pairs(population: str) -> tuple[np.ndarray, np.ndarray]:
    """Return sorted genuine and impostor distances, by which a population's rates are known."""
    return POPULATIONS[population].pairs(np.random.default_rng([7, ord(population)]))


def threshold_of(population: str, *, far: float | None = None, frr: float | None = None) -> float:
    """Return the threshold at which the population has a FAR, or a FRR."""
    genuine, impostor = known_pairs(population)
    if far is not None:
        return float(np.quantile(impostor, far))
    assert frr is not None
    return float(np.quantile(genuine, 1 - frr))


def far_at(population: str, threshold: float) -> float:
    """Return the FAR of a population at a threshold."""
    impostor = known_pairs(population)[1]
    return float(np.searchsorted(impostor, threshold, side="right") / len(impostor))


def frr_at(population: str, threshold: float) -> float:
    """Return the FRR of a population at a threshold."""
    genuine = known_pairs(population)[0]
    return float(1 - np.searchsorted(genuine, threshold, side="right") / len(genuine))
