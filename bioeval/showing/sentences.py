"""The sentence of each message, by its code: what was found, where, and what to do about it.

A sentence is a template, and its arguments have their formats in it, as those of
:func:`bioeval.showing.text.say`. A part in square brackets is left out where a message lacks
an argument of the part.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import replace

from bioeval.base.errors import Message
from bioeval.showing.text import RATES, TRANSACTIONS, Phrase, Text, is_term, say

#: A part of a sentence that may be left out.
_OPTIONAL = re.compile(r"\[([^][]*)\]")

#: Numbers of both classes, as in `{genuine:count} genuine and {impostor:count impostor attempts}`.
_BOTH_CLASSES = re.compile(r"\{(\w+):count\} genuine and \{(\w+):count impostor (\w+)\}")


class Doubt(str):
    """A sentence that doubts a number of the result, or says why one is NaN.

    The call that returns the result issues it as a Python warning, too
    (:func:`bioeval.showing.messages.warns_of_doubts`).
    """


def _read(table: str) -> Iterator[tuple[str, str]]:
    for entry in re.split(r"\n(?=\S)", table.strip()):
        code, _, sentence = " ".join(entry.split()).partition(": ")
        if not code.startswith("#"):
            yield code.removesuffix("!"), Doubt(sentence) if code.endswith("!") else sentence


#: The sentences that answer what a study is made for. They stand above all numbers, and are no
#: warnings.
ANSWERS = dict(
    _read("""
install-threshold: Install {threshold:threshold}. With {confidence:rate} confidence, the {far} among
    {people} is at most {target:rate}; on these data it is {far_here:rate}.[ Compared with the
    threshold by the rule, the {frr} on these data rises from {frr_without:rate} to
    {frr_here:rate}.] The upper limit is an estimate, which counts the two people with the most
    false accepts twice.
no-threshold-promised: No threshold can be guaranteed to meet the target: {why}.[ About
    {people:count people} would suffice, but only for a much stricter threshold, whose {far} on
    these data is {people_far:rate}.]
nothing-to-install: No threshold can be recommended: {why}.
threshold-accepts: {status}: accept where the {scores} {sign} {threshold:threshold}.[ It is
    provisional, because {why}.][ On {people}, expect {far} {far_new:rate} (confidence interval
    {far_low:rate} to {far_high:rate}) and {frr} {frr_new:rate} ({frr_low:rate} to
    {frr_high:rate}).][ On {people}, expect {far} {far_new:rate} (confidence interval {far_low:rate}
    to {far_high:rate}); {frr_without}.][ On {people}, expect {frr} {frr_new:rate} (confidence
    interval {frr_low:rate} to {frr_high:rate}); {far_without}.][ What to expect on {people} is
    unknown: {unshown}.][ In use, {far} may be above the
    target of {target:rate}: to be safer, choose a lower target or test more people.]
threshold-accepts-nothing: {status}: accept nothing.
promise-kept: Shown: the {rate:term} at {threshold:threshold} is at most
    {promise:rate}; with {confidence:rate} confidence, it is at most {high:rate}.
promise-not-kept: Refuted: the {rate:term} at {threshold:threshold} is
    above {promise:rate}; with {confidence:rate} confidence, it is at least {low:rate}.
promise-open: Open: these data do not settle whether the {rate:term} at
    {threshold:threshold} is at most {promise:rate}; its one-sided limits, each at {confidence:rate}
    confidence, are {low:rate} and {high:rate}.[ At this rate, about {people_to_settle:count people}
    would be enough to settle it.]
system-better: {best:name} is better than {worse:names} in {measures:measures}.[ Less certain than
    the p value, since fewer than 30 independent errors are expected: {uncertain:measures}.]
systems-better: The best system is one of {best:names} in {measures:measures}; {number:count other
    systems} performed significantly worse ({worse:names}).[ Less certain than the p value, since
    fewer than 30 independent errors are expected: {uncertain:measures}.]
systems-not-different: No significant difference between {systems:names} in {measures:measures}.
systems-not-concluded: No conclusion on {measures:measures}: {why}.
errors-of-groups: At the threshold {threshold:threshold}, the same for all groups, {frr} is from
    {least:rate} ({groups_with_least:names}) to {most:rate} ({groups_with_most:names})[, and {far}
    {within} from {far_least:rate} ({far_groups_with_least:names}) to {far_most:rate}
    ({far_groups_with_most:names})].
groups-tested: A permutation test over people finds {finding} between the groups: p {frr_p:digits 2}
    for {frr}, {far_p:digits 2} for {far} within groups.[ This does not show that the groups are
    equal: {frr} may differ by up to {frr_points:decimals 2} percentage points, and {far} within
    groups by up to {far_points:decimals 2}.]
most-errors: At the threshold {threshold:threshold}, the highest {frr} of a subject is {rate:rate}
    ({subjects:names}), with {errors:count} of {attempts:count genuine attempts} rejected
    ({share:rate} of all false rejects).[ The highest {far} of a subject's probes is
    {far_rate:rate} ({far_subjects:names}), with {far_errors:count} of {far_attempts:count impostor
    attempts} accepted ({far_share:rate} of all false accepts).] Look at their templates first;
    results without these people would only look better.
animals-tested: Found beyond chance: {animals:names}.[ Undecided: {others:names}, which may exist
    all the same.][ Not tested: {untested:names}; to test them, call be.zoo (bioeval zoo) with
    {tested_by}.] Goats are hard to recognize, wolves are easily accepted as others, and others are
    easily accepted as lambs (permutation tests at 5 %, corrected by Holm's method).
""")
)

#: All sentences; a code with an exclamation mark is of a doubt.
SENTENCES = ANSWERS | dict(
    _read("""
# Scores, attempts, kinds and intervals: of every evaluation
listed-pairs-missing: {pairs:count} of the {listed:count pairs} in the list are left out, because
    one of their templates is missing
no-mate-in-gallery!: no subject of a probe is in the gallery (probe labels are {probe_dtype},
    gallery labels {gallery_dtype}): check that both sides use the same labels[; if {first:name} to
    {last:name} are features of embeddings, give `metric`]
same-labels-twice: probe and gallery labels are the same list; if these are the same templates,
    leave `gallery_labels` out, so that no template is compared with itself
copies-in-gallery!: about {copies:count} of {probes:count probes}[ (judged by {judged:count} of
    them)] seem to be gallery templates themselves, compared with a copy under their own label:
    {remedy:template}
templates-on-both-sides: {templates:count comparisons} of a template with itself left out: equal
    names on both sides[, {how}]
failures: {genuine:count} genuine and {impostor:count impostor comparisons} failed: they are
    {meaning}
visits-joined!: {visits:count visits} {why}, the first of {person:name} with {column:name}
    {visit:name}: if the names start again each day, tries of several visits are joined; give each
    visit its own name
failures-of-visits: of the tries, {tries_genuine:count} genuine and {tries_impostor:count impostor
    comparisons} failed[; {genuine:count} genuine and {impostor:count impostor attempts} failed in
    all tries: they are {meaning}]
same-value-counted!: genuine pairs of the same {column} are counted, which can make rates
    optimistic; {advice:template} leaves them out
not-all-against-all!: the matrix does not look like one of all templates against all: many templates
    are not nearest, or not near, to themselves (the diagonal), and it is not symmetric; if its
    columns are other templates than its rows, `gallery_labels` is missing, and each row lacks a
    comparison
half-matrix!: all values on one side of the diagonal are the same, so half of the comparisons are
    not scores: give the whole matrix (D + D.T if this half is 0), or exclude this half with a mask
exclusion-without-effect!: the exclusion {exclusion:name} leaves out no comparison: check the values
    of its column, and their spelling
values-look-alike!: {values:count} of {of:count values} of {column:name} differ from another value
    only in case, spaces, Unicode form (NFC, NFD), or leading or trailing zeros, and are treated as
    different values
    ({examples}); spell them alike
cameras-not-used: both sides have a column {column:name}, which this evaluation does not use:
    `protocol="market1501"` uses it for re-identification (mAP, CMC), and reading with
    `exclude="camera"` leaves out genuine pairs of the same camera
unknown-values: {column:name} is unknown (None, NaN, empty text, camera -1) for {probes:count
    probes} and {templates:count gallery templates}: {treatment}
labels-doubtful!: {why}, so there is no {role} attempt: the labels of both sides must name subjects,
    not templates
one-gallery: there is one gallery: the metadata have no column {column:name} with several values,
    over which rates would be averaged
mean-over-galleries: means over the galleries {galleries:names}, each at its own thresholds; numbers
    of attempts are sums over the galleries, and do not weight the means
repeated-pairs: {pairs:count pairs} listed again{how}; each counts once{option:template}
self-comparisons-left-out: {comparisons:count comparisons} of a template with itself left out;
    {option:template} counts them
no-person: {templates} whose label stands for no known person ({labels:names}): {treatment};
    `distractor_ids` sets these labels
pairs-of-no-person: {pairs:count pairs} left out: neither template belongs to a known person
infinite-scores!: {scores:count infinite scores}{first} accepted at {accepted} finite threshold;
    check that these comparisons did not fail
pairs-in-one-order: {one_order:count} of {pairs:count pairs} are listed in one order
    only{consequence}; {option:template} treats all pairs alike
pairs-left-out: pairs = {rule}: {compared:count} of {comparisons:count comparisons} are attempts;
    {orders:count} repeat such a pair in the other order, and {others:count} are impostor pairs in
    which a template is not the first of its subject
pairs-missing: the scores lack {genuine:count} genuine and {impostor:count impostor pairs} that the
    protocol compares (pairs = {rule})
first-by-order: for {what}, the first template of a subject is the one that comes first in the rows:
    there are no names (metadata template or name) and no column impression
sides-by-order: of the first templates of two subjects, the one that comes first in the rows is
    enrolled and the other is the probe: column {column:name} orders the templates of a subject, and
    there are no names (metadata template or name) that order subjects
not-listed: {missing:count} of {comparisons:count comparisons} are not listed, and are excluded
candidates-missing!: a part of the gallery was not compared with {probes:count} of
    {searches:count probes} (each probe with at least {least:count} and at most {most:count} of
    {candidates:count templates}), and ranks and identification rates refer to the compared
    templates only; compare each probe with the whole gallery
transactions-incomplete: {genuine:count} genuine and {impostor:count impostor attempts} did not have
    all tries compared with the claimed subject, and no rate counts them; compare all tries of an
    attempt with the same subjects
too-few-templates: {genuine:count} genuine and {impostor:count impostor attempts}{where} did not
    count: the claimed subject has fewer than the {templates:count templates} that fusion
    kth:{templates} needs; take a smaller K, or another rule
only-genuine-pairs-listed: the {pairs:count pairs} in {file:name} are genuine, and all other pairs
    are impostor pairs
lines-left-out: {lines:count lines} of {file:name} left out: they have {have}
arrays-left-out: arrays that are not used as metadata ({arrays:names}); metadata have one value per
    template, and names that begin with probe_ or gallery_ where the sides differ
columns-left-out: columns that differ within a template whose embeddings are averaged are left out
    of the metadata: {columns:names}
taken-in-order: {named} have {keys}, and {unnamed} have none: both are assumed to be in the same
    order
in-order-of-trials: the scores are assumed to be in the order of the trials in {file:name}; check
    this, because a shifted list gives error rates near chance
no-attempt!: no {what}: {rates:terms} are not defined (NaN); check the labels of both sides, or the
    classes of pairs
probes-without-mate: {probes:count probes} without a usable mate in the gallery left out{where}
fewer-templates-than-enrolled: {subjects:count subjects} with fewer than {templates:count
    templates}: all of their templates are enrolled
enrolled-without-mate: {probes:count enrolled probes} without a genuine attempt, because no mate is
    left to compare with; check the exclusions
claims-not-enrolled: {claims:count claims} of subjects who are not enrolled left out
ties-decide!: equal scores decide {words:template}: {pessimistic:rate} if genuine scores come last
    among them (pessimistic), {optimistic:rate} if first (optimistic); check whether the scores are
    rounded
threshold-beyond-scores!: the threshold {threshold:digits 6} {does} {part} attempts of both classes:
    check its scale, and the kind of the scores
thresholds-beyond-scores!: the {number:count} thresholds, from {smallest:digits 6} to
    {largest:digits 6}, each accept or reject at least 99.9 % of the attempts of both classes: check
    their scale, and the kind of the scores
no-threshold!: there is no finite threshold: {why}; choose another rule, or give a number as
    `threshold`
not-all-ranks: ranks 1 to {reported:count} of {ranks:count} are reported: {ranks:count} ranks at
    {thresholds:count thresholds} exceed {limit:count values}; `max_rank` sets another number
target-not-supported: {rate:term} at {chosen:term} <= {targets:rates} cannot be estimated from
    {have:amounts}: at least {needed:range} are needed (rule of 3[: 3 / {chosen:term}
    {trials:nouns}])
target-uncertain: {rate:term} at {chosen:term} <= {targets:rates} is uncertain: with {have:amounts},
    fewer than 30 independent {errors} are expected; at least {needed:range} {unit} are needed
    (rule of 30[: 30 / {chosen:term} {trials:nouns}])
near-chance!: the scores, of kind {kind}, hardly separate subjects (AUC {auc:decimals 2} of a sample
    of attempts, 0.5 by chance): check the labels, and whether `kind` is {other}
labels-wrong!: the scores are no better than chance (AUC {auc:decimals 2} of a sample of attempts),
    and their kind is certain (metric {metric}): the labels are probably wrong; check them and their
    order
kind-wrong!: the scores, of kind {kind}, are worse than chance (AUC {auc:decimals 2} of a sample of
    attempts): they are probably of the other kind; give {other} as `kind`
kind-or-classes-wrong!: the scores, of kind {kind}, are worse than chance (AUC {auc:decimals 2} of a
    sample of attempts), and scores alone cannot say why: either they are of the other kind, or
    genuine and impostor scores were exchanged; find out which before you change either
scores-not-counted: the scores cannot be evaluated: {why}
interval-of-few-units!: people are left out together by `{unit}`, in only {units:count groups}:
    intervals are {fault}
interval-of-few-subjects!: only {subjects:count subjects}: intervals by subject ({method}) are
    {fault}
dependent-attempts!: {method} intervals assume independent {attempts}, but {attempts} of one subject
    are dependent, so the intervals are too narrow: use `interval="people"`, which is by subject
left-out-in-groups: for the intervals, {groups:count groups} of the {subjects:count subjects} are
    left out in turn, instead of one subject at a time
no-interval!: no interval of {of:template}: {why:template}
limit-not-supported: the {end} limit of {rate:term} is {limit:count} at {far} {targets:rates},
    because there are too few people or attempts
actual-cost-above-1: the actual DCF at prior {prior:digits 6} is {cost:decimals 4}, above 1: worse
    than a system that always {answer}; choose the threshold on scores like these
people-of-both-sets!: {who} of the test set are also in the training set, so the error rates are
    optimistic; test on other people
# Ranked lists of the nearest K
queries-without-match: no match for {queries:count queries} ({why:template}): {treatment}
matches-beyond-lists!: some matches are beyond the end of the lists, so {what:names} are not
    defined; save longer lists
# Re-identification
more-matches-than-places!: {beyond:count} of {queries:count queries} with more matches in the
    gallery than a list cut at rank {places:count} has places: even a perfect list has a rank-K
    average precision below 1
expected-ties!: {queries:count queries} with ties: {measures:names} are not defined under expected
    ties; choose another value of `ties`
queries-left-out: left out: {queries:count queries} with an id of {role} ({ids:names}), which match
    nothing; `junk_ids` and `distractor_ids` choose the ids
no-query-with-match: no query has a match, and {consequence}: {why}
all-queries-in-gallery!: the identity of every query is in the gallery, so mFR is not defined; add
    queries of other people as rows
# A check of data
subjects-with-one-template: {subjects:count subjects} with one template, and so without a genuine
    attempt; collect a second template of each if you can
labels-in-several-spellings: {labels:count labels} in several spellings, counted as different
    subjects; if these are the same people, write their labels alike
names-repeated: {values:count values} of {column:name} {how}; leave the repetitions out, unless
    these are several templates of one file
notes-of-list: {notes:messages}
people-few: {size:amounts}: intervals over so few people are rough; collect data of more people
comparisons-failed: {comparisons:count comparisons} failed (NaN){treatment:template}
values-of-failures: {comparisons:counts} of {compared:amounts} have the score {values:scores},
    {how}; if comparisons failed there, read the file with {option:template} and `nan="exclude"` (no
    attempt) or `nan="reject"`, or mask them
copies-of-one: {copies:amounts} {at}: these are copies rather than attempts; leave them out
copies-of-two: {copies:amounts} {at}: look at these templates, the worst pairs, and correct their
    labels or leave copies out
not-in-common: {what} that some systems lack are left out: {left_out:counts}
measures-not-defined: measures left out, because some systems lack them: {measures:names}
one-rate-at-threshold: {rate:term} alone decides nothing at a given threshold, since the system that
    accepts more has the lower {frr} and the higher {far}: compare {other:term}, too ({measure})
attempts-of-systems: {systems:names} did not make the same attempts as {first:name}, because of
    failed comparisons, masks or exclusions. Attempts of each class are {attempts:counts}, and
    {attempts_of_first:counts} of {first:name}; give all systems the same mask and exclusions, and
    count failed comparisons with `nan="reject"`
# Groups
rates-of-groups-undefined!: {what:template} not defined: {why} ({groups:names}){advice:template}
groups-of-few-subjects: groups of fewer than {needed:count subjects} are flagged and should not be
    ranked; they are left out of tests and of all comparisons between groups: {groups:names}
groups-of-attempts: only {several:count} of {of:count subjects} have templates in several groups
    (such as {subject:name} in {groups:names}), so attempts are grouped by the value of the probe;
    to group people, give all templates of a subject the same value
few-expected-errors-in-groups: at the overall {rate:term} of {overall:rate}, fewer than
    {needed:count} {errors} are expected (rule of {needed:count}, which assumes independent
    errors[; {once}]): {groups:names}
groups-not-compared: no conclusion on whether {what:template}: {why}
# A zoo
infinite-scores-left-out!: {attempts:count attempts} with an infinite score left out of all means;
    give failed comparisons as NaN
animals-not-tested!: the test of {animals} is not defined: {why}
# Fusion of systems
systems-of-other-scales!: the scores of {narrow:name} are from {narrow_low:digits 4} to
    {narrow_high:digits 4}, and those of {wide:name} from {wide_low:digits 4} to {wide_high:digits
    4}, so fusion by {method} is dominated by one of them; give `normalise`, such as min-max, which
    puts the systems on one scale
trained-on-same-scores!: the fusion was trained on the scores that it is applied to, so the results
    are optimistic; train it on scores of other people
# Folds and repeated partitions
undefined-in-parts!: [{what:template}][{measures:measures}] had no value (NaN) in {where}: {why};
    make fewer parts, by subject, or give more people
ties-in-partitions: equal scores decide the rank of {tied:count} of {probes:count probes} in
    {number:count} partitions, by the rule of ties; ties = optimistic and ties = pessimistic give
    the range
no-spread-between-parts!: {rate:term}[ at rank {ranks:counts}] is {value} in every {unit}: the
    spread is 0, so there is no interval over {unit}s
one-part!: there is only one {unit}: no interval and no standard deviation; divide the data more
    than once
pairs-across-parts: each division into folds leaves {pairs:count pairs} of subjects in different
    parts untested, and tests {tested:count}; fewer folds test more
galleries-of-different-sizes: a search of a test part is among {test:range} people (in {part},
    among {train:range}), and more people make more errors: compare these rates only with rates
    among as many people
subjects-in-both-parts!: up to {subjects:count subjects} of a test part are in its training part,
    too (in {parts:count} of {number:count} {unit}s): the rates are not those of new people. Divide
    by subject, as SubjectKFold does
# Threshold studies
fewer-folds: {folds:count folds} instead of {usual:count}, because there are only {there:count}
    {what}
pairs-divided: pairs are divided, not subjects, so a subject in several pairs may be in both the
    training and the test part; give the subjects of the pairs, so that folds divide people
no-interval-by-subject: the subjects of the pairs are not given, so there is no interval by subject;
    if template names contain the subjects, give `subject_from`, such as '{pattern:name}'
target-not-shown: the data cannot show {rate:term} {target:rate}: even without a {error},
    {needed:amounts} would be needed (rule of 3)
training-cannot-show: the training parts of the folds have {there:amounts}, and cannot show
    {rate:term} {target:rate}; {needed:amounts} would be needed in each (rule of 3)
threshold-uncertain: the threshold {which}is uncertain with fewer than {needed:amounts}: so many are
    needed to expect 30 independent {errors} at {rate:term} {target:rate} (rule of
    30){beside:template}
wilson-without-subjects!: the subjects of the test set are not known, so the intervals are Wilson's
    and assume independent attempts: they are too narrow, since the attempts of one subject are
    dependent; if names contain the subjects, give `subject_from`, such as '{pattern:name}'
target-missed: at the threshold by the rule, the {far} on {people} was {rate:rate},
    {times:digits 2} times the target of {target:rate}[, but its interval, from {low:rate}, contains
    the target]
# Assured thresholds
kinds-of-people-absent: kinds of people[ rarer than {share:rate} (3 in {people:count})] may be
    absent from the data
no-impostor-attempts!: there are no impostor attempts
too-few-people-to-resample!: there are only {people:count} {who}; at least {needed:count} are needed
strictest-threshold-above-target!: even at the strictest threshold that was tried, {far:rate}
    {event} in these data, above the target of {target:rate}; more people would not help
too-few-people-to-promise!: even at a strict threshold, at which {far:rate} {event} in these data,
    the upper limit of this rate is {high:rate} with {confidence:rate} confidence, above the target
    of {target:rate}; {people:count} {over} are too few
unequal-numbers-of-templates: the assured {far}, {far_of_means:rate}, gives all {over} equal weight;
    over all attempts {far} is {far_of_attempts:rate}, because people have unequal numbers of
    templates
assurance-of-derived-scores: the scores were derived from others ({origin:name}); the guarantee
    holds only if nothing was fitted to these same people
# Galleries of other sizes
one-subject-left-out!: {far} at {subjects:count subjects} is undefined: an enrolled probe has
    {others:count other subjects}
# Tracking
results-without-truth!: skipped, as there is no ground truth: {number:count results}, such as
    {names:names}; compare the names of both sides
no-boxes!: the {side} has no box to evaluate
no-matches!: no box of the result overlaps a target by {iou:digits 6}; compare the coordinates
    (left, top, width and height in pixels) and the frame numbers (from 1) of both sides
class-0-ignored: ignored: {boxes:count boxes} of class 0 beside other classes, of which class 1
    alone is evaluated; `classes` chooses others
boxes-beyond-truth: counted as false positives: {boxes:count boxes} of the result beyond frame
    {last:name}, the last one of the ground truth
ignored-boxes: ignored: {boxes:count boxes} of the ground truth; boxes of the result that match
    {which} {treatment}; `ignored` chooses the convention
frames-not-given: the number of frames is not given for {unknown:count} of {sequences:count
    sequences}: rates per frame are over the frames with rows; give this number in seqinfo.ini or as
    `frames`
few-sequences!: no intervals over {sequences:count sequences}: at least {needed} are needed
sequences-not-in-common: left out: {left_out:count} of {sequences:count sequences}, such as
    {names:names}; sequences without a result: {trackers:counts}
sequences-of-one-video: {sequences:count sequences} show {videos:count videos}, each with the
    detections of several detectors: the intervals leave out one video at a time
""")
)


def sentence_of(message: Message) -> Phrase:
    """Return the sentence of a message; its argument `task`, if any, chooses the terms."""
    arguments, sentence = message.arguments, SENTENCES[message.code]

    def kept(part: re.Match[str]) -> str:
        names = (name for _, name, _, _ in string.Formatter().parse(part[1]) if name)
        return part[1] if all(x in arguments or is_term(x) for x in names) else ""

    def classes(part: re.Match[str]) -> str:  # a class without any is left out
        genuine, impostor, nouns = part.groups()
        if not arguments[impostor]:
            return f"{{{genuine}:count genuine {nouns}}}"
        return part[0] if arguments[genuine] else f"{{{impostor}:count impostor {nouns}}}"

    sentence = _BOTH_CLASSES.sub(classes, _OPTIONAL.sub(kept, sentence))
    task = str(arguments.get("task", ""))
    return Phrase(sentence, arguments, task if task in (*RATES, TRANSACTIONS) else "")


def finding_of(message: Message) -> Text:
    """Return what a message has found: its sentence up to the first colon or semicolon."""
    phrase = sentence_of(message)
    depth = 0
    for i, character in enumerate(phrase.template):
        depth += (character in "{[(") - (character in "}])")
        if not depth and phrase.template[i : i + 2] in (": ", "; "):
            phrase = replace(phrase, template=phrase.template[:i])
            break
    if message.about:
        return say("{about:names}: {finding}", about=message.about, finding=phrase)
    return phrase
