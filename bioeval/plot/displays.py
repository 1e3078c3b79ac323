"""The display of each plot, by the name of its function."""

from __future__ import annotations

from bioeval.plot.attack_plots import (
    ApcerDisplay,
    AttackDetDisplay,
    AttackScoresDisplay,
    IaparDisplay,
    PadDetDisplay,
)
from bioeval.plot.calibration_plots import (
    BayesErrorDisplay,
    EmpiricalCrossEntropyDisplay,
    ReliabilityDisplay,
    TippettDisplay,
)
from bioeval.plot.display import Display
from bioeval.plot.epc_plots import EpcDisplay
from bioeval.plot.fold_plots import FoldsDisplay, RepeatedDisplay, SpreadDisplay
from bioeval.plot.gallery_plots import GallerySizeDisplay
from bioeval.plot.group_plots import GroupsDisplay
from bioeval.plot.quality_plots import ErrorDiscardDisplay
from bioeval.plot.rank_plots import CmcDisplay
from bioeval.plot.ranking_plots import RankingDisplay
from bioeval.plot.rate_plots import DetDisplay, DirFarDisplay, ErrorRatesDisplay, RocDisplay
from bioeval.plot.reid_plots import GomDisplay, PrecisionRecallDisplay, RankedListsDisplay
from bioeval.plot.score_plots import MatrixDisplay, ScoreDistributionsDisplay
from bioeval.plot.threshold_plots import AssuredDisplay, ThresholdStudyDisplay
from bioeval.plot.tracking_plots import HotaDisplay, TimelineDisplay
from bioeval.plot.worst_pair_plots import WorstPairsDisplay
from bioeval.plot.zoo_plots import ZooDisplay

DISPLAYS: dict[str, type[Display]] = {
    "roc": RocDisplay,
    "det": DetDisplay,
    "error_rates": ErrorRatesDisplay,
    "dir_far": DirFarDisplay,
    "cmc": CmcDisplay,
    "score_distributions": ScoreDistributionsDisplay,
    "matrix": MatrixDisplay,
    "attack_det": AttackDetDisplay,
    "iapar": IaparDisplay,
    "attack_scores": AttackScoresDisplay,
    "pad_det": PadDetDisplay,
    "apcer": ApcerDisplay,
    "reliability": ReliabilityDisplay,
    "tippett": TippettDisplay,
    "empirical_cross_entropy": EmpiricalCrossEntropyDisplay,
    "bayes_error": BayesErrorDisplay,
    "ranking": RankingDisplay,
    "epc": EpcDisplay,
    "repeated": RepeatedDisplay,
    "folds": FoldsDisplay,
    "spread": SpreadDisplay,
    "gallery_size": GallerySizeDisplay,
    "groups": GroupsDisplay,
    "error_discard": ErrorDiscardDisplay,
    "ranked_lists": RankedListsDisplay,
    "gom": GomDisplay,
    "precision_recall": PrecisionRecallDisplay,
    "threshold_study": ThresholdStudyDisplay,
    "assured": AssuredDisplay,
    "timeline": TimelineDisplay,
    "hota": HotaDisplay,
    "worst_pairs": WorstPairsDisplay,
    "zoo": ZooDisplay,
}
