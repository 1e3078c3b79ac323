"""The messages of attacks, of their detection and of morphs."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "genuine-pairs-of-attack-list-left-out",
        "{pairs:count genuine pairs} of the attacks' list left out: those of the other list count",
        "A list of attacks may repeat the genuine attempts of the list of bona fide presentations; "
        "they would count twice.",
        "Nothing, if both lists have the same genuine pairs.",
        "note",
        {"pairs": 12},
    ),
    MessageType(
        "species-without-attempts",
        "there is no attempt of the species {species:names}: rates are not defined",
        "No presentation of the species was compared with a template of its target.",
        "Look at the labels of these rows, or at failed comparisons, which may be left out.",
        example={"species": ["mask"]},
    ),
    MessageType(
        "too-few-presentations",
        "fewer than {needed:count presentations} (rule of 3: 3 / {target:rate}) cannot show "
        "{rate} {target:rate}, even without an error: {species:counts}",
        "With fewer than 3 / x presentations of a species, the data do not show at 95 % that the "
        "rate is at most x, even if no attack succeeds.",
        "Collect more presentations of these species, or report the rate with its interval.",
        example={"rate": "IAPAR", "target": 0.01, "needed": 300, "species": {"mask": 80}},
    ),
    MessageType(
        "few-instruments",
        "there are fewer than {needed:count instruments} of a species, however often each is "
        "presented: {species:counts}",
        "Presentations of one attack instrument resemble each other. Rates of few instruments may "
        "not hold for other instruments of the species.",
        "Make more instruments of these species.",
        example={"needed": 10, "species": {"mask": 2}},
    ),
    MessageType(
        "species-without-response",
        "APCER is without species that have no response: {species:names}",
        "Detection gave no score for any presentation of the species, so that it has no APCER.",
        "Report APNRR of the species, or count presentations without a response as rejected: "
        "{arg.non_response=reject}.",
        example={"species": ["mould"]},
    ),
    MessageType(
        "no-bona-fide-response",
        "no bona fide presentation has a response",
        "Detection gave no score for any bona fide presentation: BPCER is not defined.",
        "Look at the scores: a presentation without a response is NaN.",
        example={},
    ),
    MessageType(
        "d-eer-undefined",
        "the detection equal error rate (D-EER) is not defined: APCER and BPCER do not cross",
        "One of the two rates is larger at every threshold.",
        "Report BPCER at targets of APCER.",
        example={},
    ),
    MessageType(
        "no-point-for-rule",
        "there is no threshold: no operating point fulfils the rule {rule:name}",
        "The rule asks for a rate that the detector has at no threshold.",
        "Choose another target, or give a number as {arg.threshold}.",
        example={"rule": "bpcer=0.01"},
    ),
    MessageType(
        "detection-rejects-all",
        "the threshold rejects all presentations and is infinite, because some scores are",
        "The chosen operating point classifies everything as an attack; as some scores are "
        "infinite, so is the strictest threshold.",
        "Choose another rule of the threshold, or give a number as {arg.threshold}.",
        example={},
    ),
    MessageType(
        "contributors-differ-in-attempts",
        "contributors have {least:count} to {most:count attempts}: MMPMR grows with their number; "
        "of each contributor the first {least:count attempts} count for MAP",
        "A contributor with many attempts is accepted more easily than one with few.",
        "Give all contributors equally many attempts against each morph.",
        example={"least": 2, "most": 5},
    ),
    MessageType(
        "few-contributors",
        "there are {contributors:count contributors} in all: results depend on few people",
        "Rates over the morphs of few people may not hold for other people.",
        "Make morphs of more people.",
        example={"contributors": 6},
    ),
)
