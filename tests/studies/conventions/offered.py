"""What the tests of the whole take of this study."""

import bioeval as be

CALLS = {"conventions": be.conventions}
BY_ORDER = {"conventions": ("eer", "frr_at_far", "auc")}  # fvc2004 takes the first of each person
