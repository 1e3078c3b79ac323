"""The messages of recognition by view."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "view-pairs-without-attempts",
        "{without:count} of {pairs:count pairs of views} without an attempt are left out of the "
        "means",
        "In these pairs no probe of the one view has a template of its subject in the gallery of "
        "the other view.",
        "Check the views of both sides. A mean over fewer pairs does not compare with a published "
        "mean over all pairs.",
        "warning",
        {"without": 2, "pairs": 121},
    ),
)
