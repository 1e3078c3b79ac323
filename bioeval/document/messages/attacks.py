"""The messages of attacks and of their detection."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "genuine-pairs-of-attack-list-left-out",
        "{pairs:count genuine pairs} of the attacks' list left out: those of the other list count",
    ),
    MessageType(
        "species-without-attempts",
        "there is no attempt of the species {species:names}: rates are not defined",
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
        "APCER is without species that have no response: {species:names}; "
        "{arg.non_response=reject} counts such presentations as rejected",
    ),
    MessageType(
        "no-bona-fide-response",
        "no bona fide presentation has a response; NaN means that there is none",
    ),
    MessageType(
        "d-eer-undefined",
        "the detection equal error rate (D-EER) is not defined: APCER and BPCER do not cross",
    ),
    MessageType(
        "no-point-for-rule",
        "there is no threshold: no operating point fulfils the rule {rule:name}; choose "
        "another target, or give a threshold",
    ),
)
