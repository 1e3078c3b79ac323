"""Cases of this study for tests of all studies."""

from systems import scores, square

import bioeval as be

CALLS = {
    "cross_evaluate": lambda s: be.cross_evaluate(s, be.partition.SubjectKFold(3)),
    "repeat": lambda s: be.repeat(s, be.partition.SubjectKFold(3)),
    "summary": be.summary,
}
UNDER_CARD = {
    "summary": be.summary,
    "repeat": lambda s, card: be.repeat(
        s, [be.partition.ProbesGallery(range(20), range(s.shape[1]))], card
    ),
}
OTHER_CALLS = dict.fromkeys(("eer_scorer", "make_scorer"), "takes labels and predictions")


def parts() -> be.partition.ProbeGallerySplit:
    return be.partition.ProbeGallerySplit(1, n_repeats=8, random_state=0)


PLOTS = {
    "repeated": lambda i: be.repeat(scores(i, 6), parts(), curves=True)["closed_set"],
    "folds": lambda i: be.cross_evaluate(scores(1), be.partition.SubjectKFold(5)),
}
VARIABLES = {
    f"folds, {task}": lambda task=task: be.cross_evaluate(
        square(),
        be.partition.SubjectKFold(2),
        task=task,
        **({} if task == "verification" else {"ranks": [1, 2]}),
    )
    for task in ("verification", "open_set", "closed_set")
}
