"""`import bioeval` and `bioeval --help` answer at once: the heavy libraries wait until needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {"matplotlib", "xarray", "numba", "sklearn", "scipy", "pandas", "dask", "h5py"}

SAY = "import sys; print('loaded:', *sorted({name.partition('.')[0] for name in sys.modules}))"

PROGRAMS = {
    "import bioeval": f"import bioeval; {SAY}",
    "dir(bioeval)": f"import bioeval; dir(bioeval); {SAY}",
    "bioeval --help": f"""
import sys
sys.argv = ["bioeval", "--help"]
from bioeval.cli import main
try:
    main()
except SystemExit as stop:
    assert not stop.code, stop.code
{SAY}
""",
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_light(program, root):
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stdout.splitlines() if line.startswith("loaded:")]
    loaded = set(said[0].split()[1:])
    assert "bioeval" in loaded
    assert not loaded & HEAVY


def test_every_public_name_can_be_had(root):
    """A lazy name that is listed but leads nowhere shows only when somebody uses it."""
    program = (
        "import bioeval\n"
        "missing = [name for name in bioeval.__all__ if not hasattr(bioeval, name)]\n"
        "print('missing:', missing, 'of', len(bioeval.__all__))\n"
        "raise SystemExit(bool(missing) or not set(bioeval.__all__) <= set(dir(bioeval)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_unknown_name_is_an_attribute_error():
    import bioeval

    with pytest.raises(AttributeError, match="verificaton"):
        _ = bioeval.verificaton
