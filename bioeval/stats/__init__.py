"""Confidence intervals of rates, by attempts and by subjects.

============================= ===============================================================
independent attempts          :func:`wilson`, :func:`clopper_pearson`
over folds                    :func:`nadeau_bengio`
sample size                   :func:`rule_of_3`, :func:`rule_of_30`, :func:`zero_error_bound`
counts by person              :func:`people_counts`, for rates of your own
============================= ===============================================================

``docs/uncertainty.md`` says which to use. Results have intervals on request:
``be.verification(scores, interval="people")``; an :class:`IntervalMethod` in place of the name has
another confidence, and for ``"subject-bootstrap"`` another number of replicates or seed.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
