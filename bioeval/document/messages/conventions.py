"""The messages of the readings of a measure."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "one-departure-each",
        "readings depart from the card in one point; combinations are not tried",
    ),
)
