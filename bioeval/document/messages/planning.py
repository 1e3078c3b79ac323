"""The messages of plans."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "plan-uncertain",
        "the plan is a rough one: {why:template}",
    ),
)
