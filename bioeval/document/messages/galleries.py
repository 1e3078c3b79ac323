"""The messages of results over galleries of other sizes."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "one-subject-left-out",
        "{far} at {subjects:count subjects} is undefined: an enrolled probe has "
        "{others:count other subjects}",
    ),
)
