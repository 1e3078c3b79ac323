"""The public names, one line for each: type checkers and the package itself read them here."""

from bioeval import (
    datasets as datasets,
    partition as partition,
    plot as plot,
    stats as stats,
)
from bioeval.base.errors import (
    BioevalError as BioevalError,
    BioevalWarning as BioevalWarning,
    CardError as CardError,
    CheckpointError as CheckpointError,
    DataError as DataError,
    EngineError as EngineError,
    MergeError as MergeError,
    ProtocolError as ProtocolError,
)
from bioeval.base.version import __version__ as __version__
from bioeval.evaluation.assured import check_claim as check_claim
from bioeval.evaluation.calibration import calibration as calibration
from bioeval.evaluation.calibrator import Calibrator as Calibrator
from bioeval.evaluation.compare import compare as compare
from bioeval.evaluation.conventions import conventions as conventions
from bioeval.evaluation.cross.evaluation import cross_evaluate as cross_evaluate
from bioeval.evaluation.cross.repeat import repeat as repeat
from bioeval.evaluation.cross.scorers import eer_scorer as eer_scorer, make_scorer as make_scorer
from bioeval.evaluation.cross.threshold_study import study_threshold as study_threshold
from bioeval.evaluation.data_check import check_data as check_data
from bioeval.evaluation.error_discard import error_discard as error_discard
from bioeval.evaluation.evaluate import evaluate as evaluate, summary as summary
from bioeval.evaluation.expected_performance import epc as epc, epsc as epsc
from bioeval.evaluation.explanation import explain as explain
from bioeval.evaluation.extrapolated_far import extrapolate_far as extrapolate_far
from bioeval.evaluation.fusion import Fusion as Fusion, fuse as fuse
from bioeval.evaluation.gallery_size import gallery_size as gallery_size
from bioeval.evaluation.gallery_templates import gallery_templates as gallery_templates
from bioeval.evaluation.groups import by_group as by_group
from bioeval.evaluation.identification import (
    closed_set as closed_set,
    open_set as open_set,
    ranks as ranks,
)
from bioeval.evaluation.morphing import morphing as morphing
from bioeval.evaluation.normalise import normalise as normalise
from bioeval.evaluation.over_time import ageing as ageing, over_time as over_time
from bioeval.evaluation.pad import pad as pad
from bioeval.evaluation.planned_run import plan_run as plan_run
from bioeval.evaluation.protocol_tally import Tally as Tally
from bioeval.evaluation.rates_at import at as at
from bioeval.evaluation.reid import apply_convention as apply_convention, gom as gom, reid as reid
from bioeval.evaluation.sample_size import sample_size as sample_size
from bioeval.evaluation.summaries import summaries as summaries
from bioeval.evaluation.tally import tally as tally
from bioeval.evaluation.verification import verification as verification
from bioeval.evaluation.vulnerability import vulnerability as vulnerability
from bioeval.evaluation.workload import workload as workload
from bioeval.evaluation.worst_pairs import worst_pairs as worst_pairs
from bioeval.evaluation.zoo import zoo as zoo
from bioeval.mot import check_tracks as check_tracks, tracking as tracking
from bioeval.protocol import Protocol as Protocol
from bioeval.results.top_k import top_k as top_k
from bioeval.scores.formats import load as load, save as save
from bioeval.scores.formats.image_names import parse_names as parse_names
from bioeval.scores.matrix import Scores as Scores
from bioeval.scores.pairs import PairScores as PairScores
from bioeval.scores.simulation.scores_of_people import (
    simulate as simulate,
    simulate_embeddings as simulate_embeddings,
)
from bioeval.scores.top_k import TopKScores as TopKScores
from bioeval.views.page.write import report as report
from bioeval.views.show import show as show, to_latex as to_latex, to_markdown as to_markdown

# Other names: those of the commands.
check = check_data
groups = by_group
plan = plan_run
threshold = study_threshold
