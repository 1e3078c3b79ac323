"""What is timed: the matrices, made when first needed, and the calls on them, by key."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.matrices import Matrix, features
from benchmarks.options import Options
from benchmarks.peers import NotRun
from bioeval.evaluation.evaluate import evaluate
from bioeval.evaluation.tally import tally
from bioeval.scores.matrix import Scores

#: Scores of the programs that loop in Python, or build every pair, at most.
FEW = 200_000


@dataclass(frozen=True)
class Work:
    """A call, the cells (or pairs) it goes over, and the bytes of these."""

    call: Callable[[], object]
    cells: int
    bytes: int
    note: str = ""


class Workbench:
    """Makes the work of each key; matrices are shared between them."""

    def __init__(self, options: Options):
        self.options = options

    @cached_property
    def grouped(self) -> Matrix:
        """Float32, subjects side by side."""
        return Matrix(self.options.size, self.options.templates)

    @cached_property
    def shuffled(self) -> Matrix:
        """Float32, subjects in no order."""
        return Matrix(self.options.size, self.options.templates, shuffled=True)

    @cached_property
    def double(self) -> Matrix:
        """Float64, subjects side by side."""
        return Matrix(self.options.size, self.options.templates, "float64")

    def work(self, key: str) -> Work:
        """Return the work of a key of :data:`WORK`, with its data made.

        Raises
        ------
        NotRun
            If it cannot be run here; the message says why.
        """
        return WORK[key](self)

    def pairs(self, most: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores and classes that another program is given."""
        return self.grouped.pairs(min(most, self.options.pairs))


def _sweep(matrix: Matrix, run: Callable[..., object], **given: Any) -> Work:
    scores = matrix.scores
    return Work(lambda: run(scores, **given), matrix.values.size, matrix.values.nbytes)


def without_auc(run: Callable[..., object]) -> dict[str, bool]:
    """Return the option that leaves out AUC and hull.

    Raises
    ------
    NotRun
        If there is none.
    """
    if "auc" not in inspect.signature(run).parameters:
        raise NotRun(f"not offered: {run.__name__} has no switch for AUC and hull")
    return {"auc": False}


def _read(matrix: Matrix) -> Work:
    return Work(matrix.read, matrix.values.size, matrix.values.nbytes)


def _argsort(bench: Workbench) -> Work:
    matrix = bench.grouped
    rows = matrix.values[: max(1, bench.options.pairs // matrix.size)]
    note = f"on {len(rows):,} rows, scaled by the cell"
    return Work(lambda: np.argsort(rows, axis=1), rows.size, rows.nbytes, note)


def _sort(bench: Workbench) -> Work:
    matrix = bench.grouped
    scores, genuine = matrix.pairs(matrix.values.size)
    own, other = scores[genuine], scores[~genuine]
    note = "genuine and impostor scores, separated beforehand at no charge"
    return Work(lambda: (np.sort(own), np.sort(other)), scores.size, scores.nbytes, note)


def _on_pairs(make: Callable[..., Any], most: int, what: str) -> Callable[[Workbench], Work]:
    def work(bench: Workbench) -> Work:
        scores, genuine = bench.pairs(most)
        note = f"{what}; on {scores.size:,} pairs, scaled by the pair"
        return Work(make(scores, genuine), scores.size, scores.nbytes, note)

    return work


def streamed(x: np.ndarray, labels: np.ndarray, dtype: str) -> Scores:
    """Return the scores of embeddings whose matrix is never made, by the cosine."""
    matrix = len(x) ** 2 * np.dtype(dtype).itemsize
    return Scores.from_embeddings(x, labels, metric="cosine", dtype=dtype, memory_limit=matrix - 1)


def _embeddings(bench: Workbench) -> Work:
    size, dimensions = bench.options.embeddings
    templates = bench.options.templates
    x, labels = features(size // templates, templates, dimensions)
    cells = len(x) ** 2
    note = "as a proportion of the matrix that is not made"
    return Work(lambda: tally(streamed(x, labels, "float32")), cells, 4 * cells, note)


def _evalify(bench: Workbench) -> Work:
    templates = bench.options.templates
    pairs = min(FEW, bench.options.pairs)
    people = max(2, int((2 * pairs) ** 0.5) // templates)
    x, labels = features(people, templates, 16)
    each = len(x) * (len(x) - 1) // 2
    note = f"from embeddings to EER; on {each:,} pairs, scaled by the pair"
    return Work(peers.evalify(x, labels), each, x.nbytes, note)


#: How the work of each key is made.
WORK: Mapping[str, Callable[[Workbench], Work]] = MappingProxyType(
    {
        "read": lambda b: _read(b.grouped),
        "read float64": lambda b: _read(b.double),
        "tally": lambda b: _sweep(b.grouped, tally),
        "evaluate": lambda b: _sweep(b.grouped, evaluate),
        "tally, thresholds": lambda b: _sweep(b.grouped, tally, thresholds=b.grouped.thresholds),
        "evaluate, thresholds": lambda b: _sweep(
            b.grouped, evaluate, thresholds=b.grouped.thresholds
        ),
        "tally, no auc": lambda b: _sweep(b.grouped, tally, **without_auc(tally)),
        "evaluate, no auc": lambda b: _sweep(b.grouped, evaluate, **without_auc(evaluate)),
        "tally, shuffled": lambda b: _sweep(b.shuffled, tally),
        "evaluate, shuffled": lambda b: _sweep(b.shuffled, evaluate),
        "tally, float64": lambda b: _sweep(b.double, tally),
        "evaluate, float64": lambda b: _sweep(b.double, evaluate),
        "embeddings": _embeddings,
        "argsort": _argsort,
        "sort": _sort,
        "roc_curve": _on_pairs(peers.roc_curve, 4_000_000, "the ROC of one task"),
        "pyeer": _on_pairs(peers.pyeer, FEW, "statistics of one task"),
        "feerci": _on_pairs(peers.feerci, 4_000_000, "the EER alone"),
        "evalify": _evalify,
        "bob.measure": _on_pairs(peers.bob_measure, 4_000_000, "the EER alone"),
    }
)
