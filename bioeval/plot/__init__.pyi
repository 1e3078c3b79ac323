"""The public names, and where each is."""

from .attack_plots import (
    ApcerDisplay as ApcerDisplay,
    AttackDetDisplay as AttackDetDisplay,
    AttackScoresDisplay as AttackScoresDisplay,
    IaparDisplay as IaparDisplay,
    PadDetDisplay as PadDetDisplay,
    apcer as apcer,
    attack_det as attack_det,
    attack_scores as attack_scores,
    iapar as iapar,
    pad_det as pad_det,
)
from .calibration_plots import (
    BayesErrorDisplay as BayesErrorDisplay,
    EmpiricalCrossEntropyDisplay as EmpiricalCrossEntropyDisplay,
    ReliabilityDisplay as ReliabilityDisplay,
    TippettDisplay as TippettDisplay,
    bayes_error as bayes_error,
    empirical_cross_entropy as empirical_cross_entropy,
    reliability as reliability,
    tippett as tippett,
)
from .files import save as save, save_all as save_all
from .fold_plots import (
    FoldsDisplay as FoldsDisplay,
    RepeatedDisplay as RepeatedDisplay,
    SpreadDisplay as SpreadDisplay,
    folds as folds,
    repeated as repeated,
    spread as spread,
)
from .group_plots import GroupsDisplay as GroupsDisplay, groups as groups
from .plot_style import style as style
from .quality_plots import (
    ErrorDiscardDisplay as ErrorDiscardDisplay,
    error_discard as error_discard,
)
from .rank_plots import (
    CmcDisplay as CmcDisplay,
    GallerySizeDisplay as GallerySizeDisplay,
    cmc as cmc,
    gallery_size as gallery_size,
)
from .ranking_plots import RankingDisplay as RankingDisplay, ranking as ranking
from .rate_plots import (
    DetDisplay as DetDisplay,
    DirFarDisplay as DirFarDisplay,
    ErrorRatesDisplay as ErrorRatesDisplay,
    RocDisplay as RocDisplay,
    det as det,
    dir_far as dir_far,
    error_rates as error_rates,
    roc as roc,
)
from .reid_plots import (
    GomDisplay as GomDisplay,
    PrecisionRecallDisplay as PrecisionRecallDisplay,
    RankedListsDisplay as RankedListsDisplay,
    gom as gom,
    precision_recall as precision_recall,
    ranked_lists as ranked_lists,
)
from .score_plots import (
    MatrixDisplay as MatrixDisplay,
    ScoreDistributionsDisplay as ScoreDistributionsDisplay,
    matrix as matrix,
    score_distributions as score_distributions,
)
from .threshold_plots import (
    AssuredDisplay as AssuredDisplay,
    EpcDisplay as EpcDisplay,
    ThresholdStudyDisplay as ThresholdStudyDisplay,
    assured as assured,
    epc as epc,
    threshold_study as threshold_study,
)
from .tracking_plots import (
    HotaDisplay as HotaDisplay,
    hota as hota,
)
from .worst_pair_plots import WorstPairsDisplay as WorstPairsDisplay, worst_pairs as worst_pairs
from .zoo_plots import ZooDisplay as ZooDisplay, zoo as zoo
