"""The messages of the core, for the catalogue: about scores, attempts, kinds and intervals."""

from __future__ import annotations

from bioeval.base.messages import MessageType

_SCORES = (
    MessageType(
        "listed-pairs-missing",
        "{pairs:count} of the {listed:count pairs} of the list are left out: one of their "
        "templates is missing",
    ),
    MessageType(
        "no-mate-in-gallery",
        "no subject of a probe is in the gallery (probe labels are {probe_dtype}, gallery labels "
        "{gallery_dtype}): check that both sides use the same labels",
    ),
    MessageType(
        "same-labels-twice",
        "probe and gallery labels are the same list; if these are the same templates, leave "
        "{arg.gallery_labels} out, so that no template is compared with itself",
    ),
    MessageType(
        "same-session-counted",
        "pairs of the same session are counted and make rates optimistic; {arg.exclude=session} "
        "leaves them out",
    ),
    MessageType(
        "unknown-values",
        "{column:name} is not known of {probes:count probes} and {templates:count gallery "
        "templates}; an unknown value (None, NaN, empty text, camera -1) equals no other",
    ),
    MessageType(
        "templates-without-value",
        "{column:name} is not known of {probes:count probes} and {templates:count gallery "
        "templates}, which are left out",
    ),
    MessageType(
        "one-subject",
        "all templates are of one subject, so there is no impostor attempt: check the labels",
    ),
    MessageType(
        "one-template-of-each-subject",
        "each subject has one template, so there is no genuine attempt: check the labels",
    ),
    MessageType(
        "attacks-left-out",
        "{presentations:count attack presentations} left out (column {column:name}); be."
        "vulnerability (bioeval vulnerability) evaluates them",
    ),
    MessageType(
        "one-gallery",
        "there is one gallery: the metadata have no column {column:name} with several values, over "
        "which rates would be averaged",
    ),
    MessageType(
        "mean-over-galleries",
        "means over the galleries {galleries:names}, each at its own thresholds; attempts are "
        "sums, and no weights of the means",
    ),
    MessageType(
        "no-interval-over-galleries",
        "means over all galleries of one template of each subject have no confidence intervals",
    ),
    MessageType(
        "points-between-thresholds",
        "EER and {dir} at a {far} are given as a lower and an upper bound (at least, at most): "
        "expected rates are known at the thresholds of the result alone",
    ),
)

_LISTS = (
    MessageType(
        "repeated-pairs",
        "{pairs:count pairs} listed again with the same score; each counts once, and "
        "{arg.keep=repeated} counts every line",
    ),
    MessageType(
        "self-comparisons-left-out",
        "{comparisons:count comparisons} of a template with itself left out; {arg.keep=self} "
        "counts them",
    ),
    MessageType(
        "self-comparisons-counted",
        "{comparisons:count comparisons} of a template with itself counted; leave them out, "
        "unless a protocol counts them",
    ),
    MessageType(
        "both-orders-once",
        "{pairs:count pairs} listed in both orders and taken once ({rounded:count} of them with "
        "the score of the first order, since both differ by rounding alone)",
    ),
    MessageType(
        "some-in-both-orders",
        "{both:count} of {pairs:count pairs} are listed in both orders and count as two attempts; "
        "{arg.unordered} counts each pair alike",
    ),
    MessageType(
        "infinitely-near-scores",
        "{scores:count infinite scores} ({first}) accepted at every finite threshold; check "
        "that these comparisons did not fail",
    ),
    MessageType(
        "infinitely-far-scores",
        "{scores:count infinite scores} ({first}) accepted at no finite threshold",
    ),
    MessageType(
        "repeated-pairs-in-matrix",
        "{pairs:count pairs} listed more than once, with one score",
    ),
    MessageType(
        "score-of-both-orders",
        "{pairs:count pairs} give their score to the other order, too ({arg.unordered})",
    ),
    MessageType(
        "pairs-in-one-order",
        "{one_order:count} of {pairs:count pairs} are listed in one order only, so that searches "
        "and multi-template attempts lack the other one; {arg.unordered} takes each score for both "
        "orders",
    ),
    MessageType(
        "not-listed",
        "{missing:count} of {comparisons:count comparisons} are not listed, and excluded",
    ),
    MessageType(
        "too-many-names",
        "the list names more than {most:count templates}: repeated pairs and comparisons of a "
        "template with itself were not looked for",
    ),
    MessageType(
        "only-genuine-pairs-listed",
        "the {pairs:count pairs} of {file:name} are genuine, all others impostors",
    ),
    MessageType(
        "trials-repeated",
        "a pair is listed again on {lines:count lines} of {file:name}, which adds no attempts",
    ),
    MessageType(
        "lines-left-out",
        "{lines:count lines} of {file:name} left out: they have {have}",
    ),
    MessageType(
        "in-order-of-trials",
        "the scores are taken to be in the order of the trials of {file:name}; check the "
        "order: a shifted list gives rates near chance",
    ),
    MessageType(
        "lists-begin-with-query",
        "{lists:count} of {queries:count lists} begin with the entry at the place of their "
        "query, of the same label; if the gallery was searched with its own templates, they "
        "are to be left out; {arg.leave_out_query} says whether the entries are the queries "
        "themselves",
    ),
    MessageType(
        "lists-begin-at-zero",
        "{lists:count} of {queries:count lists} begin with an entry of the label of their "
        "query at a distance of about 0; if the gallery was searched with some of its own "
        "templates, they are to be left out; {arg.query_positions} names them, and "
        "{arg.leave_out_query} says that there are none",
    ),
    MessageType(
        "own-queries-left-out",
        "{queries:count queries} left out of their own lists and matches, known by {by}",
    ),
)

_ATTEMPTS = (
    MessageType(
        "no-genuine-attempt",
        "no genuine attempt: {rates:terms} are not defined (NaN); check the labels",
    ),
    MessageType(
        "no-impostor-attempt",
        "no impostor attempt: {rates:terms} are not defined (NaN); check the labels",
    ),
    MessageType(
        "no-mated-probe",
        "no probe has a mate: {cms} is not defined (NaN); check that both sides use the same "
        "labels",
    ),
    MessageType(
        "probes-without-mate",
        "{probes:count probes} without a usable mate left out",
    ),
    MessageType(
        "fewer-templates-than-enrolled",
        "{subjects:count subjects} with fewer than {templates:count templates}: all that there are "
        "are enrolled",
    ),
    MessageType(
        "enrolled-without-mate",
        "no genuine attempt of {probes:count enrolled probes}: no mate is left to compare "
        "with; check what is excluded",
    ),
    MessageType(
        "claims-not-enrolled",
        "{claims:count claims} of subjects who are not enrolled left out",
    ),
    MessageType(
        "ties-decide",
        "equal scores decide {words:template}: {pessimistic:rate} if genuine scores come last "
        "among them (pessimistic), {optimistic:rate} if first (optimistic); check whether the "
        "scores are rounded",
    ),
    MessageType(
        "not-all-ranks",
        "ranks 1 to {reported:count} of {ranks:count} are reported: {ranks:count} ranks at "
        "{thresholds:count thresholds} exceed {limit:count values}; {arg.max_rank} sets another "
        "number",
    ),
)

_SUPPORT = (
    MessageType(
        "target-not-supported",
        "{rate:term} at {chosen:term} {targets:rates}: not supported by {have:amounts} "
        "({needed:counts} needed)",
    ),
    MessageType(
        "target-uncertain",
        "{rate:term} at {chosen:term} {targets:rates}: fewer than 30 errors expected of "
        "{have:amounts} ({needed:counts} needed)",
    ),
)

_KIND = (
    MessageType(
        "kind-plausible",
        "scores of kind {kind}; EER {eer:rate} {over}",
    ),
    MessageType(
        "near-chance",
        "the scores, of kind {kind}, hardly separate subjects (EER {eer:rate} {over}): check "
        "labels and kind",
    ),
    MessageType(
        "no-better-than-chance",
        "the scores, of kind {kind}, are no better than chance (EER {eer:rate} {over}): check the "
        "labels, and whether {arg.kind} is {other}",
    ),
    MessageType(
        "labels-doubtful",
        "the scores are no better than chance (EER {eer:rate} {over}), and their kind is certain "
        "(metric {metric:name}): check the labels",
    ),
    MessageType(
        "labels-wrong",
        "the scores are worse than chance (EER {eer:rate} {over}), and their kind is certain "
        "(metric {metric:name}): the labels are wrong; check their order",
    ),
    MessageType(
        "nearest-to-itself",
        "the scores, of kind {kind}, are worse than chance (EER {eer:rate} {over}), yet each "
        "template is nearest to itself: the kind seems right and the labels wrong; check their "
        "order",
    ),
    MessageType(
        "farthest-from-itself",
        "the scores, of kind {kind}, are worse than chance (EER {eer:rate} {over}), and each "
        "template is farthest from itself: they are probably of the other kind; state {other} as "
        "{arg.kind}",
    ),
    MessageType(
        "kind-wrong",
        "the scores, of kind {kind}, are worse than chance (EER {eer:rate} {over}): they are "
        "probably of the other kind; state {other} as {arg.kind}",
    ),
    MessageType(
        "auc-below-half",
        "AUC is below 0.5, so that impostor scores are nearer than genuine scores: check whether "
        "they are of kind {kind}; if not, state {other} as {arg.kind}",
    ),
)

_INTERVALS = (
    MessageType(
        "interval-of-one-subject",
        "a single subject cannot be resampled: intervals of {method} are not defined",
    ),
    MessageType(
        "interval-of-few-subjects",
        "only {subjects:count subjects}: intervals by subject ({method}) are too narrow",
    ),
    MessageType(
        "dependent-attempts",
        "{method} intervals assume independent {attempts}; those of one subject are dependent, and "
        "the intervals are then too narrow: {arg.interval=subject-bootstrap} resamples subjects",
    ),
    MessageType(
        "no-analytic-interval",
        "no analytic interval of {rate:term} at targets of {chosen:term}: the closed form leaves "
        "out the choice of the threshold on these data; {arg.interval=subject-bootstrap} has one",
    ),
    MessageType(
        "no-upper-limit",
        "the upper limit of {frr} is 1 at {far} {targets:rates}: too few people are compared to "
        "support it",
    ),
    MessageType(
        "no-lower-limit",
        "the lower limit of {dir} is 0 at {far} {targets:rates}: too few non-mated searches "
        "support it",
    ),
    MessageType(
        "interval-for-new-people-needs",
        "only {subjects:count subjects}: intervals for new people need at least {needed:count}",
    ),
    MessageType(
        "no-interval-above-rank",
        "no intervals at ranks above {rank:count}: they need more memory",
    ),
)

_SETS = (
    MessageType(
        "actual-cost-above-1",
        "the actual DCF at prior {prior:digits 6} is {cost:decimals 4}, above 1: worse than a "
        "system that always {answer}; choose the threshold on scores like these, or calibrate "
        "them",
    ),
    MessageType(
        "judged-on-same-data",
        "the {set} set is the development set: its errors are those of the data that chose the "
        "threshold (optimistic)",
    ),
    MessageType(
        "people-of-both-sets",
        "{shared} of {people:count subjects} of the {set} set are in the development set, too",
    ),
)

CORE: tuple[MessageType, ...] = (
    *_SCORES,
    *_LISTS,
    *_ATTEMPTS,
    *_SUPPORT,
    *_KIND,
    *_INTERVALS,
    *_SETS,
)
