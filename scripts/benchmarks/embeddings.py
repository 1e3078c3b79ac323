"""Embeddings straight to results, against the product of all of them with all: ``X @ X.T``.

The product is made in blocks of rows, each over the last; it has every pair of templates twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import bioeval as be
from benchmarks import peers
from benchmarks.matrices import vectors
from benchmarks.options import Options
from benchmarks.peers import NotRun
from benchmarks.rows import Row, number, timed
from benchmarks.timing import Contender, Times, interleaved, seconds
from benchmarks.workbench import counts

Tell = Callable[[str], None]

#: Rows of the product that are made together.
BLOCK = 500


def in_ten_folds(scores: be.Scores) -> Any:
    """Evaluate in ten folds of the subjects, or as many as there are subjects."""
    folds = be.partition.SubjectKFold(min(10, len(scores.subjects)), shuffle=True, random_state=0)
    return be.cross_evaluate(scores, folds)


#: What is called; of many templates only the first two.
CALLS: dict[str, Callable[[be.Scores], Any]] = {
    "counts": counts,
    "be.evaluate": be.evaluate,
    "be.verification": be.verification,
    "be.closed_set": be.closed_set,
    "be.cross_evaluate, ten folds": in_ten_folds,
}

#: Templates from which on each is run once, and up to which all pairs are sorted.
MANY, FEW = 50_000, 4_000

_FEW_ROUNDS = 3

#: Another program that finds the nearest neighbour alone, itself included.
FLAT = "FAISS IndexFlatIP, k = 1"


def noises(features: int) -> dict[str, float]:
    """Return the noise of templates that hardly overlap, and for an EER of about 3.5 %."""
    return {"apart": 1.0, "overlapping": math.sqrt(max(math.sqrt(features) / 3.55 - 1, 0.25))}


def scores_of(x: np.ndarray, labels: np.ndarray) -> be.Scores:
    """Return the scores of embeddings, as a user has them."""
    dtype: Any = x.dtype.name
    return be.Scores.from_embeddings(x, labels, dtype=dtype)


def product(x: np.ndarray) -> Callable[[], object]:
    """Return a call of the bare products, each block of rows over the last."""
    out = np.empty((min(BLOCK, len(x)), len(x)), dtype=x.dtype)

    def call() -> None:
        for low in range(0, len(x), BLOCK):
            block = x[low : low + BLOCK]
            np.matmul(block, x.T, out=out[: len(block)])

    return call


def by_sorting(x: np.ndarray, labels: np.ndarray) -> Callable[[], object]:
    """Return a call that makes the matrix and sorts the scores of all pairs."""
    from sklearn.metrics import roc_curve

    def call() -> object:
        one, other = np.triu_indices(len(x), 1)
        return roc_curve(labels[one] == labels[other], (x @ x.T)[one, other])

    return call


def embedding_rows(options: Options, tell: Tell) -> Iterator[Row]:
    """Measure each size, with classes that hardly overlap and with classes that do; and float64."""
    for templates, features in options.sizes_of_vectors:
        for which, noise in noises(features).items():
            x, labels = vectors(templates, features, noise, options.templates)
            yield from _of_data(x, labels, which, options, tell)
    templates, features = options.vectors[-1]
    x, labels = vectors(templates, features, noises(features)["overlapping"], options.templates)
    yield from _of_data(x.astype(np.float64), labels, "overlapping, float64", options, tell)


def _of_data(
    x: np.ndarray, labels: np.ndarray, which: str, options: Options, tell: Tell
) -> Iterator[Row]:
    n, features = x.shape
    size = f"{n:,} x {features}"
    about: dict[str, Any] = {"part": "embeddings", "section": "product"}
    rates: list[float] = []

    def run(call: Callable[[be.Scores], Any]) -> Callable[[], object]:
        return lambda: call(scores_of(x, labels))

    def evaluated() -> None:
        rates.append(float(be.evaluate(scores_of(x, labels))["verification/single"].eer))

    calls = dict(list(CALLS.items())[: 2 if n >= MANY else None])
    named: dict[str, Callable[[], object]] = {name: run(call) for name, call in calls.items()}
    named["be.evaluate"] = evaluated
    others: dict[str, Callable[[], object]] = {}
    if x.dtype == np.float32:
        try:
            others[FLAT] = peers.faiss_flat(x, options.threads)
        except NotRun as reason:
            name = f"{FLAT}, {size}, {which}"
            yield Row(**about, key=f"embeddings: {name}", name=name, note=str(reason))
    if n <= FEW:
        others["the matrix and roc_curve"] = by_sorting(x, labels)
    work = [
        Contender(name, call, options.threads, foreign=name in others, processor=True)
        for name, call in {"product": product(x), **named, **others}.items()
    ]
    times = _times(work, n, options, tell)
    pace = number(float(np.median(times["product"])) / n**2 * 1e9)
    note = f"unit vectors, EER {100 * rates[-1]:.2g} %; the product takes {pace} ns a cell"
    for name in [*named, *others]:
        if name in times:
            yield timed(
                times[name] / times["product"],
                times[name],
                n**2,
                **about,
                key=f"embeddings: {name}, {size}, {which}",
                name=f"{name}, {size}, {which}",
                note=note,
            )


def _times(work: list[Contender], templates: int, options: Options, tell: Tell) -> Times:
    """Time contenders in turn; of many templates once, with kernels that are compiled."""
    if templates < MANY:
        return interleaved(work, min(options.repeat, _FEW_ROUNDS), tell)[0]
    for call in CALLS.values():  # compile
        call(scores_of(*vectors(2_000, 16, 1.0, options.templates)))
    times = {}
    for contender in work:
        tell(f"{templates:,} templates: {contender.key}")
        times[contender.key] = np.array([seconds(contender)[0]])
    return times
