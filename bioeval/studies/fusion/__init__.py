"""Fusion and normalisation of the scores of several systems."""

from bioeval.base.manifest import StudyManifest, Subcommand, View

STUDY = StudyManifest(
    calls={"fusion": ("Fusion", "fuse"), "normalise": ("normalise",), "cohorts": ("read_cohort",)},
    commands=(
        Subcommand("fuse", "Fuse systems, and evaluate them with the fused system.", "Decide", 5),
        Subcommand(
            "normalise",
            "Normalise the scores of trials by a cohort.",
            "Decide",
            6,
            "normalise_command",
        ),
    ),
    hooks={"systems": "fusion.require_systems"},
    examples="""
# Fuse two systems on one scale
bioeval fuse face.npz finger.npz --normalise z
# Learn the weights on training folds
bioeval fuse face.npz finger.npz --method logistic --protocol course-kfold
# Write the fused scores
bioeval fuse face.npz finger.npz --normalise min-max --out fused.npz
# Give the weights
bioeval fuse face.npz finger.npz --method weighted --weights face=2 --weights finger=1
# Multiply the scores of both systems
bioeval fuse face.npz finger.npz --normalise min-max --method product --out fused.npz

# Normalise trials by the scores of their recordings against a cohort
bioeval normalise dev.scores dev.txt --kind similarity --cohort dev-cohort.scores
# Take the 4 closest recordings of the cohort for each side, and write the scores
bioeval normalise dev.scores dev.txt --kind similarity --method as --top 4 \
--cohort dev-cohort.scores --save dev-as.txt
# Take those closest to the enrolled recording for both sides
bioeval normalise dev.scores dev.txt --kind similarity --method as --top 4 --select enrolled \
--cohort dev-cohort.scores
""",
    views=(
        View((), "section", of="SideBySide"),
        View((), "normalise_section", of="NormalisedTrials"),
    ),
    messages="messages.MESSAGES",
    needs=("calibration", "compare", "folds"),
)
