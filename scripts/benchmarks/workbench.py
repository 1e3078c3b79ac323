"""What is timed: the matrices, made when first needed, and the calls on them, by key."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks import peers
from benchmarks.matrices import Matrix, features, vectors
from benchmarks.options import Options
from benchmarks.peers import NotRun
from bioeval.base.options import set_options
from bioeval.evaluation import evaluate
from bioeval.scores.formats import load, save
from bioeval.scores.matrix import Scores
from bioeval.tasks.plan import EvaluationOptions, Plan, resolve_card

#: Scores of the programs that loop in Python, or build every pair, at most.
FEW = 200_000


@dataclass(frozen=True)
class Work:
    """A call, the cells (or pairs) it goes over, and the bytes of these."""

    call: Callable[[], object]
    cells: int
    bytes: int
    note: str = ""
    mapped: int = 0  # bytes of them that are mapped from a file while the call runs


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

    @cached_property
    def uniform(self) -> Matrix:
        """Float32, both classes from one uniform distribution."""
        return Matrix(self.options.size, self.options.templates, uniform=True)

    @cached_property
    def similarity(self) -> Scores:
        """The scores as similarities."""
        return Scores(-self.grouped.values, self.grouped.labels, kind="similarity")

    @cached_property
    def masked(self) -> Scores:
        """The scores with a mask that leaves one in a thousand out."""
        labels = self.grouped.labels
        mask = np.where(labels[:, None] == labels, np.uint8(2), np.uint8(1))
        mask.ravel()[::1_009] = 0
        return Scores(self.grouped.values, labels, mask=mask)

    @cached_property
    def metadata(self) -> Scores:
        """The scores without the genuine pairs of one session in three."""
        values, labels = self.grouped.values, self.grouped.labels
        session = np.arange(len(labels)) % 3
        return Scores(values, labels, probe_meta={"session": session}, exclude=("session",))

    @cached_property
    def excluding(self) -> Scores:
        """The scores with one comparison in a thousand failed, which are not attempts."""
        values = self.grouped.values.copy()
        values.ravel()[::1_009] = np.nan
        return Scores(values, self.grouped.labels, nan="exclude")

    @cached_property
    def archive(self) -> Path:
        """A .npz file of the scores in float64, in a folder that ends with the workbench."""
        self._folder = TemporaryDirectory()
        path = Path(self._folder.name) / "scores.npz"
        save(self.double.scores, path)
        del self.double
        return path

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


def _sweep(of: Matrix | Scores, run: Callable[..., object], **given: Any) -> Work:
    scores = of.scores if isinstance(of, Matrix) else of
    return Work(lambda: run(scores, **given), scores.values.size, scores.values.nbytes)


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


def streamed(x: np.ndarray, labels: np.ndarray, dtype: Any) -> Scores:
    """Return the scores of embeddings whose matrix is never made, by the cosine."""
    matrix = len(x) ** 2 * np.dtype(dtype).itemsize
    with set_options(memory_limit=matrix - 1):
        return Scores.from_embeddings(x, labels, metric="cosine", dtype=dtype)._with(_limited=False)


def _embeddings(bench: Workbench, run: Callable[[Scores], object]) -> Work:
    size, dimensions = bench.options.embeddings
    templates = bench.options.templates
    x, labels = features(size // templates, templates, dimensions)
    cells = len(x) ** 2
    note = "as a proportion of the matrix that is not made"
    return Work(lambda: run(streamed(x, labels, "float32")), cells, 4 * cells, note)


def _vectors(bench: Workbench) -> Work:
    from benchmarks.embeddings import noises, scores_of

    size, dimensions = bench.options.embeddings
    noise = noises(dimensions)["overlapping"]
    x, labels = vectors(size, dimensions, noise, bench.options.templates)
    cells = len(x) ** 2
    note = "as a proportion of the matrix that is not made"
    return Work(lambda: evaluate(scores_of(x, labels)), cells, 4 * cells, note)


def _archive(bench: Workbench) -> Work:
    mapped = bench.archive.stat().st_size
    cells = bench.options.size**2
    note = "above the file, which is mapped"
    return Work(lambda: evaluate(load(bench.archive)), cells, 8 * cells, note, mapped)


def _evalify(bench: Workbench) -> Work:
    templates = bench.options.templates
    pairs = min(FEW, bench.options.pairs)
    people = max(2, int((2 * pairs) ** 0.5) // templates)
    x, labels = features(people, templates, 16)
    each = len(x) * (len(x) - 1) // 2
    note = f"from embeddings to EER; on {each:,} pairs, scaled by the pair"
    return Work(peers.evalify(x, labels), each, x.nbytes, note)


#: Scores of another kind than the plain ones, and the attribute of the workbench that holds them.
VARIANTS: Mapping[str, str] = MappingProxyType(
    {
        "similarity": "similarity",
        "float64": "double",
        "mask": "masked",
        "metadata": "metadata",
        "exclude": "excluding",
    }
)


def _of_variant(run: Callable[..., object], attribute: str, bench: Workbench) -> Work:
    return _sweep(getattr(bench, attribute), run)


def counts(scores: Scores, *, thresholds: Any = None) -> object:
    """Count all tasks, without operating points and results."""
    options = EvaluationOptions.parse(thresholds=thresholds)
    return Plan(scores, resolve_card(scores, "auto"), options, automatic=True).count()


#: How the work of each key is made.
WORK: Mapping[str, Callable[[Workbench], Work]] = MappingProxyType(
    {
        "read": lambda b: _read(b.grouped),
        "read float64": lambda b: _read(b.double),
        "counts": lambda b: _sweep(b.grouped, counts),
        "evaluate": lambda b: _sweep(b.grouped, evaluate),
        "counts, thresholds": lambda b: _sweep(b.grouped, counts, thresholds=b.grouped.thresholds),
        "evaluate, thresholds": lambda b: _sweep(
            b.grouped, evaluate, thresholds=b.grouped.thresholds
        ),
        "counts, uniform": lambda b: _sweep(b.uniform, counts),
        "evaluate, uniform": lambda b: _sweep(b.uniform, evaluate),
        "evaluate, uniform, thresholds": lambda b: _sweep(
            b.uniform, evaluate, thresholds=b.uniform.thresholds
        ),
        **{
            f"{run.__name__}, {name}": partial(_of_variant, run, attribute)
            for run in (counts, evaluate)
            for name, attribute in VARIANTS.items()
        },
        "evaluate, no auc": lambda b: _sweep(b.grouped, evaluate, **without_auc(evaluate)),
        "counts, shuffled": lambda b: _sweep(b.shuffled, counts),
        "evaluate, shuffled": lambda b: _sweep(b.shuffled, evaluate),
        "embeddings": lambda b: _embeddings(b, counts),
        "vectors": _vectors,
        "file": _archive,
        "argsort": _argsort,
        "sort": _sort,
        "roc_curve": _on_pairs(peers.roc_curve, 4_000_000, "the ROC of one task"),
        "pyeer": _on_pairs(peers.pyeer, FEW, "statistics of one task"),
        "feerci": _on_pairs(peers.feerci, 4_000_000, "the EER alone"),
        "evalify": _evalify,
        "bob.measure": _on_pairs(peers.bob_measure, 4_000_000, "the EER alone"),
    }
)
