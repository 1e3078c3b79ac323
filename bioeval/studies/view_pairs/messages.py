"""The messages of recognition by view."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "view-pairs-without-attempts",
        "{without:count} of {pairs:count pairs of views} without an attempt are left out of the "
        "means",
    ),
)
