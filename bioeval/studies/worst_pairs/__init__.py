"""The worst pairs: the nearest impostors and the farthest genuine ones."""

from bioeval.base.manifest import Plot, StudyManifest, View, along

STUDY = StudyManifest(
    calls={"worst_pairs": ("worst_pairs",)},
    hooks={"report_results": "command.ReportedPairs", "run_outputs": "command.ListedPairs"},
    plots=(
        Plot(
            "worst_pairs",
            "WorstPairsDisplay",
            "plots",
            "be.worst_pairs",
            (along("pair", "comparison", "probe_label", "gallery_label", "score", "label_error"),),
            {"worst-pairs": {}},
            images=True,
        ),
    ),
    nodes={"label_error": "worst_pairs"},
    views=(View(("worst-pairs",), "section"),),
    needs=("check",),
    heading="Look into",
)
