"""The messages of a zoo."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "infinite-scores-left-out",
        "{attempts:count attempts} with an infinite score are in no mean; give failed "
        "comparisons as NaN",
    ),
    MessageType(
        "animals-not-tested",
        "the test of {animals} is not defined: {why}",
    ),
)
