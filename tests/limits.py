"""Scores under a memory limit, and intervals of few replicates."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bioeval as be
from bioeval.base.options import require_bytes
from bioeval.base.random import Stream, seed_sequence
from bioeval.scores.matrix import MemoryLimit


def streaming(*args: Any, limit: int | str = 1, **options: Any) -> be.Scores:
    """Scores of embeddings whose matrix is not made if it is larger than the limit.

    The limit does not hold for what is counted, so that it may be as small as a byte.
    """
    with be.set_options(memory_limit=limit):
        scores = be.Scores.from_embeddings(*args, **options)
    return scores._with(memory=replace(scores.memory, is_stated=False))


def limited(scores: be.Scores, limit: int | str) -> be.Scores:
    """The same scores as if they were made under a memory limit."""
    memory = MemoryLimit(require_bytes("memory_limit", limit), is_stated=True)
    return scores._with(memory=memory)


def few_replicates(method: str, number: int, seed: int = 3) -> be.stats.IntervalMethod:
    """Intervals of a handful of replicates, which suffice because each replicate is compared."""
    interval = be.stats.IntervalMethod(method, random_state=seed)
    object.__setattr__(interval, "replicates", number)
    return interval


def people_drawn(people: int, replicates: int, seed: int = 3) -> np.ndarray:
    """How often each person is drawn in each replicate of :func:`few_replicates`."""
    return Stream(seed_sequence(seed), 0).resampled(people, replicates)


@contextmanager
def blocks_of(values: int | None = None, listed: int = 0) -> Iterator[pytest.MonkeyPatch]:
    """Count in blocks of so many values, although the values could be sorted at once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bioeval.scores.blocks.LISTED", listed)
        if values is not None:
            patch.setattr("bioeval.scores.rows.BLOCK_VALUES", values)
        yield patch
