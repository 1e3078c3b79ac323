"""Pairs of calls that give the same: a part of scripts/fuzz --calls.

Concurrent calls and serial ones; systems in a mapping and in a dict; functions whose `repr` lies;
arrays and results that are changed after an evaluation, before and after; systems and subjects
whose names are terms of the field, and those of other names. A call may be refused, by an error
derived from BioevalError; it must not give something else.
"""

from __future__ import annotations

import contextlib
import random
import string
import warnings
from collections import ChainMap, UserDict
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import threadpoolctl
import xarray as xr

import bioeval as be

#: Names of systems and of subjects that are also terms, numbers or options.
TERMS = (
    *("FAR-net", "EER", "FRR", "FMR", "DIR, rank 1", "mAP", "AUC", "GAR vs FAR", "genuine"),
    *(
        "impostor",
        "threshold",
        "rank",
        "subject",
        "-1",
        "0",
        "nan",
        "None",
        "--json",
        "all",
        "mean",
    ),
)


class DiffersError(Exception):
    """Two calls that must give the same do not."""


@dataclass
class People:
    """What scores are made of: templates of four subjects."""

    vectors: np.ndarray
    values: np.ndarray
    who: np.ndarray
    meta: dict[str, np.ndarray]

    @classmethod
    def drawn(cls, rng: random.Random) -> People:
        """Draw templates, some of whose distances are equal."""
        numbers = np.random.default_rng(rng.getrandbits(32))
        who = np.repeat(list("abcd"), 3)
        vectors = numbers.normal(size=(12, 3)) + 2 * np.repeat(np.eye(4, 3), 3, axis=0)
        values = np.linalg.norm(vectors[:, None] - vectors, axis=2).round(rng.choice((1, 9)))
        meta = {"camera": np.tile([1, 2, 3], 4), "sex": np.repeat(["f", "m"], 6)}
        return cls(vectors, values, who, meta)

    def scores(
        self, kind: str, who: Any = None, name: str = "system", copied: bool = True
    ) -> be.Scores:
        """Return scores of a kind, of copies of the arrays or of the arrays themselves."""
        who = self.who if who is None else np.asarray(who)
        about = {"probe_meta": self.meta, "name": name}
        values, vectors = self.values, self.vectors
        if copied:
            values, vectors = values.copy(), vectors.copy()
        if kind == "crowd":
            crowd = np.random.default_rng(len(name)).normal(size=(300, 16)).astype("f4")
            return be.Scores.from_embeddings(crowd, np.arange(300) // 3, metric="cosine")
        if kind == "square":
            return be.Scores(values, who, **about)
        if kind == "embeddings":
            return be.Scores.from_embeddings(vectors, who, metric="l2", **about)
        owners = np.column_stack([who, np.roll(who, 2)])
        same = owners[:, 0] == owners[:, 1]
        return be.Scores.from_pairs(values[0], same, subjects=owners, name=name)


KINDS = ("square", "embeddings", "pairs")

#: Calls of scores of every kind, and those of scores with templates.
OF_ALL: dict[str, Callable[[Any], Any]] = {
    "evaluate": be.evaluate,
    "verification": lambda s: be.verification(s, interval="wilson"),
    "bootstrap": lambda s: be.verification(s, interval="subject-bootstrap", replicates=100),
}
OF_TEMPLATES: dict[str, Callable[[Any], Any]] = {
    "open_set": be.open_set,
    "closed_set": be.closed_set,
    "reid": lambda s: be.reid(s),
    "zoo": lambda s: be.zoo(s, permutations=100),
    "by_group": lambda s: be.by_group(s, "sex"),
    "cross_evaluate": lambda s: be.cross_evaluate(s, be.partition.SubjectKFold(2)),
    "gallery_size": lambda s: be.gallery_size(s, max_rank=2),
}


def drawn_call(rng: random.Random, kind: str) -> tuple[str, Callable[[Any], Any]]:
    """Return a call of scores of a kind, and its name."""
    known = dict(OF_ALL) if kind == "pairs" else OF_ALL | OF_TEMPLATES
    return rng.choice(list(known.items()))


def require_same(result: Any, expected: Any, what: str) -> None:
    """Raise unless two results are the same, to the last bit, with their attributes."""
    if isinstance(expected, xr.Dataset | xr.DataTree):
        same = result.identical(expected)
    elif isinstance(expected, be.Scores):
        same = np.array_equal(result.values, expected.values)
    else:
        same = result == expected
    if not same:
        raise DiffersError(what)


def require_same_numbers(result: Any, expected: Any, what: str) -> None:
    """Raise unless the numbers of two results are the same; texts may differ."""
    pairs = [(result, expected)]
    if isinstance(expected, xr.DataTree):
        pairs = [(node.to_dataset(), expected[node.path].to_dataset()) for node in result.subtree]
    for one, other in pairs:
        for name, values in other.data_vars.items():
            if values.dtype.kind not in "US" and not values.equals(one[name].assign_coords({})):
                coordinates = {x: other[x] for x in values.coords}
                if not values.equals(one[name].assign_coords(coordinates)):
                    raise DiffersError(f"{what}: {name}")


# ------------------------------------------------------------------------- threads


def threads_of_libraries() -> list[int]:
    """Return the number of threads of each library of linear algebra."""
    return [library["num_threads"] for library in threadpoolctl.threadpool_info()]


def in_threads(rng: random.Random) -> None:
    """Make calls of shared scores at once: each gives what it gives alone, and leaves no trace."""
    people = People.drawn(rng)
    jobs = []
    for kind in (*rng.choices(KINDS, k=4), *["crowd"] * 4):
        name, call = "verification", be.verification
        if kind != "crowd":  # whose products need several threads
            name, call = drawn_call(rng, kind)
        jobs.append((kind, name, call))
    expected = [call(people.scores(kind)) for kind, _, call in jobs]
    shared = {kind: people.scores(kind) for kind in KINDS}
    given = [shared.get(kind) or people.scores(kind) for kind, _, _ in jobs]
    threads, filters = threads_of_libraries(), list(warnings.filters)
    with ThreadPoolExecutor(8) as pool:
        running = [pool.submit(job[-1], of) for job, of in zip(jobs, given, strict=True)]
        results = [job.result() for job in running]
    for (kind, name, _), result, alone in zip(jobs, results, expected, strict=True):
        require_same(result, alone, f"{name} of {kind} in a thread")
    if threads_of_libraries() != threads:
        raise DiffersError(f"threads {threads} before, {threads_of_libraries()} after")
    if warnings.filters != filters:
        raise DiffersError("the filters of warnings are others after concurrent calls")


# ------------------------------------------------------------------------- mappings


class Plain(Mapping[str, Any]):
    """A mapping with nothing but what a mapping must have."""

    def __init__(self, items: Mapping[str, Any]):
        self._items = dict(items)

    def __getitem__(self, name: str) -> Any:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


def in_a_mapping(rng: random.Random) -> None:
    """Give systems, metadata or results in a mapping that is no dict."""
    people = People.drawn(rng)
    make = rng.choice((MappingProxyType, UserDict, ChainMap, Plain))
    made = be.simulate(6, 3, random_state=1)
    species = {"attack": np.tile(["", "", "print"], 6)}
    attacked = be.Scores(np.asarray(made.values), made.probe_labels, probe_meta=species)
    plain = people.scores("square")
    results = {"one": be.verification(plain), "two": be.closed_set(plain)}
    folds = be.partition.SubjectKFold(2)
    name, call, given = rng.choice(
        (
            ("evaluate", be.evaluate, {"a": attacked}),
            ("evaluate", be.evaluate, {"a": attacked, "b": attacked}),
            ("cross_evaluate",
             lambda x: be.cross_evaluate(x, folds), {"a": plain, "b": plain}),
            ("fuse", lambda x: be.fuse(x, "mean"), {"a": plain, "b": plain}),
            ("to_markdown", be.to_markdown, results),
            ("probe_meta",
             lambda x: be.by_group(be.Scores(people.values, people.who, probe_meta=x), "sex"),
             people.meta),
        )
    )  # fmt: skip
    require_same(call(make(given)), call(given), f"{name} of a {make.__name__}")


# ------------------------------------------------------------------------- functions


@dataclass
class Head:
    """A distance whose `repr` says the same of all, nothing or too much."""

    weight: float
    says: str = "Head()"
    changes: bool = False  # its arguments

    def __call__(self, a: Any, b: Any) -> Any:
        """Return the distances of two blocks of templates."""
        distances = (np.abs(a[:, None] - b) ** self.weight).sum(axis=-1)
        if self.changes:
            a[...] = 0
        return distances

    def __repr__(self) -> str:
        return self.says


def with_a_function_that_changes(rng: random.Random) -> None:
    """Let a distance change its arguments."""
    people = People.drawn(rng)
    call = drawn_call(rng, "embeddings")[1]
    honest, changing = (
        be.Scores.from_embeddings(
            people.vectors.copy(),
            people.who,
            metric=metric,
            kind="distance",
            probe_meta=people.meta,
        )
        for metric in (Head(2.0), Head(2.0, changes=True))
    )
    expected = call(honest)
    try:
        call(changing)
        result = call(changing)
    except ValueError:  # of NumPy: an array is read-only
        return
    require_same_numbers(result, expected, "a distance that changes its arguments")


# ------------------------------------------------------------------------- changes


def after_a_change(rng: random.Random) -> None:
    """Change arrays and results after an evaluation: the next one is of the old or the new data."""
    people = People.drawn(rng)
    kind = rng.choice(KINDS)
    name, call = drawn_call(rng, kind)
    array = people.vectors if kind == "embeddings" else people.values
    scores = people.scores(kind, copied=False)
    before = call(scores)
    kept = before.copy(deep=True)
    for dataset in [before] if isinstance(before, xr.Dataset) else before.leaves:
        for values in dataset.data_vars.values():
            if values.dtype.kind in "if" and values.values.flags.writeable:
                values.values[...] = 7
    require_same(call(scores), kept, f"{name} after its result was changed")
    array[...] = array**2
    after = call(scores)
    if not after.identical(kept):
        require_same(after, call(people.scores(kind)), f"{name} after its array was changed")


def after_an_attribute(rng: random.Random) -> None:
    """Set an attribute of scores: refused, and the results are those of before."""
    people = People.drawn(rng)
    kind = rng.choice(KINDS)
    name, call = drawn_call(rng, kind)
    scores = people.scores(kind)
    before = call(scores)
    attribute, value = rng.choice(
        (
            ("probe_labels", np.array(["x"] * 12)), ("gallery_labels", np.array(["x"] * 12)),
            ("kind", "similarity"), ("layout", "pairs"), ("exclude", ("nope",)), ("nan", "reject"),
            ("name", "another"), ("probe_meta", {}), ("values", np.zeros((12, 12))), ("new", 1),
        )
    )  # fmt: skip
    try:
        setattr(scores, attribute, value)
    except (be.BioevalError, AttributeError):  # of Python: a property that cannot be set
        pass
    else:
        raise DiffersError(f"scores.{attribute} can be set")
    if kind != "pairs":
        with contextlib.suppress(TypeError, be.BioevalError):
            scores.probe_meta["camera"] = np.arange(12)
        with contextlib.suppress(ValueError):
            scores.probe_labels[0] = "d"
    require_same(call(scores), before, f"{name} after an attribute was set")


# ------------------------------------------------------------------------- names


def other_name(name: str, number: int) -> str:
    """Return a name of the same length that means nothing."""
    return "".join(string.ascii_uppercase[number] if c.isalnum() else c for c in name)


def with_names(rng: random.Random) -> None:
    """Name systems and subjects by terms of the field: nothing changes but the names."""
    people = People.drawn(rng)
    kind = rng.choice(KINDS)
    name, call = drawn_call(rng, kind)
    names = sorted(rng.sample(TERMS, 4))
    named = np.array(names)[np.repeat(np.arange(4), 3)]
    result = call(people.scores(kind, named, rng.choice(TERMS)))
    require_same_numbers(result, call(people.scores(kind)), f"{name} of {names}")
    systems = rng.sample([x for x in TERMS if x not in ("-1", "0", "--json")], 2)
    others = [other_name(x, i + 16) for i, x in enumerate(systems)]
    found = call(people.scores(kind))
    table = be.to_markdown(dict.fromkeys(systems, found))
    expected = be.to_markdown(dict.fromkeys(others, found))
    for system, other in zip(systems, others, strict=True):
        expected = expected.replace(other, system)
    require_same(table, expected, f"the table of {name} of systems {systems}")


CASES: tuple[Callable[[random.Random], None], ...] = (
    in_threads, in_a_mapping, with_a_function_that_changes,
    after_a_change, after_an_attribute, with_names,
)  # fmt: skip
