"""The table of plots: what each draws, where it is defined and what its files are called.

Read by :mod:`bioeval.plot`, by ``save_all``, and by the messages that name the plot for a result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Needs = Mapping[str, tuple[str, ...]]

_RATES: Needs = {"far": ("threshold",), "frr": ("threshold",)}
_ROC: Needs = {"far": ("threshold",), "gar": ("threshold",)}
_DIR: Needs = {"far": ("threshold",), "dir": ("threshold", "rank")}
_GOM: Needs = {"mrep": ("threshold",), "mfr": ("threshold",)}
_BY_SIZE: Needs = {"cms": ("gallery_size", "rank"), "extrapolated": ("gallery_size",)}
_OVER_TIME: Needs = {"frr": ("time",), "far": ("time",), "gallery_subjects": ("time",)}
_AGEING: Needs = {"genuine_mean": ("age",), "frr": ("age",)}
_FOLDS: Needs = {"far": ("repeat", "fold"), "frr": ("repeat", "fold"), "train_far_mean": ()}
_EACH: Needs = {"genuine_attempts": ("repeat", "fold")}
_STUDY: Needs = {"fold_far": ("repeat", "fold"), "fold_frr": ("repeat", "fold"),
                 "optimistic_far": (), "far_mean": (), "frr_mean": ()}  # fmt: skip
_GROUPS: Needs = {"frr": ("group",), "far": ("group", "claimed_group")}
_EPC: Needs = {"hter": ("alpha",), "threshold": ("alpha",)}
_DISCARD: Needs = {"frr": ("fraction",), "pauc": ()}
_HOTA: Needs = {f"{name}_by_threshold": ("localisation_threshold",)
                for name in ("hota", "deta", "assa")}  # fmt: skip
_ZOO: Needs = {"genuine_mean": ("subject",), "impostor_mean": ("subject",),
               "animal_of_subject": ("subject",)}  # fmt: skip
_ERRORS: Needs = {name: ("subject",) for name in ("fr", "fa_as_probe", "fa_as_claimed")}
_PAV: Needs = {"cllr": (), "pav_llr": ("pav_block",)}
_TIPPETT: Needs = {"genuine_above": ("llr",), "impostor_above": ("llr",)}
_ECE: Needs = {"min_ece": ("prior_log_odds",)}
_BAYES: Needs = {"min_bayes_error": ("prior_log_odds",)}


@dataclass(frozen=True)
class Plot:
    """One plot, ``be.plot.<name>``."""

    name: str  # of the public function; its module and its display are named after it
    result: str  # the public function whose result it draws
    needs: tuple[Needs, ...] = ()  # variables drawn; the first of several that the data have
    #: The stem of each file that ``save_all`` writes, with the options of the plot.
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    one_system: bool = False  # whether each file shows one system
    #: Variable of the results it is meant for: of a tree, others are drawn only if none has it,
    #: and ``save_all`` draws no others.
    prefer: str = ""
    module: str = ""  # its module, where that is named otherwise

    @property
    def home(self) -> str:
        """The module in which the function and its display are defined."""
        return self.module or f"bioeval.views.plots.{self.name}"

    @property
    def display(self) -> str:
        """The name of the display class."""
        return self.name.title().replace("_", "") + "Display"


_CALIBRATION = "bioeval.views.plots.calibration"

PLOTS = {
    plot.name: plot
    for plot in (
        Plot("roc", "be.verification", (_ROC,), {"roc": {}, "roc-log": {"log": True}}),
        Plot("det", "be.verification", (_RATES,), {"det": {}}, prefer="gar"),
        Plot("error_rates", "be.verification", (_RATES,), {"error-rates": {}}, True, "gar"),
        Plot("dir_far", "be.open_set", (_DIR,), {"dir-far": {}, "dir-far-log": {"log": True}}),
        Plot("dir_surface", "be.open_set", (_DIR,), {"dir-surface": {}}, True),
        Plot("cmc", "be.closed_set", ({"cms": ("rank",)}, {"cmc": ("rank",)}), {"cmc": {}}),
        Plot("gom", "be.gom", (_GOM,), {"gom": {}}),
        Plot(
            "precision_recall",
            "be.reid",
            ({"interpolated_precision": ("recall_level",)},),
            {"precision-recall": {}},
        ),
        Plot("gallery_size", "be.gallery_size", (_BY_SIZE,), {"gallery-size": {}}),
        Plot("over_time", "be.over_time", (_OVER_TIME,), {"over-time": {}}, True),
        Plot(
            "ageing",
            "be.ageing",
            (_AGEING,),
            {"ageing": {}},
            True,
            module="bioeval.views.plots.over_time",
        ),
        Plot(
            "repeated",
            "be.repeat",
            ({"cms_mean": ("rank",)}, {"far_mean": ("threshold",)}, {"dir_mean": ("rank",)}),
            {"repeated": {}},
        ),
        Plot("folds", "be.cross_evaluate", (_FOLDS,), {"folds": {}}, True),
        Plot("spread", "be.cross_evaluate", (_EACH,), {"spread": {}}, True),
        Plot(
            "threshold_study",
            "be.study_threshold",
            (_STUDY,),
            {"threshold_study": {}},
            True,
            module="bioeval.views.plots.folds",
        ),
        Plot("zoo", "be.zoo", (_ZOO,), {"zoo": {}}, True),
        Plot("lorenz", "be.zoo", (_ERRORS,), {"lorenz": {}}),
        Plot("groups", "be.by_group", (_GROUPS,), {"groups": {}}, True),
        Plot("epc", "be.epc", (_EPC,), {"epc": {}}),
        Plot("error_discard", "be.error_discard", (_DISCARD,), {"error-discard": {}}),
        # Files of timelines are by sequence and camera: `bioeval tracking --plots` writes them.
        Plot(
            "timeline",
            "be.tracking",
            ({"spell_target": ("spell",)},),
            module="bioeval.mot.timeline",
        ),
        Plot("hota", "be.tracking", (_HOTA,), {"hota": {}}),
        *(
            Plot(name, "be.calibration", (needs,), {stem: {}}, module=_CALIBRATION)
            for name, stem, needs in (
                ("reliability", "reliability", _PAV),
                ("tippett", "tippett", _TIPPETT),
                ("empirical_cross_entropy", "empirical-cross-entropy", _ECE),
                ("bayes_error", "bayes-error", _BAYES),
            )
        ),
        Plot("score_distributions", "be.Scores", files={"score-distributions": {}}),
        Plot("matrix", "be.Scores", files={"matrix": {}}),
        Plot("row_walk", "be.explain"),
    )
}
