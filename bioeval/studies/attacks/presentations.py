"""Presentations with a detection score each, and the rules that choose a threshold on them."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bioeval.base.arguments import require_numbers
from bioeval.base.errors import Argument, DataError, received
from bioeval.counting.points import EqualError, ErrorCurve
from bioeval.counting.threshold_rules import Rule, is_number, is_real
from bioeval.counting.thresholds import to_user
from bioeval.scores.bona_fide import species_of
from bioeval.stats.people import ratio
from bioeval.studies.attacks.attempts import accepted_at

#: The code of a bona fide presentation.
BONA_FIDE = -1


@dataclass(frozen=True)
class Presentations:
    """Presentations of one set: distances of those with a response, by class, and denominators."""

    distances: np.ndarray  # of all presentations; NaN without a response
    codes: np.ndarray  # of the species of each, -1 for bona fide
    species: list[str]
    counted: np.ndarray  # whether a species has a response: the maximum is over these
    non_response: str

    @classmethod
    def of(
        cls,
        values: Any,
        attack: Any,
        kind: str,
        non_response: str,
        where: str = "",
    ) -> Presentations:
        """Return the presentations of one set, checked."""
        scores = require_numbers(f"{where}values", values)
        column = species_of(attack, f"{where}attack")
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
        answered = np.isin(np.arange(len(species)), codes[~np.isnan(scores)])
        return cls(to_user(scores, kind), codes, species.tolist(), answered, non_response)

    def members(self, code: int) -> np.ndarray:
        """Return which presentations of a class its rate is over."""
        members = self.codes == code
        if self.non_response == "exclude":
            members &= ~np.isnan(self.distances)
        return members

    @property
    def classes(self) -> list[int]:
        """The codes of the species, then that of bona fide presentations."""
        return [*range(len(self.species)), BONA_FIDE]

    @cached_property
    def number(self) -> np.ndarray:
        """The presentations that the rate of each class is over."""
        return np.array([self.members(i).sum() for i in self.classes])

    @cached_property
    def answered(self) -> list[np.ndarray]:
        """The increasing distances of each class."""
        known = ~np.isnan(self.distances)
        return [np.sort(self.distances[known & (self.codes == i)]) for i in self.classes]

    def rates(self, at: np.ndarray) -> dict[str, np.ndarray]:
        """Return APCER of each species, its maximum, the pooled one, and BPCER at distances."""
        accepted, number = accepted_at(self.answered, at), self.number
        apcer = ratio(accepted[:, :-1], number[:-1])
        return {
            "apcer_of_species": apcer,
            "apcer": np.fmax.reduce(apcer[:, self.counted], axis=1, initial=np.nan),
            "apcer_pooled": ratio(accepted[:, :-1].sum(axis=1), number[:-1].sum()),
            "bpcer": ratio(number[-1] - accepted[:, -1], number[-1]),
        }

    @cached_property
    def points(self) -> ErrorCurve:
        """The operating points: reject-all, then each distinct score, with rates as errors."""
        return self._against_bpcer("apcer")

    def _against_bpcer(self, apcer: str) -> ErrorCurve:
        every = np.unique(np.concatenate(self.answered))
        reject_all = math.nan if -math.inf in every[:1] else -math.inf
        at = np.append(reject_all, every)
        rates = self.rates(at)
        return ErrorCurve(at, rates[apcer], rates["bpcer"], 1, 1)

    @cached_property
    def d_eer(self) -> EqualError:
        """The crossing of APCER and BPCER."""
        return self.points.equal_error()

    @property
    def pooled_eer(self) -> float:
        """Where the pooled APCER and BPCER cross: the largest can exceed one half by chance."""
        return self._against_bpcer("apcer_pooled").equal_error().eer

    def at_apcer(self, target: float) -> int | None:
        """Return the loosest point with APCER at most `target`; None if APCER is not defined."""
        apcer = self.points.fa
        if np.isnan(apcer[0]):
            return None
        return int(np.searchsorted(apcer, target, "right")) - 1

    def chosen(self, rule: DetectionRule) -> float | None:
        """Return the distance that a rule chooses; None where there is no such point."""
        if rule.name == "fixed":
            return rule.value
        if rule.name == "d_eer":
            return None if math.isnan(self.d_eer.eer) else self.d_eer.eer_threshold
        place = self.at_apcer(rule.value)
        if rule.name == "bpcer":
            place = next(iter(np.flatnonzero(self.points.fr <= rule.value).tolist()), None)
        return None if place is None else float(self.points.threshold[place])


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
                if name in ("apcer", "bpcer") and 0 <= (value := Rule.rate_in(rate)) <= 1:
                    return cls(name, value)
            elif isinstance(threshold, str) or is_real(threshold):
                value = float(threshold)
                if not math.isnan(value):
                    return cls("fixed", value)
        raise DataError(
            f"{Argument('threshold')} is {received(threshold)}; expected a number, d_eer, apcer=X "
            'or bpcer=X with a rate from 0 to 1, such as "apcer=0.05"'
        )

    def __str__(self) -> str:
        """Return the rule as an attribute of a result holds it."""
        return self.name if self.name == "d_eer" else f"{self.name}={self.value!r}"
