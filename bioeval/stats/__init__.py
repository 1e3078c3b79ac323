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

from __future__ import annotations

from typing import TYPE_CHECKING

from bioeval.base.lazy import lazy_names

__all__ = [
    "METHODS",
    "Interval",
    "RepeatedMean",
    "auc_jackknife",
    "clopper_pearson",
    "delong",
    "mansfield_wayman",
    "nadeau_bengio",
    "rule_of_3",
    "rule_of_30",
    "subject_bootstrap",
    "wilson",
    "zero_error_bound",
]

if TYPE_CHECKING:
    from bioeval.stats.analytic import mansfield_wayman
    from bioeval.stats.auc import auc_jackknife, delong
    from bioeval.stats.binomial import (
        clopper_pearson,
        rule_of_3,
        rule_of_30,
        wilson,
        zero_error_bound,
    )
    from bioeval.stats.bootstrap import subject_bootstrap
    from bioeval.stats.options import METHODS, Interval
    from bioeval.stats.repeated import RepeatedMean, nadeau_bengio
else:
    _HOMES = {
        "analytic": "mansfield_wayman",
        "auc": "auc_jackknife delong",
        "binomial": "clopper_pearson rule_of_3 rule_of_30 wilson zero_error_bound",
        "bootstrap": "subject_bootstrap",
        "options": "Interval METHODS",
        "repeated": "RepeatedMean nadeau_bengio",
    }
    __getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
