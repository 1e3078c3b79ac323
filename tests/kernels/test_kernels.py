"""Kernels compiled, and as Python.

``NUMBA_DISABLE_JIT=1 pytest tests/kernels`` runs the kernels as Python: every branch is then seen
by a coverage tool, and an integer that wraps around is an error. What each kernel counts is held to
plain loops in ``tests/oracle``.
"""

import os
import subprocess
import sys
from pathlib import Path

import naive
import numba
import numpy as np
import pytest
from reference import assert_all_tasks, one_thread  # noqa: F401

import bioeval as be

INF, NAN = np.inf, np.nan


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("failed", [False, True])
def test_all_kernels_together(dtype, kind, failed):
    """A whole evaluation, of a size that Python can do as well."""
    rng = np.random.default_rng(1)
    labels = [f"s{x}" for x in rng.integers(0, 5, 12)]
    d = rng.integers(0, 6, (12, 12)).astype(dtype)
    if failed:
        d[0, 5], d[3, 4], d[7, 7] = INF, NAN, NAN
    case = {"values": d.tolist(), "probe_labels": labels, "nan": "reject", "kind": kind}
    scores = be.Scores(d, labels, nan="reject", kind=kind)
    with np.errstate(invalid="ignore", over="ignore"):
        assert_all_tasks(scores, [0.0, 1.5, 3.0, INF], **case)
        tree = be.evaluate(scores)
    for templates, naive_attempts in (
        ("single", naive.attempts_single),
        ("multi", naive.attempts_multi),
    ):
        attempts = *naive_attempts(**case), kind
        ds = tree[f"verification/{templates}"].to_dataset()
        assert float(ds.eer) == pytest.approx(float(naive.eer(*attempts).value))
        assert float(ds.auc) == pytest.approx(float(naive.auc(*attempts)))


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="this is the run without the compiler")
@pytest.mark.slow
def test_the_kernels_give_the_same_without_the_compiler():
    command = [sys.executable, "-m", "pytest", "-q", "--all", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
