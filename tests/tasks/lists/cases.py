"""Cases of this study for tests of all studies."""

import bioeval as be


def listed() -> be.Scores:
    return be.Scores.from_top_k([[0, 1], [2, 0]], ["a", "b"], ["a", "b", "b"])


VARIABLES = {"top K": lambda: be.reid(listed(), "cityflow", rank_k=2, interval="subject-bootstrap")}
