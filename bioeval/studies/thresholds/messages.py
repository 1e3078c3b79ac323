"""The messages of threshold studies and of extrapolated FARs."""

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

#: Why a model gives no FAR at some thresholds, or at none.
NOT_EXTRAPOLATED = (
    MessageType(
        "people-on-both-sides",
        "some people are on both sides and others on one, of whom the model was not tested. Select "
        "the people of both sides, or probes of people who are not enrolled",
        "The model was tested on people of one kind: all of them compared with each other, or "
        "probes of some people against a gallery of others.",
        "Select the people of both sides, or probes of people who are not enrolled.",
        example={},
    ),
    MessageType(
        "infinite-closest-impostors",
        "infinite scores are among the closest {tail:rate} of impostor attempts",
        "The model is fitted to the closest impostor attempts, whose scores must be finite.",
        "Find out why comparisons of different people have an infinite score.",
        example={"tail": 0.03},
    ),
    MessageType(
        "impostors-at-zero",
        "different people have distance 0 or less in {pairs:count pairs} of templates",
        "Where zero is natural, only equal templates have distance 0.",
        "Look for one person under two names, or give `zero=False`.",
        example={"pairs": 2},
    ),
    MessageType(
        "tail-too-small",
        "the closest {tail:rate} are {pairs:count pairs} of templates of {people:count people}; "
        "{pairs_needed:count pairs} and {people_needed:count people} are needed",
        "A model of so few attempts would extrapolate chance.",
        "Collect data of more people.",
        example={
            "tail": 0.01,
            "pairs": 32,
            "people": 30,
            "pairs_needed": 50,
            "people_needed": 10,
        },
    ),
    MessageType(
        "closest-impostors-tied",
        "{tied:rate} of the closest impostors have the same score as another, at most {most:rate} "
        "may: are the scores rounded?",
        "The model is of continuous scores; rounded ones have no tail that could be continued.",
        "Give scores with all their digits.",
        example={"tied": 0.2, "most": 0.01},
    ),
    MessageType(
        "far-is-measured",
        "{far} {target:rate} is measured: leave out the extrapolation",
        "The data support this rate without a model.",
        "Leave out the extrapolation.",
        "note",
        {"target": 0.05},
    ),
    MessageType(
        "too-deep-to-extrapolate",
        "{far} {target:rate} is below {least:rate}, a hundredth of the measurable {far}; "
        "{people:count people} are needed",
        "The model was tested down to a hundredth of the smallest rate that the people support.",
        "Collect data of more people, or ask for a larger rate.",
        example={"target": 1e-6, "least": 0.0005, "people": 20000},
    ),
    MessageType(
        "no-threshold-below-target",
        "no threshold has an upper limit of at most {target:rate}",
        "The upper limit of the model stays above the target at every threshold.",
        "Ask for a larger rate, or collect data of more people.",
        example={"target": 0.0001},
    ),
    MessageType(
        "looser-than-the-tail",
        "looser than the closest {tail:rate} of impostor attempts, so {far} can be measured "
        "({refused} of {thresholds:count thresholds})",
        "The model is of the closest impostor attempts alone.",
        "Evaluate these thresholds without a model.",
        "note",
        {"tail": 0.03, "refused": 1, "thresholds": 4},
    ),
    MessageType(
        "thresholds-at-zero",
        "a distance of 0 or less ({refused} of {thresholds:count thresholds})",
        "Where zero is natural, no comparison of different templates has distance 0.",
        "Give thresholds above 0.",
        "note",
        {"refused": 2, "thresholds": 4},
    ),
    MessageType(
        "model-too-uncertain",
        "the standard error of ln {far} over people is above {most:number} ({refused} of "
        "{thresholds:count thresholds})",
        "A few people determine the model, so that its rate could be many times larger.",
        "Collect data of more people.",
        example={"most": 1.5, "refused": 1, "thresholds": 1},
    ),
    MessageType(
        "model-without-errors",
        "the model's {far} is 0 ({refused} of {thresholds:count thresholds})",
        "The tail of the model ends before these thresholds, which no data of this size can show.",
        "Give looser thresholds.",
        example={"refused": 1, "thresholds": 1},
    ),
    MessageType(
        "limit-too-deep",
        "even the upper limit is below a hundredth of the measurable {far} ({refused} of "
        "{thresholds:count thresholds})",
        "The model was tested down to a hundredth of the smallest rate that the people support.",
        "Give looser thresholds, or collect data of more people.",
        example={"refused": 1, "thresholds": 1},
    ),
)

MESSAGES = (
    *STUDY,
    *JUDGED,
    *NOT_EXTRAPOLATED,
    MessageType(
        "extrapolated",
        "extrapolated by a model, not measured; very rare twins, relatives and look-alikes are not "
        "covered",
        "The model continues the closest impostor attempts of the data below what can be measured.",
        "Do not mix the rate with measured ones; collect data of more people to measure it.",
        example={},
    ),
)
