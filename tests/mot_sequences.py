"""Sequences with the results of trackers, made at random, and folders as benchmarks have them."""

from pathlib import Path

import numpy as np

Rows = np.ndarray


def walk(rng: np.random.Generator, frames: int, people: int) -> Rows:
    """The boxes of people who walk side by side."""
    rows = []
    for person in range(1, people + 1):
        step = rng.normal(0, 2, 2)
        for frame in range(1, frames + 1):
            left, top = (100 * person, 50) + frame * step
            rows.append((frame, person, left, top, 40, 90))
    return np.array(rows).round(2)


def follow(rng: np.random.Generator, truth: Rows, miss: float, change: float) -> Rows:
    """The boxes of a tracker that misses people, changes identities, and adds false boxes."""
    rows, identity, last = [], {}, 0
    for frame, person, left, top, width, height in sorted(map(tuple, truth)):
        if person not in identity or rng.random() < change:
            last += 1
            identity[person] = last
        if rng.random() >= miss:
            shift_left, shift_top = rng.normal(0, 4, 2)
            rows.append(
                (frame, identity[person], left + shift_left, top + shift_top, width, height)
            )
        if rng.random() < 0.05:
            rows.append((frame, 1000 + len(rows), 300 * rng.random(), 400, 40, 90))
    return np.array(rows).round(2)


def sequences(
    number: int, trackers: dict[str, tuple[float, float]], seed: int = 1, frames: int = 12
) -> tuple[dict[str, Rows], dict[str, dict[str, Rows]]]:
    """The ground truth of some sequences, and the results of trackers, by their names.

    A tracker has its probabilities of a missed box and of another identity.
    """
    rng = np.random.default_rng(seed)
    truths, results = {}, {name: {} for name in trackers}
    for i in range(number):
        name = f"seq-{i + 1:02d}"
        truths[name] = walk(rng, frames + int(rng.integers(0, 6)), int(rng.integers(2, 5)))
        harder = np.exp(rng.normal(0, 0.5))
        for tracker, (miss, change) in trackers.items():
            results[tracker][name] = follow(rng, truths[name], miss * harder, change * harder)
    return truths, results


def write_benchmark(
    folder: Path,
    truths: dict[str, Rows],
    results: dict[str, dict[str, Rows]],
    *,
    below: str = "",
    detectors: tuple[str, ...] = ("",),
) -> tuple[Path, dict[str, Path]]:
    """Write folders as DanceTrack and MOT17 have them, with the results in a folder `below` each.

    Of each of the `detectors`, such as ``-DPM``, there is every sequence.
    """
    for name, rows in truths.items():
        for detector in detectors:
            sequence = folder / "gt" / f"{name}{detector}"
            lines(sequence / "gt" / "gt.txt", np.column_stack([rows, np.ones((len(rows), 3))]))
            length = int(rows[:, 0].max())
            ini = f"[Sequence]\nname={name}\nseqLength={length}\n"
            (sequence / "seqinfo.ini").write_text(ini, encoding="utf-8")
    places = {}
    for tracker, by_name in results.items():
        places[tracker] = folder / "trackers" / tracker
        for name, rows in by_name.items():
            for detector in detectors:
                unused_columns = np.full((len(rows), 4), -1)
                lines(
                    places[tracker] / below / f"{name}{detector}.txt",
                    np.hstack([rows, unused_columns]),
                )
    return folder / "gt", places


def lines(path: Path, rows: Rows) -> Path:
    """Write rows of numbers."""
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(path, rows, fmt="%.2f", delimiter=",")
    return path
