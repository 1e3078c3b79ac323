"""Which templates of each subject are enrolled: all, any number of them, or the first ones."""

from __future__ import annotations

import numbers
import operator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bioeval.base.errors import Argument, DataError, counted, nearest_name, received
from bioeval.scores.blocks import require_subjects
from bioeval.scores.labels import missing_values
from bioeval.scores.matrix import Scores

#: The number of enrolled templates, ``first:N`` or ``first:N:COLUMN``; None enrols all.
Enrol = int | str | None

_EXPECTED = (
    "; expected the number of enrolled templates of each subject, such as 3 (a mean over all "
    "choices), 'first:3' (in the order of the gallery) or 'first:3:COLUMN' (in the order of a "
    "metadata column)"
)


@dataclass(frozen=True)
class Enrolment:
    """The enrolled templates of each subject.

    - `number` (int): how many; 0 where all are. A subject with fewer has all of them enrolled
    - `first` (bool): whether they are the first ones, or any, with a mean over all choices
    - `column` (str): the metadata column in whose order they are the first; empty for the order of
      the gallery
    """

    number: int = 0
    first: bool = False
    column: str = ""

    @classmethod
    def parse(cls, enrol: Any) -> Self:
        """Return the enrolment that an option says, or raise :class:`DataError`."""
        if enrol is None:
            return cls()
        wrong = DataError(Argument("enrol"), f" is {received(enrol)}", _EXPECTED)
        if not isinstance(enrol, str | numbers.Integral):
            raise wrong
        parts = enrol.split(":", 2) if isinstance(enrol, str) else [enrol]
        first = parts[0] == "first"
        if first:
            parts = parts[1:]
        if not parts or (not first and len(parts) > 1) or isinstance(parts[0], bool):
            raise wrong
        try:
            number = int(parts[0]) if isinstance(parts[0], str) else operator.index(parts[0])
        except (TypeError, ValueError):
            raise wrong from None
        if number < 1 or parts[1:] == [""]:
            raise wrong
        return cls(number, first, *parts[1:])

    def __str__(self) -> str:
        if not self.number:
            return "all"
        if not self.first:
            return str(self.number)
        return ":".join(["first", str(self.number), *filter(None, [self.column])])

    @property
    def drawn(self) -> int:
        """Templates that are any of the subject's; 0 where it is fixed which are enrolled."""
        return 0 if self.first else self.number

    def applied(self, scores: Scores) -> Scores:
        """Return scores with the enrolled templates as the gallery.

        Where all templates are compared with each other, the others are the probes. Raise
        :class:`DataError` where nobody has so many templates, or none is left to probe with.
        """
        if not self.number:
            return scores
        require_subjects(scores, Argument("enrol"))
        subject = scores._codes.gallery
        most = int(np.bincount(subject).max())
        if self.number > most:
            raise DataError(
                Argument("enrol"),
                f" is {self}, but no subject has more than {counted(most, 'templates')} in the "
                f"gallery; expected at most {most}",
            )
        if not self.first:
            return scores
        order = np.lexsort((self._places(scores), subject))
        starts = np.flatnonzero(np.diff(subject[order], prepend=-1))
        rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.append(starts, len(order))))
        enrolled = np.sort(order[rank < self.number])
        if scores.layout != "all-against-all":
            return scores.select(gallery=enrolled)
        rest = np.setdiff1d(np.arange(scores.shape[0]), enrolled)
        if not len(rest):
            raise DataError(
                Argument("enrol"),
                f" is {self} and leaves no template to probe with: no subject has more than "
                f"{counted(most, 'templates')}",
            )
        return scores.select(probes=rest, gallery=enrolled)

    def _places(self, scores: Scores) -> np.ndarray:
        """Return numbers that put the templates of the gallery in order."""
        if not self.column:
            return np.arange(scores.shape[1])
        known = list(scores.gallery_meta)
        if self.column not in known:
            listed = f"there are {', '.join(known)}" if known else "there are none"
            raise DataError(
                Argument("enrol"),
                f" names the column {self.column!r}, but the gallery metadata have no such column; "
                f"{listed}.{nearest_name(self.column, known)}",
            )
        values = np.asarray(scores.gallery_meta[self.column])
        missing = missing_values(values)
        if missing.any():
            raise DataError(
                Argument("enrol"),
                f": {counted(int(missing.sum()), 'templates')} have no value in {self.column!r}, "
                f"the first is template {int(np.argmax(missing))} of the gallery",
            )
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError):
            values = values.astype(str)
        return np.unique(values, return_inverse=True)[1].reshape(-1)
