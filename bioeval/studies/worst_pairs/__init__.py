"""The worst pairs: the nearest impostors and the farthest genuine ones."""

from bioeval.base.study import Plot, Study, View, along

STUDY = Study(
    calls={"worst_pairs": ("worst_pairs",)},
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
    heading="Look into",
)
