"""The messages of plans."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "few-pilot-errors",
        "only {subjects:count subjects} of the pilot have a genuine error: the plan is uncertain, "
        "and larger for it",
    ),
    MessageType(
        "more-templates-than-pilot",
        "the pilot has about {templates:count templates} of each subject: plans for more rest on "
        "what errors without a shared template have in common, which few subjects show, and reach "
        "the width less often",
    ),
    MessageType(
        "width-above-rate",
        "the interval may be wider than the rate itself ({rate:rate}): it is then far from "
        "normal, and the plan is a rough one; plan a smaller width with {arg.frr_width}",
    ),
)
