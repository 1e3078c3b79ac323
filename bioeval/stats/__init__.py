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

from bioeval.base.lazy import Offered, lazy_names


def _of_studies() -> Offered:
    from bioeval.base.offers import clashes_of, doors

    homes = {}
    for study in doors().values():
        for home, names in study.stats.items():
            homes |= dict.fromkeys(names, home)
    return Offered(homes, {}, clashes_of("be.stats"))


__getattr__, __dir__ = lazy_names(__spec__, offered=_of_studies)
