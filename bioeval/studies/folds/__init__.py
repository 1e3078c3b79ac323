"""Folds and repeated partitions: thresholds are chosen and judged on different data."""

from bioeval.base.manifest import Plot, StudyManifest, View, along

_FOLD = ("repeat", "fold")
STUDY = StudyManifest(
    calls={
        "cross_evaluate": ("cross_evaluate",),
        "repeat": ("repeat",),
        "scorers": ("eer_scorer", "make_scorer"),
    },
    plots=(
        Plot(
            "repeated",
            "RepeatedDisplay",
            "plots",
            "be.repeat",
            (along("rank", "cms_mean"), along("threshold", "far_mean"), along("rank", "dir_mean")),
            {"repeated": {}},
        ),
        Plot(
            "folds",
            "FoldsDisplay",
            "plots",
            "be.cross_evaluate",
            ({"far": _FOLD, "frr": _FOLD, "train_far_mean": ()},),
            {"folds": {}},
            one_system=True,
        ),
        Plot(
            "spread",
            "SpreadDisplay",
            "plots",
            "be.cross_evaluate",
            ({"genuine_attempts": _FOLD},),
            {"spread": {}},
            one_system=True,
        ),
    ),
    runners={"partition": "tasks"},
    views=(View((), "section", dim="fold", whole=True),),
    messages="messages.MESSAGES",
    needs=("assurance", "calibration"),
    heading="Decide",
)
