"""Attack presentations of known strength, beside the scores of a simulated population."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bioeval.base.arguments import number_in, require_integer, require_number
from bioeval.base.errors import Argument, DataError
from bioeval.base.random import Stream
from bioeval.scores.attacks import ATTACK
from bioeval.scores.matrix import Scores
from bioeval.scores.simulation.closed_forms import GaussianScores
from bioeval.scores.simulation.population import Population
from bioeval.scores.species import species_of

#: Presentations of each species against each enrolled subject.
PRESENTATIONS = 5

# Keys of the streams, after those of the population.
_ATTACKERS, _NOISE, _SCORES = 11, 12, 13


def parse_attacks(attacks: Any) -> dict[str, float]:
    """Return the strength of each species, from a mapping or ``"print=0.6,mask=0.9"``."""
    expected = "expected species with their strength from 0 to 1, such as print=0.6,mask=0.9"
    if isinstance(attacks, str):
        parts = [part.partition("=") for part in attacks.split(",")]
        try:
            attacks = {name.strip(): number_in(value) for name, _, value in parts}
        except ValueError:
            attacks = None
        if attacks is None or len(attacks) < len(parts):
            raise DataError(
                f"{Argument('attacks')} names a species twice, or no number; {expected}"
            )
    if not isinstance(attacks, Mapping) or not attacks:
        raise DataError(f"{Argument('attacks')} is {attacks!r}; {expected}")
    if (species_of(np.array([*attacks], dtype=object), "attacks") == "").any():
        raise DataError(f"{Argument('attacks')} has a species without a name; {expected}")
    return {
        str(name): require_number("attacks", strength, low=0.0, high=1.0)
        for name, strength in attacks.items()
    }


@dataclass(frozen=True)
class AttackRows:
    """Attack presentations: species, strength, target and attacker of each, by person."""

    species: np.ndarray
    strength: np.ndarray
    target: np.ndarray
    attacker: np.ndarray
    seed: np.random.SeedSequence

    @classmethod
    def draw(
        cls, attacks: dict[str, float], presentations: Any, enrolled: int, seed: Any
    ) -> AttackRows:
        """Present each species `presentations` times against each enrolled subject, by others."""
        each = require_integer("presentations", presentations, low=1)
        if enrolled < 2:
            raise DataError(
                f"{Argument('attacks')} needs two enrolled subjects, an attacker and a target"
            )
        number = enrolled * each
        target = np.tile(np.repeat(np.arange(enrolled), each), len(attacks))
        attacker = Stream(seed, _ATTACKERS).integers(0, enrolled - 2, len(target))
        attacker += attacker >= target
        names, strengths = np.array([*attacks]), np.array([*attacks.values()])
        return cls(np.repeat(names, number), np.repeat(strengths, number), target, attacker, seed)

    def meta(self, own: Mapping[str, np.ndarray], rows: int) -> dict[str, np.ndarray]:
        """Return metadata of bona fide rows and of attacks in the last session."""
        more = {
            name: np.concatenate([column, np.full(len(self.target), column.max(initial=1))])
            for name, column in own.items()
        }
        return more | {ATTACK: np.concatenate([np.full(rows, ""), self.species])}

    def of_embeddings(self, population: Population, within: Any, metric: Any) -> Scores:
        """Return scores of a population and of attacks on the way from attacker to target."""
        centres, s = population.centres, self.strength[:, None]
        spread = np.broadcast_to(np.asarray(within, dtype=np.float64), (len(centres),))
        noise = Stream(self.seed, _NOISE).normals(len(self.target), centres.shape[1])
        sd = (1 - s) * spread[self.attacker, None] + s * spread[self.target, None]
        made = (1 - s) * centres[self.attacker] + s * centres[self.target] + sd * noise
        made = made.astype(np.float32)
        square = population.layout == "all-against-all"
        probe = np.ones(len(population.labels), bool) if square else ~population.enrolled
        embeddings = np.concatenate([population.embeddings[probe], made])
        labels = np.concatenate([population.labels[probe], self.target + 1])
        own = {name: column[probe] for name, column in population.meta.items()}
        gallery = population.enrolled
        apart = (
            {}
            if square
            else {
                "gallery": population.embeddings[gallery],
                "gallery_labels": population.labels[gallery],
                "gallery_meta": {k: column[gallery] for k, column in population.meta.items()},
            }
        )
        meta = self.meta(own, int(probe.sum()))
        return Scores.from_embeddings(
            embeddings, labels, metric=metric, probe_meta=meta, name="simulated", **apart
        )

    def of_scores(self, scores: Scores, truth: GaussianScores) -> Scores:
        """Return scores with attacks; their means and deviations lie between the two classes."""
        m, n = scores.shape
        square = scores.probe_ids is scores.gallery_ids
        number = len(self.target)
        labels = np.concatenate([scores.probe_labels, self.target + 1])
        columns = labels if square else scores.gallery_labels
        values = np.empty((m + number, len(columns)), dtype=np.float32)
        values[:m, :n] = scores.values
        stream = Stream(self.seed, _SCORES)
        drawn = stream.normals(number, len(columns))
        s, own = self.strength[:, None], labels[m:, None] == columns
        target = drawn * (1 + s * (truth.genuine_sd - 1)) - s * truth.shift
        distances = np.where(own, target, drawn)
        values[m:] = distances if truth.kind == "distance" else -distances
        values[:m, n:] = values[m:, :m].T if square else 0
        return Scores(
            values, labels, None if square else columns, kind=truth.kind,
            probe_meta=self.meta(scores.probe_meta, m),
            gallery_meta=None if square else scores.gallery_meta, name="simulated",
        )  # fmt: skip
