"""The messages of ranked lists of the nearest K."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "mates-beyond-lists",
        "{searches:count mated searches} without a listed mate among {depth:count} entries: beyond "
        "the lists, rates are bounds ..._at_least and ..._at_most",
        "A mate that is not listed is not closer than the last entry of the list. Its score and "
        "its rank are not known otherwise.",
        "Nothing, if the bounds are close enough. Else save longer lists.",
        "note",
        {"searches": 3, "depth": 20},
    ),
    MessageType(
        "values-within-bounds",
        "lists of {depth:count entries} do not determine {values:names}: the values lie between "
        "..._at_least and ..._at_most",
        "What comes after the last entry of a list is not known. A value that depends on it is "
        "bounded by its smallest and its largest possible value.",
        "Nothing, if the bounds are close enough. Else save longer lists.",
        "note",
        {"depth": 20, "values": ["far (in part)", "eer"]},
    ),
    MessageType(
        "lists-retrieved-whole",
        "the whole list ({depth:count entries}) is retrieved by {whole:count} of {queries:count "
        "queries} at some threshold: from there on, rates are bounds ..._at_least and ..._at_most",
        "At a threshold that is not below the last entry of a list, entries that are not listed "
        "may be retrieved as well.",
        "Nothing, if the bounds are close enough. Else save longer lists.",
        "note",
        {"whole": 3, "queries": 100, "depth": 20},
    ),
    MessageType(
        "queries-without-match",
        "no match in the gallery for {queries:count queries}: {treatment}",
        "A query without a match has no rank and no average precision.",
        "Nothing, if the data are meant to have such queries. Else check the labels.",
        "note",
        {"queries": 7, "treatment": "left out"},
    ),
    MessageType(
        "matches-beyond-lists",
        "some matches are beyond the lists: {measures:names} of the whole gallery are not defined",
        "These measures need the ranks of all matches of a query.",
        "Save lists that are as long as the last match of each query needs, or use measures of "
        "lists that are cut at K.",
        "note",
        {"measures": ["mAP", "mINP"]},
    ),
    MessageType(
        "precision-up-to-rank",
        "lists determine precision and recall up to rank {rank:count} only",
        "Precision and recall at a rank need as many entries of each list.",
        "Save longer lists.",
        "note",
        {"rank": 20},
    ),
)
