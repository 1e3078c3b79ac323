"""Score matrices to measure on: distances of simulated people, made in small blocks of rows."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from benchmarks.read_kernel import read_rows
from bioeval.scores.matrix import Scores
from bioeval.scores.simulation.scores_of_people import simulate_embeddings

#: Values in one block while a matrix is made: little beside any matrix worth measuring.
_BLOCK = 1 << 18

_WORDS = {4: np.int32, 8: np.int64}


class Matrix:
    """Distances of all templates to all, with their labels.

    Parameters
    ----------
    size, templates : int
        Templates in all, and of each subject.
    dtype : {"float32", "float64"}
    shuffled : bool
        Whether subjects stand in no order; otherwise the templates of each stand side by side.
    uniform : bool
        Whether all scores are drawn from the same uniform distribution instead.
    """

    def __init__(
        self,
        size: int,
        templates: int,
        dtype: str = "float32",
        shuffled: bool = False,
        uniform: bool = False,
    ):
        people = size // templates
        if uniform:
            self.labels = np.repeat(np.arange(people), templates)
            shape = (len(self.labels), len(self.labels))
            self.values = np.random.default_rng(0).random(shape, dtype=np.dtype(dtype))
            return
        x, self.labels = features(people, templates, 16)
        if shuffled:
            order = np.random.default_rng(0).permutation(len(x))
            x, self.labels = x[order], self.labels[order]
        self.values = _distances(x.astype(dtype))

    @property
    def size(self) -> int:
        """Templates on each side."""
        return len(self.values)

    @cached_property
    def scores(self) -> Scores:
        """The scores, all against all."""
        return Scores(self.values, self.labels)

    @cached_property
    def thresholds(self) -> np.ndarray:
        """A thousand thresholds in no regular distance from each other."""
        sample = self.values[:: max(1, self.size // 100)]
        return np.unique(np.quantile(sample, np.linspace(0.0, 1.0, 1_002)[1:-1]))

    def read(self) -> np.ndarray:
        """Read every value once, as fast as the memory gives it."""
        words = self.values.view(_WORDS[self.values.itemsize])
        largest = np.empty(len(words), dtype=np.int64)
        read_rows(words, largest)
        return largest

    def pairs(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores of the first rows, up to a number, and which are genuine."""
        rows = max(1, min(self.size, most // self.size))
        genuine = self.labels[:rows, None] == self.labels[None]
        attempts = np.arange(rows)[:, None] != np.arange(self.size)[None]
        return self.values[:rows][attempts], genuine[attempts]


def features(people: int, templates: int, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return embeddings of people with as many templates each, and their labels."""
    population = simulate_embeddings(people, templates, dimensions=dimensions)
    return population.embeddings, population.labels


def vectors(
    templates: int, dimensions: int, noise: float, of_each: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors of float32 around a normal mean of each subject, and their labels."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(templates // of_each), of_each)
    x = rng.standard_normal((labels[-1] + 1, dimensions), dtype=np.float32)[labels]
    x += np.float32(noise) * rng.standard_normal(x.shape, dtype=np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x, labels


def _distances(x: np.ndarray) -> np.ndarray:
    n = len(x)
    out = np.empty((n, n), dtype=x.dtype)
    squares = np.einsum("ij,ij->i", x, x)
    step = max(1, _BLOCK // n)
    for low in range(0, n, step):
        block = out[low : low + step]
        np.matmul(x[low : low + step], x.T, out=block)
        block *= -2
        block += squares[low : low + step, None]
        block += squares
        np.maximum(block, 0, out=block)
        np.sqrt(block, out=block)
    return out
