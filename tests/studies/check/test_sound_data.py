"""Checks raise no alarm in sound data of ten kinds."""

import itertools
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

import bioeval as be

PEOPLE, SIXTY = np.repeat(np.arange(50), 5), np.repeat(np.arange(60), 3)


def embeddings(rng, labels=PEOPLE, dimensions=16):
    """Draw embeddings: people around one centre, templates around each person."""
    people = rng.normal(size=(labels.max() + 1, dimensions))
    return people[labels] + 0.6 * rng.normal(size=(len(labels), dimensions))


def distances(rng, labels=PEOPLE):
    x = embeddings(rng, labels)
    squares = (x**2).sum(axis=1)[:, None] + (x**2).sum(axis=1) - 2 * x @ x.T
    np.fill_diagonal(squares, 0)
    return np.sqrt(np.maximum(squares, 0))


def similar(values, labels=PEOPLE):
    return be.Scores(values, labels, kind="similarity")


def codes(rng):
    bits = (rng.random((50, 256)) < 0.5)[PEOPLE] ^ (rng.random((250, 256)) < 0.15)
    return be.Scores((bits[:, None] ^ bits[None]).sum(axis=2), PEOPLE)


def of_both_signs(rng):
    seed = int(rng.integers(1 << 31))
    scores = be.simulate(40, 4, model="gaussian-scores", d_prime=3, random_state=seed)
    values = 3 * (1.5 - scores.values)
    np.fill_diagonal(values, 30)  # a template against itself
    return similar(values, np.repeat(np.arange(40), 4))


def unequal(rng):
    labels = np.repeat(np.arange(60), rng.integers(1, 10, 60))
    return be.Scores(distances(rng, labels), labels)


FEW, BOTH, GENUINE = np.repeat(np.arange(8), 6), np.tile(SIXTY, 2), np.arange(3000) < 1000

#: Data without a fault, by kind.
SOUND: dict[str, Callable[[np.random.Generator], be.Scores]] = {
    "Euclidean distances": lambda rng: be.Scores(distances(rng), PEOPLE),
    "cosine of embeddings": lambda rng: be.Scores.from_embeddings(
        embeddings(rng, dimensions=32).astype(np.float32), PEOPLE, metric="cosine"
    ),
    "Hamming, 256 bits": codes,
    "similarities 0 to 1": lambda rng: similar(np.exp(-distances(rng) / 4)),
    "integers 0 to 100": lambda rng: similar(
        np.rint(np.clip(100 - 10 * distances(rng), 0, 100)).astype(np.uint8)
    ),
    "similarities of both signs": of_both_signs,
    "probes against a gallery": lambda rng: be.Scores(
        distances(rng, BOTH)[:180, 180:], SIXTY, SIXTY
    ),
    "1 to 9 templates": unequal,
    "8 subjects": lambda rng: be.Scores(distances(rng, FEW), FEW),
    "list of pairs": lambda rng: be.Scores.from_pairs(rng.gamma(9, 0.1 + 0.15 * ~GENUINE), GENUINE),
}


@pytest.mark.slow
def test_no_check_raises_alarm_in_more_than_2_percent():
    alarms = Counter()
    for make, seed in itertools.product(SOUND.values(), range(2000, 2012)):
        result = be.check_data(make(np.random.default_rng(seed)))
        alarms.update({x.check for x in result.with_severity("warning", "error")})
    assert len(SOUND) == 10 and all(number <= 0.02 * 120 for number in alarms.values()), alarms
