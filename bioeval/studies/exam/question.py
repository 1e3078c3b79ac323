"""A question of an exam, and what its arrays are drawn with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from bioeval import Scores
from bioeval.base import Kind, Stream
from bioeval.document import Block, Text

T = TypeVar("T")

#: Kinds of scores to draw from: two of three questions have distances.
KINDS: tuple[Kind, ...] = ("distance", "distance", "similarity")

#: People of the questions, in the order of the alphabet; their templates are a1, a2, b1 ...
PEOPLE = ("Ann", "Bob", "Cat", "Dan", "Eve", "Fay")


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question with its arrays, its answers and its solution.

    Attributes
    ----------
    topic, title : str
        One of :data:`bioeval.studies.exam.exam.TOPICS`, and what it is in words.
    given : dict
        What the sheet shows: arrays and numbers by name. The answers follow from these alone.
    setting : tuple of Block
        What is told, with the table of the arrays.
    asked : tuple of Text
        The parts (a), (b), ...
    answers : dict
        The numbers that are asked for, by name.
    solution : tuple of Block
        How they are found, part by part.
    """

    topic: str
    title: str
    given: Mapping[str, Any]
    setting: tuple[Block, ...]
    asked: tuple[Text, ...]
    answers: Mapping[str, float]
    solution: tuple[Block, ...]

    def document(self) -> dict[str, Any]:
        """Return the arrays and the answers as plain values, for JSON."""
        given = {}
        for name, value in self.given.items():
            given[name] = value.tolist() if isinstance(value, np.ndarray) else value
        return {"topic": self.topic, "given": given, "answers": dict(self.answers)}


class Draws:
    """Whole numbers and choices from a stream of random numbers, the same on every platform.

    The layout of a question has a stream of its own, so that variants of an exam can share it.
    """

    def __init__(self, numbers: Stream, layout: Stream):
        self._stream = numbers
        self._layout = layout

    def layout(self, values: Sequence[T]) -> T:
        """Return one of some values, the same in all variants of an exam."""
        return values[int(self._layout.integers(0, len(values) - 1, 1)[0])]

    def integers(self, low: int, high: int, *shape: int) -> np.ndarray:
        """Return whole numbers from `low` to `high`, both included."""
        uniform = self._stream.uniforms(int(np.prod(shape, dtype=np.int64)))
        return (low + np.floor(uniform * (high - low + 1)).astype(np.int64)).reshape(shape)

    def integer(self, low: int, high: int) -> int:
        """Return one whole number from `low` to `high`, both included."""
        return int(self.integers(low, high, 1)[0])

    def choice(self, values: Sequence[T]) -> T:
        """Return one of some values."""
        return values[self.integer(0, len(values) - 1)]

    def sample(self, values: Sequence[T], number: int) -> list[T]:
        """Return a number of different values, in random order."""
        order = np.argsort(self._stream.uniforms(len(values)), kind="stable")
        return [values[i] for i in order[:number]]


def templates_of(sizes: Sequence[int]) -> tuple[list[str], list[str]]:
    """Return the people of templates, so many for each, and the names of the templates."""
    people = []
    names = []
    for person, size in zip(PEOPLE, sizes, strict=False):
        people += [person] * size
        names += [f"{person[0].lower()}{k}" for k in range(1, size + 1)]
    return people, names


def compared_with_each_other(draws: Draws, sizes: Sequence[int], kind: Kind) -> Scores:
    """Return whole scores of templates that are all compared with each other, symmetric."""
    people, names = templates_of(sizes)
    n = len(people)
    same = np.array(people)[:, None] == np.array(people)
    distances = np.where(same, draws.integers(1, 9, n, n), draws.integers(4, 15, n, n))
    distances = np.triu(distances, 1) + np.triu(distances, 1).T
    values = distances if kind == "distance" else 16 - distances
    np.fill_diagonal(values, 0)
    meta = {"name": names}
    return Scores(values, people, kind=kind, probe_meta=meta)


def searched(draws: Draws, probes: Sequence[str], sizes: Sequence[int]) -> Scores:
    """Return whole distances of probes of some people from a gallery."""
    people, names = templates_of(sizes)
    same = np.array(probes)[:, None] == np.array(people)
    shape = same.shape
    values = np.where(same, draws.integers(1, 9, *shape), draws.integers(3, 15, *shape))
    numbers = [f"p{k}" for k in range(1, len(probes) + 1)]
    return Scores(
        values, probes, people, probe_meta={"name": numbers}, gallery_meta={"name": names}
    )


def arrays_of(scores: Scores) -> dict[str, Any]:
    """Return what a sheet shows of scores, as plain arrays by name."""
    given = {"scores": scores.values, "kind": scores.kind}
    given["probe_subjects"] = scores.probe_labels.tolist()
    if scores.layout != "all-against-all":
        given["gallery_subjects"] = scores.gallery_labels.tolist()
    return given


def accepted_if(kind: str, threshold: float) -> str:
    """Return the rule of acceptance as a sentence."""
    if kind == "distance":
        return f"A comparison is accepted if its distance is at most t = {threshold:g}."
    return f"A comparison is accepted if its similarity is at least t = {threshold:g}."
