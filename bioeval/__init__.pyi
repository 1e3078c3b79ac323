"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval import datasets as datasets, partition as partition, plot as plot, stats as stats
from bioeval.base.errors import (
    BioevalError as BioevalError,
    BioevalWarning as BioevalWarning,
    CardError as CardError,
    CheckpointError as CheckpointError,
    DataError as DataError,
    EngineError as EngineError,
    FrozenError as FrozenError,
    MergeError as MergeError,
    ProtocolError as ProtocolError,
)
from bioeval.base.version import __version__ as __version__
from bioeval.evaluation.all_tasks import evaluate as evaluate
from bioeval.evaluation.claim_scores import claim_scores as claim_scores
from bioeval.evaluation.identification import (
    closed_set as closed_set,
    open_set as open_set,
    ranks as ranks,
)
from bioeval.evaluation.rates_at import at as at
from bioeval.evaluation.verification_task import verification as verification
from bioeval.protocol import Protocol as Protocol
from bioeval.results.measure import Measure as Measure
from bioeval.results.scalar import scalar as scalar
from bioeval.scores.formats import load as load, save as save
from bioeval.scores.image_names import parse_names as parse_names
from bioeval.scores.matrix import Scores as Scores
from bioeval.scores.pairs import PairScores as PairScores
from bioeval.scores.simulation.scores_of_people import (
    simulate as simulate,
    simulate_embeddings as simulate_embeddings,
)
from bioeval.scores.top_k import TopKScores as TopKScores
from bioeval.studies.assurance.assured import check_claim as check_claim
from bioeval.studies.attacks.morphing import morphing as morphing
from bioeval.studies.attacks.pad import pad as pad
from bioeval.studies.attacks.vulnerability import vulnerability as vulnerability
from bioeval.studies.calibration.calibration import calibration as calibration
from bioeval.studies.calibration.calibrator import Calibrator as Calibrator
from bioeval.studies.check.check_data import check_data as check_data
from bioeval.studies.compare.compare import compare as compare
from bioeval.studies.compare.leaderboard import leaderboard as leaderboard
from bioeval.studies.conventions.conventions import conventions as conventions
from bioeval.studies.epc.epc import epc as epc, epsc as epsc
from bioeval.studies.exam.exam import exam as exam
from bioeval.studies.explain.explain import explain as explain, step_by_step as step_by_step
from bioeval.studies.folds.cross_evaluate import cross_evaluate as cross_evaluate
from bioeval.studies.folds.repeat import repeat as repeat
from bioeval.studies.folds.scorers import eer_scorer as eer_scorer, make_scorer as make_scorer
from bioeval.studies.fusion.cohorts import read_cohort as read_cohort
from bioeval.studies.fusion.fusion import Fusion as Fusion, fuse as fuse
from bioeval.studies.fusion.normalise import normalise as normalise
from bioeval.studies.galleries.gallery_size import gallery_size as gallery_size
from bioeval.studies.galleries.gallery_templates import gallery_templates as gallery_templates
from bioeval.studies.groups.gaps import compare_groups as compare_groups
from bioeval.studies.groups.groups import by_group as by_group
from bioeval.studies.lists.results import top_k as top_k
from bioeval.studies.page.page import report as report
from bioeval.studies.planning.planned_run import plan_run as plan_run
from bioeval.studies.planning.sample_size import sample_size as sample_size
from bioeval.studies.planning.workload import workload as workload
from bioeval.studies.quality.error_discard import error_discard as error_discard
from bioeval.studies.reid.reid import apply_convention as apply_convention, gom as gom, reid as reid
from bioeval.studies.sites.protocol_tally import Tally as Tally
from bioeval.studies.sites.tally import tally as tally
from bioeval.studies.summaries.summaries import summaries as summaries
from bioeval.studies.summaries.summary import summary as summary
from bioeval.studies.thresholds.judged_threshold import judge_threshold as judge_threshold
from bioeval.studies.thresholds.threshold_study import study_threshold as study_threshold
from bioeval.studies.tracking.check import check_tracks as check_tracks
from bioeval.studies.tracking.trackers import compare_trackers as compare_trackers
from bioeval.studies.tracking.tracking import tracking as tracking
from bioeval.studies.training.meter import Meter as Meter
from bioeval.studies.training.pair_meter import PairMeter as PairMeter
from bioeval.studies.view_pairs.by_view import by_view as by_view
from bioeval.studies.worst_pairs.worst_pairs import worst_pairs as worst_pairs
from bioeval.studies.zoo.zoo import zoo as zoo
from bioeval.views.frames import to_frame as to_frame
from bioeval.views.messages import messages as messages
from bioeval.views.show import show as show, to_latex as to_latex, to_markdown as to_markdown

check = check_data
groups = by_group
plan = plan_run
threshold = study_threshold
