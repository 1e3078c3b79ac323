"""Cases of this study for tests of all studies."""

OTHER_CALLS = dict.fromkeys(("fuse", "normalise", "read_cohort"), "returns scores")
