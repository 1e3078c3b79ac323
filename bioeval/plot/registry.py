"""What each plot draws: its variables, and the files that ``save_all`` writes of it.

Read by ``save_all``, by the page, and by the messages that name the plot for a result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: The dimensions of each variable that a plot cannot do without.
Needs = Mapping[str, tuple[str, ...]]


def along(dim: str, *names: str) -> Needs:
    """Return the needs of a plot of variables along one dimension."""
    return dict.fromkeys(names, (dim,))


@dataclass(frozen=True, eq=False)
class Plot:
    """One plot, ``be.plot.<name>``."""

    name: str
    result: str  # the public function whose result it draws
    needs: tuple[Needs, ...] = ()  # variables drawn; the first of several that the data have
    #: The stem of each file that ``save_all`` writes, with the options of the plot.
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    one_system: bool = False  # whether each file shows one system
    images: bool = False  # whether it takes `images` and `image_folder`
    #: Variable of the results it is meant for: of a tree, others are drawn only if none has it,
    #: and ``save_all`` draws no others.
    prefer: str = ""


_DIR: Needs = {"far": ("threshold",), "dir": ("threshold", "rank")}
_FOLD = ("repeat", "fold")
_OVER_SPECIES: Needs = {
    "iapar_of_species": ("threshold", "species"),
    "far": ("threshold",),
    "frr": ("threshold",),
}

_ALL = (
    Plot(
        "roc",
        "be.verification",
        (along("threshold", "far", "gar"),),
        {"roc": {}, "roc-log": {"log": True}},
    ),
    Plot("det", "be.verification", (along("threshold", "far", "frr"),), {"det": {}}, prefer="gar"),
    Plot(
        "error_rates",
        "be.verification",
        (along("threshold", "far", "frr"),),
        {"error-rates": {}},
        one_system=True,
        prefer="gar",
    ),
    Plot("dir_far", "be.open_set", (_DIR,), {"dir-far": {}, "dir-far-log": {"log": True}}),
    Plot("cmc", "be.closed_set", (along("rank", "cms"), along("rank", "cmc")), {"cmc": {}}),
    Plot("score_distributions", "be.Scores", (), {"score-distributions": {}}),
    Plot("matrix", "be.Scores", (), {"matrix": {}}),
    Plot("attack_det", "be.vulnerability", (_OVER_SPECIES,), {"attack-det": {}}, one_system=True),
    Plot("iapar", "be.vulnerability", (_OVER_SPECIES,), {"iapar": {}}, one_system=True),
    Plot(
        "attack_scores",
        "be.vulnerability",
        (along("threshold", "ga", "fa", "ia"),),
        {"attack-scores": {}},
        one_system=True,
    ),
    Plot("pad_det", "be.pad", (along("threshold", "apcer", "bpcer"),), {"pad-det": {}}),
    Plot(
        "apcer",
        "be.pad",
        ({"apcer_of_species": ("threshold", "species"), "bpcer": ("threshold",)},),
        {"apcer": {}},
        one_system=True,
    ),
    Plot(
        "reliability",
        "be.calibration",
        ({"cllr": (), "pav_llr": ("pav_block",)},),
        {"reliability": {}},
    ),
    Plot(
        "tippett",
        "be.calibration",
        (along("llr", "genuine_above", "impostor_above"),),
        {"tippett": {}},
    ),
    Plot(
        "empirical_cross_entropy",
        "be.calibration",
        (along("prior_log_odds", "min_ece"),),
        {"empirical-cross-entropy": {}},
    ),
    Plot(
        "bayes_error",
        "be.calibration",
        (along("prior_log_odds", "min_bayes_error"),),
        {"bayes-error": {}},
    ),
    Plot(
        "ranking",
        "be.compare",
        ({"rank_low": ("system", "measure"), "value": ("system", "measure")},),
        {"ranking": {}},
        one_system=True,
    ),
    Plot("epc", "be.epc", (along("alpha", "hter", "threshold"),), {"epc": {}}),
    Plot(
        "repeated",
        "be.repeat",
        (along("rank", "cms_mean"), along("threshold", "far_mean"), along("rank", "dir_mean")),
        {"repeated": {}},
    ),
    Plot(
        "folds",
        "be.cross_evaluate",
        ({"far": _FOLD, "frr": _FOLD, "train_far_mean": ()},),
        {"folds": {}},
        one_system=True,
    ),
    Plot(
        "spread",
        "be.cross_evaluate",
        (
            {"genuine_attempts": _FOLD},
            {"genuine_attempts": ("partition",)},
            {"attempts": ("partition",)},
        ),
        {"spread": {}},
        one_system=True,
    ),
    Plot(
        "gallery_size",
        "be.gallery_size",
        ({"cms": ("gallery_size", "rank")},),
        {"gallery-size": {}},
    ),
    Plot(
        "groups",
        "be.by_group",
        (
            {"frr": ("group",), "far": ("group", "claimed_group")},
            {"frr": ("group",), "far": ("group",)},
        ),
        {"groups": {}},
        one_system=True,
    ),
    Plot(
        "error_discard",
        "be.error_discard",
        ({"frr": ("fraction",), "pauc": ()},),
        {"error-discard": {}},
    ),
    Plot("ranked_lists", "be.Scores"),
    Plot("gom", "be.gom", (along("threshold", "mrep", "mfr"),), {"gom": {}}),
    Plot(
        "precision_recall",
        "be.reid",
        (along("recall_level", "interpolated_precision"),),
        {"precision-recall": {}},
    ),
    Plot(
        "threshold_study",
        "be.study_threshold",
        (
            {
                "fold_far": _FOLD,
                "fold_frr": _FOLD,
                "optimistic_far": (),
                "far_mean": (),
                "frr_mean": (),
            },
        ),
        {"threshold_study": {}},
        one_system=True,
    ),
    Plot(
        "assured",
        "be.study_threshold",
        ({**along("point", "point_far", "point_far_high", "point_frr"), "assured_threshold": ()},),
        {"assured": {}},
        one_system=True,
    ),
    Plot("timeline", "be.tracking", (along("spell", "spell_target"),)),
    Plot(
        "hota",
        "be.tracking",
        (
            along(
                "localisation_threshold",
                "hota_by_threshold",
                "deta_by_threshold",
                "assa_by_threshold",
            ),
        ),
        {"hota": {}},
    ),
    Plot(
        "worst_pairs",
        "be.worst_pairs",
        (along("pair", "comparison", "probe_label", "gallery_label", "score", "label_error"),),
        {"worst-pairs": {}},
        images=True,
    ),
    Plot(
        "zoo",
        "be.zoo",
        (along("subject", "genuine_mean", "impostor_mean", "animal_of_subject"),),
        {"zoo": {}},
        one_system=True,
    ),
)

PLOTS = {plot.name: plot for plot in _ALL}
