"""What the tests of the whole take of this study."""

OTHER_CALLS = dict.fromkeys(("fuse", "normalise", "read_cohort"), "returns scores")
