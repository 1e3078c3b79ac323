"""The messages of counts of several sites."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "points-of-folded-counts",
        "attempts are counted between thresholds: operating points lie within the bounds "
        "..._at_least and ..._at_most",
    ),
    MessageType(
        "bins-joined",
        "thresholds and ranks were left out until no count was small: between them are bounds only",
    ),
    MessageType(
        "means-within-bounds",
        "queries are counted by hundredths of each value: means lie within the bounds "
        "..._at_least and ..._at_most",
    ),
    MessageType(
        "no-interval-of-folded-counts",
        "counts that are folded on a grid have no confidence intervals",
    ),
    MessageType(
        "probes-repeated",
        "{copies:count} of the {probes:count probes} are copies of an earlier one, with the same "
        "label, metadata and scores (positions {places:names}): these attempts count twice",
    ),
    MessageType(
        "overlap-without-digests",
        "whether the tallies share a probe was not checked by scores: a tally of a gallery in "
        "parts, or one that was shared, holds no digests of scores",
    ),
    MessageType(
        "overlap-of-embeddings-and-scores",
        "whether the tallies share a probe was not checked by scores: one holds digests of "
        "embeddings, the other of the scores of a matrix",
    ),
    MessageType(
        "probes-perhaps-twice",
        "{probes:count probes} (positions {places:names}) have the same scores as probes of "
        "another tally (there {other_places:names}), but fewer than {distinct:count} distinct "
        "ones, another label or other metadata: they may be the same probes, and count twice",
    ),
    MessageType(
        "same-labels-other-scores",
        "all {probes:count probes} of a tally have the labels, metadata and positions of probes of "
        "the other one, but other scores: they count as other probes of the same subjects",
    ),
    MessageType(
        "digests-dropped",
        "whether a probe counts twice was not checked, and subjects are not counted: digests were "
        "dropped when the tallies were shared",
    ),
    MessageType(
        "tasks-left-out-of-parts",
        "{tasks:names} are left out: {subjects:count subjects} of the gallery have templates in "
        "several parts, and their scores cannot be fused over parts",
    ),
    MessageType(
        "counts-too-small-to-share",
        "{tasks} left out: {total:count} {counts}, fewer than {least:count}",
    ),
)
