"""The argument `enrol`: the first templates of each subject as the gallery."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from bioeval.base.errors import DataError, counted, received
from bioeval.base.messages import Message
from bioeval.scores.fusion_rules import parse_fusion
from bioeval.scores.matrix import Scores
from bioeval.scores.metadata import known_column, places_in_order
from bioeval.scores.orders import places_of_values


class Enrolment(NamedTuple):
    """The enrolled templates of each subject, such as ``first:3:taken``."""

    text: str
    number: int  # templates of each subject; a subject with fewer has all enrolled
    column: str  # the metadata column of their order; empty: the order of their names

    @classmethod
    def parse(cls, enrol: object) -> Self:
        word, number, column = [*str(enrol).split(":", 2), "", ""][:3]
        is_whole = number.isascii() and number.isdigit() and int(number) > 0
        if not isinstance(enrol, str) or word != "first" or not is_whole or enrol.endswith(":"):
            raise DataError(
                f"`enrol` is {received(enrol)}; expected the first templates of each subject, such "
                "as 'first:3' (in the order of their names) or 'first:3:COLUMN' (in the order of a "
                "metadata column)"
            )
        return cls(enrol, int(number), column)

    def in_words(self, templates: str) -> str:
        first = "first template" if self.number == 1 else f"first {self.number} templates"
        return f"one of the {first}" if templates == "single" and self.number > 1 else first

    def applied(self, scores: Scores, templates: str, fusion: str) -> Scores:
        """Return scores with the enrolled templates as the gallery.

        In all-against-all scores, the templates that are not enrolled are the probes.
        """
        method, needed = parse_fusion(fusion)
        if templates == "multi" and method == "kth" and needed > self.number:
            raise DataError(
                f"`fusion` is {fusion!r}, but {counted(self.number, 'templates')} of each subject "
                f"are enrolled; expected kth:{self.number} or less, or more templates"
            )
        subject = scores.codes.gallery
        largest = int(np.bincount(subject).max())
        if self.number > largest:
            raise DataError(
                f"`enrol` is {self.text}, but no subject has more than "
                f"{counted(largest, 'templates')} in the gallery; expected at most {largest}"
            )
        order = np.lexsort((self._places(scores), subject))
        starts = np.flatnonzero(np.diff(subject[order], prepend=-1))
        place_in_subject = np.arange(len(order))
        place_in_subject -= np.repeat(starts, np.diff(np.append(starts, len(order))))
        enrolled = np.sort(order[place_in_subject < self.number])
        if scores.layout != "all-against-all":
            return scores.select(gallery=enrolled)
        probes = np.setdiff1d(np.arange(scores.shape[0]), enrolled)
        if not len(probes):
            raise DataError(
                f"`enrol` is {self.text} and leaves no template to probe with: no subject has "
                f"more than {counted(largest, 'templates')}"
            )
        return scores.select(probes=probes, gallery=enrolled)

    def _places(self, scores: Scores) -> np.ndarray:
        """Return the place of each gallery template by the column, then by names, (templates,)."""
        place, _ = _places_by_name(scores)
        if not self.column:
            return place
        scores._require_kept(self.column, "enrol", scores.gallery_meta)
        values = known_column(scores.gallery_meta, self.column, "enrol", "gallery template")
        place_by_column = places_of_values(values, self.column, scores.codes.gallery)
        return place_by_column * len(place) + place

    def notes(self, scores: Scores) -> list[Message]:
        """Return messages on scores whose gallery are the enrolled templates."""
        notes = []
        if not self.column and not _places_by_name(scores)[1]:
            notes.append(Message("first-by-order", what="enrolment"))
        codes = scores.codes
        counts = np.bincount(codes.gallery)[codes.people(codes.gallery)]
        fewer = int(np.count_nonzero(counts < self.number))
        code = "fewer-templates-than-enrolled"
        if fewer:
            notes.append(Message(code, subjects=fewer, templates=self.number))
        return notes


def _places_by_name(scores: Scores) -> tuple[np.ndarray, str]:
    return places_in_order(scores.gallery_meta, scores.shape[1], scores.gallery_names)
