"""Numbers of log-likelihood ratios that systems are compared by."""

from typing import Any

from bioeval.base.errors import Argument, ProtocolError
from bioeval.results.measure import Measure
from bioeval.scores.matrix import Scores
from bioeval.studies.calibration.calibration import calibration


def _of_ratios(scores: Scores, name: str, *how: Any) -> float:
    """Return a number that only log-likelihood ratios have."""
    if scores.kind != "llr":
        raise ProtocolError(
            f"{name} is of log-likelihood ratios, and these scores are a {scores.kind}; calibrate "
            f"them first, or give {Argument('kind', 'llr')}"
        )
    return float(calibration(scores, *how)[name].item())


MEASURES = (
    Measure(
        "cllr",
        lambda scores: _of_ratios(scores, "cllr"),
        label="Cllr",
        decimals=4,
        meaning="cost of the log-likelihood ratios (Cllr), in bits",
    ),
    Measure(
        "min_cllr",
        lambda scores: calibration(scores).min_cllr.item(),
        label="min Cllr",
        decimals=4,
        meaning="Cllr after isotonic regression: the least by any monotone map, in bits",
    ),
    Measure(
        "act_dcf",
        lambda scores, prior: _of_ratios(scores, "act_dcf", [prior]),
        label="actual DCF at prior {prior}",
        decimals=4,
        meaning="normalised cost of the decisions at the Bayes threshold of a prior",
        of_prior=True,
    ),
)
