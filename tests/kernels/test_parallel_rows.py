"""Loops in parts side by side."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import NamedTuple

import numba
import numpy as np
import pytest

from bioeval.kernels.compiling import in_turns, parallel_rows


class Rows(NamedTuple):
    values: np.ndarray


@parallel_rows("rows.values")
def count_visits(begin, end, rows, visits, part):
    for i in range(begin, end):
        visits[i] += 1 + rows.values[i]
        part[i] = begin


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("steps", [0, 1, 2, 7])
def test_each_step_is_made_once(steps, threads):
    threads = min(threads, numba.config.NUMBA_NUM_THREADS)
    visits, part = (np.zeros(steps, dtype=np.int64) for _ in range(2))
    before = numba.get_num_threads()
    numba.set_num_threads(threads)
    try:
        count_visits(Rows(np.arange(steps)), visits, part)
    finally:
        numba.set_num_threads(before)
    assert visits.tolist() == list(range(1, steps + 1))
    assert len(set(part.tolist())) == min(threads, steps)


def test_steps_are_taken_in_turn():
    visits, before = np.zeros(7, dtype=np.int64), numba.get_num_threads()

    def take_steps(turns):
        for turn in turns:
            visits[turn] += 1
            if turn == 5:
                raise ValueError("the fifth")

    for threads in {1, min(2, numba.config.NUMBA_NUM_THREADS)}:
        numba.set_num_threads(threads)
        try:
            in_turns(take_steps, 5)
            with pytest.raises(ValueError, match="the fifth"):
                in_turns(take_steps, 6)
        finally:
            numba.set_num_threads(before)
        assert visits.tolist() == [2] * 5 + [1, 0]
        visits[:] = 0
    in_turns(take_steps, 0)


PROGRAM = """
import os
import numpy as np
from bioeval.kernels.fuse import fuse_nearest

def run():
    out = np.empty((2, 1))
    fuse_nearest(np.ones((2, 1)), np.array([0, 1]), np.array([-1, -1]), out)
    return out.sum()

assert run() == 2
child = os.fork()
if child == 0:
    os._exit(int(run() != 2))
assert os.waitpid(child, 0)[1] == 0
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_threads_of_its_own():
    """Waiting for those of its parent, it would hang."""
    environment = {**os.environ, "NUMBA_NUM_THREADS": "2"}
    arguments = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    assert subprocess.run(arguments, env=environment, timeout=60).returncode == 0
