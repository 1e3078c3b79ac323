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
        "some-people-of-cohort-not-known",
        "the subjects of {templates:count} of the {cohort:count templates} of the cohort are not "
        "known, the first is {first:name}; it was checked only of the others whether they are of "
        "subjects of the trials",
        "A template whose name is not in the table, or does not match the pattern, is taken as of "
        "a subject of its own. Scores against recordings of a subject of the trials are no "
        "impostor scores of this subject.",
        "Add these templates to the table of {arg.labels}, or correct the pattern of "
        "{arg.subject_from}.",
        example={"templates": 60, "cohort": 180, "first": "id0050-mic-00"},
    ),
    MessageType(
        "recordings-of-another-system",
        "the scores of {trials:count trials} and the cosines of the embeddings of {arg.recordings} "
        "have a correlation of {correlation:number}: the embeddings are probably of another system",
        "The cosines of the embeddings of one system are its scores, so that the correlation is 1. "
        "Mean and standard deviation of the scores of another system do not suit these scores.",
        "Give the embeddings of the system of the trials, or its scores against the cohort as "
        "{arg.cohort}.",
        example={"correlation": 0.82, "trials": 1800},
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
