"""Attack detection and vulnerability: limits of rates by species, people, instruments.

An instrument, a person and a morph add an effect of the population's people to every distance;
``cell.people`` is the number of instruments of a species, or of people.
"""

from __future__ import annotations

import functools

import numpy as np

import bioeval as be
from simulations.claims import Cell, Claim, Interval, cells, limits
from simulations.populations import APART, PAIR, POPULATIONS, TEMPLATE

NOISE = float(np.hypot(TEMPLATE, PAIR))
#: How far bona fide presentations are above attacks, by score.
BONA_FIDE = 3.0
BONA_FIDE_PEOPLE = 100  # with one presentation each
APCER = 0.1


def effects(population: str, rng: np.random.Generator, number: int) -> np.ndarray:
    """Draw what people, or instruments, add to distances of impostors."""
    return POPULATIONS[population].effects(rng, number)[1]


@functools.cache
def known_presentations(population: str) -> tuple[np.ndarray, np.ndarray]:
    """Return sorted scores of independent attack and bona fide presentations."""
    rng = np.random.default_rng([8, ord(population)])
    attack, bona_fide = NOISE * rng.normal(size=(2, 1_000_000))
    attack -= effects(population, rng, len(attack))
    bona_fide += BONA_FIDE - POPULATIONS[population].effects(rng, len(bona_fide))[0]
    return np.sort(attack), np.sort(bona_fide)


@functools.cache
def detection_points(population: str) -> tuple[float, float, float]:
    """Return the threshold at which APCER of a species is 10 %, BPCER there, and D-EER."""
    attack, bona_fide = known_presentations(population)
    at = float(np.quantile(attack, 1 - APCER))
    apcer = 1 - np.searchsorted(attack, bona_fide) / len(attack)
    bpcer = np.arange(len(bona_fide)) / len(bona_fide)
    return at, float((bona_fide < at).mean()), float(bpcer[np.argmax(bpcer >= apcer)])


def detection(cell: Cell, rng: np.random.Generator, easier: np.ndarray) -> dict[str, Interval]:
    """Return limits with species whose APCER is 10 %, or whose scores are so much lower."""
    at, bpcer, d_eer = detection_points(cell.population)
    species = len(easier)
    of_attack = NOISE * rng.normal(size=(species, cell.people, cell.templates))
    of_attack -= easier[:, None, None]
    of_attack -= effects(cell.population, rng, species * cell.people).reshape(species, -1, 1)
    of_bona_fide = BONA_FIDE + NOISE * rng.normal(size=BONA_FIDE_PEOPLE)
    of_bona_fide -= POPULATIONS[cell.population].effects(rng, BONA_FIDE_PEOPLE)[0]
    names = np.repeat([f"species {i}" for i in range(species)], cell.people * cell.templates)
    instrument = np.repeat(np.arange(species * cell.people), cell.templates)
    attack = np.concatenate([np.repeat("", BONA_FIDE_PEOPLE), names])
    units = np.concatenate([np.repeat(-1, BONA_FIDE_PEOPLE), instrument])
    result = be.pad(
        np.concatenate([of_bona_fide, of_attack.ravel()]),
        attack,
        threshold=at,
        thresholds=[at],
        apcer_targets=[APCER],
        instrument=units,
        interval="people",
    )
    measured = {"APCER": limits(result, "apcer_at_threshold", APCER, species="largest")}
    if not easier.any():
        measured["D-EER"] = limits(result, "d_eer", d_eer)
        measured["BPCER at APCER 10 %"] = limits(
            result, "bpcer_at_apcer", bpcer, apcer_target=APCER
        )
    measured["BPCER at a threshold"] = limits(result, "bpcer_at_threshold", bpcer)
    return measured


def species(cell: Cell, rng: np.random.Generator) -> dict[str, Interval]:
    """Return limits with five equal species, one, and five of which one is worse."""
    kinds = {
        "five equal species": np.zeros(5),
        "one species": np.zeros(1),
        "one species of five is worse": np.array([0, 1, 1, 1, 1.0]),
    }
    measured = {}
    for kind, easier in kinds.items():
        for name, interval in detection(cell, rng, easier).items():
            measured[f"{name}, {kind}"] = interval
    return measured


@functools.cache
def attack_threshold(population: str) -> float:
    """Return the threshold at which one in ten attacks on a person is accepted."""
    rng = np.random.default_rng([9, ord(population)])
    number = 1_000_000
    each = effects(population, rng, number) + effects(population, rng, number)
    return float(np.quantile(each + NOISE * rng.normal(size=number), 0.1))


def vulnerability(cell: Cell, rng: np.random.Generator) -> dict[str, Interval]:
    """Return limits of IAPAR of three species of twelve instruments, at a threshold."""
    people, of_species = cell.people, 12
    person, at = effects(cell.population, rng, people), attack_threshold(cell.population)
    rows, species, instruments = [], [], []
    for name in ("mask", "print", "replay"):
        made = effects(cell.population, rng, of_species)
        for turn in range(cell.templates):
            which = (np.arange(people) + turn) % of_species
            rows.append(person + made[which] + NOISE * rng.normal(size=people))
            species += [name] * people
            instruments += [f"{name} {i}" for i in which]
    targets = np.tile(np.arange(people), len(rows))
    attacks = np.full((len(targets), people), APART)
    attacks[np.arange(len(targets)), targets] = np.concatenate(rows)
    noise = NOISE * rng.normal(size=(people, people))
    genuine = np.where(np.eye(people, dtype=bool), 0.0, 3 * APART) + noise
    gallery = np.arange(people)
    result = be.vulnerability(
        be.Scores(genuine, gallery, gallery),
        be.Scores(
            attacks,
            targets,
            gallery,
            probe_meta={"attack": species, "instrument": instruments},
        ),
        thresholds=[at],
        threshold=at,
        far_targets=[0.1],
        interval="people",
    )
    return {
        "IAPAR, largest of three": limits(result, "iapar_at_threshold", 0.1, species="largest"),
        "IAPAR of one species": limits(result, "iapar", 0.1, threshold=at, species="mask"),
        "IAPAR, pooled": limits(result, "iapar_at_threshold", 0.1, species="pooled"),
    }


CLAIMS = (
    Claim(
        "attack detection",
        "95 % intervals hold in at least 90 % (people: instruments of a species; templates: "
        "presentations of an instrument)",
        "be.pad(interval='people')",
        species,
        cells(people=(10, 30), templates=(5, 20), most_templates=300),
        dict.fromkeys("EN", 0.9),
    ),
    Claim(
        "vulnerability",
        "95 % intervals of IAPAR by targets and twelve instruments hold in at least 90 %",
        "be.vulnerability(interval='people')",
        vulnerability,
        cells(people=(20, 50), templates=(2,)),
        dict.fromkeys("EN", 0.9),
    ),
)
