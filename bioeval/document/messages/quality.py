"""The messages of error against discard."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "discard-leaves-no-attempts",
        "no {attempts} attempt is left where {fraction:rate} of the samples or more are "
        "discarded: {rate:term} is not defined (NaN) there",
    ),
    MessageType(
        "pauc-undefined",
        "pAUC is not defined (NaN): {why:template}",
    ),
)
