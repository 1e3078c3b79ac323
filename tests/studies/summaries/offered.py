"""What the tests of the whole take of this study."""

import bioeval as be

CALLS = {
    "summary": be.summary,
    "summaries": lambda s: be.summaries(s, be.partition.SubjectKFold(3)),
}
