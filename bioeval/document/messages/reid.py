"""The messages of re-identification."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "more-matches-than-places",
        "{beyond:count} of {queries:count queries} with more matches in the gallery than a list "
        "cut at rank {places:count} has places: even a perfect list has a rank-K average precision "
        "below 1",
    ),
    MessageType(
        "expected-ties",
        "{queries:count queries} with ties: {measures:names} are not defined under expected ties; "
        "choose another value of {arg.ties}",
    ),
    MessageType(
        "queries-with-removed-matches",
        "no match left for {queries:count queries}, whose matches are all removed: {treatment}",
    ),
    MessageType(
        "queries-left-out",
        "left out: {queries:count queries} with an id of {role} ({ids:names}), which match "
        "nothing; {arg.junk_ids} and {arg.distractor_ids} choose the ids",
    ),
    MessageType(
        "only-junk-queries",
        "all queries are junk or distractors, which match nothing: {consequence}; give queries of "
        "people",
    ),
    MessageType(
        "no-query-in-gallery",
        "no identity of the {queries:count queries} is in the gallery: {consequence}; check that "
        "both sides use the same labels",
    ),
    MessageType(
        "no-query-with-match",
        "no query has a match left: {consequence}. All matches of {removed:count} of "
        "{queries:count queries} are removed ({rule}) or failed, and {absent:count} have none in "
        "the gallery; check the cameras, and if all images are of one camera, choose a convention "
        "that removes none, such as vehicleid",
    ),
    MessageType(
        "all-queries-in-gallery",
        "the identity of every query is in the gallery, so mFR is not defined; give queries of "
        "other people with {arg.open_queries}",
    ),
    MessageType(
        "same-camera-counted",
        "pairs of the same camera are counted and make rates optimistic; {arg.exclude=camera} "
        "leaves genuine ones out, and conventions of re-identification, such as protocol "
        "market1501, leave out junk, too",
    ),
)
