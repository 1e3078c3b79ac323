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
        "same-value-counted",
        "pairs of the same {column} are counted and make rates optimistic; {advice:template}",
    ),
    MessageType(
        "unknown-values",
        "{column:name} is not known (None, NaN, empty text, camera -1) of {probes:count probes} "
        "and {templates:count gallery templates}: {treatment}",
    ),
    MessageType(
        "labels-doubtful",
        "{why}, so there is no {role} attempt: check the labels",
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
)

_LISTS = (
    MessageType(
        "repeated-pairs",
        "{pairs:count pairs} listed again{how}; each counts once{remedy:template}",
    ),
    MessageType(
        "self-comparisons-left-out",
        "{comparisons:count comparisons} of a template with itself left out; {arg.lists.keep=self} "
        "counts them",
    ),
    MessageType(
        "infinite-scores",
        "{scores:count infinite scores}{first} accepted at {accepted} finite threshold; check "
        "that these comparisons did not fail",
    ),
    MessageType(
        "pairs-in-one-order",
        "{one_order:count} of {pairs:count pairs} are listed in one order only{consequence}; "
        "{arg.lists.unordered=True} counts all pairs alike",
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
        "{lists:count} of {queries:count lists} begin with {entry}; if the gallery was searched "
        "with its own templates, they are to be left out: {arg.query_positions} names them, and "
        "{arg.lists.leave_out_query} says whether the entries are the queries themselves",
    ),
)

_ATTEMPTS = (
    MessageType(
        "no-attempt",
        "no {what}: {rates:terms} are not defined (NaN); check the labels of both sides",
    ),
    MessageType(
        "probes-without-mate",
        "{probes:count probes} without a usable mate in the gallery left out{where}",
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
        "no-threshold",
        "there is no finite threshold: {why}; choose another rule, or give a number as "
        "{arg.threshold}",
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
        "near-chance",
        "the scores, of kind {kind}, hardly separate subjects (EER {eer:rate} {over}): check the "
        "labels, and whether {arg.kind} is {other}",
    ),
    MessageType(
        "labels-wrong",
        "the scores are no better than chance (EER {eer:rate} {over}), and {evidence}: the "
        "labels are probably wrong; check them and their order",
    ),
    MessageType(
        "kind-wrong",
        "the scores, of kind {kind}, are worse than chance (EER {eer:rate} {over}){evidence}: "
        "they are probably of the other kind; state {other} as {arg.kind}",
    ),
)

_INTERVALS = (
    MessageType(
        "interval-of-few-subjects",
        "only {subjects:count subjects}: intervals by subject ({method}) are {fault}",
    ),
    MessageType(
        "dependent-attempts",
        "{method} intervals assume independent {attempts}; those of one subject are dependent, and "
        "the intervals are then too narrow: {arg.interval=subject-bootstrap} resamples subjects",
    ),
    MessageType(
        "no-interval",
        "no interval of {of:template}: {why:template}",
    ),
    MessageType(
        "limit-not-supported",
        "the {end} limit of {rate:term} is {limit:count} at {far} {targets:rates}, which too few "
        "people or attempts support",
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
        "people-of-both-sets",
        "{who} of the {set} set are in the development set, too, and its errors are optimistic; "
        "judge the threshold on other people",
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
