"""The messages of groups."""

from bioeval.document import MessageType

_TOO_FEW = "The order of groups by this rate is due to chance where so few errors are expected."

MESSAGES = (
    MessageType(
        "no-attempts-for-common-threshold",
        "there is no genuine or no impostor attempt to choose a threshold on: rates are not "
        "defined; give a number as {arg.threshold}",
        "The rule of the threshold needs genuine and impostor attempts of all groups together.",
        "Give a number as {arg.threshold}, or other data.",
        example={},
    ),
    MessageType(
        "only-one-group",
        "there is only one group ({group:name}): FDR and GARBE are not defined",
        "Measures of inequality compare at least two groups.",
        "Look at the column of the groups.",
        example={"group": "f"},
    ),
    MessageType(
        "groups-without-attempts",
        "there is no {attempts} attempt within {groups:names}: {rate:term} is not defined there, "
        "and with it FDR, GARBE and the ratios of {rate:term}",
        "Measures of inequality need the rate of each group.",
        "Leave these groups out, or collect attempts of their subjects.",
        example={"attempts": "genuine", "rate": "frr", "groups": ["x"]},
    ),
    MessageType(
        "groups-with-rate-of-zero",
        "{rate:term} within {groups:names} is 0: the ratios of {rate:term} are not defined",
        "The largest rate over the smallest, or over the geometric mean, divides by 0.",
        "Choose a looser threshold, or one at which errors of each group are expected.",
        example={"rate": "far", "groups": ["f", "m"]},
    ),
    MessageType(
        "groups-of-few-subjects",
        "groups of fewer than {needed:count subjects} are flagged, and not to be ranked: "
        "{groups:names}",
        "Rates of few subjects depend on who they are.",
        "Collect more subjects of these groups, or join groups.",
        example={"needed": 30, "groups": ["x"]},
    ),
    MessageType(
        "few-expected-errors-in-groups",
        "fewer than {needed:count} {errors:term} are expected at the overall {rate:term} of "
        "{overall:rate} (rule of {needed:count}): {groups:names}",
        _TOO_FEW,
        "Collect more attempts, or choose a threshold with more errors.",
        example={
            "needed": 30,
            "errors": "false rejects",
            "rate": "frr",
            "overall": 0.02,
            "groups": ["x"],
        },
    ),
    MessageType(
        "few-expected-errors-between-groups",
        "fewer than {needed:count} {errors:term} are expected at the overall {rate:term} of "
        "{overall:rate} (rule of {needed:count}): {flagged:count} of {pairs:count} pairs of groups",
        _TOO_FEW,
        "Collect more attempts, or choose a threshold with more errors.",
        example={
            "needed": 30,
            "errors": "false accepts",
            "rate": "far",
            "overall": 0.001,
            "flagged": 3,
            "pairs": 4,
        },
    ),
    MessageType(
        "few-expected-errors-at-target",
        "fewer than {needed:count} {false accepts} are expected at {far} {target:rate} within the "
        "group (rule of {needed:count}): {groups:names}",
        _TOO_FEW,
        "Collect more attempts, or choose larger targets.",
        example={"needed": 30, "target": 0.001, "groups": ["x"]},
    ),
    MessageType(
        "groups-of-one-subject",
        "{frr} of {groups:names} has no limits: it is that of one subject",
        "Nothing is known about other subjects of the group.",
        "Collect more subjects of these groups.",
        example={"groups": ["x"]},
    ),
    MessageType(
        "groups-not-compared",
        "whether groups differ is not concluded: fewer than two groups have {needed:count "
        "subjects}, so that FDR, GARBE and ratios have no limits, and the tests no p-value",
        "Limits that hold for all groups together, and the tests, are over groups of enough "
        "subjects.",
        "Collect more subjects, or join groups.",
        example={"needed": 30},
    ),
    MessageType(
        "groups-left-out-of-comparison",
        "nothing is concluded about {groups:names} (fewer than {needed:count subjects}): limits "
        "of FDR, GARBE and ratios allow any rate there, and the tests leave them out",
        "Rates of few subjects depend on who they are.",
        "Collect more subjects of these groups, or join groups.",
        example={"needed": 30, "groups": ["x"]},
    ),
    MessageType(
        "too-many-subjects-for-test",
        "there is no p-value that {far} within groups differs: it is tested with up to "
        "{most:count subjects}",
        "The test permutes the counts of all pairs of subjects, which take too much memory.",
        "Look at the limits, which hold for any number of subjects.",
        "note",
        {"most": 3000},
    ),
    MessageType(
        "group-gaps-not-compared",
        "the gaps of the two systems are not compared: fewer than two groups have {needed:count "
        "subjects}",
        "A gap is over groups of enough subjects.",
        "Collect more subjects, or join groups.",
        example={"needed": 30},
    ),
    MessageType(
        "groups-left-out-of-gaps",
        "{groups:names} (fewer than {needed:count subjects}) are left out of the gaps, FDR and "
        "GARBE of both systems",
        "Rates of few subjects depend on who they are.",
        "Collect more subjects of these groups, or join groups.",
        example={"needed": 30, "groups": ["x"]},
    ),
)
