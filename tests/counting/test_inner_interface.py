"""The inner interface: blocks and the study of CONTRIBUTING.md beside plain loops."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import naive
import numba
import numpy as np
import pytest
from limits import streaming
from pages import ROOT
from ways import counted_by

import bioeval as be
from bioeval.counting.parts import Parts
from bioeval.counting.reduce import parts_of
from bioeval.counting.tiles import TileParts
from bioeval.scores.blocks import Block

# Small random worlds with ties, failures and unequal people, their attempts by plain loops, and the
# ways in which scores are sent: listed, as small blocks of rows, as small tiles of embeddings.

THREADS = (1, 2, 5)
WAYS = ("listed", "rows", "tiles")


class Attempt(NamedTuple):
    """A comparison that counts; its distance is `naive.FAILED` if it failed."""

    probe: int
    template: int
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
            listed.append(Attempt(i, j, genuine, distance))
        return listed

    def counted(self, distance: float, dtype: Any) -> float:
        """The distance as blocks have it: a failure is infinite, and under "reject" an
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
        patch.setattr("bioeval.base.options._pool", lambda: pool)
        yield


SEEDS = range(18)
each_seed = pytest.mark.parametrize("seed", SEEDS)
each_way = pytest.mark.parametrize("way", WAYS)


@pytest.fixture(scope="module")
def study() -> Any:
    """The call of the page's study."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## The inner interface\n")[2].partition("\n## ")[0]
    (code,) = re.findall(r"^```python\n((?!>>>).*?)^```$", section, re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(compile(code, "CONTRIBUTING.md", "exec"), names)
    return names["accepted_by_probe"]


def by_loops(some: World, threshold: float) -> dict[int, tuple[int, int]]:
    """Accepted and all impostor attempts of each probe, by its row."""
    sign = -1 if some.kind == "similarity" else 1
    counts = {probe: (0, 0) for probe in range(len(some.probes))}
    for attempt in some.attempts():
        if not attempt.genuine:
            accepted, number = counts[attempt.probe]
            accepts = attempt.distance is not naive.FAILED and attempt.distance <= sign * threshold
            counts[attempt.probe] = accepted + accepts, number + 1
    return counts


def counted(result: Any) -> dict[int, tuple[int, int]]:
    columns = result.probe, result.fa, result.impostor_attempts
    rows = zip(*(x.values.tolist() for x in columns), strict=True)
    return {probe: (accepted, made) for probe, accepted, made in rows}


@each_way
@each_seed
def test_the_study_counts_what_loops_count(study, seed, way):
    small_world, rng = world(seed, way), np.random.default_rng(seed)
    rows, columns = (rng.permutation(len(x)) for x in (small_world.probes, small_world.gallery))
    threshold = 3.0 if small_world.kind == "distance" else -3.0
    expected = by_loops(small_world, threshold)
    for threads in THREADS:
        with sent(way, threads):
            result = study(small_world.scores(), threshold)
            turned = counted(study(small_world.reordered(rows, columns).scores(), threshold))
        assert counted(result) == expected
        assert {int(rows[probe]): numbers for probe, numbers in turned.items()} == expected
        far = [fa / of if of else np.nan for fa, of in counted(result).values()]
        np.testing.assert_array_equal(result.far, far)
        np.testing.assert_array_equal(np.sort(-result.far), -result.far)  # NaN is last


def test_the_study_takes_claim_scores_and_refuses_what_has_no_such_rate(study):
    scores = world(0, "listed").scores()
    of_claims = study(be.claim_scores(scores, templates="multi"), 3.0)
    dataset = be.verification(scores, templates="multi")
    assert of_claims.impostor_attempts.sum() == dataset.impostor_attempts > 0
    with pytest.raises(be.ProtocolError, match="FAR by probe needs a matrix"):
        study(be.Scores.from_pairs([1.0, 2.0], [True, False]), 1.0)
    with pytest.raises(be.ProtocolError, match="FAR by probe compares scores of different rows"):
        study(be.Scores([[1, 2], [2, 1]], [0, 1], [0, 1], kind="order"), 1.0)
    with pytest.raises(be.DataError, match="`threshold` is inf; expected a finite number"):
        study(scores, np.inf)


def parts_in(some: World, way: str) -> Parts:
    """The parts of a world, which are tiles where they are asked for."""
    parts = parts_of(some.scores(), nearest=way == "tiles")
    assert isinstance(parts, TileParts) == (way == "tiles") and parts.few == (way == "listed")
    return parts


def blocks_of(parts: Parts) -> list[Block]:
    """All blocks, whose memory is their own."""
    if parts.few:
        return [parts.whole()]
    blocks: list[Block] = []
    parts.visit(lambda: lambda block: blocks.append(block._replace(values=block.values.copy())))
    return blocks


def cells_of(block: Block) -> list[tuple[int, int, float]]:
    """Probe, candidate and distance of all attempts of a block and of its mirror image."""
    cells = []
    for side in block.sides():
        for line, column in np.argwhere(~np.isnan(side.by_probe)):
            cell = side.probes[line], side.candidates[column]
            cells.append((*map(int, cell), float(side.by_probe[line, column])))
    return cells


@each_way
@each_seed
def test_blocks_hold_each_impostor_attempt_once(seed, way):
    small_world = world(seed, way)
    with sent(way):
        parts = parts_in(small_world, way)
        blocks = blocks_of(parts)
    cells = sorted(cell for block in blocks for cell in cells_of(block))
    assert cells == [
        (x.probe, x.template, small_world.counted(x.distance, parts.dtype))
        for x in small_world.attempts()
        if not x.genuine
    ]
    failed = sum(block.weight * block.scores()[1] for block in blocks)
    assert failed == sum(
        x.distance is naive.FAILED for x in small_world.attempts() if not x.genuine
    )


@pytest.mark.parametrize("way", WAYS[1:])
def test_most_worlds_have_several_blocks(way):
    with sent(way):
        blocks_of_worlds = [blocks_of(parts_in(world(seed, way), way)) for seed in SEEDS]
    assert sum(len(blocks) > 2 for blocks in blocks_of_worlds) > len(SEEDS) / 2
    twice = sum(block.twice for blocks in blocks_of_worlds for block in blocks)
    assert twice > len(SEEDS) if way == "tiles" else not twice
