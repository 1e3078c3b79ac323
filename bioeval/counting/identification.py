"""Identification: how each probe searches a gallery, with and without its own subject."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from bioeval.base.arguments import require_integer
from bioeval.base.errors import DataError, ProtocolError, subject
from bioeval.counting.ranks import RankFacts
from bioeval.counting.reduce import reduce
from bioeval.counting.tied_places import place_weights
from bioeval.protocol.tasks import Search
from bioeval.scores.arrays import scored
from bioeval.scores.blocks import BlockReader, require_subjects, require_templates
from bioeval.scores.provenance import Provenance

# Ranks up to this many may extend beyond the end of the gallery, so that the curves of several
# galleries have the same length.
MOST_RANKS = 10_000

ImpostorProbes = Literal["auto", "unenrolled", "leave-subject-out", "both"]

RankUnit = Literal["template", "subject"]


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


def role_of(layout: str, impostors: str, all_enrolled: bool) -> str:
    """Return which probes are impostors, by name: ``"auto"`` resolved by layout and enrolment.

    All-against-all, each probe is one, enrolled when it is seen or not.
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

    All arrays have one entry a probe, as of :class:`bioeval.counting.ranks.RankFacts`. With rank
    unit ``"subject"`` the candidates are subjects at their fused distance, otherwise templates;
    ``nearest_mate`` and ``nearest_other`` are distances of templates always (TTR and FTR speak of
    templates). A distance is NaN where there is no candidate, and where all comparisons failed: no
    threshold accepts it.
    """

    about: Provenance
    rank_unit: str
    fusion: str
    enrolled: np.ndarray
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

    def impostor_role(self, impostors: str) -> str:
        """Return the impostor probes by name: ``"auto"`` resolved, as :func:`role_of`."""
        return role_of(self.about.layout, impostors, bool(self.enrolled.all()))

    @staticmethod
    def of_role(usable: np.ndarray, enrolled: np.ndarray, role: str) -> np.ndarray:
        """Return the probes of a role, of those that have a usable non-mate."""
        if role == "unenrolled":
            usable = usable & ~enrolled
        elif role == "leave-subject-out":
            usable = usable & enrolled
        return np.nonzero(usable)[0]

    def impostor_probes(self, role: str) -> np.ndarray:
        """Return the probes that make an impostor attempt."""
        return self.of_role(self.others > 0, self.enrolled, role)

    def rank_weights(
        self, chosen: np.ndarray, ties: str
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (probe, rank, weight) of the best mates of chosen probes; each must have one.

        See :func:`bioeval.counting.tied_places.place_weights`.
        """
        index, ranks, weights = place_weights(
            self.closer[chosen],
            self.tied[chosen],
            self.tied_before[chosen],
            self.mates_tied[chosen],
            ties,
        )
        return chosen[index], ranks, weights


class Searching:
    """Identification that is about to be counted, in one pass with others."""

    def __init__(self, reader: BlockReader, search: Search):
        """Check that the scores can be searched."""
        scores = reader.scores
        require_templates(scores, "identification")
        by_subject = search.rank_unit == "subject"
        if by_subject or scores.layout == "pairs":
            require_subjects(scores, "a rank among subjects" if by_subject else "identification")
        elif not scores._derives_subjects:
            raise ProtocolError(
                "the mask gives no consistent subjects: two templates that genuine cells connect "
                "also meet in an impostor cell. Identification needs labels"
            )
        self.reader, self.search = reader, search
        #: Facts of what is ranked; and of templates, where these are not the same distances.
        self.reducers = [RankFacts(search.fusion if by_subject else None)]
        if by_subject and search.fusion != "min":
            self.reducers.append(RankFacts())

    def result(self, ranked: RankFacts, templates: RankFacts | None = None) -> Searches:
        """Return the searches, from what the reducers have counted."""
        of_templates = templates or ranked
        best, nearest = of_templates.best, of_templates.nearest
        return Searches(
            about=self.reader.about.searching(self.reader.scores),
            rank_unit=self.search.rank_unit,
            fusion=self.search.fused,
            enrolled=self.reader.enrolled,
            mate=self._scores(ranked.best),
            closer=ranked.closer,
            tied=ranked.tied,
            tied_before=ranked.before,
            mates_tied=ranked.mates_tied,
            mates=ranked.mates,
            other=self._scores(ranked.nearest),
            others=ranked.others,
            nearest_mate=self._scores(best),
            nearest_other=self._scores(nearest),
        )

    def _scores(self, distances: np.ndarray) -> np.ndarray:
        """Return distances without those of failed comparisons, in float64."""
        if self.reader.scores.nan == "reject":
            distances = scored(distances)
        return distances.astype(np.float64)


def search(reader: BlockReader, how: Search) -> Searches:
    """Search a gallery with each probe."""
    searching = Searching(reader, how)
    return searching.result(*reduce(reader.scores, *searching.reducers))
