"""The messages of error against discard."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "pauc-undefined",
        "pAUC is not defined (NaN): {why:template}",
    ),
)
