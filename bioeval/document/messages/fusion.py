"""The messages of fused scores."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "people-of-cohort-not-known",
        "the subjects of the trials or of the cohort are not known, so that it was not checked "
        "whether the cohort has subjects of the trials; {arg.subject_from} or {arg.labels} "
        "gives the subjects",
    ),
    MessageType(
        "trained-on-same-scores",
        "the {model} has learnt from the scores that it is applied to, and results are "
        "optimistic; train it on scores of other people, or evaluate in folds",
    ),
)
