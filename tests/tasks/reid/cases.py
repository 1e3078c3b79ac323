"""Cases of this study for tests of all studies."""

import numpy as np
from systems import queries, scores

import bioeval as be

CALLS = {
    "reid": lambda s: be.reid(s, thresholds=[-1.0, 1.0, 3.0], per_query=True),
    "gom": lambda s: be.gom(s, budget=10),
}
UNTIED = {
    "reid": lambda s: be.reid(s, ties="pessimistic"),
    "gom": lambda s: be.gom(s, budget=10, ties="pessimistic"),
}
TURNED = {"reid": lambda s: be.reid(s, thresholds=[-3.0, -1.0, 1.0], per_query=True)}


def lists() -> be.Scores:
    rng = np.random.default_rng(0)
    return be.Scores(rng.random((4, 12)), [1, 2, 3, 9], np.repeat([1, 2, 3], 4))


PLOTS = {
    "gom": lambda i: be.gom(scores(i), convention="viper"),
    "precision_recall": lambda i: be.reid(scores(i), "viper"),
    "ranked_lists": lambda i: lists(),
}
VARIABLES = {
    "re-identification": lambda: be.reid(
        queries(), per_query=True, rank_k=3, interval="subject-bootstrap"
    ),
    "GOM": lambda: be.gom(
        queries(),
        per_query=True,
        interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100),
    ),
}
