"""Attempts by the time of the probe: one pass for all bins.

A threshold that is given is counted at in that pass. One that a rule chooses is found, exactly, in
a second look, at the scores of a few cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bioeval import DataError, ProtocolError
from bioeval.base import (
    Argument,
    executor,
    received,
    require_choice,
    require_integer,
    rows_reported_to,
)
from bioeval.protocol import Search
from bioeval.scores import Block, BlockReader
from bioeval.tallies import (
    ConcatenatedRows,
    Counter,
    Counts,
    FoldPasses,
    IdentificationCounter,
    IdentificationTally,
    Judged,
    Rule,
    Subset,
    ThresholdCounter,
    count_together,
    gather,
)

#: Calendar units, as numpy names them.
UNITS = {"year": "Y", "month": "M", "day": "D", "hour": "h"}

MOST_BINS = 10_000

#: Returns a column as times, with its name in messages.
Parser = Callable[[np.ndarray, str], np.ndarray]


@dataclass(frozen=True)
class TimeBins:
    """Bins ``edges[b] <= time < edges[b + 1]``."""

    edges: np.ndarray  # of times (bins + 1,)
    codes: np.ndarray  # int64: the bin of each time; -1 where it is missing or in no bin

    def __len__(self) -> int:
        return len(self.edges) - 1

    @classmethod
    def of(cls, times: np.ndarray, bins: Any, parsed: Parser) -> TimeBins:
        """Return the bins of some times; see `bins` of :func:`bioeval.over_time`.

        Edges are `parsed` as times are.
        """
        known = times[times == times]
        if not len(known):
            raise DataError("there is no time to divide into bins: all are missing")
        if times.dtype.kind == "f" and not np.isfinite(known).all():
            raise DataError("an infinite time has no place in a bin; expected finite times")
        if isinstance(bins, str) and not bins.isdecimal():
            edges = _calendar(known, bins)
        elif np.ndim(bins) == 0:
            number = require_integer("bins", bins, low=1, high=MOST_BINS)
            edges = _equal(known, number)
        else:
            edges = _checked_edges(times.dtype, bins, parsed)
        if len(edges) > MOST_BINS + 1:
            raise DataError(
                Argument("bins"), f" makes {len(edges) - 1:,} bins; expected at most {MOST_BINS:,}"
            )
        codes = np.searchsorted(edges, times, side="right") - 1
        codes[(codes >= len(edges) - 1) | (times != times)] = -1
        return cls(edges, codes.astype(np.int64))


def _calendar(known: np.ndarray, unit: str) -> np.ndarray:
    """Return the starts of the calendar periods that contain any of the times."""
    require_choice("bins", unit, UNITS)
    if known.dtype.kind != "M":
        raise DataError(
            Argument("bins", unit),
            " needs dates, but times are numbers; give edges, or a number of bins",
        )
    first = known.min().astype(f"datetime64[{UNITS[unit]}]")
    last = known.max().astype(f"datetime64[{UNITS[unit]}]")
    if (last - first).astype(np.int64) >= MOST_BINS:
        raise DataError(Argument("bins", unit), f" makes more than {MOST_BINS:,} bins")
    return np.arange(first, last + 2).astype("datetime64[us]")


def _equal(known: np.ndarray, number: int) -> np.ndarray:
    """Return edges of equal width (whole days for dates), the last just above the last time."""
    low, high = known.min(), known.max()
    if known.dtype.kind == "M":
        whole_days = (known.astype("datetime64[D]") == known).all()
        unit = "datetime64[D]" if whole_days else "datetime64[us]"
        start = int(low.astype(unit).astype(np.int64))
        stop = int(high.astype(unit).astype(np.int64))
        ends = [start + (stop + 1 - start) * k // number for k in range(number + 1)]
        return np.unique(np.array(ends)).view(unit).astype("datetime64[us]")
    last = np.nextafter(np.float64(high), np.inf)
    edges = np.linspace(float(low), float(high), number + 1)
    edges[-1] = last
    if low < high:
        return np.unique(edges)
    return np.array([float(low), last])


def _checked_edges(dtype: np.dtype, bins: Any, parsed: Parser) -> np.ndarray:
    """Return the given edges, checked."""
    name = Argument("bins")
    edges = parsed(np.asarray(bins), name)
    if edges.ndim != 1 or len(edges) < 2 or not (edges[1:] > edges[:-1]).all():
        raise DataError(name, f" is {received(bins)}; expected two or more increasing edges")
    if (edges.dtype.kind == "M") != (dtype.kind == "M"):
        if edges.dtype.kind == "M":
            raise DataError(name, " has dates, but times are numbers")
        raise DataError(name, " has numbers, but times are dates")
    return edges


class SharedReader(BlockReader):
    """Reader whose next pass also feeds `counters`."""

    counters: tuple[Counter[Any], ...] = ()

    def blocks(self, *, reported: bool = True, in_place: bool = False) -> Iterator[Block]:
        """Yield the blocks in order."""
        counters, self.counters = self.counters, ()
        for block in super().blocks(reported=reported, in_place=in_place and not counters):
            for counter in counters:
                counter.add(block)
            yield block


# What is found of genuine scores.
_GENUINE = ("value", "row", "column")


class ProbeAttemptsCounter(Counter["ProbeAttemptsCounter"]):
    """The genuine scores of each probe, and, at a threshold, its false accepts."""

    def __init__(self, reader: BlockReader, templates: str, fusion: str, threshold: float | None):
        self.reader, self.multi, self.fusion = reader, templates == "multi", fusion
        self.accepted = None
        if threshold is not None:
            self.accepted = ThresholdCounter(np.array([threshold]))
        self.genuine: list[tuple[np.ndarray, ...]] = []
        # Impostor attempts of each probe that are accepted, and all others.
        self.impostors = np.zeros((reader.scores.shape[0], 2), dtype=np.int64)

    def fresh(self) -> Self:
        """Return the same counter before it has found anything."""
        counter = copy(self)
        counter.genuine, counter.impostors = [], np.zeros_like(self.impostors)
        return counter

    def counts(self, low: int, high: int) -> dict[str, Counts]:
        """Return the counts of rows ``low:high``; see :mod:`bioeval.tallies.parts`."""
        columns = map(np.concatenate, zip(*self.genuine, strict=True))
        genuine = dict(zip(_GENUINE, map(ConcatenatedRows.of, columns), strict=True))
        return {**genuine, "impostors": ConcatenatedRows.of(self.impostors[low:high])}

    def merge(self, other: dict[str, Counts], low: int, high: int) -> None:
        """Add the counts of rows ``low:high``."""
        self.genuine.append(tuple(other[name].array() for name in _GENUINE))
        self.impostors[low:high] = other["impostors"].array()

    def add(self, block: Block) -> None:
        """Add the attempts of a block of rows."""
        if self.multi:
            block = block.fused(self.fusion)
        values, start, stop = block.values, block.mate_start, block.mate_stop
        value, row, column = gather(values, start, stop, block.probe_position)
        if not self.multi:
            column = block.columns[0][column]
        self.genuine.append((value.astype(np.float64), row + block.low, column))
        if self.accepted is not None:
            accepted = self.accepted.by_row(values, start, stop)
            self.impostors[block.low : block.low + len(values)] = accepted

    def result(self) -> ProbeAttemptsCounter:
        """Return the attempts found."""
        return self


@dataclass(frozen=True)
class AttemptsOverTime:
    """Attempts of verification by bins of probes, and the facts of their searches."""

    threshold: float  # a distance, given or chosen; NaN rejects all
    #: (g,): each genuine score, its probe and its template (multi-template: its subject's group).
    values: np.ndarray
    row: np.ndarray
    column: np.ndarray
    #: int64 (bins,).
    impostor_attempts: np.ndarray
    false_accepts: np.ndarray
    ranks: IdentificationTally | None


@dataclass(frozen=True)
class Counting:
    """Choice of counts: templates of verification, and searches of identification if wanted."""

    templates: str
    fusion: str
    rule: Rule
    search: Search | None = None


def attempts_over_time(
    reader: SharedReader, codes: np.ndarray, bins: int, counting: Counting
) -> AttemptsOverTime:
    """Count all attempts by the bin of their probe (-1: none), at one threshold for all.

    `counting` holds the threshold of its rule, if it gives one, as a distance.
    """
    templates, fusion, rule = counting.templates, counting.fusion, counting.rule
    fixed_threshold = rule.values[0] if rule.name == "fixed" else None
    counter = ProbeAttemptsCounter(reader, templates, fusion, fixed_threshold)
    counters: list[Counter[Any]] = [counter]
    if counting.search is not None:
        counters.append(IdentificationCounter(reader, counting.search))
    if fixed_threshold is None:
        threshold, attempts, accepts = _by_rule(reader, codes, bins, counting, tuple(counters))
    else:
        count_together(reader, counters)
        threshold, inside = fixed_threshold, codes >= 0
        by_bin = np.zeros((bins, 2), dtype=np.int64)  # accepted, and all others
        np.add.at(by_bin, codes[inside], counter.impostors[inside])
        accepts, attempts = by_bin[:, 0], by_bin.sum(axis=1)
    values, row, column = map(np.concatenate, zip(*counter.genuine, strict=True))
    ranks = counters[1].result() if len(counters) > 1 else None
    return AttemptsOverTime(threshold, values, row, column, attempts, accepts, ranks)


@rows_reported_to(None)
def _by_rule(
    reader: SharedReader,
    codes: np.ndarray,
    bins: int,
    counting: Counting,
    counters: tuple[Counter[Any], ...],
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the threshold that a rule chooses on all data, and impostor attempts by bin.

    The attempts outside a bin are those of its complement, as the training part of a fold is.
    """
    everything, gallery = bins + 1, bins + 2  # the first is a fold that no template has
    folds = np.where(codes >= 0, codes, bins), np.full(reader.scores.shape[1], gallery)
    passes = FoldPasses(reader, counting.templates, counting.fusion, [folds])
    passes.rows.from_memory = False  # the other counters take blocks
    if executor() is None:
        reader.counters = counters
    else:
        count_together(reader, counters)
    parts = [(Subset(everything, inside=False), Subset(b, inside=False)) for b in range(bins)]
    judged = Judged.of_folds(passes, counting.rule, [parts])[0]
    reader.note_failure_codes()
    chosen, whole = judged[0].chosen, judged[0].train
    if not chosen.defined:
        lacking = "genuine" if not whole.genuine_attempts else "impostor"
        raise ProtocolError(
            f"the threshold rule {counting.rule} needs attempts of both classes, and there is no "
            f"{lacking} attempt; give a number"
        )
    total, accepted = whole.impostor_attempts, whole.errors_at(chosen.threshold)[0]
    attempts, accepts = np.empty((2, bins), dtype=np.int64)
    for b, fold in enumerate(judged):
        attempts[b] = total - fold.test.impostor_attempts
        accepts[b] = accepted - fold.test.errors_at(chosen.threshold)[0]
    return float(chosen.threshold), attempts, accepts
