"""A FAR that is kept, with a stated confidence, by people like those of the data."""

from bioeval.base.manifest import StudyManifest, View

STUDY = StudyManifest(
    calls={"assured": ("check_claim",)},
    views=(View(("claim",), "section"),),
    nodes={"verdict": "claim"},
    messages="messages.MESSAGES",
    heading="Decide",
)
