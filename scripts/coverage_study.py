"""How often intervals hold the truth: a simulation, printed as the table of docs/uncertainty.md.

    python scripts/coverage_study.py [--runs 2000] [--chosen 1000] [--checks 200]

Each run draws other people from one population whose true rates are known from many millions of
independent pairs of templates, compares all templates of all people with each other, and asks every
method for a 95 % interval. The tables of docs/checks.md are last: what checks of data find of
planted errors of labels, and in sound data. Takes some hours; 0 leaves a table out, and --only
TABLE leaves out all others.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

import coverage_checks
import numpy as np

import bioeval as be
from bioeval import stats

SEED = 20240229
DIMENSIONS = 16
WITHIN = 0.7  # spread of a person's templates
TEMPLATES = 4
REPLICATES = 1000
METHODS = ("bootstrap", "BCa", "logit", "analytic", "Wilson", "Clopper-Pearson")


# How much people differ in that, subjects, and the true FRR and FAR at the threshold of each.
SETTINGS = (
    (0.1, 50, 0.10, 0.01),
    (0.1, 100, 0.06, 0.001),
    (0.1, 200, 0.03, 0.001),
    (0.3, 50, 0.10, 0.01),
)


def people(rng: np.random.Generator, subjects: int, templates: int, unequal: float) -> np.ndarray:
    """Draw embeddings, (subjects, templates, dimensions): some people vary more than others."""
    centre = rng.normal(size=(subjects, 1, DIMENSIONS))
    spread = WITHIN * np.exp(unequal * rng.normal(size=(subjects, 1, 1)))
    return centre + spread * rng.normal(size=(subjects, templates, DIMENSIONS))


def population(
    rng: np.random.Generator, pairs: int, unequal: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return genuine and impostor distances of disjoint pairs of people."""
    genuine, impostor = [], []
    for _ in range(max(1, pairs // 250_000)):
        drawn = people(rng, 250_000, 2, unequal)
        genuine.append(np.linalg.norm(drawn[:, 0] - drawn[:, 1], axis=1))
        impostor.append(np.linalg.norm(drawn[:-1, 0] - drawn[1:, 1], axis=1)[::2])
    return np.sort(np.concatenate(genuine)), np.sort(np.concatenate(impostor))


def distances(drawn: np.ndarray) -> np.ndarray:
    """Return the distances of all templates, (n, n)."""
    flat = drawn.reshape(-1, DIMENSIONS)
    squares = (flat**2).sum(axis=1)
    return np.sqrt(np.maximum(squares[:, None] + squares - 2 * flat @ flat.T, 0.0))


def intervals(errors: np.ndarray, attempts: np.ndarray, seed: int) -> Iterator[tuple[float, float]]:
    """Return the interval of each method."""
    for variant in ("percentile", "bca", "logit"):
        yield tuple(
            stats.subject_bootstrap(
                errors, attempts, replicates=REPLICATES, variant=variant, random_state=seed
            )
        )
    yield tuple(stats.mansfield_wayman(errors, attempts))
    yield stats.wilson(errors.sum(), attempts.sum())
    yield stats.clopper_pearson(errors.sum(), attempts.sum())


def at_a_threshold(
    rng: np.random.Generator,
    unequal: float,
    subjects: int,
    at: float,
    genuine: bool,
    truth: float,
    runs: int,
) -> tuple[np.ndarray, float]:
    """Return how often each method holds the rate at a threshold, and the pairs in error a run."""
    shape = (subjects, TEMPLATES) * 2
    one = np.arange(subjects)
    attempts = np.full(subjects, TEMPLATES * (TEMPLATES - 1))
    if not genuine:
        attempts = np.full((subjects, subjects), TEMPLATES**2)
        np.fill_diagonal(attempts, 0)
    held, errors_seen = np.zeros(len(METHODS)), 0
    for run in range(runs):
        accepted = (distances(people(rng, subjects, TEMPLATES, unequal)) <= at).reshape(shape)
        counted = accepted.sum(axis=(1, 3))
        # The diagonal, each template with itself, is accepted; genuine errors are rejections.
        errors = attempts - (counted[one, one] - TEMPLATES) if genuine else counted
        if not genuine:
            np.fill_diagonal(errors, 0)
        errors_seen += int(errors.sum())
        ends = np.array(list(intervals(errors, attempts, run)), dtype=float)
        held += (ends[:, 0] <= truth) & (truth <= ends[:, 1])
        tell(f"{subjects} subjects, {'FRR' if genuine else 'FAR'}", run + 1, runs)
    return held / runs, errors_seen / runs / 2  # each pair was compared both ways


def chosen_on_the_data(
    rng: np.random.Generator, unequal: float, subjects: int, truth: dict[str, float], runs: int
) -> dict[str, float]:
    """Return how often the bootstrap holds points whose threshold is chosen on the same data."""
    held = dict.fromkeys(truth, 0)
    labels = np.repeat(np.arange(subjects), TEMPLATES)
    for run in range(runs):
        scores = be.Scores(distances(people(rng, subjects, TEMPLATES, unequal)), labels)
        ds = be.verification(
            scores,
            far_targets=[0.01],
            interval=be.stats.IntervalMethod(
                "subject-bootstrap", replicates=REPLICATES, random_state=run
            ),
        )
        for name, value in truth.items():
            low, high = (ds[f"{name}_{end}"].values.item() for end in ("low", "high"))
            held[name] += low <= value <= high
        tell(f"{subjects} subjects, chosen points", run + 1, runs)
    return {name: count / runs for name, count in held.items()}


def true_points(genuine: np.ndarray, impostor: np.ndarray) -> dict[str, float]:
    """Return EER, FRR at FAR 1 % and AUC of the population."""
    threshold = impostor[:: max(1, len(impostor) // 100_000)]
    far = np.searchsorted(impostor, threshold) / len(impostor)
    frr = 1 - np.searchsorted(genuine, threshold) / len(genuine)
    at = int(np.argmax(far >= frr))
    limit = np.quantile(impostor, 0.01)
    return {
        "eer": float((far[at] + frr[at]) / 2),
        "frr_at_far": float((genuine > limit).mean()),
        "auc": float(1 - np.searchsorted(impostor, genuine).mean() / len(impostor)),
    }


def tell(what: str, done: int, of: int) -> None:
    """Say on a terminal how far it is; in a file, at the end only."""
    if sys.stderr.isatty() and (done % 20 == 0 or done == of):
        print(f"\r{what}: {done} of {of}   ", end="\n" if done == of else "", file=sys.stderr)
    elif done == of:
        print(f"{what}: {of} runs, {time.process_time():.0f} s so far", file=sys.stderr)


def _print_rates(rng: np.random.Generator, runs: int) -> None:
    print(f"| people differ | subjects | rate | errors | {' | '.join(METHODS)} |")
    print(f"|---|---|---|---|{'---|' * len(METHODS)}")
    for unequal, subjects, frr, far in SETTINGS:
        genuine, impostor = population(rng, 4_000_000, unequal)
        for is_genuine, truth in ((True, frr), (False, far)):
            scores = genuine if is_genuine else impostor
            at = float(np.quantile(scores, 1 - truth if is_genuine else truth))
            held, errors = at_a_threshold(rng, unequal, subjects, at, is_genuine, truth, runs)
            rate = f"{'FRR' if is_genuine else 'FAR'} {100 * truth:g} %"
            cells = " | ".join(f"{100 * h:.1f}" for h in held)
            print(f"| {unequal} | {subjects} | {rate} | {errors:.0f} | {cells} |", flush=True)


def _print_chosen(rng: np.random.Generator, runs: int) -> None:
    unequal = SETTINGS[0][0]
    points = true_points(*population(rng, 4_000_000, unequal))
    heads = [f"{k} (true {v:.4f})" for k, v in points.items()]
    print(f"\n| subjects | {' | '.join(heads)} |")
    print(f"|---|{'---|' * (len(points) + 1)}")
    for subjects in (50, 100):
        _print_line(subjects, chosen_on_the_data(rng, unequal, subjects, points, runs))


def _print_line(first: object, found: dict[str, float]) -> None:
    print(f"| {first} | {' | '.join(f'{100 * x:.1f}' for x in found.values())} |", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000, help="of each line of the first table")
    parser.add_argument("--chosen", type=int, default=1000, help="of each line of the second")
    parser.add_argument("--checks", type=int, default=200, help="of each line of docs/checks.md")
    parser.add_argument("--only", metavar="TABLE", help="this table alone, such as checks")
    given = parser.parse_args()
    tables = [name for name in vars(given) if name != "only"]
    if given.only is not None:
        if given.only not in tables:
            parser.error(f"--only is {given.only}; expected one of {', '.join(tables)}")
        for name in set(tables) - {given.only}:
            setattr(given, name, 0)
    rng = np.random.default_rng(SEED)
    if given.runs:
        _print_rates(rng, given.runs)
    if given.chosen:
        _print_chosen(rng, given.chosen)
    if given.checks:
        coverage_checks.print_tables(seed=1, runs=given.checks)
    print(f"\n{time.process_time():.0f} s of processor time", file=sys.stderr)


if __name__ == "__main__":
    main()
