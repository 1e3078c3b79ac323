"""The attempts of a part of the scores, read once for all tasks; many are counted together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bioeval import partition
from bioeval.attempts.counts import IdentificationTally, role_of
from bioeval.attempts.finding import PointsWanted, points_of
from bioeval.attempts.identification_counter import IdentificationCounter
from bioeval.attempts.lists import Attempts
from bioeval.attempts.passes import count_together
from bioeval.attempts.points import normalised_cost
from bioeval.attempts.selections import IdentificationRules, OrderedScores, SelectionAttempts
from bioeval.attempts.verification_counter import VerificationCounter
from bioeval.base.errors import DataError
from bioeval.protocol.tasks import Search
from bioeval.results.identification import OpenSetPoints
from bioeval.scores.blocks import Block, BlockReader, threads_for
from bioeval.scores.matrix import Scores
from bioeval.scores.provenance import Provenance
from bioeval.studies.folds.options import FoldOptions
from bioeval.studies.folds.splits import IndexSet, Place

# Cells of a part that is counted with others (of larger ones counting takes most of the time), and
# rows and columns of the parts that are looked at together.
CELLS, LOOKED_AT = 1 << 16, 1 << 20

PartAttempts = SelectionAttempts | None


def counted_parts(
    scores: Scores, parts: Iterable[tuple[Place, IndexSet]], tasks: Sequence[FoldOptions]
) -> Iterator[tuple[Place, IndexSet, PartAttempts]]:
    """Yield each part, rows and columns, with its attempts; None where it is read alone.

    Parts are counted together where they are small, and have as many cells as the matrix: to put
    its scores in order takes about as long.
    """
    rules = _rules(tasks)
    too_large = math.prod(scores.shape) > OrderedScores.MOST
    if rules is None or too_large or not OrderedScores.can_hold(scores):
        for place, part in parts:
            yield place, part, None
        return
    some = []
    size = 0
    for place, part in parts:
        some.append((place, part))
        size += sum(map(len, part))
        if size >= LOOKED_AT:
            yield from _counted(scores, some, rules)
            some, size = [], 0
    yield from _counted(scores, some, rules)


def _counted(
    scores: Scores, parts: Sequence[tuple[Place, IndexSet]], rules: IdentificationRules
) -> Iterator[tuple[Place, IndexSet, PartAttempts]]:
    """Yield some parts with their attempts."""
    together = [part for _, part in parts if 0 < _cells(part) <= CELLS]
    attempts = _attempts(scores, together, rules)
    for place, part in parts:
        counted = None
        if 0 < _cells(part) <= CELLS:
            counted = next(attempts, None)
        if counted is not None and counted.failed and scores.nan == "raise":
            counted = None
        yield place, part, counted


def _cells(part: IndexSet) -> int:
    return math.prod(map(len, part))


def _rules(tasks: Sequence[FoldOptions]) -> IdentificationRules | None:
    """Return the rules of identification of tasks; None where they need another way of counting."""
    by_task = {options.task: options for options in tasks}
    for options in tasks:
        if options.fuses and options.fusion != "min":
            return None
        plain = options.ties in ("pessimistic", "optimistic") and options is by_task[options.task]
        if options.task != "verification" and not plain:
            return None
    if all(options.claims is not None for options in tasks):
        return None
    by_subject, ties_first = [False, False], [True, True]
    for place, task in enumerate(("open_set", "closed_set")):
        if task in by_task:
            by_subject[place] = by_task[task].fuses
            ties_first[place] = by_task[task].ties == "pessimistic"
    return IdentificationRules(tuple(by_subject), tuple(ties_first))


def _attempts(
    scores: Scores, parts: Sequence[IndexSet], rules: IdentificationRules
) -> Iterator[SelectionAttempts]:
    """Yield the attempts of parts, or nothing where their cells are fewer than the scores."""
    row_used = np.zeros(scores.shape[0], dtype=bool)
    column_used = np.zeros(scores.shape[1], dtype=bool)
    for rows, columns in parts:
        row_used[rows] = True
        column_used[columns] = True
    used_rows, used_columns = np.flatnonzero(row_used), np.flatnonzero(column_used)
    if len(used_rows) * len(used_columns) >= sum(map(_cells, parts)):
        return
    places = []
    for rows, columns in parts:
        here = np.searchsorted(used_rows, rows), np.searchsorted(used_columns, columns)
        places.append(here)
    try:
        with threads_for(scores):
            ordered = OrderedScores.of(scores.select(used_rows, used_columns))
    except DataError:  # raised again where the parts are read
        return
    yield from ordered.attempts(places, rules)


def _copied(parts: list[np.ndarray]) -> np.ndarray:
    """Return a copy of the parts, one after the other."""
    return np.concatenate(parts or [np.empty(0)])


# Cells of a part whose attempts are listed and sorted; a larger part is counted.
MOST_LISTED = 1 << 22

Points = dict[str, float | np.ndarray]

NOTHING = Attempts.listed(np.empty(0), np.empty(0))


@dataclass(frozen=True)
class Searched:
    """Identification attempts of one part.

    Of each genuine attempt the distance and the rank of the nearest mate (under expected ties
    several, each with a weight), of each impostor attempt the distance of the nearest candidate;
    the numbers of probes with and without a mate, and of subjects in the gallery.
    """

    mate: np.ndarray
    ranks: np.ndarray
    weights: np.ndarray
    other: np.ndarray
    genuine: int
    skipped: int = 0
    gallery: int = 0

    def attempts(self) -> Attempts:
        """Return the attempts at rank 1; a mate at another rank is rejected at any threshold."""
        first = self.ranks == 1
        return Attempts.listed(self.mate[first], self.other, int((~first).sum()))

    def detected(self, threshold: float, ranks: np.ndarray, defined: bool) -> np.ndarray:
        """Return the genuine attempts accepted at each rank or better."""
        if defined:
            within = self.mate <= threshold
        else:
            within = np.zeros(len(self.mate), dtype=bool)
        return (within & (self.ranks <= ranks[:, None])).sum(axis=1)

    def ranked(self, ranks: int, *, whole: bool = True) -> np.ndarray:
        """Return the genuine attempts at each rank or better; not `whole` under expected ties."""
        kept = self.ranks <= ranks
        at_rank = np.bincount(self.ranks[kept] - 1, self.weights[kept], minlength=ranks)
        return np.cumsum(at_rank.astype(np.int64) if whole else at_rank)

    def open_set(self) -> OpenSetPoints:
        """Return the attempts as open set has its operating points of them."""
        return OpenSetPoints(self.mate, self.ranks, self.weights, self.genuine, np.sort(self.other))

    def points(self, options: FoldOptions) -> Points:
        """Return the operating points of this part: EER and DIR at FAR, or CMS at rank 1."""
        if options.task == "closed_set":
            if self.genuine:
                rate = float((self.ranks == 1).sum()) / self.genuine
            else:
                rate = math.nan
            return {"recognition_rate": rate}
        open_set = self.open_set()
        dir_, _ = open_set.at_far(options.targets, int(options.ranks[-1]))
        return {"eer": open_set.equal_error().eer, "dir_at_far": dir_[:, options.ranks - 1]}


class _PartReader(BlockReader):
    """Reader of one part, without the checks that were made on the whole."""

    def look(self, low: int, values: np.ndarray) -> None:
        """Do nothing."""


class FoldSide:
    """One part of the scores; without probes or without a gallery it has no scores.

    Blocks of a part of at most `MOST_LISTED` cells are kept, so that every task finds them read.
    `counted` are its attempts where they were counted together with those of other parts.
    `seen` flags the probes whose subjects are in the training part, too; `pairs` are the attempts
    of a part of a list of pairs, which has no scores here.
    """

    def __init__(
        self,
        scores: Scores | None,
        claims: partition.DrawnClaims | None = None,
        about: Provenance | None = None,
        counted: SelectionAttempts | None = None,
        *,
        seen: np.ndarray | None = None,
        pairs: Attempts = NOTHING,
    ):
        """Take a part; `about` is that of the whole."""
        self.scores, self.claims, self.counted, self.pairs = scores, claims, counted, pairs
        self._about, self._seen = about, seen

    @cached_property
    def reader(self) -> BlockReader:
        """The reader of this part."""
        assert self.scores is not None
        made = _PartReader(self.scores)
        if self._about is not None:  # what it is made of is the whole's, and costs to find out
            made.about = self._about
        return made

    @cached_property
    def seen(self) -> FoldSide | None:
        """The probes of subjects who are in the training part, too; None where none may be."""
        if self._seen is None or self.scores is None:
            return None
        claims = self.claims
        if claims is not None:
            made = self._seen[claims.probe]
            row = (np.cumsum(self._seen) - 1)[claims.probe[made]]
            claims = partition.DrawnClaims(row, claims.subject[made], claims.enrolled[made])
        rows = np.flatnonzero(self._seen)
        part = self.scores.select(probes=rows) if len(rows) else None
        return FoldSide(part, claims, self._about)

    @property
    def listed(self) -> bool:
        """Whether its attempts of verification are few enough to be listed."""
        scores = self.scores
        return scores is None or self.claims is not None or math.prod(scores.shape) <= MOST_LISTED

    @cached_property
    def _kept(self) -> list[Block]:
        return list(self.reader)

    def _blocks(self) -> Iterable[Block]:
        assert self.scores is not None
        if math.prod(self.scores.shape) <= MOST_LISTED:
            return self._kept
        return self.reader

    # -- verification

    def attempts(self, options: FoldOptions) -> Attempts:
        """Return the attempts of verification, listed."""
        self._strangers = np.empty(0)
        if self.scores is None:
            return self.pairs
        if self.counted is not None and self.claims is None:
            genuine, impostor = self.counted.places[options.templates]
            values = self.counted.values
            return Attempts.ordered(values[genuine], values[impostor])
        counter = self._counter(options)
        genuine_blocks, impostor_blocks, strangers = [], [], []
        with threads_for(self.scores):
            for block in self._blocks():
                mated, impostors = counter.of_block(block)
                genuine_blocks.append(mated)
                impostor_blocks.append(impostors.reshape(-1))
                if counter.unenrolled_probes is not None:
                    strangers.append(counter.of_strangers(block))
        self._strangers = _copied(strangers)
        return Attempts.listed(_copied(genuine_blocks), _copied(impostor_blocks))

    @property
    def unenrolled_probes(self) -> Attempts:
        """Attempts of drawn claims by probes who are not enrolled, found with the others."""
        return Attempts.listed(np.empty(0), self._strangers)

    def _counter(self, options: FoldOptions) -> VerificationCounter:
        assert self.scores is not None
        return VerificationCounter(
            self.reader, templates=options.templates, fusion=options.fusion, claims=self.claims
        )

    def points(self, options: FoldOptions, attempts: Attempts | None) -> Points:
        """Return the operating points of verification of this part, from `attempts` if listed."""
        targets, at_frr = options.targets, options.frr_targets
        costs = np.array([(prior, 1.0, 1.0) for prior in options.priors]).reshape(-1, 3)
        points: Points
        if attempts is not None:
            frr_at_far = np.full(len(targets), np.nan)
            far_at_frr = np.full(len(at_frr), np.nan)
            least = np.full(len(costs), np.nan)
            points = {"eer": np.nan, "auc": np.nan}
            if attempts.defined:
                points = {"eer": attempts.equal_error().eer, "auc": attempts.auc()}
                for i, target in enumerate(targets.tolist()):
                    frr_at_far[i], _ = attempts.at_far(target)
                for i, target in enumerate(at_frr.tolist()):
                    far_at_frr[i], _ = attempts.far_at_frr(target)
                if len(costs):
                    least = attempts.corners().least_costs(costs)
        else:
            assert self.scores is not None
            counter = self._counter(options)
            wanted = PointsWanted(targets, costs, True, frr_targets=at_frr)
            (tally,) = count_together(self.reader, [counter], wanted)
            refined = points_of(tally.attempts, wanted, symmetric=None, with_rows=False)
            points = {"eer": refined.equal_error.eer, "auc": refined.auc}
            frr_at_far, far_at_frr = refined.frr_at_far, refined.far_at_frr
            least = refined.min_cost
        points["frr_at_far"] = frr_at_far
        if len(at_frr):
            points["far_at_frr"] = far_at_frr
        if len(costs):
            points["min_dcf"] = normalised_cost(least, costs)
        return points

    # -- identification

    def role(self, options: FoldOptions) -> str:
        """Return which probes are impostors, as :func:`role_of`."""
        assert self.scores is not None
        if self.counted is not None:
            enrolled = self.counted.enrolled
        else:
            enrolled = self.reader.enrolled
        return role_of(self.scores.layout, options.impostors, bool(enrolled.all()))

    def searched(self, options: FoldOptions, ties: str | None = None) -> Searched:
        """Return the attempts of identification; `ties` in place of those of the options."""
        other, open_set = np.empty(0), options.task == "open_set"
        if self.scores is None:
            return Searched(other, np.empty(0, dtype=np.int64), other, other, 0)
        if self.counted is not None:
            mate = self.counted.mate
            of_open_set, of_closed_set = self.counted.ranks
            ranks = of_open_set if open_set else of_closed_set
            mated = ranks > 0
            there = ~np.isnan(self.counted.other)
            chosen = IdentificationTally.of_role(there, self.counted.enrolled, options.impostors)
            if open_set:
                other = self.counted.other[chosen]
            genuine = int(mated.sum())
            return Searched(
                mate[mated],
                ranks[mated],
                np.ones(genuine),
                other,
                genuine,
                len(mated) - genuine,
                self.counted.subjects,
            )
        tally = self._ranked(options.search())
        chosen = np.flatnonzero(tally.mates > 0)
        probes, ranks, weights = tally.rank_weights(chosen, ties or options.ties)
        if open_set:
            other = tally.other[tally.impostor_probes(options.impostors)]
        return Searched(
            tally.mate[probes],
            np.rint(ranks).astype(np.int64),
            weights,
            other,
            len(chosen),
            len(tally.mates) - len(chosen),
            len(self.reader.gallery.subjects),
        )

    def _ranked(self, search: Search) -> IdentificationTally:
        """Return the ranks of all probes, for open and closed set."""
        key = search.rank_unit, search.fusion
        if key not in self._tallies:
            assert self.scores is not None
            counter = IdentificationCounter(self.reader, search)
            if "_kept" in self.__dict__:
                with threads_for(self.scores):
                    for block in self._kept:
                        counter.add(block)
                self._tallies[key] = counter.result()
            else:
                (self._tallies[key],) = count_together(self.reader, [counter])
        return self._tallies[key]

    @cached_property
    def _tallies(self) -> dict[tuple[str, str], IdentificationTally]:
        return {}
