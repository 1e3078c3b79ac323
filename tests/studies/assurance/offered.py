"""What the tests of the whole take of this study."""

import bioeval as be

CALLS = {"check_claim": lambda s: be.check_claim(s, 1.0, far=0.1)}
TURNED = {"check_claim": lambda s: be.check_claim(s, -1.0, far=0.1)}
