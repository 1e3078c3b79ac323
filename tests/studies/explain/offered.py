"""What the tests of the whole take of this study."""

import bioeval as be

CALLS = {"explain": lambda s: be.explain(s, 5).document()}
UNDER_CARD = {"explain": lambda s, card: be.explain(s, 5, protocol=card)}
OTHER_CALLS = {"step_by_step": "each of its rows is that of explain"}
