"""Trackers on sequences: intervals of measures, differences, ranks, and winners among equals.

A population is a pool of sequences with the results of five trackers on each; a data set has
sequences drawn from it with replacement, so that the true values are those of the whole pool. A
sequence has a difficulty that all trackers share, and another one that is each tracker's own. The
sequences of a pool are matched once: a data set adds up their counts, as the public calls do.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bioeval.studies.compare import ComparedMeasure
from bioeval.studies.tracking.counting import TrackingOptions
from bioeval.studies.tracking.inputs import sources_of
from bioeval.studies.tracking.measures import MEASURES, SequenceSums
from bioeval.studies.tracking.tracking import COMPARED as NAMES, ranked_measure
from simulations.claims import Cell, Claim, Interval, Outcomes, Verdict, cells

#: Sequences of a pool.
POOL = 1000
CONFIDENCE = 0.95
OPTIONS = TrackingOptions(
    iou=0.5,
    pairing="last-known",
    mostly_tracked="at-least",
    ignored="motchallenge",
    columns="motchallenge",
    classes=None,
)

#: Probabilities that a tracker misses a box, and that an identity changes, in a frame.
TRACKERS = {
    "A": (0.10, 0.010),
    "B": (0.11, 0.010),
    "C": (0.10, 0.012),
    "D": (0.14, 0.012),
    "E": (0.20, 0.030),
}
#: The expected number of false positives in a frame, and the spread of boxes in pixels.
FALSE_POSITIVES, SPREAD = 0.2, 4.0


@dataclass(frozen=True)
class Sequences:
    """How the sequences of a population differ."""

    spread: float = 0.0  # standard deviation of the logarithm of the difficulty
    own: float = 0.0  # of that part which is each tracker's own
    frames: tuple[int, int] = (30, 30)  # the fewest and the most
    crowds: float = 0.0  # proportion of sequences with three times as many people, and difficult


POPULATIONS = {
    "alike": Sequences(),
    "differ": Sequences(spread=0.4, own=0.2, frames=(15, 60)),
    "crowds": Sequences(spread=0.4, own=0.2, frames=(15, 60), crowds=0.1),
}
PEOPLE, CROWD, HARDER = 3, 9, 2.5

Rows = np.ndarray


def _truth(rng: np.random.Generator, frames: int, people: int) -> Rows:
    """Return the boxes of people who walk side by side."""
    frame = np.repeat(np.arange(frames), people)
    who = np.tile(np.arange(people), frames)
    steps = rng.normal(0, 2, (people, 2))
    corner = 100 * np.column_stack([who, np.ones(len(who))]) + frame[:, None] * steps[who]
    size = np.tile([40, 90], (len(who), 1))
    return np.column_stack([frame + 1, who + 1, corner, size])


def _result(
    rng: np.random.Generator, truth: Rows, miss: float, change: float, harder: float
) -> Rows:
    """Return the boxes of a tracker: some are missed, some are false, identities change."""
    people = int(truth[:, 1].max())
    frames = len(truth) // people
    changed = rng.random((frames, people)) < change * harder
    identity = 1 + np.arange(people) + people * np.cumsum(changed, axis=0)
    rows = truth.copy()
    rows[:, 1] = identity.reshape(-1)
    rows[:, 2:4] += rng.normal(0, SPREAD, (len(rows), 2))
    rows = rows[rng.random(len(rows)) >= miss * harder]
    number = rng.poisson(FALSE_POSITIVES * harder * frames)
    false = np.column_stack(
        [
            rng.integers(1, frames + 1, number),
            1_000_000 + np.arange(number),
            rng.uniform(0, 100 * people, number),
            rng.uniform(0, 300, number),
            np.tile([40, 90], (number, 1)),
        ]
    )
    return np.vstack([rows, false])


def _sequence(
    rng: np.random.Generator, kind: Sequences, trackers: Mapping[str, tuple[float, float]]
) -> tuple[Rows, dict[str, Rows]]:
    """Return the ground truth and the result of each tracker, of one sequence."""
    fewest, most = kind.frames
    in_crowd = rng.random() < kind.crowds
    truth = _truth(rng, int(rng.integers(fewest, most + 1)), CROWD if in_crowd else PEOPLE)
    difficulty = kind.spread * rng.normal() + np.log(HARDER) * in_crowd
    results = {}
    for name, (miss, change) in trackers.items():
        harder = min(float(np.exp(difficulty + kind.own * rng.normal())), 4.0)
        results[name] = _result(rng, truth, miss, change, harder)
    return truth, results


@functools.cache
def pool(population: str, equal: bool) -> dict[str, SequenceSums]:
    """Return the counts of each tracker on the sequences of a population.

    There are two `equal` trackers, or five different ones.
    """
    trackers = {name: TRACKERS["A"] for name in "AB"} if equal else TRACKERS
    rng = np.random.default_rng([20261125, list(POPULATIONS).index(population), equal])
    truths: dict[str, Rows] = {}
    results: dict[str, dict[str, Rows]] = {name: {} for name in trackers}
    for i in range(POOL):
        truth, of_trackers = _sequence(rng, POPULATIONS[population], trackers)
        truths[f"{i:04d}"] = truth
        for name, rows in of_trackers.items():
            results[name][f"{i:04d}"] = rows
    counted = {}
    for name, result in results.items():
        sides = sources_of(truths, "truth"), sources_of(result, "result")
        counted[name] = OPTIONS.evaluate(*sides, {}).sums
    return counted


@functools.cache
def true_values(population: str, measure: str) -> dict[str, float]:
    """Return a measure of each tracker on all sequences of a population."""
    trackers = pool(population, False).items()
    return {name: float(tracker.values[measure]) for name, tracker in trackers}


def _of(tracker: SequenceSums, places: np.ndarray) -> SequenceSums:
    """Return a tracker on some sequences."""
    counts = {name: values[places] for name, values in tracker.counts.items()}
    sums = {name: values[places] for name, values in tracker.sums.items()}
    return SequenceSums(counts, sums, np.arange(len(places)), len(places))


def _drawn(cell: Cell, rng: np.random.Generator, trackers: Iterable[str]) -> list[SequenceSums]:
    places = rng.integers(0, POOL, cell.people)
    return [_of(pool(cell.population, False)[name], places) for name in trackers]


def _ranked(measure: str, trackers: Sequence[SequenceSums]) -> ComparedMeasure:
    return ranked_measure(measure, trackers, CONFIDENCE)


def intervals(cell: Cell, rng: np.random.Generator) -> Outcomes:
    """Return whether intervals hold the measures of the population."""
    (tracker,) = _drawn(cell, rng, "A")
    outcomes = {}
    for name in NAMES:
        limits = tracker.limits(name, CONFIDENCE)
        truth = true_values(cell.population, name)["A"]
        outcomes[MEASURES[name].label] = Interval(*limits, truth)
    return outcomes


def two_trackers(cell: Cell, rng: np.random.Generator) -> Outcomes:
    """Return whether the limits of the difference of two trackers hold it."""
    trackers = _drawn(cell, rng, "AD")
    outcomes = {}
    for name in NAMES:
        limits = _ranked(name, trackers).differences
        truth = true_values(cell.population, name)
        outcomes[MEASURES[name].label] = Interval(
            float(limits.low[0, 1]), float(limits.high[0, 1]), truth["A"] - truth["D"]
        )
    return outcomes


def five_trackers(cell: Cell, rng: np.random.Generator) -> Outcomes:
    """Return whether all limits of differences and all sets of ranks hold, of five trackers."""
    trackers = _drawn(cell, rng, TRACKERS)
    outcomes = {}
    for name in NAMES:
        limits = _ranked(name, trackers).differences
        truth = np.array([*true_values(cell.population, name).values()])
        differences = truth[:, None] - truth
        missed = (differences < limits.low) | (differences > limits.high)  # NaN: not told apart
        rank = 1 + (truth[None, :] > truth[:, None]).sum(axis=1)
        _, first, last = limits.ranks(larger_is_better=True)
        label = MEASURES[name].label
        outcomes[f"{label}, all differences"] = Verdict(not missed.any())
        outcomes[f"{label}, all ranks"] = Verdict(bool(((first <= rank) & (rank <= last)).all()))
    return outcomes


def equal_trackers(cell: Cell, rng: np.random.Generator) -> Outcomes:
    """Return whether no winner is declared of two equal trackers.

    In half of the sequences each has the result of the other one, so that they are equal exactly.
    """
    places = rng.integers(0, POOL, cell.people)
    one, other = (_of(tracker, places) for tracker in pool(cell.population, True).values())
    swapped = rng.random(cell.people) < 0.5
    for of_one, of_other in ((one.counts, other.counts), (one.sums, other.sums)):
        for name in of_one:
            mine, theirs = of_one[name][swapped], of_other[name][swapped]
            of_one[name][swapped], of_other[name][swapped] = theirs, mine
    outcomes = {}
    for name in NAMES:
        larger = _ranked(name, [one, other]).differences.larger
        outcomes[MEASURES[name].label] = Verdict(not larger.any())
    return outcomes


_CELLS = cells(POPULATIONS, (12, 20, 50), (1,), ("sequences",))
_COUNTED = (
    "people: the number of sequences, which are alike, or differ in length and difficulty, or one "
    "in ten of which is a crowd as well"
)

CLAIMS = (
    Claim(
        "tracking, intervals over sequences",
        f"95 % intervals hold the measures of all sequences of their kind in 90 % ({_COUNTED})",
        "be.tracking(interval='sequence-jackknife')",
        intervals,
        _CELLS,
        {"alike": 0.9, "differ": 0.9},
    ),
    Claim(
        "tracking, the difference of two trackers",
        f"limits at 95 % hold the difference on all sequences of their kind in 90 % ({_COUNTED})",
        "be.tracking",
        two_trackers,
        _CELLS,
        {"alike": 0.9, "differ": 0.9},
    ),
    Claim(
        "tracking, five trackers",
        f"all ten limits at 95 % hold together, and all sets of ranks, in 90 % ({_COUNTED})",
        "be.tracking",
        five_trackers,
        _CELLS,
        {"alike": 0.9, "differ": 0.9},
        from_people=50,
    ),
    Claim(
        "tracking, two equal trackers",
        f"of two equal trackers a winner is declared in at most 7 % ({_COUNTED})",
        "be.tracking",
        equal_trackers,
        _CELLS,
        {"alike": 0.93, "differ": 0.93, "crowds": 0.93},
    ),
)
