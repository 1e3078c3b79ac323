"""One row of a matrix, comparison by comparison."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View

STUDY = StudyManifest(
    calls={"explain": ("explain", "step_by_step")},
    commands=(
        Subcommand(
            "explain", "Explain which counters each comparison of a row adds to.", "Look into", 1
        ),
    ),
    examples="""
# Explain one row at the EER threshold
bioeval explain scores.npz --probe 17
# Draw a row at a threshold
bioeval explain scores.npz --probe 17 --threshold 0.4 --plot row.png
# Count every row of a small matrix
bioeval explain tiny.npy --labels people.csv --step-by-step
# Explain a query of re-identification
bioeval explain reid.npz --probe 3 --protocol market1501
# Explain one claim; print JSON
bioeval explain scores.npz --probe 17 --claim s4 --json
# Write the row as an HTML page
bioeval explain scores.npz --probe 17 --report row.html
""",
    not_options={
        "explain": {"--far": "--threshold far=X, such as --threshold far=0.001, chooses by a FAR"}
    },
    plots=(Plot("row_walk", "RowWalkDisplay", "plots", "be.explain"),),
    hooks={"report_results": "command.ExplainedRows"},
    views=(
        View((), "section", of="RowExplanation"),
        View((), "steps_section", of="StepByStep"),
    ),
    needs=("reid",),
)
