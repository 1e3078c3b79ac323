"""Rows are joined by the names of templates: the true number, or an error, never another number.

Every door of the package that takes a value for each template or pair is fed small worlds in every
container of rows, with the twists of ``joined_worlds``; the truth is counted by names alone.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import h5py
import joined_worlds
import naive
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from joined_worlds import (
    COLUMNS,
    GRIDS,
    TABLES,
    TWISTS,
    TWISTS_OF_NUMBERS,
    WORDS_FOR_NAMES,
    Case,
    Name,
    Numbers,
    Outcome,
    World,
    as_array,
    assert_true_or_refused,
    counted,
    drawn_world,
    eer_of,
    searched,
    seed_of,
    verified,
)
from named_arguments import refused
from reference import one_thread  # noqa: F401
from sklearn.preprocessing import FunctionTransformer

import bioeval as be

#: What is said of small worlds as Python warnings is held by other tests.
pytestmark = pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")

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


def applies(door: Door, container: str, twist: joined_worlds.Twist) -> bool:
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


def other_side(case: Case, value: dict[Name, Any]) -> tuple[list[Any], ...]:
    """A plain list of the values of the gallery, or nothing where both sides are equal."""
    return () if case.world.is_square else ([value[g] for g in case.world.gallery],)


# Scores and embeddings.


@door(*COLUMNS)
def labels(case: Case) -> Outcome:
    world = case.world
    fed = case.column(world.subject, world.probes)
    scores = be.Scores(case.matrix(), fed, *other_side(case, world.subject))
    return Outcome(*verified(scores), world.verified())


@door(*COLUMNS, layouts=SIDES)
def gallery_labels(case: Case) -> Outcome:
    world = case.world
    fed = case.column(world.subject, world.gallery)
    scores = be.Scores(case.matrix(), [world.subject[p] for p in world.probes], fed)
    return Outcome(*verified(scores), world.verified())


def sessions(case: Case, side: str) -> dict[str, Any]:
    """Sessions of both sides; the sessions of one side are joined by names."""
    world = case.world
    if world.is_square:
        return {"probe_meta": case.table(world.probes, session=world.session)}
    names = {"probe_meta": world.probes, "gallery_meta": world.gallery}
    plain = {key: {"session": [world.session[x] for x in names[key]]} for key in names}
    return plain | {side: case.table(names[side], session=world.session)}


@door(*TABLES)
def probe_meta(case: Case) -> Outcome:
    scores = case.scores(exclude=["session"], **sessions(case, "probe_meta"))
    return Outcome(*verified(scores), case.world.verified(case.world.is_same_session))


@door(*TABLES, layouts=SIDES)
def gallery_meta(case: Case) -> Outcome:
    scores = case.scores(exclude=["session"], **sessions(case, "gallery_meta"))
    return Outcome(*verified(scores), case.world.verified(case.world.is_same_session))


def kept_comparisons(case: Case) -> dict[tuple[Name, Name], bool]:
    world = case.world
    all_pairs = itertools.product(world.probes, world.gallery)
    return {pair: pair[0] != pair[1] and case.rng.random() < 0.7 for pair in all_pairs}


@door(*GRIDS)
def mask(case: Case) -> Outcome:
    is_kept = kept_comparisons(case)
    scores = case.scores(mask=case.grid(lambda p, g: is_kept[p, g], dtype=bool))
    return Outcome(*verified(scores), case.world.verified(lambda p, g: not is_kept[p, g]))


@door(*GRIDS)
def mask_without_labels(case: Case) -> Outcome:
    is_kept, world = kept_comparisons(case), case.world
    marks = case.grid(lambda p, g: is_kept[p, g] * (1 + world.is_genuine(p, g)), dtype=int)
    scores = be.Scores(case.matrix(), mask=marks)
    return Outcome(*verified(scores), world.verified(lambda p, g: not is_kept[p, g]))


@door(*GRIDS)
def with_mask(case: Case) -> Outcome:
    is_kept = kept_comparisons(case)
    scores = case.scores().with_mask(case.grid(lambda p, g: is_kept[p, g], dtype=bool))
    return Outcome(*verified(scores), case.world.verified(lambda p, g: not is_kept[p, g]))


def city_block(world: World) -> Callable[[Name, Name], float]:
    """The distance of a second system."""

    def distance(probe: Name, template: Name) -> float:
        sides = zip(world.point[probe], world.point[template], strict=True)
        return math.fsum(abs(x - y) for x, y in sides)

    return distance


@door(*GRIDS)
def with_values(case: Case) -> Outcome:
    distance = city_block(case.world)
    scores = case.scores().with_values(case.grid(distance), "distance")
    return Outcome(*verified(scores), case.world.verified(distance=distance))


@door(*COLUMNS)
def select(case: Case) -> Outcome:
    world = case.world
    is_taken = {name: case.rng.random() < 0.7 for name in world.subject}
    fed = case.column(is_taken, world.probes)
    if world.is_square:
        scores = case.scores().select(fed)
        truth = world.verified(lambda p, g: not (is_taken[p] and is_taken[g]))
    else:
        scores = case.scores().select(probes=fed)
        truth = world.verified(lambda p, g: not is_taken[p])
    return Outcome(*verified(scores), truth)


@door(*GRIDS)
def mask_of_embeddings(case: Case) -> Outcome:
    is_kept, world = kept_comparisons(case), case.world
    sides: list[Any] = []
    for names in [world.probes] if world.is_square else [world.probes, world.gallery]:
        sides += [case.points(names), [world.subject[x] for x in names]]
    marks = case.grid(lambda p, g: is_kept[p, g], dtype=bool)
    scores = be.Scores.from_embeddings(*sides, metric="l2", mask=marks)
    return Outcome(*verified(scores), world.verified(lambda p, g: not is_kept[p, g]))


@door(*COLUMNS)
def labels_of_embeddings(case: Case) -> Outcome:
    world = case.world
    gallery = () if world.is_square else (case.points(world.gallery),)
    fed = case.column(world.subject, world.probes)
    sides = (case.points(world.probes), fed, *gallery, *other_side(case, world.subject))
    return Outcome(*verified(be.Scores.from_embeddings(*sides, metric="l2")), world.verified())


@door(*TABLES)
def metadata_of_embeddings(case: Case) -> Outcome:
    world = case.world
    sides: list[Any] = []
    for names in [world.probes] if world.is_square else [world.probes, world.gallery]:
        sides += [case.points(names), [world.subject[x] for x in names]]
    options = {"metric": "l2", "exclude": ["session"]} | sessions(case, "probe_meta")
    scores = be.Scores.from_embeddings(*sides, **options)
    return Outcome(*verified(scores), world.verified(world.is_same_session))


@door(*TABLES, layouts=[SQUARE])
def average(case: Case) -> Outcome:
    """Clips of two or three templates of one person become one template each."""
    world = case.world
    clip, of_subject = {}, {}
    for name, subject in world.subject.items():
        of_subject[subject] = of_subject.get(subject, 0) + 1
        clip[name] = f"{subject}, clip {of_subject[subject] % 2}"
    people = [world.subject[x] for x in world.probes]
    scores = be.Scores.from_embeddings(
        case.points(world.probes), people, metric="l2", average=["clip"],
        probe_meta=case.table(world.probes, clip=clip),
    )  # fmt: skip
    mean = {
        one: np.mean([world.point[x] for x in clip if clip[x] == one], axis=0)
        for one in clip.values()
    }
    who_of = {clip[x]: world.subject[x] for x in clip}
    truth = counted(
        (who_of[a] == who_of[b], math.dist(mean[a], mean[b])) for a in mean for b in mean if a != b
    )
    return Outcome(*verified(scores), truth)


# Lists of pairs: each line has a name.


class Lines:
    """Lines of a list of pairs, which have names of their own in another order."""

    def __init__(self, case: Case, self_lines: int = 0):
        world, rng = case.world, case.rng
        pairs = rng.sample(world.comparisons(), min(60, len(world.comparisons())))
        pairs += [(x, x) for x in rng.sample(world.gallery, self_lines)]
        numbers: list[Name] = list(range(len(pairs)))
        if case.twist.naming in ("any", "words"):
            numbers = [f"trial {i}" for i in numbers]
        elif case.twist.naming == "with gaps":
            numbers = [i + i // 4 for i in numbers]
        if case.twist.naming != "in order":
            rng.shuffle(numbers)
        self.case = case
        self.pair = dict(zip(numbers, pairs, strict=True))
        self.names = list(self.pair)
        self.genuine = {line: world.is_genuine(*pair) for line, pair in self.pair.items()}

    def scores(self) -> Any:
        """The distances, with the names of the lines unless the twist takes them away."""
        case = self.case
        values = [case.world.distance(*self.pair[line]) for line in self.names]
        if not case.twist.scores_have_names:
            return values
        return joined_worlds.column("series", case.names(self.names), values)

    def plain(self) -> list[bool]:
        return [self.genuine[line] for line in self.names]

    def of_both_templates(self, value: dict[Name, Any]) -> Any:
        """The values of both templates of each line, twisted."""
        names, line_order = self.case.twisted(self.names)
        values = np.array([[value[x] for x in self.pair[line]] for line in line_order])
        return joined_worlds.rows_of(self.case.container, names, values)

    def attempts(self) -> Numbers:
        world = self.case.world
        attempts = [(self.genuine[x], world.distance(*pair)) for x, pair in self.pair.items()
                    if pair[0] != pair[1]]  # fmt: skip
        return counted(attempts)


@door(*COLUMNS)
def genuine_of_pairs(case: Case) -> Outcome:
    lines = Lines(case)
    scores = be.Scores.from_pairs(lines.scores(), case.column(lines.genuine, lines.names))
    return Outcome(*verified(scores), lines.attempts())


@door(*GRIDS)
def subjects_of_pairs(case: Case) -> Outcome:
    """The people of both sides of each line, in the order of the scores."""
    lines, world = Lines(case), case.world
    people = lines.of_both_templates(world.subject)
    scores = be.Scores.from_pairs(lines.scores(), lines.plain(), subjects=people)
    lines_with_their_people = sum(
        tuple(found) == tuple(world.subject[x] for x in lines.pair[line])
        for found, line in zip(scores.pair_subjects.tolist(), lines.names, strict=True)
    )
    result = be.verification(scores)
    return Outcome(result, {"lines": lines_with_their_people}, {"lines": len(lines.names)})


@door(*GRIDS)
def meta_of_pairs(case: Case) -> Outcome:
    """Groups of the people of both templates of each line."""
    lines, world = Lines(case), case.world
    group = {x: "first" if world.subject[x] in ("ann", "bob") else "others" for x in world.subject}
    people = [[world.subject[x] for x in lines.pair[line]] for line in lines.names]
    scores = be.Scores.from_pairs(
        lines.scores(),
        lines.plain(),
        subjects=people,
        meta={"group": lines.of_both_templates(group)},
    )
    result = be.by_group(scores, "group", threshold=world.threshold)
    truth = {
        f"fr of {g}": sum(
            lines.genuine[x] and group[pair[1]] == g and world.distance(*pair) > world.threshold
            for x, pair in lines.pair.items()
        )
        for g in ("first", "others")
    }
    numbers = {f"fr of {g}": int(result.fr.sel(group=g)) for g in ("first", "others")}
    return Outcome(result, numbers, truth)


@door(*GRIDS)
def templates_of_pairs(case: Case) -> Outcome:
    """Lines that compare a template with itself are no attempts."""
    lines = Lines(case, self_lines=3)
    names = {name: str(name) for name in case.world.subject}
    scores = be.Scores.from_pairs(
        lines.scores(), lines.plain(), pair_templates=lines.of_both_templates(names)
    )
    return Outcome(*verified(scores), lines.attempts())


def errors_of_folds(result: Any, folds: Sequence[str]) -> Numbers:
    counts = {}
    for place, fold in enumerate(folds):
        of_fold = result.isel(repeat=0, fold=place).sel(part="test")
        for name in ("fr", "fa", "genuine_attempts", "impostor_attempts"):
            counts[f"{name} of {fold}"] = int(of_fold[name])
    return counts


def true_errors_of_folds(
    attempts: Sequence[tuple[str, bool, float]], threshold: float, folds: Sequence[str]
) -> Numbers:
    """Counts of the attempts (fold, class, distance) of each fold at a threshold."""
    counts = {}
    for fold in folds:
        genuine = [d for f, is_genuine, d in attempts if f == fold and is_genuine]
        impostor = [d for f, is_genuine, d in attempts if f == fold and not is_genuine]
        counts[f"fr of {fold}"] = sum(d > threshold for d in genuine)
        counts[f"fa of {fold}"] = sum(d <= threshold for d in impostor)
        counts[f"genuine_attempts of {fold}"] = len(genuine)
        counts[f"impostor_attempts of {fold}"] = len(impostor)
    return counts


@door(*COLUMNS)
def pair_folds(case: Case) -> Outcome:
    lines, world, folds = Lines(case), case.world, ("a", "b")
    fold = {line: case.rng.choice(folds) for line in lines.names}
    scores = be.Scores.from_pairs(
        lines.scores(), lines.plain(), pair_folds=case.column(fold, lines.names)
    )
    splitter = be.partition.PredefinedPairFolds(scores.pair_folds)
    result = be.cross_evaluate(scores, splitter, threshold=world.threshold)
    attempts = [(fold[x], lines.genuine[x], world.distance(*lines.pair[x])) for x in lines.names]
    truth = true_errors_of_folds(attempts, world.threshold, folds)
    return Outcome(result, errors_of_folds(result, folds), truth)


@door(*COLUMNS)
def folds_of_pairs(case: Case) -> Outcome:
    """The folds are given to the splitter, and not with the pairs."""
    lines, world, folds = Lines(case), case.world, ("a", "b")
    fold = {line: case.rng.choice(folds) for line in lines.names}
    scores = be.Scores.from_pairs(lines.scores(), lines.plain())
    splitter = be.partition.PredefinedPairFolds(case.column(fold, lines.names))
    result = be.cross_evaluate(scores, splitter, threshold=world.threshold)
    attempts = [(fold[x], lines.genuine[x], world.distance(*lines.pair[x])) for x in lines.names]
    truth = true_errors_of_folds(attempts, world.threshold, folds)
    return Outcome(result, errors_of_folds(result, folds), truth)


@door(*COLUMNS)
def select_pairs(case: Case) -> Outcome:
    lines, distance = Lines(case), case.world.distance
    is_taken = {line: case.rng.random() < 0.7 for line in lines.names}
    scores = be.Scores.from_pairs(lines.scores(), lines.plain())
    attempts = [(lines.genuine[x], distance(*lines.pair[x])) for x in lines.names if is_taken[x]]
    return Outcome(*verified(scores.select(case.column(is_taken, lines.names))), counted(attempts))


def folds_of_people(world: World) -> dict[Name, str]:
    return {x: "ab"[who in ("ann", "bob")] for x, who in world.subject.items()}


def within_folds(case: Case, result: Any) -> Outcome:
    """The errors of each fold are those between its templates."""
    world, fold = case.world, folds_of_people(case.world)
    attempts = [
        (fold[p], world.is_genuine(p, g), world.distance(p, g))
        for p, g in world.comparisons()
        if fold[p] == fold[g]
    ]
    truth = true_errors_of_folds(attempts, world.threshold, "ab")
    return Outcome(result, errors_of_folds(result, "ab"), truth)


@door(*COLUMNS, layouts=[SQUARE])
def folds_of_samples(case: Case) -> Outcome:
    folds = case.column(folds_of_people(case.world), case.world.probes)
    splitter = be.partition.PredefinedFolds(folds)
    result = be.cross_evaluate(case.scores(), splitter, threshold=case.world.threshold)
    return within_folds(case, result)


def evaluated_in_folds(case: Case, people: Any, folds: Any) -> Outcome:
    points, splitter = case.points(case.world.probes), be.partition.PredefinedFolds(folds)
    options = {"estimator": FunctionTransformer(), "metric": "l2"}
    threshold = case.world.threshold
    result = be.cross_evaluate(points, splitter, y=people, threshold=threshold, **options)
    return within_folds(case, result)


@door(*COLUMNS, layouts=[SQUARE])
def people_of_an_estimator(case: Case) -> Outcome:
    world, fold = case.world, folds_of_people(case.world)
    people = case.column(world.subject, world.probes)
    return evaluated_in_folds(case, people, [fold[x] for x in world.probes])


@door(*COLUMNS, layouts=[SQUARE])
def folds_of_an_estimator(case: Case) -> Outcome:
    folds = case.column(folds_of_people(case.world), case.world.probes)
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
    world = case.world
    places, _ = lists_of(case, depth=3)
    fed = case.column(world.subject, world.probes)
    scores = be.Scores.from_top_k(places, fed, *other_side(case, world.subject))
    return Outcome(*searched(scores, 3), world.searched(3))


@door(*COLUMNS, layouts=[DISJOINT])
def gallery_labels_of_lists(case: Case) -> Outcome:
    """The entries are named by a column of metadata, as their places have no names."""
    world = case.world
    places, _ = lists_of(case, depth=3)
    meta = {"gallery_meta": {case.word: case.names(world.gallery)}}
    scores = be.Scores.from_top_k(
        places, [world.subject[q] for q in world.probes],
        case.column(world.subject, world.gallery),
        **(meta if case.twist.scores_have_names else {}),
    )  # fmt: skip
    return Outcome(*searched(scores, 3), world.searched(3))


@door(*GRIDS, layouts=[DISJOINT])
def distances_of_lists(case: Case) -> Outcome:
    """The distance of each query to its nearest entry."""
    world = case.world
    places, distances = lists_of(case, depth=3)
    of_query = dict(zip(world.probes, distances, strict=True))
    names, names_in_order = case.twisted(world.probes)
    fed = np.array([of_query[q] for q in names_in_order])
    fed = joined_worlds.rows_of(case.container, names, fed)
    scores = be.Scores.from_top_k(places, *case.labels(), distances=fed)
    nearest = {f"nearest of {q}": float(scores.distances[i, 0]) for i, q in enumerate(world.probes)}
    truth = {f"nearest of {q}": of_query[q][0] for q in world.probes}
    return Outcome(be.reid(scores, "vehicleid"), nearest, truth)


@door(*TABLES, layouts=[DISJOINT])
def metadata_of_lists(case: Case) -> Outcome:
    """Cameras of the queries: entries of the same person and camera are removed."""
    world = case.world
    places, _ = lists_of(case)
    scores = be.Scores.from_top_k(
        places, *case.labels(), probe_meta=case.table(world.probes, camera=world.session),
        gallery_meta={"camera": [world.session[g] for g in world.gallery]},
    )  # fmt: skip
    result = be.reid(scores, "market1501")
    numbers = {"queries": int(result.queries), "rank 1": float(result.cmc.sel(rank=1))}
    first = []
    for query in world.probes:
        order = [g for g in world.order(query) if not world.is_same_session(query, g)]
        matches = [world.is_genuine(query, g) for g in order]
        if any(matches):
            first.append(matches[0])
    truth = {"queries": len(first), "rank 1": sum(first) / len(first)}
    return Outcome(result, numbers, truth)


# Groups, claims.


@door(*COLUMNS)
def group(case: Case) -> Outcome:
    world, threshold = case.world, case.world.threshold
    groups = ("first", "others")
    group_of = {name: groups[who not in ("ann", "bob")] for name, who in world.subject.items()}
    fed = case.column(group_of, world.probes)
    groups_given = fed if world.is_square else (fed, *other_side(case, group_of))
    result = be.by_group(case.scores(), groups_given, threshold=threshold)
    numbers, truth = {}, {}
    for group_name in groups:
        of_probe = [(p, g) for p, g in world.comparisons() if group_of[p] == group_name]
        if not of_probe:
            continue
        numbers[f"fr of {group_name}"] = int(result.fr.sel(group=group_name))
        genuine = [pair for pair in of_probe if world.is_genuine(*pair)]
        truth[f"fr of {group_name}"] = sum(world.distance(*pair) > threshold for pair in genuine)
        numbers[f"fa of {group_name}"] = int(result.fa.sel(group=group_name, claimed_group="all"))
        impostor = [pair for pair in of_probe if not world.is_genuine(*pair)]
        truth[f"fa of {group_name}"] = sum(world.distance(*pair) <= threshold for pair in impostor)
    return Outcome(result, numbers, truth)


@door(*COLUMNS)
def claims(case: Case) -> Outcome:
    """Each probe claims to be one enrolled person."""
    world = case.world
    enrolled = sorted({world.subject[g] for g in world.gallery})
    claimed = {p: case.rng.choice(enrolled) for p in world.probes}
    for probe in world.probes[::2]:
        if world.subject[probe] in enrolled:
            claimed[probe] = world.subject[probe]
    fed = case.column(claimed, world.probes)
    truth = world.verified(lambda p, g: world.subject[g] != claimed[p])
    return Outcome(*verified(case.scores(), claims=fed), truth)


# Estimators and meters.


@door(*COLUMNS, layouts=[SQUARE])
def scorer(case: Case) -> Outcome:
    world = case.world
    score = be.make_scorer("eer", metric="l2")
    fed = case.column(world.subject, world.probes)
    score_of_system = score(FunctionTransformer(), case.points(world.probes), fed)
    return Outcome(score_of_system, {"eer": -score_of_system}, {"eer": world.verified()["eer"]})


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
            values = joined_worlds.grid(self.case.container, *self.names.values(), values)
        return be.Scores(values, *people, **meta)

    def has(self, probe: Name, template: Name) -> bool:
        """Whether the comparison has names here; if not, both systems leave it out."""
        twist = self.case.twist
        if not twist.scores_have_names or twist in TWISTS_OF_NUMBERS.values():
            return probe in self.of["probe"] and template in self.of["gallery"]
        sides = zip(self.names.values(), (probe, template), strict=True)
        return all(str(name) in map(joined_worlds.same_text, names) for names, name in sides)


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
    return Outcome(*verified(fused), truth)


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
        "first": be.Scores.from_pairs(
            lines.scores(), lines.plain(), subjects=people(lines.names)
        ),
        "second": be.Scores.from_pairs(
            joined_worlds.column(container, names, second["scores"]), second["genuine"],
            subjects=people(line_order),
        ),
    }  # fmt: skip
    result = be.compare(systems, measures="eer")
    listed = set(map(joined_worlds.same_text, names))
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
    return "" if name is None else joined_worlds.same_text(name)


def label_table(case: Case, names: Sequence[Name], file: str = "people.csv") -> Path:
    """A table with a column of names and a column of subjects, in the order of the twist."""
    fed, name_order = case.twisted(names)
    lines = [f"{case.word},{case.rng.choice(WORDS_FOR_SUBJECTS)},weather"]
    lines += [
        f"{as_text(x)},{case.world.subject[name]},fair"
        for x, name in zip(fed, name_order, strict=True)
    ]
    return written(case.file(file), lines)


def written(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("\n".join(lines) + "\n")
    return path


def all_distances(world: World) -> np.ndarray:
    return np.array([[world.distance(p, g) for g in world.gallery] for p in world.probes])


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
        path = case.file("matrix.csv")
        pd.DataFrame(values, index=names, columns=names).to_csv(path, index_label="probe")
    elif case.container == "list" and has_names:
        lines = [f"{p},{g},{world.distance(p, g)!r}" for p, g in world.comparisons()]
        lines = ["template_a,template_b,distance", *case.rng.sample(lines, len(lines))]
        path = written(case.file("list.csv"), lines)
    else:
        path = case.file("data.npz")
        arrays: dict[str, Any] = {"scores": values}
        if case.container == "npz of embeddings":
            arrays = {"embeddings": np.array([world.point[x] for x in world.probes])}
            options = {"metric": "l2"}
        np.savez(path, **arrays, **({"name": names} if has_names else {}))
    return Outcome(*verified(be.load(path, labels=people, **options)), world.verified())


@door("npz", layouts=SIDES)
def label_files_of_both_sides(case: Case) -> Outcome:
    world, values = case.world, all_distances(case.world)
    sides = {"labels": world.probes, "gallery": world.gallery}
    people = {key: label_table(case, names, f"{key}.csv") for key, names in sides.items()}
    probes, gallery = map(stored, sides.values())
    path = case.file("data.npz")
    names = {"probe_name": probes, "gallery_name": gallery}
    np.savez(path, scores=values, **(names if case.twist.scores_have_names else {}))
    return Outcome(*verified(be.load(path, kind="distance", **people)), world.verified())


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
    twists = joined_worlds.TWISTS_OF_SYSTEMS if entry.is_of_systems else TWISTS
    twist, seed = twists[twist_name], seed_of(name, container, twist_name)
    if twist.rows is joined_worlds.numbered_in_another_order and name.startswith("label_file"):
        twist = dataclasses.replace(twist, expected="refused")  # a file without names of its rows
    if twist.naming == "0..n-1" and container == "frame with names":
        twist = dataclasses.replace(twist, expected="equal or refused")  # by which numbers?
    # A template on both sides is known by its names.
    has_names = twist.scores_have_names and twist not in TWISTS_OF_NUMBERS.values()
    layouts = [x for x in entry.layouts if has_names or x != OVERLAPPING]
    is_numbered = twist.naming not in ("any", "words")
    layout = SQUARE if is_numbered else layouts[seed % len(layouts)]
    world = drawn_world(seed, layout, twist.naming)
    case = Case(world, container, twist, random.Random(seed), tmp_path)
    assert_true_or_refused(lambda: entry.feed(case), twist)


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


def people_of(world: World) -> list[list[str]]:
    return [[world.subject[x] for x in side] for side in (world.probes, world.gallery)]


def named_scores(
    world: World, container: str, folder: Path, word: str = "name", people: Any = None
) -> be.Scores:
    """Probes against a gallery, whose templates are named in a container."""
    values, people = all_distances(world), people or people_of(world)
    names = {name: name for name in world.subject}
    if container in GRIDS:
        grid = joined_worlds.grid(container, world.probes, world.gallery, values)
        return be.Scores(grid, *people)
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
    path = folder / f"{len([*folder.iterdir()])}.{container}"
    if container == "saved":
        be.save(named_scores(world, "frame", folder, people=people), folder / "data.npz")
        return be.load(folder / "data.npz")
    sides = zip(("probe", "gallery"), (world.probes, world.gallery), people, strict=True)
    if container in ("npy", "txt", "files of embeddings"):
        tables = []
        for side, names, of_side in sides:
            lines = [f"{as_text(x)},{who}" for x, who in zip(names, of_side, strict=True)]
            tables.append(written(folder / f"{side}.labels.csv", [f"{word},subject", *lines]))
        options: dict[str, Any] = {"kind": "distance", "gallery": tables[1]}
        if container == "npy":
            np.save(path, values)
        elif container == "txt":
            np.savetxt(path, values)
        else:
            path, options = (
                folder / "probe.npy",
                {"gallery": folder / "gallery.npy", "metric": "l2"},
            )
            np.save(path, points[0])
            np.save(options["gallery"], points[1])
        return be.load(path, labels=tables[0], **options)
    arrays = {"scores": values}
    for side, names, of_side in sides:
        arrays |= {f"{side}_labels": np.array(of_side), f"{side}_{word}": stored(names)}
    if container == "npz":
        np.savez(path, **arrays)
        return be.load(path)
    assert container == "h5"
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            file[name] = array.astype("S") if array.dtype.kind == "U" else array
    return be.load(path, kind="distance")


#: Whole numbers in an index name no templates; in a column of names they do.
INDEXED = (*GRIDS, "embeddings", "saved")
NAMED = (*INDEXED, "columns", "embeddings with columns", "npz", "npy", "txt", "h5",
         "files of embeddings")  # fmt: skip


@pytest.mark.parametrize("container", [*NAMED, "lists"])
@pytest.mark.parametrize("naming", ["files", "words", "numbers", "mixed"])
def test_a_template_on_both_sides_is_not_compared_with_itself(container, naming, tmp_path):
    """A query in the gallery is no entry of its own list, and one name of two people is refused."""
    for world in worlds(2, OVERLAPPING, naming):
        is_known = naming != "numbers" or container not in INDEXED
        scores = named_scores(world, container, tmp_path)
        if is_known:
            joined_worlds.assert_true(Outcome(*searched(scores), world.searched()))
            sides = [[as_text(x) for x in side] for side in (world.probes, world.gallery)]
            assert [[*map(str, scores.probe_names)], [*map(str, scores.gallery_names)]] == sides
        if container == "lists":
            continue
        pairs = itertools.product(world.probes, world.gallery)
        truth = counted((world.is_genuine(*x), world.distance(*x)) for x in pairs)
        truth = world.verified() if is_known else truth
        joined_worlds.assert_true(Outcome(*verified(scores), truth))
        on_both_sides = next(x for x in world.probes if x in world.gallery)
        people = people_of(world)
        others = {*world.subject.values()} - {world.subject[on_both_sides]}
        people[1][world.gallery.index(on_both_sides)] = min(others)
        refuses = is_refused(lambda: named_scores(world, container, tmp_path, people=people))  # noqa: B023
        assert refuses == is_known


@pytest.mark.parametrize("word", WORDS_FOR_NAMES)
@pytest.mark.parametrize("container", ["columns", "npz"])
def test_a_query_is_known_by_any_column_of_names(container, word, tmp_path):
    (world,) = worlds(1, OVERLAPPING)
    scores = named_scores(world, container, tmp_path, word)
    joined_worlds.assert_true(Outcome(*searched(scores), world.searched()))


@pytest.mark.parametrize("container", GRIDS)
@pytest.mark.parametrize("naming", ["files", "0..n-1"])
def test_a_square_whose_columns_are_in_another_order_leaves_no_diagonal_but_its_templates_out(
    container, naming
):
    for world in worlds(2, naming=naming):
        order = random.Random(1).sample(world.gallery, len(world.gallery))
        values = [[world.distance(p, g) for g in order] for p in world.probes]
        grid = joined_worlds.grid(container, world.probes, order, values)
        people = [[world.subject[x] for x in side] for side in (world.probes, order)]
        scores = be.Scores(grid, *people[: 1 if naming == "0..n-1" else 2])
        assert scores.layout == "all-against-all"
        joined_worlds.assert_true(Outcome(*verified(scores), world.verified()))


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
        joined_worlds.assert_true(Outcome(*verified(scores), truth))


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
    people = joined_worlds.column(container, ["third", other_name, "second"], ["bob", "ann", "ann"])
    if names in NAMES_THAT_DIFFER:
        assert is_refused(lambda: be.Scores(frame, people))
        return
    scores = be.Scores(frame, people)
    truth = counted([(True, 1.0)] * 2 + [(False, 4.0)] * 2 + [(False, 5.0)] * 2)
    joined_worlds.assert_true(Outcome(*verified(scores), truth))


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
        result, numbers = verified(be.load(data, **reading))
        joined_worlds.assert_true(Outcome(result, numbers, world.verified()))
        if layout == SQUARE and not reading:
            (left_out,) = (m for m in be.messages(result) if m.code == "self-comparisons-left-out")
            assert len(world.probes) in left_out.arguments.values()
    pairs = itertools.product(world.probes, world.gallery)
    truth = counted((world.is_genuine(*x), world.distance(*x)) for x in pairs)
    kept = be.load(data, lists={"keep": "self"})
    joined_worlds.assert_true(Outcome(*verified(kept), truth))


def test_lines_that_are_missing_are_counted_without_those_of_templates_with_themselves():
    headings = ["template_a", "template_b"], ["probe", "gallery"], ["model", "probe"]
    for world, (first, second) in zip(worlds(3, naming="words"), headings, strict=True):
        frame = melted(world, first, second)
        others_than_self = frame[frame[first] != frame[second]]
        missing = others_than_self.sample(20, random_state=3)
        frame = frame.drop(missing.index)
        scores = be.load(frame, lists={"as": "matrix"})
        gone = set(zip(missing[first], missing[second], strict=True))
        result, numbers = verified(scores)
        truth = world.verified(lambda p, g, gone=gone: (p, g) in gone)
        joined_worlds.assert_true(Outcome(result, numbers, truth))
        (not_listed,) = (m for m in be.messages(result) if m.code == "not-listed")
        assert not_listed.arguments["missing"] == len(gone)


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
    joined_worlds.assert_true(Outcome(*verified(scores), truth))


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
    grid = joined_worlds.grid("frame", world.probes, world.gallery, values)
    return be.Scores(grid, *people_of(world)[: 1 if world.is_square else 2], **options)


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
    joined_worlds.assert_true(Outcome(result, numbers, truth))
    if (way, nan) == ("failed", "exclude"):
        assert "not-in-common" in {m.code for m in be.messages(result)}
    if nan != "reject":
        fused_truth = world.verified(
            lambda p, g: (p, g) in in_no_system,
            lambda p, g: sum(d(p, g) for d in distances.values()) / 2,
        )
        joined_worlds.assert_true(Outcome(*verified(be.fuse(systems)), fused_truth))
