"""The convention behind a published number."""

from bioeval.base.manifest import StudyManifest, Subcommand, View

STUDY = StudyManifest(
    calls={"conventions": ("conventions",)},
    commands=(
        Subcommand("conventions", "Find the convention behind a published number.", "Look into", 8),
    ),
    examples="""
# Evaluate by every reading
bioeval conventions scores.npz
# Find the readings of a published EER
bioeval conventions scores.npz --measure eer --published 8.4
# Find the readings of a published mAP
bioeval conventions reid.npz --measure mean_ap --published 88.40
# Start from another card; write the readings
bioeval conventions reid.npz --measure cmc=1 --card vehicleid --out readings
""",
    nodes={"also": "conventions"},
    views=(View(("conventions",), "section"),),
    messages="messages.MESSAGES",
    needs=("reid",),
)
