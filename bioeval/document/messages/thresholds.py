"""The messages of threshold studies."""

from bioeval.base.messages import MessageType

STUDY = (
    MessageType(
        "pairs-divided",
        "pairs are divided, not subjects: a subject of several pairs is not new to the "
        "threshold; name the subjects of the pairs, so that folds divide people",
    ),
    MessageType(
        "no-interval-by-subject",
        "the subjects of the pairs are not given, so there is no interval by subject; if template "
        "names contain the subjects, give {arg.subject_from}, such as '{pattern:name}'",
    ),
    MessageType(
        "target-not-shown",
        "the data cannot show {rate:term} {target:rate}: even without a {error:term}, "
        "{needed:amounts} would be needed (rule of 3)",
    ),
    MessageType(
        "threshold-uncertain",
        "the threshold {which}is uncertain: to expect 30 {errors:term} at {rate:term} "
        "{target:rate}, {needed:amounts} are needed (rule of 30){beside:template}",
    ),
)

JUDGED = (
    MessageType(
        "wilson-without-subjects",
        "the subjects of the evaluation set are not known, so the intervals are Wilson's and "
        "assume independent attempts: they are too narrow, since the attempts of one subject are "
        "dependent; if names contain the subjects, give {arg.subject_from}, such as "
        "'{pattern:name}'",
    ),
)

MESSAGES = (
    MessageType(
        "no-spread-in-folds",
        "{rate:term} is {value} in every {unit}: the spread is 0, so the folds give no interval",
    ),
    *STUDY,
    *JUDGED,
)
