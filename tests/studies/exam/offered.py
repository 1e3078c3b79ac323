"""What the tests of the whole take of this study."""

OTHER_CALLS = {"exam": "it draws scores of its own"}
