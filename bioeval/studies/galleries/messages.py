"""The messages of results over galleries of other sizes, or of fewer templates."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "no-interval-over-drawn-galleries",
        "means over drawn galleries have no confidence intervals",
        "The means are over all galleries that may be drawn; intervals of them are not offered.",
        "For an interval, evaluate the whole gallery.",
        "note",
        {},
    ),
    MessageType(
        "sizes-beyond-data",
        "rates in galleries of {sizes:counts} subjects are extrapolated from the "
        "{subjects:count subjects} of the data by the model {model}; the errors of the model "
        "are those within the data",
        "No gallery of these data has as many subjects. The rates are those of a model that is "
        "fitted to the data, and are marked; the result has the errors that the same model makes "
        "when it predicts the whole data from a part.",
        "Trust such a rate no more than those errors allow, or collect more subjects.",
        "note",
        {
            "sizes": [1000, 10000],
            "subjects": 100,
            "model": "beta-binomial: the chance that a non-mated subject is closer than the mate "
            "is beta distributed over probes",
        },
    ),
    MessageType(
        "nothing-to-extrapolate-from",
        "no non-mated subject is closer than a mate: there is nothing to extrapolate from",
        "The model is fitted to the searches in which another subject is closer than the mate, and "
        "there is none.",
        "Collect more subjects, or look at smaller galleries.",
        example={},
    ),
    MessageType(
        "extrapolated-by-one-subject",
        "{far} at {subjects:count subjects} is extrapolated by one: an enrolled probe has "
        "{others:count other subjects}",
        "A non-mated search of an enrolled probe leaves its own subject out of the gallery, which "
        "then has one subject less than there are.",
        "Nothing, or leave the largest size out.",
        "note",
        {"subjects": 100, "others": 99},
    ),
    MessageType(
        "fewer-templates-than-drawn",
        "{subjects:count subjects} with fewer than {templates:count templates}: the gallery holds "
        "all that they have",
        "A gallery of a number of templates of each subject holds fewer of subjects who do not "
        "have as many.",
        "Nothing, or look at smaller numbers of templates.",
        "note",
        {"subjects": 3, "templates": 4},
    ),
    MessageType(
        "fewer-mates-than-drawn",
        "{fewer:count} of {genuine:count mated searches} have fewer than {templates:count} usable "
        "templates of their subject; the gallery holds all of these",
        "The probe itself and failed comparisons are no templates of a gallery, so that a mated "
        "search may have fewer than are drawn.",
        "Nothing, or draw fewer templates.",
        "note",
        {"fewer": 12, "genuine": 200, "templates": 3},
    ),
    MessageType(
        "choices-drawn",
        "a subject has more than {limit:count} choices of {templates:counts} templates: these "
        "rates are means over {draws:count galleries} drawn for each probe, with a standard error",
        "A formula gives the mean over all choices of templates if the nearest template determines "
        "the score of a subject. With other rules of fusion, the choices are evaluated one by one, "
        "unless there are too many.",
        "Use {arg.fusion=min} or fewer templates for exact means.",
        "note",
        {"limit": 10000, "templates": [10, 20], "draws": 200},
    ),
    MessageType(
        "mean-over-galleries",
        "means over the galleries {galleries:names}, each at its own thresholds; attempts are "
        "sums, and no weights of the means",
        "Each gallery has its own threshold at each target, and all galleries count the same.",
        "Nothing: this is how the data sets with several galleries are reported.",
        "note",
        {"galleries": ["G1", "G2"]},
    ),
    MessageType(
        "points-between-thresholds",
        "operating points of expected rates are known between the thresholds of the result only: "
        "EER and {dir} at a {far} lie within the bounds ..._at_least and ..._at_most",
        "Rates over all galleries are counted at the thresholds of the result, not at each score.",
        "Give more thresholds, for bounds that are closer to each other.",
        "note",
        {},
    ),
)
