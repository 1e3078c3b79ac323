"""Rates by demographic group."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View

STUDY = StudyManifest(
    calls={"groups": ("by_group",)},
    commands=(Subcommand("groups", "Evaluate verification by demographic group.", "Look into", 3),),
    examples="""
# Evaluate by a metadata column
bioeval groups scores.npz --by sex
# Add intervals
bioeval groups scores.npz --by country --interval subject-bootstrap
# Evaluate embeddings with their metadata
bioeval groups faces.npz --embeddings dlib128 --labels subject --meta sex=sex --by sex
# Use one threshold; write results and plots
bioeval groups scores.npz --by sex --threshold 0.42 --out groups --plots
# Take the groups of a list of trials from a table of its templates
bioeval groups scores.txt --trials trials.txt --labels templates.csv --kind distance --by sex
""",
    plots=(
        Plot(
            "groups",
            "GroupsDisplay",
            "plots",
            "be.by_group",
            ({"frr": ("group",), "far": ("group", "claimed_group")},),
            {"groups": {}},
            one_system=True,
        ),
    ),
    nodes={"garbe": "groups"},
    views=(View(("groups",), "section"),),
    messages="messages.MESSAGES",
)
