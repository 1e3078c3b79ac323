"""Attempts of all tasks from the same scores: sorted where they fit, counted where they do not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bioeval.attempts.cells import CellCounts, rounded_down
from bioeval.attempts.counters import grid_over_attempts
from bioeval.attempts.counting import Counter
from bioeval.attempts.counts import VerificationTally, curve_thresholds
from bioeval.attempts.finding import PointsWanted
from bioeval.attempts.identification_counter import IdentificationCounter
from bioeval.attempts.looks import CountedAttempts, Found
from bioeval.attempts.ranks import Ranks, facts_of
from bioeval.attempts.squares import Squares
from bioeval.attempts.tiles import Rows, SquareTiles, Tile
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.options import OPTIONS
from bioeval.scores.arrays import distance_dtype, scored
from bioeval.scores.blocks import Block, BlockReader, is_small, threads_for
from bioeval.scores.matrix import are_pairs

if TYPE_CHECKING:
    from bioeval.attempts.cluster import LookingWorkers

R = TypeVar("R")


def count_together(
    reader: BlockReader, counters: Sequence[Counter[R]], wanted: PointsWanted | None = None
) -> list[R]:
    """Fill counters from the scores of a reader and return their results, in order.

    Up to ``blocks.LISTED`` scores are listed and sorted; more are counted in tiles, by a pass.

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
    more_impostors = counter.more_impostors
    dtype = distance_dtype(reader.scores.dtype)
    if len(more_impostors):
        dtype = np.dtype(np.float64)
    rows = np.empty(0) if wanted is None or wanted.rows is None else wanted.rows
    given = np.union1d(_given(counter), rows)
    kind = CountedAttempts(dtype, wanted, given, rejected=reader.scores.nan == "reject")
    kind.prepare()
    more = True
    while more:
        found = kind.start()
        if len(more_impostors):
            kind.count_more(found, more_impostors)
        for number, (genuine, impostor) in enumerate(counter.of_pairs()):
            if kind.genuine is None:
                found.genuine.append(genuine)
            kind.count(found, impostor[None], number)
        more = kind.finish([found])
    _fill(counter, kind)


def _given(counter: VerificationCounter) -> np.ndarray:
    """Return the thresholds at which false accepts are wanted."""
    if isinstance(counter.given, int):
        counter.given = _linear(counter.reader, counter)
    return np.empty(0) if counter.given is None else counter.given


def _fill(counter: VerificationCounter, kind: CountedAttempts) -> None:
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


def _in_cells(kind: CountedAttempts) -> CellCounts:
    """Return about how many scores are in cells of one width, which need no second look."""
    filled, counts, known = kind.filled, kind.counts.copy(), kind.values
    lowest = known[:1] == -np.inf
    negative = int(kind.weights[:1][lowest].sum())
    counts[:1] -= negative
    counts[-1:] -= kind.infinite
    largest = float(np.finfo(kind.dtype).max)
    about = rounded_down(kind.about(filled), kind.dtype).astype(np.float64)
    upper = np.clip(about, -largest, largest)
    finite = known[np.isfinite(known)]
    if len(filled) and kind.beyond(filled[-1]) and len(finite):
        upper[-1] = finite[-1]
    least = known[int(lowest.sum()) :][:1]
    return CellCounts.of(upper[counts > 0], counts[counts > 0], least, negative, kind.infinite)


@dataclass(eq=False)
class Seen:
    """What one thread sees: of each kind of attempts, and of ranks among each unit."""

    found: dict[str, Found]
    ranks: dict[str, Ranks]

    def add(self, other: Seen) -> None:
        """Add what another has seen."""
        for name, found in self.found.items():
            found.add(other.found[name])
        for unit, ranks in self.ranks.items():
            ranks.take(other.ranks[unit])

    def drop_room(self) -> None:
        """Drop what is needed only while looking."""
        for found in self.found.values():
            found.room = np.empty(0)


@dataclass(eq=False)
class Look:
    """What is looked for in all tiles: attempts by kind, and ranks among templates or subjects."""

    kinds: dict[str, CountedAttempts]
    units: set[str]

    @property
    def wants_mates(self) -> bool:
        """Whether the mates in the rows of a tile are needed."""
        return bool(self.units) or any(kind.genuine is None for kind in self.kinds.values())

    def over(self, tiles: Rows | SquareTiles, part: range | None = None) -> list[Seen]:
        """Look at all tiles, or those of a part; return what each thread has seen."""
        seen: list[Seen] = []
        if isinstance(tiles, Rows):
            tiles.with_mates = self.wants_mates
        tiles.visit(self.start(tiles, seen), part=part)
        return seen

    def start(
        self, tiles: Rows | SquareTiles, seen: list[Seen]
    ) -> Callable[[], Callable[[Tile], None]]:
        """Return what begins to look on a thread."""
        probes = len(tiles.mates.number)

        def take() -> Callable[[Tile], None]:
            found = {name: kind.start() for name, kind in self.kinds.items()}
            ranks = {unit: Ranks(probes, tiles.dtype) for unit in self.units}
            seen.append(Seen(found, ranks))
            return lambda tile: self._at(tile, found, ranks)

        return take

    def _at(self, tile: Tile, found: dict[str, Found], ranks: dict[str, Ranks]) -> None:
        """Look at a tile."""
        fused: list[np.ndarray] = []
        if "multi" in self.kinds or "subject" in ranks:
            fused = tile.fused()
        for name, kind in self.kinds.items():
            if kind.genuine is None:
                assert tile.rows is not None and tile.own is not None
                mates = tile.rows.mates
                nearest = mates.best[mates.number > 0]
                found[name].genuine.append(nearest if name == "multi" else tile.own[0])
            if name == "single":
                kind.count(found[name], tile.values, tile.number, tile.weight)
                continue
            for values in fused:
                kind.count(found[name], values, tile.number)
        for unit, its in ranks.items():
            for k, side in enumerate((tile.rows, tile.columns)):
                if side is not None:
                    by_subject = unit == "subject"
                    values = fused[k] if by_subject else tile.values
                    its.add(tile, values, k, by_subject=by_subject)


class _Pass:
    """The looks at the tiles of a matrix that counters need."""

    def __init__(
        self,
        reader: BlockReader,
        counters: Sequence[Counter[Any]],
        wanted: PointsWanted | None,
    ):
        self.reader, self.wanted = reader, wanted
        self.ranked: list[IdentificationCounter] = []
        self.others: list[Any] = []  # read whole blocks, in the first look
        #: What is counted in tiles; and in whole blocks: masks without labels, rules of fusion.
        self.of_tiles: list[VerificationCounter] = []
        self.whole: list[tuple[VerificationCounter, CountedAttempts]] = []
        whole: list[VerificationCounter] = []
        for counter in counters:
            if isinstance(counter, IdentificationCounter) and counter.of_tiles:
                self.ranked.append(counter)
            elif not isinstance(counter, VerificationCounter) or counter.claims is not None:
                self.others.append(counter)
            else:
                (self.of_tiles if counter.of_tiles else whole).append(counter)
        squares = None if whole or self.others else Squares.of(reader)
        self.tiles: Rows | SquareTiles = Rows(reader)
        if squares is not None:
            self.tiles = SquareTiles(squares)
        rejected = reader.scores.nan == "reject"
        for counter in whole:
            wide = counter.fuses or len(counter.more_impostors)
            dtype, marks = np.dtype(np.float64) if wide else self.tiles.dtype, self._marks(counter)
            self.whole.append((counter, CountedAttempts(dtype, wanted, marks, rejected=rejected)))
        self.kinds: dict[str, CountedAttempts] = {}
        if not self.of_tiles:
            return
        genuine, sample = self.tiles.genuine, self.tiles.sample()
        for k, templates in enumerate(("single", "multi")):
            if its := [x for x in self.of_tiles if x.templates == templates]:
                given = np.unique(np.concatenate([self._marks(x) for x in its]))
                at_hand = None if genuine is None else genuine[k]
                self.kinds[templates] = CountedAttempts(
                    self.tiles.dtype, wanted, given, at_hand, rejected=rejected
                )
                self.kinds[templates].place(sample[k], self.tiles.size)

    def _marks(self, counter: VerificationCounter) -> np.ndarray:
        """Return the thresholds at which false accepts are wanted."""
        rows = None if self.wanted is None else self.wanted.rows
        return _given(counter) if rows is None else np.union1d(_given(counter), rows)

    def run(self) -> None:
        """Look at the tiles until nothing is missing, and fill the counters."""
        for kind in (*self.kinds.values(), *(kind for _, kind in self.whole)):
            kind.prepare()
        kinds, whole = self.kinds, self.whole
        units = {x.rank_unit for x in self.ranked}
        others = self.others
        while kinds or whole or units or others:
            blocks = [_OfBlocks(*x) for x in whole]
            seen = self._look(Look(kinds, units), [*others, *blocks])
            if units:
                self._take_ranks(seen)
            kinds = {k: x for k, x in kinds.items() if x.finish([one.found[k] for one in seen])}
            whole = [(x.counter, x.kind) for x in blocks if x.kind.finish([x.found])]
            units, others = set(), []
        for counter in self.of_tiles:
            _fill(counter, self.kinds[counter.templates])
        for counter, kind in self.whole:
            _fill(counter, kind)

    def _look(self, look: Look, blocks: Sequence[Any]) -> list[Seen]:
        """Look at all tiles once, and at whole blocks; return what the threads have seen."""
        if OPTIONS["client"] is not None and not blocks:
            return self._workers.look(look)
        if isinstance(self.tiles, SquareTiles) or not blocks:
            return look.over(self.tiles)
        self.tiles.with_mates = look.wants_mates
        seen: list[Seen] = []
        take = look.start(self.tiles, seen) if look.kinds or look.units else None
        self.tiles.visit(take, blocks)
        return seen

    @cached_property
    def _workers(self) -> LookingWorkers:
        from bioeval.attempts.cluster import LookingWorkers

        return LookingWorkers(OPTIONS["client"], self.tiles)

    def _take_ranks(self, seen: Sequence[Seen]) -> None:
        """Give the counters of identification what all threads have seen."""
        row: slice | np.ndarray = slice(None)
        if isinstance(self.tiles, SquareTiles):
            row = self.tiles.squares.row
        for counter in self.ranked:
            ranks = [one.ranks[counter.rank_unit] for one in seen]
            facts = facts_of(ranks, self.tiles.mates, by_subject=counter.rank_unit == "subject")
            counter.take(row, facts)


class _OfBlocks:
    """Counts whole blocks for a counter whose attempts are not those of tiles."""

    def __init__(self, counter: VerificationCounter, kind: CountedAttempts):
        self.counter, self.kind, self.number = counter, kind, 0
        self.found = kind.start()
        if len(more := counter.more_impostors):
            kind.count_more(self.found, more)

    def add(self, block: Block) -> None:
        """Count a block."""
        genuine, impostor = self.counter.of_block(block)
        if self.kind.genuine is None:
            self.found.genuine.append(genuine)
        self.kind.count(self.found, impostor, self.number)
        self.number += 1


def _linear(reader: BlockReader, counter: VerificationCounter) -> np.ndarray:
    """Return evenly spaced thresholds over the range of all attempts, found by reading them."""
    assert isinstance(counter.given, int)
    if are_pairs(reader.scores):
        parts = counter.of_pairs()
    else:
        parts = (counter.of_block(block) for block in reader)
    scores = (x for part in parts for x in part)
    if reader.scores.nan == "reject":
        scores = map(scored, scores)
    return grid_over_attempts(scores, counter.given)
