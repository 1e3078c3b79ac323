"""The messages of fused scores."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "fusion-of-own-scores",
        "the fusion has learnt from the scores that it fuses: their rates are optimistic",
        "Weights and scales that were chosen on the data that are evaluated suit these data better "
        "than others.",
        "Give training scores of other people with the argument `train`, or evaluate the fusion in "
        "folds.",
        example={},
    ),
)
