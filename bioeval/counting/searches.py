"""Identification: the search of each probe, and the rank of its best mate.

Claims of people with too few templates for the fusion rule ``"kth:K"`` are no attempts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import DataError, ProtocolError, named
from bioeval.base.kinds import Layout
from bioeval.counting.parts import Parts
from bioeval.counting.reduce import Reducer, reduce
from bioeval.counting.ties import place_weights
from bioeval.kernels import identification as kernel
from bioeval.protocol.tasks import ImpostorProbes, RankUnit, Search, Ties
from bioeval.scores.blocks import Block
from bioeval.scores.distances import order_of, scored
from bioeval.scores.matrix import Scores, require_all_scores, require_subjects, require_templates
from bioeval.scores.people import are_enrolled, has_subjects, people_of_probes
from bioeval.scores.provenance import Provenance

#: Genuine and impostor claims of people with fewer templates than the fusion rule needs, and the
#: number that it needs.
ClaimsLost = tuple[int, int, int]

#: For a fusion rule that loses no claim.
NO_CLAIMS_LOST: ClaimsLost = (0, 0, 0)


class TooFewTemplates(Reducer):
    """Numbers of genuine and impostor claims with fewer comparisons than the rule needs.

    `needed` is the K of ``"kth:K"``.
    """

    sums = ("impostor",)

    def __init__(self, fusion: str):
        self.fusion = fusion  # read by `reduce`, for which it may be None
        self.rule = fusion  # the same, never None
        self.needed = order_of(fusion)

    @classmethod
    def counters(cls, fusion: str | None) -> list[Self]:
        """Return the counter of the claims that a rule loses; none if the rule loses no claim."""
        return [cls(fusion)] if fusion is not None and order_of(fusion) > 1 else []

    def prepare(self, parts: Parts) -> None:
        mates = parts.mates
        self.impostor = np.zeros((), dtype=np.int64)
        self.genuine = _lost(mates.fused("best"), mates.fused(self.rule))

    def add(self, block: Block) -> None:
        for side in block.sides():
            nearest = side.by_person("best")
            fused = side.by_person(self.rule)
            self.impostor += _lost(nearest.values, fused.values)

    def result(self) -> ClaimsLost:
        return self.genuine, int(self.impostor), self.needed


def claims_lost(scores: Scores, fusion: str | None) -> ClaimsLost:
    """Return the claims that a rule of fusion loses, counted in a pass of their own."""
    counters = TooFewTemplates.counters(fusion)
    return reduce(scores, *counters)[0] if counters else NO_CLAIMS_LOST


def _lost(nearest: np.ndarray, fused: np.ndarray) -> int:
    return int(np.count_nonzero(np.isnan(fused) & ~np.isnan(nearest)))


# Ranks up to this number may extend beyond the end of the gallery, so that the curves of several
# galleries have the same length.
MOST_RANKS = 10_000

#: The probes that are impostors, once ``"auto"`` is resolved.
Role = Literal["unenrolled", "leave-subject-out", "both"]


def check_max_rank(
    max_rank: int | None, gallery: int | None = None, input_name: str = "max_rank"
) -> None:
    """Raise :class:`DataError` unless `max_rank` is None or a number of ranks.

    `gallery` is the number of templates in the gallery: ranks far beyond are refused. `input_name`
    names the value in errors.
    """
    if max_rank is None:
        return
    require_integer(input_name, max_rank, low=1)
    if gallery is not None and max_rank > max(gallery, MOST_RANKS):
        raise DataError(
            f"{named(input_name)} is {max_rank}; expected at most {max(gallery, MOST_RANKS)}: "
            f"the gallery has {gallery} templates, and a curve is constant beyond"
        )


def role_of(layout: Layout, impostors: ImpostorProbes, all_enrolled: bool) -> Role:
    """Return which probes are impostors; ``"auto"`` is resolved by layout and enrolment.

    All-against-all, each probe is an impostor, whether its person is enrolled or not.
    """
    if layout == "all-against-all":
        if all_enrolled:
            return "leave-subject-out"
        return "both"
    if impostors != "auto":
        return impostors
    if all_enrolled:
        return "leave-subject-out"
    return "unenrolled"


@dataclass
class Searches:
    """The search of each probe, for open-set and closed-set results.

    All arrays have one entry a probe. With rank unit ``"subject"`` the candidates are subjects at
    their fused distance, otherwise templates. A distance is NaN where there is no candidate, and
    where all comparisons failed: no threshold accepts it.
    """

    about: Provenance
    rank_unit: RankUnit
    fusion: str
    enrolled: np.ndarray  # bool: whether the person is in the gallery
    of_people: np.ndarray  # bool: whether the probe is of a known person
    mate: np.ndarray  # distance of the best mate
    closer: np.ndarray  # candidates of other people closer than the best mate
    tied: np.ndarray  # candidates of other people exactly as close
    tied_before: np.ndarray  # tied candidates before the best mate in the gallery
    mates_tied: np.ndarray  # mates as close as the best, itself among them
    mates: np.ndarray  # usable mates
    other: np.ndarray  # distance of the nearest candidate of another person
    others: np.ndarray  # usable candidates of other people
    nearest_mate: np.ndarray  # distance of the nearest template of the person, for TTR
    nearest_other: np.ndarray  # distance of the nearest template of another person, for FTR

    def impostor_role(self, impostors: ImpostorProbes) -> Role:
        """Return which probes are impostors, as :func:`role_of`."""
        return role_of(self.about.layout, impostors, bool(self.enrolled.all()))

    def impostor_probes(self, role: str) -> np.ndarray:
        """Return the probes of a role that make an impostor attempt: with a usable non-mate."""
        makes_attempt = self.others > 0
        if role == "unenrolled":
            makes_attempt &= ~self.enrolled
        elif role == "leave-subject-out":
            makes_attempt &= self.enrolled
        return np.flatnonzero(makes_attempt)

    def rank_weights(
        self, probes: np.ndarray, ties: Ties
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (probe, rank, weight) of the best mates of `probes`, which have mates.

        See :func:`place_weights`. A mate whose comparisons all failed is at no rank.
        """
        probes = probes[~np.isnan(self.mate[probes])]
        index, ranks, weights = place_weights(
            self.closer[probes],
            self.tied[probes],
            self.tied_before[probes],
            self.mates_tied[probes],
            ties,
        )
        return probes[index], ranks, weights


class Searching:
    """Identification that is still to be counted, perhaps in one pass with other reducers."""

    def __init__(self, scores: Scores, search: Search, about: Provenance | None = None):
        """Check that the scores can be searched."""
        require_all_scores(scores)
        require_templates(scores, "identification")
        search = search.of_kind(scores.kind)
        by_subject = search.rank_unit == "subject"
        if by_subject or scores.layout == "pairs":
            require_subjects(scores, "a rank among subjects" if by_subject else "identification")
        elif not has_subjects(scores):
            raise ProtocolError(
                "the mask gives no consistent subjects: two templates that genuine cells connect "
                "also meet in an impostor cell. Identification needs labels"
            )
        self.scores, self.search, self.about = scores, search, about
        #: Reducers whose results are the arguments of :meth:`result`, in this order: facts of the
        #: ranked candidates, and facts of templates where their distances differ.
        self.reducers: list[Reducer] = [RankFacts(search.fusion if by_subject else None)]
        if by_subject and search.fusion != "best":
            self.reducers.append(RankFacts())
            self.reducers += TooFewTemplates.counters(search.fusion)

    def result(
        self,
        ranked: RankFacts,
        templates: RankFacts | None = None,
        lost: ClaimsLost = NO_CLAIMS_LOST,
    ) -> Searches:
        """Return the searches, from the results of the reducers."""
        about = (self.about or Provenance.from_scores(self.scores)).without_claims(*lost)
        of_templates = templates or ranked
        of_people = people_of_probes(self.scores) >= 0
        return Searches(
            about=about.searching(self.scores),
            rank_unit=self.search.rank_unit,
            fusion=self.search.fused,
            enrolled=are_enrolled(self.scores),
            of_people=of_people,
            mate=self._float64_scores(ranked.best),
            closer=ranked.closer,
            tied=ranked.tied,
            tied_before=ranked.tied_before,
            mates_tied=ranked.mates_tied,
            mates=ranked.mates,
            other=self._float64_scores(ranked.nearest),
            others=ranked.others,
            nearest_mate=self._float64_scores(of_templates.best),
            nearest_other=self._float64_scores(of_templates.nearest),
        )

    def _float64_scores(self, distances: np.ndarray) -> np.ndarray:
        if self.scores.nan == "reject":
            distances = scored(distances)
        return distances.astype(np.float64)


def search(scores: Scores, options: Search, about: Provenance | None = None) -> Searches:
    """Search a gallery with each probe."""
    searching = Searching(scores, options, about)
    return searching.result(*reduce(scores, *searching.reducers))


# -------------------------------------------------------------------------------------------- ranks


class RankFacts(Reducer):
    """How the best mate of each probe ranks among the other candidates: templates, or people.

    Each probe has an entry in every array of the result:

    - `best` (float): the distance of its best mate, NaN without a mate
    - `mates`, `mates_tied` (int64): usable mates, and mates as close as the best
    - `closer`, `tied`, `tied_before` (int64): candidates closer than the best mate, exactly as
      close, and tied candidates before it in the gallery
    - `others` (int64): candidates in all; `nearest` (float): the distance of the nearest, NaN
      without any

    With a rule of fusion, people are ranked by the fused distance of their templates. While blocks
    are added, `not_farther` counts the candidates at most as far as the best mate; :meth:`result`
    derives `tied` from it. `mate_column` is the column of the best mate.
    """

    sums = ("closer", "not_farther", "tied_before", "others")

    def __init__(self, fusion: str | None = None):
        self.fusion = fusion

    def prepare(self, parts: Parts) -> None:
        mates = parts.mates
        probes = parts.scores.shape[0]
        self.mates = mates.counts
        self.mates_tied = mates.nearest_count
        self.mate_column = mates.nearest_column
        self.best = mates.fused(self.fusion or "best")
        if self.fusion is not None:  # a person is one candidate, if there is a claim of it
            self.mates = self.mates_tied = (~np.isnan(self.best)).astype(np.int64)
        self.closer, self.not_farther, self.tied_before, self.others = np.zeros(
            (4, probes), np.int64
        )
        self.nearest = np.full(probes, np.inf, dtype=self.best.dtype)

    def fresh(self) -> Self:
        empty = super().fresh()
        empty.nearest = np.full_like(self.nearest, np.inf)
        return empty

    def add(self, block: Block) -> None:
        for side in block.sides():
            ranked = side if self.fusion is None else side.by_person(self.fusion)
            probes = side.probes
            values = ranked.values
            best = self.best[probes]
            if ranked.few:
                closer = np.count_nonzero(values < best[:, None], axis=1)
                not_farther = np.count_nonzero(values <= best[:, None], axis=1)
                candidates = np.count_nonzero(~np.isnan(values), axis=1)
                nearest = np.fmin.reduce(values, axis=1, initial=np.inf)
            else:
                closer, not_farther, candidates = np.zeros((3, len(best)), dtype=np.int32)
                nearest = np.full(len(best), np.inf, dtype=values.dtype)
                rank = kernel.rank_columns if ranked.transposed else kernel.rank_rows
                best = best.astype(values.dtype, copy=False)
                rank(values, best, closer, not_farther, candidates, nearest)
            self.closer[probes] += closer
            self.not_farther[probes] += not_farther
            self.others[probes] += candidates
            self.nearest[probes] = np.minimum(self.nearest[probes], nearest)
            ties = np.flatnonzero(not_farther > closer)
            if len(ties):
                self.tied_before[probes[ties]] += self._count_tied_before(side, ranked, ties)

    def _count_tied_before(self, templates: Block, ranked: Block, ties: np.ndarray) -> np.ndarray:
        """Return how many tied candidates are before the best mate in the gallery, (ties,).

        `ties` are the rows of the block with ties. A person's column is the column of its nearest
        template, the first if several are as close.
        """
        probes = templates.probes[ties]
        column = templates.candidates
        is_tied = ranked.by_probe[ties] == self.best[probes, None]
        if self.fusion is not None:
            assert templates.columns is not None
            person = templates.columns.person
            nearest = templates.by_person("best").by_probe[ties]
            row, template = np.nonzero(templates.by_probe[ties] == nearest[:, person])
            column = np.full(nearest.shape, np.iinfo(np.int64).max)
            np.minimum.at(column, (row, person[template]), templates.candidates[template])
        return (is_tied & (column < self.mate_column[probes, None])).sum(axis=1)

    def merge(self, other: Self) -> None:
        super().merge(other)
        np.minimum(self.nearest, other.nearest, out=self.nearest)

    def result(self) -> Self:
        mated = self.mates > 0
        self.tied = (self.not_farther - self.closer) * mated
        self.closer = self.closer * mated
        self.tied_before = self.tied_before * mated
        self.nearest[self.others == 0] = np.nan
        return self
