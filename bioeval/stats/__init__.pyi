"""The public names, one line for each: type checkers and the package itself read them here."""

from bioeval.results.layouts import former_names as former_names
from bioeval.stats.agreement import rank_agreement as rank_agreement
from bioeval.stats.auc import auc_jackknife as auc_jackknife, delong as delong
from bioeval.stats.binomial import (
    clopper_pearson as clopper_pearson,
    rule_of_3 as rule_of_3,
    rule_of_30 as rule_of_30,
    wilson as wilson,
    zero_error_bound as zero_error_bound,
)
from bioeval.stats.bootstrap import (
    mansfield_wayman as mansfield_wayman,
    subject_bootstrap as subject_bootstrap,
)
from bioeval.stats.options import METHODS as METHODS, Interval as Interval

# For studies
# isort: split
from bioeval.stats.bootstrap import (
    QuadraticForms as QuadraticForms,
    SubjectMeans as SubjectMeans,
    confidence_limits as confidence_limits,
    linear_forms as linear_forms,
    quantiles as quantiles,
    ratio as ratio,
    sample_of as sample_of,
    subject_weights as subject_weights,
    weight_columns as weight_columns,
)
from bioeval.stats.identification import (
    identification_replicates as identification_replicates,
    rank_one_decisions as rank_one_decisions,
)
from bioeval.stats.limits import (
    STEMS as STEMS,
    by_subject as by_subject,
    with_intervals as with_intervals,
)
from bioeval.stats.options import (
    IntervalOptions as IntervalOptions,
    check_confidence as check_confidence,
)
from bioeval.stats.query_means import (
    QuerySubjects as QuerySubjects,
    query_mean_intervals as query_mean_intervals,
)
from bioeval.stats.verification import ErrorColumns as ErrorColumns, Replicates as Replicates

# Of the studies, as their doors offer them; written by scripts/stub.
from bioeval.studies.folds.intervals import (
    RepeatedMean as RepeatedMean,
    nadeau_bengio as nadeau_bengio,
)
