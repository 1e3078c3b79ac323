"""Choosing a threshold, and what to expect of it on new people."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View, along

_FOLD = ("repeat", "fold")
STUDY = StudyManifest(
    calls={
        "threshold_study": ("study_threshold",),
        "judged_threshold": ("judge_threshold",),
    },
    commands=(
        Subcommand(
            "threshold", "Choose a threshold, with the FAR and FRR to expect of it.", "Decide", 1
        ),
    ),
    examples="""
# Find the threshold for a FAR of 0.1 %
bioeval threshold scores.npz --target far=1e-3
# Find a threshold whose FAR is at most 1 % with 95 % confidence
bioeval threshold scores.npz --target far=1% --assure 0.95
# Test on other subjects whether a threshold keeps a FAR of 1 %
bioeval threshold others.npz --at 3.61 --claim far=1%
# Choose the threshold of minDCF on one set of trials, judge it on another
bioeval threshold dev.scores dev.txt --kind similarity --target min-dcf --prior 0.01 \
--on eval.scores eval.txt
# Find it for visits of several tries at all enrolled templates
bioeval threshold visits.npz --target far=5% --templates multi --attempts visit
# Repeat ten folds twenty times; write the study
bioeval threshold scores.npz --target far=1e-3 --folds 10 --repeats 20 --out study
# Find the EER threshold of embeddings; print JSON
bioeval threshold faces.npz --embeddings dlib128 --labels subject --target eer --json
""",
    not_options={
        "threshold": {"--far": "--target far=X, such as --target far=0.001, chooses by a FAR"}
    },
    plots=(
        Plot(
            "threshold_study",
            "ThresholdStudyDisplay",
            "plots",
            "be.study_threshold",
            (
                {
                    "fold_far": _FOLD,
                    "fold_frr": _FOLD,
                    "optimistic_far": (),
                    "far_mean": (),
                    "frr_mean": (),
                },
            ),
            {"threshold_study": {}},
            one_system=True,
        ),
        Plot(
            "assured",
            "AssuredDisplay",
            "plots",
            "be.study_threshold",
            (
                {
                    **along("point", "point_far", "point_far_high", "point_frr"),
                    "assured_threshold": (),
                },
            ),
            {"assured": {}},
            one_system=True,
        ),
    ),
    hooks={"report_results": "command.RatesOnNewPeople"},
    nodes={
        "optimistic_far": "threshold_study",
        "dev_far": "judged_threshold",
    },
    views=(
        View(("judged-threshold",), "judged_section"),
        View(("threshold-study",), "section"),
    ),
    messages="messages.MESSAGES",
    needs=("assurance", "folds"),
)
