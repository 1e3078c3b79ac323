"""Rows are joined by the names of templates: the true number, or an error, never another number.

Every door of the package that takes a value for each template or pair is fed small random worlds in
every container of rows, with a twist: other orders, names that are missing or stand twice. The
truth is counted by names alone (a world is a set of dictionaries whose keys are names, so that it
has no order), or is what the door gives of plain arrays in order.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import naive
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from named_arguments import refused
from reference import one_thread  # noqa: F401
from sklearn.preprocessing import FunctionTransformer

import bioeval as be

#: What is said of small worlds as Python warnings is held by other tests.
pytestmark = pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")

Name = Any  # a text or a whole number
Numbers = dict[str, float]

PEOPLE = ("ann", "bob", "cem", "dan", "eve", "fay")
FEATURES = 5
#: Columns that name templates wherever metadata, tables of labels and systems have columns.
WORDS_FOR_NAMES = (
    "template", "name", "names", "image", "image_name", "file", "filename", "file_name", "path",
    "img_path", "image_path", "image_id", "file_path", "img_name",
)  # fmt: skip


# ------------------------------------------------------------------------------- worlds


def eer_of(genuine: Sequence[float], impostor: Sequence[float]) -> float:
    """EER of distances; NaN where a class has no attempt."""
    if not genuine or not impostor:
        return math.nan
    return float(naive.eer(genuine, impostor, "distance").value)


def counted(attempts: Iterable[tuple[bool, float]]) -> Numbers:
    """How many attempts of each class there are, and their EER."""
    scores: dict[bool, list[float]] = {True: [], False: []}
    for is_genuine, distance in attempts:
        scores[is_genuine].append(distance)
    numbers = {"genuine": len(scores[True]), "impostor": len(scores[False])}
    return numbers | {"eer": eer_of(scores[True], scores[False])}


@dataclass(frozen=True)
class World:
    """Templates of a few people in five dimensions; every dictionary has their names as keys."""

    subject: dict[Name, str]
    session: dict[Name, int]
    point: dict[Name, tuple[float, ...]]
    probes: tuple[Name, ...]
    gallery: tuple[Name, ...]

    @property
    def is_square(self) -> bool:
        return self.probes == self.gallery

    def distance(self, probe: Name, template: Name) -> float:
        return math.dist(self.point[probe], self.point[template])

    def is_genuine(self, probe: Name, template: Name) -> bool:
        return self.subject[probe] == self.subject[template]

    def comparisons(self) -> list[tuple[Name, Name]]:
        """All probes with all templates of the gallery but themselves."""
        return [(p, g) for p in self.probes for g in self.gallery if p != g]

    def attempts(
        self, is_left_out: Callable[[Name, Name], bool] = lambda p, g: False
    ) -> list[tuple[Name, Name]]:
        return [(p, g) for p, g in self.comparisons() if not is_left_out(p, g)]

    def verified(
        self,
        is_left_out: Callable[[Name, Name], bool] = lambda p, g: False,
        distance: Callable[[Name, Name], float] | None = None,
    ) -> Numbers:
        """Numbers of verification of all attempts that are not left out."""
        score = distance or self.distance
        return counted((self.is_genuine(p, g), score(p, g)) for p, g in self.attempts(is_left_out))

    @property
    def threshold(self) -> float:
        """A distance that accepts about a third of all comparisons, and is no score."""
        distances = sorted({self.distance(p, g) for p, g in self.comparisons()})
        third = len(distances) // 3
        return (distances[third] + distances[third + 1]) / 2

    def order(self, query: Name) -> list[Name]:
        """The gallery without the query, nearest first."""
        other_templates = [g for g in self.gallery if g != query]
        return sorted(other_templates, key=lambda g: self.distance(query, g))

    def searched(self) -> Numbers:
        """Rank 1 and mAP of the queries with a match."""
        first, precisions = [], []
        for query in self.probes:
            matches = [self.is_genuine(query, g) for g in self.order(query)]
            if any(matches):
                first.append(matches[0])
                hits = [rank for rank, match in enumerate(matches, start=1) if match]
                precisions.append(sum(k / rank for k, rank in enumerate(hits, 1)) / len(hits))
        queries = len(first)
        means = {"rank 1": sum(first) / queries, "mAP": sum(precisions) / queries}
        return {"queries": queries} | means


def drawn_world(seed: int, layout: str = "square", naming: str = "any") -> World:
    """Draw 12 to 30 templates of 4 to 6 people: as both sides, or as two sets of templates.

    Names are files, words, whole numbers, or a mixture. The numbers of rows are ``"0..n-1"`` in any
    order, ``"in order"``, or those of some rows of a larger table, ``"with gaps"``. Of overlapping
    sides names are no numbers, which never say that two templates are one.
    """
    rng = random.Random(seed)
    people = PEOPLE[: rng.randint(4, 6)]
    owners = [person for person in people for _ in range(rng.randint(3, 5))]
    rng.shuffle(owners)
    numbers = rng.sample(range(100, 1000), len(owners))
    kinds = ("files", "words", "mixed" if layout == "overlapping" else "numbers", "mixed")
    kind_of_names = rng.choice(kinds) if naming == "any" else naming
    names: list[Name] = []
    for i, (person, number) in enumerate(zip(owners, numbers, strict=True)):
        file = f"{person[0]}/{number}.png"
        of_kind = {
            "files": file, "words": f"{person}_{number}", "numbers": number,
            "mixed": (file, number)[i % 2], "0..n-1": i, "in order": i, "with gaps": i + i // 4,
        }  # fmt: skip
        names.append(of_kind[kind_of_names])
    centre = {person: [rng.gauss(0, 1) for _ in range(FEATURES)] for person in people}
    point = {
        name: tuple(rng.gauss(x, 0.9) for x in centre[person])
        for name, person in zip(names, owners, strict=True)
    }
    subject = dict(zip(names, owners, strict=True))
    session = {name: rng.randint(1, 2) for name in names}
    if naming != "in order":
        rng.shuffle(names)
    third = len(names) // 3
    sides = {
        "square": (names, names),
        "disjoint": (names[:third], names[third:]),
        "overlapping": (names[: 2 * third], names[third:]),
    }
    probes, gallery = map(tuple, sides[layout])
    return World(subject, session, point, probes, gallery)


def all_distances(world: World) -> np.ndarray:
    return np.array([[world.distance(p, g) for g in world.gallery] for p in world.probes])


def people_of(world: World) -> list[list[str]]:
    return [[world.subject[x] for x in side] for side in (world.probes, world.gallery)]


# ------------------------------------------------------------------------------- names


def as_array(values: Sequence[Any]) -> np.ndarray:
    """One dimension of objects, or of texts, numbers or bytes where all are alike."""
    kinds = {type(x) for x in values}
    if kinds in ({str}, {int}, {float}, {bytes}, {bool}):
        return np.array(values)
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


# ------------------------------------------------------------------------------- twists


class Line(NamedTuple):
    """A row of what is joined: its name, and the template whose value it has."""

    name: Name | None
    of: Name


@dataclass(frozen=True)
class Twist:
    """What is done to the rows of what is joined, and what must come of it."""

    rows: Callable[[list[Name], random.Random], list[Line]]
    expected: str  # "equal", "refused", "equal or refused"
    scores_have_names: bool = True
    has_names: bool = True  # what is joined
    naming: str = "any"  # of the world
    #: How the names of scores, and of what is joined, are written where they number the rows.
    written: tuple[Callable[[Name], Any], Callable[[Name], Any]] | None = None


def lines_of(names: Iterable[Name]) -> list[Line]:
    return [Line(name, name) for name in names]


def in_order(names: list[Name], rng: random.Random) -> list[Line]:
    return lines_of(names)


def in_another_order(names: list[Name], rng: random.Random) -> list[Line]:
    return lines_of(rng.sample(names, len(names)))


def with_more_than_needed(names: list[Name], rng: random.Random) -> list[Line]:
    further_lines = [Line(f"none/{i}.png", of) for i, of in enumerate(rng.sample(names, 3))]
    lines = lines_of(names) + further_lines
    return rng.sample(lines, len(lines))


def without_one(names: list[Name], rng: random.Random) -> list[Line]:
    return in_another_order(names, rng)[1:]


def with_one_unnamed(names: list[Name], rng: random.Random) -> list[Line]:
    lines = in_another_order(names, rng)
    lines[1] = Line(None, lines[1].of)
    return lines


def with_one_doubled(names: list[Name], rng: random.Random) -> list[Line]:
    """A further row has the name of the first row and the value of another template."""
    lines = in_another_order(names, rng)
    lines.insert(rng.randrange(len(lines)), Line(lines[0].name, lines[-1].of))
    return lines


def with_one_in_place_of_another(names: list[Name], rng: random.Random) -> list[Line]:
    """As many rows as needed, but a name stands twice and another name is missing."""
    lines = in_another_order(names, rng)
    lines[1] = Line(lines[0].name, lines[1].of)
    return lines


def with_other_names(names: list[Name], rng: random.Random) -> list[Line]:
    """Leading zeros, and another folder, are other names."""
    lines = in_another_order(names, rng)
    return [
        Line(f"0{x.name}" if isinstance(x.name, int) else f"other/{x.name}", x.of) for x in lines
    ]


def numbered_in_another_order(names: list[Name], rng: random.Random) -> list[Line]:
    first = rng.choice((0, 1))
    numbers = rng.sample(range(first, first + len(names)), len(names))
    if numbers == sorted(numbers):
        numbers.reverse()
    return [Line(number, of) for number, of in zip(numbers, names, strict=True)]


def by_number(names: list[Name], rng: random.Random) -> list[Line]:
    """As of a table of all rows, of which the scores have some."""
    numbers = range(max(names) + 1)
    return [Line(i, i if i in names else rng.choice(names)) for i in numbers]


def with_rows_behind(names: list[Name], rng: random.Random) -> list[Line]:
    return lines_of(names) + [Line(len(names) + i, names[i]) for i in range(3)]


def numbered_anew(names: list[Name], rng: random.Random) -> list[Line]:
    return [Line(i, of) for i, of in enumerate(names)]


def anything(names: list[Name], rng: random.Random) -> list[Line]:
    """A mixture: perhaps other orders, rows that are missing, unnamed, doubled, or more."""
    twists = [in_another_order, with_more_than_needed, without_one, with_one_unnamed,
              with_one_doubled, with_one_in_place_of_another]  # fmt: skip
    lines = rng.choice(twists)(names, rng)
    if rng.random() < 0.3:
        del lines[rng.randrange(len(lines))]
    if rng.random() < 0.3:
        place = rng.randrange(len(lines))
        lines[place] = Line(rng.choice([None, *names]), lines[place].of)
    return lines


TWISTS = {
    "in order": Twist(in_order, "equal"),
    "in another order": Twist(in_another_order, "equal"),
    "more than needed": Twist(with_more_than_needed, "equal"),
    "0 to n-1 on both sides": Twist(in_another_order, "equal", naming="0..n-1"),
    "one is missing": Twist(without_one, "refused"),
    "one has no name": Twist(with_one_unnamed, "refused"),
    "one stands twice": Twist(with_one_doubled, "refused"),
    "one for another": Twist(with_one_in_place_of_another, "refused"),
    "other names": Twist(with_other_names, "refused"),
    "anything 1": Twist(anything, "equal or refused"),
    "anything 2": Twist(anything, "equal or refused"),
    "no names of scores": Twist(in_order, "equal", scores_have_names=False),
    "no names of scores, numbers in another order": Twist(
        numbered_in_another_order, "equal", scores_have_names=False
    ),
}


def as_date(number: int) -> pd.Timestamp:
    return pd.Timestamp("2020-01-01") + pd.Timedelta(number, unit="D")


#: Rows that have numbers, as the index of pandas, or keys in place of numbers.
TWISTS_OF_NUMBERS = {
    "values by number": Twist(by_number, "equal", naming="0..n-1"),
    "values of more rows": Twist(by_number, "equal", naming="with gaps"),
    "numbered anew": Twist(numbered_anew, "refused", naming="with gaps"),
    "values of rows behind": Twist(with_rows_behind, "refused", naming="in order"),
    "values of a part": Twist(without_one, "refused", naming="0..n-1"),
    "an array beside numbers": Twist(in_order, "equal", has_names=False, naming="with gaps"),
    "numbers beside an array": Twist(
        in_order, "equal", scores_have_names=False, naming="with gaps"
    ),
    "an array beside names": Twist(in_order, "equal", has_names=False, naming="words"),
    "a count beside names": Twist(numbered_anew, "equal", naming="words"),
    "numerals": Twist(in_another_order, "equal", naming="0..n-1", written=(str, int)),
    "dates": Twist(in_another_order, "equal", naming="0..n-1", written=(as_date, as_date)),
    "two levels": Twist(
        in_another_order, "equal", naming="0..n-1", written=(lambda i: (i % 3, i),) * 2
    ),
    "numbers that repeat": Twist(
        in_order, "equal", naming="in order", written=(lambda i: i // 2,) * 2
    ),
}
TWISTS |= TWISTS_OF_NUMBERS
#: Of systems, what one of them lacks is left out of all.
TWISTS_OF_SYSTEMS = {
    **TWISTS,
    "one is missing": Twist(without_one, "equal"),
    "one has no name": Twist(with_one_unnamed, "equal or refused"),
    "values of a part": Twist(without_one, "equal", naming="0..n-1"),
}


# ------------------------------------------------------------------------------- containers

COLUMNS = ("series", "xarray")
TABLES = (
    "dict of series", "dict of arrays with coordinates", "frame with index", "frame with names",
    "dict with names",
)  # fmt: skip
GRIDS = ("frame", "xarray")


def column(container: str, names: Sequence[Any], values: Sequence[Any]) -> Any:
    """One value for each name; a plain array has no names."""
    if container == "plain":
        return as_array(values)
    if container == "series":
        return pd.Series(list(values), index=pd.Index(as_array(names)))
    assert container == "xarray"
    return xr.DataArray(as_array(values), {"template": as_array(names)}, ["template"])


def rows_of(container: str, names: Sequence[Any], values: Any, dim: str = "column") -> Any:
    """A row of values for each name."""
    if container in ("frame", "series"):
        return pd.DataFrame(values, index=pd.Index(as_array(names)))
    if container == "plain":
        return np.asarray(values)
    return xr.DataArray(values, {"template": as_array(names)}, ["template", dim])


def table(
    container: str, names: Sequence[Any], columns: Mapping[str, Sequence[Any]], word: str
) -> Any:
    """Several columns; the last two containers have the names in a column `word`."""
    if container == "plain":
        return dict(columns)
    if container == "dict of series":
        return {key: column("series", names, values) for key, values in columns.items()}
    if container == "dict of arrays with coordinates":
        return {key: column("xarray", names, values) for key, values in columns.items()}
    if container == "frame with index":
        return pd.DataFrame(dict(columns), index=pd.Index(as_array(names)))
    with_names = {word: list(names), **{key: list(x) for key, x in columns.items()}}
    if container == "frame with names":
        return pd.DataFrame(with_names)
    assert container == "dict with names"
    return with_names


def grid(
    container: str, rows: Sequence[Any], columns: Sequence[Any], values: Any, dtype: Any = None
) -> Any:
    """A value for each pair of a row and a column."""
    values = np.array(values, dtype=dtype)
    if container == "plain":
        return values
    if container == "frame":
        return pd.DataFrame(values, pd.Index(as_array(rows)), pd.Index(as_array(columns)))
    assert container == "xarray"
    names = {"probe": as_array(rows), "gallery": as_array(columns)}
    return xr.DataArray(values, names, ["probe", "gallery"])


# ------------------------------------------------------------------------------- cases


@dataclass
class Case:
    """A world that is fed to a call; what is joined there is in a container, with a twist."""

    world: World
    container: str
    twist: Twist
    seed: int
    folder: Path
    naming_of_scores: str = field(init=False)
    word: str = field(init=False)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.values = random.Random(self.seed)  # of what is drawn for templates, whatever the twist
        self.naming_of_scores = "frame" if self.twist.written else self.rng.choice(GRIDS)
        if not self.twist.has_names:
            self.container = "plain"
        self.word = self.rng.choice(WORDS_FOR_NAMES)

    # What is joined.

    def twisted(self, names: Sequence[Name]) -> tuple[list[Any], list[Name]]:
        """The names of the twisted rows as they are written, and the templates of their values."""
        lines = self.twist.rows(list(names), self.rng)
        names_of_lines = [line.name for line in lines]
        if self.twist.written:
            names_of_lines = [self.twist.written[1](x) for x in names_of_lines]
        return names_of_lines, [line.of for line in lines]

    def other_order(self, names: Sequence[Name]) -> list[Name]:
        """The order of the side that is not twisted: a random order, unless rows are in order."""
        is_in_order = self.twist.rows in (in_order, numbered_anew, with_rows_behind)
        is_in_order |= not self.twist.scores_have_names
        return list(names) if is_in_order else self.rng.sample(list(names), len(names))

    def column(self, value: Mapping[Name, Any], names: Sequence[Name]) -> Any:
        """A value for each name, twisted."""
        fed, of = self.twisted(names)
        return column(self.container, fed, [value[x] for x in of])

    def table(self, names: Sequence[Name], **columns: Mapping[Name, Any]) -> Any:
        """Columns of values for each name, twisted."""
        fed, of = self.twisted(names)
        values = {key: [value[x] for x in of] for key, value in columns.items()}
        return table(self.container, fed, values, self.word)

    def grid(self, value: Callable[[Name, Name], Any], dtype: Any = None) -> Any:
        """A value for each probe and template of the gallery; a single side is twisted."""
        sides = [self.world.probes, self.world.gallery]
        twisted_side = self.rng.randrange(2)
        fed, of = [], []
        for i, names in enumerate(sides):
            if i == twisted_side:
                names_of_side, templates = self.twisted(names)
            else:
                names_of_side = templates = self.other_order(names)
                if self.twist.written:
                    names_of_side = [self.twist.written[1](x) for x in templates]
            fed.append(names_of_side)
            of.append(templates)
        values = [[value(p, g) for g in of[1]] for p in of[0]]
        return grid(self.container, *fed, values, dtype)

    # What it is joined to.

    def names(self, names: Sequence[Name]) -> list[Any]:
        return [*map(self.twist.written[0], names)] if self.twist.written else list(names)

    def matrix(self) -> Any:
        """All distances, with the names of both sides unless the twist takes them away."""
        world, values = self.world, all_distances(self.world)
        if not self.twist.scores_have_names:
            return values
        probes = self.names(world.probes)
        gallery = probes if world.is_square else self.names(world.gallery)
        return grid(self.naming_of_scores, probes, gallery, values)

    def points(self, names: Sequence[Name]) -> Any:
        """Embeddings of templates, with names unless the twist takes them away."""
        values = np.array([self.world.point[x] for x in names])
        if not self.twist.scores_have_names:
            return values
        return rows_of(self.naming_of_scores, self.names(names), values, "feature")

    def labels(self) -> list[list[str]]:
        """Plain labels, in the order of the scores: of both sides where they are two."""
        return people_of(self.world)[: 1 if self.world.is_square else 2]

    def scores(self, **options: Any) -> be.Scores:
        """The scores with their labels, before anything is joined."""
        return be.Scores(self.matrix(), *self.labels(), **options)

    def embedded(self, people: Any = None, **options: Any) -> be.Scores:
        """The scores of embeddings, of probes of these people."""
        sides = [self.points(self.world.probes), self.labels()[0] if people is None else people]
        if not self.world.is_square:
            sides += [self.points(self.world.gallery), self.labels()[1]]
        return be.Scores.from_embeddings(*sides, metric="l2", **options)


# ------------------------------------------------------------------------------- outcomes


class Outcome(NamedTuple):
    """What a call gave: its result, its numbers, and those of the world if they are not `plain`."""

    result: Any
    numbers: Numbers
    truth: Numbers | None = None


def assert_true(outcome: Outcome, truth: Numbers) -> None:
    right = pytest.approx(truth, rel=1e-6, abs=1e-9, nan_ok=True)
    assert outcome.numbers == right, f"ANOTHER NUMBER: {outcome.numbers}, right {truth}"


def assert_true_or_refused(feed: Callable[[Case], Outcome], case: Case) -> None:
    """Hold a call to the world: its true numbers, or an error of the data, as the twist says.

    True are the numbers that the call states of plain arrays in the order of the scores.
    """
    twist = case.twist
    try:
        outcome = feed(case)
    except be.DataError as error:
        assert twist.expected != "equal", f"REFUSED: {error}"
        return
    truth = outcome.truth
    if truth is None:  # a template on both sides is known by its names
        is_on_both = not case.world.is_square and {*case.world.probes} & {*case.world.gallery}
        plain = Twist(in_order, "equal", scores_have_names=bool(is_on_both), has_names=False)
        truth = feed(Case(case.world, "plain", plain, case.seed, case.folder)).numbers
    assert_true(outcome, truth)
    assert twist.expected != "refused", f"TAKEN: {outcome.numbers}, expected an error"
    is_in_order = not (twist.scores_have_names and twist.has_names) or twist.rows is numbered_anew
    if is_in_order and hasattr(outcome.result, "attrs"):
        said = {message.code for message in be.messages(outcome.result)}
        assert "taken-in-order" in said, "SILENT: names on one side only, in order"


def seed_of(*parts: str) -> int:
    return zlib.crc32(" ".join(parts).encode())


def verified(scores: Any, **options: Any) -> Outcome:
    """The result of verification, and its numbers."""
    result = be.verification(scores, **options)
    numbers = {x: int(result[f"{x}_attempts"]) for x in ("genuine", "impostor")}
    return Outcome(result, numbers | {"eer": float(result.eer)})


def counts_of(result: Any) -> Outcome:
    """All counts of errors and of attempts of a result."""
    names = [x for x in ("fr", "fa", "genuine_attempts", "impostor_attempts") if x in result]
    counts = {f"{x} {k}": float(n) for x in names for k, n in enumerate(result[x].values.ravel())}
    return Outcome(result, counts)


def searched(scores: Any, depth: int | None = None, convention: str = "vehicleid") -> Outcome:
    """The result of re-identification, without any camera, and its numbers."""
    result = be.reid(scores, convention)
    numbers = {"queries": int(result.queries), "rank 1": float(result.cmc.sel(rank=1))}
    last = result.mean_ap if depth is None else result.cmc.sel(rank=depth)
    return Outcome(result, numbers | {"mAP" if depth is None else f"rank {depth}": float(last)})


SQUARE, DISJOINT, OVERLAPPING = "square", "disjoint", "overlapping"
SIDES = (DISJOINT, OVERLAPPING)
SYSTEMS = ("frame", "xarray", "columns")
#: Containers whose names are a column of metadata: it names the scores that have no other names.
WITH_COLUMN_OF_NAMES = ("frame with names", "dict with names", "columns")


# ------------------------------------------------------------------------------- doors


class Door(NamedTuple):
    feed: Callable[[Case], Outcome]
    containers: Sequence[str]
    layouts: Sequence[str]
    is_of_systems: bool  # what is missing is left out of all


DOORS: dict[str, Door] = {}


def door(
    *containers: str,
    layouts: Sequence[str] = (SQUARE, DISJOINT, OVERLAPPING),
    is_of_systems: bool = False,
) -> Callable[[Callable[[Case], Outcome]], Callable[[Case], Outcome]]:
    """Enter a function that feeds a case to a call, in the containers that the call takes."""

    def entered(feed: Callable[[Case], Outcome]) -> Callable[[Case], Outcome]:
        DOORS[feed.__name__] = Door(feed, containers, layouts, is_of_systems)
        return feed

    return entered


def applies(door: Door, container: str, twist: Twist) -> bool:
    if twist in TWISTS_OF_NUMBERS.values():
        is_written_in_pandas = container in ("series", "frame", "dict of series")
        others = ("xarray", "dict of arrays with coordinates", "frame with index")
        if not is_written_in_pandas and (
            container not in others or twist.written or not twist.has_names
        ):
            return False
    if twist.naming not in ("any", "words"):
        return SQUARE in door.layouts  # else rows and columns would be numbered alike
    if not twist.scores_have_names:
        return container not in WITH_COLUMN_OF_NAMES and set(door.layouts) != {OVERLAPPING}
    return True


# Scores and embeddings.


@door(*COLUMNS)
def labels(case: Case) -> Outcome:
    fed = case.column(case.world.subject, case.world.probes)
    return verified(be.Scores(case.matrix(), fed, *case.labels()[1:]))


@door(*COLUMNS, layouts=SIDES)
def gallery_labels(case: Case) -> Outcome:
    fed = case.column(case.world.subject, case.world.gallery)
    return verified(be.Scores(case.matrix(), case.labels()[0], fed))


def sessions(case: Case, side: str) -> dict[str, Any]:
    """Sessions of both sides, which are excluded; those of one side are joined by names."""
    world = case.world
    names = {"probe_meta": world.probes, "gallery_meta": world.gallery}
    plain = {key: {"session": [world.session[x] for x in names[key]]} for key in names}
    given = plain | {side: case.table(names[side], session=world.session)}
    if world.is_square:
        del given["gallery_meta"]
    return given | {"exclude": ["session"]}


@door(*TABLES)
def probe_meta(case: Case) -> Outcome:
    return verified(case.scores(**sessions(case, "probe_meta")))


@door(*TABLES, layouts=SIDES)
def gallery_meta(case: Case) -> Outcome:
    return verified(case.scores(**sessions(case, "gallery_meta")))


def kept_comparisons(case: Case) -> dict[tuple[Name, Name], bool]:
    all_pairs = itertools.product(case.world.probes, case.world.gallery)
    return {pair: pair[0] != pair[1] and case.values.random() < 0.7 for pair in all_pairs}


@door(*GRIDS)
def mask(case: Case) -> Outcome:
    is_kept = kept_comparisons(case)
    return verified(case.scores(mask=case.grid(lambda p, g: is_kept[p, g], dtype=bool)))


@door(*GRIDS)
def mask_without_labels(case: Case) -> Outcome:
    is_kept, world = kept_comparisons(case), case.world
    marks = case.grid(lambda p, g: is_kept[p, g] * (1 + world.is_genuine(p, g)), dtype=int)
    return verified(be.Scores(case.matrix(), mask=marks))


@door(*GRIDS)
def with_mask(case: Case) -> Outcome:
    is_kept = kept_comparisons(case)
    return verified(case.scores().with_mask(case.grid(lambda p, g: is_kept[p, g], dtype=bool)))


def city_block(world: World) -> Callable[[Name, Name], float]:
    """The distance of a second system."""

    def distance(probe: Name, template: Name) -> float:
        sides = zip(world.point[probe], world.point[template], strict=True)
        return math.fsum(abs(x - y) for x, y in sides)

    return distance


@door(*GRIDS)
def with_values(case: Case) -> Outcome:
    return verified(case.scores().with_values(case.grid(city_block(case.world)), "distance"))


@door(*COLUMNS)
def select(case: Case) -> Outcome:
    is_taken = {name: case.values.random() < 0.7 for name in case.world.subject}
    fed = case.column(is_taken, case.world.probes)
    scores = case.scores()
    return verified(scores.select(fed) if case.world.is_square else scores.select(probes=fed))


@door(*GRIDS)
def mask_of_embeddings(case: Case) -> Outcome:
    is_kept = kept_comparisons(case)
    return verified(case.embedded(mask=case.grid(lambda p, g: is_kept[p, g], dtype=bool)))


@door(*COLUMNS)
def labels_of_embeddings(case: Case) -> Outcome:
    return verified(case.embedded(case.column(case.world.subject, case.world.probes)))


@door(*TABLES)
def metadata_of_embeddings(case: Case) -> Outcome:
    return verified(case.embedded(**sessions(case, "probe_meta")))


@door(*TABLES, layouts=[SQUARE])
def average(case: Case) -> Outcome:
    """Clips of two or three templates of one person become one template each."""
    clip, of_subject = {}, dict.fromkeys(case.world.subject.values(), 0)
    for name, subject in case.world.subject.items():
        of_subject[subject] += 1
        clip[name] = f"{subject}, clip {of_subject[subject] % 2}"
    meta = case.table(case.world.probes, clip=clip)
    return verified(case.embedded(average=["clip"], probe_meta=meta))


# Lists of pairs: each line has a name.


class Lines:
    """Lines of a list of pairs, which have names of their own in another order."""

    def __init__(self, case: Case, self_lines: int = 0):
        world = case.world
        pairs = case.values.sample(world.comparisons(), min(60, len(world.comparisons())))
        pairs += [(x, x) for x in case.values.sample(world.gallery, self_lines)]
        numbers: list[Name] = list(range(len(pairs)))
        if case.twist.naming in ("any", "words"):
            numbers = [f"trial {i}" for i in numbers]
        elif case.twist.naming == "with gaps":
            numbers = [i + i // 4 for i in numbers]
        if case.twist.naming != "in order":
            case.rng.shuffle(numbers)
        self.case = case
        self.pair = dict(zip(numbers, pairs, strict=True))
        self.names = list(self.pair)
        self.genuine = {line: world.is_genuine(*pair) for line, pair in self.pair.items()}

    def distances(self) -> Any:
        """The distances, with the names of the lines unless the twist takes them away."""
        case = self.case
        values = [case.world.distance(*self.pair[line]) for line in self.names]
        if not case.twist.scores_have_names:
            return values
        return column("series", case.names(self.names), values)

    def scores(self, **options: Any) -> be.Scores:
        genuine = [self.genuine[line] for line in self.names]
        return be.Scores.from_pairs(self.distances(), genuine, **options)

    def drawn(self, values: Sequence[Any]) -> Any:
        """A drawn value for each line, twisted."""
        of_line = {line: self.case.values.choice(values) for line in self.names}
        return self.case.column(of_line, self.names)

    def of_both_templates(self, value: dict[Name, Any]) -> Any:
        """The values of both templates of each line, twisted."""
        names, line_order = self.case.twisted(self.names)
        values = np.array([[value[x] for x in self.pair[line]] for line in line_order])
        return rows_of(self.case.container, names, values)


@door(*COLUMNS)
def genuine_of_pairs(case: Case) -> Outcome:
    lines = Lines(case)
    fed = case.column(lines.genuine, lines.names)
    return verified(be.Scores.from_pairs(lines.distances(), fed))


@door(*GRIDS)
def subjects_of_pairs(case: Case) -> Outcome:
    """The people of both sides of each line, in the order of the scores."""
    lines, world = Lines(case), case.world
    scores = lines.scores(subjects=lines.of_both_templates(world.subject))
    lines_with_their_people = sum(
        tuple(found) == tuple(world.subject[x] for x in lines.pair[line])
        for found, line in zip(scores.pair_subjects.tolist(), lines.names, strict=True)
    )
    return Outcome(
        be.verification(scores), {"lines": lines_with_their_people}, {"lines": len(lines.names)}
    )


def group_of(world: World) -> dict[Name, str]:
    return {x: "first" if who in ("ann", "bob") else "others" for x, who in world.subject.items()}


@door(*GRIDS)
def meta_of_pairs(case: Case) -> Outcome:
    """Groups of the people of both templates of each line."""
    lines, world = Lines(case), case.world
    people = [[world.subject[x] for x in lines.pair[line]] for line in lines.names]
    meta = {"group": lines.of_both_templates(group_of(world))}
    scores = lines.scores(subjects=people, meta=meta)
    return counts_of(be.by_group(scores, "group", threshold=world.threshold))


@door(*GRIDS)
def templates_of_pairs(case: Case) -> Outcome:
    """Lines that compare a template with itself are no attempts."""
    lines = Lines(case, self_lines=3)
    names = {name: str(name) for name in case.world.subject}
    return verified(lines.scores(pair_templates=lines.of_both_templates(names)))


def in_folds(case: Case, data: Any, splitter: Any, **options: Any) -> Outcome:
    return counts_of(be.cross_evaluate(data, splitter, threshold=case.world.threshold, **options))


@door(*COLUMNS)
def pair_folds(case: Case) -> Outcome:
    lines = Lines(case)
    scores = lines.scores(pair_folds=lines.drawn("ab"))
    return in_folds(case, scores, be.partition.PredefinedPairFolds(scores.pair_folds))


@door(*COLUMNS)
def folds_of_pairs(case: Case) -> Outcome:
    """The folds are given to the splitter, and not with the pairs."""
    lines = Lines(case)
    splitter = be.partition.PredefinedPairFolds(lines.drawn("ab"))
    return in_folds(case, lines.scores(), splitter)


@door(*COLUMNS)
def select_pairs(case: Case) -> Outcome:
    lines = Lines(case)
    return verified(lines.scores().select(lines.drawn([True, True, False])))


@door(*COLUMNS, layouts=[SQUARE])
def folds_of_samples(case: Case) -> Outcome:
    folds = case.column(group_of(case.world), case.world.probes)
    return in_folds(case, case.scores(), be.partition.PredefinedFolds(folds))


def evaluated_in_folds(case: Case, people: Any, folds: Any) -> Outcome:
    options = {"y": people, "estimator": FunctionTransformer(), "metric": "l2"}
    splitter = be.partition.PredefinedFolds(folds)
    return in_folds(case, case.points(case.world.probes), splitter, **options)


@door(*COLUMNS, layouts=[SQUARE])
def people_of_an_estimator(case: Case) -> Outcome:
    group = group_of(case.world)
    people = case.column(case.world.subject, case.world.probes)
    return evaluated_in_folds(case, people, [group[x] for x in case.world.probes])


@door(*COLUMNS, layouts=[SQUARE])
def folds_of_an_estimator(case: Case) -> Outcome:
    folds = case.column(group_of(case.world), case.world.probes)
    return evaluated_in_folds(case, *case.labels(), folds)


# Top-K lists.


def lists_of(case: Case, depth: int | None = None) -> tuple[Any, list[list[float]]]:
    """The places of the nearest entries of each query in the gallery, and their distances."""
    world = case.world
    nearest = [world.order(q)[:depth] for q in world.probes]
    places: Any = [[world.gallery.index(g) for g in found] for found in nearest]
    distances = [
        [world.distance(q, g) for g in found]
        for q, found in zip(world.probes, nearest, strict=True)
    ]
    if case.twist.scores_have_names:
        places = pd.DataFrame(places, index=pd.Index(as_array(case.names(world.probes))))
    return places, distances


@door(*COLUMNS, layouts=[DISJOINT])
def labels_of_lists(case: Case) -> Outcome:
    places, _ = lists_of(case, depth=3)
    fed = case.column(case.world.subject, case.world.probes)
    return searched(be.Scores.from_top_k(places, fed, case.labels()[1]), 3)


@door(*COLUMNS, layouts=[DISJOINT])
def gallery_labels_of_lists(case: Case) -> Outcome:
    """The entries are named by a column of metadata, as their places have no names."""
    world = case.world
    places, _ = lists_of(case, depth=3)
    meta = {"gallery_meta": {case.word: case.names(world.gallery)}}
    fed = case.column(world.subject, world.gallery)
    options = meta if case.twist.scores_have_names else {}
    return searched(be.Scores.from_top_k(places, case.labels()[0], fed, **options), 3)


@door(*GRIDS, layouts=[DISJOINT])
def distances_of_lists(case: Case) -> Outcome:
    """The distance of each query to its nearest entry."""
    places, distances = lists_of(case, depth=3)
    of_query = dict(zip(case.world.probes, distances, strict=True))
    names, names_in_order = case.twisted(case.world.probes)
    fed = np.array([of_query[q] for q in names_in_order])
    fed = rows_of(case.container, names, fed)
    scores = be.Scores.from_top_k(places, *case.labels(), distances=fed)
    nearest = {f"nearest of {i}": float(x) for i, x in enumerate(scores.distances[:, 0])}
    return Outcome(be.reid(scores, "vehicleid"), nearest)


@door(*TABLES, layouts=[DISJOINT])
def metadata_of_lists(case: Case) -> Outcome:
    """Cameras of the queries: entries of the same person and camera are removed."""
    world = case.world
    places, _ = lists_of(case)
    scores = be.Scores.from_top_k(
        places, *case.labels(), probe_meta=case.table(world.probes, camera=world.session),
        gallery_meta={"camera": [world.session[g] for g in world.gallery]},
    )  # fmt: skip
    return searched(scores, convention="market1501")


# Groups, claims, estimators.


@door(*COLUMNS)
def group(case: Case) -> Outcome:
    world, groups = case.world, group_of(case.world)
    fed = case.column(groups, world.probes)
    given = fed if world.is_square else (fed, [groups[x] for x in world.gallery])
    return counts_of(be.by_group(case.scores(), given, threshold=world.threshold))


@door(*COLUMNS)
def claims(case: Case) -> Outcome:
    """Each probe claims to be one enrolled person."""
    world = case.world
    enrolled = sorted({world.subject[g] for g in world.gallery})
    claimed = {p: case.values.choice(enrolled) for p in world.probes}
    for probe in world.probes[::2]:
        if world.subject[probe] in enrolled:
            claimed[probe] = world.subject[probe]
    return verified(case.scores(), claims=case.column(claimed, world.probes))


@door(*COLUMNS, layouts=[SQUARE])
def scorer(case: Case) -> Outcome:
    score = be.make_scorer("eer", metric="l2")
    fed = case.column(case.world.subject, case.world.probes)
    found = score(FunctionTransformer(), case.points(case.world.probes), fed)
    return Outcome(found, {"eer": -found})


# Systems.


class Second:
    """A second system of the same templates: its rows and columns are twisted."""

    def __init__(self, case: Case, distance: Callable[[Name, Name], float]):
        world = case.world
        self.case, self.world, self.distance = case, world, distance
        self.sides = {"probe": world.probes, "gallery": world.gallery}
        self.is_square = self.sides["probe"] == self.sides["gallery"]
        twisted = "probe" if self.is_square else case.rng.choice(("probe", "gallery"))
        self.names: dict[str, list[Any]] = {}
        self.of: dict[str, list[Name]] = {}
        for side, names in self.sides.items():
            if self.is_square and side == "gallery":
                self.names[side], self.of[side] = self.names["probe"], self.of["probe"]
            elif side == twisted:
                self.names[side], self.of[side] = case.twisted(names)
            else:
                self.names[side] = self.of[side] = case.other_order(names)

    def scores(self) -> be.Scores:
        subject = self.world.subject
        rows, columns = self.of.values()
        values: Any = np.array([[self.distance(p, g) for g in columns] for p in rows])
        people = [[subject[x] for x in side] for side in ([rows] if self.is_square
                                                          else [rows, columns])]  # fmt: skip
        meta: dict[str, Any] = {}
        if self.case.container == "columns":
            meta["probe_meta"] = {self.case.word: self.names["probe"]}
            if not self.is_square:
                meta["gallery_meta"] = {self.case.word: self.names["gallery"]}
        else:
            values = grid(self.case.container, *self.names.values(), values)
        return be.Scores(values, *people, **meta)

    def has(self, probe: Name, template: Name) -> bool:
        """Whether the comparison has names here; if not, both systems leave it out."""
        twist = self.case.twist
        if not twist.scores_have_names or twist in TWISTS_OF_NUMBERS.values():
            return probe in self.of["probe"] and template in self.of["gallery"]
        sides = zip(self.names.values(), (probe, template), strict=True)
        return all(str(name) in map(str, names) for names, name in sides)


@door(*SYSTEMS, is_of_systems=True)
def compare(case: Case) -> Outcome:
    world = case.world
    second = Second(case, city_block(world))
    systems = {"first": case.scores(), "second": second.scores()}
    result = be.compare(systems, measures="eer")
    distances = {"first": world.distance, "second": second.distance}
    numbers = {x: float(result.eer.sel(system=x).item()) for x in systems}
    truth = {
        x: world.verified(lambda p, g: not second.has(p, g), distance)["eer"]
        for x, distance in distances.items()
    }
    return Outcome(result, numbers, truth)


@door(*SYSTEMS, is_of_systems=True)
def fuse(case: Case) -> Outcome:
    world = case.world
    second = Second(case, city_block(world))
    fused = be.fuse({"first": case.scores(), "second": second.scores()})
    truth = world.verified(
        lambda p, g: not second.has(p, g),
        lambda p, g: (world.distance(p, g) + second.distance(p, g)) / 2,
    )
    return verified(fused)._replace(truth=truth)


@door(*GRIDS, is_of_systems=True)
def compare_lists(case: Case) -> Outcome:
    """Two lists of the same trials with names of lines; the second list is in another order."""
    lines, world = Lines(case), case.world
    second_distance = city_block(world)
    names, line_order = case.twisted(lines.names)
    second = {
        "scores": [second_distance(*lines.pair[x]) for x in line_order],
        "genuine": [lines.genuine[x] for x in line_order],
    }

    def people(some: Sequence[Name]) -> list[list[str]]:
        return [[world.subject[x] for x in lines.pair[line]] for line in some]

    container = {"frame": "series"}.get(case.container, case.container)
    systems = {
        "first": lines.scores(subjects=people(lines.names)),
        "second": be.Scores.from_pairs(
            column(container, names, second["scores"]), second["genuine"],
            subjects=people(line_order),
        ),
    }  # fmt: skip
    result = be.compare(systems, measures="eer")
    listed = set(map(str, names))
    has_all = not case.twist.scores_have_names
    if case.twist in TWISTS_OF_NUMBERS.values():
        listed = set(map(str, line_order))
    common = [x for x in lines.names if str(x) in listed or has_all]
    numbers = {x: float(result.eer.sel(system=x).item()) for x in systems}
    truth = {
        name: counted((lines.genuine[x], d(*lines.pair[x])) for x in common)["eer"]
        for name, d in (("first", world.distance), ("second", second_distance))
    }
    return Outcome(result, numbers, truth)


# Files.

FILES = ("npz of scores", "npz of embeddings", "matrix", "list")
WORDS_FOR_SUBJECTS = ("subject", "label", "identity", "person", "pid", "subject_id")


def as_text(name: Name | None) -> str:
    return "" if name is None else str(name)


def label_table(case: Case, names: Sequence[Name], file: str = "people.csv") -> Path:
    """A table with a column of names and a column of subjects, in the order of the twist."""
    fed, name_order = case.twisted(names)
    lines = [f"{case.word},{case.rng.choice(WORDS_FOR_SUBJECTS)},weather"]
    lines += [
        f"{as_text(x)},{case.world.subject[name]},fair"
        for x, name in zip(fed, name_order, strict=True)
    ]
    return written(case.folder / file, lines)


def written(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def stored(names: Sequence[Name]) -> np.ndarray:
    return np.array([as_text(x) for x in names])


@door(*FILES, layouts=[SQUARE])
def label_file(case: Case) -> Outcome:
    """Labels in a file of their own, beside a file of each kind that has the names."""
    world, values = case.world, all_distances(case.world)
    people = label_table(case, world.probes)
    has_names, names = case.twist.scores_have_names, stored(world.probes)
    options: dict[str, Any] = {"kind": "distance"}
    if case.container == "matrix" and has_names:
        path = case.folder / "matrix.csv"
        pd.DataFrame(values, index=names, columns=names).to_csv(path, index_label="probe")
    elif case.container == "list" and has_names:
        lines = [f"{p},{g},{world.distance(p, g)!r}" for p, g in world.comparisons()]
        lines = ["template_a,template_b,distance", *case.rng.sample(lines, len(lines))]
        path = written(case.folder / "list.csv", lines)
    else:
        path = case.folder / "data.npz"
        arrays: dict[str, Any] = {"scores": values}
        if case.container == "npz of embeddings":
            arrays = {"embeddings": np.array([world.point[x] for x in world.probes])}
            options = {"metric": "l2"}
        np.savez(path, **arrays, **({"name": names} if has_names else {}))
    return verified(be.load(path, labels=people, **options))._replace(truth=world.verified())


@door("npz", layouts=SIDES)
def label_files_of_both_sides(case: Case) -> Outcome:
    world, values = case.world, all_distances(case.world)
    sides = {"labels": world.probes, "gallery": world.gallery}
    people = {key: label_table(case, names, f"{key}.csv") for key, names in sides.items()}
    probes, gallery = map(stored, sides.values())
    path = case.folder / "data.npz"
    names = {"probe_name": probes, "gallery_name": gallery}
    np.savez(path, scores=values, **(names if case.twist.scores_have_names else {}))
    return verified(be.load(path, kind="distance", **people))._replace(truth=world.verified())


# ------------------------------------------------------------------------------- all doors


CASES = [
    (name, container, twist)
    for name, entry in DOORS.items()
    for container in entry.containers
    for twist in TWISTS
    if applies(entry, container, TWISTS[twist])
    # A mask alone says nothing of the order in which it is taken.
    and not (name == "mask_without_labels" and not TWISTS[twist].has_names)
]


@pytest.mark.parametrize(("name", "container", "twist_name"), CASES)
@pytest.mark.cases(40)
def test_every_door_joins_by_names_or_refuses(name, container, twist_name, tmp_path):
    entry = DOORS[name]
    twists = TWISTS_OF_SYSTEMS if entry.is_of_systems else TWISTS
    twist, seed = twists[twist_name], seed_of(name, container, twist_name)
    if twist.rows is numbered_in_another_order and name.startswith("label_file"):
        twist = dataclasses.replace(twist, expected="refused")  # a file without names of its rows
    if twist.naming == "0..n-1" and container == "frame with names":
        twist = dataclasses.replace(twist, expected="equal or refused")  # by which numbers?
    if twist.rows is with_one_doubled and container == "list":
        twist = dataclasses.replace(twist, expected="equal or refused")  # perhaps of one person
    # A template on both sides is known by its names.
    has_names = twist.scores_have_names and twist not in TWISTS_OF_NUMBERS.values()
    layouts = [x for x in entry.layouts if has_names or x != OVERLAPPING]
    is_numbered = twist.naming not in ("any", "words")
    layout = SQUARE if is_numbered else layouts[seed % len(layouts)]
    world = drawn_world(seed, layout, twist.naming)
    assert_true_or_refused(entry.feed, Case(world, container, twist, seed, tmp_path))


# ------------------------------------------------------------------------------- one template


def worlds(number: int, layout: str = SQUARE, naming: str = "files") -> list[World]:
    return [drawn_world(seed_of(layout, naming, str(i)), layout, naming) for i in range(number)]


def meta_of_sides(world: World, **columns: dict[Name, Any]) -> dict[str, Any]:
    """Plain metadata of probes and gallery, in the order of the scores."""
    sides = {"probe_meta": world.probes, "gallery_meta": world.gallery}
    return {
        side: {key: [value[x] for x in names] for key, value in columns.items()}
        for side, names in sides.items()
    }


def named_scores(
    world: World, container: str, folder: Path, word: str = "name", people: Any = None
) -> be.Scores:
    """Probes against a gallery, whose templates are named in a container."""
    values, people = all_distances(world), people or people_of(world)
    names = {name: name for name in world.subject}
    if container in GRIDS:
        return be.Scores(grid(container, world.probes, world.gallery, values), *people)
    if container == "columns":
        return be.Scores(values, *people, **meta_of_sides(world, **{word: names}))
    points = [np.array([world.point[x] for x in side]) for side in (world.probes, world.gallery)]
    if container == "embeddings":
        frames = [
            pd.DataFrame(x, index=list(side))
            for x, side in zip(points, (world.probes, world.gallery), strict=True)
        ]
        sides = frames[0], people[0], frames[1], people[1]
        return be.Scores.from_embeddings(*sides, metric="l2")
    if container == "embeddings with columns":
        sides = points[0], people[0], points[1], people[1]
        meta = meta_of_sides(world, **{word: names})
        return be.Scores.from_embeddings(*sides, metric="l2", **meta)
    if container == "lists":
        places = [[world.gallery.index(g) for g in sorted(world.gallery, key=lambda g, q=q:
                   world.distance(q, g))] for q in world.probes]  # fmt: skip
        return be.Scores.from_top_k(places, *people, **meta_of_sides(world, **{word: names}))
    if container == "saved":
        be.save(named_scores(world, "frame", folder, people=people), folder / "data.npz")
        return be.load(folder / "data.npz")
    assert container == "npz"
    arrays = {"scores": values}
    for side, names, of_side in zip(
        ("probe", "gallery"), (world.probes, world.gallery), people, strict=True
    ):
        arrays |= {f"{side}_labels": np.array(of_side), f"{side}_{word}": stored(names)}
    np.savez(folder / "scores.npz", **arrays)
    return be.load(folder / "scores.npz")


#: Whole numbers in an index name no templates; in a column of names they do.
INDEXED = (*GRIDS, "embeddings", "saved")
NAMED = (*INDEXED, "columns", "embeddings with columns", "npz")


@pytest.mark.parametrize("container", [*NAMED, "lists"])
@pytest.mark.parametrize("naming", ["files", "words", "numbers", "mixed"])
def test_a_template_on_both_sides_is_not_compared_with_itself(container, naming, tmp_path):
    """A query in the gallery is no entry of its own list, and one name of two people is refused."""
    in_columns = container in ("columns", "npz") and naming == "files"
    words = WORDS_FOR_NAMES if in_columns else ("name", "name")
    for world, word in zip(worlds(len(words), OVERLAPPING, naming), words, strict=True):
        is_known = naming != "numbers" or container not in INDEXED
        scores = named_scores(world, container, tmp_path, word)
        if is_known:
            assert_true(searched(scores), world.searched())
            sides = [[as_text(x) for x in side] for side in (world.probes, world.gallery)]
            assert [[*map(str, scores.probe_names)], [*map(str, scores.gallery_names)]] == sides
        if container == "lists":
            continue
        pairs = itertools.product(world.probes, world.gallery)
        truth = counted((world.is_genuine(*x), world.distance(*x)) for x in pairs)
        truth = world.verified() if is_known else truth
        assert_true(verified(scores), truth)
        on_both_sides = next(x for x in world.probes if x in world.gallery)
        people = people_of(world)
        others = {*world.subject.values()} - {world.subject[on_both_sides]}
        people[1][world.gallery.index(on_both_sides)] = min(others)
        refuses = is_refused(lambda: named_scores(world, container, tmp_path, word, people))  # noqa: B023
        assert refuses == is_known


@pytest.mark.parametrize("container", GRIDS)
@pytest.mark.parametrize("naming", ["files", "0..n-1"])
def test_a_square_whose_columns_are_in_another_order_leaves_no_diagonal_but_its_templates_out(
    container, naming
):
    for world in worlds(2, naming=naming):
        order = random.Random(1).sample(world.gallery, len(world.gallery))
        values = [[world.distance(p, g) for g in order] for p in world.probes]
        table = grid(container, world.probes, order, values)
        people = [[world.subject[x] for x in side] for side in (world.probes, order)]
        scores = be.Scores(table, *people[: 1 if naming == "0..n-1" else 2])
        assert scores.layout == "all-against-all"
        assert_true(verified(scores), world.verified())


def is_refused(call: Callable[[], Any]) -> bool:
    try:
        call()
    except be.DataError:
        return True
    return False


def test_templates_without_names_are_no_template_of_the_other_side():
    """Two names that are missing are not equal."""
    for missing in (None, math.nan, ""):
        (world,) = worlds(1, OVERLAPPING)
        unnamed = {*world.probes[:2], *world.gallery[-2:], *world.gallery[:1]}
        name = {x: missing if x in unnamed else x for x in world.subject}
        scores = be.Scores(
            all_distances(world), *people_of(world), **meta_of_sides(world, name=name)
        )
        truth = counted(
            (world.is_genuine(p, g), world.distance(p, g))
            for p in world.probes
            for g in world.gallery
            if p != g or p in unnamed
        )
        assert_true(verified(scores), truth)


NAMES_THAT_ARE_EQUAL = [
    (7, "7"), (7, 7.0), (7, np.int8(7)), (7.0, "7"), ("x", np.str_("x")), ("x", b"x"),
    ("a/x", PurePosixPath("a/x")), (b"7", 7), (b"a/x", PurePosixPath("a/x")),
]  # fmt: skip
NAMES_THAT_DIFFER = [
    (7, "07"), (7, "7.0"), ("7.png", "7"), ("a/x", "x"), ("x", "X"), ("x", None), (7, 70),
]  # fmt: skip


@pytest.mark.parametrize("container", COLUMNS)
@pytest.mark.parametrize("names", NAMES_THAT_ARE_EQUAL + NAMES_THAT_DIFFER, ids=repr)
def test_names_are_equal_as_texts_and_numbers_only_as_they_are_written(container, names):
    first_name, other_name = names
    distances = [[0.0, 1.0, 4.0], [1.0, 0.0, 5.0], [4.0, 5.0, 0.0]]
    rows = pd.Index(as_array([first_name, "second", "third"]))
    frame = pd.DataFrame(distances, rows, rows)
    people = column(container, ["third", other_name, "second"], ["bob", "ann", "ann"])
    if names in NAMES_THAT_DIFFER:
        assert is_refused(lambda: be.Scores(frame, people))
        return
    scores = be.Scores(frame, people)
    truth = counted([(True, 1.0)] * 2 + [(False, 4.0)] * 2 + [(False, 5.0)] * 2)
    assert_true(verified(scores), truth)


# ------------------------------------------------------------------------------- lists of pairs

ONE_SET = [
    ("probe", "gallery"), ("enrol", "test"), ("model", "probe"), ("query", "gallery"),
    ("image1", "image2"), ("file1", "file2"), ("template_a", "template_b"),
]  # fmt: skip


def melted(world: World, first: str, second: str) -> pd.DataFrame:
    """All pairs of a matrix as lines, the diagonal too, in any order."""
    lines = [
        {first: p, second: g, "distance": world.distance(p, g), "genuine": world.is_genuine(p, g)}
        for p in world.probes
        for g in world.gallery
    ]
    random.Random(2).shuffle(lines)
    return pd.DataFrame(lines)


def fed_list(frame: pd.DataFrame, container: str, folder: Path) -> Any:
    if container == "frame":
        return frame
    path = folder / "list.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("headings", ONE_SET, ids=" ".join)
@pytest.mark.parametrize("container", ["frame", "csv"])
@pytest.mark.parametrize("layout", [SQUARE, DISJOINT])
@pytest.mark.parametrize("naming", ["files", "words"])
def test_a_list_has_the_numbers_of_its_matrix(headings, container, layout, naming, tmp_path):
    """No line compares a template with itself, unless these lines are kept."""
    (world,) = worlds(1, layout, naming)
    data = fed_list(melted(world, *headings), container, tmp_path)
    for reading in ({}, {"lists": {"as": "matrix"}}):
        outcome = verified(be.load(data, **reading))
        assert_true(outcome, world.verified())
        if layout == SQUARE and not reading:
            (left_out,) = (
                m for m in be.messages(outcome.result) if m.code == "self-comparisons-left-out"
            )
            assert len(world.probes) in left_out.arguments.values()
    pairs = itertools.product(world.probes, world.gallery)
    truth = counted((world.is_genuine(*x), world.distance(*x)) for x in pairs)
    kept = be.load(data, lists={"keep": "self"})
    assert_true(verified(kept), truth)


# ------------------------------------------------------------------------------- numbers of rows

ROWS = range(24)
SUBJECT = {i: f"p{i % 6}" for i in ROWS}
CENTRES, NOISE = (np.random.default_rng(3).normal(size=x) for x in ((6, 4), (24, 4)))
POINT = dict(enumerate(3.0 * CENTRES[np.arange(24) % 6] + NOISE))
SHUFFLED, OTHERWISE = (random.Random(i).sample(ROWS, 24) for i in (1, 2))
IS_CHOSEN = pd.Series({i: i % 7 not in (2, 5) for i in ROWS})


def distances(rows: Sequence[int], columns: Sequence[int]) -> np.ndarray:
    return np.array([[np.linalg.norm(POINT[i] - POINT[j]) for j in columns] for i in rows])


def numbered_distances(rows: Sequence[int]) -> pd.DataFrame:
    return pd.DataFrame(distances(rows, rows), rows, rows)


def labels_of(rows: Sequence[int]) -> list[str]:
    return [SUBJECT[i] for i in rows]


def assert_attempts(scores: be.Scores, pairs: Sequence[tuple[int, int]]) -> None:
    truth = counted((SUBJECT[i] == SUBJECT[j], distances([i], [j])[0, 0]) for i, j in pairs)
    assert_true(verified(scores), truth)


@pytest.mark.parametrize("of_embeddings", [False, True])
@pytest.mark.parametrize(
    ("rows", "has_numbers", "labels"),
    [
        (SHUFFLED, True, labels_of(ROWS)),
        (ROWS, False, pd.Series(SUBJECT)[SHUFFLED]),
        (SHUFFLED, True, pd.Series(labels_of(SHUFFLED))),
    ],
    ids=["an array in natural order", "scores are an array", "numbered anew"],
)
def test_labels_that_fit_the_scores_in_another_order_are_asked_about(
    of_embeddings, rows, has_numbers, labels
):
    points = pd.DataFrame([POINT[i] for i in rows], rows)
    data = points if of_embeddings else numbered_distances(rows)
    make = be.Scores.from_embeddings if of_embeddings else be.Scores
    with refused(r"numbered in different orders.*reset_index\(drop=True\)"):
        make(data if has_numbers else data.to_numpy(), labels, **{"metric": "l2"} if of_embeddings
             else {})  # fmt: skip


@pytest.mark.parametrize(
    ("fed", "written", "message"),
    [
        ([*ROWS][5:], int, r"`labels` has no row 0, which the scores have, nor 5 of 24"),
        (ROWS, lambda i: i // 2, "the number 0 stands twice in the index of `labels`"),
        (ROWS, lambda i: f"x{i}", "no value of the template 't0'.* such as 'x0'"),
    ],
)
def test_an_error_names_a_key_of_each_side(fed, written, message):
    names = [f"t{i}" for i in ROWS] if "t0" in message else ROWS
    table = numbered_distances(ROWS).set_axis(names).set_axis(names, axis=1)
    with refused(message):
        be.Scores(table, pd.Series(labels_of(fed), index=[*map(written, fed)]))


def test_a_selection_keeps_the_numbers_of_its_rows():
    """Of a matrix, and of a list of pairs."""
    rows = [i for i in SHUFFLED[3:] if IS_CHOSEN[i]]
    scores = be.Scores(numbered_distances(SHUFFLED), labels_of(SHUFFLED))
    pairs = [(i, j) for i in rows for j in rows if i != j]
    assert_attempts(scores.select(np.arange(3, 24)).select(IS_CHOSEN), pairs)
    pairs = [(i, (i + (6 if i % 2 else 1)) % 24) for i in SHUFFLED]
    lines = pd.Series([distances([i], [j])[0, 0] for i, j in pairs], SHUFFLED)
    listed = be.Scores.from_pairs(lines, [SUBJECT[i] == SUBJECT[j] for i, j in pairs])
    chosen = [x for x in pairs[3:] if IS_CHOSEN[x[0]]]
    assert_attempts(listed.select(np.arange(3, 24)).select(IS_CHOSEN), chosen)


def test_lists_of_one_set_leave_out_the_query_by_its_number():
    """Lists in another order than the labels, which are those of the entries, too."""
    lists = {i: np.argsort(distances([i], ROWS)[0])[:5].tolist() for i in ROWS}
    given = pd.DataFrame([lists[i] for i in SHUFFLED], SHUFFLED)
    scores = be.Scores.from_top_k(given, pd.Series(SUBJECT))
    for row, indices in zip(SHUFFLED, scores.indices.tolist(), strict=True):
        assert [x for x in indices if x >= 0] == [x for x in lists[row] if x != row]


def test_names_in_a_column_and_numbers_of_an_index_are_kept_side_by_side():
    """Labels are joined by numbers, and templates on both sides are known by their names."""
    meta = pd.DataFrame({"name": [f"t{i}" for i in ROWS]})
    scores = be.Scores(numbered_distances(SHUFFLED), pd.Series(SUBJECT), probe_meta=meta)
    assert scores.probe_names.tolist() == [f"t{i}" for i in SHUFFLED]
    again = pd.Series({f"t{i}": IS_CHOSEN[i] for i in OTHERWISE})
    for chosen in (IS_CHOSEN, again):
        names = scores.select(chosen).probe_names.tolist()
        assert names == [f"t{i}" for i in SHUFFLED if IS_CHOSEN[i]]


def test_no_column_of_a_table_has_names_where_names_is_none():
    meta = pd.DataFrame({"name": [f"t{i}" for i in ROWS], "session": ROWS})
    for given in (meta, dict(meta)):
        options = {"probe_meta": given, "names": None}
        scores = be.Scores(distances(ROWS, ROWS), labels_of(ROWS), **options)
        assert scores.probe_names is None
        assert scores.probe_meta["session"].tolist() == [*ROWS]


# ------------------------------------------------------------------------------- dimensions


#: The dimensions of scores and of the labels of both sides; words of the error, if there is one.
DIMENSIONS = [
    (("gallery", "probe"), (None, None), ""),
    (("references", "q"), (None, None), ""),
    (("g", "p"), ("p", "g"), ""),
    (("g", "Query"), (None, None), ""),
    (("a", "b"), (None, None), "by position"),
    (("probe", "query"), ("x", "y"), "'probe' and 'query' are both of the probes"),
    (("probe", "gallery"), ("gallery", "probe"), "'probe' is that of the labels of the other"),
]


@pytest.mark.parametrize(("dims", "of_labels", "message"), DIMENSIONS)
def test_dimensions_of_xarray_are_known_by_their_names(dims, of_labels, message):
    """Scores and a mask of as many rows as columns, with the gallery first."""
    probes, gallery = range(12), range(12, 24)
    people = [
        np.array(labels_of(rows)) if dim is None else xr.DataArray(labels_of(rows), dims=dim)
        for rows, dim in zip((probes, gallery), of_labels, strict=True)
    ]
    values = xr.DataArray(distances(gallery, probes), dims=dims)
    if " are " in message or " is " in message:
        with refused(message):
            be.Scores(values, *people)
        return
    scores = be.Scores(values, *people)
    np.testing.assert_array_equal(scores.values, values if message else values.to_numpy().T)
    if message:
        return
    is_kept = np.random.default_rng(1).random((12, 12)) < 0.7
    pairs = [*itertools.product(probes, gallery)]
    assert_attempts(scores, pairs)
    if dims[0] != "g":
        scores = be.Scores(values, *people, mask=values.copy(data=is_kept.T))
        assert_attempts(scores, [x for x in pairs if is_kept[x[0], x[1] - 12]])


# ------------------------------------------------------------------------------- failures


def halves(world: World, rng: random.Random) -> list[set[tuple[Name, Name]]]:
    """Two sets with equal numbers of genuine comparisons and of impostor comparisons."""
    by_class: dict[bool, list[tuple[Name, Name]]] = {True: [], False: []}
    for pair in world.comparisons():
        by_class[world.is_genuine(*pair)].append(pair)
    genuine, impostor = min(4, len(by_class[True]) // 2), min(9, len(by_class[False]) // 2)
    drawn = [rng.sample(by_class[True], 2 * genuine), rng.sample(by_class[False], 2 * impostor)]
    first = drawn[0][:genuine] + drawn[1][:impostor]
    second = drawn[0][genuine:] + drawn[1][impostor:]
    return [set(first), set(second)]


def lacking_system(
    way: str, world: World, distance: Any, lacking: set[tuple[Name, Name]], **options: Any
) -> be.Scores:
    """Scores that lack some comparisons: failed, masked, or blank lines of a list."""
    if way == "list":
        lines = [
            {"template_a": p, "template_b": g, "subject_a": world.subject[p],
             "subject_b": world.subject[g],
             "distance": None if (p, g) in lacking else distance(p, g)}
            for p, g in random.Random(len(lacking)).sample(world.comparisons(),
                                                           len(world.comparisons()))
        ]  # fmt: skip
        return be.load(pd.DataFrame(lines), **options)
    values = [[distance(p, g) for g in world.gallery] for p in world.probes]
    is_lacking = np.array([[(p, g) in lacking for g in world.gallery] for p in world.probes])
    if way == "mask":
        options["mask"] = ~is_lacking
    elif way == "failed":
        values = np.where(is_lacking, np.nan, values)
    table = grid("frame", world.probes, world.gallery, values)
    return be.Scores(table, *people_of(world)[: 1 if world.is_square else 2], **options)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(
    ("way", "layout", "nan"),
    [
        ("failed", SQUARE, "exclude"), ("failed", DISJOINT, "exclude"),
        ("failed", SQUARE, "reject"), ("failed", DISJOINT, "reject"),
        ("list", SQUARE, "exclude"), ("list", SQUARE, "reject"),
        ("mask", SQUARE, "raise"), ("session", SQUARE, "raise"),
    ],
)  # fmt: skip
def test_systems_that_lack_other_comparisons_are_compared_on_what_both_have(way, layout, nan, seed):
    """Or, where a failure is a rejection, on all comparisons."""
    world, rng = drawn_world(seed, layout, "words" if way == "list" else "any"), random.Random(seed)
    distances = {"first": world.distance, "second": city_block(world)}
    lacking = dict(zip(distances, halves(world, rng), strict=True))
    systems, truth = {}, {}
    for name, distance in distances.items():
        options: dict[str, Any] = {"nan": nan}
        if way == "session":
            session = {x: rng.randint(1, 2) for x in world.probes}
            lacking[name] = {
                (p, g) for p, g in world.comparisons()
                if world.is_genuine(p, g) and session[p] == session[g]
            }  # fmt: skip
            options |= {"probe_meta": {"session": [*session.values()]}, "exclude": ["session"]}
        systems[name] = lacking_system(way, world, distance, lacking[name], **options)
    in_no_system = set() if nan == "reject" else set().union(*lacking.values())
    for name, distance in distances.items():
        scores: dict[bool, list[float]] = {True: [], False: []}
        for pair in world.attempts(lambda p, g: (p, g) in in_no_system):
            is_rejected = nan == "reject" and pair in lacking[name]
            scores[world.is_genuine(*pair)].append(naive.FAILED if is_rejected else distance(*pair))
        truth[name] = eer_of(scores[True], scores[False])
    result = be.compare(systems, measures="eer")
    numbers = {x: float(result.eer.sel(system=x).item()) for x in systems}
    assert_true(Outcome(result, numbers), truth)
    if (way, nan) == ("failed", "exclude"):
        assert "not-in-common" in {m.code for m in be.messages(result)}
    if nan != "reject":
        fused_truth = world.verified(
            lambda p, g: (p, g) in in_no_system,
            lambda p, g: sum(d(p, g) for d in distances.values()) / 2,
        )
        assert_true(verified(be.fuse(systems)), fused_truth)
