"""Trackers on sequences: intervals of measures, differences, ranks, and winners among equals.

A population is a pool of sequences with the results of five trackers on each; a data set has
sequences drawn from it with replacement, so that the true values are those of the whole pool. A
sequence has a difficulty that all trackers share, and another one that is each tracker's own.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

import bioeval as be
from simulations.claims import Cell, Claim, Interval, Outcomes, Verdict, cells

#: Sequences of a pool.
POOL = 1000
MEASURES = ("hota", "mota", "idf1")
LABELS = ("HOTA", "MOTA", "IDF1")

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
#: The ground truth and the result of each tracker, of one sequence.
Sequence = tuple[Rows, dict[str, Rows]]


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


def _sequence(rng: np.random.Generator, kind: Sequences, trackers: Mapping) -> Sequence:
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
def pool(population: str, equal: bool) -> list[Sequence]:
    """Return the sequences of a population; two `equal` trackers, or five different ones."""
    trackers = {name: TRACKERS["A"] for name in "AB"} if equal else TRACKERS
    rng = np.random.default_rng([20261125, list(POPULATIONS).index(population), equal])
    return [_sequence(rng, POPULATIONS[population], trackers) for _ in range(POOL)]


@functools.cache
def true_values(population: str, tracker: str) -> dict[str, float]:
    """Return the measures of a tracker on all sequences of a population."""
    truths, results = _named(pool(population, False), [tracker])
    ds = be.tracking(truths, results[tracker])
    return {name: float(ds[name]) for name in MEASURES}


def _named(
    sequences: list[Sequence], trackers: list[str]
) -> tuple[dict[str, Rows], dict[str, dict[str, Rows]]]:
    """Return the ground truth and the results of trackers by the names of sequences."""
    truths = {str(i): truth for i, (truth, _) in enumerate(sequences)}
    results = {name: {str(i): of[name] for i, (_, of) in enumerate(sequences)} for name in trackers}
    return truths, results


def _drawn(cell: Cell, rng: np.random.Generator, trackers: list[str]) -> tuple[dict, dict]:
    sequences = pool(cell.population, False)
    places = rng.integers(0, POOL, cell.people)
    return _named([sequences[i] for i in places], trackers)


def intervals(cell: Cell, rng: np.random.Generator) -> Outcomes:
    """Return whether intervals hold the measures of the population."""
    truths, results = _drawn(cell, rng, ["A"])
    ds = be.tracking(truths, results["A"], interval="sequence-jackknife")
    outcomes = {}
    for name, label in zip(MEASURES, LABELS, strict=True):
        low, high = float(ds[f"{name}_low"]), float(ds[f"{name}_high"])
        outcomes[label] = Interval(low, high, true_values(cell.population, "A")[name])
    return outcomes


def two_trackers(cell: Cell, rng: np.random.Generator) -> Outcomes:
    """Return whether the limits of the difference of two trackers hold it."""
    truths, results = _drawn(cell, rng, ["A", "D"])
    ds = be.compare_trackers(truths, results, measures=MEASURES)
    outcomes = {}
    for name, label in zip(MEASURES, LABELS, strict=True):
        true = true_values(cell.population, "A")[name] - true_values(cell.population, "D")[name]
        at = ds.sel(system="A", other_system="D", measure=label)
        outcomes[label] = Interval(float(at.difference_low), float(at.difference_high), true)
    return outcomes


def five_trackers(cell: Cell, rng: np.random.Generator) -> Outcomes:
    """Return whether all limits of differences and all sets of ranks hold, of five trackers."""
    truths, results = _drawn(cell, rng, [*TRACKERS])
    ds = be.compare_trackers(truths, results, measures=MEASURES)
    outcomes = {}
    for name, label in zip(MEASURES, LABELS, strict=True):
        true = np.array([true_values(cell.population, x)[name] for x in TRACKERS])
        at = ds.sel(measure=label)
        low = at.difference_low.transpose("system", "other_system").values
        high = at.difference_high.transpose("system", "other_system").values
        differences = true[:, None] - true
        missed = (differences < low) | (differences > high)  # NaN: not told apart
        rank = 1 + (true[None, :] > true[:, None]).sum(axis=1)
        kept = (at.rank_low.values <= rank) & (rank <= at.rank_high.values)
        outcomes[f"{label}, all differences"] = Verdict(not missed.any())
        outcomes[f"{label}, all ranks"] = Verdict(bool(kept.all()))
    return outcomes


def equal_trackers(cell: Cell, rng: np.random.Generator) -> Outcomes:
    """Return whether no winner is declared of two equal trackers; on a sequence they change roles.

    In half of the sequences each has the result of the other one, so that they are equal exactly.
    """
    sequences = pool(cell.population, True)
    drawn = []
    for i in rng.integers(0, POOL, cell.people):
        truth, results = sequences[i]
        if rng.random() < 0.5:
            results = {"A": results["B"], "B": results["A"]}
        drawn.append((truth, results))
    truths, by_tracker = _named(drawn, ["A", "B"])
    ds = be.compare_trackers(truths, by_tracker, measures=MEASURES)
    separated = ds.separated.sel(system="A", other_system="B")
    return {x: Verdict(not separated.sel(measure=x).item()) for x in LABELS}


_CELLS = cells(POPULATIONS, (12, 20, 50), (1,), ("sequences",))
_COUNTED = "people: the number of sequences"

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
        "be.compare_trackers",
        two_trackers,
        _CELLS,
        {"alike": 0.9, "differ": 0.9},
    ),
    Claim(
        "tracking, five trackers",
        f"all ten limits at 95 % hold together, and all sets of ranks, in 90 % ({_COUNTED})",
        "be.compare_trackers",
        five_trackers,
        _CELLS,
        {"alike": 0.9, "differ": 0.9},
    ),
    Claim(
        "tracking, two equal trackers",
        f"of two equal trackers a winner is declared in at most 7 % ({_COUNTED})",
        "be.compare_trackers",
        equal_trackers,
        _CELLS,
        {"alike": 0.93, "differ": 0.93, "crowds": 0.93},
    ),
)
