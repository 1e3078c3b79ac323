"""Re-identification: CMC in its conventions, mAP, mINP, and open-world GOM."""

from bioeval.base.manifest import Plot, StudyManifest, Subcommand, View, along

STUDY = StudyManifest(
    calls={"reid": ("gom", "reid")},
    measures="measures.MEASURES",
    commands=(
        Subcommand(
            "gom",
            "Compare systems of open-world re-identification by GOM.",
            "Re-identification and tracking",
            1,
        ),
    ),
    examples="""
# Compare two systems
bioeval gom osnet.npz agw.npz
# Compare three systems; write results and plots
bioeval gom resnet.mat osnet.mat agw.mat --out gom --plots
# Measure mFR on queries of other subjects
bioeval gom osnet.npz --open-queries osnet-of-others.npz
# Name the systems, and add intervals
bioeval gom old.npz new.npz --name before --name after --interval subject-bootstrap
# Use the published code's variant of GOM; print JSON
bioeval gom osnet.npz --variant reference --budget 100 --json
""",
    plots=(
        Plot("ranked_lists", "RankedListsDisplay", "plots", "be.Scores"),
        Plot(
            "gom",
            "GomDisplay",
            "plots",
            "be.gom",
            (along("threshold", "mrep", "mfr"),),
            {"gom": {}},
        ),
        Plot(
            "precision_recall",
            "PrecisionRecallDisplay",
            "plots",
            "be.reid",
            (along("recall_level", "interpolated_precision"),),
            {"precision-recall": {}},
        ),
    ),
    counts={"reid": "tasks", "gom": "tasks"},
    tasks={"reid": "tasks", "gom": "tasks"},
    columns={"camera": "convention"},
    views=(View(("gom",), "section", several=True, named_by="system", needs="queries"),),
    messages="messages.MESSAGES",
)
