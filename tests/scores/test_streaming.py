"""Embeddings without a matrix: the same numbers, whatever the limit, in bounded memory."""

import subprocess
import sys
import textwrap
from pathlib import Path

import limits
import pytest


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="memory is read from /proc")
def test_peak_memory_stays_under_the_limit():
    """6,000 x 6,000 float64 are 288 MB; the evaluation takes the limit, 100 MB, or little more."""
    program = """
        import re
        from pathlib import Path

        import numpy as np
        from limits import streaming

        import bioeval as be

        def held(name):
            status = Path("/proc/self/status").read_text()
            return int(re.search(rf"{name}:\\s+(\\d+)", status)[1]) / 1024

        rng = np.random.default_rng(0)
        labels = np.repeat(np.arange(1500), 4)
        x = rng.normal(size=(1500, 64))[labels] + rng.normal(size=(6000, 64))
        limit = 100 << 20
        few = streaming(x[:3000], labels[:3000], metric="l2")
        be.evaluate(few, max_rank=20)  # compiles, and loads what is loaded late
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before = held("VmRSS")
        scores = streaming(x, labels, metric="l2", limit=limit)
        assert scores.streams
        tree = be.evaluate(scores, max_rank=20)
        print(int(tree["closed_set"].attempts), held("VmHWM") - before)
    """
    process = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True,
        check=True, cwd=Path(limits.__file__).parent,
    )  # fmt: skip
    attempts, grown = process.stdout.split()
    assert attempts == "6000"
    assert float(grown) < 120
