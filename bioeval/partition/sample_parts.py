"""Training, validation and test by sample, with subjects who are only tested."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, NoReturn

import numpy as np

from bioeval.base.errors import Argument, DataError, counted
from bioeval.base.random import Stream
from bioeval.partition import shuffling
from bioeval.partition.samples import LabelCodes, SplitInput, place_in_subject
from bioeval.partition.shuffle_splits import ThreeParts

Share = float | int | None


class SampleSizes(NamedTuple):
    """Templates of each seen subject in a part, and the subjects who are only tested."""

    train: Share
    validation: Share
    unseen: Share


def parts_by_sample(
    samples: SplitInput,
    sizes: SampleSizes,
    stratify: str | None,
    seed: np.random.SeedSequence,
    repeats: int,
) -> Iterator[ThreeParts]:
    """Yield the parts of each repeat.

    Training has its share of the templates of each seen subject, rounded down but at least one;
    validation its share, rounded up; the test has at least one. A subject with one template is
    only tested. With strata, training has those of all samples, within one sample each.
    """
    who = samples.subjects
    able = np.flatnonzero(who.counts > 1)
    unseen = _number_unseen(samples, sizes.unseen, len(able))
    by_subject = strata = None
    if stratify is not None:
        strata, by_subject = (
            samples.binned_strata(stratify),
            samples.binned_subjects(stratify)[able],
        )
    for repeat in range(repeats):
        draws = shuffling.stream(seed, shuffling.SAMPLE_PARTS, repeat)
        order = shuffling.arrange(len(able), by_subject, draws)
        part = shuffling.into_parts(order, by_subject, [unseen])
        seen = np.zeros(len(who), dtype=bool)
        seen[able[part < 0]] = True
        train, validation = _templates_of_each(who.counts, sizes, seen)
        place = _places(who, draws)
        chosen = place < train[who.codes]
        if strata is not None:
            _Strata(samples, str(stratify), strata, seen[who.codes], chosen).even_out()
            place = _after(who, chosen, place)
        held = (place < (train + validation)[who.codes]) & ~chosen
        test = ~chosen & ~held
        yield ThreeParts(*(np.flatnonzero(x) for x in (chosen, held, test)))


def _number_unseen(samples: SplitInput, size: Share, able: int) -> int:
    """Return the number of subjects with two templates or more who are only tested."""
    if size is None:
        number = 0
    else:
        size = shuffling.as_size(samples.who, "unseen", size)
        number = shuffling.units_of(size, able, up=True)
    if number >= able:
        asked = f"{Argument('unseen')} is {size!r}: {counted(number, 'subjects')}; "
        raise DataError(
            f"{samples.who}: {asked if number else ''}only {able} of {len(samples.subjects)} "
            "subjects have two templates or more, one to train and one to test; at least one of "
            "these has to be seen in training"
        )
    return number


def _templates_of_each(
    counts: np.ndarray, sizes: SampleSizes, seen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the templates of each subject for training and for validation."""
    exact = [0.0 if x is None else x for x in (sizes.train, sizes.validation)]
    down, up = (
        np.full(len(counts), x) if isinstance(x, int) else way(x * counts + sign * 1e-12 * counts)
        for x, way, sign in ((exact[0], np.floor, 1), (exact[1], np.ceil, -1))
    )
    train = np.clip(down, sizes.train is not None, counts - 1)
    validation = np.clip(up, 0, counts - 1 - train)
    return tuple(np.where(seen, x, 0).astype(np.int64) for x in (train, validation))  # type: ignore[return-value]


def _places(who: LabelCodes, draws: Stream) -> np.ndarray:
    """Return the random place of each sample within its subject."""
    rank = np.empty(len(who.codes), dtype=np.int64)
    # By subject, so that only the order of a subject's own templates has an influence.
    rank[np.argsort(who.codes, kind="stable")] = shuffling.permutation(draws, len(rank))
    return place_in_subject(who, np.ones(len(rank), dtype=bool), rank)


def _after(who: LabelCodes, chosen: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return the places of samples within their subjects, the chosen ones first."""
    every = np.ones(len(place), dtype=bool)
    return place_in_subject(who, every, np.where(chosen, place, place + len(place)))


class _Strata:
    """The strata of training samples, evened out by exchanges within subjects.

    An exchange takes a sample of a subject out of training and another one in, so that every
    subject keeps its number. A chain of exchanges moves one sample from one stratum to another:
    where no chain is left, no training part of these numbers has the strata.
    """

    def __init__(
        self, samples: SplitInput, name: str, stratum: np.ndarray, seen: np.ndarray,
        chosen: np.ndarray,
    ):  # fmt: skip
        self.samples, self.name = samples, name
        self.stratum, self.seen, self.chosen = stratum, seen, chosen
        whole = np.bincount(stratum)
        total = int(chosen.sum()) * whole
        self.low, self.high = total // len(stratum), -(-total // len(stratum))

    def even_out(self) -> None:
        """Exchange samples until each stratum has its share, within one sample."""
        while True:
            counts = np.bincount(self.stratum[self.chosen], minlength=len(self.low))
            over, under = counts > self.high, counts < self.low
            if not (over | under).any():
                return
            if over.any():
                chain = self._chain(over, counts < self.high)
            else:
                chain = self._chain(counts > self.low, under)
            if not chain:
                self._refuse(int(np.flatnonzero(over if over.any() else under)[0]))
            for one, other in zip(chain[:-1], chain[1:], strict=True):
                self._exchange(one, other)

    def _table(self, taken: np.ndarray) -> np.ndarray:
        """Return which subject has a sample of which stratum among some."""
        found = np.zeros((len(self.samples.subjects), len(self.low)), dtype=bool)
        found[self.samples.subjects.codes[taken], self.stratum[taken]] = True
        return found

    def _chain(self, sources: np.ndarray, ends: np.ndarray) -> list[int]:
        """Return the shortest chain of strata from a source to an end; empty without one."""
        inside = self._table(self.chosen).astype(np.float32)
        outside = self._table(self.seen & ~self.chosen).astype(np.float32)
        linked = inside.T @ outside > 0
        before = np.where(sources, -1, -2)
        queue = np.flatnonzero(sources).tolist()
        for stratum in queue:
            for other in np.flatnonzero(linked[stratum] & (before == -2)).tolist():
                before[other] = stratum
                queue.append(other)
                if ends[other]:
                    chain = [other]
                    while before[chain[-1]] >= 0:
                        chain.append(int(before[chain[-1]]))
                    return chain[::-1]
        return []

    def _exchange(self, one: int, other: int) -> None:
        """Take a sample of one stratum out of training, and one of another in."""
        codes, chosen = self.samples.subjects.codes, self.chosen
        out, into = chosen & (self.stratum == one), self.seen & ~chosen & (self.stratum == other)
        subject = np.intersect1d(codes[out], codes[into])[0]
        chosen[np.flatnonzero(out & (codes == subject))[0]] = False
        chosen[np.flatnonzero(into & (codes == subject))[0]] = True

    def _refuse(self, stratum: int) -> NoReturn:
        numbers = self.samples.numbers(self.name)
        what = f"quarter {stratum + 1} of the numbers"
        if numbers is None:
            what = repr(self.samples.labelled(self.name).values.tolist()[stratum])
        raise DataError(
            f"{self.samples.who}: {what} in meta[{self.name!r}] has "
            f"{np.count_nonzero(self.stratum == stratum)} of {len(self.stratum)} templates. A "
            f"training part of {self.chosen.sum()} needs {self.low[stratum]} to "
            f"{self.high[stratum]} of them; the seen subjects do not have them; expected "
            f"another {Argument('train')}, fewer {Argument('unseen')} subjects, or no "
            f"{Argument('stratify')}"
        )
