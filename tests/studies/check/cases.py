"""Cases of this study for tests of all studies."""

import bioeval as be

UNDER_CARD = {"check_data": be.check_data}
OTHER_CALLS = {"check_data": "its findings depend on the kind of scores"}
