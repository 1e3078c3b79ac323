"""The messages of threshold studies."""

from bioeval.document import MessageType

STUDY = (
    MessageType(
        "no-claim",
        "nothing is claimed here; a claim is a largest {far} or {frr} at a threshold, fixed before "
        "the data are seen, and {arg.claim} with far=X tests whether the data show it",
        "The rates at a given threshold are estimates with intervals. Only a claim, such as a "
        "{far} of at most 1 %, can be shown or refuted.",
        "Give the claim of a specification, if there is one.",
        "note",
        example={},
    ),
    MessageType(
        "fewer-templates-to-find",
        "{subjects:count subjects} with fewer than {templates:count templates} that a search can "
        "find: all that there are stand for the enrolled ones",
        "A subject may have fewer templates than are to be enrolled, or some that failed or are "
        "left out. {far} and {frr} depend on the number of templates that are searched.",
        "Nothing, if only few subjects are concerned; otherwise enrol fewer templates, or collect "
        "more.",
        "note",
        {"subjects": 3, "templates": 3},
    ),
    MessageType(
        "pairs-divided",
        "pairs are divided, not subjects: a subject of several pairs is not new to the threshold",
        "The rates on new pairs are of people who may have chosen the threshold, too.",
        "Name the subjects of the pairs, so that folds divide people.",
        example={},
    ),
    MessageType(
        "no-interval-by-subject",
        "the subjects of the pairs are not given, so there is no interval by subject; if template "
        "names contain the subjects, give {arg.subject_from}, such as '{pattern:name}'",
        "The interval of a rate at the threshold resamples subjects, who are not known.",
        "Name the subjects of the pairs.",
        example={"pattern": "(.*)_"},
    ),
    MessageType(
        "target-not-shown",
        "the data cannot show {rate:term} {target:rate}: even without a {error:term}, "
        "{needed:amounts} would be needed (rule of 3)",
        "So few independent attempts bound the rate by more than the target at 95 % confidence, "
        "even if none of them is an error.",
        "Collect data of more people, or ask for a larger rate.",
        example={
            "rate": "far",
            "target": 0.001,
            "error": "false accept",
            "needed": {"people": 78, "pairs of people": 3000},
        },
    ),
    MessageType(
        "threshold-uncertain",
        "the threshold is uncertain: to expect 30 {errors:term} at {rate:term} {target:rate}, "
        "{needed:amounts} are needed (rule of 30)",
        "With fewer than 30 errors expected, the rate at the threshold is a rough estimate.",
        "Collect data of more people, or use an assured threshold, whose rate is bounded.",
        "note",
        {
            "rate": "far",
            "target": 0.01,
            "errors": "false accepts",
            "needed": {"people": 78, "pairs of people": 3000},
        },
    ),
    MessageType(
        "unassured-threshold-uncertain",
        "the threshold without assurance is uncertain: to expect 30 {errors:term} at {rate:term} "
        "{target:rate}, {needed:amounts} are needed (rule of 30); the assured threshold needs "
        "fewer people, because its {far} is bounded and not measured",
        "The data alone estimate the rate roughly; the promise on the assured threshold holds.",
        "Install the assured threshold.",
        "note",
        {
            "rate": "far",
            "target": 0.02,
            "errors": "false accepts",
            "needed": {"people": 56, "pairs of people": 1500},
        },
    ),
)

JUDGED = (
    MessageType(
        "wilson-without-subjects",
        "the subjects of the evaluation set are not known, so the intervals are Wilson's and "
        "assume independent attempts: they are too narrow, since the attempts of one subject are "
        "dependent; if names contain the subjects, give {arg.subject_from}, such as "
        "'{pattern:name}'",
        "Intervals by subject resample subjects, who must be known for this.",
        "Name the subjects of the pairs.",
        example={"pattern": "(id[0-9]+)/"},
    ),
    MessageType(
        "judged-without-attempts",
        "the evaluation set has no {attempts} attempt: a rate is not defined (NaN)",
        "{frr} is a proportion of the genuine attempts, {far} one of the impostor attempts.",
        "Check the trials of this set.",
        example={"attempts": "genuine"},
    ),
)

MESSAGES = (*STUDY, *JUDGED)
