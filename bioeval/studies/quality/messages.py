"""The messages of error against discard."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "discard-leaves-no-attempts",
        "no {attempts} attempt is left where {fraction:rate} of the samples or more are "
        "discarded: {rate:term} is not defined (NaN) there",
        "An attempt is left while both of its samples are. Without attempts there is no rate.",
        "Look at smaller fractions, or collect more samples of each subject.",
        "note",
        {"attempts": "genuine", "fraction": 0.5, "rate": "frr"},
    ),
    MessageType(
        "pauc-without-errors",
        "pAUC is not defined (NaN): {frr} is 0 with all samples",
        "The area pAUC is that under {frr}, over that of a constant {frr}. There is no such "
        "quotient where {frr} is 0 before any sample is discarded.",
        "Choose a stricter threshold, at which some genuine attempts are rejected.",
        example={},
    ),
    MessageType(
        "pauc-beyond-fractions",
        "pAUC is not defined (NaN): the fractions end before {last:rate}",
        "The area pAUC is that of {frr} up to a discarded fifth of the samples.",
        "Give `fractions` up to 0.2 or more.",
        example={"last": 0.2},
    ),
    MessageType(
        "pauc-without-rate",
        "pAUC is not defined (NaN): {frr} is not defined",
        "Without genuine attempts there is no {frr}, and no area under it.",
        "Check the labels, and the fractions at which no genuine attempt is left.",
        example={},
    ),
)
