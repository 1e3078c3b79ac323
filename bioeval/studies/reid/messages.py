"""The messages of re-identification."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "more-matches-than-places",
        "{beyond:count} of {queries:count queries} with more matches in the gallery than a list "
        "cut at rank {places:count} has places: even a perfect list has a rank-K average precision "
        "below 1",
        "The rank-K average precision divides by all matches in the gallery, of which a list of K "
        "places has at most K.",
        "Compare systems at one K only. Or divide by the smaller of K and the number of matches, "
        'with {arg.rank_k_over} = "smaller".',
        example={"beyond": 3, "queries": 100, "places": 10},
    ),
    MessageType(
        "expected-ties",
        "{queries:count queries} with ties: {measures:names} are not defined under expected ties; "
        "choose another value of {arg.ties}",
        "Under expected ties a measure is the mean over all orders of tied entries. For sums over "
        "several matches it is not offered.",
        "Choose stable, pessimistic or optimistic ties.",
        example={"queries": 4, "measures": ["mAP", "mINP"]},
    ),
    MessageType(
        "queries-not-in-gallery",
        "no match for {queries:count queries}, whose identity is not in the gallery: {treatment}",
        "A query whose identity is not in the gallery has no rank and no average precision.",
        "Nothing, if the data are meant to have such queries. Else check that both sides use the "
        "same labels.",
        "note",
        {"queries": 7, "treatment": "left out"},
    ),
    MessageType(
        "queries-with-removed-matches",
        "no match left for {queries:count queries}, whose matches are all removed: {treatment}",
        "A convention removes entries of the gallery for a query, such as those of the same "
        "camera. These queries have no other match.",
        "Check the cameras, or choose a convention that removes less.",
        "note",
        {"queries": 2, "treatment": "left out"},
    ),
    MessageType(
        "queries-left-out",
        "left out: {queries:count queries} with an id of {role} ({ids:names}), which match nothing",
        "Ids of junk and of distractors are of no identity that is searched for.",
        "Nothing, if these ids are meant. Else change {arg.junk_ids} or {arg.distractor_ids}.",
        "note",
        {"queries": 3, "role": "distractors", "ids": ["0"]},
    ),
    MessageType(
        "no-query-with-match",
        "no query has a match: {consequence}",
        "Measures of re-identification are means over queries that have a match in the gallery.",
        "Check the labels and the cameras of both sides, or choose another convention.",
        example={"consequence": "nothing can be ranked"},
    ),
    MessageType(
        "all-queries-in-gallery",
        "the identity of every query is in the gallery, so mFR is not defined",
        "The mean false rate is over queries whose identity is not in the gallery.",
        "Give queries of other people with {arg.open_queries}.",
        "note",
        {},
    ),
    MessageType(
        "intervals-of-proportions",
        "{method} intervals are of proportions; means of other values, such as mAP, have none",
        "The method needs a number of errors among independent attempts, and a mean of average "
        "precisions is none.",
        "Choose an interval by subject with {arg.interval}.",
        "note",
        {"method": "wilson"},
    ),
    MessageType(
        "same-camera-counted",
        "pairs of the same camera are counted; conventions of re-identification, such as protocol "
        "market1501, leave them and junk out",
        "The scores have the cameras of both sides, and the protocol was chosen by their layout.",
        "Name the protocol: one of re-identification, or the one that is meant.",
        example={},
    ),
)
