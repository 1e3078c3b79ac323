"""One line of the benchmarks: a ratio, its spread, and what it is a ratio to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.timing import quartiles

#: What 1 means in each section of the table.
SECTIONS: Mapping[str, str] = MappingProxyType(
    {
        "read": "against one vectorised read of the same matrix, on the same threads",
        "others": "other programs and sorts, each score, against the read of a score",
        "counts": "other programs and sorts, each score, against counts of all tasks",
        "points": "exact operating points: be.evaluate, against counts of the same scores",
        "plain": "other scores, each byte, against float32 distances grouped by subject",
        "outside": "time outside the kernels, as a proportion of the call",
        "speed-up": "speed-up of two threads: the time on one, over the time on two",
        "product": "embeddings to results, against the bare product X @ X.T in blocks of rows",
        "copy": "one random partition, against a NumPy copy of the same cells",
        "folds": "ten folds, against be.verification of the same scores without AUC and hull",
        "files": "from file to results, against be.evaluate of the same matrix in memory",
        "lists": "long lists of pairs: be.load, against what reads the file without bioeval",
        "bootstrap": "1,000 calls of be.summary, against be.evaluate with 1,000 replicates",
        "start": "bioeval run of 400 x 400 scores, against one that compiles nothing",
        "imports": "bioeval run that compiles nothing, against import numba, xarray",
        "single_template": "one template of each subject: the exact mean over all galleries",
        "reid": "re-identification: how many times as long another way takes as be.reid",
        "growth": "growth: time is cells to this power",
        "extrapolation": "extrapolated to 1,000,000 embeddings, not measured: growth with cells",
        "memory": "peak memory above the scores, as a proportion of the scores",
    }
)


def _vectors(call: str, *overlap: str) -> list[str]:
    """Return the keys of a call on embeddings of the sizes that are aimed at."""
    sizes = ("12,000 x 512", "20,000 x 128")
    return [f"embeddings: {call}, {size}, {which}" for size in sizes for which in overlap]


#: Ratios that are aimed at, by the key of the row: as much at most, or at least.
AT_MOST: Mapping[str, float] = MappingProxyType(
    {
        "counts": 6.0,
        "counts, thresholds": 8.0,
        "evaluate / counts": 2.2,
        "evaluate, thresholds / counts": 2.6,
        "evaluate, uniform / counts, uniform": 4.0,
        "evaluate, uniform, thresholds / counts, uniform": 4.4,
        "counts, shuffled / counts": 1.5,
        "evaluate, shuffled / evaluate": 1.4,
        **{
            f"{run}, {variant} / {run}": 2.0 if variant in ("similarity", "float64") else 1.5
            for run in ("counts", "evaluate")
            for variant in ("similarity", "float64", "mask", "metadata", "exclude")
        },
        "outside: evaluate": 0.05,
        "folds: eer": 1.5,
        "folds: accuracy": 1.5,
        "folds: eer, large": 1.5,
        "folds: accuracy, large": 1.5,
        "file: npz": 1.3,
        "file: npy": 1.3,
        "file: hdf5": 1.3,
        "file: zarr": 1.3,
        "lists: csv": 2.0,
        "lists: txt": 2.0,
        "exact: against multi": 25.0,
        **dict.fromkeys(_vectors("counts", "apart", "overlapping"), 0.6),
        **dict.fromkeys(_vectors("be.evaluate", "apart"), 0.75),
        **dict.fromkeys(_vectors("be.evaluate", "overlapping"), 1.1),
        "embeddings: be.evaluate, 100,000 x 128, apart": 1.2,
        "embeddings: be.evaluate, 100,000 x 128, overlapping": 1.2,
        "start: cold": 2.0,
        "start: dtype": 0.5,
        "start: warm": 1.7,
        "start: experiment": 2.2,
        "memory: counts": 0.05,
        "memory: evaluate": 0.05,
        "memory: evaluate, thresholds": 0.05,
        "memory: evaluate, shuffled": 0.05,
        "memory: evaluate, float64": 0.05,
    }
)
AT_LEAST: Mapping[str, float] = MappingProxyType(
    {
        "counts: roc_curve": 250.0,
        "counts: argsort": 12.0,
        "counts: sort": 5.0,
        "speed-up: counts": 1.7,
        "speed-up: evaluate": 1.7,
        "bootstrap": 40.0,
    }
)
#: Amounts that are aimed at, at most, where a ratio would say too little; with their unit.
WITHIN: Mapping[str, tuple[float, str]] = MappingProxyType(
    {
        "partition: evaluate": (5.0, "ms"),
        "partition: summary": (1.2, "ms"),
        "partition: repeat": (0.5, "ms"),
        "memory: file": (200.0, "MiB"),
        "memory: 20,000 x 128": (150.0, "MiB"),
        "memory: 100,000 x 128": (250.0, "MiB"),
        "lists: csv, memory": (1024.0, "MiB"),
        "lists: txt, memory": (1024.0, "MiB"),
        "lists: parquet, memory": (1024.0, "MiB"),
    }
)


@dataclass(frozen=True)
class Row:
    """One figure.

    Parameters
    ----------
    part, key, section, name : str
        The part it belongs to, its identifier, the section of the table, and its label.
    ratio, low, high : float, optional
        Median and quartiles of the rounds; None where nothing was measured.
    figure : str
        The same on this machine, with its unit.
    note : str
        How it was measured, or why it was not.
    seconds : float, optional
        Median time.
    ns_per_cell, bytes_per_cell : float, optional
    amount : float, optional
        What an aim in :data:`WITHIN` is about, in its unit.
    """

    part: str
    key: str
    section: str
    name: str
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    figure: str = ""
    note: str = ""
    seconds: float | None = None
    ns_per_cell: float | None = None
    bytes_per_cell: float | None = None
    amount: float | None = None

    @property
    def at_most(self) -> float | None:
        """The ratio that should not be exceeded, if there is one."""
        return AT_MOST.get(self.key)

    @property
    def at_least(self) -> float | None:
        """The ratio that should be reached, if there is one."""
        return AT_LEAST.get(self.key)

    @property
    def reached(self) -> bool | None:
        """Whether the aim is reached; None without one or without a ratio."""
        if self.ratio is None:
            return None
        if self.key in WITHIN and self.amount is not None:
            return self.amount <= WITHIN[self.key][0]
        if self.at_most is not None:
            return self.ratio <= self.at_most
        return None if self.at_least is None else self.ratio >= self.at_least

    def document(self) -> dict[str, Any]:
        """Return the row as plain values."""
        aim: dict[str, Any] = {"at_most": self.at_most, "at_least": self.at_least}
        aim |= {"within": WITHIN.get(self.key), "reached": self.reached}
        return {"record": "row", **asdict(self), "against": SECTIONS[self.section], **aim}


def number(value: float) -> str:
    """Return about three digits, without an exponent."""
    if value >= 99.5:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.95 else f"{value:.2f}"


def timed(
    ratios: np.ndarray, times: np.ndarray, cells: int, *, figure: str | None = None, **about: Any
) -> Row:
    """Return the row of a ratio of each round, and of the seconds of each round."""
    low, ratio, high = quartiles(ratios)
    seconds = float(np.median(times))
    each = seconds / cells * 1e9
    return Row(
        ratio=ratio,
        low=low,
        high=high,
        seconds=seconds,
        ns_per_cell=each,
        figure=f"{number(each)} ns a cell" if figure is None else figure,
        **about,
    )
