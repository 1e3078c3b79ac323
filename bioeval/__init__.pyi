"""The public names, and where each is: read by lazy_loader, and by type checkers."""

from . import datasets as datasets, partition as partition, plot as plot, stats as stats
from .base.errors import (
    BioevalError as BioevalError,
    BioevalWarning as BioevalWarning,
    CardError as CardError,
    DataError as DataError,
    ProtocolError as ProtocolError,
)
from .base.options import set_options as set_options
from .base.version import __version__ as __version__
from .evaluation import evaluate as evaluate
from .page.page import report as report
from .protocol.card import Protocol as Protocol
from .results.failures import with_failures as with_failures
from .results.measure import Measure as Measure, scalar as scalar
from .scores.claim_scores import claim_scores as claim_scores
from .scores.formats import load as load, save as save
from .scores.image_names import parse_names as parse_names
from .scores.matrix import Scores as Scores
from .scores.simulation import (
    simulate as simulate,
    simulate_embeddings as simulate_embeddings,
)
from .showing.data import to_frame as to_frame
from .showing.messages import messages as messages
from .showing.show import show as show, to_latex as to_latex, to_markdown as to_markdown
from .stats.aggregate import aggregate as aggregate
from .studies.assurance import check_promise as check_promise
from .studies.check import check_data as check_data
from .studies.compare import compare as compare
from .studies.conventions import conventions as conventions
from .studies.cross_evaluate import cross_evaluate as cross_evaluate
from .studies.explain import explain as explain
from .studies.fuse import fuse as fuse
from .studies.gallery_size import gallery_size as gallery_size
from .studies.groups import by_group as by_group
from .studies.judged_threshold import judge_threshold as judge_threshold
from .studies.repeat import repeat as repeat, summary as summary
from .studies.scorers import eer_scorer as eer_scorer, make_scorer as make_scorer
from .studies.threshold_study import study_threshold as study_threshold
from .studies.tracking import tracking as tracking
from .studies.worst_pairs import worst_pairs as worst_pairs
from .studies.zoo import zoo as zoo
from .tasks.identification import (
    closed_set as closed_set,
    open_set as open_set,
    ranks as ranks,
)
from .tasks.reid.gom import gom as gom, gom_from_curves as gom_from_curves
from .tasks.reid.reid import reid as reid
from .tasks.verification_task import verification as verification
