"""Cases of this study for tests of all studies."""

import bioeval as be

CALLS = {"conventions": be.conventions}
# Other cards rank equal scores by their columns, or take the first template of each person.
UNTIED = {"conventions": lambda s: be.conventions(s, cards=["course-all-vs-all"])}
