"""Two systems or more on the same data, with intervals of their differences."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View

STUDY = StudyManifest(
    calls={"compare": ("compare",)},
    commands=(Subcommand("compare", "Compare or rank systems on the same data.", "Decide", 2),),
    examples="""
# Compare two systems
bioeval compare old.npz new.npz
# Rank three systems by two measures
bioeval compare old.npz new.npz others.npz --measure eer --measure auc
# Rank three systems; write a page
bioeval compare old.npz new.npz others.npz --measure eer --report board.html
# Compare distances with similarities
bioeval compare distances.npz similarities.npz --kind-b similarity
# Compare two arrays of one file
bioeval compare both.npz both.npz --scores first --scores-b second --labels subject
# Leave out pairs of the same session
bioeval compare old.npz new.npz --meta session=visit --exclude session
# Compare at one FAR; print JSON
bioeval compare old.npz new.npz --far 0.001 --json
# Compare two systems of re-identification
bioeval compare old.npz new.npz --protocol market1501
# Write results and plots
bioeval compare old.npz new.npz --out comparison --plots
""",
    hooks={"report_results": "command.ComparedSystems"},
    nodes={"value_a": "comparison", "rank_low": "ranking"},
    plots=(
        Plot(
            "ranking",
            "RankingDisplay",
            "ranking_plot",
            "be.compare",
            ({"rank_low": ("system", "measure"), "value": ("system", "measure")},),
            {"ranking": {}},
            one_system=True,
        ),
    ),
    views=(View(("comparison",), "section"), View(("ranking",), "ranking_section")),
    messages="messages.MESSAGES",
    needs=("reid",),
)
