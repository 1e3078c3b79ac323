"""How often the limits of ``be.extrapolate_far`` hold the FAR of the population."""

from __future__ import annotations

import numpy as np
from scipy.spatial import distance

import bioeval as be

#: Metric and dimensions of the embeddings, and whether the zero of the metric is used.
SPACES = (
    ("l2", 4, True), ("l2", 16, True), ("l2", 64, True), ("l1", 16, True),
    ("cosine", 16, True), ("cosine", 64, True), ("l2", 16, False),
)  # fmt: skip
PEOPLE = (30, 60, 120)
TEMPLATES, WITHIN = 4, 0.7

#: FAR below 1 / m, m the number of independent pairs of people.
BELOW = (10, 100)

_NAMES = {"l1": "cityblock", "l2": "euclidean", "cosine": "cosine"}
_MILLIONS = 4


def drawn(rng: np.random.Generator, people: int, each: int, dimensions: int) -> np.ndarray:
    """Draw embeddings of people, some templates of each, one below the other."""
    centre = rng.normal(size=(people, 1, dimensions))
    points = centre + WITHIN * rng.normal(size=(people, each, dimensions))
    return points.reshape(-1, dimensions)


def population(rng: np.random.Generator, metric: str, dimensions: int) -> np.ndarray:
    """Return impostor distances of disjoint pairs of people, increasing."""
    found = []
    for _ in range(_MILLIONS * 10):
        x, y = (drawn(rng, 100_000, 1, dimensions) for _ in range(2))
        if metric == "cosine":
            x, y = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, y))
        order = 1 if metric == "l1" else 2
        d = np.linalg.norm(x - y, ord=order, axis=1)
        found.append(d**2 / 2 if metric == "cosine" else d)
    return np.sort(np.concatenate(found))


def covered(
    rng: np.random.Generator,
    space: tuple[str, int, bool],
    people: int,
    every: np.ndarray,
    runs: int,
) -> str:
    """Return a line: per depth the runs that hold the truth, those above it, refusals, width."""
    metric, dimensions, zero = space
    truth = 1 / (people // 2 * np.array(BELOW[::-1]))
    at, labels = np.quantile(every, truth), np.repeat(np.arange(people), TEMPLATES)
    limits = np.empty((runs, 2, len(BELOW)))
    for run in range(runs):
        x = drawn(rng, people, TEMPLATES, dimensions)
        scores = be.Scores(distance.squareform(distance.pdist(x, _NAMES[metric])), labels)
        found = be.extrapolate_far(scores, at, zero=zero, replicates=500, random_state=run)
        limits[run] = (found.far_low.fillna(0) if not zero else found.far_low), found.far_high
    cells = []
    for low, high, rate in zip(*limits.transpose(1, 2, 0)[:, ::-1], truth[::-1], strict=True):
        kept = np.isfinite(high)
        low, high = low[kept], high[kept]
        number = max(len(high), 1)
        cells += [
            f"{100 * ((low <= rate) & (rate <= high)).sum() / number:.1f}",
            f"{100 * (high < rate).sum() / number:.1f}",
            f"{100 * (low > rate).sum() / number:.1f}",
            f"{100 * (1 - kept.mean()):.0f}",
            f"{np.median(high / (low if zero else rate)) if len(high) else np.nan:.1f}",
        ]
    name = f"{metric}, {dimensions} dimensions" + ("" if zero else ", upper limit alone")
    return f"| {name} | {people} | {' | '.join(cells)} |"


def print_table(seed: int, runs: int) -> None:
    """Print how often the truth is held, ten and a hundred times below ``1 / m``."""
    heads = ["held, %", "too low, %", "too high, %", "refused, %", "width"]
    named = [f"{head} ({below} times)" for below in BELOW for head in heads]
    print(f"\n| distances | people | {' | '.join(named)} |\n|---|---|{'---|' * len(named)}")
    for line, space in enumerate(SPACES):
        every = population(np.random.default_rng([seed, line]), *space[:2])
        for people in PEOPLE:
            rng = np.random.default_rng([seed, line, people])
            print(covered(rng, space, people, every, runs), flush=True)
