"""The inner interface: blocks, mates and the study of CONTRIBUTING.md beside plain loops."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
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
from reference import assert_closed_set
from strategies import FUSIONS, TIES
from ways import counted_by

import bioeval as be
from bioeval.counting.parts import Parts, TileParts, parts_of
from bioeval.scores.blocks import Block

# Small random worlds with ties, failures and unequal people, their attempts by plain loops, and the
# ways in which scores are sent: listed, as small blocks of rows, as small tiles of embeddings.

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
        patch.setattr("bioeval.base.options._pool", lambda: pool)
        yield


def grouped(attempts: list[Attempt], key: Callable[[Attempt], Any]) -> dict[Any, list[Attempt]]:
    """Attempts by a key, in order."""
    groups: dict[Any, list[Attempt]] = {}
    for attempt in attempts:
        groups.setdefault(key(attempt), []).append(attempt)
    return groups


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


def fusions(way: str) -> Sequence[str]:
    """The rules by which people can be fused in a way."""
    return ("best",) if way == "tiles" else FUSIONS


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


def cells_of(block: Block, names: Any = None) -> list[tuple[int, Any, float]]:
    """Probe, candidate and distance of all attempts of a block and of its mirror image."""
    cells = []
    for side in block.sides():
        for line, column in np.argwhere(~np.isnan(side.by_probe)):
            candidate = side.candidates[column]
            candidate = int(candidate) if names is None else names[candidate].item()
            cells.append((int(side.probes[line]), candidate, float(side.by_probe[line, column])))
    return cells


def fused(some: World, attempts: list[Attempt], fusion: str, dtype: Any) -> float | None:
    """The claim that attempts make, as it is counted; None if they make none."""
    distance = naive.fuse([x.distance for x in attempts], fusion)
    return None if distance is None else some.counted(distance, dtype)


def claims(some: World, attempts: list[Attempt], fusion: str, dtype: Any) -> dict[Any, float]:
    """The claims of attempts, by probe and person."""
    by_claim = grouped(attempts, lambda x: (x.probe, x.person))
    fused_claims = {key: fused(some, those, fusion, dtype) for key, those in by_claim.items()}
    return {key: distance for key, distance in fused_claims.items() if distance is not None}


def dtype_of(parts: Parts, fusion: str | None) -> Any:
    """The dtype of fused distances; an infinite distance is its largest number."""
    of_templates = fusion in (None, "best") or (fusion == "worst" and not parts.mates.rejected)
    return parts.dtype if of_templates else np.dtype(np.float64)


# ------------------------------------------------------------------------------------ the nouns


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


@each_way
@each_seed
def test_claims_of_a_block_are_fused_templates(seed, way):
    small_world = world(seed, way)
    impostors = [x for x in small_world.attempts() if not x.genuine]
    with sent(way):
        scores = small_world.scores()
        parts, names = parts_in(small_world, way), scores.codes.values
        blocks = blocks_of(parts)
        for fusion in fusions(way):
            cells = [
                cell
                for block in blocks
                for side in block.sides()
                for cell in cells_of(side.by_person(fusion), names)
            ]
            fused_claims = claims(small_world, impostors, fusion, dtype_of(parts, fusion))
            assert sorted(cells) == sorted((*key, d) for key, d in fused_claims.items()), fusion


@each_way
@each_seed
def test_mates_are_all_genuine_attempts(seed, way):
    small_world = world(seed, way)
    genuine = [x for x in small_world.attempts() if x.genuine]
    with sent(way):
        parts = parts_in(small_world, way)
        mates = parts.mates
        listed = zip(mates.probe, mates.gallery, mates.distance, strict=True)
        assert [*listed] == [
            (x.probe, x.template, small_world.counted(x.distance, parts.dtype)) for x in genuine
        ]
        assert mates.probe_count == len(small_world.probes)
        by_probe = grouped(genuine, lambda x: x.probe)
        for probe in range(mates.probe_count):
            of_probe = by_probe.get(probe, [])
            assert (
                mates.counts[probe] == mates.first[probe + 1] - mates.first[probe] == len(of_probe)
            )
            best = min((x.distance for x in of_probe), default=None)
            tied = [x.template for x in of_probe if x.distance == best or x.distance is best]
            assert mates.nearest_count[probe] == len(tied)
            assert not tied or mates.nearest_column[probe] == tied[0]
        for fusion in fusions(way):
            dtype = dtype_of(parts, fusion)
            own = [
                fused(small_world, by_probe.get(k, []), fusion, dtype)
                for k in range(mates.probe_count)
            ]
            expected = [np.nan if x is None else x for x in own]
            np.testing.assert_array_equal(mates.fused(fusion), expected)
            distances, failed = mates.scores(fusion)
            plain = [
                naive.fuse([x.distance for x in attempts], fusion) for attempts in by_probe.values()
            ]
            assert failed == sum(x is naive.FAILED for x in plain)
            scored = [x for x in plain if x is not None and x is not naive.FAILED]
            np.testing.assert_array_equal(distances, scored)


# ------------------------------------------------------------------------------------- ranks


@each_way
@each_seed
def test_ranks_are_those_of_loops_on_any_number_of_threads(seed, way):
    small_world, threads = world(seed, way), THREADS[seed % len(THREADS)]
    case = {
        "values": small_world.values.tolist(), "probe_labels": small_world.probes.tolist(),
        "gallery_labels": None if small_world.square else small_world.gallery.tolist(),
        "kind": small_world.kind, "nan": small_world.nan,
        "mask": None if small_world.mask is None else small_world.mask.tolist(),
    }  # fmt: skip
    with sent(way, threads):
        for fusion in (None, *fusions(way)):
            use = {} if fusion is None else {"fusion": fusion}
            unit = "template" if fusion is None else "subject"
            for ties in TIES:
                options = {"ties": ties, "unmated": "skip", "max_rank": 6, **use}
                dataset = be.closed_set(small_world.scores(), rank_unit=unit, **options)
                assert_closed_set(dataset, naive.closed_set(**case, unit=unit, **options))
