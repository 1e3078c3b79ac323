"""Options of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bioeval.base.arguments import require_flag
from bioeval.base.errors import ProtocolError
from bioeval.counting.searches import check_max_rank
from bioeval.counting.thresholds import (
    CurveThresholds,
    check_extra,
    check_targets,
    curve_thresholds,
)
from bioeval.protocol.card import CurveSection, Protocol, Report
from bioeval.protocol.tasks import ImpostorProbes
from bioeval.stats.options import IntervalMethod


@dataclass(frozen=True, kw_only=True, eq=False)
class EvaluationOptions:
    """Options of an evaluation in place of the card's; None leaves the card's value.

    `impostors` replaces "auto" of a card, so that all parts of the scores have the same impostors.
    """

    thresholds: np.ndarray | None = None
    n_thresholds: int | None = None
    extra_thresholds: np.ndarray | None = None
    max_rank: int | None = None
    far_targets: np.ndarray | None = None
    frr_targets: np.ndarray | None = None
    auc: bool = True
    per_query: bool = False
    interval: IntervalMethod | None = None
    impostors: ImpostorProbes | None = None
    ranks: tuple[int, ...] | None = None  # the ranks that are reported
    fusion: str | None = None

    def applied_to(self, card: Protocol) -> Protocol:
        """Return a card with the ranks and the fusion rule of the options."""
        if self.ranks is not None:
            if {*card.tasks} <= {"verification"}:
                raise ProtocolError(
                    f"`ranks` applies to identification; protocol {card.name} has none"
                )
            card = replace(card, report=replace(card.report, ranks=self.ranks))
        if self.fusion is None:
            return card
        fused: dict[str, Any] = {}
        if card.verification is not None and "multi" in card.verification.templates:
            fused["verification"] = replace(card.verification, fusion=self.fusion)
        for name, search in (("open_set", card.open_set), ("closed_set", card.closed_set)):
            if search is not None and search.rank_unit == "subject":
                fused[name] = replace(search, fusion=self.fusion)
        if not fused:
            raise ProtocolError(
                f"`fusion` has no effect under protocol {card.name}, which fuses no templates: it "
                'has neither templates = "multi" nor rank_unit = "subject"'
            )
        return replace(card, **fused)

    @classmethod
    def parse(cls, **options: Any) -> EvaluationOptions:
        """Return the options as checked values; a number of thresholds may stand for values."""
        check_max_rank(options.get("max_rank"))
        curve = curve_thresholds(options.pop("thresholds", None), options.pop("n_thresholds", None))
        for name in ("auc", "per_query"):
            if name in options:
                options[name] = require_flag(name, options[name])
        for name in ("far_targets", "frr_targets"):
            if options.get(name) is not None:
                options[name] = check_targets(options[name], name)
        options["extra_thresholds"] = check_extra(options.get("extra_thresholds"))
        is_grid = isinstance(curve, np.ndarray)
        options |= {"thresholds": curve} if is_grid else {"n_thresholds": curve}
        return cls(**options)

    def curve(self, card: Protocol) -> CurveThresholds:
        """Return the thresholds of the curves or their number, by default those of a card.

        None stands for the default grid.
        """
        if self.thresholds is not None:
            return self.thresholds
        if self.n_thresholds is not None:
            return self.n_thresholds
        of_card = card.curve
        if of_card.thresholds is not None:
            return np.array(of_card.thresholds)
        is_default = of_card.n_thresholds == CurveSection.n_thresholds
        return None if is_default else of_card.n_thresholds

    def targets(self, report: Report) -> tuple[np.ndarray, np.ndarray]:
        """Return the FAR and the FRR targets, by default the targets that a card reports."""
        far = report.far_targets if self.far_targets is None else self.far_targets
        frr = report.frr_targets or () if self.frr_targets is None else self.frr_targets
        return check_targets(far), check_targets(frr, "frr_targets")

    def set_among(self, *names: str) -> list[str]:
        """Return the names of the options that are set, in the order of `names`."""
        values = {name: getattr(self, name) for name in names}
        return [name for name, value in values.items() if value is not None and value is not False]

    def refuse_unused(self, card: Protocol) -> None:
        """Raise :class:`ProtocolError` if an option has no effect on the tasks of a card."""
        if self.frr_targets is not None and card.verification is None:
            raise ProtocolError(
                f"`frr_targets` applies to verification only; protocol {card.name} has "
                "no [verification] section"
            )
        if self.far_targets is not None and card.only_retrieval:
            raise ProtocolError(
                f"`far_targets` does nothing under protocol {card.name}: it has only "
                "re-identification; leave it out, or add a section [verification] or [open_set] "
                "to a card of your own"
            )
        if self.n_thresholds is not None and card.only_retrieval:
            raise ProtocolError(
                f"`n_thresholds` does nothing under protocol {card.name}: re-identification has "
                "rates at `thresholds`, their values"
            )
        if self.per_query and card.reid is None:
            raise ProtocolError(
                f"`per_query` applies to re-identification only; protocol {card.name} "
                "has no [reid] section (be.ranks gives the rank of each probe)"
            )
