"""The messages of ranked lists of the nearest K."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "queries-without-match",
        "no match for {queries:count queries} (of {absent:count} none is in the gallery, of "
        "{removed:count} all are removed): {treatment}",
    ),
    MessageType(
        "matches-beyond-lists",
        "some matches are beyond the lists: {what:names} are not defined; save longer lists",
    ),
)
