"""The sections of a card with folds: how they are drawn, the threshold of each, the intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bioeval.protocol.fields import (
    SEARCHABLE,
    Choice,
    Interval,
    Section,
    card_field,
)

_BY = {
    "subject-folds": Choice(
        "folds of subjects: each is tested once while the others are trained on; no subject is "
        "in two",
        SEARCHABLE,
    ),
    "sample-folds": Choice(
        "folds of templates, with the same number of each subject's, within one; subjects "
        "are on both sides",
        SEARCHABLE,
    ),
    "given-folds": "the folds that come with the data: of each pair, or of each template in the "
    "metadata column that 'column' names",
    "dev-eval": Choice(
        "two parts of subjects, drawn anew in each repeat: development, on which the threshold is "
        "chosen, and evaluation, on which it is judged",
        SEARCHABLE,
    ),
}


@dataclass(frozen=True, kw_only=True)
class Partition(Section):
    """The ``[partition]`` section."""

    doc = (
        "The folds. A training pair has both templates in the training part, a test pair both in "
        "the test part; pairs of one and the other are used by neither."
    )
    by: str = card_field("how the data are divided", choices=_BY)
    folds: int = card_field(
        "the number of folds (not with given folds, nor with dev-eval)",
        interval=Interval(2),
        default=10,
    )
    repeats: int = card_field(
        "how often the folds are drawn (not with given folds)", interval=Interval(1), default=1
    )
    seed: int = card_field("the seed of the draws", interval=Interval(0), default=0)
    test_size: float = card_field(
        "with dev-eval: the proportion of subjects in the evaluation part",
        interval=Interval(0.01, 0.99),
        default=0.5,
    )
    stratify: str | None = card_field(
        "a metadata column of subjects, whose values every fold gets in the same proportion",
        layouts=SEARCHABLE,
        default=None,
    )
    column: str | None = card_field(
        "with given folds: the metadata column that holds the fold of each template",
        layouts=SEARCHABLE,
        default=None,
    )


@dataclass(frozen=True, kw_only=True)
class Threshold(Section):
    """The ``[threshold]`` section."""

    doc = (
        "The threshold of each fold: chosen on its training part, at the scores themselves, and "
        "used unchanged on its test part."
    )
    rule: str = card_field(
        "how it is chosen",
        choices={
            "eer": "where FAR and FRR cross: of the two neighbours, the one with the smaller "
            "max(FAR, FRR)",
            "far": "the smallest FRR with FAR at most 'far'",
            "accuracy": "the largest proportion of correct decisions; of equals the strictest",
            "hter": "the smallest (FAR + FRR) / 2; of equals the strictest",
            "cost": "the least prior c_miss FRR + (1 - prior) c_fa FAR, of 'cost'; of equals the "
            "strictest",
            "fixed": "given: 'value', the same in all folds",
        },
        default="eer",
    )
    far: float | None = card_field(
        "the largest FAR allowed on the training part",
        interval=Interval(0, 1),
        only_if=("rule", "far"),
        default=None,
    )
    cost: tuple[float, ...] | None = card_field(
        "prior, c_miss, c_fa", interval=Interval(0), only_if=("rule", "cost"), default=None
    )
    value: float | None = card_field(
        "the threshold, in the units of the scores", only_if=("rule", "fixed"), default=None
    )

    def as_rule(self) -> Any:
        """Return the rule as :func:`bioeval.cross_evaluate` takes it, with its numbers."""
        numbers = {"far": (self.far,), "cost": self.cost, "fixed": (self.value,)}.get(self.rule)
        return self.rule if numbers is None else (self.rule, *numbers)


@dataclass(frozen=True, kw_only=True)
class Uncertainty(Section):
    """The ``[uncertainty]`` section."""

    doc = "The interval of a rate over folds."
    interval: str = card_field(
        "how it is found",
        choices={
            "nadeau-bengio": "from the spread between folds, corrected for training parts that "
            "overlap (Nadeau and Bengio 2003), with sizes in subjects; a heuristic",
            "subject-bootstrap": "of the pooled rate, by resampling subjects, while each fold "
            "keeps its threshold; verification only",
        },
        default="nadeau-bengio",
    )
    confidence: float = card_field(
        "confidence level of the two-sided interval", interval=Interval(0.5, 0.9999), default=0.95
    )
