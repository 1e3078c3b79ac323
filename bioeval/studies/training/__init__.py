"""Numbers of embeddings that come batch by batch, as in a training loop."""

from bioeval.base.manifest import StudyManifest

STUDY = StudyManifest(
    calls={"meter": ("Meter",)},
    heading="Decide",
)
