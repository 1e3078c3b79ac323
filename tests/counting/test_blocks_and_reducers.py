"""Blocks, mates and reducers by themselves, beside plain loops over small random worlds."""

from collections.abc import Sequence
from typing import Any

import naive
import numpy as np
import pytest
from small_worlds import THREADS, WAYS, Attempt, World, grouped, sent, world
from strategies import FUSIONS

from bioeval.counting.identification import RankFacts
from bioeval.counting.parts import Parts, TileParts, parts_of
from bioeval.counting.reduce import Reducer, reduce
from bioeval.counting.sorted_attempts import PointsWanted
from bioeval.counting.verification import CollectAttempts
from bioeval.scores.blocks import Block

SEEDS = range(18)
TARGETS = (0.0, 0.1, 0.3)
THRESHOLDS = np.arange(0.0, 12.0)
each_seed = pytest.mark.parametrize("seed", SEEDS)
each_way = pytest.mark.parametrize("way", WAYS)


def fusions(way: str) -> Sequence[str]:
    """The rules by which people can be fused in a way."""
    return ("min",) if way == "tiles" else FUSIONS


def parts_in(some: World, way: str) -> Parts:
    """The parts of a world, which are tiles where they are asked for."""
    parts = parts_of(some.scores(), nearest=way == "tiles")
    assert isinstance(parts, TileParts) == (way == "tiles") and parts.few == (way == "listed")
    return parts


def blocks_of(parts: Parts) -> list[Block]:
    """All blocks, whose memory is their own."""
    if parts.few:
        return [parts.whole()]
    found: list[Block] = []
    parts.visit(lambda: lambda block: found.append(block._replace(values=block.values.copy())))
    return found


def cells_of(block: Block, names: Any = None) -> list[tuple[int, Any, float]]:
    """Probe, candidate and distance of all attempts of a block and of its mirror image."""
    cells = []
    for side in block.sides():
        for line, column in np.argwhere(~np.isnan(side.by_probe)):
            who = side.candidates[column]
            who = int(who) if names is None else names[who].item()
            cells.append((int(side.probes[line]), who, float(side.by_probe[line, column])))
    return cells


def fused(some: World, attempts: list[Attempt], fusion: str, dtype: Any) -> float | None:
    """The claim that attempts make, as it is counted; None if they make none."""
    distance = naive.fuse([x.distance for x in attempts], fusion)
    return None if distance is None else some.counted(distance, dtype)


def claims(some: World, attempts: list[Attempt], fusion: str, dtype: Any) -> dict[Any, float]:
    """The claims of attempts, by probe and person."""
    made = grouped(attempts, lambda x: (x.probe, x.person))
    found = {key: fused(some, those, fusion, dtype) for key, those in made.items()}
    return {key: distance for key, distance in found.items() if distance is not None}


def dtype_of(parts: Parts, fusion: str | None) -> Any:
    """The dtype of fused distances, whose largest number an infinite one is."""
    of_templates = fusion in (None, "min") or (fusion == "max" and not parts.mates.rejected)
    return parts.dtype if of_templates else np.dtype(np.float64)


# ------------------------------------------------------------------------------------ the nouns


@each_way
@each_seed
@pytest.mark.cases(16)
def test_blocks_hold_each_impostor_attempt_once(seed, way):
    some = world(seed, way)
    with sent(way):
        parts = parts_in(some, way)
        blocks = blocks_of(parts)
    cells = sorted(cell for block in blocks for cell in cells_of(block))
    assert cells == [
        (x.probe, x.template, some.counted(x.distance, parts.dtype))
        for x in some.attempts()
        if not x.genuine
    ]
    failed = sum(block.weight * block.scores()[1] for block in blocks)
    assert failed == sum(x.distance is naive.FAILED for x in some.attempts() if not x.genuine)


@pytest.mark.parametrize("way", WAYS[1:])
def test_most_worlds_have_several_blocks(way):
    with sent(way):
        made = [blocks_of(parts_in(world(seed, way), way)) for seed in SEEDS]
    assert sum(len(blocks) > 2 for blocks in made) > len(SEEDS) / 2
    twice = sum(block.twice for blocks in made for block in blocks)
    assert twice > len(SEEDS) if way == "tiles" else not twice


@each_way
@each_seed
@pytest.mark.cases(8)
def test_claims_of_a_block_are_fused_templates(seed, way):
    some = world(seed, way)
    impostors = [x for x in some.attempts() if not x.genuine]
    with sent(way):
        scores = some.scores()
        parts, names = parts_in(some, way), scores.codes.values
        blocks = blocks_of(parts)
        for fusion in fusions(way):
            cells = [
                cell
                for block in blocks
                for side in block.sides()
                for cell in cells_of(side.by_person(fusion), names)
            ]
            made = claims(some, impostors, fusion, dtype_of(parts, fusion))
            assert sorted(cells) == sorted((*key, d) for key, d in made.items()), fusion


@each_way
@each_seed
@pytest.mark.cases(16)
def test_mates_are_all_genuine_attempts(seed, way):
    some = world(seed, way)
    genuine = [x for x in some.attempts() if x.genuine]
    with sent(way):
        parts = parts_in(some, way)
        mates = parts.mates
        found = zip(mates.probe, mates.gallery, mates.distance, strict=True)
        assert [*found] == [
            (x.probe, x.template, some.counted(x.distance, parts.dtype)) for x in genuine
        ]
        assert mates.probes == len(some.probes)
        by_probe = grouped(genuine, lambda x: x.probe)
        for probe in range(mates.probes):
            those = by_probe.get(probe, [])
            assert mates.number[probe] == mates.first[probe + 1] - mates.first[probe] == len(those)
            best = min((x.distance for x in those), default=None)
            tied = [x.template for x in those if x.distance == best or x.distance is best]
            assert mates.tied[probe] == len(tied)
            assert not tied or mates.place[probe] == tied[0]
        for fusion in fusions(way):
            dtype = dtype_of(parts, fusion)
            own = [fused(some, by_probe.get(k, []), fusion, dtype) for k in range(mates.probes)]
            expected = [np.nan if x is None else x for x in own]
            np.testing.assert_array_equal(mates.fused(fusion), expected)
            distances, failed = mates.scores(fusion)
            plain = [naive.fuse([x.distance for x in those], fusion) for those in by_probe.values()]
            assert failed == sum(x is naive.FAILED for x in plain)
            scored = [x for x in plain if x is not None and x is not naive.FAILED]
            np.testing.assert_array_equal(distances, scored)


# ------------------------------------------------------------------------------------- reducers


def check_ranks(some: World, facts: RankFacts, parts: Parts) -> None:
    """Hold facts of ranks to plain loops."""
    fusion, dtype = facts.fusion, dtype_of(parts, facts.fusion)
    made = grouped(some.attempts(), lambda x: x.probe)
    for probe in range(len(some.probes)):
        mates = [x for x in made.get(probe, []) if x.genuine]
        others = [x for x in made.get(probe, []) if not x.genuine]

        def number(distance: float) -> float:
            return some.counted(distance, dtype)

        # Candidates: where each is in the gallery, and its distance.
        nearest_mate = min((number(x.distance) for x in mates), default=np.nan)
        places = [x.template for x in mates if number(x.distance) == nearest_mate]
        if fusion is None:
            best = nearest_mate
            candidates = [(x.template, number(x.distance)) for x in others]
            counted = len(mates), len(places)
        else:
            claim = naive.fuse([x.distance for x in mates], fusion)
            best = np.nan if claim is None else number(claim)
            candidates = []
            for those in grouped(others, lambda x: x.person).values():
                distance = naive.fuse([x.distance for x in those], fusion)
                if distance is not None:
                    near = min(number(x.distance) for x in those)
                    place = min(x.template for x in those if number(x.distance) == near)
                    candidates.append((place, number(distance)))
            counted = (int(claim is not None),) * 2
        assert (facts.mates[probe], facts.mates_tied[probe]) == counted
        np.testing.assert_equal(facts.best[probe], best)
        assert facts.others[probe] == len(candidates)
        nearest = min((d for _, d in candidates), default=np.nan)
        np.testing.assert_equal(facts.nearest[probe], nearest)
        assert facts.closer[probe] == sum(d < best for _, d in candidates)
        tied = [place for place, d in candidates if d == best]
        assert facts.tied[probe] == len(tied)
        assert facts.before[probe] == sum(place < min(places) for place in tied)


def check_attempts(some: World, reducer: CollectAttempts, attempts: Any) -> None:
    """Hold attempts and their operating points to plain loops."""
    both = some.attempts(), reducer.fusion
    genuine, impostor = (
        naive_distances([x for x in both[0] if x.genuine == mates], both[1])
        for mates in (True, False)
    )
    assert attempts.genuine_attempts == len(genuine)
    assert attempts.impostor_attempts == len(impostor)
    assert attempts.missed == sum(x is naive.FAILED for x in genuine)
    scored = sorted(x for x in genuine if x is not naive.FAILED)
    np.testing.assert_array_equal(attempts.genuine, scored)
    thresholds = np.union1d(THRESHOLDS, scored)
    accepted = [sum(x is not naive.FAILED and x <= t for x in impostor) for t in thresholds]
    np.testing.assert_array_equal(attempts.false_accepts(thresholds), accepted)
    if not attempts.defined:
        return
    for target in TARGETS:
        frr, threshold = naive.frr_at_far(genuine, impostor, "distance", target)
        assert attempts.at_far(target) == (float(frr), threshold)
    expected = naive.eer(genuine, impostor, "distance")
    np.testing.assert_allclose(attempts.equal_error().eer, float(expected.value), rtol=1e-14)
    np.testing.assert_equal(attempts.equal_error().eer_threshold, expected.threshold)


def naive_distances(attempts: list[Attempt], fusion: str | None) -> list[float]:
    """Distances of attempts, or of the claims that they make."""
    if fusion is None:
        return [x.distance for x in attempts]
    made = grouped(attempts, lambda x: (x.probe, x.person)).values()
    found = [naive.fuse([x.distance for x in those], fusion) for those in made]
    return [x for x in found if x is not None]


def reducers(way: str) -> list[Reducer]:
    """One reducer of each sort and rule."""
    rules = (None, *fusions(way))
    wanted = PointsWanted(np.array(TARGETS), np.empty((0, 3)), True)
    return [
        *(RankFacts(fusion) for fusion in rules),
        *(CollectAttempts(fusion, wanted, THRESHOLDS) for fusion in rules),
    ]


def check_results(some: World, used: list[Reducer], results: list[Any], parts: Parts) -> None:
    """Hold the results of reducers to plain loops."""
    for reducer, result in zip(used, results, strict=True):
        if isinstance(reducer, RankFacts):
            check_ranks(some, result, parts)
        else:
            assert isinstance(reducer, CollectAttempts)
            check_attempts(some, reducer, result)


@each_way
@each_seed
@pytest.mark.cases(8)
def test_reducers_count_what_loops_count_on_any_number_of_threads(seed, way):
    some, threads = world(seed, way), THREADS[seed % len(THREADS)]
    with sent(way, threads):
        parts, used = parts_in(some, way), reducers(way)
        check_results(some, used, reduce(parts, *used), parts)


@each_way
@each_seed
@pytest.mark.cases(6)
def test_copies_are_merged_in_any_order(seed, way):
    """One copy of each reducer for each block."""
    some, rng = world(seed, way), np.random.default_rng(seed)
    with sent(way):
        parts, used = parts_in(some, way), reducers(way)
        for reducer in used:
            reducer.prepare(parts)
        wanting = used
        while wanting:
            blocks = blocks_of(parts)
            for k in rng.permutation(len(blocks)):
                for reducer in wanting:
                    copy = reducer.fresh()
                    copy.add(blocks[k])
                    reducer.merge(copy)
            wanting = [reducer for reducer in wanting if reducer.finish_pass()]
        check_results(some, used, [reducer.result() for reducer in used], parts)
