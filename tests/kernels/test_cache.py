"""Compiled kernels in a read-only installation, for a user without a home."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os
from bioeval.kernels import overlaps, ranks
print(os.environ.get("NUMBA_CACHE_DIR", ""))
"""


@pytest.fixture
def installed(root, tmp_path) -> Path:
    """A copy of the package whose kernels have no place for a cache, not even for root."""
    shutil.copytree(
        root / "bioeval", tmp_path / "bioeval", ignore=shutil.ignore_patterns("__pycache__")
    )
    (tmp_path / "bioeval" / "kernels" / "__pycache__").touch()
    (tmp_path / "file").touch()
    return tmp_path


def imported(folder: Path, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={**kept, "HOME": str(home), "PYTHONPATH": str(folder), **more},
    )


def test_kernels_are_compiled_into_a_temporary_folder(installed):
    done = imported(installed, installed / "file" / "home")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1
    assert "set NUMBA_CACHE_DIR" in done.stderr
    folder = Path(done.stdout.strip())
    assert folder.name.startswith("bioeval-")
    assert not folder.exists()  # removed at the end


def test_a_place_of_the_users_is_kept(installed):
    """A home that can be written to, or a folder that is named."""
    for done in (
        imported(installed, installed),
        imported(installed, installed / "file", NUMBA_CACHE_DIR=str(installed / "own")),
    ):
        assert (done.returncode, done.stderr) == (0, "")
        assert not Path(done.stdout.strip()).name.startswith("bioeval-")
