"""Means over many evaluations of index sets, counted together."""

from bioeval.base.manifest import StudyManifest, View

STUDY = StudyManifest(
    calls={"summaries": ("summaries",), "summary": ("summary",)},
    views=(View((), "section", dim="partition", several=True, in_rows=True),),
    needs=("folds", "reid"),
    heading="Decide",
)
