"""Scores with presentation attacks, drawn between the attacker and the target."""

from typing import Any

import numpy as np

import bioeval as be


def simulated_attacks(
    subjects: int,
    templates: int,
    strengths: dict[str, float],
    presentations: int = 5,
    random_state: int = 0,
    within: float = 0.6,
    **options: Any,
) -> be.Scores:
    """Return scores of a population, then of attacks on each enrolled person by species.

    A species of strength 0 is like an impostor, one of 1 like the target.
    """
    population = be.simulate_embeddings(
        subjects, templates, within=within, random_state=random_state, **options
    )
    rng = np.random.default_rng(random_state)
    target = np.tile(np.repeat(np.arange(subjects), presentations), len(strengths))
    attacker = (target + rng.integers(1, subjects, len(target))) % subjects
    strength = np.repeat([*strengths.values()], subjects * presentations)[:, None]
    attack_embeddings = (1 - strength) * population.centres[
        attacker
    ] + strength * population.centres[target]
    attack_embeddings += within * rng.normal(size=attack_embeddings.shape)
    square = population.layout == "all-against-all"
    probe = np.ones(len(population.labels), dtype=bool) if square else ~population.enrolled
    embeddings = np.concatenate(
        [population.embeddings[probe], attack_embeddings.astype(np.float32)]
    )
    labels = np.concatenate([population.labels[probe], target + 1])
    species = np.repeat(
        ["", *strengths], [probe.sum(), *[subjects * presentations] * len(strengths)]
    )
    gallery = () if square else (population.embeddings[~probe], population.labels[~probe])
    compared = be.Scores.from_embeddings(
        embeddings, labels, *gallery, metric="l2", probe_meta={"attack": species}
    )
    sides = (labels,) if square else (labels, population.labels[~probe])
    return be.Scores(
        np.asarray(compared.values), *sides, probe_meta={"attack": species}, name="simulated"
    )
