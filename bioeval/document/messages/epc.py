"""The messages of expected performance."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "sets-of-different-systems",
        "at the threshold for alpha {alpha:number} the test set has {far} {test_far:rate} and "
        "{frr} {test_frr:rate}, the development set a weighted error of {dev_error:rate}: the two "
        "sets may be of different systems, or on different scales",
    ),
)
