"""Cases of this study for tests of all studies."""

from typing import Any

import numpy as np
from systems import attacked, spoofed

import bioeval as be

OTHER_CALLS = {"pad": "takes scores of presentations", "vulnerability": "takes scores with attacks"}


def detected(i: int) -> Any:
    rng = np.random.default_rng(i)
    species = ["", "silicone mask with eye holes", "printed photograph", "replay on a tablet"]
    attack = np.repeat(species, 40)
    middle = np.repeat([3.0, 1.5, 1.0, 0.3], 40)
    return be.pad(rng.normal(middle, 1 + 0.1 * i), attack, threshold="d_eer")


PLOTS = {
    **dict.fromkeys(
        ("attack_det", "iapar", "attack_scores"), lambda i: be.vulnerability(spoofed(i))
    ),
    **dict.fromkeys(("pad_det", "apcer"), detected),
}
VARIABLES = {"vulnerability": lambda: be.vulnerability(attacked(), threshold="eer")}
