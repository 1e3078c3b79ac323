"""The messages of groups."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "inequity-undefined",
        "{what:template} are not defined: {why} ({groups:names}){advice:template}",
    ),
    MessageType(
        "groups-of-few-subjects",
        "groups of fewer than {needed:count subjects} are flagged, and not to be ranked; tests "
        "and limits of FDR, GARBE and ratios conclude nothing about them: {groups:names}",
    ),
    MessageType(
        "few-expected-errors-in-groups",
        "fewer than {needed:count} {errors:term} are expected at the overall {rate:term} of "
        "{overall:rate} (rule of {needed:count}): {groups:names}",
    ),
    MessageType(
        "groups-not-compared",
        "whether {what:template} is not concluded: {why}",
    ),
)
