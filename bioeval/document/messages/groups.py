"""The messages of groups."""

from bioeval.base.messages import MessageType

MESSAGES = (
    MessageType(
        "no-attempts-for-common-threshold",
        "there is no genuine or no impostor attempt to choose a threshold on: rates are not "
        "defined; give a number as {arg.threshold}",
    ),
    MessageType(
        "only-one-group",
        "there is only one group ({group:name}): FDR and GARBE are not defined",
    ),
    MessageType(
        "groups-without-attempts",
        "there is no {attempts} attempt within {groups:names}: {rate:term} is not defined there, "
        "and with it FDR, GARBE and the ratios of {rate:term}",
    ),
    MessageType(
        "groups-with-rate-of-zero",
        "{rate:term} within {groups:names} is 0: the ratios of {rate:term} are not defined; "
        "choose a looser threshold",
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
        "whether groups differ is not concluded: fewer than two groups have {needed:count "
        "subjects}, so that FDR, GARBE and ratios have no limits, and the tests no p-value",
    ),
    MessageType(
        "too-many-subjects-for-test",
        "there is no p-value that {far} within groups differs: it is tested with up to "
        "{most:count subjects}",
    ),
)
