"""Cases of this study for tests of all studies."""

from systems import scores, square

import bioeval as be

CALLS = {"study_threshold": lambda s: be.study_threshold(s, "far=0.1", folds=3, random_state=0)}
OTHER_CALLS = {"judge_threshold": "takes two sets of scores"}
PLOTS = {
    "threshold_study": lambda i: be.study_threshold(scores(1), folds=3, repeats=2),
}
VARIABLES = {"threshold study": lambda: be.study_threshold(square(), "eer", folds=2, repeats=1)}
