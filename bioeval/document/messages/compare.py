"""The messages of a comparison of systems."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "not-in-common",
        "the systems do not have the same {what}: {left_out_a} of {a:name} and {left_out_b} of "
        "{b:name} are left out",
    ),
    MessageType(
        "not-in-all",
        "{left_out} {what} of {system:name} are left out, since not all systems have them",
    ),
    MessageType(
        "measures-not-defined",
        "not all systems have these measures, which are left out: {measures:names}",
    ),
    MessageType(
        "attempts-of-systems",
        "{systems:names} did not make the same attempts as {first:name}, because of failed "
        "comparisons, masks or exclusions. Attempts of each class are {attempts:counts}, and "
        "{attempts_of_first:counts} of {first:name}; give all the same mask and exclusions, "
        "and count failed comparisons with {arg.nan=reject}",
    ),
)
