"""Errors when samples of low quality are discarded."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View

STUDY = StudyManifest(
    calls={"error_discard": ("error_discard",)},
    commands=(
        Subcommand(
            "error-discard",
            "Evaluate errors when samples of low quality are discarded.",
            "Look into",
            4,
        ),
    ),
    examples="""
# Discard by sharpness, at the threshold of a FAR
bioeval error-discard scores.npz --quality sharpness --threshold far=0.001
# Write the results
bioeval error-discard scores.npz --quality size --threshold eer --out d
# Compare two measures of quality
bioeval error-discard scores.npz --quality q1 --quality q2 --threshold eer
""",
    not_options={
        "error-discard": {
            "--far": "--threshold far=X, such as --threshold far=0.001, chooses by a FAR"
        }
    },
    plots=(
        Plot(
            "error_discard",
            "ErrorDiscardDisplay",
            "plots",
            "be.error_discard",
            ({"frr": ("fraction",), "pauc": ()},),
            {"error-discard": {}},
        ),
    ),
    nodes={"pauc": "error_discard"},
    views=(View(("error-discard",), "section", several=True, named_by="quality"),),
    messages="messages.MESSAGES",
)
