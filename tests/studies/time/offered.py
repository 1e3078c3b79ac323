"""What the tests of the whole take of this study."""

import numpy as np
from systems import scores, square, with_meta

import bioeval as be
from bioeval.studies.time.over_time import AGEING, OVER_TIME

CALLS = {"over_time": lambda s: be.over_time(s, [1, 2, 3, 5], threshold="eer")}
OTHER_CALLS = {"ageing": "describes the values of scores"}


def times(of: be.Scores) -> be.Scores:
    days = np.arange(len(of.probe_labels))
    return with_meta(of, seen_at=days, enrolled_at=days)


PLOTS = {
    "over_time": lambda i: be.over_time(times(scores(i)), 5),
    "ageing": lambda i: be.ageing(times(scores(i)), 4, replicates=100),
}
VARIABLES = {
    "over time": (
        lambda: be.over_time(times(square()), 2, interval="subject-bootstrap", replicates=100),
        OVER_TIME,
    ),
    "ageing": (lambda: be.ageing(times(square()), 2, replicates=100), AGEING),
}
