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
        "queries-left-out",
        "left out: {queries:count queries} with an id of {role} ({ids:names}), which match "
        "nothing; {arg.junk_ids} and {arg.distractor_ids} choose the ids",
    ),
    MessageType(
        "no-query-with-match",
        "no query has a match, and {consequence}: {why}",
    ),
    MessageType(
        "all-queries-in-gallery",
        "the identity of every query is in the gallery, so mFR is not defined; give queries of "
        "other people with {arg.open_queries}",
    ),
)
