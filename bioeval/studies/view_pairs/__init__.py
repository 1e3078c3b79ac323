"""Recognition across views: rank 1 of each pair of a probe view and a gallery view."""

from bioeval.base.manifest import StudyManifest, Subcommand, View

STUDY = StudyManifest(
    calls={"by_view": ("by_view",)},
    commands=(
        Subcommand(
            "by-view",
            "Evaluate identification by view of the probe and view of the gallery.",
            "Look into",
            9,
        ),
    ),
    examples="""
# Recognise walks of one view in a gallery of another
bioeval by-view gait.npz --view view
# Write the results
bioeval by-view gait.npz --view view --out views
""",
    views=(View(("by-view",), "section"),),
    messages="messages.MESSAGES",
)
