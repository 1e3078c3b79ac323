"""The messages of assured thresholds: why none can be promised, and what a promise rests on."""

from bioeval.base.messages import MessageType

#: Why no threshold can be promised.
REFUSALS = (
    MessageType(
        "no-impostor-attempts",
        "there are no impostor attempts",
    ),
    MessageType(
        "too-few-people-to-resample",
        "there are only {people:count} {who}; at least {needed:count} are needed",
    ),
    MessageType(
        "strictest-threshold-above-target",
        "even at the strictest threshold that was tried, {far:rate} {event} in these data, and the "
        "target is {target:rate}; more people do not help",
    ),
    MessageType(
        "too-few-people-to-promise",
        "even at a strict threshold, at which {far:rate} {event} in these data, the upper limit of "
        "this rate is {high:rate} with {confidence:rate} confidence, above the target of "
        "{target:rate}; {people:count} {over} are too few",
    ),
)

MESSAGES = (
    *REFUSALS,
    MessageType(
        "unequal-numbers-of-templates",
        "the assured {far}, {far_of_means:rate}, gives all {over} equal weight; over all attempts "
        "{far} is {far_of_attempts:rate}, because people have unequal numbers of templates",
    ),
    MessageType(
        "assurance-of-derived-scores",
        "the scores were derived from others ({origin:name}); the assurance holds only if nothing "
        "was fitted to these same people",
    ),
)

#: The codes of the messages that say why no threshold can be promised.
REFUSED = tuple(entry.code for entry in REFUSALS)
