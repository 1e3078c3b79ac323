"""The messages of a zoo."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "infinite-scores-left-out",
        "{attempts:count attempts} with an infinite score are in no mean; give failed "
        "comparisons as NaN",
    ),
    MessageType(
        "too-few-halves",
        "the test of {animals} is not defined: {subjects:count subjects} have two halves, each "
        "with a finite score, and {needed:count} are needed; halves take at least {templates} of "
        "a subject",
    ),
    MessageType(
        "subjects-all-alike",
        "the correlation of {animals} is not defined: all subjects are alike",
    ),
    MessageType(
        "rejects-all",
        "the threshold rejects all attempts and is infinite, because some scores are; choose "
        "another rule, or give a threshold",
    ),
)
