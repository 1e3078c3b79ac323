"""Attempts of verification, listed one by one, in blocks of rows."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

import numpy as np

from bioeval.base.engine import engine
from bioeval.scores.blocks import Block, BlockReader
from bioeval.tallies.block_work import counts_of
from bioeval.tallies.counters import ImpostorBlock, gather
from bioeval.tallies.parts import Joined
from bioeval.tallies.verification_job import VerificationJob

#: Scores of all attempts: genuine ones, impostor ones, and those of claims by probes who are not
#: enrolled. NaN is none.
Listed = dict[str, np.ndarray]


def list_attempts(
    job: VerificationJob, reader: BlockReader, blocks: Callable[[], Iterable[Block]]
) -> Listed:
    """Return the scores of all attempts of a job; `blocks` gives those of the reader, here."""
    if engine() is None:
        found = _list_blocks(job, blocks())
    else:
        known = [claims for claims in (job.claims, job.strangers) if claims is not None]
        sides = [side for claims in known for side in claims]
        found = counts_of("attempts", reader, functools.partial(_list_blocks, job), sides)
    return {name: joined.array() for name, joined in found.items()}


def _list_blocks(job: VerificationJob, blocks: Iterable[Block]) -> dict[str, Joined]:
    """Return the scores of the attempts in some blocks."""
    genuine: list[np.ndarray] = []
    impostor: list[ImpostorBlock] = []
    unenrolled: list[np.ndarray] = []
    for block in blocks:
        own, others = job.of_block(block)
        genuine.append(own)
        impostor += others
        if job.strangers is not None:
            unenrolled.append(job.of_strangers(block))
    found = {"genuine": genuine, "unenrolled": unenrolled}
    listed = {name: Joined.of(_copied(parts)) for name, parts in found.items()}
    return {**listed, "impostor": Joined.of(_impostor_scores(impostor))}


def _impostor_scores(blocks: list[ImpostorBlock]) -> np.ndarray:
    """Return the impostor scores of some blocks, with NaN for those of the own subjects."""
    found = _copied([values.ravel() for values, _, _ in blocks])
    place = 0
    for values, start, stop in blocks:
        _, row, position = gather(values, start, stop, np.full(len(values), -1))
        found[place + row * values.shape[1] + position] = np.nan
        place += values.size
    return found


def _copied(parts: list[np.ndarray]) -> np.ndarray:
    """Return a copy of the parts, one after the other."""
    return np.concatenate(parts or [np.empty(0)])
