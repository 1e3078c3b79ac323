"""Sequences with the results of trackers, made at random, and folders as benchmarks have them."""

from pathlib import Path

import numpy as np

#: Boxes, float (n, 6): frame, identity, left, top, width and height.
Rows = np.ndarray


def simulate_truth(rng: np.random.Generator, frames: int, people: int) -> Rows:
    """Return the boxes of people who walk side by side."""
    rows = []
    for person in range(1, people + 1):
        step = rng.normal(0, 2, 2)
        for frame in range(1, frames + 1):
            left, top = (100 * person, 50) + frame * step
            rows.append((frame, person, left, top, 40, 90))
    return np.array(rows).round(2)


def simulate_tracker(rng: np.random.Generator, truth: Rows, miss: float, change: float) -> Rows:
    """Return the boxes of a tracker that misses people, changes identities and adds false boxes."""
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


def simulate_sequences(
    number: int, trackers: dict[str, tuple[float, float]], seed: int = 1, frames: int = 12
) -> tuple[dict[str, Rows], dict[str, dict[str, Rows]]]:
    """Return the ground truth by sequence, and the results by tracker and sequence.

    `trackers` maps a name to the probabilities of a missed box and of a changed identity.
    """
    rng = np.random.default_rng(seed)
    truths, results = {}, {name: {} for name in trackers}
    for i in range(number):
        name = f"seq-{i + 1:02d}"
        truths[name] = simulate_truth(
            rng, frames + int(rng.integers(0, 6)), int(rng.integers(2, 5))
        )
        harder = np.exp(rng.normal(0, 0.5))
        for tracker, (miss, change) in trackers.items():
            results[tracker][name] = simulate_tracker(
                rng, truths[name], miss * harder, change * harder
            )
    return truths, results


def write_benchmark(
    folder: Path,
    truths: dict[str, Rows],
    results: dict[str, dict[str, Rows]],
    *,
    below: str = "",
    detectors: tuple[str, ...] = ("",),
) -> tuple[Path, dict[str, Path]]:
    """Write folders as DanceTrack and MOT17 have them; return the folders of truth and trackers.

    The results of a tracker are in the folder `below` its own. Every sequence is written once for
    each suffix in `detectors`, such as ``-DPM``.
    """
    for name, rows in truths.items():
        for detector in detectors:
            sequence = folder / "gt" / f"{name}{detector}"
            marks = np.ones((len(rows), 3))  # considered, of a person, fully visible
            write_rows(sequence / "gt" / "gt.txt", np.hstack([rows, marks]))
            length = int(rows[:, 0].max())
            ini = f"[Sequence]\nname={name}\nseqLength={length}\n"
            (sequence / "seqinfo.ini").write_text(ini, encoding="utf-8")
    folders = {}
    for tracker, by_name in results.items():
        folders[tracker] = folder / "trackers" / tracker
        for name, rows in by_name.items():
            for detector in detectors:
                unused_columns = np.full((len(rows), 4), -1)
                path = folders[tracker] / below / f"{name}{detector}.txt"
                write_rows(path, np.hstack([rows, unused_columns]))
    return folder / "gt", folders


def write_rows(path: Path, rows: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(path, rows, fmt="%.2f", delimiter=",")
