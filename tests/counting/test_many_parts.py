"""Operating points of many parts at once are those of each part by itself.

The points of one part are compared with brute force in `test_points.py`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given, strategies as st

from bioeval.counting.operating_points import AttemptsOfParts, RankedAttempts
from bioeval.counting.sorted_scores import SortedScores
from bioeval.counting.threshold_rules import PointsWanted, Rule, choose_of_parts, point_values

Part = tuple[list[float], list[float], int, int]

RULES = (
    *(Rule("eer"), Rule("far", (0.1,)), Rule("frr", (0.2,)), Rule("accuracy"), Rule("none")),
    *(Rule("cost", (0.5, 1.0, 1.0)), Rule("cost", (0.3, 2.0, 0.7)), Rule("fixed", (1.0,))),
)
WANTED = PointsWanted(
    np.array([0.5, 0.1, 1 / 3, 0.0, 1.0]),
    np.array([(0.5, 1.0, 1.0), (0.01, 1.0, 1.0), (0.3, 2.0, 0.7), (1.0, 1.0, 1.0)]),
    True,
    frr_targets=np.array([0.0, 0.25, 1.0]),
)

SCORES = st.one_of(
    st.sampled_from([-np.inf, np.inf]), st.integers(0, 4).map(float), st.floats(-2, 2, width=16)
)
LISTS = st.lists(SCORES, max_size=12).map(sorted)
FAILED = st.sampled_from([0, 0, 0, 1, 3])
PARTS = st.lists(st.tuples(LISTS, LISTS, FAILED, FAILED), min_size=1, max_size=6)


def attempts_of(parts: Sequence[Part]) -> AttemptsOfParts:
    genuine, impostor, missed, missed_impostors = zip(*parts, strict=True)
    lists = ([np.array(x, dtype=np.float64) for x in xs] for xs in (genuine, impostor))
    return AttemptsOfParts.of_lists(*lists, np.array(missed), np.array(missed_impostors))


def numbers_of(attempts: AttemptsOfParts, symmetric: Any, thresholds: np.ndarray) -> dict[str, Any]:
    """Return all numbers by name; the first axis of each array has the parts."""
    error, values = point_values(attempts, WANTED, symmetric)
    values |= {"last": error.ends[0], "first": error.ends[1]}
    for rule in RULES:
        chosen = choose_of_parts(rule, attempts)
        values |= {f"{rule} {name}": x for name, x in vars(chosen).items()}
    values["fa"], values["fr"] = attempts.errors_at(thresholds)
    values["next"] = attempts.next_scores(thresholds)
    return values


@given(
    PARTS,
    st.sampled_from([None, True, False]),
    st.lists(st.one_of(SCORES, st.just(np.nan)), min_size=2, max_size=2),
)
def test_points_of_parts_are_those_of_each_part(
    parts: list[Part], symmetric: bool | None, thresholds: list[float]
) -> None:
    thresholds_of_parts = np.broadcast_to(thresholds, (len(parts), 2))
    together = numbers_of(attempts_of(parts), symmetric, thresholds_of_parts)
    for k, part in enumerate(parts):
        alone = numbers_of(attempts_of([part]), symmetric, thresholds_of_parts[:1])
        assert alone.keys() == together.keys()
        for name, values in alone.items():
            np.testing.assert_array_equal(together[name][k], values[0], err_msg=name)


@given(PARTS)
def test_errors_and_next_scores_are_counted_one_by_one(parts: list[Part]) -> None:
    attempts = attempts_of(parts)
    thresholds = np.broadcast_to([-np.inf, 0.25, 1.0, np.inf, np.nan], (len(parts), 5))
    (fa, fr), after = attempts.errors_at(thresholds), attempts.next_scores(thresholds)
    for k, (genuine, impostor, missed, _) in enumerate(parts):
        for i, threshold in enumerate(thresholds[k].tolist()):
            assert fa[k, i] == sum(x <= threshold for x in impostor)
            assert fr[k, i] == sum(not x <= threshold for x in genuine) + missed
            nearest = min((x for x in (*genuine, *impostor) if x > threshold), default=np.inf)
            np.testing.assert_array_equal(after[k, i], np.nan if np.isnan(threshold) else nearest)


MATES = st.lists(st.tuples(SCORES, st.integers(1, 5)), max_size=12)


@given(st.lists(st.tuples(MATES, LISTS, FAILED, FAILED), min_size=1, max_size=5))
def test_dir_at_far_is_at_the_loosest_of_all_thresholds(
    parts: list[tuple[list[tuple[float, int]], list[float], int, int]],
) -> None:
    targets, ranks = np.array([0.5, 0.1, 0.0, 1.0]), np.array([1, 2, 5])
    parts = [(sorted(mates), *rest) for mates, *rest in parts]
    all_mates = [np.array([x for x, _ in mates], dtype=np.float64) for mates, *_ in parts]
    all_others = [np.array(x, dtype=np.float64) for _, x, *_ in parts]
    distances = np.unique(np.concatenate([*all_mates, *all_others]))
    genuine = np.array(
        [len(x) + missed for x, (_, _, missed, _) in zip(all_mates, parts, strict=True)]
    )
    impostor = np.array(
        [len(x) + failed for x, (*_, failed) in zip(all_others, parts, strict=True)]
    )
    attempts = RankedAttempts(
        SortedScores.of_parts(all_mates, distances),
        np.array([rank for mates, *_ in parts for _, rank in mates], dtype=np.int64),
        SortedScores.of_parts(all_others, distances),
        genuine,
        impostor,
    )
    rates, thresholds = attempts.dir_at_far(targets, ranks)
    eer = attempts.first.equal_error().eer
    for k, (mates, others_of_part, missed, _) in enumerate(parts):
        for j, rank in enumerate(ranks.tolist()):
            ranked = [x for x, its in mates if its <= rank]
            scores = sorted({*ranked, *others_of_part})
            points = [] if -np.inf in scores else [-np.inf]
            for i, target in enumerate(targets.tolist()):
                allowed = [
                    t
                    for t in (*points, *scores)
                    if impostor[k] and sum(x <= t for x in others_of_part) / impostor[k] <= target
                ]
                if not (genuine[k] and impostor[k]):
                    assert np.isnan(rates[k, i, j]) and np.isnan(thresholds[k, i, j])
                    continue
                loosest = max(allowed, default=np.nan)
                np.testing.assert_array_equal(thresholds[k, i, j], loosest)
                assert rates[k, i, j] == sum(x <= loosest for x in ranked) / genuine[k]
        hits = [x for x, rank in mates if rank == 1]
        alone = AttemptsOfParts.of_lists(
            [np.array(hits, dtype=np.float64)],
            [all_others[k]],
            len(mates) - len(hits) + missed,
            impostor[k] - len(others_of_part),
        )
        np.testing.assert_array_equal(alone.equal_error().eer[0], eer[k])
