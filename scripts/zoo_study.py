"""How often the tests of the zoo say that subjects differ: the tables of docs/who-fails.md.

    scripts/zoo [--runs 1000] [--powered 100]

Without differences between subjects, a test at 5 % should reject in 5 % of the runs; with some, the
more the better. Scores share templates, as they do in real data: each template has an offset of
its own, which all its scores have in common. Takes some minutes; 0 leaves a table out.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np

import bioeval as be

LEVEL = 0.05
TESTS = ("goat_p", "wolf_p", "lamb_p", "kruskal_p")

# Standard deviation of the offset of a template, where that of a score is 1.
TEMPLATE_SD = 0.5


def with_offsets(scores: be.Scores, seed: int) -> be.Scores:
    """Add an offset of each template to all its scores."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(scale=TEMPLATE_SD, size=scores.shape[0])
    square = scores.layout == "all-against-all"
    columns = rows if square else rng.normal(scale=TEMPLATE_SD, size=scores.shape[1])
    return be.Scores(
        scores.values + rows[:, None] + columns, scores.probe_labels,
        None if square else scores.gallery_labels,
    )  # fmt: skip


def drawn(seed: int, templates: object, **more: object) -> be.Scores:
    """Draw people whose scores have offsets of templates, and of goats, wolves and lambs."""
    return with_offsets(
        be.simulate(50, templates, model="gaussian-scores", random_state=seed, **more), seed
    )


def against_gallery(seed: int, templates: object, **more: object) -> be.Scores:
    """Draw probes against a gallery."""
    return drawn(seed, templates, layout="probe-against-gallery", probes=6, **more)


def distances(seed: int, templates: object, **more: object) -> be.Scores:
    """Draw embeddings that all scatter around one centre, and compare them."""
    return be.simulate(50, templates, between=0.0, random_state=seed, **more)


NULLS: dict[str, Callable[[int], be.Scores]] = {
    "equal templates (6)": lambda seed: drawn(seed, 6),
    "unequal templates (2 to 12)": lambda seed: drawn(seed, (2, 12)),
    "6 probes against 6 templates": lambda seed: against_gallery(seed, 6),
    "6 probes against 2 to 12 templates": lambda seed: against_gallery(seed, (2, 12)),
    "distances, 8 templates": lambda seed: distances(seed, 8),
    "distances, 4 to 12 templates": lambda seed: distances(seed, (4, 12)),
    "distances, 4 sessions of 2": lambda seed: distances(seed, 8, sessions=4, session_sd=0.5),
}

STRENGTHS = (0.1, 0.2, 0.4)


def rejected(make: Callable[[int], be.Scores], runs: int, first: int) -> np.ndarray:
    """Return how often each test rejects."""
    found = np.zeros(len(TESTS))
    for run in range(runs):
        ds = be.zoo(make(first + run), threshold=0.0, permutations=399, random_state=10**9 + run)
        found += [float(ds[name]) <= LEVEL for name in TESTS]
        print(f"\r{run + 1} of {runs} ", end="", file=sys.stderr)
    print("\r", end="", file=sys.stderr)
    return found / runs


def show(name: str, shares: np.ndarray) -> None:
    """Print one row of a table, in per cent."""
    print(f"  {name:38}" + "".join(f"{100 * x:>11.1f}" for x in shares), flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=1000, help="without differences")
    parser.add_argument("--powered", type=int, default=100, help="with differences")
    given = parser.parse_args()
    head = " " * 40 + "".join(f"{name:>11}" for name in TESTS)
    if given.runs:
        print(
            f"Rejected at 5 %, in per cent of {given.runs} runs: subjects do not differ\n\n{head}"
        )
        for name, make in NULLS.items():
            show(name, rejected(make, given.runs, 0))
    if given.powered:
        print(f"\nRejected at 5 %, in per cent of {given.powered} runs: subjects differ\n\n{head}")
        for strength in STRENGTHS:
            for animal in ("goat", "wolf", "lamb"):
                effect = {f"{animal}_sd": strength}
                make = lambda seed, effect=effect: drawn(seed, 6, **effect)  # noqa: E731
                show(f"{animal}_sd = {strength:g}", rejected(make, given.powered, 10**6))


if __name__ == "__main__":
    main()
