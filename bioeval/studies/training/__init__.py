"""Numbers of embeddings or pairs that come batch by batch, as in a training loop."""

from bioeval.base.manifest import StudyManifest

STUDY = StudyManifest(
    calls={"meter": ("Meter",), "pair_meter": ("PairMeter",)},
    heading="Decide",
)
