"""The messages of the core, for the catalogue: about scores, attempts, kinds and intervals."""

from __future__ import annotations

from bioeval.base.messages import MessageType

_SCORES = (
    MessageType(
        "study-of-these-data",
        "the threshold study is of these same data, so that rates at its threshold are optimistic",
        "The study chose the threshold on the same attempts that are evaluated here. Its own "
        "results say what it promises and what is to be expected of other people.",
        "For rates without this optimism, evaluate data of other people at this threshold.",
        "note",
        example={},
    ),
    MessageType(
        "listed-pairs-missing",
        "{pairs:count} of the {listed:count pairs} of the list are left out: one of their "
        "templates is missing",
        "The list names templates that the scores do not have. Rates are over the other pairs.",
        "Compare the missing templates, too, if rates are to be compared with published ones.",
        example={"pairs": 3, "listed": 6000},
    ),
    MessageType(
        "no-mate-in-gallery",
        "no subject of a probe is in the gallery (probe labels are {probe_dtype}, gallery labels "
        "{gallery_dtype}): check that both sides use the same labels",
        "All searches are non-mated and all claims false. Labels of two types, such as numbers and "
        "text, never match.",
        "Write the labels of both sides in the same way.",
        example={"probe_dtype": "int64", "gallery_dtype": "object"},
    ),
    MessageType(
        "same-labels-twice",
        "probe and gallery labels are the same list; if these are the same templates, leave "
        "{arg.gallery_labels} out, so that no template is compared with itself",
        "The comparison of a template with itself is no attempt, and makes the rates optimistic.",
        "Give the labels once for a matrix of all templates against all.",
        example={},
    ),
    MessageType(
        "same-session-counted",
        "pairs of the same session are counted and make rates optimistic; {arg.exclude=session} "
        "leaves them out",
        "Templates of one session are more alike than those of different days.",
        "Exclude pairs of one session, unless the application compares such templates.",
        example={},
    ),
    MessageType(
        "galleries-pooled",
        "probes of different galleries are pooled",
        "Counts of several sites were added, each over its own templates against all.",
        "Nothing, if all sites have galleries of about one size. Rates of identification depend on "
        "that size.",
        example={},
    ),
    MessageType(
        "one-subject",
        "all templates are of one subject, so there is no impostor attempt: check the labels",
        "All labels are equal.",
        "Give the subject of each template.",
        example={},
    ),
    MessageType(
        "one-template-of-each-subject",
        "each subject has one template, so there is no genuine attempt: check the labels",
        "All labels are different, as the names of templates would be.",
        "Give the subject of each template, not its name.",
        example={},
    ),
    MessageType(
        "attacks-left-out",
        "{presentations:count attack presentations} left out (column {column:name}); be."
        "vulnerability (bioeval vulnerability) evaluates them",
        "{far} and {frr} are rates of bona fide presentations only.",
        "Evaluate attacks with `be.vulnerability` or `be.attack_detection`.",
        "note",
        {"presentations": 40, "column": "attack"},
    ),
    MessageType(
        "fewer-templates-than-enrolled",
        "{subjects:count subjects} with fewer than {templates:count templates} that a claim can be "
        "compared with: all that there are stand for the enrolled ones",
        "A template is compared neither with itself nor with templates of the same transaction, "
        "and a subject may have fewer templates than are to be enrolled. {far} and {frr} depend "
        "on the number of templates that a claim is compared with.",
        "Nothing, if only few subjects are concerned; otherwise enrol fewer templates, or collect "
        "more.",
        "note",
        {"subjects": 3, "templates": 3},
    ),
    MessageType(
        "averaged-verification-alone",
        "any {templates:count templates} of a subject are enrolled, and rates are means over all "
        "choices: only multi-template verification is evaluated",
        "Identification is not evaluated as a mean over all choices of templates.",
        "For the other tasks, enrol the first templates of each subject (`enrol` as `first:3`).",
        "note",
        {"templates": 3},
    ),
    MessageType(
        "enrolled-templates-drawn",
        "a subject has more than {limit:count} choices of {templates:count templates}: rates are "
        "means over {draws:count choices} drawn for each attempt and subject",
        "A formula gives the mean over all choices of templates if the nearest template determines "
        "the score of a subject. With other rules of fusion, the choices are evaluated one by one, "
        "unless there are too many.",
        "Use {arg.fusion=min} or fewer templates for exact means.",
        "note",
        {"limit": 10000, "templates": 10, "draws": 200},
    ),
    MessageType(
        "one-gallery",
        "there is one gallery: the metadata have no column {column:name} with several values, over "
        "which rates would be averaged",
        "The protocol averages over several galleries.",
        "Give the gallery of each template in this column.",
        example={"column": "gallery"},
    ),
)

#: The advice of scores that may stand for failed comparisons.
_FAILED = (
    "if comparisons failed there, make these scores NaN and give {arg.nan=exclude} (no attempt) or "
    "{arg.nan=reject}, or mask them"
)

_FAILURE_CODES = (
    MessageType(
        "constant-rows",
        "all comparisons of {number:count rows} have one score: {values:scores} (rows from 0, "
        f"first: {{first:names}}); {_FAILED}",
        "Some programs write a fixed score, such as -1, if a template could not be compared. If "
        "this value is counted as a score, failed comparisons are counted as attempts.",
        "Look at these templates. Make the scores NaN, and say what NaN means with `nan`.",
        example={"number": 1, "first": [7], "values": [-1.0]},
    ),
    MessageType(
        "constant-columns",
        "all comparisons of {number:count columns} have one score: {values:scores} (columns from "
        f"0, first: {{first:names}}); {_FAILED}",
        "A template that could not be processed has the same score in each comparison.",
        "Look at these templates. Make the scores NaN, and say what NaN means with `nan`.",
        example={"number": 2, "first": [3, 9], "values": [0.0]},
    ),
    MessageType(
        "value-at-the-end",
        "{shared:count} of {compared:count comparisons} have the score {value:score}, {how} "
        f"(first: {{places:names}}); {_FAILED}",
        "Many comparisons share one score at the end of the range, which no other score is near: "
        "often it stands for a failed comparison.",
        "Look at these comparisons. Make the scores NaN, and say what NaN means with `nan`.",
        example={
            "shared": 120,
            "compared": 65000,
            "value": -1.0,
            "how": "far from all others",
            "places": ["row 0 column 3", "row 2 column 9"],
        },
    ),
)

_LISTS = (
    MessageType(
        "repeated-pairs",
        "{pairs:count pairs} listed again with the same score; each counts once, and "
        "{arg.keep=repeated} counts every line",
        "A pair that is listed twice is one comparison.",
        "Nothing, or state that repeated lines are attempts of their own.",
        example={"pairs": 12},
    ),
    MessageType(
        "self-comparisons-left-out",
        "{comparisons:count comparisons} of a template with itself left out; {arg.keep=self} "
        "counts them",
        "A template is always nearest to itself, and no attempt compares it with itself.",
        "Nothing, or state that they are attempts.",
        example={"comparisons": 60},
    ),
    MessageType(
        "self-comparisons-counted",
        "{comparisons:count comparisons} of a template with itself counted",
        "An option asks for these comparisons. They make the rates of genuine attempts optimistic.",
        "Leave them out, unless a protocol counts them.",
        example={"comparisons": 60},
    ),
    MessageType(
        "both-orders-once",
        "{pairs:count pairs} listed in both orders and taken once ({rounded:count} of them with "
        "the score of the first order, since both differ by rounding alone)",
        "With `unordered`, a-b and b-a are one comparison.",
        "Nothing.",
        "note",
        {"pairs": 100, "rounded": 4},
    ),
    MessageType(
        "some-in-both-orders",
        "{both:count} of {pairs:count pairs} are listed in both orders and count as two attempts; "
        "{arg.unordered} counts each pair alike",
        "Some pairs are two attempts, and others are one attempt.",
        "Give `unordered` if a score does not depend on the order.",
        example={"both": 10, "pairs": 400},
    ),
    MessageType(
        "infinitely-near-scores",
        "{scores:count infinite scores} ({first}) accepted at every finite threshold",
        "An infinite score of this sign is better than every finite score.",
        "Check that these comparisons did not fail; failed ones are NaN.",
        example={"scores": 2, "first": "line 8"},
    ),
    MessageType(
        "infinitely-far-scores",
        "{scores:count infinite scores} ({first}) accepted at no finite threshold",
        "An infinite score of this sign is worse than every finite score; it may stand for a "
        "failed comparison that counts as rejected.",
        "Nothing, if failed comparisons are meant.",
        "note",
        {"scores": 2, "first": "line 8"},
    ),
    MessageType(
        "repeated-pairs-in-matrix",
        "{pairs:count pairs} listed more than once, with one score",
        "A matrix has one cell for each pair.",
        "Nothing.",
        "note",
        {"pairs": 1},
    ),
    MessageType(
        "score-of-both-orders",
        "{pairs:count pairs} give their score to the other order, too ({arg.unordered})",
        "The list has these pairs in one order only, and their score is used for both orders.",
        "Nothing.",
        "note",
        {"pairs": 1200},
    ),
    MessageType(
        "pairs-in-one-order",
        "{one_order:count} of {pairs:count pairs} are listed in one order only, so that searches "
        "and multi-template attempts lack the other one; {arg.unordered} takes each score for both "
        "orders",
        "A list of pairs without repetition is half a matrix.",
        "Give `unordered` if a score does not depend on the order.",
        example={"one_order": 190, "pairs": 190},
    ),
    MessageType(
        "not-listed",
        "{missing:count} of {comparisons:count comparisons} are not listed, and excluded",
        "The list has fewer pairs than the matrix of its templates has cells.",
        "Nothing, if the missing comparisons are no attempts of the protocol.",
        "note",
        {"missing": 24, "comparisons": 400},
    ),
    MessageType(
        "too-many-names",
        "the list names more than {most:count templates}: repeated pairs and comparisons of a "
        "template with itself were not looked for",
        "The search for them would take much memory.",
        "Check the list yourself if it may have such lines.",
        example={"most": 1000000},
    ),
    MessageType(
        "only-genuine-pairs-listed",
        "the {pairs:count pairs} of {file:name} are genuine, all others impostors",
        "The list of trials contains only one class.",
        "Nothing, if it names all genuine pairs.",
        "note",
        {"pairs": 500, "file": "genuine.txt"},
    ),
    MessageType(
        "trials-repeated",
        "a pair is listed again on {lines:count lines} of {file:name}, which adds no attempts",
        "The list of trials gives each pair one class; the attempts are the lines of the scores.",
        "Nothing.",
        "note",
        {"lines": 3, "file": "trials.txt"},
    ),
    MessageType(
        "lines-left-out",
        "{lines:count lines} of {file:name} left out: they have {have}",
        "The trials and the scores are not of the same pairs.",
        "Compare the missing pairs, too, if rates are to be compared with published ones.",
        example={"lines": 17, "file": "trials.txt", "have": "no score"},
    ),
    MessageType(
        "in-order-of-trials",
        "the scores are taken to be in the order of the trials of {file:name}",
        "The file of scores has no names by which this could be checked.",
        "Check the order: a shifted list gives rates near chance.",
        example={"file": "trials.txt"},
    ),
    MessageType(
        "lists-begin-with-query",
        "{lists:count} of {queries:count lists} begin with the entry at the place of their query, "
        "of the same label; if the gallery was searched with its own templates, they "
        "are to be left out",
        "A query that finds itself counts as a match and makes all rates optimistic.",
        "State by {arg.leave_out_query} whether the entries are the queries themselves.",
        example={"lists": 198, "queries": 200},
    ),
    MessageType(
        "lists-begin-at-zero",
        "{lists:count} of {queries:count lists} begin with an entry of the label of their query at "
        "a distance of about 0; if the gallery was searched with some of its own templates, they "
        "are to be left out",
        "A query that finds itself counts as a match and makes all rates optimistic.",
        "Give the entry that each query is as {arg.query_positions}, or state by "
        "{arg.leave_out_query} that none is the query itself.",
        example={"lists": 198, "queries": 200},
    ),
    MessageType(
        "own-queries-left-out",
        "{queries:count queries} left out of their own lists and matches, known by {by}",
        "The gallery was searched with its own templates.",
        "Nothing.",
        "note",
        {"queries": 200, "by": "their places"},
    ),
)

_ATTEMPTS = (
    MessageType(
        "no-genuine-attempt",
        "no genuine attempt: {rates:terms} are not defined (NaN)",
        "No two templates that are compared are of one subject.",
        "Check the labels; give subjects with two templates or more.",
        example={"rates": ["gar", "frr"]},
    ),
    MessageType(
        "no-impostor-attempt",
        "no impostor attempt: {rates:terms} are not defined (NaN)",
        "No two templates that are compared are of different subjects, or in open-set "
        "identification no probe is without a mate in the gallery.",
        "Check the labels; give templates of more subjects.",
        example={"rates": ["far", "grr"]},
    ),
    MessageType(
        "no-mated-probe",
        "no probe has a mate: {cms} is not defined (NaN)",
        "In closed-set identification, only probes count whose subject is in the gallery.",
        "Check that both sides use the same labels.",
        example={"task": "identification"},
    ),
    MessageType(
        "probes-without-mate",
        "{probes:count probes} without a usable mate left out",
        "In closed-set identification, only probes count that have a mate in the gallery after "
        "exclusions and failed comparisons.",
        "Nothing, if these subjects are not enrolled; open-set identification counts such probes.",
        "note",
        {"probes": 1},
    ),
    MessageType(
        "enrolled-without-mate",
        "no genuine attempt of {probes:count enrolled probes}: no mate is left to compare with",
        "The subject is in the gallery, but all comparisons with its templates are excluded or "
        "failed.",
        "Check what is excluded; failed comparisons count as rejected with `nan`.",
        example={"probes": 1},
    ),
    MessageType(
        "claims-not-enrolled",
        "{claims:count claims} of subjects who are not enrolled left out",
        "A claim is compared with the templates of the subject that it names.",
        "Nothing, if these claims are not meant to be attempts.",
        "note",
        {"claims": 30},
    ),
    MessageType(
        "not-all-ranks",
        "ranks 1 to {reported:count} of {ranks:count} are reported: {ranks:count} ranks at "
        "{thresholds:count thresholds} exceed {limit:count values}; {arg.max_rank} sets another "
        "number",
        "A large gallery has more ranks than a table or a file needs.",
        "Give the number of ranks.",
        "note",
        {"reported": 100, "ranks": 2100, "thresholds": 1000, "limit": 2000000},
    ),
    MessageType(
        "points-not-found",
        "the counts have no operating points: EER and AUC lie within the bounds eer_at_least to "
        "eer_at_most and auc_at_least to auc_at_most; bioeval.studies.sites.tally.refine_tally "
        "finds them in a second pass over the scores, and {arg.points} keeps what they need while "
        "counting",
        "Merged counts contain the number of scores between two thresholds, but not the scores "
        "themselves.",
        "Refine the tally, or count with `points`.",
        example={},
    ),
    MessageType(
        "points-within-bounds",
        "the scores that were kept do not hold all operating points: {points:names} lie within "
        "the bounds ..._at_least and ..._at_most; bioeval.studies.sites.tally.refine_tally finds "
        "them in the scores",
        "The scores that each site has kept are not those around the operating points of all "
        "sites together.",
        "Refine the tally where exact points are needed.",
        example={"points": ["eer", "frr_at_far"]},
    ),
)

_SUPPORT = (
    MessageType(
        "too-few-pairs-of-people",
        "too few people to {purpose} {rate:term} at {chosen:term} {targets:rates}: "
        "{pairs:count pairs} of {people:count people} are compared, and the rule of {rule} needs "
        "{needed:counts} pairs of people (at least {needed_people:counts} people)",
        "For a {far} pairs of people are counted, because further templates of the same people "
        "give no independent attempts. With fewer than 3 / {far} pairs, even a test without an "
        "error does not show that the {far} is so low (rule of 3, at 95 % confidence). With fewer "
        "than 30 / {far} pairs, fewer than 30 {false accepts} are expected, which are too few to "
        "measure the rate (rule of 30).",
        "Collect more people, or state a larger {far}.",
        example={
            "purpose": "support",
            "rate": "frr",
            "chosen": "far",
            "targets": [0.001],
            "people": 40,
            "pairs": 780,
            "rule": 3,
            "needed": [3000],
            "needed_people": [78],
        },
    ),
    MessageType(
        "too-few-pairs-compared",
        "too few pairs of people to {purpose} {rate:term} at {chosen:term} {targets:rates}: "
        "{pairs:count pairs} of {people:count people} are compared, and the rule of {rule} needs "
        "{needed:counts} pairs",
        "The list has few of the pairs that these people could form. A pair of people counts once, "
        "however many of its templates are compared. With fewer than 3 / {far} pairs not even zero "
        "errors show that {far} is that low (rule of 3, at 95 %); with fewer than 30 / {far} pairs "
        "fewer than 30 {false accepts} are expected, too few to measure the rate (rule of 30).",
        "Compare more pairs of these people, or state a larger {far}.",
        example={
            "purpose": "support",
            "rate": "frr",
            "chosen": "far",
            "targets": [0.001],
            "people": 400,
            "pairs": 2802,
            "rule": 3,
            "needed": [3000],
        },
    ),
    MessageType(
        "too-few-people",
        "too few people to {purpose} {rate:term} at {chosen:term} {targets:rates}: "
        "{people:count people} make genuine attempts, and the rule of {rule} needs {needed:counts}",
        "For a {frr} the people with genuine attempts are counted. With fewer than 3 / {frr} "
        "people, even a test without an error does not show that the {frr} is so low (rule of 3, "
        "at 95 % confidence). With fewer than 30 / {frr} people, fewer than 30 people are "
        "expected to be rejected, which are too few to measure the rate (rule of 30).",
        "Collect more people, or state a larger {frr}.",
        example={
            "purpose": "support",
            "rate": "far",
            "chosen": "frr",
            "targets": [0.01],
            "people": 40,
            "rule": 3,
            "needed": [300],
        },
    ),
    MessageType(
        "too-few-attempts",
        "too few {of} to {purpose} {rate:term} at {chosen:term} {targets:rates}: the data have "
        "{attempts:count}, and the rule of {rule} needs {needed:counts}",
        "With fewer than 3 / rate attempts, even a test without an error does not show that the "
        "rate is so low (rule of 3, at 95 % confidence). With fewer than 30 / rate attempts, "
        "fewer than 30 errors are expected, which are too few to measure the rate (rule of 30). "
        "Attempts of the same people are not independent, so that there may be too few people "
        "even if there are enough attempts.",
        "Collect more data, or state a larger rate.",
        example={
            "purpose": "support",
            "rate": "frr",
            "chosen": "far",
            "targets": [0.001],
            "attempts": 2000,
            "of": "impostor attempts",
            "rule": 3,
            "needed": [3000],
        },
    ),
    MessageType(
        "target-below-one-error",
        "too few {of} ({attempts:count}) for a single error at {chosen:term} {targets:rates}: "
        "{rate:term} is the same as at {chosen:term} 0, and the rule of 3 needs {needed:counts}",
        "With fewer than 1 / rate attempts, even a single error gives a rate above the target. "
        "The operating point is therefore the point without an error.",
        "Collect more data, or state a larger rate.",
        example={
            "rate": "frr",
            "chosen": "far",
            "targets": [0.0001],
            "attempts": 2000,
            "of": "impostor attempts",
            "needed": [30000],
        },
    ),
)

#: What the messages about the kind of the scores have in common.
_EER = {"kind": "distance", "eer": 0.97, "over": "over all attempts"}

_KIND = (
    MessageType(
        "kind-plausible",
        "scores of kind {kind}; EER {eer:rate} {over}",
        "As expected, genuine scores are nearer than impostor scores.",
        "Nothing.",
        "note",
        {**_EER, "eer": 0.03},
    ),
    MessageType(
        "near-chance",
        "the scores, of kind {kind}, hardly separate subjects (EER {eer:rate} {over}): check "
        "labels and kind",
        "Scores that contain no information about subjects have an EER of about 50 %.",
        "Check the labels, their order, and whether the scores are distances or similarities.",
        example={**_EER, "eer": 0.48},
    ),
    MessageType(
        "no-better-than-chance",
        "the scores, of kind {kind}, are no better than chance (EER {eer:rate} {over}): check the "
        "labels, and whether {arg.kind} is {other}",
        "The EER is above 50 %, but the difference may be due to chance.",
        "Check the labels and their order. If the scores are of the other kind, state it.",
        example={**_EER, "eer": 0.52, "other": "similarity"},
    ),
    MessageType(
        "labels-doubtful",
        "the scores are no better than chance (EER {eer:rate} {over}), and their kind is certain "
        "(metric {metric:name}): check the labels",
        "The scores were computed from embeddings by a metric, so that their kind is known.",
        "Check the labels and their order.",
        example={**_EER, "eer": 0.52, "metric": "l2"},
    ),
    MessageType(
        "labels-wrong",
        "the scores are worse than chance (EER {eer:rate} {over}), and their kind is certain "
        "(metric {metric:name}): the labels are wrong; check their order",
        "The scores were computed from embeddings by a metric, so that their kind is known.",
        "Check the labels and their order.",
        "error",
        {**_EER, "metric": "l2"},
    ),
    MessageType(
        "nearest-to-itself",
        "the scores, of kind {kind}, are worse than chance (EER {eer:rate} {over}), yet each "
        "template is nearest to itself: the kind seems right and the labels wrong; check their "
        "order",
        "A template that is nearest to itself shows that the kind is right.",
        "Check the labels and their order.",
        "error",
        _EER,
    ),
    MessageType(
        "farthest-from-itself",
        "the scores, of kind {kind}, are worse than chance (EER {eer:rate} {over}), and each "
        "template is farthest from itself: they are probably of the other kind; state {other} as "
        "{arg.kind}",
        "If similarities are taken as distances, the order of all scores is reversed.",
        "State the kind of the scores.",
        "error",
        {**_EER, "other": "similarity"},
    ),
    MessageType(
        "kind-wrong",
        "the scores, of kind {kind}, are worse than chance (EER {eer:rate} {over}): they are "
        "probably of the other kind; state {other} as {arg.kind}",
        "If similarities are taken as distances, the order of all scores is reversed. The EER is "
        "then above 50 %, by more than chance explains.",
        "State the kind of the scores. If it is right, the labels are wrong.",
        "error",
        {**_EER, "other": "similarity"},
    ),
    MessageType(
        "auc-below-half",
        "AUC is below 0.5, so that impostor scores are nearer than genuine scores: check whether "
        "they are of kind {kind}; if not, state {other} as {arg.kind}",
        "By chance, the AUC is 0.5. It is often below 0.5 if similarities are taken as distances.",
        "State the kind of the scores, or check the labels.",
        "error",
        {"kind": "distance", "other": "similarity"},
    ),
)

_INTERVALS = (
    MessageType(
        "interval-of-one-subject",
        "a single subject cannot be resampled: intervals of {method} are not defined",
        "Intervals by subject show how much people differ; a single person cannot show this.",
        "Collect more people.",
        example={"method": "subject-bootstrap"},
    ),
    MessageType(
        "interval-of-few-subjects",
        "only {subjects:count subjects}: intervals by subject ({method}) are too narrow",
        "With fewer than 20 subjects, intervals by subject contain the true rate less often than "
        "their confidence states.",
        "Collect more people, and read the intervals as at least that wide.",
        example={"subjects": 12, "method": "subject-bootstrap"},
    ),
    MessageType(
        "dependent-attempts",
        "{method} intervals assume independent {attempts}; those of one subject are dependent, and "
        "the intervals are then too narrow: {arg.interval=subject-bootstrap} resamples subjects",
        "A person who is often rejected causes many errors, and these are not independent.",
        "Use intervals by subject if the subjects are known.",
        example={"method": "wilson", "attempts": "attempts"},
    ),
    MessageType(
        "no-analytic-interval",
        "no analytic interval of {rate:term} at targets of {chosen:term}: the closed form leaves "
        "out the choice of the threshold on these data; {arg.interval=subject-bootstrap} has one",
        "The threshold at a target depends on the same people as the rate.",
        "Use the subject bootstrap.",
        "note",
        {"rate": "frr", "chosen": "far"},
    ),
    MessageType(
        "no-upper-limit",
        "the upper limit of {frr} is 1 at {far} {targets:rates}: too few people are compared to "
        "support it",
        "Every threshold in the data may have a larger {far} in the population. At a stricter "
        "threshold, the {frr} may have any value.",
        "Collect more people, or state a larger {far}.",
        example={"targets": [0.001]},
    ),
    MessageType(
        "no-lower-limit",
        "the lower limit of {dir} is 0 at {far} {targets:rates}: too few non-mated searches "
        "support it",
        "Every threshold in the data may have a larger {far} in the population. At a stricter "
        "threshold, {dir} may have any value.",
        "Search the gallery with more people who are not in it, or state a larger {far}.",
        example={"targets": [0.01], "task": "identification"},
    ),
    MessageType(
        "interval-for-new-people-needs",
        "only {subjects:count subjects}: intervals for new people need at least {needed:count}",
        "Each person is left out in turn, as a probe and from the gallery.",
        "Collect more people.",
        example={"subjects": 2, "needed": 3},
    ),
    MessageType(
        "no-interval-above-rank",
        "no intervals at ranks above {rank:count}: they need more memory",
        "The counts without each person are kept for all ranks at once.",
        "Nothing, if lower ranks are enough.",
        "note",
        {"rank": 50},
    ),
)

_SETS = (
    MessageType(
        "actual-cost-above-1",
        "the actual DCF at prior {prior:digits 6} is {cost:decimals 4}, above 1: worse than a "
        "system that always {answer}",
        "The actual DCF is the cost of the decisions divided by that of the better decision "
        "without any score: to reject all attempts, or to accept all. Above 1, the decisions at "
        "this threshold cost more than that one.",
        "Choose the threshold on scores like these, or calibrate them on such scores: the scores "
        "themselves may be good, as the minimum DCF shows.",
        example={"prior": 0.01, "cost": 1.25, "answer": "rejects"},
    ),
    MessageType(
        "judged-on-same-data",
        "the {set} set is the development set: its errors are those of the data that chose the "
        "threshold (optimistic)",
        "A threshold fits the data that it was chosen on better than other data.",
        "Give scores of other people as this set.",
        example={"set": "evaluation"},
    ),
    MessageType(
        "people-of-both-sets",
        "{shared} of {people:count subjects} of the {set} set are in the development set, too",
        "A threshold or a calibration was learnt with these people, so that their errors and costs "
        "are optimistic.",
        "Leave their attempts out of one of the two sets, unless it is for these very people.",
        example={"set": "evaluation", "shared": 3, "people": 40},
    ),
)

CORE: tuple[MessageType, ...] = (
    *_SCORES,
    *_FAILURE_CODES,
    *_LISTS,
    *_ATTEMPTS,
    *_SUPPORT,
    *_KIND,
    *_INTERVALS,
    *_SETS,
)
