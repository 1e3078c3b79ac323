"""The messages of attacks and of their detection."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "genuine-pairs-of-attack-list-left-out",
        "{pairs:count genuine pairs} of the attacks' list left out: those of the other list count",
    ),
    MessageType(
        "too-few-presentations",
        "fewer than {needed:count presentations} (rule of 3: 3 / {target:rate}) cannot show "
        "{rate} {target:rate}, even without an error: {species:counts}",
    ),
    MessageType(
        "few-instruments",
        "there are fewer than {needed:count instruments} of a species, however often each is "
        "presented: {species:counts}",
    ),
    MessageType(
        "species-without-response",
        "{rate} is without {species:names}, of which no presentation {has}{advice:template}",
    ),
    MessageType(
        "no-bona-fide-response",
        "no bona fide presentation has a response; NaN means that there is none",
    ),
)
