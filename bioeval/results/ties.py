"""Numbers that the order of equal scores decides, with their ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from bioeval.base.messages import Message
from bioeval.counting.tied_places import ENDS
from bioeval.results.dataset import RANKS


def tie_message(number: str, ends: Iterable[Any], words: str, **at: float) -> Iterator[Message]:
    """Yield the message of a rate whose first three digits equal scores decide, if they do.

    `number` is its variable, `at` are its coordinates, `words` the template of its name; `ends`
    are its values under `ENDS`.
    """
    pessimistic, optimistic = map(float, ends)
    if f"{pessimistic:.3g}" != f"{optimistic:.3g}":
        values = {"pessimistic": pessimistic, "optimistic": optimistic}
        yield Message("ties-decide", number=number, words=words, **at, **values)


def rank_message(
    number: str, curve: Callable[[str], np.ndarray], words: Sequence[str]
) -> Iterator[Message]:
    """Yield the message of the first rank that tables show whose rate equal scores decide.

    `curve` gives the rates over ranks with one of `ENDS`; `words` the name of rank 1, and that of
    others before the number of the rank.
    """
    ends = [curve(ties) for ties in ENDS]
    for rank in RANKS:
        if rank > len(ends[0]):
            return
        name = words[0] if rank == 1 else f"{words[1]} {rank}"
        found = [*tie_message(number, (each[rank - 1] for each in ends), name, rank=rank)]
        if found:
            yield from found
            return
