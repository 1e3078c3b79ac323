"""Warnings of species that too few presentations or instruments stand for."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from bioeval.base.messages import Message
from bioeval.results.support import RuleOf

#: Fewer attack instruments of a species are warned of.
FEW_INSTRUMENTS = 10


def few_presentations(
    rate: str, targets: np.ndarray, number_of: Mapping[str, int]
) -> list[Message]:
    """Return the message of species whose presentations cannot show the smallest target."""
    least = float(min(targets[targets > 0], default=0.0))
    few = {name: n for name, n in number_of.items() if not RuleOf(3).supports(least, n)}
    if not few:
        return []
    needed = math.ceil(RuleOf(3) / least - 1e-9)
    return [Message("too-few-presentations", rate=rate, target=least, needed=needed, species=few)]


def few_instruments(instruments_of: Mapping[str, np.ndarray]) -> list[Message]:
    """Return the message of species that few instruments stand for."""
    number_of = {name: len(set(x.tolist())) for name, x in instruments_of.items()}
    few = {name: n for name, n in number_of.items() if n < FEW_INSTRUMENTS}
    return [Message("few-instruments", needed=FEW_INSTRUMENTS, species=few)] if few else []
