"""Presentations with a detection score each, and the rules that choose a threshold on them."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.base.arguments import rate_in, require_numbers
from bioeval.base.errors import DataError, received
from bioeval.base.kinds import Kind
from bioeval.counting.order import next_among
from bioeval.counting.points import EqualError, ErrorCurve
from bioeval.counting.threshold_rules import is_real
from bioeval.counting.thresholds import to_user
from bioeval.scores.bona_fide import species_of
from bioeval.scores.formats.spellings import is_number
from bioeval.stats.weighted_sums import ratio
from bioeval.studies.attacks.scores import (
    accepted_at,
    require_free_labels,
    with_pooled_and_largest,
)

#: The code of a bona fide presentation.
BONA_FIDE = -1


@dataclass(frozen=True)
class Presentations:
    """The presentations of one set: the class of each, and its distance if there is a response."""

    distances: np.ndarray  # float64 (n,): NaN without a response
    codes: np.ndarray  # int64 (n,): the species of each presentation, `BONA_FIDE` of none
    species: list[str]  # sorted
    in_apcer: np.ndarray  # bool (species,): whether a presentation of the species has a response
    non_response: str

    @classmethod
    def from_columns(
        cls, values: Any, attack: Any, kind: Kind, non_response: str, where: str = ""
    ) -> Presentations:
        """Check the scores and the species of one set; in errors their names begin with `where`."""
        column = species_of(attack, f"{where}attack")
        scores = require_numbers(f"{where}values", values)
        if scores.shape != column.shape:
            raise DataError(
                f"{where}values has shape {scores.shape} and attack {column.shape}; expected one "
                "score and one species for each presentation"
            )
        species = np.unique(column[column != ""])
        codes = np.where(column == "", BONA_FIDE, np.searchsorted(species, column))
        if (codes != BONA_FIDE).all():
            raise DataError(
                f"{where}attack has no bona fide presentation among {len(codes):,}; their mark is "
                "empty, '-', 'none', 'live', 'genuine' or 'bona fide'"
            )
        if not len(species):
            raise DataError(
                f"{where}attack has no attack presentation among {len(codes):,}; expected the "
                "species of each, such as 'print'"
            )
        require_free_labels(species.tolist())
        has_response = np.isin(np.arange(len(species)), codes[~np.isnan(scores)])
        return cls(to_user(scores, kind), codes, species.tolist(), has_response, non_response)

    def members(self, code: int) -> np.ndarray:
        """Return a mask of the presentations in the denominator of the rate of a class."""
        members = self.codes == code
        if self.non_response == "exclude":
            members &= ~np.isnan(self.distances)
        return members

    @property
    def classes(self) -> list[int]:
        """The codes of the species, then the code of bona fide presentations."""
        return [*range(len(self.species)), BONA_FIDE]

    @cached_property
    def class_sizes(self) -> np.ndarray:
        """The denominator of the rate of each class."""
        return np.array([self.members(i).sum() for i in self.classes])

    @cached_property
    def class_distances(self) -> list[np.ndarray]:
        """The distances of the presentations with a response of each class, increasing."""
        has_response = ~np.isnan(self.distances)
        return [np.sort(self.distances[has_response & (self.codes == i)]) for i in self.classes]

    def rates(self, distances: np.ndarray) -> dict[str, np.ndarray]:
        """Return APCER and BPCER at distances.

        APCER, (distances, labels of species), also has the pooled and the largest rate. ISO/IEC
        30107-3:2023: the APCER of a species is the proportion of its presentations that are
        accepted; BPCER is the proportion of bona fide presentations that are rejected.
        """
        accepted = accepted_at(self.class_distances, distances)
        sizes = self.class_sizes
        apcer = ratio(accepted[:, :-1], sizes[:-1])
        pooled = ratio(accepted[:, :-1].sum(axis=1), sizes[:-1].sum())
        return {
            "apcer": with_pooled_and_largest(apcer, pooled, self.in_apcer),
            "bpcer": ratio(sizes[-1] - accepted[:, -1], sizes[-1]),
        }

    def apcer_of_species(self, distances: np.ndarray) -> np.ndarray:
        """Return the APCER of each species, (distances, species)."""
        return self.rates(distances)["apcer"][:, : len(self.species)]

    @cached_property
    def points(self) -> ErrorCurve:
        """The operating points: reject-all, then each distinct score.

        In place of numbers of errors, the curve has the largest APCER and BPCER.
        """
        distances = np.unique(np.concatenate(self.class_distances))
        reject_all = math.nan if -math.inf in distances[:1] else -math.inf
        thresholds = np.append(reject_all, distances)
        rates = self.rates(thresholds)
        return ErrorCurve(thresholds, rates["apcer"][:, -1], rates["bpcer"], 1, 1)

    def next_scores(self, distances: Any) -> np.ndarray:
        """Return the nearest score that each distance rejects; infinity if it accepts all."""
        return np.minimum.reduce(next_among(distances, *self.class_distances))

    @cached_property
    def d_eer(self) -> EqualError:
        """The point at which the largest APCER and BPCER cross."""
        return self.points.equal_error()

    def at_apcer(self, target: float) -> int | None:
        """Return the index of the loosest point with APCER at most `target`; None without APCER."""
        apcer = self.points.fa
        if np.isnan(apcer[0]):
            return None
        return int(np.searchsorted(apcer, target, "right")) - 1

    def choose(self, rule: DetectionRule) -> float | None:
        """Return the distance that a rule chooses; None if no operating point fulfils the rule."""
        if rule.name == "fixed":
            return rule.value
        if rule.name == "d_eer":
            return None if math.isnan(self.d_eer.eer) else self.d_eer.eer_threshold
        point = self.at_apcer(rule.value)
        if rule.name == "bpcer":
            point = next(iter(np.flatnonzero(self.points.fr <= rule.value).tolist()), None)
        return None if point is None else float(self.points.threshold[point])


@dataclass(frozen=True)
class DetectionRule:
    """A rule that chooses a threshold; the value is a rate, or the threshold."""

    name: str
    value: float = math.nan

    @classmethod
    def parse(cls, threshold: Any) -> DetectionRule:
        """Return the rule of an argument: a number, ``"apcer=x"``, ``"bpcer=x"`` or ``"d_eer"``."""
        with contextlib.suppress(ValueError, ArithmeticError):
            if isinstance(threshold, str) and not is_number(threshold):
                name, equals, rate = threshold.partition("=")
                name = name.strip().casefold()
                if name.replace("-", "_") == "d_eer" and not equals:
                    return cls("d_eer")
                if name in ("apcer", "bpcer") and 0 <= (value := rate_in(rate)) <= 1:
                    return cls(name, value)
            elif isinstance(threshold, str) or is_real(threshold):
                value = float(threshold)
                if not math.isnan(value):
                    return cls("fixed", value)
        raise DataError(
            f"`threshold` is {received(threshold)}; expected a number, d_eer, apcer=X "
            'or bpcer=X with a rate from 0 to 1, such as "apcer=0.05"'
        )

    def __str__(self) -> str:
        """Return the rule as it is written in the attributes of a result."""
        return self.name if self.name == "d_eer" else f"{self.name}={self.value!r}"
