"""Checks raise no alarm in sound data of ten kinds."""

import itertools
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

import bioeval as be


def templates(
    rng: np.random.Generator, labels: np.ndarray, within: float = 0.6, dimensions: int = 16
) -> np.ndarray:
    """Draw embeddings: people around one centre, templates around each person."""
    people = rng.normal(size=(labels.max() + 1, dimensions))
    return people[labels] + within * rng.normal(size=(len(labels), dimensions))


def euclidean(x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
    """Return the distances of templates."""
    y = x if y is None else y
    squares = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1) - 2 * x @ y.T
    if x is y:
        np.fill_diagonal(squares, 0)
    return np.sqrt(np.maximum(squares, 0))


def _equal(people: int = 50, each: int = 5) -> np.ndarray:
    return np.repeat(np.arange(people), each)


def _distances(rng: np.random.Generator) -> be.Scores:
    labels = _equal()
    return be.Scores(euclidean(templates(rng, labels)), labels)


def _cosine(rng: np.random.Generator) -> be.Scores:
    labels = _equal()
    embeddings = templates(rng, labels, dimensions=32)
    return be.Scores.from_embeddings(embeddings.astype(np.float32), labels, metric="cosine")


def _codes(rng: np.random.Generator) -> be.Scores:
    labels = _equal()
    codes = rng.random((50, 256)) < 0.5
    codes = codes[labels] ^ (rng.random((250, 256)) < 0.15)
    return be.Scores((codes[:, None] ^ codes[None]).sum(axis=2), labels)


def _similarities(rng: np.random.Generator) -> be.Scores:
    labels = _equal()
    return be.Scores(np.exp(-euclidean(templates(rng, labels)) / 4), labels, kind="similarity")


def _whole_numbers(rng: np.random.Generator) -> be.Scores:
    labels = _equal()
    values = np.clip(100 - 10 * euclidean(templates(rng, labels)), 0, 100)
    return be.Scores(np.rint(values).astype(np.uint8), labels, kind="similarity")


def _similarities_of_both_signs(rng: np.random.Generator) -> be.Scores:
    labels = _equal(40, 4)
    scores = be.simulate(
        40, 4, model="gaussian-scores", d_prime=3, random_state=int(rng.integers(1 << 31))
    )
    values = 3 * (1.5 - scores.values)
    np.fill_diagonal(values, 30)  # a template against itself
    return be.Scores(values, labels, kind="similarity")


def _probes_against_gallery(rng: np.random.Generator) -> be.Scores:
    labels = _equal(60, 3)
    embeddings = templates(rng, np.concatenate([labels, labels]))
    return be.Scores(euclidean(embeddings[:180], embeddings[180:]), labels, labels)


def _unequal(rng: np.random.Generator) -> be.Scores:
    labels = np.repeat(np.arange(60), rng.integers(1, 10, 60))
    return be.Scores(euclidean(templates(rng, labels)), labels)


def _few_subjects(rng: np.random.Generator) -> be.Scores:
    labels = _equal(8, 6)
    return be.Scores(euclidean(templates(rng, labels)), labels)


def _list(rng: np.random.Generator) -> be.Scores:
    genuine = np.arange(3000) < 1000
    return be.Scores.from_pairs(rng.gamma(9, 0.1 + 0.15 * ~genuine), genuine)


#: Data without a fault, by kind.
SOUND: dict[str, Callable[[np.random.Generator], be.Scores]] = {
    "Euclidean distances": _distances,
    "cosine of embeddings": _cosine,
    "Hamming, 256 bits": _codes,
    "similarities 0 to 1": _similarities,
    "integers 0 to 100": _whole_numbers,
    "similarities of both signs": _similarities_of_both_signs,
    "probes against a gallery": _probes_against_gallery,
    "1 to 9 templates": _unequal,
    "8 subjects": _few_subjects,
    "list of pairs": _list,
}


@pytest.mark.slow
def test_no_check_raises_alarm_in_more_than_2_percent():
    alarms = Counter()
    for make, seed in itertools.product(SOUND.values(), range(2000, 2012)):
        result = be.check_data(make(np.random.default_rng(seed)))
        alarms.update({x.check for x in result.with_severity("warning", "error")})
    assert len(SOUND) == 10 and all(number <= 0.02 * 120 for number in alarms.values()), alarms
