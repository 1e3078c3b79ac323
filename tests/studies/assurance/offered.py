"""What the tests of the whole take of this study."""

import bioeval as be

CALLS = {"check_promise": lambda s: be.check_promise(s, 1.0, "far=0.1")}
TURNED = {"check_promise": lambda s: be.check_promise(s, -1.0, "far=0.1")}
