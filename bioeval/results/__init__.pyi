"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.results.actual_costs import actual_costs_above_1 as actual_costs_above_1
from bioeval.results.dataset import (
    Scalars as Scalars,
    Variables as Variables,
    about_attrs as about_attrs,
    along as along,
    attrs_of_data as attrs_of_data,
    build as build,
    decisions as decisions,
    rate as rate,
    task_code as task_code,
    tree_of as tree_of,
)
from bioeval.results.histogram import ScoreHistograms as ScoreHistograms
from bioeval.results.identification import (
    ClosedSetCounts as ClosedSetCounts,
    OpenSetAttempts as OpenSetAttempts,
    OpenSetCounts as OpenSetCounts,
    OpenSetPoints as OpenSetPoints,
)
from bioeval.results.layouts import Layout as Layout, expanded as expanded
from bioeval.results.measure import measures_of_scores as measures_of_scores
from bioeval.results.query_means import (
    MatchCurve as MatchCurve,
    QueryMean as QueryMean,
    QueryMeasures as QueryMeasures,
)
from bioeval.results.saved import read_results as read_results
from bioeval.results.support import (
    ComparedPeople as ComparedPeople,
    KindVerdict as KindVerdict,
    RuleOf as RuleOf,
    support_messages as support_messages,
)
from bioeval.results.threshold_lookup import ResultThresholds as ResultThresholds
from bioeval.results.verification import (
    doubt_of_kind as doubt_of_kind,
    verification_dataset as verification_dataset,
    verification_scalars as verification_scalars,
)
from bioeval.results.words import (
    excluded as excluded,
    in_one_precision as in_one_precision,
    percent as percent,
    threshold_text as threshold_text,
)
