"""Rates over time, and by the age of templates."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View, along

STUDY = StudyManifest(
    calls={"over_time": ("ageing", "over_time")},
    commands=(
        Subcommand("over-time", "Evaluate over time, and by the age of templates.", "Look into", 5),
    ),
    examples="""
# Evaluate each month at the threshold of a FAR
bioeval over-time scores.npz --bins month --threshold far=0.001
# Evaluate by the age of templates, with intervals
bioeval over-time scores.npz --ages 8 --interval subject-bootstrap
# Use the threshold of a study that was saved
bioeval over-time scores.npz --bins month --threshold-of study
# Count on four processes
bioeval over-time scores.npz --bins month --workers 4
# Name the column of dates, and the limits of the bins
bioeval over-time scores.npz --meta seen_at=date --bins 2020-01-01,2021-01-01,2022-01-01
# Evaluate by the age of templates; write results and plots
bioeval over-time scores.npz --ages 8 --interval subject-bootstrap --out time --plots
# Evaluate re-identification by day
bioeval over-time reid.npz --bins day --reid gom-market1501 --budget 100
""",
    not_options={
        "over-time": {"--far": "--threshold far=X, such as --threshold far=0.001, chooses by a FAR"}
    },
    plots=(
        Plot(
            "over_time",
            "OverTimeDisplay",
            "plots",
            "be.over_time",
            (along("time", "frr", "far", "gallery_subjects"),),
            {"over-time": {}},
            one_system=True,
        ),
        Plot(
            "ageing",
            "AgeingDisplay",
            "plots",
            "be.ageing",
            (along("age", "genuine_mean", "frr"),),
            {"ageing": {}},
            one_system=True,
        ),
    ),
    views=(View(("over-time", "ageing"), "section", several=True),),
    messages="messages.MESSAGES",
    needs=("reid",),
)
