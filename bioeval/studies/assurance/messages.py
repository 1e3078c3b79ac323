"""The messages of assured thresholds: why none can be promised, and what a promise rests on."""

from bioeval.document import MessageType

#: Why no threshold can be promised.
REFUSALS = (
    MessageType(
        "no-impostor-attempts",
        "there are no impostor attempts",
        "A threshold with a largest {far} is found by impostor attempts, and the data have none.",
        "Give comparisons of different people.",
        example={},
    ),
    MessageType(
        "too-few-people-to-resample",
        "there are only {people:count} {who}; at least {needed:count} are needed",
        "The limits are found by leaving out one person at a time.",
        "Collect data of more people.",
        example={"people": 2, "who": "people with impostor attempts", "needed": 3},
    ),
    MessageType(
        "no-attempts-to-train-on",
        "the training part has no attempts",
        "The assured threshold of a fold is found on its training part, which has no attempts.",
        "Use fewer folds, or collect more data.",
        example={},
    ),
    MessageType(
        "strictest-threshold-above-target",
        "even at the strictest threshold that was tried, {far:rate} {event} in these data, and the "
        "target is {target:rate}; more people do not help",
        "Even the strictest threshold that accepts an impostor attempt accepts more of them than "
        "the target allows, for example because many scores are equal.",
        "Ask for a larger target, or use scores with more different values.",
        example={"far": 0.3, "event": "of the impostor attempts are accepted", "target": 0.1},
    ),
    MessageType(
        "too-few-people-to-promise",
        "even at a strict threshold, at which {far:rate} {event} in these data, the upper limit of "
        "this rate is {high:rate} with {confidence:rate} confidence, above the target of "
        "{target:rate}; {people:count} {over} are too few",
        "Each rate over so few people is uncertain, and its upper limit is above the target at "
        "every threshold.",
        "Collect data of more people; more templates of the same people hardly help.",
        example={
            "far": 0.0025,
            "event": "of the impostor attempts are accepted",
            "confidence": 0.95,
            "high": 0.12,
            "target": 0.01,
            "people": 12,
            "over": "people",
        },
    ),
)

MESSAGES = (
    *REFUSALS,
    MessageType(
        "unequal-numbers-of-templates",
        "the assured {far}, {far_of_means:rate}, gives all {over} equal weight; over all attempts "
        "{far} is {far_of_attempts:rate}, because people have unequal numbers of templates",
        "A promise is about people, each of whom has the same weight. A person with many templates "
        "has more weight in the rate of all attempts.",
        "Nothing, if people are of equal weight where the threshold will be used.",
        "note",
        {"far_of_means": 0.028, "far_of_attempts": 0.041, "over": "pairs of people"},
    ),
    MessageType(
        "new-gallery-not-used",
        "{arg.new_gallery} has no effect: {why}",
        "The people of a gallery are resampled by themselves where they are others than the people "
        "of the probes.",
        "Leave it out.",
        "note",
        {"why": "the people of the gallery are also probes, so that the promise holds for others"},
    ),
    MessageType(
        "assurance-of-derived-scores",
        "the scores were derived from others ({origin:name}); the assurance holds only if nothing "
        "was fitted to these same people",
        "A fusion, a normalisation or a calibration that was fitted to these people has lower "
        "error rates on them than on others.",
        "Fit on other people, and choose the threshold on these.",
        example={"origin": "mean of a and b"},
    ),
)

#: The codes of the messages that say why no threshold can be promised.
REFUSED = tuple(entry.code for entry in REFUSALS)
