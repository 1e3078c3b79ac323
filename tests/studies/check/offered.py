"""What the tests of the whole take of this study."""

OTHER_CALLS = {"check_data": "its findings depend on the kind of scores"}
