"""What the tests of the whole take of this study."""

OTHER_CALLS = {"conventions": "its readings name the kind of scores"}
