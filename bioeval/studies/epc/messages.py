"""The messages of expected performance."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "set-without-attempts",
        "the {set} set has no {attempts} attempt: rates are not defined (NaN)",
        "A threshold is chosen on the development set, and errors are counted on the test set: "
        "both need attempts of every class.",
        "Check the labels of this set, and that it holds several templates of a subject.",
        example={"set": "development", "attempts": "genuine"},
    ),
    MessageType(
        "sets-of-different-systems",
        "at the threshold for alpha {alpha:number} the test set has {far} {test_far:rate} and "
        "{frr} {test_frr:rate}, the development set a weighted error of {dev_error:rate}: the two "
        "sets may be of different systems, or on different scales",
        "The threshold separates the classes of the development set, and decides nothing on the "
        "test set. A threshold holds for the scores of one system only.",
        "Check that both files hold scores of the same system and version.",
        example={"alpha": 0.5, "test_far": 0.98, "test_frr": 0.0, "dev_error": 0.04},
    ),
)
