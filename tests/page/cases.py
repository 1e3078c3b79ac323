"""Cases of pages for tests of all studies."""

OTHER_CALLS = {"report": "writes a page"}
