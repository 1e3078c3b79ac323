"""The messages of counts of several sites."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "points-of-folded-counts",
        "attempts are counted between thresholds: operating points lie within the bounds "
        "..._at_least and ..._at_most",
        "Folded and shared counts have the numbers of attempts between thresholds, and not the "
        "scores. Rates are exact at these thresholds; what lies between two of them is bounded.",
        "Nothing, if the bounds are close enough. Else count with more thresholds, or keep scores "
        "around operating points with {arg.points}.",
        "note",
        {},
    ),
    MessageType(
        "bins-joined",
        "thresholds and ranks were left out until no count was small: between them are bounds only",
        "A small count may say something about one person. Bins of a shared tally are joined until "
        "each has none or enough attempts.",
        "Nothing, if the bounds are close enough. Else share with a smaller {arg.min_count}, if "
        "the people in the data allow it.",
        "note",
        {},
    ),
    MessageType(
        "means-within-bounds",
        "queries are counted by hundredths of each value: means lie within the bounds "
        "..._at_least and ..._at_most",
        "Folded and shared counts of queries have the number of queries in each hundredth of a "
        "measure. Their mean is known to a hundredth.",
        "Nothing, if that is enough. Else merge tallies that are not folded.",
        "note",
        {},
    ),
    MessageType(
        "no-interval-of-folded-counts",
        "counts that are folded on a grid have no confidence intervals",
        "Intervals by subject need the attempts of each subject; folded and shared counts have "
        "their sums.",
        "Ask each site for its own intervals, or merge tallies that are not folded.",
        "note",
        {},
    ),
    MessageType(
        "probes-repeated",
        "{copies:count} of the {probes:count probes} are copies of an earlier one, with the same "
        "label, metadata and scores (positions {places:names}): these attempts count twice",
        "A copy makes the attempts of its probe again, so that its errors count twice.",
        "Leave the copies out.",
        example={"copies": 2, "probes": 40, "places": ["3", "17"]},
    ),
    MessageType(
        "overlap-without-digests",
        "whether the tallies share a probe was not checked by scores: a tally of a gallery in "
        "parts, or one that was shared, holds no digests of scores",
        "A probe that two sites have at different positions counts twice.",
        "Be sure that each probe is counted at one site only.",
        "note",
        {},
    ),
    MessageType(
        "overlap-of-embeddings-and-scores",
        "whether the tallies share a probe was not checked by scores: one holds digests of "
        "embeddings, the other of the scores of a matrix",
        "A probe that two sites have at different positions counts twice.",
        "Count both from embeddings, or both from scores.",
        "note",
        {},
    ),
    MessageType(
        "probes-perhaps-twice",
        "{probes:count probes} (positions {places:names}) have the same scores as probes of "
        "another tally (there {other_places:names}), but fewer than {distinct:count} distinct "
        "ones, another label or other metadata: they may be the same probes, and count twice",
        "Few distinct scores may agree by chance. Other labels of the same scores are a sign of a "
        "probe under two names.",
        "Look at these probes, and count each in one tally only.",
        example={"probes": 1, "places": ["3"], "other_places": ["8"], "distinct": 4},
    ),
    MessageType(
        "same-labels-other-scores",
        "all {probes:count probes} of a tally have the labels, metadata and positions of probes of "
        "the other one, but other scores: they count as other probes of the same subjects",
        "Two sites whose labels name other people look so, and so do the same probes that were "
        "scored anew.",
        "If the labels name other people, name the site of each tally by {arg.site}; if these are "
        "the same probes, count them in one tally only.",
        example={"probes": 40},
    ),
    MessageType(
        "digests-dropped",
        "whether a probe counts twice was not checked, and subjects are not counted: digests were "
        "dropped when the tallies were shared",
        "Without digests neither probes nor people of two tallies can be told to be the same.",
        "Share with one {arg.salt}, if probes and people must be told apart.",
        "note",
        {},
    ),
    MessageType(
        "tasks-left-out-of-parts",
        "{tasks:names} are left out: {subjects:count subjects} of the gallery have templates in "
        "several parts, and their scores cannot be fused over parts",
        "A claim of such a subject needs the scores of templates at several sites at once.",
        "Hold all templates of a subject at one site.",
        example={"tasks": ["verification/multi"], "subjects": 3},
    ),
    MessageType(
        "counts-too-small-to-share",
        "{tasks} left out: {total:count} {counts}, fewer than {least:count}",
        "A count so small may say something about one person.",
        "Share with a smaller {arg.min_count}, if the people in the data allow it.",
        "note",
        {
            "tasks": "open_set and closed_set",
            "total": 2,
            "counts": "probes behind rank 1",
            "least": 5,
        },
    ),
)
