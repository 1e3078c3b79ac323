"""What is measured, on how much, and how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from bioeval.base.errors import DataError, bad_choice

#: Each part of the benchmarks, by the name that ``--only`` takes.
PARTS: Mapping[str, str] = MappingProxyType(
    {
        "counts": "all tasks, counts and rates, in one sweep",
        "evaluate": "the same with the operating points",
        "thresholds": "1,000 thresholds of the user's",
        "points": "operating points against counts, of simulated people and of overlapping scores",
        "variants": "similarities, float64, a mask and excluded NaN against the plain case",
        "auc": "without AUC and hull",
        "shuffled": "a gallery that is not grouped by subject",
        "float64": "scores in double precision",
        "threads": "two threads against one",
        "argsort": "np.argsort of the rows",
        "sort": "np.sort of genuine and impostor scores",
        "roc_curve": "scikit-learn's roc_curve",
        "pyeer": "pyeer, if it is installed",
        "feerci": "feerci, if it is installed",
        "evalify": "evalify, if it is installed",
        "bob.measure": "bob.measure, if it is installed",
        "embeddings": "embeddings against the bare matrix product, and FAISS if it is installed",
        "partitions": "random partitions of one matrix, 100 x 100 each",
        "folds": "ten folds against one verification",
        "bootstrap": "1,000 resamples of 100 subjects, against as many calls of be.summary",
        "files": "be.load and be.evaluate of each kind of file, against the same in memory",
        "lists": "long lists of pairs, against the bare parsers of text and Parquet",
        "start": "the first run in a new environment, the second dtype, and later runs",
        "exact": "exact means over galleries of one template of each subject",
        "reid": "re-identification against loops that sort every row",
        "growth": "time against the number of cells",
        "million": "1,000,000 embeddings, extrapolated",
        "memory": "peak memory above the matrix",
    }
)


#: Templates and features of the embeddings that ``--large`` adds.
LARGE = ((50_000, 128), (100_000, 128))

#: What ``--quick`` measures by default.
QUICK: Mapping[str, Any] = MappingProxyType(
    {
        "size": 4_000,
        "repeat": 3,
        "growth": (500, 1_000, 2_000, 4_000),
        "embeddings": (3_000, 128),
        "vectors": ((2_000, 128), (5_000, 128)),
        "partitions": 400,
        "reid": (600, 3_000),
    }
)


@dataclass(frozen=True)
class Options:
    """What to measure.

    Parameters
    ----------
    size : int
        Templates on each side of the matrix.
    templates : int
        Templates of each subject.
    repeat : int
        Rounds.
    threads : int
        Threads of everything but the part that compares threads.
    only : sequence of str
        The parts to run; empty for all.
    growth : sequence of int
        Sizes of the growth.
    embeddings : (int, int)
        Templates and features of the embeddings whose growth and memory are measured.
    vectors : sequence of (int, int)
        Templates and features of embeddings that are evaluated beside their product.
    large : bool
        Whether 50,000 and 100,000 of them are measured as well.
    partitions, side : int
        Number of random partitions, and probes and templates of each.
    reid : (int, int)
        Queries and gallery entries of re-identification.
    pairs : int
        Scores that slow programs are given at most.

    Raises
    ------
    DataError
        If a number is out of range or a part has no such name.
    """

    size: int = 8_000
    templates: int = 10
    repeat: int = 5
    threads: int = 1
    only: Sequence[str] = ()
    growth: Sequence[int] = (1_000, 2_000, 4_000, 8_000, 20_000)
    embeddings: tuple[int, int] = (20_000, 512)
    vectors: Sequence[tuple[int, int]] = ((2_000, 128), (12_000, 512), (20_000, 128))
    large: bool = False
    partitions: int = 1_000
    side: int = 100
    reid: tuple[int, int] = (3_368, 15_913)
    pairs: int = 4_000_000

    def __post_init__(self) -> None:
        _at_least("templates", self.templates, 2)
        of_vectors = (templates for templates, _ in self.vectors)
        for size in (self.size, *self.growth, self.embeddings[0], *of_vectors):
            _at_least("size", size, 2 * self.templates)
        for size in self.reid:
            _at_least("reid", size, 1)
        for name in ("repeat", "threads", "partitions", "side"):
            _at_least(name, getattr(self, name), 1)
        for name in self.only:
            if name not in PARTS:
                raise DataError(bad_choice("the part to run", name, PARTS))

    @property
    def sizes_of_vectors(self) -> Sequence[tuple[int, int]]:
        """Templates and features of embeddings that are evaluated beside their product."""
        return [*self.vectors, *(LARGE if self.large else ())]

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts to run, in order."""
        return tuple(name for name in PARTS if not self.only or name in self.only)


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise DataError(f"{name} is {value}; expected a whole number of at least {least}")
