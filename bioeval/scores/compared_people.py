"""Numbers of the people, and of the pairs of people, that scores compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from bioeval.scores.codes import Codes
from bioeval.scores.disjoint import disjoint_among, distinct_pairs, pairs_in_cells
from bioeval.scores.people import knows_people

if TYPE_CHECKING:
    from bioeval.scores.score_data import ScoreData


class ComparedPeople(NamedTuple):
    """Numbers of people, and of the pairs of people that are compared."""

    number: int  # people on either side
    pairs: int  # pairs of two people that are compared, each once, whatever their templates
    #: The largest number of these pairs of which no two share a person, which are independent
    #: trials; 0 if it was not counted.
    disjoint: int = 0

    @classmethod
    def from_sides(cls, probes: int, gallery: int, number: int) -> Self:
        """Count the pairs where each person of the probes is compared with all of the gallery.

        The arguments are the numbers of people of the probes, of the gallery, and of both together.
        """
        on_both_sides = probes + gallery - number
        pairs = probes * gallery - on_both_sides - on_both_sides * (on_both_sides - 1) // 2
        return cls(number, pairs, min(probes, gallery, number // 2))

    @classmethod
    def all_pairs(cls, number: int) -> Self:
        return cls.from_sides(number, number, number)

    @classmethod
    def from_scores(cls, scores: ScoreData, *, disjoint: bool = False) -> Self | None:
        """Count the pairs of people with an attempt; with `disjoint`, also the disjoint pairs.

        None if the people are unknown.
        """
        if not knows_people(scores):
            return None
        codes = scores.codes
        if scores.layout == "pairs":
            return cls.from_list(codes, codes.probe, codes.gallery, disjoint=disjoint)
        probe, gallery = codes.people(codes.probe), codes.people(codes.gallery)
        number = len(np.union1d(probe, gallery))
        pairs = None if scores.layout == "top-k" else pairs_in_cells(scores)
        if pairs is None:
            return cls.from_sides(len(probe), len(gallery), number)
        return cls._of_pairs(number, pairs, len(codes.values), disjoint)

    @classmethod
    def from_list(
        cls, codes: Codes, probe: np.ndarray, claimed: np.ndarray, *, disjoint: bool = False
    ) -> Self:
        """Count the pairs of people of listed attempts, given by the codes of both sides."""
        people = ~(codes.no_person[probe] | codes.no_person[claimed])
        pairs = distinct_pairs(probe[people], claimed[people], len(codes.values))
        return cls._of_pairs(len(codes.people(probe, claimed)), pairs, len(codes.values), disjoint)

    @classmethod
    def _of_pairs(cls, number: int, pairs: np.ndarray, codes: int, disjoint: bool) -> Self:
        largest = disjoint_among(pairs[0], pairs[1], codes) if disjoint else 0
        return cls(number, pairs.shape[1], largest)
