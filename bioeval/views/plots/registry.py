"""The registry of plots: the variables, module and file names of each.

Read by :mod:`bioeval.plot`, by ``save_all``, by the page, and by the messages that name the plot
for a result.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Needs = Mapping[str, tuple[str, ...]]

RATES = "bioeval.views.plots.rates"
RANKS = "bioeval.views.plots.ranks"
CURVES = "bioeval.views.plots.curve_plots"
FOLDS = "bioeval.views.plots.folds"
TIME = "bioeval.views.plots.over_time"
SCORES = "bioeval.views.plots.score_plots"
ATTACKS = "bioeval.views.plots.attacks"
CALIBRATION = "bioeval.views.plots.calibration"


@dataclass(frozen=True)
class Plot:
    """One plot, ``be.plot.<name>``."""

    name: str  # of the public function
    display: str  # the name of its display class
    home: str  # the module in which both are defined
    result: str  # the public function whose result it draws
    needs: tuple[Needs, ...] = ()  # variables drawn; the first of several that the data have
    #: The stem of each file that ``save_all`` writes, with the options of the plot.
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    one_system: bool = False  # whether each file shows one system
    #: Variable of the results it is meant for: of a tree, others are drawn only if none has it,
    #: and ``save_all`` draws no others.
    prefer: str = ""

    def load(self) -> Any:
        """Return the display class."""
        return getattr(importlib.import_module(self.home), self.display)


def _by(dim: str, *names: str) -> Needs:
    return {name: (dim,) for name in names}


_DIR: Needs = {"far": ("threshold",), "dir": ("threshold", "rank")}
_FOLD = ("repeat", "fold")

# Files of timelines are by sequence and camera: `bioeval tracking --plots` writes them.
# fmt: off
_TABLE = (
    Plot("roc", "RocDisplay", RATES, "be.verification", (_by("threshold", "far", "gar"),),
         {"roc": {}, "roc-log": {"log": True}}),
    Plot("det", "DetDisplay", RATES, "be.verification", (_by("threshold", "far", "frr"),),
         {"det": {}}, prefer="gar"),
    Plot("error_rates", "ErrorRatesDisplay", RATES, "be.verification",
         (_by("threshold", "far", "frr"),), {"error-rates": {}}, True, "gar"),
    Plot("dir_far", "DirFarDisplay", RATES, "be.open_set", (_DIR,),
         {"dir-far": {}, "dir-far-log": {"log": True}}),
    Plot("dir_surface", "DirSurfaceDisplay", "bioeval.views.plots.ranks", "be.open_set",
         (_DIR,), {"dir-surface": {}}, True),
    Plot("cmc", "CmcDisplay", RANKS, "be.closed_set", (_by("rank", "cms"), _by("rank", "cmc")),
         {"cmc": {}}),
    Plot("gom", "GomDisplay", CURVES, "be.gom", (_by("threshold", "mrep", "mfr"),), {"gom": {}}),
    Plot("precision_recall", "PrecisionRecallDisplay", CURVES, "be.reid",
         (_by("recall_level", "interpolated_precision"),), {"precision-recall": {}}),
    Plot("gallery_size", "GallerySizeDisplay", RANKS, "be.gallery_size",
         ({"cms": ("gallery_size", "rank"), "extrapolated": ("gallery_size",)},),
         {"gallery-size": {}}),
    Plot("gallery_templates", "GalleryTemplatesDisplay", CURVES, "be.gallery_templates",
         (_by("gallery_templates", "frr_at_threshold", "far_at_threshold"),),
         {"gallery-templates": {}}),
    Plot("over_time", "OverTimeDisplay", TIME, "be.over_time",
         (_by("time", "frr", "far", "gallery_subjects"),), {"over-time": {}}, True),
    Plot("ageing", "AgeingDisplay", TIME, "be.ageing", (_by("age", "genuine_mean", "frr"),),
         {"ageing": {}}, True),
    Plot("repeated", "RepeatedDisplay", FOLDS, "be.repeat",
         (_by("rank", "cms_mean"), _by("threshold", "far_mean"), _by("rank", "dir_mean")),
         {"repeated": {}}),
    Plot("folds", "FoldsDisplay", FOLDS, "be.cross_evaluate",
         ({"far": _FOLD, "frr": _FOLD, "train_far_mean": ()},), {"folds": {}}, True),
    Plot("spread", "SpreadDisplay", FOLDS, "be.cross_evaluate", ({"genuine_attempts": _FOLD},),
         {"spread": {}}, True),
    Plot("threshold_study", "ThresholdStudyDisplay", FOLDS, "be.study_threshold",
         ({"fold_far": _FOLD, "fold_frr": _FOLD, "optimistic_far": (), "far_mean": (),
           "frr_mean": ()},), {"threshold_study": {}}, True),
    Plot("assured", "AssuredDisplay", "bioeval.views.plots.folds", "be.study_threshold",
         ({**_by("point", "point_far", "point_far_high", "point_frr"),
           "assured_threshold": ()},), {"assured": {}}, True),
    Plot("extrapolated_far", "ExtrapolatedFarDisplay", "bioeval.views.plots.folds",
         "be.extrapolate_far", (_by("model", "model_far_high", "measured_far"),),
         {"extrapolated_far": {}}, True),
    Plot("zoo", "ZooDisplay", "bioeval.views.plots.subjects", "be.zoo",
         (_by("subject", "genuine_mean", "impostor_mean", "animal_of_subject"),),
         {"zoo": {}}, True),
    Plot("lorenz", "LorenzDisplay", CURVES, "be.zoo",
         (_by("subject", "fr", "fa_as_probe", "fa_as_claimed"),), {"lorenz": {}}),
    Plot("groups", "GroupsDisplay", "bioeval.views.plots.subjects", "be.by_group",
         ({"frr": ("group",), "far": ("group", "claimed_group")},
          {"frr": ("group",), "far": ("group",)}), {"groups": {}}, True),
    Plot("worst_pairs", "WorstPairsDisplay", "bioeval.views.plots.worst_pairs", "be.worst_pairs",
         (_by("pair", "comparison", "probe_label", "gallery_label", "score", "label_error"),),
         {"worst-pairs": {}}),
    Plot("attack_det", "AttackDetDisplay", "bioeval.views.plots.attacks", "be.vulnerability",
         ({"iapar_of_species": ("threshold", "species"), "far": ("threshold",),
           "frr": ("threshold",)},), {"attack-det": {}}, True),
    Plot("iapar", "IaparDisplay", "bioeval.views.plots.attacks", "be.vulnerability",
         ({"iapar_of_species": ("threshold", "species"), "far": ("threshold",),
           "frr": ("threshold",)},), {"iapar": {}}, True),
    Plot("attack_scores", "AttackScoresDisplay", "bioeval.views.plots.attacks",
         "be.vulnerability", (_by("threshold", "ga", "fa", "ia"),), {"attack-scores": {}}, True),
    Plot("epc", "EpcDisplay", CURVES, "be.epc", (_by("alpha", "hter", "threshold"),), {"epc": {}}),
    Plot("epsc", "EpscDisplay", CURVES, "be.epsc",
         (_by("omega", "hter_w", "iapar_pooled"),), {"epsc": {}}),
    Plot("error_discard", "ErrorDiscardDisplay", CURVES, "be.error_discard",
         ({"frr": ("fraction",), "pauc": ()},), {"error-discard": {}}),
    Plot("pad_det", "PadDetDisplay", ATTACKS, "be.pad", (_by("threshold", "apcer", "bpcer"),),
         {"pad-det": {}}),
    Plot("apcer", "ApcerDisplay", ATTACKS, "be.pad",
         ({"apcer_of_species": ("threshold", "species"), "bpcer": ("threshold",)},),
         {"apcer": {}}, True),
    Plot("attack_potential", "AttackPotentialDisplay", ATTACKS, "be.morphing",
         ({"map": ("attempts", "systems")},), {"attack-potential": {}}, True),
    Plot("timeline", "TimelineDisplay", "bioeval.mot.timeline", "be.tracking",
         (_by("spell", "spell_target"),)),
    Plot("hota", "HotaDisplay", CURVES, "be.tracking",
         (_by("localisation_threshold", "hota_by_threshold", "deta_by_threshold",
              "assa_by_threshold"),), {"hota": {}}),
    Plot("reliability", "ReliabilityDisplay", CALIBRATION, "be.calibration",
         ({"cllr": (), "pav_llr": ("pav_block",)},), {"reliability": {}}),
    Plot("tippett", "TippettDisplay", CALIBRATION, "be.calibration",
         (_by("llr", "genuine_above", "impostor_above"),), {"tippett": {}}),
    Plot("empirical_cross_entropy", "EmpiricalCrossEntropyDisplay", CALIBRATION, "be.calibration",
         (_by("prior_log_odds", "min_ece"),), {"empirical-cross-entropy": {}}),
    Plot("bayes_error", "BayesErrorDisplay", CALIBRATION, "be.calibration",
         (_by("prior_log_odds", "min_bayes_error"),), {"bayes-error": {}}),
    Plot("score_distributions", "ScoreDistributionsDisplay", SCORES, "be.Scores", (),
         {"score-distributions": {}}),
    Plot("matrix", "MatrixDisplay", SCORES, "be.Scores", (), {"matrix": {}}),
    Plot("ranked_lists", "RankedListsDisplay", "bioeval.views.plots.score_plots", "be.Scores"),
    Plot("row_walk", "RowWalkDisplay", "bioeval.views.plots.score_plots", "be.explain"),
)
# fmt: on

PLOTS = {plot.name: plot for plot in _TABLE}
