"""The messages of ranked lists of the nearest K."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "mates-beyond-lists",
        "{searches:count mated searches} without a listed mate among {depth:count} entries: "
        "beyond the lists, rates are bounds ..._at_least and ..._at_most; longer lists narrow "
        "the bounds",
    ),
    MessageType(
        "values-within-bounds",
        "lists of {depth:count entries} do not determine {values:names}: the values lie "
        "between ..._at_least and ..._at_most; longer lists narrow the bounds",
    ),
    MessageType(
        "lists-retrieved-whole",
        "the whole list ({depth:count entries}) is retrieved by {whole:count} of "
        "{queries:count queries} at some threshold: from there on, rates are bounds "
        "..._at_least and ..._at_most; longer lists narrow the bounds",
    ),
    MessageType(
        "queries-without-match",
        "no match in the gallery for {queries:count queries}: {treatment}",
    ),
    MessageType(
        "matches-beyond-lists",
        "some matches are beyond the lists: {measures:names} of the whole gallery are not "
        "defined; save longer lists",
    ),
    MessageType(
        "precision-up-to-rank",
        "lists determine precision and recall up to rank {rank:count} only",
    ),
)
