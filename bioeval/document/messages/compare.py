"""The messages of a comparison of systems."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "not-in-common",
        "{what} that not all systems have are left out: {left_out:counts}",
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
