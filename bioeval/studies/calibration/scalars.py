"""Costs of log-likelihood ratios."""

import numpy as np

from bioeval.base import Scalar

#: Of log-likelihood ratios that are learnt in folds.
CALIBRATION_POINTS = (
    Scalar(
        "cost of the log-likelihood ratios (Cllr)",
        "bits",
        name="cllr",
        label="Cllr",
        kind="number",
        decimals=4,
        bounds=(0.0, np.inf),
        results=("folds",),
        pooled=False,
    ),
    Scalar(
        "Cllr after isotonic regression: the least by any monotone map",
        "bits",
        name="min_cllr",
        label="min Cllr",
        kind="number",
        decimals=4,
        bounds=(0.0, 1.0),
        results=("folds",),
        pooled=False,
    ),
)
