"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.plot.of_scores import (
    matrix as matrix,
    save_all as save_all,
    score_distributions as score_distributions,
)
from bioeval.studies.attacks.plots import (
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
from bioeval.studies.calibration.plots import (
    BayesErrorDisplay as BayesErrorDisplay,
    EmpiricalCrossEntropyDisplay as EmpiricalCrossEntropyDisplay,
    ReliabilityDisplay as ReliabilityDisplay,
    TippettDisplay as TippettDisplay,
    bayes_error as bayes_error,
    empirical_cross_entropy as empirical_cross_entropy,
    reliability as reliability,
    tippett as tippett,
)
from bioeval.studies.compare.ranking_plot import (
    RankingDisplay as RankingDisplay,
    ranking as ranking,
)
from bioeval.studies.epc.plots import (
    EpcDisplay as EpcDisplay,
    epc as epc,
)
from bioeval.studies.explain.plots import RowWalkDisplay as RowWalkDisplay, row_walk as row_walk
from bioeval.studies.folds.plots import (
    FoldsDisplay as FoldsDisplay,
    RepeatedDisplay as RepeatedDisplay,
    SpreadDisplay as SpreadDisplay,
    folds as folds,
    repeated as repeated,
    spread as spread,
)
from bioeval.studies.galleries.plots import (
    GallerySizeDisplay as GallerySizeDisplay,
    gallery_size as gallery_size,
)
from bioeval.studies.groups.plots import GroupsDisplay as GroupsDisplay, groups as groups
from bioeval.studies.quality.plots import (
    ErrorDiscardDisplay as ErrorDiscardDisplay,
    error_discard as error_discard,
)
from bioeval.studies.reid.plots import (
    GomDisplay as GomDisplay,
    PrecisionRecallDisplay as PrecisionRecallDisplay,
    RankedListsDisplay as RankedListsDisplay,
    gom as gom,
    precision_recall as precision_recall,
    ranked_lists as ranked_lists,
)
from bioeval.studies.thresholds.plots import (
    AssuredDisplay as AssuredDisplay,
    ThresholdStudyDisplay as ThresholdStudyDisplay,
    assured as assured,
    threshold_study as threshold_study,
)
from bioeval.studies.tracking.plots import (
    HotaDisplay as HotaDisplay,
    TimelineDisplay as TimelineDisplay,
    hota as hota,
    timeline as timeline,
)
from bioeval.studies.worst_pairs.plots import (
    WorstPairsDisplay as WorstPairsDisplay,
    worst_pairs as worst_pairs,
)
from bioeval.studies.zoo.plots import (
    ZooDisplay as ZooDisplay,
    zoo as zoo,
)
from bioeval.views.plots.files import save as save
from bioeval.views.plots.ranks import (
    CmcDisplay as CmcDisplay,
    cmc as cmc,
)
from bioeval.views.plots.rates import (
    DetDisplay as DetDisplay,
    DirFarDisplay as DirFarDisplay,
    ErrorRatesDisplay as ErrorRatesDisplay,
    RocDisplay as RocDisplay,
    det as det,
    dir_far as dir_far,
    error_rates as error_rates,
    roc as roc,
)
from bioeval.views.plots.score_plots import (
    MatrixDisplay as MatrixDisplay,
    ScoreDistributionsDisplay as ScoreDistributionsDisplay,
)
from bioeval.views.plots.style import style as style
