"""Kernels in a forked process."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os
import numpy as np
from bioeval.kernels.fuse import fuse_nearest

def run():
    out = np.empty((2, 1))
    fuse_nearest(np.ones((2, 1)), np.array([0, 1]), out)
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
