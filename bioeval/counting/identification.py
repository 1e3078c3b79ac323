"""Identification: how each probe searches a gallery, how its best mate ranks, and under ties."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import scipy

from bioeval.base.arguments import require_integer
from bioeval.base.errors import DataError, ProtocolError, subject
from bioeval.base.kinds import Layout
from bioeval.counting.parts import Parts
from bioeval.counting.reduce import Reducer, reduce
from bioeval.counting.too_few_templates import NO_CLAIMS_LOST, ClaimsLost, TooFewTemplates
from bioeval.kernels import identification as kernel
from bioeval.protocol.choices import ImpostorProbes, PlainTies, RankUnit, Ties
from bioeval.protocol.tasks import Search
from bioeval.scores.arrays import scored
from bioeval.scores.blocks import Block
from bioeval.scores.matrix import Scores
from bioeval.scores.people import are_enrolled, has_subjects, people_of_probes
from bioeval.scores.provenance import Provenance
from bioeval.scores.requirements import require_all_scores, require_subjects, require_templates

# Ranks up to this number may extend beyond the end of the gallery, so that the curves of several
# galleries have the same length.
MOST_RANKS = 10_000

#: The probes that are impostors, once ``"auto"`` is resolved.
Role = Literal["unenrolled", "leave-subject-out", "both"]


def check_max_rank(
    max_rank: int | None, gallery: int | None = None, input_name: str = "max_rank"
) -> None:
    """Raise :class:`DataError` unless `max_rank` is None or a number of ranks.

    `gallery` is the number of templates in the gallery, far beyond which there are no ranks;
    `input_name` is the place of a value that comes from a card.
    """
    if max_rank is None:
        return
    require_integer(input_name, max_rank, low=1)
    if gallery is not None and max_rank > max(gallery, MOST_RANKS):
        raise DataError(
            f"{subject(input_name)} is {max_rank}; expected at most {max(gallery, MOST_RANKS)}: "
            f"the gallery has {gallery} templates, and a curve is constant beyond"
        )


def role_of(layout: Layout, impostors: ImpostorProbes, all_enrolled: bool) -> Role:
    """Return the name of the probes that are impostors: ``"auto"`` by layout and enrolment.

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

    All arrays have one entry a probe, as of :class:`RankFacts`. With rank unit ``"subject"`` the
    candidates are subjects at their fused distance, otherwise templates; ``nearest_mate`` and
    ``nearest_other`` are distances of templates always (TTR and FTR speak of templates). A distance
    is NaN where there is no candidate, and where all comparisons failed: no threshold accepts it.
    """

    about: Provenance
    rank_unit: RankUnit
    fusion: str
    enrolled: np.ndarray
    of_people: np.ndarray  # bool: probes that are of a known person
    mate: np.ndarray
    closer: np.ndarray
    tied: np.ndarray
    tied_before: np.ndarray
    mates_tied: np.ndarray
    mates: np.ndarray
    other: np.ndarray
    others: np.ndarray
    nearest_mate: np.ndarray
    nearest_other: np.ndarray

    def select(self, probes: np.ndarray) -> Searches:
        arrays = {k: x[probes] for k, x in vars(self).items() if isinstance(x, np.ndarray)}
        return replace(self, **arrays)

    def impostor_role(self, impostors: ImpostorProbes) -> Role:
        """Return the impostor probes by name: ``"auto"`` resolved, as :func:`role_of`."""
        return role_of(self.about.layout, impostors, bool(self.enrolled.all()))

    def impostor_probes(self, role: str) -> np.ndarray:
        """Return the probes that make an impostor attempt: of a role, with a usable non-mate."""
        usable = self.others > 0
        if role == "unenrolled":
            usable &= ~self.enrolled
        elif role == "leave-subject-out":
            usable &= self.enrolled
        return np.flatnonzero(usable)

    def rank_weights(
        self, chosen: np.ndarray, ties: Ties
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (probe, rank, weight) of the best mates of `chosen` probes, which have mates.

        See :func:`place_weights`. A mate of which all comparisons failed is at no rank.
        """
        chosen = chosen[~np.isnan(self.mate[chosen])]
        index, ranks, weights = place_weights(
            self.closer[chosen],
            self.tied[chosen],
            self.tied_before[chosen],
            self.mates_tied[chosen],
            ties,
        )
        return chosen[index], ranks, weights


class Searching:
    """Identification before it is counted, perhaps in one pass with other reducers."""

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
        #: Facts of the ranked candidates; and of templates, where their distances differ. The
        #: order of the reducers is the order of the arguments of :meth:`result`.
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
            tied_before=ranked.before,
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


def search(scores: Scores, how: Search, about: Provenance | None = None) -> Searches:
    """Search a gallery with each probe."""
    searching = Searching(scores, how, about)
    return searching.result(*reduce(scores, *searching.reducers))


# -------------------------------------------------------------------------------------------- ranks


class RankFacts(Reducer):
    """How the best mate of each probe ranks among the other candidates: templates, or people.

    Each probe has an entry in every array of the result:

    - `best` (float): the distance of its best mate, NaN without a mate
    - `mates`, `mates_tied` (int64): usable mates, and mates as close as the best
    - `closer`, `tied`, `before` (int64): candidates closer than the best mate, exactly as close,
      and tied candidates before it in the gallery
    - `others` (int64): candidates in all; `nearest` (float): the distance of the nearest, NaN
      without any

    Parameters
    ----------
    fusion : str, optional
        Rank people, each by the fused distance of its templates; None: rank templates.
    """

    sums = ("closer", "within", "before", "others")

    def __init__(self, fusion: str | None = None):
        self.fusion = fusion

    def prepare(self, parts: Parts) -> None:
        mates = parts.mates
        probes = parts.scores.shape[0]
        self.mates = mates.number
        self.mates_tied = mates.tied
        self.place = mates.place
        self.best = mates.fused(self.fusion or "best")
        if self.fusion is not None:  # a person is one candidate, if there is a claim of it
            self.mates = self.mates_tied = (~np.isnan(self.best)).astype(np.int64)
        self.closer, self.within, self.before, self.others = np.zeros((4, probes), np.int64)
        self.nearest = np.full(probes, np.inf, dtype=self.best.dtype)

    def fresh(self) -> Self:
        empty = super().fresh()
        empty.nearest = np.full_like(self.nearest, np.inf)
        return empty

    def add(self, block: Block) -> None:
        for side in block.sides():
            ranked = side if self.fusion is None else side.by_person(self.fusion)
            probes = side.probes
            closer, within, candidates, nearest = _facts(ranked, self.best[probes])
            self.closer[probes] += closer
            self.within[probes] += within
            self.others[probes] += candidates
            self.nearest[probes] = np.minimum(self.nearest[probes], nearest)
            ties = np.flatnonzero(within > closer)
            if len(ties):
                self.before[probes[ties]] += self._before(side, ranked, ties)

    def _before(self, templates: Block, ranked: Block, ties: np.ndarray) -> np.ndarray:
        """Return how many candidates as close as the best mates of `ties` stand before the mates.

        A person stands at its nearest template, the first in a tie.
        """
        probes, gallery = templates.probes[ties], templates.candidates
        lines = templates.by_probe[ties]
        tied = ranked.by_probe[ties] == self.best[probes, None]
        if self.fusion is None:
            return (tied & (gallery < self.place[probes, None])).sum(axis=1)
        assert templates.columns is not None
        nearest = templates.by_person("best").by_probe[ties]
        line, column = np.nonzero(lines == nearest[:, templates.columns.person])
        place = np.full(nearest.shape, np.iinfo(np.int64).max)
        np.minimum.at(place, (line, templates.columns.person[column]), gallery[column])
        return (tied & (place < self.place[probes, None])).sum(axis=1)

    def merge(self, other: Self) -> None:
        super().merge(other)
        np.minimum(self.nearest, other.nearest, out=self.nearest)

    def result(self) -> Self:
        mated = self.mates > 0
        self.tied = (self.within - self.closer) * mated
        self.closer = self.closer * mated
        self.before = self.before * mated
        self.nearest[self.others == 0] = np.nan
        return self


def _facts(block: Block, best: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    values = block.values
    if block.few:
        return (
            np.count_nonzero(values < best[:, None], axis=1),
            np.count_nonzero(values <= best[:, None], axis=1),
            np.count_nonzero(~np.isnan(values), axis=1),
            np.fmin.reduce(values, axis=1, initial=np.inf),
        )
    closer, within, candidates = np.zeros((3, len(best)), dtype=np.int32)
    nearest = np.full(len(best), np.inf, dtype=values.dtype)
    loop = kernel.rank_columns if block.turned else kernel.rank_rows
    loop(values, best.astype(values.dtype, copy=False), closer, within, candidates, nearest)
    return closer, within, candidates, nearest


# --------------------------------------------------------------------------------------------- ties

#: The orders between which every number lies.
ENDS: tuple[PlainTies, PlainTies] = ("pessimistic", "optimistic")


def place_weights(
    closer: np.ndarray, tied: np.ndarray, before: np.ndarray, mates_tied: np.ndarray, ties: Ties
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (index, rank, weight) of best mates.

    The int64 arrays are, for each best mate: others closer than the mate, exactly as close,
    tied others before it in the gallery, and mates exactly as close, itself among them.

    Under every policy but ``"expected"`` a probe has one rank, of weight 1. Under
    ``"expected"``, with ``T`` candidates tied at the best mate's distance of which ``m`` are
    mates, the first mate is at the ``r``-th of the tied places with probability ``C(T - r, m -
    1) / C(T, m)``.
    """
    index = np.arange(len(closer))
    if ties != "expected":
        behind = {"optimistic": np.zeros_like(tied), "pessimistic": tied, "stable": before}[ties]
        return index, 1 + closer + behind, np.ones(len(closer))
    times = tied + 1
    repeated = np.repeat(index, times)
    place = np.arange(len(repeated)) - np.repeat(np.cumsum(times) - times, times) + 1
    mates = mates_tied[repeated]
    total = mates + tied[repeated]
    weight = np.exp(_log_binomial(total - place, mates - 1) - _log_binomial(total, mates))
    weight[total == mates] = 1.0
    # The weights of a probe add up to 1; rounding in the logarithms is taken out.
    sums = np.bincount(repeated, weight, minlength=len(closer))
    return repeated, 1 + closer[repeated] + place - 1, weight / sums[repeated]


def _log_binomial(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    log_gamma = scipy.special.gammaln
    return log_gamma(n + 1.0) - log_gamma(k + 1.0) - log_gamma(n - k + 1.0)
