"""The public names, and where each is."""

from .auc import delong as delong
from .binomial import (
    clopper_pearson as clopper_pearson,
    exact_lower as exact_lower,
    exact_upper as exact_upper,
    rule_of_3 as rule_of_3,
    rule_of_30 as rule_of_30,
    wilson as wilson,
    zero_error_bound as zero_error_bound,
)
from .bootstrap import (
    QuadraticForms as QuadraticForms,
    SubjectMeans as SubjectMeans,
    bilinear_forms as bilinear_forms,
    linear_forms as linear_forms,
    mansfield_wayman as mansfield_wayman,
    ratio as ratio,
    subject_bootstrap as subject_bootstrap,
)
from .effective_number import (
    drawn_variance as drawn_variance,
    effective_trials as effective_trials,
    korn_graubard as korn_graubard,
    largest_limits as largest_limits,
    sum_limits as sum_limits,
)
from .error_curves import (
    CurveMeasure as CurveMeasure,
    ErrorCurve as ErrorCurve,
    curve_measures as curve_measures,
    least_costs as least_costs,
)
from .identification import (
    FEWEST as FEWEST,
    NewPeople as NewPeople,
    identification_replicates as identification_replicates,
)
from .jackknife import (
    AttemptsOfEach as AttemptsOfEach,
    groups_of_people as groups_of_people,
    jackknife_limits as jackknife_limits,
    student_limits as student_limits,
)
from .limits import by_subject as by_subject
from .options import METHODS as METHODS, IntervalOptions as IntervalOptions, Limits as Limits
from .over_folds import RepeatedMean as RepeatedMean, nadeau_bengio as nadeau_bengio
from .replicates import Interval as Interval, open_limits as open_limits, quantiles as quantiles
from .simultaneous import (
    DRAWS as DRAWS,
    Differences as Differences,
    drawn_deviations as drawn_deviations,
    jackknife_errors as jackknife_errors,
    letter_sets as letter_sets,
    letters_of as letters_of,
    normal_draws as normal_draws,
)
from .verification import (
    ErrorColumns as ErrorColumns,
    Replicates as Replicates,
    limits_at_threshold as limits_at_threshold,
    limits_of_measures as limits_of_measures,
)
