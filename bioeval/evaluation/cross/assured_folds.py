"""Assured thresholds in folds: found on the training part, judged on the test part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bioeval.base.errors import counted
from bioeval.base.progress import report, stage
from bioeval.base.random import RandomState
from bioeval.evaluation.assured import Assured, assured_threshold, check_assurance
from bioeval.scores.matrix import Scores
from bioeval.stats.options import REPLICATES, IntervalOptions
from bioeval.tallies.judged import counted_at
from bioeval.tallies.threshold_rules import ChosenThreshold, Rule

#: Rates at the assured threshold, and before their names and counts.
RATES, ASSURED = ("far", "frr"), "assured_"


@dataclass(frozen=True)
class Assurance:
    """A FAR to be kept, with what confidence, and the rule by which its limit is found."""

    target: float
    confidence: float
    rule: str
    interval: IntervalOptions

    @classmethod
    def parse(
        cls,
        assure: float | None,
        assurance: str,
        rule: Rule,
        replicates: int = REPLICATES,
        random_state: RandomState = 0,
    ) -> Assurance | None:
        """Return the assurance that the options ask for; None without `assure`."""
        if assure is None:
            return None
        confidence = check_assurance(assure, assurance, rule)
        interval = IntervalOptions.parse("subject-bootstrap", confidence, replicates, random_state)
        assert interval is not None
        return cls(rule.values[0], confidence, assurance, interval)

    @property
    def attrs(self) -> dict[str, Any]:
        """The attributes of a result."""
        return {"assure": self.confidence, "assurance": self.rule}


@dataclass(frozen=True)
class AssuredFold:
    """The assured threshold of a fold, and the counts of both parts there."""

    found: Assured
    counts: Mapping[str, int]

    @property
    def defined(self) -> bool:
        """Whether a threshold was promised."""
        return not self.found.reason


@stage("assured thresholds")
def assured_folds(
    parts: Mapping[Any, tuple[Scores | None, Scores | None]],
    assurance: Assurance,
    templates: str,
    fusion: str,
) -> dict[Any, AssuredFold]:
    """Find an assured threshold on each training part, and count both parts at it.

    The gallery of a test part is of other people than that of the training part, so that a
    threshold must hold for new galleries.
    """
    made = {}
    for done, (place, (train, test)) in enumerate(parts.items(), 1):
        found = Assured(reason="the training part has no attempts")
        if train is not None:
            found = assured_threshold(
                train, assurance.target, assurance.confidence, assurance.rule,
                templates=templates, fusion=fusion, new_gallery=True, interval=assurance.interval,
            )  # fmt: skip
        made[place] = AssuredFold(found, _counts(found, train, test, templates, fusion))
        report(done, len(parts))
    return made


def _counts(
    found: Assured, train: Scores | None, test: Scores | None, templates: str, fusion: str
) -> dict[str, int]:
    """Return false accepts, false rejects and attempts of both parts; 0 where none is promised."""
    counts: dict[str, int] = {}
    for prefix, part in (("", test), ("train_", train)):
        fa = fr = genuine = impostor = 0
        if part is not None and not found.reason:
            attempts = counted_at(found.threshold, part, templates, fusion)
            fa, fr = ChosenThreshold(found.threshold, True).counts(attempts)
            genuine, impostor = attempts.genuine_attempts, attempts.impostor_attempts
        counts |= {f"{prefix}fa": fa, f"{prefix}fr": fr, f"{prefix}ga": genuine - fr,
                   f"{prefix}gr": impostor - fa, f"{prefix}genuine_attempts": genuine,
                   f"{prefix}impostor_attempts": impostor}  # fmt: skip
    return counts


def refusals(folds: list[AssuredFold], unit: str) -> list[str]:
    """Return a warning of the folds in which nothing can be promised, with the first reason."""
    reasons = [fold.found.reason for fold in folds if fold.found.reason]
    if not reasons:
        return []
    rates = "the means at assured thresholds are over the others"
    if len(reasons) == len(folds):
        rates = "so no rate at assured thresholds was measured on new people"
    return [
        f"no threshold can be promised in {len(reasons)} of {counted(len(folds), unit + 's')}; "
        f"{rates}; in the first {reasons[0]}"
    ]
