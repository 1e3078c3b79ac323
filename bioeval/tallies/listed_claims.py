"""Claims as a system in use decides them, listed one by one: tries, and enrolled templates.

A claim is of one attempt of a person, which may be several tries, at one subject. Where any of the
subject's templates may be the enrolled ones, the score of the claim is one of several, each with a
chance: rates are means over all choices of templates.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from bioeval.base.errors import Argument, DataError, ProtocolError, counted
from bioeval.base.messages import Message
from bioeval.base.random import RandomState, Stream, seed_sequence
from bioeval.scores.arrays import parse_fusion
from bioeval.scores.blocks import Block, BlockReader, require_subjects
from bioeval.scores.enrolled import Enrolment
from bioeval.scores.matrix import Scores
from bioeval.scores.transactions import transactions_of
from bioeval.tallies.by_subject import SubjectAttempts
from bioeval.tallies.listed_attempts import UNIT, ListedAttempts, chances_of_nearest
from bioeval.tallies.verification_counter import VerificationCounter

#: Choices of the templates of a subject that are all made; of more, some are drawn.
MOST_CHOICES = 10_000

#: Galleries that are drawn where there are more choices.
DRAWS = 200

#: Scores of claims that are listed, at most.
MOST_LISTED = 1 << 26

# Scores of choices that are fused together.
_TOGETHER = 1 << 21


@dataclass(frozen=True)
class Use:
    """How a system decides a claim in use.

    - `attempts` (str, optional): the metadata column of the probes by which tries are one attempt
    - `templates`, `fusion`: as for :func:`bioeval.verification`
    - `enrol` (Enrolment): which templates of each subject are enrolled
    - `seed` (SeedSequence): of choices of templates, where they are too many to make all
    """

    attempts: str | None
    templates: str
    fusion: str
    enrol: Enrolment
    seed: np.random.SeedSequence

    @property
    def is_plain(self) -> bool:
        """Whether each probe is an attempt, and all templates are enrolled."""
        return self.attempts is None and not self.enrol.drawn

    def check(self) -> None:
        """Raise :class:`DataError` where the options do not go with each other."""
        number = self.enrol.number
        if number and self.templates == "single" and not self.enrol.first:
            raise DataError(
                Argument("enrol"),
                f" is {number}, but single templates are attempts by themselves, however many are "
                "enrolled; give ",
                Argument("templates", "multi"),
            )
        method, order = parse_fusion(self.fusion)
        if method == "kth" and number and order > number:
            raise DataError(
                Argument("fusion"),
                f" is {self.fusion!r}, but {counted(number, 'templates')} of each subject are "
                f"enrolled; expected kth:{number} or less, or more templates",
            )

    def attrs(self) -> dict[str, str]:
        """Return what results say of it, where it is not plain."""
        said = {}
        if self.attempts is not None:
            said["attempts"] = self.attempts
        if self.enrol.number:
            said["enrol"] = str(self.enrol)
        if said and self.templates == "multi":
            said["fusion"] = self.fusion
        return said


def parse_use(
    attempts: str | None,
    templates: str,
    fusion: str,
    enrol: Any,
    random_state: RandomState = 0,
) -> Use:
    """Return the use that options describe, checked."""
    enrolment = Enrolment.parse(enrol)
    seed = np.random.SeedSequence(0)
    if enrolment.drawn:
        seed = seed_sequence(random_state)
    use = Use(attempts, templates, fusion, enrolment, seed)
    use.check()
    return use


def require_use_of_searches(use: Use, *, averaged: bool = False) -> None:
    """Raise :class:`ProtocolError` where a use is one of verification alone.

    `averaged` is whether a mean over all choices of templates can be had of the searches.
    """
    if use.attempts is not None:
        raise ProtocolError(
            Argument("attempts"),
            " joins the tries of a person who claims to be somebody, until one is accepted; a "
            "search claims nobody, and each of its results is looked at. Leave ",
            Argument("attempts"),
            " out, or evaluate verification",
        )
    if use.enrol.drawn and not averaged:
        raise ProtocolError(
            Argument("enrol"),
            f" is {use.enrol}: of searches, a mean over all choices of templates is evaluated by a "
            "threshold study alone (be.study_threshold, bioeval threshold); here enrol the first "
            "ones, ",
            Argument("enrol", f"first:{use.enrol}"),
            f". At thresholds of your own, be.open_set(scores, gallery={use.enrol}) gives the mean "
            "DIR and FAR over all choices",
        )


@dataclass(frozen=True, eq=False)
class ListedClaims(ListedAttempts):
    """Scores of claims with their chances, in increasing order of the scores, as distances.

    - `people` (int): number of people, who are numbered from 0
    - `names` (list): the label of each
    - `sides` (pair of int64): the people of attempts, and those who are enrolled
    - `no_person` (bool (people,)): which of them are distractors or junk
    - `disjoint_pairs` (int): disjoint pairs of people with an impostor claim
    - `most_tries` (int): tries of an attempt, at most
    - `value` (float64), `probe`, `claimed`, `attempt` (int32), `chance` (float64): each score, the
      person of the attempt, the person claimed, the number of the attempt, and the chance that the
      score is the one of its claim
    """

    people: int
    names: list
    sides: tuple[np.ndarray, np.ndarray]
    no_person: np.ndarray
    disjoint_pairs: int
    most_tries: int
    value: np.ndarray
    probe: np.ndarray
    claimed: np.ndarray
    attempt: np.ndarray
    chance: np.ndarray

    # -- parts

    def where(self, kept: np.ndarray) -> Self:
        """Return some of the scores."""
        names = ("value", "probe", "claimed", "attempt", "chance")
        return replace(self, **{name: getattr(self, name)[kept] for name in names})

    def among(self, people: np.ndarray) -> Self:
        """Return the claims of some people at each other; `people` flags them."""
        return self.where(people[self.probe] & people[self.claimed])

    @cached_property
    def genuine(self) -> Self:
        """The claims of people at themselves."""
        return self.where(self.probe == self.claimed)

    @cached_property
    def impostor(self) -> Self:
        """The claims of people at others."""
        return self.where(self.probe != self.claimed)

    # -- thresholds of a curve

    def thresholds(self, wanted: np.ndarray) -> np.ndarray:
        """Return increasing thresholds: all distinct scores if they are few, else some."""
        places = np.unique(self.impostor.value)
        every = np.union1d(self.genuine.value, places)
        if len(every) <= SubjectAttempts.EXACT:
            return every
        reached, total = self.impostor.accepted_at(places), self.impostor.number
        around = [self.about_equal_error() * total]
        return SubjectAttempts.thresholds_among(places, reached, total, around, wanted)


# ------------------------------------------------------------------------------ listing


def scores_in_use(scores: Scores, use: Use) -> Scores:
    """Return the scores of the enrolled templates; a transaction excludes its own templates."""
    if use.is_plain and not use.enrol.number:
        return scores
    use.check()
    what = Argument("enrol") if use.attempts is None else Argument("attempts")
    require_subjects(scores, what)
    if use.attempts is not None:
        transactions_of(scores, use.attempts)  # the column is there
        if np.isin(scores.probe_ids, scores.gallery_ids).any():
            scores = scores.excluding(*scores.exclude, use.attempts)
    return use.enrol.applied(scores)


def list_claims(scores: Scores, use: Use) -> tuple[ListedClaims, list[Message], BlockReader]:
    """Return the claims of :func:`scores_in_use`, messages on them, and the reader."""
    reader = BlockReader(scores)
    lister = _Lister(reader, use)
    parts = [*lister.parts()]
    value, attempt, claimed, chance = (np.concatenate(x) for x in zip(*parts, strict=True))
    order = np.argsort(value, kind="stable")
    counter = VerificationCounter(reader, templates=use.templates, fusion=use.fusion)
    people = SubjectAttempts(counter)
    codes = np.unique(np.concatenate([scores._codes.probe, scores._codes.gallery]))
    number = np.full(int(codes.max()) + 1, -1, dtype=np.int32)
    number[codes] = np.arange(len(codes), dtype=np.int32)
    claims = ListedClaims(
        people=people.people,
        names=people.names,
        sides=(people.sides[0], people.sides[1]),
        no_person=people.no_person,
        disjoint_pairs=people.disjoint_pairs,
        most_tries=lister.most_tries,
        value=value[order],
        probe=number[lister.person[attempt[order]]],
        claimed=number[claimed[order]],
        attempt=attempt[order].astype(np.int32),
        chance=chance[order],
    )
    return claims, lister.messages(), reader


@dataclass(frozen=True, eq=False)
class TableOfClaims:
    """The score of each claim: a row for each attempt, a column for each subject or template.

    - `distances` (float64 (attempts, columns)): NaN where nothing is compared
    - `first_try` (int64 (attempts,)): the row of the first try of each attempt in the scores
    - `column` (int64 (columns,)): a column of the scores that is of the subject, or the template
    """

    distances: np.ndarray
    first_try: np.ndarray
    column: np.ndarray


def table_of_claims(scores: Scores, use: Use) -> TableOfClaims:
    """Return the claims of :func:`scores_in_use`, in none of which there is a choice of templates.

    All tries are compared with all templates of a subject; the least fused score decides.
    """
    reader = BlockReader(scores)
    lister = _Lister(reader, replace(use, enrol=replace(use.enrol, number=0)))
    column = reader.gallery.columns[0]
    if use.templates == "single":
        return TableOfClaims(lister._least(), lister.first, column)
    distances = np.full((lister.count, len(lister.group)), np.nan)
    place = np.full(int(scores._codes.gallery.max()) + 1, -1, dtype=np.int64)
    place[lister.group] = np.arange(len(lister.group))
    for value, attempt, claimed, chance in lister.parts():
        there = chance > 0
        distances[attempt[there], place[claimed[there]]] = value[there]
    return TableOfClaims(distances, lister.first, column[lister.starts[:-1]])


_Part = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class _Lister:
    """Lists the scores of all claims, with the attempt, the code of the subject, and the chance."""

    def __init__(self, reader: BlockReader, use: Use):
        self.reader, self.use = reader, use
        scores = reader.scores
        m = scores.shape[0]
        first, number = np.arange(m), np.arange(m)
        if use.attempts is not None:
            first, number = transactions_of(scores, use.attempts)
        self.first, self.number, self.count = first, number, len(first)
        self.most_tries = int(np.bincount(number).max())
        self.person = scores._codes.probe[first]
        self.starts, self.group = reader.gallery.starts, reader.gallery.subjects
        self._fewer: set[int] = set()
        self._drawn = False
        if scores.shape[0] * scores.shape[1] > MOST_LISTED:
            self._refuse(scores.shape[0] * scores.shape[1])

    def _refuse(self, number: int) -> None:
        raise DataError(
            f"the claims of these scores take a list of {number:,} numbers; at most "
            f"{MOST_LISTED:,} are listed. Give fewer people, or enrol the first templates alone: ",
            Argument("enrol", "first:3"),
        )

    def messages(self) -> list[Message]:
        """Return messages on claims of fewer templates, and on choices that are drawn."""
        messages, number = [], self.use.enrol.number
        fewer = len(self._fewer)
        if self.use.enrol.first:
            fewer = int(np.count_nonzero(np.diff(self.starts) < number))
        if fewer:
            code = "fewer-templates-than-enrolled"
            messages.append(Message(code, subjects=fewer, templates=number))
        if self._drawn:
            messages.append(
                Message(
                    "enrolled-templates-drawn",
                    limit=MOST_CHOICES,
                    templates=number,
                    draws=DRAWS,
                )
            )
        return messages

    def parts(self) -> Iterator[_Part]:
        """Yield the scores of claims, with the attempt, the code of the subject, and the chance."""
        none = np.empty(0, dtype=np.int64)
        yield np.empty(0), none, none, np.empty(0)
        if self.use.templates == "single" or self.use.fusion == "min":
            least = self._least()
            if self.use.templates == "single":
                yield from self._single(least)
            else:
                yield from self._nearest(least)
        else:
            yield from self._fused()

    def _rows(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the distances of some rows from the first on, NaN where there is no attempt."""
        for block in self.reader.blocks():
            values = block.values.astype(np.float64)
            rows = np.flatnonzero(block.probe_position >= 0)
            values[rows, block.probe_position[rows]] = np.nan
            yield block.low, values

    def _least(self) -> np.ndarray:
        """Return the least distance of the tries of each attempt to each template."""
        least = np.full((self.count, self.reader.scores.shape[1]), np.nan)
        for low, values in self._rows():
            number = self.number[low : low + len(values)]
            order = np.argsort(number, kind="stable")
            attempt, starts = np.unique(number[order], return_index=True)
            nearest = np.fmin.reduceat(values[order], starts, axis=0)
            least[attempt] = np.fmin(least[attempt], nearest)
        return least

    def _single(self, least: np.ndarray) -> Iterator[_Part]:
        """Yield each template as a claim by itself."""
        attempt, position = np.nonzero(~np.isnan(least))
        subject = np.repeat(self.group, np.diff(self.starts))
        yield (
            least[attempt, position],
            attempt,
            subject[position],
            np.ones(len(attempt)),
        )

    def _nearest(self, least: np.ndarray) -> Iterator[_Part]:
        """Yield the templates of each subject, any of which may be the nearest enrolled one."""
        sizes = np.diff(self.starts)
        for size in np.unique(sizes).tolist():
            groups = np.flatnonzero(sizes == size)
            positions = self.starts[groups][:, None] + np.arange(size)
            nearest = np.sort(least[:, positions], axis=2)
            usable = np.count_nonzero(~np.isnan(nearest), axis=2)
            chance = np.zeros(nearest.shape)
            for number in np.unique(usable).tolist():
                if number:
                    drawn = self.use.enrol.drawn or number
                    steps = np.append(chances_of_nearest(number, drawn), np.zeros(size - number))
                    chance[usable == number] = steps
                    self._note_fewer(number, groups[np.nonzero(usable == number)[1]])
            attempt, group, _ = place = np.nonzero(chance)
            yield (
                nearest[place],
                attempt,
                self.group[groups[group]],
                chance[place],
            )

    def _note_fewer(self, usable: int, groups: np.ndarray) -> None:
        """Note the subjects of whom some claims are of fewer templates than are enrolled."""
        if usable < self.use.enrol.drawn:
            self._fewer.update(np.unique(groups).tolist())

    def _fused(self) -> Iterator[_Part]:
        """Yield the fused scores of all choices of templates, of each try and then the least."""
        order = np.argsort(self.number, kind="stable")
        number = self.number[order]
        values = np.concatenate([rows for _, rows in self._rows()])[order]
        first = np.flatnonzero(np.diff(number, prepend=-1))
        last = np.append(first[1:], len(number))
        listed = 0
        for g, (start, stop) in enumerate(itertools.pairwise(self.starts.tolist())):
            mine = values[:, start:stop]
            usable = np.logical_or.reduceat(~np.isnan(mine), first, axis=0)
            patterns, of_attempt = np.unique(usable, axis=0, return_inverse=True)
            for k, pattern in enumerate(patterns):
                templates = np.flatnonzero(pattern)
                attempts = np.flatnonzero(of_attempt.reshape(-1) == k)
                if not len(templates):
                    continue
                self._note_fewer(len(templates), np.array([g]))
                for some, choices in self._choices(templates, attempts, start):
                    listed += len(some) * len(choices)
                    if listed > MOST_LISTED:
                        self._refuse(listed)
                    rows = np.concatenate([np.arange(first[i], last[i]) for i in some])
                    fused = self._scores(mine[rows], choices)
                    starts = np.append(0, np.cumsum(last[some] - first[some])[:-1])
                    yield self._claims(np.fmin.reduceat(fused, starts, axis=0), some, g)

    def _choices(
        self, templates: np.ndarray, attempts: np.ndarray, start: int
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield some attempts, and the choices of a subject's templates that are made for them."""
        size = min(self.use.enrol.drawn or len(templates), len(templates))
        number = math.comb(len(templates), size)
        if number <= MOST_CHOICES:
            choices = np.array([*itertools.combinations(templates.tolist(), size)], dtype=np.int64)
            step = max(1, _TOGETHER // (number * size * self.most_tries))
            for low in range(0, len(attempts), step):
                yield attempts[low : low + step], choices
            return
        self._drawn = True
        ids = self.reader.scores.probe_ids[self.first]
        for attempt in attempts:
            key = (int(ids[attempt]) << 32) + start  # of the attempt and the subject
            drawn = Stream(self.use.seed, key).uniforms(DRAWS * len(templates))
            order = np.argsort(drawn.reshape(DRAWS, -1), axis=1, kind="stable")[:, :size]
            yield np.array([attempt]), templates[np.sort(order, axis=1)]

    def _scores(self, values: np.ndarray, choices: np.ndarray) -> np.ndarray:
        """Return the fused score of each choice of templates in each row."""
        size = choices.shape[1]
        each = np.ascontiguousarray(values[:, choices]).reshape(-1, size)
        none = np.full(len(each), -1, dtype=np.int64)
        columns, starts = np.arange(size)[None], np.array([0, size])
        block = Block(0, each, columns, starts, none, none, none, none)
        return block.fused(self.use.fusion).values.reshape(len(values), len(choices))

    def _claims(self, scores: np.ndarray, attempts: np.ndarray, group: int) -> _Part:
        """Return the claims of some attempts at a subject, from the scores of all choices."""
        there = ~np.isnan(scores)
        number = there.sum(axis=1, keepdims=True)
        place = np.cumsum(there, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            chance = np.rint(place / number * UNIT) - np.rint((place - 1) / number * UNIT)
        row, _ = np.nonzero(there)
        claimed = np.full(len(row), self.group[group])
        return scores[there], attempts[row], claimed, chance[there] / UNIT
