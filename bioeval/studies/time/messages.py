"""The messages of rates over time and of ageing."""

from bioeval.document import MessageType

MESSAGES = (
    MessageType(
        "threshold-chosen-on-these-data",
        "the threshold was chosen on these data ({rule}): rates at it are optimistic",
        "A rule chose the threshold on the same attempts that are evaluated, so that it fits "
        "their chance deviations. On other data the rates at it are a little worse.",
        "Give a threshold that was chosen on other data, with {arg.threshold}.",
        example={"rule": "eer"},
    ),
    MessageType(
        "outside-bins",
        "outside all bins, or without a time: {outside:count} of {total:count} {of}",
        "A probe, or a pair, is evaluated in the bin that has its time. Those before the first "
        "edge, from the last edge on, or without a time are in no rate of a bin.",
        "Give edges that reach further with {arg.bins}, or look for missing times in the data.",
        "note",
        {"outside": 3, "total": 600, "of": "probes"},
    ),
)
