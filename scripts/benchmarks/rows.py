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
        "counts": "other programs and sorts, each score, against be.tally of all tasks",
        "speed-up": "speed-up of two threads: the time on one, over the time on two",
        "product": "against the bare matrix product, in the same blocks",
        "copy": "one random partition, against a NumPy copy of the same cells",
        "drawn": "one template a subject, drawn: the exact mean over all galleries",
        "reid": "re-identification: how many times as long another way takes as be.reid",
        "growth": "growth: time is cells to this power",
        "extrapolation": "extrapolated to 1,000,000 embeddings, not measured: growth with cells",
        "memory": "peak memory above the scores, as a proportion of the scores",
    }
)

#: Ratios that are aimed at, by the key of the row: as much at most, or at least.
AT_MOST: Mapping[str, float] = MappingProxyType(
    {
        "tally": 3.5,
        "tally, thresholds": 5.0,
        "exact: against multi": 25.0,
        "exact: against sampled": 1.0,
        "embeddings: be.tally float32": 1.25,
        "embeddings: be.evaluate float32": 1.25,
        "embeddings: be.tally float64": 1.25,
        "memory: tally": 0.05,
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
        "speed-up: tally": 1.7,
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
        if self.at_most is not None:
            return self.ratio <= self.at_most
        return None if self.at_least is None else self.ratio >= self.at_least

    def document(self) -> dict[str, Any]:
        """Return the row as plain values."""
        aim = {"at_most": self.at_most, "at_least": self.at_least, "reached": self.reached}
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
