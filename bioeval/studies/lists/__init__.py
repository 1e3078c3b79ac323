"""Ranked lists of the nearest K, as searches and re-identification save them."""

from bioeval.base.manifest import StudyManifest

STUDY = StudyManifest(
    runners={"top-k": "tasks"},
    messages="messages.MESSAGES",
    needs=("reid",),
    heading="Re-identification and tracking",
)
