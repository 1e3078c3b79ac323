"""The messages of plans."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "run-exceeds-memory",
        "a worker needs {needed:size}, and this machine has {available:size}: split the probes "
        "among workers, and the gallery into {parts:count parts} (bioeval best-mates, then bioeval "
        "tally --mates)",
        "A worker of the planned run has all templates in memory, besides the scores near "
        "operating points. Without that memory, the run fails or is very slow.",
        "Split the gallery: find the nearest mates in each part, merge them, and count each part "
        "with them. Or run on a machine with more memory.",
        example={"needed": 200e9, "available": 64e9, "parts": 7},
    ),
    MessageType(
        "few-pilot-errors",
        "only {subjects:count subjects} of the pilot have a genuine error: the plan is uncertain, "
        "and larger for it",
        "The number of subjects follows from how much their errors differ, which few subjects "
        "with an error hardly show.",
        "Test more subjects in the pilot, or plan at a threshold at which more of them have an "
        "error.",
        example={"subjects": 5},
    ),
    MessageType(
        "more-templates-than-pilot",
        "the pilot has about {templates:count templates} of each subject: plans for more rest on "
        "what errors without a shared template have in common, which few subjects show, and reach "
        "the width less often",
        "With more templates of each subject, the correlation of errors that share no template "
        "decides how many subjects are needed. A pilot estimates it with a large error.",
        "Plan with as many templates as the pilot has, or with more subjects than the plan says.",
        example={"templates": 4},
    ),
    MessageType(
        "width-above-rate",
        "the interval may be wider than the rate itself ({rate:rate}): it is then far from "
        "normal, and the plan is a rough one",
        "The plan takes the mean over subjects as normally distributed. Where the interval may be "
        "wider than the rate, it reaches to 0, and that is not so.",
        "Plan a smaller width with {arg.frr_width}.",
        "note",
        {"rate": 0.02},
    ),
)
