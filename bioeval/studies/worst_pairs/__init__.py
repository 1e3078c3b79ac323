"""The worst pairs: the nearest impostors and the farthest genuine ones."""

from bioeval.base.study import Plot, Study, View, along

STUDY = Study(
    calls={"worst_pairs": ("worst_pairs",)},
    hooks={"run_outputs": "command.ListedPairs"},
    plots=(
        Plot(
            "worst_pairs",
            "WorstPairsDisplay",
            "plots",
            "be.worst_pairs",
            (along("pair", "comparison", "probe_label", "gallery_label", "score", "label_error"),),
            {"worst-pairs": {}},
        ),
    ),
    views=(View(("worst pairs",), "tables", "WorstPairsTable", is_class=True, reworded=False),),
    needs=("check",),
    heading="Look into",
)
