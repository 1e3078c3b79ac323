"""Small random worlds whose templates have names, and their true numbers by names alone.

A world is a set of dictionaries whose keys are names, so that it has no order: what is counted of
it are plain loops over names. A case feeds the same world to a call, in some container of rows,
with a twist: other orders, other spellings of the names, names that are missing or stand twice.
"""

from __future__ import annotations

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

import bioeval as be

Name = Any  # a text or a whole number
Numbers = dict[str, float]

PEOPLE = ("ann", "bob", "cem", "dan", "eve", "fay")
DIMENSIONS = 5
SPELLINGS = ("text", "numbers", "floats", "bytes", "paths", "mixed")
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

    def is_same_session(self, probe: Name, template: Name) -> bool:
        """Whether both templates are of a person and of a session that ``exclude`` leaves out."""
        return self.is_genuine(probe, template) and self.session[probe] == self.session[template]

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

    def searched(self, depth: int | None = None) -> Numbers:
        """Rank 1 and mAP of the queries with a match; of lists of some depth, rank 1 and recall."""
        first, precisions, within = [], [], []
        for query in self.probes:
            matches = [self.is_genuine(query, g) for g in self.order(query)]
            if not any(matches):
                continue
            first.append(matches[0])
            within.append(any(matches[:depth]))
            hits = [rank for rank, match in enumerate(matches, start=1) if match]
            precisions.append(sum(k / rank for k, rank in enumerate(hits, 1)) / len(hits))
        queries = len(first)
        numbers = {"queries": queries, "rank 1": sum(first) / queries}
        if depth is None:
            return numbers | {"mAP": sum(precisions) / queries}
        return numbers | {f"rank {depth}": sum(within) / queries}


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
    centre = {person: [rng.gauss(0, 1) for _ in range(DIMENSIONS)] for person in people}
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


# ------------------------------------------------------------------------------- names


def spelled(name: Name, spelling: str) -> Any:
    """Write a name in another type with the same meaning; a text is no number in any spelling."""
    if spelling == "bytes":
        return str(name).encode()
    if spelling == "paths":
        return PurePosixPath(str(name))
    if isinstance(name, str):
        return np.str_(name) if spelling == "numbers" else name
    return {"text": str, "floats": float, "numbers": int}[spelling](name)


def same_text(name: Any) -> str:
    """The text that all spellings of a name have in common."""
    if isinstance(name, bytes):
        return name.decode()
    return str(int(name)) if isinstance(name, float) else str(name)


def respelled(names: Sequence[Name | None], spelling: str, rng: random.Random) -> list[Any]:
    """Write all names in a spelling, or each name in a random spelling; None stays."""
    chosen_spellings = [
        rng.choice(SPELLINGS[:-1]) if spelling == "mixed" else spelling for _ in names
    ]
    return [
        None if x is None else spelled(x, how)
        for x, how in zip(names, chosen_spellings, strict=True)
    ]


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
    is_respelled: bool = False
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
    "spelled otherwise": Twist(in_another_order, "equal", is_respelled=True),
    "0 to n-1 on both sides": Twist(in_another_order, "equal", naming="0..n-1"),
    "one is missing": Twist(without_one, "refused"),
    "one has no name": Twist(with_one_unnamed, "refused"),
    "one stands twice": Twist(with_one_doubled, "refused"),
    "one for another": Twist(with_one_in_place_of_another, "refused"),
    "other names": Twist(with_other_names, "refused"),
    "anything 1": Twist(anything, "equal or refused", is_respelled=True),
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
    rng: random.Random
    folder: Path
    naming_of_scores: str = field(init=False)
    spelling: str = field(init=False)
    word: str = field(init=False)

    def __post_init__(self) -> None:
        self.naming_of_scores = "frame" if self.twist.written else self.rng.choice(GRIDS)
        if not self.twist.has_names:
            self.container = "plain"
        self.spelling = self.rng.choice(SPELLINGS if self.twist.is_respelled else SPELLINGS[:1])
        self.word = self.rng.choice(WORDS_FOR_NAMES)

    def file(self, name: str) -> Path:
        return self.folder / name

    # What is joined.

    def twisted(self, names: Sequence[Name]) -> tuple[list[Any], list[Name]]:
        """The names of the twisted rows as they are spelled, and the templates of their values."""
        lines = self.twist.rows(list(names), self.rng)
        names_of_lines = [line.name for line in lines]
        if self.twist.is_respelled:
            names_of_lines = respelled(names_of_lines, self.rng.choice(SPELLINGS), self.rng)
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
        if self.twist.written:
            return [self.twist.written[0](x) for x in names]
        return respelled(names, self.spelling, self.rng) if self.twist.is_respelled else list(names)

    def matrix(self) -> Any:
        """All distances, with the names of both sides unless the twist takes them away."""
        world = self.world
        values = np.array([[world.distance(p, g) for g in world.gallery] for p in world.probes])
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
        sides = [self.world.probes] if self.world.is_square else [self.world.probes,
                                                                  self.world.gallery]  # fmt: skip
        return [[self.world.subject[x] for x in side] for side in sides]

    def scores(self, **options: Any) -> be.Scores:
        """The scores with their labels, before anything is joined."""
        return be.Scores(self.matrix(), *self.labels(), **options)


# ------------------------------------------------------------------------------- outcomes


class Outcome(NamedTuple):
    """What a call gave: its result, its numbers, and those of the world."""

    result: Any
    numbers: Numbers
    truth: Numbers


def assert_true(outcome: Outcome) -> None:
    right = pytest.approx(outcome.truth, rel=1e-6, abs=1e-9, nan_ok=True)
    assert outcome.numbers == right, f"ANOTHER NUMBER: {outcome.numbers}, right {outcome.truth}"


def assert_true_or_refused(outcome: Callable[[], Outcome], twist: Twist) -> Outcome | None:
    """Hold a call to the world: its true numbers, or an error of the data, as the twist says."""
    try:
        result = outcome()
    except be.DataError as error:
        assert twist.expected != "equal", f"REFUSED: {error}"
        return None
    assert_true(result)
    assert twist.expected != "refused", f"TAKEN: {result.numbers}, expected an error"
    is_in_order = not (twist.scores_have_names and twist.has_names) or twist.rows is numbered_anew
    if is_in_order and hasattr(result.result, "attrs"):
        said = {message.code for message in be.messages(result.result)}
        assert "taken-in-order" in said, "SILENT: names on one side only, in order"
    return result


def seed_of(*parts: str) -> int:
    return zlib.crc32(" ".join(parts).encode())


def verified(scores: Any, **options: Any) -> tuple[Any, Numbers]:
    """The result of verification, and its numbers."""
    result = be.verification(scores, **options)
    return result, {
        "genuine": int(result.genuine_attempts),
        "impostor": int(result.impostor_attempts),
        "eer": float(result.eer),
    }


def searched(scores: Any, depth: int | None = None) -> tuple[Any, Numbers]:
    """The result of re-identification without any camera, and its numbers."""
    result = be.reid(scores, "vehicleid")
    numbers = {"queries": int(result.queries), "rank 1": float(result.cmc.sel(rank=1))}
    if depth is None:
        return result, numbers | {"mAP": float(result.mean_ap)}
    return result, numbers | {f"rank {depth}": float(result.cmc.sel(rank=depth))}
