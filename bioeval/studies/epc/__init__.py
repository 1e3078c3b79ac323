"""Expected performance: errors on one set at thresholds of another."""

from bioeval.base.manifest import Plot, StudyManifest, View, along

STUDY = StudyManifest(
    calls={"epc": ("epc",)},
    plots=(
        Plot(
            "epc",
            "EpcDisplay",
            "plots",
            "be.epc",
            (along("alpha", "hter", "threshold"),),
            {"epc": {}},
        ),
    ),
    nodes={"alpha": "epc"},
    views=(View(("epc",), "section", several=True),),
    messages="messages.MESSAGES",
)
