"""Attacks: presentations and attack attempts, by attack instrument species, at operating points."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from bioeval.attempts.points import EqualError, ErrorCurve
from bioeval.attempts.threshold_rules import Rule, is_number, is_real
from bioeval.attempts.thresholds import linear_grid, to_user
from bioeval.base.arguments import require_numbers
from bioeval.base.errors import Argument, DataError, counted, received
from bioeval.scores.arrays import Mask
from bioeval.scores.blocks import Block, BlockReader
from bioeval.scores.labels import missing_values
from bioeval.scores.matrix import Scores, are_pairs
from bioeval.studies.attacks.scores import BONA_FIDE, AttackedScores, coded_species

#: The species that count up to an attack potential: the level of each, and the largest level.
Potential = tuple[Mapping[str, Any], Any]

#: Methods of an interval that resample subjects, without the one that leaves subjects out.
RateBootstrap = Literal["subject-bootstrap", "subject-bootstrap-logit"]


@dataclass(frozen=True)
class Presentations:
    """Presentations of one set: distances of those with a response, by class, and denominators."""

    distances: np.ndarray  # of all presentations; NaN without a response
    codes: np.ndarray  # of the species of each, -1 for bona fide
    species: list[str]
    counted: np.ndarray  # whether the maximum is over a species: its potential, and a response
    non_response: str

    def of(self, code: int, *, answered: bool = False) -> int:
        """Return the presentations of a class that its rate is over, or those with a response."""
        members = self.codes == code
        if answered or self.non_response == "exclude":
            members &= ~np.isnan(self.distances)
        return int(members.sum())

    @property
    def classes(self) -> list[int]:
        """The codes of the species, then that of bona fide presentations."""
        return [*range(len(self.species)), BONA_FIDE]

    @cached_property
    def number(self) -> list[int]:
        """The denominators of the classes."""
        return list(map(self.of, self.classes))

    @cached_property
    def answered(self) -> list[np.ndarray]:
        """The increasing distances of each class."""
        known = ~np.isnan(self.distances)
        return [np.sort(self.distances[known & (self.codes == i)]) for i in self.classes]

    def rates(self, at: np.ndarray) -> dict[str, np.ndarray]:
        """Return APCER of each species, its maximum, the pooled one, and BPCER at distances."""
        return self.rates_of(_at_most(self.answered, at), np.array(self.number)[:, None])

    def rates_of(self, accepted: np.ndarray, number: np.ndarray) -> dict[str, np.ndarray]:
        """Return rates from those classified bona fide and presentations, shape (classes, ...)."""
        with np.errstate(invalid="ignore", divide="ignore"):
            rates = accepted / number
            pooled = accepted[:-1].sum(axis=0) / number[:-1].sum(axis=0)
            bpcer = (number[-1] - accepted[-1]) / number[-1]
        return {
            "apcer_of_species": rates[:-1].swapaxes(0, 1),
            "apcer": np.fmax.reduce(rates[:-1][self.counted], axis=0, initial=np.nan),
            "apcer_pooled": pooled,
            "bpcer": bpcer,
        }

    @cached_property
    def points(self) -> ErrorCurve:
        """The operating points: reject-all, then each distinct score, with rates as errors."""
        every = np.unique(np.concatenate(self.answered))
        reject_all = -math.inf
        if len(every) and every[0] == reject_all:
            reject_all = math.nan
        at = np.concatenate([[reject_all], every])
        rates = self.rates(at)
        return ErrorCurve(at, rates["apcer"], rates["bpcer"], 1, 1)

    @cached_property
    def d_eer(self) -> EqualError:
        """The crossing of APCER and BPCER."""
        return self.points.equal_error()

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
            if math.isnan(self.d_eer.eer):
                return None
            return self.d_eer.eer_threshold
        place = self.at_apcer(rule.value)
        if rule.name == "bpcer":
            allowed = np.flatnonzero(self.points.fr <= rule.value)
            place = int(allowed[0]) if len(allowed) else None
        if place is None:
            return None
        return float(self.points.threshold[place])


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
            Argument("threshold"),
            f" is {received(threshold)}; expected a number, d_eer, apcer=X or bpcer=X with a rate "
            'from 0 to 1, such as "apcer=0.05"',
        )

    def __str__(self) -> str:
        """Return the rule as an attribute of a result holds it."""
        if self.name == "d_eer":
            return self.name
        return f"{self.name}={self.value!r}"


def presentations_of(
    values: Any,
    attack: Any,
    kind: str,
    non_response: str,
    potential: Potential | None,
    where: str = "",
) -> Presentations:
    """Return the presentations of one set, as distances."""
    scores = require_numbers(f"{where}values", values)
    species, codes = coded_species(attack, f"{where}attack")
    if scores.shape != codes.shape:
        raise DataError(
            f"{where}values has shape {scores.shape} and attack {codes.shape}; expected one score "
            "and one species for each presentation"
        )
    if not (codes == BONA_FIDE).any():
        raise DataError(
            f"{where}attack has no bona fide presentation among {len(codes):,}; they are empty or "
            "'bona fide'"
        )
    if not species:
        raise DataError(
            f"{where}attack has no attack presentation among {len(codes):,}; expected the species "
            "of each, such as 'print'"
        )
    answered = np.bincount(codes[(codes >= 0) & ~np.isnan(scores)], minlength=len(species)) > 0
    within = _within(species, potential)
    return Presentations(to_user(scores, kind), codes, species, answered & within, non_response)


def _within(species: Sequence[str], potential: Any) -> np.ndarray:
    """Return whether each species is within an attack potential."""
    if potential is None:
        return np.ones(len(species), dtype=bool)
    name = Argument("potential")
    try:
        levels, most = potential
        for x in species:
            if x not in levels:
                raise DataError(name, f" has no level of the species {x!r}")
        within = np.array([bool(levels[x] <= most) for x in species])
    except (TypeError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            name,
            f" is {received(potential)}; expected the level of each species as a mapping, and the "
            'largest one, such as ({"print": 1, "mask": 3}, 2)',
        ) from None
    if not within.any():
        raise DataError(name, f": no species has a level of at most {most!r}")
    return within


@dataclass(frozen=True)
class AttackAttempts:
    """Attack attempts as distances, infinite and never accepted where detection rejects the row."""

    names: list[str]  # the species, sorted
    presentations: np.ndarray  # int64 (species,)
    #: float64: increasing distances of each species, of the rows that detection accepts.
    accepted: list[np.ndarray]
    missed: np.ndarray  # int64 (species,): attempts of rows that detection rejects
    #: (attempts,): the row, the distance and the species of each attempt.
    rows: np.ndarray
    distances: np.ndarray
    species: np.ndarray

    @property
    def number(self) -> np.ndarray:
        """Attempts of each species."""
        return np.array([len(x) for x in self.accepted], dtype=np.int64) + self.missed

    @property
    def pooled(self) -> np.ndarray:
        """Increasing distances of all species."""
        return np.sort(np.concatenate(self.accepted))

    def at_most(self, thresholds: np.ndarray) -> np.ndarray:
        """Return the attempts accepted, shape (thresholds, species); NaN rejects all."""
        return _at_most(self.accepted, thresholds).T.astype(np.int64, order="C")

    def rates(self, thresholds: np.ndarray, frr: np.ndarray) -> dict[str, np.ndarray]:
        """Return IAPAR of species, largest and pooled, and RIAPAR at thresholds."""
        accepted, number = self.at_most(thresholds), self.number
        total = int(number.sum())
        of_species = np.full(accepted.shape, np.nan)
        np.divide(accepted, number, out=of_species, where=number > 0)
        with_any = of_species[:, number > 0]
        largest = pooled = np.full(len(accepted), np.nan)
        if with_any.size:
            largest = with_any.max(axis=1)
        if total:
            pooled = accepted.sum(axis=1) / total
        return {
            "iapar_of_species": of_species,
            "riapar_of_species": of_species + frr[:, None],
            "iapar_max": largest,
            "iapar_pooled": pooled,
            "riapar": largest + frr,
        }


def spaced_thresholds(distances: np.ndarray, kind: str, number: int | None) -> np.ndarray:
    """Return evenly spaced thresholds over the finite scores; without a number as by default."""
    finite = to_user(distances[np.isfinite(distances)], kind)
    low, high = finite.min(initial=math.inf), finite.max(initial=-math.inf)
    return linear_grid(float(low), float(high), number)


def _at_most(groups: Sequence[np.ndarray], at: np.ndarray) -> np.ndarray:
    """Return how many of each increasing group are accepted, (groups, at); NaN rejects all."""
    numbers = np.stack([np.searchsorted(group, at, side="right") for group in groups])
    return np.where(np.isnan(at), 0, numbers)


def attack_attempts(
    parts: AttackedScores, passed: np.ndarray | None, options: Mapping[str, str]
) -> AttackAttempts:
    """Return the attack attempts by species."""
    row, distance = _distances(parts.attacks, **options)
    names, code = np.unique(parts.species, return_inverse=True)
    of_attempt = code.reshape(-1)[row]
    passes = np.ones(len(row), dtype=bool)
    if passed is not None:
        passes = passed[row]
    return AttackAttempts(
        names=names.tolist(),
        presentations=np.bincount(code.reshape(-1), minlength=len(names)),
        accepted=[np.sort(distance[(of_attempt == s) & passes]) for s in range(len(names))],
        missed=np.bincount(of_attempt[~passes], minlength=len(names)),
        rows=row,
        distances=distance,
        species=of_attempt,
    )


def _distances(attacks: Scores, templates: str, fusion: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the row and the distance of each attack attempt; other cells are not read."""
    if are_pairs(attacks):
        values = attacks._distances().astype(np.float64)
        return np.flatnonzero(values == values), values[values == values]
    m = attacks.shape[0]
    row, column = attacks._mate_cells(np.arange(m))
    kept = ~_from_source(attacks, row, column) & ~attacks._excluded(row, column)
    if attacks._has_mask:
        base = attacks._base_rows(row), attacks._base_columns(column)
        kept &= attacks._mask[base] != Mask.IGNORE
    row, column = row[kept], column[kept]
    values = BlockReader(attacks).cells(row, column)
    failed = np.isnan(values)
    if failed.any() and attacks.nan == "raise":
        i = int(np.argmax(failed))
        raise DataError(
            f"of the attack rows against their targets, {counted(int(failed.sum()), 'scores')} "
            f"failed (NaN), the first at row {int(attacks._base_rows(row[i : i + 1])[0])}, column "
            f"{int(attacks._base_columns(column[i : i + 1])[0])}; choose how to treat failed "
            "comparisons: ",
            Argument("nan", "reject"),
            " (as attempts at an infinite distance) or ",
            Argument("nan", "exclude"),
            " (no attempt)",
        )
    if attacks.nan == "reject":
        values = np.where(failed, values.dtype.type(np.inf), values)
    if templates == "multi":
        place = np.arange(len(row)) - np.searchsorted(row, row)
        table = np.full((m, int(place.max(initial=0)) + 1), np.nan, dtype=values.dtype)
        table[row, place] = values
        row, values = np.arange(m), _fused(table, fusion)
    made = values == values
    return row[made], values[made].astype(np.float64)


def _fused(table: np.ndarray, fusion: str) -> np.ndarray:
    """Return each row's scores fused, NaN where there is none."""
    m, k = table.shape
    none = np.zeros(m, dtype=np.int64)
    rows = Block(
        low=0,
        values=table,
        columns=np.arange(k, dtype=np.int64)[None],
        starts=np.array([0, k], dtype=np.int64),
        probe_group=none,
        mate_start=none,
        mate_stop=none + k,
        probe_position=none - 1,
    )
    return rows.fused(fusion).values[:, 0]


def _from_source(attacks: Scores, row: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Return which cells compare an instrument with the template that it was made from."""
    if "source" not in attacks.probe_meta:
        return np.zeros(len(row), dtype=bool)
    source = attacks.probe_meta["source"]
    made_from = np.array([_name(x) for x in source.tolist()], dtype=object)
    made_from[missing_values(source)] = ""
    templates = attacks.gallery_meta.get("template", attacks.gallery_ids)
    names = np.array([_name(x) for x in templates.tolist()], dtype=object)
    return (made_from[row] == names[column]) & (made_from[row] != "")


def _name(value: object) -> str:
    """Return the name of a template as text; a whole number without its point."""
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        value = int(value)
    return str(value).strip()
