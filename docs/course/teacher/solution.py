"""The homework solved with plain NumPy: what `grade.py` compares each student's arrays with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations

import numpy as np

import bioeval as be

#: Ranks of `dir` and `cms`: 1, 2, ... up to this one.
RANKS = 5

#: People of a partition, and number of partitions.
PEOPLE, PARTITIONS = 6, 100


def homework_data(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances between all images of a student, and the person on each image."""
    scores = be.simulate(12, (2, 5), within=1.1, random_state=seed)
    return np.round(4 * np.array(scores.values)) / 4, np.array(scores.probe_labels)


def chosen_thresholds(distances: np.ndarray) -> np.ndarray:
    """Return every second of the distances that occur, in ascending order."""
    return np.unique(distances)[::2]


def pair_distances(distances: np.ndarray, person: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of the genuine and of the impostor attempts, one for each pair."""
    same = person[:, None] == person
    off_diagonal = ~np.eye(len(person), dtype=bool)
    return distances[same & off_diagonal], distances[~same]


def claim_distances(distances: np.ndarray, person: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances of the genuine and of the impostor claims, each to the nearest image."""
    genuine, impostor = [], []
    for i in range(len(person)):
        for claimed in np.unique(person):
            images = (person == claimed) & (np.arange(len(person)) != i)
            (genuine if claimed == person[i] else impostor).append(distances[i, images].min())
    return np.array(genuine), np.array(impostor)


def rates(
    genuine: np.ndarray, impostor: np.ndarray, thresholds: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the four rates at each threshold, each over the attempts of its own class."""
    gar = np.array([(genuine <= t).mean() for t in thresholds])
    far = np.array([(impostor <= t).mean() for t in thresholds])
    return {"gar": gar, "far": far, "frr": 1 - gar, "grr": 1 - far}


def equal_error_rates(far: np.ndarray, frr: np.ndarray) -> np.ndarray:
    """Return the mean of FAR and FRR at each of the thresholds at which they are nearest.

    Equal differences of rates can differ in their last digits: which of these thresholds is the
    first one then depends on the order of the computation.
    """
    difference = np.abs(far - frr)
    nearest = difference <= difference.min() + 1e-9
    return (far[nearest] + frr[nearest]) / 2


def equal_error_rate(far: np.ndarray, frr: np.ndarray) -> float:
    """Return the mean of FAR and FRR at the first threshold at which they are nearest."""
    return equal_error_rates(far, frr)[0]


def mates(
    distances: np.ndarray, person: np.ndarray, rule: Callable[[np.ndarray], float] = np.min
) -> tuple[np.ndarray, np.ndarray]:
    """Return the distance of each probe to its nearest mate, and the rank of this mate."""
    nearest, rank = np.empty(len(person)), np.empty(len(person), dtype=int)
    for i in range(len(person)):
        mate = (person == person[i]) & (np.arange(len(person)) != i)
        nearest[i] = rule(distances[i, mate])
        rank[i] = 1 + (distances[i, person != person[i]] <= nearest[i]).sum()
    return nearest, rank


def partitions(person: np.ndarray, seed: int, number: int = PEOPLE) -> list[np.ndarray]:
    """Return the images of each partition: those of six people, drawn at random."""
    rng = np.random.default_rng(seed)
    people = np.unique(person)
    return [
        np.flatnonzero(np.isin(person, rng.permutation(people)[:number])) for _ in range(PARTITIONS)
    ]


def partition_rates(
    seed: int, thresholds: np.ndarray, parts: Iterable[np.ndarray] | None = None
) -> list[dict[str, np.ndarray]]:
    """Return the rates of the pairs in each partition, in those of the sheet or in others."""
    distances, person = homework_data(seed)
    return [
        rates(*pair_distances(distances[np.ix_(images, images)], person[images]), thresholds)
        for images in (partitions(person, seed) if parts is None else parts)
    ]


def all_partition_rates(seed: int, thresholds: np.ndarray) -> list[dict[str, np.ndarray]]:
    """Return the rates of the pairs among each six people that there are."""
    _, person = homework_data(seed)
    chosen = combinations(np.unique(person), PEOPLE)
    return partition_rates(
        seed, thresholds, [np.flatnonzero(np.isin(person, people)) for people in chosen]
    )


def solution(seed: int, thresholds: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Return the arrays that the sheet asks for, by their names, at its thresholds or at others."""
    distances, person = homework_data(seed)
    if thresholds is None:
        thresholds = chosen_thresholds(distances)
    pairs, claims = pair_distances(distances, person), claim_distances(distances, person)
    of_pairs, of_claims = rates(*pairs, thresholds), rates(*claims, thresholds)
    nearest, rank = mates(distances, person)
    ranks = np.arange(1, RANKS + 1)
    in_rank = rank[:, None] <= ranks  # probes x ranks
    accepted = nearest[:, None] <= thresholds  # probes x thresholds
    return {
        "seed": np.array(seed),
        "genuine_attempts": np.array([len(pairs[0]), len(claims[0])]),
        "impostor_attempts": np.array([len(pairs[1]), len(claims[1])]),
        "thresholds": thresholds,
        **{name: np.stack([of_pairs[name], of_claims[name]]) for name in of_pairs},
        "eer": np.array([equal_error_rate(x["far"], x["frr"]) for x in (of_pairs, of_claims)]),
        "dir": (accepted[:, :, None] & in_rank[:, None, :]).mean(axis=0),
        "cms": in_rank.mean(axis=0),
        "partition_eer": np.array(
            [equal_error_rate(x["far"], x["frr"]) for x in partition_rates(seed, thresholds)]
        ),
    }
