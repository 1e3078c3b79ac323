"""The messages of re-identification."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "same-camera-counted",
        "pairs of the same camera are counted; conventions of re-identification, such as protocol "
        "market1501, leave them and junk out",
        "The scores have the cameras of both sides, and the protocol was chosen by their layout.",
        "Name the protocol: one of re-identification, or the one that is meant.",
        example={},
    ),
)
