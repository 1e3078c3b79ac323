"""How often limits along curves hold the truth, with few errors: before and after they are joined.

Before: the bootstrap at a threshold alone, and a bound by people where nobody errs. After: the
limits of `be.verification`, which borrow from thresholds at which five people err.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

import bioeval as be
from bioeval import stats

DIMENSIONS, WITHIN, REPLICATES = 16, 0.7, 300
PEOPLE, TEMPLATES = (20, 50, 100, 200), (2, 4, 10)
MOST = 800  # templates
FRR, FAR = (0.1, 0.03, 0.01, 0.003), (0.01, 0.001, 0.0001)

# Share of people whose templates vary more, and of people half as far from the centre; standard
# deviation of the logarithm of a person's spread.
POPULATIONS = {"alike": (0.0, 0.0), "differ": (0.0, 0.3), "goats and wolves": (0.1, 0.0)}
GOAT, WOLF = 1.6, 0.5


def templates(rng: np.random.Generator, kind: str, people: int, each: int) -> np.ndarray:
    """Draw embeddings, (people, templates, dimensions)."""
    share, unequal = POPULATIONS[kind]
    centre = rng.normal(size=(people, 1, DIMENSIONS))
    spread = WITHIN * np.exp(unequal * rng.normal(size=(people, 1, 1)))
    spread *= np.where(rng.random((people, 1, 1)) < share, GOAT, 1.0)
    centre *= np.where(rng.random((people, 1, 1)) < share, WOLF, 1.0)
    return centre + spread * rng.normal(size=(people, each, DIMENSIONS))


def thresholds(rng: np.random.Generator, kind: str) -> np.ndarray:
    """Return the thresholds of the true FRR, then of the true FAR."""
    genuine, impostor = [], []
    for _ in range(16):
        drawn = templates(rng, kind, 250_000, 2)
        genuine.append(np.linalg.norm(drawn[:, 0] - drawn[:, 1], axis=1))
        impostor.append(np.linalg.norm(drawn[:-1, 0] - drawn[1:, 1], axis=1)[::2])
    return np.concatenate(
        [
            np.quantile(np.concatenate(genuine), 1 - np.array(FRR)),
            np.quantile(np.concatenate(impostor), FAR),
        ]
    )


def both_limits(
    drawn: np.ndarray, at: np.ndarray, seed: int
) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield the limits before and after, of FRR at the first and of FAR at the other thresholds."""
    people, each, _ = drawn.shape
    flat = drawn.reshape(-1, DIMENSIONS)
    squares = (flat**2).sum(axis=1)
    away = np.sqrt(np.maximum(squares[:, None] + squares - 2 * flat @ flat.T, 0.0))
    labels = np.repeat(np.arange(people), each)
    np.fill_diagonal(away, 0.0)
    options = {"replicates": REPLICATES, "random_state": seed}
    after = be.verification(
        be.Scores(away, labels), thresholds=np.sort(at), far_targets=[], auc=False,
        interval="subject-bootstrap", **options,
    )  # fmt: skip
    one = np.arange(people)
    for k, t in enumerate(at):
        accepted = (away <= t).reshape(people, each, people, each).sum(axis=(1, 3))
        name = "frr" if k < len(FRR) else "far"
        if name == "frr":
            attempts = np.full(people, each * (each - 1))
            errors = attempts - (accepted[one, one] - each)
        else:
            attempts = np.full((people, people), each**2)
            np.fill_diagonal(attempts, 0)
            np.fill_diagonal(accepted, 0)
            errors = accepted
        place = int(np.searchsorted(np.sort(at), t))
        ends = (float(after[f"{name}_{end}"][place]) for end in ("low", "high"))
        yield tuple(stats.subject_bootstrap(errors, attempts, **options)), tuple(ends)


@dataclass
class Held:
    """How often the limits before and after hold each true rate, and their ends without errors."""

    runs: int = 0
    counts: np.ndarray = field(default_factory=lambda: np.zeros((2, len(FRR) + len(FAR))))
    without: dict[str, list[tuple[float, float]]] = field(
        default_factory=lambda: {"FRR": [], "FAR": []}
    )

    def add(self, drawn: np.ndarray, at: np.ndarray, seed: int) -> None:
        """Count one data set."""
        self.runs += 1
        for k, (truth, found) in enumerate(
            zip((*FRR, *FAR), both_limits(drawn, at, seed), strict=True)
        ):
            for way, (low, high) in enumerate(found):
                self.counts[way, k] += low <= truth <= high
            people, name = (len(drawn), "FRR") if k < len(FRR) else (len(drawn) // 2, "FAR")
            if found[0] == (0.0, float(stats.zero_error_bound(people))):
                self.without[name].append((found[0][1], found[1][1]))

    def include(self, other: Held) -> None:
        """Include the counts of another population."""
        self.runs += other.runs
        self.counts += other.counts
        for name, ends in other.without.items():
            self.without[name] += ends

    def cells(self) -> list[str]:
        """Return the cells of a line."""
        found = [f"{100 * x:.0f}, {100 * y:.0f}" for x, y in (self.counts / self.runs).T]
        for ends in self.without.values():
            middle = np.median(ends, axis=0) if ends else []
            found.append(", ".join(f"{100 * x:.2g} %" for x in middle) or "-")
        return found


def print_table(seed: int, runs: int) -> None:
    """Print how often both contain the true rates, and the upper limits without an error."""
    heads = [f"FRR {100 * x:g} %" for x in FRR] + [f"FAR {100 * x:g} %" for x in FAR]
    print(f"\n| population | people | templates | {' | '.join(heads)} | FRR 0 | FAR 0 |")
    print(f"|---|---|---|{'---|' * (len(heads) + 2)}")
    total: dict[tuple[int, int], Held] = {}
    for kind in POPULATIONS:
        at = thresholds(np.random.default_rng(seed), kind)
        for people, each in itertools.product(PEOPLE, TEMPLATES):
            if people * each > MOST:
                continue
            rng, held = np.random.default_rng([seed, people, each]), Held()
            for run in range(runs):
                held.add(templates(rng, kind, people, each), at, run)
            total.setdefault((people, each), Held()).include(held)
            print(f"| {kind} | {people} | {each} | {' | '.join(held.cells())} |", flush=True)
    for (people, each), held in total.items():
        print(f"| all | {people} | {each} | {' | '.join(held.cells())} |", flush=True)
