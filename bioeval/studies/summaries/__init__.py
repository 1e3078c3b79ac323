"""Means over many evaluations of index sets, counted together."""

from bioeval.base.study import Study, View

STUDY = Study(
    calls={"summaries": ("summaries",), "summary": ("summary",)},
    views=(View((), "summaries", dim="partition", several=True, in_rows=True),),
    needs=("folds", "reid"),
    heading="Decide",
)
