"""Confidence intervals of rates, by attempts and by subjects.

============================= ===============================================================
independent attempts          :func:`wilson`, :func:`clopper_pearson`, :func:`delong` (AUC)
by subject                    :func:`subject_bootstrap`, :func:`mansfield_wayman`,
                              :func:`auc_jackknife`
over folds                    :func:`nadeau_bengio`
sample size                   :func:`rule_of_3`, :func:`rule_of_30`, :func:`zero_error_bound`
============================= ===============================================================

``docs/uncertainty.md`` says which to use. Results have intervals on request:
``be.verification(scores, interval="subject-bootstrap")``.
"""

from bioeval.base.lazy import NamesByModule, StudyNames, lazy_names, modules_of

#: The public names, by module.
_NAMES: NamesByModule = {
    "bioeval.stats.agreement": ("rank_agreement",),
    "bioeval.stats.auc": ("auc_jackknife", "delong"),
    "bioeval.stats.binomial": (
        "clopper_pearson",
        "rule_of_3",
        "rule_of_30",
        "wilson",
        "zero_error_bound",
    ),
    "bioeval.stats.bootstrap": ("mansfield_wayman", "subject_bootstrap"),
    "bioeval.stats.options": ("METHODS",),
    "bioeval.stats.replicates": ("Interval",),
}

#: What studies use besides, by module.
_FOR_STUDIES: NamesByModule = {
    "bioeval.stats.binomial": (
        "exact_lower",
        "exact_upper",
    ),
    "bioeval.stats.bootstrap": (
        "QuadraticForms",
        "SubjectMeans",
        "bilinear_forms",
        "linear_forms",
        "ratio",
    ),
    "bioeval.stats.error_curves": (
        "CurveMeasure",
        "ErrorCurve",
        "curve_measures",
        "least_costs",
    ),
    "bioeval.stats.effective_number": (
        "drawn_variance",
        "effective_trials",
        "korn_graubard",
        "largest_limits",
        "sum_limits",
    ),
    "bioeval.stats.identification": (
        "FEWEST",
        "NewPeople",
        "identification_replicates",
    ),
    "bioeval.stats.jackknife": (
        "AttemptsOfEach",
        "groups_of_people",
        "jackknife_limits",
        "student_limits",
    ),
    "bioeval.stats.limits": ("by_subject",),
    "bioeval.stats.listed_claims": ("limits_of_claims",),
    "bioeval.stats.listed_searches": ("limits_of_searches",),
    "bioeval.stats.options": (
        "IntervalOptions",
        "Limits",
    ),
    "bioeval.stats.replicates": (
        "open_limits",
        "quantiles",
    ),
    "bioeval.stats.simultaneous": (
        "DRAWS",
        "Differences",
        "drawn_deviations",
        "jackknife_errors",
        "letter_sets",
        "letters_of",
        "normal_draws",
    ),
    "bioeval.stats.verification": (
        "ErrorColumns",
        "Replicates",
        "limits_at_threshold",
        "limits_of_measures",
    ),
}


def _of_studies() -> StudyNames:
    from bioeval.base.studies import manifests

    modules = {}
    for study in manifests().values():
        modules |= modules_of(study.stats)
    return StudyNames(modules)


__getattr__, __dir__ = lazy_names(__name__, _NAMES, _FOR_STUDIES, of_studies=_of_studies)
