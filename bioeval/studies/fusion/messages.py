"""The messages of fused scores."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "people-of-cohort-not-known",
        "the subjects of the trials or of the cohort are not known, so that it was not checked "
        "whether the cohort has subjects of the trials",
        "Scores against recordings of a subject of the trials are no impostor scores of this "
        "subject: mean and standard deviation, and the normalised scores, would be wrong.",
        "Give the subjects when the trials and the cohort are read, by {arg.subject_from} or "
        "{arg.labels}.",
        example={},
    ),
    MessageType(
        "fusion-of-own-scores",
        "the fusion has learnt from the scores that it fuses: their rates are optimistic",
        "Weights and scales that were chosen on the data that are evaluated suit these data better "
        "than others.",
        "Give training scores of other people as {arg.train}, or evaluate the fusion in folds.",
        example={},
    ),
)
