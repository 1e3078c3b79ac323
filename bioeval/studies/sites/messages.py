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
)
