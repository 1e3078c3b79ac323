"""The messages of results over galleries of other sizes, or of fewer templates."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "no-interval-over-drawn-galleries",
        "means over drawn galleries have no confidence intervals",
    ),
    MessageType(
        "sizes-beyond-data",
        "rates in galleries of {sizes:counts} subjects are extrapolated from the "
        "{subjects:count subjects} of the data by the model {model}; the errors of the model "
        "are those within the data",
    ),
    MessageType(
        "nothing-to-extrapolate-from",
        "no non-mated subject is closer than a mate: there is nothing to extrapolate from",
    ),
    MessageType(
        "extrapolated-by-one-subject",
        "{far} at {subjects:count subjects} is extrapolated by one: an enrolled probe has "
        "{others:count other subjects}",
    ),
    MessageType(
        "fewer-templates-than-drawn",
        "{subjects:count subjects} with fewer than {templates:count templates}: the gallery holds "
        "all that they have",
    ),
    MessageType(
        "fewer-mates-than-drawn",
        "{fewer:count} of {genuine:count mated searches} have fewer than {templates:count} usable "
        "templates of their subject; the gallery holds all of these",
    ),
    MessageType(
        "choices-drawn",
        "a subject has more than {limit:count} choices of {templates:counts} templates: these "
        "rates are means over {draws:count galleries} drawn for each probe, with a standard error",
    ),
    MessageType(
        "mean-over-galleries",
        "means over the galleries {galleries:names}, each at its own thresholds; attempts are "
        "sums, and no weights of the means",
    ),
    MessageType(
        "points-between-thresholds",
        "operating points of expected rates are known between the thresholds of the result only: "
        "EER and {dir} at a {far} lie within the bounds ..._at_least and ..._at_most",
    ),
)
