"""How often limits, tests and promises hold: populations whose true rates are known.

``scripts/coverage`` runs this file. A population is a function that draws people; a distance is the
mean of its class, plus what people, templates and the pair of templates add:

    genuine  (a, i), (a, j):   g_a + t_ai + t_aj + e            mean 0
    impostor (a, i), (b, j):   apart + w_a + w_b + t_ai + t_bj + e

with ``g_a`` of a goat large and ``w_a`` of a wolf negative. True rates are those of a very large
number of data sets of the same size together.
"""

from __future__ import annotations

import argparse
import csv
import functools
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import bioeval as be

SIZES = (20, 60, 150)
#: Mean distance of impostors, in standard deviations of the noise; that of genuine pairs is 0.
APART = 4.0
#: Standard deviation of a template's effect, of a person's, and of one pair of templates.
TEMPLATE, PERSON, PAIR = 0.5, 0.5, 0.75
#: The people by whom true rates are known: drawn in data sets of the size of one.
KNOWN_PEOPLE = 30_000
#: Distances are counted in cells of this width, whose ends are exact in binary.
CELL = 1 / 512
FIRST, CELLS = round(-40 / CELL), round(120 / CELL)
LEVEL = 0.05  # of tests
TARGETS, SEARCH_TARGET = (0.01, 0.05), 0.1  # FAR of verification, and of searches
REPLICATES = 100  # of a comparison
MEASURES = ("eer", "auc", "frr_at_far=0.05", "recognition_rate", "dir_at_far=0.1")


# ------------------------------------------------------------------------------------ populations


@dataclass(frozen=True)
class People:
    """The people of one data set, by what each adds to distances."""

    genuine: np.ndarray
    impostor: np.ndarray
    templates: np.ndarray | int = 4  # of each person
    apart: float = APART
    group: np.ndarray | None = None  # the session, or the family, of each person
    nearer: float = 0.0  # how much nearer impostors of one group are
    step: float = 0.0  # distances are multiples of it

    @functools.cached_property
    def who(self) -> np.ndarray:
        """The person of each template."""
        return np.repeat(np.arange(len(self.genuine)), self.templates)

    def distances(self, rng: np.random.Generator, each: np.ndarray | None = None) -> np.ndarray:
        """Return symmetric distances of all templates, with effects of `each` or drawn ones."""
        who = self.who
        if each is None:
            each = TEMPLATE * rng.normal(size=len(who))
        same = who[:, None] == who
        noise = np.triu(PAIR * rng.normal(size=same.shape), 1)
        mean = self.apart + self.impostor[who][:, None] + self.impostor[who]
        if self.group is not None:
            group = self.group[who]
            mean -= self.nearer * (group[:, None] == group)
        mean = np.where(same, self.genuine[who][:, None], mean)
        values = mean + each[:, None] + each + noise + noise.T
        if self.step:
            values = np.rint(values / self.step) * self.step
        np.fill_diagonal(values, 0.0)
        return values

    def scores(self, values: np.ndarray) -> be.Scores:
        """Return all against all."""
        group = np.zeros(len(self.genuine), int) if self.group is None else self.group
        meta = {"session": [f"s{x}" for x in group[self.who]]}
        return be.Scores(values, self.who, probe_meta=meta)


def even(rng: np.random.Generator, people: int) -> People:
    """All are alike."""
    return People(*np.zeros((2, people)))


def normal(rng: np.random.Generator, people: int) -> People:
    """People differ, normally distributed."""
    return People(*(PERSON * rng.normal(size=(2, people))))


def animals(rng: np.random.Generator, people: int) -> People:
    """As normal, and one in ten a goat, one in twenty a wolf."""
    drawn = normal(rng, people)
    goat, wolf = rng.random((2, people)) < [[0.1], [0.05]]
    return replace(drawn, genuine=drawn.genuine + 2 * goat, impostor=drawn.impostor - wolf)


def rare_wolves(rng: np.random.Generator, people: int) -> People:
    """As normal, and one in fifty a strong wolf."""
    drawn = normal(rng, people)
    return replace(drawn, impostor=drawn.impostor - 2.5 * (rng.random(people) < 0.02))


def heavy_tails(rng: np.random.Generator, people: int) -> People:
    """As normal, but by Student's t with 3 degrees of freedom, of the same spread."""
    return People(*(PERSON * rng.standard_t(3, size=(2, people)) / np.sqrt(3)))


def failing(rng: np.random.Generator, people: int) -> People:
    """All alike and far apart, but each always fails with the probability 1 / people."""
    fails = rng.random(people) < 1 / people
    return People(2 * APART * fails, np.zeros(people), apart=2 * APART)


def unequal(rng: np.random.Generator, people: int) -> People:
    """As normal, but a tenth have 40 templates, and the others 2."""
    templates = np.where(np.arange(people) < people / 10, 40, 2)
    return replace(normal(rng, people), templates=templates)


def steps(rng: np.random.Generator, people: int) -> People:
    """As normal, with distances in steps of a half."""
    return replace(normal(rng, people), step=0.5)


def sessions(rng: np.random.Generator, people: int) -> People:
    """All alike, but ten people each share a session, which adds to their distances."""
    group = np.arange(people) // 10
    return People(*(PERSON * rng.normal(size=(2, people)))[:, group], group=group)


def families(rng: np.random.Generator, people: int) -> People:
    """As normal, and four people each are a family, who are nearer to each other."""
    return replace(normal(rng, people), group=np.arange(people) // 4, nearer=1.5)


POPULATIONS = {
    **{"E": even, "N": normal, "G": animals, "R": rare_wolves, "H": heavy_tails, "F": failing},
    **{"U": unequal, "S": steps, "C": sessions, "C by session": sessions, "T": families},
}


# ------------------------------------------------------------------------------------------ truth


def searches(values: np.ndarray, who: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest other of each template, and its nearest mate, all against all."""
    away = values.copy()
    np.fill_diagonal(away, np.inf)
    starts = np.flatnonzero(np.diff(who, prepend=-1))
    nearest = np.minimum.reduceat(away, starts, axis=1)
    rows = np.arange(len(who))
    mate = nearest[rows, who].copy()
    nearest[rows, who] = np.inf
    return nearest.min(axis=1), mate


@dataclass(frozen=True)
class Truth:
    """The true values of a population, and the thresholds at which rates are judged."""

    values: dict[str, float]
    thresholds: np.ndarray  # where FAR is 0.1 and 1 %
    far: np.ndarray  # by cell of distances

    def far_at(self, threshold: float) -> float:
        """Return the FAR at a threshold."""
        cell = int(np.floor(threshold / CELL)) - FIRST
        return float(self.far[np.clip(cell, 0, CELLS - 1)])


@functools.cache
def truth(population: str, people: int, known_people: int = KNOWN_PEOPLE) -> Truth:
    """Return the rates of many data sets together; a distance in a cell is at most its end."""
    rng = np.random.default_rng([7, *map(ord, population), people])
    genuine, impostor, nearest, hit = np.zeros((4, CELLS), np.int64)
    number = 0

    def count(values: np.ndarray) -> np.ndarray:
        found = np.ceil(values / CELL).astype(np.int64) - FIRST
        return np.bincount(np.clip(found, 0, CELLS - 1), minlength=CELLS)

    for _ in range(-(-known_people // people)):
        drawn = POPULATIONS[population](rng, people)
        values, who = drawn.distances(rng), drawn.who
        same = who[:, None] == who
        genuine += count(values[np.triu(same, 1)])
        impostor += count(values[np.triu(~same)])
        other, mate = searches(values, who)
        nearest += count(other)
        hit += count(mate[mate < other])
        number += len(who)
    far, alarm = (np.cumsum(x) / x.sum() for x in (impostor, nearest))
    frr, found = 1 - np.cumsum(genuine) / genuine.sum(), np.cumsum(hit) / number

    def loosest(rate: np.ndarray, target: float) -> int:
        return int(np.searchsorted(rate, target, side="right")) - 1

    strict, usual, promised = (loosest(far, x) for x in (0.001, *TARGETS))
    crossing = int(np.argmax(far >= frr))
    # Between two thresholds, FAR and FRR change linearly.
    a, b = frr[crossing - 1] - far[crossing - 1], far[crossing] - frr[crossing]
    eer = far[crossing - 1] + (far[crossing] - far[crossing - 1]) * a / (a + b)
    rates = {
        "FAR 0.1 %": far[strict],
        "FAR 1 %": far[usual],
        "FRR": frr[usual],
        "EER": eer,
        "FRR at FAR 1 %": frr[usual],
        "FRR at FAR 5 %": frr[promised],
        "AUC": float(genuine / genuine.sum() @ (1 - far + impostor / impostor.sum() / 2)),
        "rank 1": found[-1],
        "DIR at FAR 10 %": found[loosest(alarm, SEARCH_TARGET)],
    }
    at = (np.array([strict, usual]) + FIRST) * CELL
    return Truth({k: float(v) for k, v in rates.items()}, at, far)


# -------------------------------------------------------------------------------- of one data set

#: What one data set says: a name, the truth, and limits that hold it or do not.
Row = tuple[str, float, float, float]


def limits(people: People, values: np.ndarray, known: Truth, **unit: str) -> Iterator[Row]:
    """Yield the limits of each measure."""
    scores = people.scores(values)
    method = be.stats.IntervalMethod("people", **unit)
    strict, usual = known.thresholds
    verified = be.verification(
        scores, thresholds=known.thresholds, far_targets=TARGETS, interval=method
    )
    opened = be.open_set(scores, far_targets=[SEARCH_TARGET], max_rank=1, interval=method)
    closed = be.closed_set(scores, max_rank=1, interval=method)
    places: dict[str, tuple[Any, str, dict[str, float]]] = {
        "FAR 0.1 %": (verified, "far", {"threshold": strict}),
        "FAR 1 %": (verified, "far", {"threshold": usual}),
        "FRR": (verified, "frr", {"threshold": usual}),
        "EER": (verified, "eer", {}),
        "FRR at FAR 1 %": (verified, "frr_at_far", {"far_target": TARGETS[0]}),
        "FRR at FAR 5 %": (verified, "frr_at_far", {"far_target": TARGETS[1]}),
        "AUC": (verified, "auc", {}),
        "rank 1": (closed, "recognition_rate", {}),
        "DIR at FAR 10 %": (opened, "dir_at_far", {"far_target": SEARCH_TARGET, "rank": 1}),
    }
    for name, (result, variable, place) in places.items():
        low, high = (result[f"{variable}_{end}"].sel(place).item() for end in ("low", "high"))
        yield name, known.values[name], low, high


def promises(people: People, values: np.ndarray, known: Truth, **unit: str) -> Iterator[Row]:
    """Yield the true FAR of a promised threshold, and one-sided limits of the true FRR."""
    from bioeval.studies.assurance import JudgedAttempts, assured_threshold

    scores = people.scores(values)
    assured, refusal = assured_threshold(JudgedAttempts(scores, 1 - LEVEL, **unit), TARGETS[1])
    far = known.far_at(assured["assured_threshold"]) if refusal is None else np.nan
    yield "promised FAR 5 % is kept", TARGETS[1], far, np.inf
    frr, high = known.values["FRR"], np.nan
    if "unit" not in unit or len(set(people.group)) > 2:
        judged = be.check_promise(scores, known.thresholds[1], f"frr={frr!r}", **unit)
        high = judged.frr_high.item()
    yield "wrong FRR is not shown", frr, 0.0, high


def winners(people: People, rng: np.random.Generator, **unit: str) -> Iterator[Row]:
    """Yield whether no two of two, and of five, equal systems differ, for each measure."""
    each = TEMPLATE * rng.normal(size=len(people.who))
    systems = [people.scores(people.distances(rng, each)) for _ in range(5)]
    method = be.stats.IntervalMethod("people", replicates=REPLICATES, **unit)
    for number in (2, 5):
        named = {f"{x}": systems[x] for x in range(number)}
        compared = be.compare(named, measures=MEASURES, interval=method)
        for measure in MEASURES:
            name, _, target = measure.partition("=")
            place = {"far_target": float(target)} if target else {}
            differ = compared[f"{name}_separated"].sel(place) != 0
            yield f"{number} equal systems, {measure}", 0.0, 0.0, -float(differ.any())


def zoo(rng: np.random.Generator, people: int) -> Iterator[Row]:
    """Yield whether the tests of goats, wolves and lambs reject, by the spread of their effect."""
    for animal in ("goat", "wolf", "lamb"):
        for spread in (0.0, 0.2, 0.4):
            drawn = be.simulate(
                people, 6, model="gaussian-scores", random_state=int(rng.integers(1 << 30)),
                **{f"{animal}_sd": spread},
            )  # fmt: skip
            each = TEMPLATE * rng.normal(size=len(drawn.values))
            scores = be.Scores(drawn.values + each[:, None] + each, drawn.probe_labels)
            tested = be.zoo(scores, threshold=0.0, permutations=399, random_state=1)
            yield f"{animal} sd {spread:g}", LEVEL, tested["p"].sel(test=animal).item(), np.inf


# --------------------------------------------------------------------------------- many data sets

COLUMNS = ("population", "people", "set", "measure", "truth", "low", "high")


def simulate(
    population: str, people: int, number: int, parts: Sequence[str], known_people: int
) -> Iterator[Row]:
    """Yield what the data set of this number says of each measure."""
    draw = POPULATIONS[population]
    # The same data sets with people and with sessions left out.
    seed = [people, number, *map(ord, draw.__name__)]
    unit = {"unit": "session"} if population == "C by session" else {}
    rng = np.random.default_rng(seed)
    drawn = draw(rng, people)
    values = drawn.distances(rng)
    if "limits" in parts:
        yield from limits(drawn, values, truth(population, people, known_people), **unit)
    if "promises" in parts:
        yield from promises(drawn, values, truth(population, people, known_people), **unit)
    if "winners" in parts:
        yield from winners(drawn, np.random.default_rng([1, *seed]), **unit)
    if "zoo" in parts and population == "E":
        yield from zoo(np.random.default_rng([2, *seed]), people)


def run(
    out: Path, cells: Iterable[tuple[str, int]], sets: int, parts: Sequence[str], known_people: int
) -> None:
    """Write a line for each measure of each data set, behind those that are there."""
    done = {(x["population"], int(x["people"]), int(x["set"])) for x in lines([out])}
    with out.open("a", newline="") as file:
        writer = csv.writer(file)
        if not file.tell():
            writer.writerow(COLUMNS)
        for population, people in cells:
            for number in range(sets):
                if (population, people, number) in done:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rows = [*simulate(population, people, number, parts, known_people)]
                writer.writerows((population, people, number, *row) for row in rows)
                file.flush()


def lines(files: Iterable[Path]) -> list[dict[str, str]]:
    """Return the lines of all files that are there."""
    texts = [path.read_text() for path in files if path.exists()]
    return [x for text in texts for x in csv.DictReader(text.splitlines())]


def table(files: Sequence[Path]) -> Iterator[str]:
    """Yield rows: per cent that hold, and median widths, by population and number of people.

    The width of a promise, or of a test, is its true value as a part of the named one.
    """
    held, widths = defaultdict(list), defaultdict(list)
    for x in lines(files):
        low, value, high = (float(x[k]) for k in ("low", "truth", "high"))
        cell = x["measure"], x["population"], int(x["people"])
        if not np.isnan([low, high]).any():
            held[cell].append(100 * (low <= value <= high))
            widths[cell].append(high - low if np.isfinite(high) else low / value)
    populations = [x for x in POPULATIONS if any(cell[1] == x for cell in held)]
    sizes = sorted({cell[2] for cell in held})
    shown = (("held, in per cent", held, np.mean, ".0f"), ("width", widths, np.median, ".3f"))
    for title, cells, of, digits in shown:
        yield "\n" + " | ".join([title, *populations])
        for measure in dict.fromkeys(cell[0] for cell in cells):
            row = [[cells[measure, x, size] for size in sizes] for x in populations]
            each = [" ".join(format(of(x), digits) if x else "-" for x in y) for y in row]
            yield " | ".join([measure, *each])
    numbers = {len(x) for x in held.values() if x}
    yield f"{min(numbers)} to {max(numbers)} data sets a cell" if numbers else "no data set"


def main() -> None:
    """Run what the options ask for, and print the table."""
    parser = argparse.ArgumentParser(prog="scripts/coverage", add_help=False)
    parser.add_argument("--out", type=Path, nargs="+", default=[Path("coverage.csv")])
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--population", nargs="+", default=[*POPULATIONS])
    parser.add_argument("--people", nargs="+", type=int, default=SIZES)
    parser.add_argument("--parts", nargs="+", default=["limits", "promises", "winners", "zoo"])
    options = parser.parse_args()
    if options.sets:
        cells = [(x, n) for n in options.people for x in options.population]
        run(options.out[0], cells, options.sets, options.parts, KNOWN_PEOPLE)
    for line in table(options.out):
        print(line)


if __name__ == "__main__":
    main()
