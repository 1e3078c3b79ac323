"""Attempts of all tasks from the same scores: sorted where they fit, counted where they do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from bioeval.attempts.cells import CellCounts, CellGrid, rounded_down
from bioeval.attempts.counters import grid_over_attempts
from bioeval.attempts.counting import Counter
from bioeval.attempts.counts import VerificationTally, curve_thresholds
from bioeval.attempts.finding import PointsWanted
from bioeval.attempts.identification_counter import IdentificationCounter
from bioeval.attempts.looks import Found, Kind
from bioeval.attempts.squares import Squares
from bioeval.attempts.tiles import PairTiles, Rows, Side, SquareTiles, Tile
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.kernels import ranks as kernel
from bioeval.scores.blocks import Block, BlockReader, is_small, threads_for
from bioeval.scores.matrix import are_pairs

R = TypeVar("R")


def count_together(
    reader: BlockReader, counters: Sequence[Counter[R]], wanted: PointsWanted | None = None
) -> list[R]:
    """Fill counters from the scores of a reader and return their results, in order.

    `wanted` are the operating points of verification that will be asked for.
    """
    with threads_for(reader.scores):
        if are_pairs(reader.scores):
            for counter in counters:
                _count_pairs(reader, counter, wanted)
        elif is_small(reader.scores):
            for block in reader.blocks():
                for counter in counters:
                    counter.add(block)
        else:
            _Pass(reader, counters, wanted).run()
    return [counter.result() for counter in counters]


def at_thresholds(
    reader: BlockReader,
    counters: Sequence[VerificationCounter],
    tallies: Sequence[VerificationTally],
    thresholds: np.ndarray,
) -> list[np.ndarray]:
    """Return the false accepts of tallies at thresholds; of counted attempts by another look."""
    if all(tally.attempts.marks is None for tally in tallies):
        return [tally.attempts.false_accepts(thresholds) for tally in tallies]
    again = [counter.fresh() for counter in counters]
    for counter in again:
        counter.given = thresholds
    return [tally.accepted for tally in count_together(reader, again)]


def _count_pairs(reader: BlockReader, counter: Any, wanted: PointsWanted | None) -> None:
    """Fill a counter of verification from listed pairs."""
    if is_small(reader.scores):
        counter.listed += counter.of_pairs()
        return
    tiles, more_impostors = PairTiles(reader, counter), counter.more_impostors
    dtype = np.dtype(np.float64) if len(more_impostors) else tiles.dtype
    rows = np.empty(0) if wanted is None or wanted.rows is None else wanted.rows
    kind = Kind(dtype, wanted, np.union1d(_given(counter), rows), None)
    kind.prepare()
    more = True
    while more:
        found = kind.start()

        def look(genuine: np.ndarray, tile: np.ndarray, number: int) -> None:
            if kind.genuine is None:
                kind.collected.append(genuine)
            kind.count(found, tile.astype(dtype, copy=False), number)

        if len(more_impostors):
            kind.count(found, more_impostors.astype(dtype)[None], -1)
        tiles.visit(look)
        more = kind.finish()
    _fill(counter, kind)


def _given(counter: VerificationCounter) -> np.ndarray:
    """Return the thresholds at which false accepts are wanted."""
    if isinstance(counter.given, int):
        counter.given = _linear(counter.reader, counter)
    return np.empty(0) if counter.given is None else counter.given


def _fill(counter: VerificationCounter, kind: Kind) -> None:
    """Give a counter the attempts that were counted, and its curve."""
    attempts = kind.attempts()
    attempts.counted_cells = _in_cells(kind)
    counter.attempts = attempts
    if counter.given is not None:
        counter.curve = _given(counter), attempts.false_accepts(_given(counter)).astype(np.int64)
        return
    thresholds = curve_thresholds(attempts.genuine, attempts.counted_cells)
    finite = np.isfinite(thresholds)
    at, accepted = kind.near(thresholds[finite])
    if (thresholds == -np.inf).any():
        at = np.append(-np.inf, at)
        accepted = np.append(attempts.counted_cells.negative_infinite, accepted)
    if (thresholds == np.inf).any():
        at, accepted = np.append(at, np.inf), np.append(accepted, attempts.impostors)
    counter.curve = at, accepted


def _rounded(thresholds: np.ndarray, kind: Kind) -> np.ndarray:
    return rounded_down(thresholds, kind.dtype).astype(np.float64)


def _in_cells(kind: Kind) -> CellCounts:
    """Return about how many scores are in cells of one width, which need no second look."""
    filled, counts, known = kind.filled, kind.counts.copy(), kind.values
    lowest = known[:1] == -np.inf
    negative = int(kind.weights[:1][lowest].sum())
    counts[:1] -= negative
    counts[-1:] -= kind.infinite
    largest = float(np.finfo(kind.dtype).max)
    upper = np.clip(_rounded(kind.about(filled), kind), -largest, largest)
    finite = known[np.isfinite(known)]
    if len(filled) and kind.beyond(filled[-1]) and len(finite):
        upper[-1] = finite[-1]
    upper = upper[counts > 0]
    if not len(upper):
        return CellCounts(0, 0, np.zeros(0, np.int64), negative, kind.infinite)
    least = known[int(lowest.sum()) :][:1]
    grid = CellGrid.covering(float(min(*least, upper[0])) if len(least) else upper[0], upper[-1])
    places = np.clip(grid.places_of(upper), 0, grid.count - 1).astype(np.int64)
    in_cells = np.bincount(places, counts[counts > 0], minlength=grid.count).astype(np.int64)
    return CellCounts(grid.exponent, grid.first, in_cells, negative, kind.infinite)


#: What tiles find of the ranks of a probe, by templates and by subjects.
UNITS = ("template", "subject")


class _Ranks:
    """What one thread finds of the ranks of all probes, among templates or subjects."""

    def __init__(self, probes: int, dtype: np.dtype):
        self.closer, self.within, self.there = np.zeros((3, probes), dtype=np.int32)
        self.before = np.zeros(probes, dtype=np.int32)
        self.other = np.full(probes, np.inf, dtype=dtype)

    def add(self, values: np.ndarray, side: Side, *, columns: bool) -> np.ndarray:
        """Add the candidates of a tile; return which probes of the side have ties there."""
        at = side.probes
        loop = kernel.rank_columns if columns else kernel.rank_rows
        within, closer = self.within[at], self.closer[at]
        before = within - closer
        loop(values, side.mates.best, closer, within, self.there[at], self.other[at])
        return np.flatnonzero(within - closer > before)


class _Pass:
    """The looks at the tiles of a matrix that counters need."""

    def __init__(
        self,
        reader: BlockReader,
        counters: Sequence[Counter[Any]],
        wanted: PointsWanted | None,
    ):
        self.reader, self.wanted = reader, wanted
        self.verified: list[VerificationCounter] = []
        self.ranked: list[IdentificationCounter] = []
        self.others: list[Any] = []
        self.own_kinds: list[tuple[VerificationCounter, Kind]] = []
        for counter in counters:
            if isinstance(counter, VerificationCounter):
                self.verified.append(counter)
            elif isinstance(counter, IdentificationCounter) and counter.of_tiles:
                self.ranked.append(counter)
            else:
                self.others.append(counter)
        of_tiles = [x for x in self.verified if x.of_tiles]
        # Claims, and other rules of fusion, are read by rows.
        whole = [x for x in self.verified if not x.of_tiles]
        squares = None if whole or self.others else Squares.of(reader)
        self.tiles: Any = Rows(reader) if squares is None else SquareTiles(squares)
        self.kinds: dict[str, Kind] = {}
        if of_tiles:
            genuine, sample = self.tiles.genuine, self.tiles.sample()
            for k, templates in enumerate(("single", "multi")):
                its = [x for x in of_tiles if x.templates == templates]
                if its:
                    given = np.unique(np.concatenate([self._marks(x) for x in its]))
                    known = None if genuine is None else genuine[k]
                    self.kinds[templates] = Kind(self.tiles.dtype, wanted, given, known)
                    self.kinds[templates].place(sample[k])
        for counter in whole:
            wide = counter.fuses or len(counter.more_impostors)
            dtype = np.dtype(np.float64) if wide else self.tiles.dtype
            if counter.claims is None:
                kind = Kind(dtype, wanted, self._marks(counter), None)
                self.own_kinds.append((counter, kind))
            else:
                self.others.append(counter)

    def _marks(self, counter: VerificationCounter) -> np.ndarray:
        """Return the thresholds at which false accepts are wanted."""
        rows = None if self.wanted is None else self.wanted.rows
        return _given(counter) if rows is None else np.union1d(_given(counter), rows)

    def run(self) -> None:
        """Look at the tiles until nothing is missing."""
        every = [*self.kinds.values(), *(kind for _, kind in self.own_kinds)]
        for kind in every:
            kind.prepare()
        missing, first = set(every), True
        while first or missing:
            self._look(missing, first)
            missing = {kind for kind in missing if kind.finish()}
            first = False
        for counter in self.verified:
            if counter.of_tiles:
                _fill(counter, self.kinds[counter.templates])
        for counter, kind in self.own_kinds:
            _fill(counter, kind)

    def _look(self, missing: set[Kind], first: bool) -> None:
        """Look at all tiles once."""
        ranks: list[dict[str, _Ranks]] = []
        units = {x.rank_unit for x in self.ranked} if first else set()
        collect = [
            (name, kind)
            for name, kind in self.kinds.items()
            if kind.genuine is None and kind in missing
        ]
        single, multi = (
            kind if (kind := self.kinds.get(x)) in missing else None for x in ("single", "multi")
        )
        probes = self.reader.scores.shape[0]

        def take() -> Any:
            found = {kind: kind.start() for kind in (single, multi) if kind is not None}
            its = {unit: _Ranks(probes, self.tiles.dtype) for unit in units}
            ranks.append(its)

            def look(tile: Tile) -> None:
                for name, kind in collect:
                    assert tile.rows is not None and tile.own is not None
                    mates = tile.rows.mates
                    kind.collected.append(
                        mates.best[mates.number > 0] if name == "multi" else tile.own[0]
                    )
                self._count(tile, single, multi, found, its)

            return look

        others = [_OfBlocks(x, first) for x in self.own_kinds if x[1] in missing]
        plain = [*(self.others if first else ()), *others]
        needed = any(x is not None for x in (single, multi)) or bool(units)
        if isinstance(self.tiles, Rows):
            self.tiles.with_mates = bool(units or collect)
            self.tiles.visit(take if needed else None, plain)
        elif needed:
            self.tiles.visit(take)
        if units:
            self._take_ranks(ranks)

    def _count(
        self,
        tile: Tile,
        single: Kind | None,
        multi: Kind | None,
        found: dict[Kind, Found],
        ranks: dict[str, _Ranks],
    ) -> None:
        """Count a tile for all that one thread finds."""
        if single is not None:
            single.count(found[single], tile.values, tile.number, tile.weight)
        fused: list[np.ndarray] = []
        if multi is not None or "subject" in ranks:
            fused = tile.fused()
        if multi is not None:
            for values in fused:
                multi.count(found[multi], values, tile.number)
        for unit, its in ranks.items():
            for k, side in enumerate((tile.rows, tile.columns)):
                if side is None:
                    continue
                values = tile.values if unit == "template" else fused[k]
                ties = its.add(values, side, columns=k == 1)
                if len(ties):
                    subjects = tile.subjects[k] if unit == "subject" else None
                    _count_before(tile.values, values, side, ties, its, k == 1, subjects)

    def _take_ranks(self, found: list[dict[str, _Ranks]]) -> None:
        """Give the counters of identification what all threads have found."""
        m = self.reader.scores.shape[0]
        mates, row = self.tiles.mates, np.arange(m)
        if isinstance(self.tiles, SquareTiles):
            row = self.tiles.squares.row
        mated = mates.number > 0
        for counter in self.ranked:
            its = [ranks[counter.rank_unit] for ranks in found]
            closer, within, there, before = (
                sum((getattr(x, name) for x in its), start=np.zeros(m, dtype=np.int64))
                for name in ("closer", "within", "there", "before")
            )
            other = np.minimum.reduce([x.other for x in its]).astype(np.float64)
            by_subject = counter.rank_unit == "subject"
            facts = {
                "mate": np.where(mated, mates.best.astype(np.float64), np.nan),
                "other": np.where(there > 0, other, np.nan),
                "closer": closer * mated,
                "tied": (within - closer) * mated,
                "tied_before": before * mated,
                "mates_tied": mated if by_subject else mates.tied,
                "mates": mated if by_subject else mates.number,
                "others": there,
            }
            for name, values in facts.items():
                getattr(counter.facts, name)[row] = values


class _OfBlocks:
    """Counts whole blocks for a counter of another rule of fusion, or of a mask without labels."""

    def __init__(self, of: tuple[VerificationCounter, Kind], first: bool):
        self.counter, self.kind = of
        self.found, self.number = self.kind.start(), 0
        if len(more := self.counter.more_impostors):
            self.kind.count(self.found, more.astype(self.kind.dtype)[None], -1)

    def add(self, block: Block) -> None:
        """Count a block."""
        genuine, impostor = self.counter.of_block(block)
        if self.kind.genuine is None:
            self.kind.collected.append(genuine)
        tile = np.ascontiguousarray(impostor, self.kind.dtype)
        self.kind.count(self.found, tile, self.number)
        self.number += 1


def _count_before(
    templates: np.ndarray,
    values: np.ndarray,
    side: Side,
    ties: np.ndarray,
    ranks: _Ranks,
    columns: bool,
    subjects: np.ndarray | None,
) -> None:
    """Count the ties of some probes that come before their best mates in the gallery."""
    probes = np.arange(len(ranks.before))[side.probes][ties]
    best, last = side.mates.best[ties], side.mates.place[ties]
    lines = templates.T[ties] if columns else templates[ties]
    before = (lines[:, : len(side.places)] == best[:, None]) & (side.places < last[:, None])
    if subjects is not None:
        by_subject = np.zeros((len(ties), int(subjects.max(initial=-1)) + 1), dtype=bool)
        line, candidate = np.nonzero(before)
        by_subject[line, subjects[candidate]] = True
        fused = values.T[ties] if columns else values[ties]
        before = by_subject & (fused[:, : by_subject.shape[1]] == best[:, None])
    ranks.before[probes] += before.sum(axis=1, dtype=np.int32)


def _linear(reader: BlockReader, counter: VerificationCounter) -> np.ndarray:
    """Return evenly spaced thresholds over the range of all attempts, found by reading them."""
    assert isinstance(counter.given, int)
    if are_pairs(reader.scores):
        parts = counter.of_pairs()
    else:
        parts = (counter.of_block(block) for block in reader)
    return grid_over_attempts((x for part in parts for x in part), counter.given)
