"""Fusion and normalisation of the scores of several systems."""

from bioeval.base.manifest import StudyManifest, Subcommand, View

STUDY = StudyManifest(
    calls={"fusion": ("Fusion", "fuse"), "normalise": ("normalise",)},
    commands=(
        Subcommand("fuse", "Fuse systems, and evaluate them with the fused system.", "Decide", 5),
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
""",
    views=(View((), "section", of="SideBySide"),),
    messages="messages.MESSAGES",
    needs=("calibration", "compare", "folds"),
)
