"""Small random worlds with ties, failures and unequal people, their attempts by plain loops, and
the ways in which scores are sent: listed, as small blocks of rows, as small tiles of embeddings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import naive
import numba
import numpy as np
from limits import streaming
from ways import counted_by

import bioeval as be

THREADS = (1, 2, 5)
WAYS = ("listed", "rows", "tiles")


class Attempt(NamedTuple):
    """A comparison that counts; its distance is `naive.FAILED` if it failed."""

    probe: int
    template: int
    person: Any  # claimed
    genuine: bool
    distance: float


@dataclass
class World:
    """Scores of a few people as plain arrays; a world of embeddings has no failures."""

    values: np.ndarray
    probes: np.ndarray
    gallery: np.ndarray
    square: bool
    kind: str = "distance"
    nan: str = "raise"
    mask: np.ndarray | None = None
    embeddings: tuple[np.ndarray, ...] = ()

    def scores(self) -> be.Scores:
        """The world as scores."""
        labels = (self.probes,) if self.square else (self.probes, self.gallery)
        if not self.embeddings:
            options = {"kind": self.kind, "nan": self.nan, "mask": self.mask}
            return be.Scores(self.values, *labels, **options)
        sides = zip(self.embeddings, labels, strict=True)
        return streaming(*(x for side in sides for x in side), metric="l1")

    def reordered(self, rows: np.ndarray, columns: np.ndarray) -> World:
        """Rows and columns in another order; a single order where both sides are one set."""
        columns = rows if self.square else columns
        mask = None if self.mask is None else self.mask[np.ix_(rows, columns)]
        orders = zip(self.embeddings, (rows, columns), strict=False)
        return World(
            self.values[np.ix_(rows, columns)], self.probes[rows], self.gallery[columns],
            self.square, self.kind, self.nan, mask, tuple(x[order] for x, order in orders),
        )  # fmt: skip

    def attempts(self) -> list[Attempt]:
        """All attempts, by probe and then in the order of the gallery."""
        listed = []
        sign = -1 if self.kind == "similarity" else 1
        for i, j in np.ndindex(*self.values.shape):
            score = float(self.values[i, j])
            itself = self.square and i == j
            left_out = self.mask is not None and self.mask[i, j] == 0
            if itself or left_out or (score != score and self.nan == "exclude"):
                continue
            distance = naive.FAILED if score != score else sign * score + 0.0
            genuine = bool(self.probes[i] == self.gallery[j])
            listed.append(Attempt(i, j, self.gallery[j].item(), genuine, distance))
        return listed

    def counted(self, distance: float, dtype: Any) -> float:
        """The distance as blocks and mates have it: a failure is infinite, and under "reject" an
        infinite score is the largest number.
        """
        if distance is naive.FAILED:
            return np.inf
        return min(distance, float(np.finfo(dtype).max)) if self.nan == "reject" else distance


def world(seed: int, way: str = "rows") -> World:
    """A random world that can be sent in a way."""
    rng = np.random.default_rng([seed, way == "tiles"])
    people = rng.integers(2, 9) + 4 * (way == "tiles")
    subject = rng.permutation(np.repeat(np.arange(people), rng.integers(1, 6, people)))
    where = rng.integers(0, 4, (people, 3))[subject] + rng.integers(0, 3, (len(subject), 3))
    where = where.astype(np.float32)
    square = bool(rng.integers(2))
    rows = columns = np.arange(len(subject))
    if not square:  # some probes are not enrolled
        rows, columns = rng.permutation(rows)[: len(subject) // 2 + 1], columns[subject != 0]
    values = np.abs(where[rows][:, None] - where[columns]).sum(axis=2)
    sides = (where[rows],) if square else (where[rows], where[columns])
    plain = World(values, subject[rows], subject[columns], square, embeddings=sides)
    if way == "tiles":
        return plain
    return damaged(plain, seed, rng)


def damaged(plain: World, seed: int, rng: np.random.Generator) -> World:
    """The world without embeddings, with further ties, infinite scores, failures and a mask."""
    values = plain.values + rng.integers(0, 2, plain.values.shape) / 4
    if rng.integers(2):
        values[rng.random(values.shape) < 0.1] = np.inf
        values[rng.integers(len(values))] = np.inf
    plain.nan = ("raise", "reject", "exclude")[seed % 3]
    if plain.nan != "raise":
        values[rng.random(values.shape) < 0.2] = np.nan
        values[rng.integers(len(values))] = np.nan
    if rng.random() < 0.3:
        plain.mask = 1 + np.equal.outer(plain.probes, plain.gallery).astype(np.uint8)
        plain.mask[rng.random(values.shape) < 0.3] = 0
        if plain.square:
            np.fill_diagonal(plain.mask, 0)
    plain.kind = ("distance", "similarity")[seed % 2]
    plain.values = (values if plain.kind == "distance" else -values).astype(
        np.float32 if seed % 4 < 2 else np.float64
    )
    plain.embeddings = ()
    return plain


@contextmanager
def sent(way: str, threads: int = 1) -> Iterator[None]:
    """Send scores in a way, on so many threads, even if the machine has fewer."""
    small = "listed" if way == "listed" else "small tiles"
    with counted_by(small) as patch, ThreadPoolExecutor(threads) as pool:
        patch.setattr(numba, "get_num_threads", lambda: threads)
        patch.setattr("bioeval.base.threads._pool", lambda: pool)
        yield


def grouped(attempts: list[Attempt], key: Callable[[Attempt], Any]) -> dict[Any, list[Attempt]]:
    """Attempts by a key, in order."""
    groups: dict[Any, list[Attempt]] = {}
    for attempt in attempts:
        groups.setdefault(key(attempt), []).append(attempt)
    return groups
