"""Cases of this study for tests of all studies."""

from typing import Any

from systems import scores

import bioeval as be

OTHER_CALLS = {"calibration": "takes log-likelihood ratios alone"}


def ratios(i: int) -> Any:
    return be.calibration(be.Calibrator().fit_transform(scores(i)))


PLOTS = dict.fromkeys(("reliability", "tippett", "empirical_cross_entropy", "bayes_error"), ratios)
