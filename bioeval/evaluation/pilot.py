"""What the plan of a test starts from: a pilot at its operating point, or rates assumed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special

from bioeval.base.arguments import as_float64, require_number
from bioeval.base.errors import Argument, DataError, counted
from bioeval.base.random import RandomState
from bioeval.evaluation.verification import verification
from bioeval.scores.blocks import BlockReader, require_subjects
from bioeval.scores.matrix import Scores
from bioeval.stats.planning import Components, assumed, components_of
from bioeval.tallies.counters import gather
from bioeval.tallies.thresholds import to_internal

# Fewer subjects of a pilot with an error say little about the spread between people.
_FEW = 20


@dataclass(frozen=True)
class PlanBasis:
    """What a plan starts from: the figures of a pilot, or those assumed."""

    components: Components
    value: float  # of the measure
    subjects: float = math.inf  # in the pilot
    variance: float | None = None  # of a subject, where templates are those of the pilot
    threshold: float = math.nan
    warnings: Sequence[str] = ()

    def variance_of(self, templates: int) -> float:
        """Variance of the rate of a subject with so many templates."""
        if self.variance is not None:
            return self.variance
        return self.components.subject_variance(templates)


def stated(frr: float | None, icc: float | None, template_icc: float) -> PlanBasis:
    """Return what is assumed in place of a pilot."""
    if frr is None or icc is None:
        missing = Argument("frr") if frr is None else Argument("icc")
        raise DataError(
            f"{missing} is missing; expected a pilot, or the FRR that is expected and the "
            "correlation of two genuine errors of a person (0.1 to 0.3 is usual)"
        )
    rate = require_number("frr", frr, above=0.0, high=0.5)
    between = require_number("icc", icc, low=0.0, high=1.0)
    template = require_number("template_icc", template_icc, low=0.0, high=0.5)
    if between + 2 * template > 1:
        raise DataError(
            f"{Argument('icc')} + 2 {Argument('template_icc')} is {between + 2 * template:g}; "
            "expected at most 1, the whole variance"
        )
    components = assumed(rate, between, template)
    return PlanBasis(components, components.rate)


def of_pilot(
    pilot: Scores,
    measure: str,
    far: float,
    threshold: float | None,
    confidence: float,
    random_state: RandomState,
) -> PlanBasis:
    """Return the figures of a pilot at its operating point."""
    require_subjects(pilot, "a pilot")
    point = _operating_point(pilot, measure, far, threshold, confidence, random_state)
    tables, shared = _errors(pilot, point["threshold"])
    components = components_of(tables, symmetric=shared)
    found, value, variance = len(tables), components.rate, None
    warnings = [*point["warnings"], *_doubts(tables, components)]
    if measure == "eer":
        z = float(scipy.special.ndtri(0.5 + confidence / 2))
        value, variance = point["value"], found * (point["width"] / (2 * z)) ** 2
    return PlanBasis(components, value, found, variance, point["threshold"], warnings)


def _operating_point(
    pilot: Scores,
    measure: str,
    far: float,
    threshold: float | None,
    confidence: float,
    random_state: RandomState,
) -> dict[str, Any]:
    """Return the pilot's threshold; of an EER its value and the width of its interval."""
    if measure == "eer":
        ds = verification(
            pilot, auc=False, interval="subject-bootstrap", confidence=confidence,
            random_state=random_state,
        )  # fmt: skip
        chosen = float(ds["eer_threshold"])
    else:
        ds = verification(pilot, far_targets=[far], thresholds=2, auc=False)
        chosen = float(ds["threshold_at_far"][0])
    remarks = [line for line in str(ds.attrs["warnings"]).split("\n") if line]
    if threshold is not None:
        chosen = require_number("threshold", threshold)
        as_float64("threshold", threshold)
    if math.isnan(chosen):
        raise DataError("the pilot has no threshold: it lacks genuine or impostor attempts")
    point = {"threshold": chosen, "warnings": remarks if threshold is None else []}
    if measure == "eer":
        width = float(ds["eer_interval_high"] - ds["eer_interval_low"])
        point |= {"value": float(ds["eer"]), "width": width}
    return point


def _errors(pilot: Scores, threshold: float) -> tuple[list[np.ndarray], bool]:
    """Return the genuine errors of each subject, and whether the same templates are on both sides.

    An error of (i, j) and of (j, i) is that of one pair, their mean.
    """
    reader = BlockReader(pilot)
    limit = to_internal(np.array([threshold]), pilot.kind)[0]
    shared = bool(np.isin(pilot.probe_ids, pilot.gallery_ids).any())
    found = []
    for block in reader:
        value, row, position = gather(
            block.values, block.own_start, block.own_stop, block.self_position
        )
        row, column = row + block.low, reader.gallery.columns[0, position]
        ids = pilot.probe_ids[row], pilot.gallery_ids[column]
        found.append(np.stack([pilot.codes.probe[row], *ids, value > limit]))
    subject, left, right, wrong = np.concatenate(found, axis=1)
    tables = []
    for who in np.unique(subject):
        mine = subject == who
        sides = [left[mine], right[mine]]
        if shared:
            both = np.unique(np.concatenate(sides))
            places, shape = [np.searchsorted(both, x) for x in sides], (len(both), len(both))
        else:
            indexed = [np.unique(x, return_inverse=True) for x in sides]
            places, shape = [x[1] for x in indexed], tuple(len(x[0]) for x in indexed)  # type: ignore[assignment]
        total, number = np.zeros(shape), np.zeros(shape)
        np.add.at(total, tuple(places), wrong[mine])
        np.add.at(number, tuple(places), 1)
        if shared:
            total, number = total + total.T, number + number.T
        tables.append(np.divide(total, number, out=np.full(shape, np.nan), where=number > 0))
    if len(tables) < 2:
        raise DataError(
            f"the pilot has {counted(len(tables), 'subjects')} with a genuine attempt; the spread "
            "between people needs two or more"
        )
    return tables, shared


def _doubts(tables: list[np.ndarray], components: Components) -> list[str]:
    """Return warnings about a pilot; raise where nothing can be planned from it."""
    wrong = sum(bool(np.nansum(table)) for table in tables)
    if not wrong or components.rate >= 1 or not components.total:
        which = "no genuine error" if not wrong else "nothing but genuine errors"
        raise DataError(
            f"the pilot has {which} at the threshold, which says nothing about their spread; give "
            f"another {Argument('threshold')}, or {Argument('frr')} and {Argument('icc')} in place "
            "of the pilot"
        )
    if wrong < _FEW:
        return [
            f"only {counted(wrong, 'subjects')} of the pilot have a genuine error: the plan is "
            "uncertain, and larger for it"
        ]
    return []
