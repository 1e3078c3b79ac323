"""The messages of ranked lists of the nearest K."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "queries-without-match",
        "no match in the gallery for {queries:count queries}: {treatment}",
    ),
    MessageType(
        "matches-beyond-lists",
        "some matches are beyond the lists: {measures:names} of the whole gallery are not "
        "defined; save longer lists",
    ),
    MessageType(
        "precision-up-to-rank",
        "lists determine precision and recall up to rank {rank:count} only",
    ),
)
