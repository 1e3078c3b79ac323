"""The messages of the readings of a measure."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "one-departure-each",
        "readings depart from the card in one point; combinations are not tried",
        "A published number may come from two departures at once, such as another kind of ties in "
        "a gallery of one template of each subject.",
        "Give the card that is nearest to the publication with the argument `cards`: readings "
        "depart from the first one.",
        "note",
        {},
    ),
)
