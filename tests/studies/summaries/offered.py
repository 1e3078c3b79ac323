"""What the tests of the whole take of this study."""

import bioeval as be

UNDER_CARD = {
    "summary": be.summary,
    "summaries": lambda s, card: be.summaries(s, [(range(20), range(s.shape[1]))], card),
}
CALLS = {
    "summary": be.summary,
    "summaries": lambda s: be.summaries(s, be.partition.SubjectKFold(3)),
}
