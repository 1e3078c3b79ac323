"""Wrong values of the homework's arrays, by the mistake that leads to them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from solution import (
    RANKS,
    chosen_thresholds,
    claim_distances,
    equal_error_rate,
    homework_data,
    mates,
    pair_distances,
    partitions,
    rates,
)

import bioeval as be

#: A sentence to a student, and the value of an array that the mistake leads to.
Mistake = tuple[str, np.ndarray]

_RATES = ("gar", "far", "frr", "grr")
PERCENT = "in per cent: a rate is between 0 and 1"
_DIAGONAL = "the diagonal is counted: an image is compared with itself"
_ALL_ATTEMPTS = "divided by all attempts: each rate is over the attempts of its own class"
_COUNTS = "these are numbers of attempts: divide them by all attempts of the class"
_STRICT = "a distance equal to the threshold is rejected: it is accepted"
_LARGER = "a distance above the threshold is accepted: the smaller, the closer"
_GENUINE_TOO = "genuine attempts are counted among the impostor attempts, too"
_LONG_RANK = "each rank is too large by one: k begins at 1, and no probe is in its own list"
_CALL = "this is the EER of `be.verification`, which has another definition"
_BETWEEN = "interpolated between thresholds: take the mean at the nearest threshold"
_OWN_MATE = "the probe is its own mate: its distance to itself is 0"


def mistakes(name: str, seed: int, right: dict[str, np.ndarray]) -> Iterator[Mistake]:
    """Yield mistakes in an array, the likely ones first; `right` is the solution."""
    distances, person = homework_data(seed)
    match name:
        case "genuine_attempts" | "impostor_attempts":
            yield from _attempts(name, person, right)
        case "thresholds":
            yield "the distances are not sorted: use np.unique", distances.ravel()[::2]
            exact = be.simulate(12, (2, 5), within=1.1, random_state=seed).values
            yield "the distances are not rounded to quarters", chosen_thresholds(exact)
            yield "the diagonal is left out", np.unique(distances[distances > 0])[::2]
            yield "these are all distances: the sheet asks for every second", np.unique(distances)
        case "gar" | "far" | "frr" | "grr":
            yield from _rates(name, distances, person, right)
        case "eer":
            yield from _eer(distances, person, right)
        case "dir" | "cms":
            yield from _identification(name, distances, person, right)
        case "partition_eer":
            yield from _partition_eer(distances, person, seed, right)


def _attempts(name: str, person: np.ndarray, right: dict[str, np.ndarray]) -> Iterator[Mistake]:
    other = {"genuine_attempts": "impostor_attempts", "impostor_attempts": "genuine_attempts"}
    pairs, claims = right[name]
    yield "genuine and impostor attempts are exchanged", right[other[name]]
    yield "the numbers of pairs and of claims are exchanged", right[name][::-1]
    if name == "genuine_attempts":
        yield _DIAGONAL, np.array([pairs + len(person), claims])
    else:
        yield _GENUINE_TOO, right[name] + right[other[name]]
    yield (
        "each pair is counted once: (i, j) and (j, i) are two attempts",
        np.array([pairs // 2, claims]),
    )
    yield (
        "claims: these are the pairs; each image claims each person once",
        np.array([pairs, pairs]),
    )


def _rates(
    name: str, distances: np.ndarray, person: np.ndarray, right: dict[str, np.ndarray]
) -> Iterator[Mistake]:
    """Yield mistakes in a rate; one of pairs or of claims alone is yielded for each row."""
    thresholds = right["thresholds"]
    if name in ("far", "frr"):
        other = {"far": "frr", "frr": "far"}[name]
        yield "FAR and FRR are exchanged: FAR is about impostors", right[other]
    for other in _RATES:
        if other != name:
            yield f"these are the values of {other.upper()}", right[other]
    yield "the rows are exchanged: pairs come first, then claims", right[name][::-1]
    yield "the axes are exchanged: pairs and claims are the rows", right[name].T
    yield PERCENT, 100 * right[name]
    genuine, impostor = right["genuine_attempts"], right["impostor_attempts"]
    own = genuine if name in ("gar", "frr") else impostor
    yield _ALL_ATTEMPTS, right[name] * (own / (genuine + impostor))[:, None]
    yield _COUNTS, right[name] * own[:, None]

    attempts = [pair_distances(distances, person), claim_distances(distances, person)]
    below = [rates(*(np.nextafter(x, np.inf) for x in row), thresholds)[name] for row in attempts]
    yield _STRICT, np.stack(below)
    above = [rates(*(-x for x in row), -thresholds)[name] for row in attempts]
    yield _LARGER, np.stack(above)
    if name in ("gar", "frr"):
        with_diagonal = np.concatenate([attempts[0][0], np.zeros(len(person))])
        of_pairs = rates(with_diagonal, attempts[0][1], thresholds)[name]
        yield f"pairs: {_DIAGONAL}", np.stack([of_pairs, right[name][1]])
        own_image = rates(np.zeros(len(person)), attempts[1][1], thresholds)[name]
        yield f"claims: {_OWN_MATE}", np.stack([right[name][0], own_image])
    else:
        mixed = [rates(row[0], np.concatenate(row), thresholds)[name] for row in attempts]
        yield _GENUINE_TOO, np.stack(mixed)
    fused: tuple[tuple[str, Callable[[np.ndarray], float]], ...] = (
        ("the mean distance decides: it is the nearest image that decides", np.mean),
        ("the farthest image decides: it is the nearest image that decides", np.max),
        ("the median distance decides: it is the nearest image that decides", np.median),
        ("the first image decides: it is the nearest image that decides", lambda x: x[0]),
        ("the last image decides: it is the nearest image that decides", lambda x: x[-1]),
    )
    for sentence, rule in fused:
        of_claims = rates(*_fused_claims(distances, person, rule), thresholds)[name]
        yield f"claims: {sentence}", np.stack([right[name][0], of_claims])
    farthest = _fused_claims(distances, person, np.max)
    of_claims = rates(*(-x for x in farthest), -thresholds)[name]
    yield (
        "claims: distances are read as similarities: the smaller, the closer",
        np.stack([right[name][0], of_claims]),
    )


def _fused_claims(
    distances: np.ndarray, person: np.ndarray, rule: Callable[[np.ndarray], float]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the genuine and the impostor claims where another rule than the nearest decides."""
    genuine, impostor = [], []
    for i in range(len(person)):
        for claimed in np.unique(person):
            images = (person == claimed) & (np.arange(len(person)) != i)
            (genuine if claimed == person[i] else impostor).append(rule(distances[i, images]))
    return np.array(genuine), np.array(impostor)


def _called(distances: np.ndarray, person: np.ndarray, templates: str) -> float:
    with warnings.catch_warnings(action="ignore"):  # equal scores decide the EER
        return be.verification(be.Scores(distances, person), templates=templates).eer.item()


def _interpolated(far: np.ndarray, frr: np.ndarray) -> float:
    """Return the rate at which the lines between the points of FAR and of FRR cross."""
    difference = np.maximum.accumulate(far - frr)
    position = np.interp(0, difference, np.arange(len(far)))
    return float(np.interp(position, np.arange(len(far)), far))


def _eer(
    distances: np.ndarray, person: np.ndarray, right: dict[str, np.ndarray]
) -> Iterator[Mistake]:
    far, frr, thresholds = right["far"], right["frr"], right["thresholds"]
    nearest = np.abs(far - frr).round(12).argmin(axis=1)
    yield PERCENT, 100 * right["eer"]
    yield "the rows are exchanged: pairs come first, then claims", right["eer"][::-1]
    yield "this is FAR at the nearest threshold: take the mean of FAR and FRR", far[[0, 1], nearest]
    yield "this is FRR at the nearest threshold: take the mean of FAR and FRR", frr[[0, 1], nearest]
    yield "this is the threshold, and not the rate", thresholds[nearest]
    yield "this is the sum of FAR and FRR: divide it by 2", 2 * right["eer"]
    yield "this is an index of the thresholds", nearest.astype(float)
    called = [_called(distances, person, x) for x in ("single", "multi")]
    yield _CALL, np.array(called)
    between = [_interpolated(*row) for row in zip(far, frr, strict=True)]
    yield _BETWEEN, np.array(between)
    attempts = zip(
        pair_distances(distances, person), claim_distances(distances, person), strict=True
    )
    pooled = rates(*(np.concatenate(x) for x in attempts), thresholds)
    yield (
        "pairs and claims are pooled: each has an EER of its own",
        np.full(2, equal_error_rate(pooled["far"], pooled["frr"])),
    )
    yield "this is the smallest mean of FAR and FRR", ((far + frr) / 2).min(axis=1)


def _identification(
    name: str, distances: np.ndarray, person: np.ndarray, right: dict[str, np.ndarray]
) -> Iterator[Mistake]:
    thresholds = right["thresholds"]
    nearest, rank = mates(distances, person)
    ranks = np.arange(1, RANKS + 1)
    people = np.array([_rank_of_person(distances, person, i) for i in range(len(person))])
    images = range(len(person))
    nearer = np.array([(distances[i, person != person[i]] < nearest[i]).sum() for i in images])
    in_order = np.array([_position_of_mate(distances, person, i) for i in images])

    def rate(
        rank: np.ndarray, ranks: np.ndarray = ranks, nearest: np.ndarray = nearest
    ) -> np.ndarray:
        """Return the array of the sheet for other ranks, or other mates, of the probes."""
        in_rank = rank[:, None] <= ranks
        if name == "cms":
            return in_rank.mean(axis=0)
        accepted = nearest[:, None] <= thresholds
        return (accepted[:, :, None] & in_rank[:, None, :]).mean(axis=0)

    yield PERCENT, 100 * right[name]
    yield _COUNTS, len(person) * right[name]
    yield f"{_OWN_MATE}, or the data are others", np.ones_like(right[name])
    yield _LONG_RANK, rate(rank + 1)
    yield "each rank is too small by one: the rank of the nearest image is 1", rate(rank - 1)
    yield "an image of another person that is as near does not count: it does", rate(nearer + 1)
    yield "images that are as near are in the order of the array: all of them count", rate(in_order)
    yield "the rank counts people: it counts the images of other people", rate(people)
    farthest, far_rank = mates(distances, person, np.max)
    yield "the farthest image of the person is the mate: the nearest is", rate(far_rank, nearest=farthest)
    if name == "cms":
        yield (
            "not cumulative: CMS(k) has all ranks of at most k",
            (rank[:, None] == ranks).mean(axis=0),
        )
        return
    yield "the axes are exchanged: thresholds come first, then ranks", right["dir"].T
    yield (
        "the threshold is not used: the mate is also to be accepted",
        np.broadcast_to(right["cms"], right["dir"].shape),
    )
    off_diagonal = np.where(np.eye(len(person)), np.inf, distances)
    anybody = (off_diagonal.min(axis=1)[:, None] <= thresholds)[:, :, None]
    yield (
        "the nearest image of anybody is accepted: it is the mate that is to be accepted",
        (anybody & (rank[:, None] <= ranks)[:, None, :]).mean(axis=0),
    )
    accepted = (nearest[:, None] <= thresholds).mean(axis=0)
    yield (
        "the rank is not used: the mate is also to be among the k nearest",
        np.broadcast_to(accepted[:, None], right["dir"].shape),
    )
    strict = (nearest[:, None] < thresholds)[:, :, None] & (rank[:, None] <= ranks)[:, None, :]
    yield _STRICT, strict.mean(axis=0)
    above = (nearest[:, None] >= thresholds)[:, :, None] & (rank[:, None] <= ranks)[:, None, :]
    yield _LARGER, above.mean(axis=0)
    yield (
        "not cumulative: DIR(t, k) has all ranks of at most k",
        np.diff(right["dir"], axis=1, prepend=0),
    )
    yield "divided by all attempts: DIR is over the genuine attempts", right["dir"] / 2


def _rank_of_person(distances: np.ndarray, person: np.ndarray, i: int) -> int:
    """Return the rank of the person of probe `i` among all people, each by the nearest image."""
    others = np.arange(len(person)) != i
    nearest = {x: distances[i, (person == x) & others].min() for x in np.unique(person)}
    own = nearest.pop(person[i])
    return 1 + sum(x <= own for x in nearest.values())


def _position_of_mate(distances: np.ndarray, person: np.ndarray, i: int) -> int:
    """Return the place of the first mate of probe `i` in the sorted list of the other images."""
    order = [j for j in np.argsort(distances[i], kind="stable") if j != i]
    return 1 + int(np.argmax(person[order] == person[i]))


def _partition_eer(
    distances: np.ndarray, person: np.ndarray, seed: int, right: dict[str, np.ndarray]
) -> Iterator[Mistake]:
    thresholds, everybody = right["thresholds"], np.arange(len(person))
    parts = partitions(person, seed)

    def attempts(probes: np.ndarray, gallery: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        inside, same = distances[np.ix_(probes, gallery)], person[probes, None] == person[gallery]
        return inside[same & (probes[:, None] != gallery)], inside[~same]

    def eer_of(genuine: np.ndarray, impostor: np.ndarray, thresholds: np.ndarray) -> float:
        of_part = rates(genuine, impostor, thresholds)
        return equal_error_rate(of_part["far"], of_part["frr"])

    def eer(probes: np.ndarray, gallery: np.ndarray, thresholds: np.ndarray) -> float:
        return eer_of(*attempts(probes, gallery), thresholds)

    def eer_over_all(genuine: np.ndarray, impostor: np.ndarray) -> float:
        of_part = rates(genuine, impostor, thresholds)
        total = len(genuine) + len(impostor)
        far = of_part["far"] * len(impostor) / total
        return equal_error_rate(far, of_part["frr"] * len(genuine) / total)

    yield PERCENT, 100 * right["partition_eer"]
    yield (
        "all partitions are the first one: make the generator once, before the loop",
        np.full(len(parts), right["partition_eer"][0]),
    )
    yield "the EER of all people, 100 times", np.full(len(parts), right["eer"][0])
    inside = [attempts(images, images) for images in parts]
    with_diagonal = [
        (np.append(genuine, np.zeros(len(images))), impostor)
        for (genuine, impostor), images in zip(inside, parts, strict=True)
    ]
    yield _DIAGONAL, np.array([eer_of(*x, thresholds) for x in with_diagonal])
    below = np.nextafter(thresholds, -np.inf)
    yield _STRICT, np.array([eer_of(*x, below) for x in inside])
    yield (
        _LARGER,
        np.array([eer_of(-genuine, -impostor, -thresholds) for genuine, impostor in inside]),
    )
    yield _ALL_ATTEMPTS, np.array([eer_over_all(*x) for x in inside])
    for other in {0, 42} - {seed}:
        drawn = [eer(images, images, thresholds) for images in partitions(person, other)]
        yield f"the generator has the seed {other}: it should have your seed", np.array(drawn)
    yield (
        "the impostors are all other people: only people of the partition are",
        np.array([eer(images, everybody, thresholds) for images in parts]),
    )
    yield (
        _CALL,
        np.array([_called(distances[np.ix_(x, x)], person[x], "single") for x in parts]),
    )
    of_parts = [rates(*x, thresholds) for x in inside]
    yield _BETWEEN, np.array([_interpolated(x["far"], x["frr"]) for x in of_parts])
    nearest = np.abs(right["far"][0] - right["frr"][0]).round(12).argmin()
    yield (
        "at the threshold of all people: each partition has a nearest threshold of its own",
        np.array([(x["far"][nearest] + x["frr"][nearest]) / 2 for x in of_parts]),
    )
    pooled = eer_of(*(np.concatenate(x) for x in zip(*inside, strict=True)), thresholds)
    yield (
        "the pairs of all partitions are pooled: each partition has an EER of its own",
        np.full(len(parts), pooled),
    )
    rng = np.random.default_rng(seed)
    halves = [rng.permutation(len(person))[: len(person) // 2] for _ in parts]
    yield (
        "half of the images are drawn: the images of six people are a partition",
        np.array([eer(images, images, thresholds) for images in halves]),
    )
    own = [chosen_thresholds(distances[np.ix_(images, images)]) for images in parts]
    yield (
        "the thresholds are those of each partition: take `thresholds`",
        np.array([eer(images, images, t) for images, t in zip(parts, own, strict=True)]),
    )
    for number in (5, 7):
        others = [eer(x, x, thresholds) for x in partitions(person, seed, number)]
        yield f"a partition has {number} people: it should have six", np.array(others)
    left_out = [np.setdiff1d(everybody, images) for images in parts]
    yield (
        "these are the people who are not chosen",
        np.array([eer(images, images, thresholds) for images in left_out]),
    )
