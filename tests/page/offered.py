"""What the tests of the whole take of this study."""

OTHER_CALLS = {"report": "writes a page"}
