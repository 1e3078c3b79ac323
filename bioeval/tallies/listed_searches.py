"""Searches of a gallery in which any of a subject's templates may be enrolled, listed one by one.

The templates of each subject are chosen independently of those of the others, all choices alike.
The result of a search is one of several distances, each with a chance: rates are means over all
choices.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from bioeval.base.errors import Argument, DataError, ProtocolError
from bioeval.base.messages import Message
from bioeval.scores.arrays import parse_fusion
from bioeval.scores.blocks import Block, BlockReader, require_subjects, threads_for
from bioeval.scores.matrix import Scores
from bioeval.tallies.listed_attempts import UNIT, ListedAttempts, chances_of_nearest
from bioeval.tallies.listed_claims import Use

#: Distances of searches that are listed, at most.
MOST_LISTED = 50_000_000

# Comparisons whose chances are found together.
_TOGETHER = 1 << 19


@dataclass(frozen=True, eq=False)
class ListedSearches(ListedAttempts):
    """The distance at which each search finds somebody, with its chance, increasing.

    Of a person who is enrolled it is that of the mate at rank 1, NaN with the chance that another
    is at rank 1; of a person who is not enrolled it is that of the nearest subject.

    - `probe` (int64): the row of each distance in the scores
    - `mated` (bool): whether its person is enrolled
    - `value`, `chance` (float64): the distance, and the chance that it is the one of its search
    """

    probe: np.ndarray
    mated: np.ndarray
    value: np.ndarray
    chance: np.ndarray

    def where(self, kept: np.ndarray) -> Self:
        """Return some of the distances."""
        names = ("probe", "mated", "value", "chance")
        return replace(self, **{name: getattr(self, name)[kept] for name in names})

    @cached_property
    def genuine(self) -> Self:
        """The searches of people who are enrolled."""
        return self.where(self.mated)

    @cached_property
    def impostor(self) -> Self:
        """The searches of people who are not enrolled."""
        return self.where(~self.mated)


def require_searches_to_list(scores: Scores, use: Use, rank_unit: str) -> None:
    """Raise unless a mean over all choices of templates can be had of the searches."""
    require_subjects(scores, Argument("enrol"))
    method, _ = parse_fusion(use.fusion)
    if rank_unit == "subject" and method not in ("min", "max"):
        raise ProtocolError(
            Argument("fusion"),
            f" is {use.fusion!r}, and ",
            Argument("enrol"),
            f" is {use.enrol}: the mean over all choices of templates of all subjects is known for "
            "min and max; give one of these, or enrol the first ones, ",
            Argument("enrol", f"first:{use.enrol}"),
        )


def list_searches(
    reader: BlockReader, use: Use, rank_unit: str
) -> tuple[ListedSearches, list[Message]]:
    """Return the searches of all probes, of ties the mate last, and messages on them.

    A probe of an enrolled person without a usable mate makes no search, and no more does one
    without any usable template.
    """
    lister = _Lister(reader, use, farthest=rank_unit == "subject" and use.fusion == "max")
    with threads_for(reader.scores):
        for block in reader.blocks():
            step = max(1, _TOGETHER // block.values.shape[1])
            for low in range(0, len(block.values), step):
                lister.add(block, slice(low, low + step))
    return lister.listed(), lister.messages()


class _Lister:
    """Lists the distances of searches, and the subjects with too few usable templates."""

    def __init__(self, reader: BlockReader, use: Use, *, farthest: bool):
        self.use, self.starts, self.farthest = use, reader.gallery.starts, farthest
        self._parts: list[tuple[np.ndarray, ...]] = []
        self._fewer = np.zeros(len(self.starts) - 1, dtype=bool)
        self._number = 0

    def messages(self) -> list[Message]:
        """Return a message on subjects of whom fewer templates are usable than are enrolled."""
        fewer = int(self._fewer.sum())
        if not fewer:
            return []
        number = self.use.enrol.number
        return [Message("fewer-templates-to-find", subjects=fewer, templates=number)]

    def listed(self) -> ListedSearches:
        """Return the list."""
        none = np.empty(0, dtype=np.int64)
        parts = [(none, np.empty(0, dtype=bool), np.empty(0), np.empty(0)), *self._parts]
        probe, mated, value, chance = (np.concatenate(x) for x in zip(*parts, strict=True))
        order = np.argsort(value, kind="stable")
        return ListedSearches(probe[order], mated[order], value[order], chance[order])

    def add(self, block: Block, rows: slice) -> None:
        """List the searches of some rows of a block."""
        distances = block.values[rows].astype(np.float64)
        positions = block.probe_position[rows]
        itself = np.flatnonzero(positions >= 0)
        distances[itself, positions[itself]] = np.nan
        probe = block.low + np.arange(rows.start, rows.start + len(distances))
        enrolled = block.probe_group[rows] >= 0
        columns = np.arange(distances.shape[1])
        own = columns >= block.mate_start[rows][:, None]
        own &= columns < block.mate_stop[rows][:, None]

        chance, farther = self._templates(distances)
        order = np.argsort(distances, axis=1, kind="stable")
        ordered = [np.take_along_axis(x, order, axis=1) for x in (distances, own, chance, farther)]
        distance, own, chance = ordered[0], ordered[1], ordered[2]
        # The chance that everybody else is farther than a distance.
        beyond = np.cumprod(np.where(own, 1.0, ordered[3]), axis=1)

        nearest = np.where(~enrolled[:, None], 1.0 - beyond, 0.0)
        last = _last_of_equal(distance)
        found = np.cumsum(np.where(own, chance * np.take_along_axis(beyond, last, 1), 0.0), axis=1)
        within = np.where(enrolled[:, None], found, nearest)
        within = np.rint(np.minimum(within, 1.0) * UNIT) / UNIT
        steps = np.diff(within, axis=1, prepend=0.0)
        usable = ~np.isnan(distance)
        steps[~usable] = 0.0
        row, place = np.nonzero(steps)
        self._take(probe[row], enrolled[row], distance[row, place], steps[row, place])

        searched = (usable & own).any(axis=1)  # with a usable mate
        missed = np.where(searched, 1.0 - within[:, -1], 0.0)
        row = np.flatnonzero(missed)
        self._take(probe[row], enrolled[row], np.full(len(row), np.nan), missed[row])

    def _templates(self, distances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return of each template two chances, in the order of the gallery.

        That its distance is the one of its subject; and that the subject is farther, given that the
        subject is not at a nearer template.
        """
        chance, farther = np.zeros(distances.shape), np.ones(distances.shape)
        sizes = np.diff(self.starts)
        for size in np.unique(sizes).tolist():
            groups = np.flatnonzero(sizes == size)
            columns = self.starts[groups][:, None] + np.arange(size)
            some = distances[:, columns]
            order = np.argsort(some, axis=2, kind="stable")
            usable = np.count_nonzero(~np.isnan(some), axis=2)
            steps, ratios = np.zeros(some.shape), np.ones(some.shape)
            for number in np.unique(usable[usable > 0]).tolist():
                of_number = usable == number
                steps[of_number, :number], ratios[of_number, :number] = self._chances(number)
                if number < self.use.enrol.drawn:
                    self._fewer[groups[of_number.any(axis=0)]] = True
            for whole, ordered in ((chance, steps), (farther, ratios)):
                back = np.empty(some.shape)
                np.put_along_axis(back, order, ordered, axis=2)
                whole[:, columns] = back
        return chance, farther

    def _chances(self, usable: int) -> tuple[np.ndarray, np.ndarray]:
        """Return both chances of each of some templates of a subject, from near to far."""
        steps = chances_of_nearest(usable, self.use.enrol.drawn)
        if self.farthest:
            steps = steps[::-1]
        left = np.append(1.0, 1.0 - np.cumsum(steps))  # multiples of a unit: exact
        before = np.where(left[:-1] > 0, left[:-1], 1.0)
        return steps, np.where(left[:-1] > 0, left[1:] / before, 1.0)

    def _take(self, *part: Any) -> None:
        """Keep a part of the list, or raise :class:`DataError` where it is too long."""
        self._number += len(part[0])
        if self._number > MOST_LISTED:
            raise DataError(
                f"the searches of these scores take a list of more than {MOST_LISTED:,} distances. "
                "Give fewer probes, or enrol the first templates alone: ",
                Argument("enrol", f"first:{self.use.enrol}"),
            )
        self._parts.append(part)


def _last_of_equal(ordered: np.ndarray) -> np.ndarray:
    """Return the place of the last of equal values in each increasing row."""
    last = np.broadcast_to(np.arange(ordered.shape[1]), ordered.shape).copy()
    last[:, :-1][ordered[:, :-1] == ordered[:, 1:]] = ordered.shape[1]
    return np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
