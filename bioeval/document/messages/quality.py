"""The messages of error against discard."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "discard-leaves-no-attempts",
        "no {attempts} attempt is left where {fraction:rate} of the samples or more are "
        "discarded: {rate:term} is not defined (NaN) there",
    ),
    MessageType(
        "pauc-without-errors",
        "pAUC is not defined (NaN): {frr} is 0 with all samples; choose a stricter threshold",
    ),
    MessageType(
        "pauc-beyond-fractions",
        "pAUC is not defined (NaN): the fractions end before {last:rate}; give `fractions` up "
        "to 0.2 or more",
    ),
    MessageType(
        "pauc-without-rate",
        "pAUC is not defined (NaN): {frr} is not defined",
    ),
)
