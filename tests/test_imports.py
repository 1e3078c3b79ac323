"""`import bioeval` and `bioeval --help` answer at once: the heavy libraries wait until needed."""

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
    process = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, timeout=60
    )
    assert process.returncode == 0, process.stderr
    said = [line for line in process.stdout.splitlines() if line.startswith("loaded:")]
    loaded = set(said[0].split()[1:])
    assert "bioeval" in loaded
    assert not loaded & HEAVY


def test_every_public_name_can_be_had():
    """A lazy name that is listed but leads nowhere shows only when somebody uses it."""
    import bioeval

    for name in bioeval.__all__:  # also one that a test before has used, which is an attribute
        assert bioeval.__getattr__(name) is getattr(bioeval, name), name


def test_an_unknown_name_is_an_attribute_error():
    import bioeval

    with pytest.raises(AttributeError, match="verificaton"):
        _ = bioeval.verificaton


EVALUATES = """
import sys
import bioeval as be
from bioeval.cli import main

scores = be.simulate(12, 4, random_state=1)
be.save(scores, "scores.npz")
be.evaluate(scores)
assert main(["run", "scores.npz"]) == 0
assert main(["run", "scores.npz", "--protocol", "course-experiment"]) == 0
assert "dask" not in sys.modules  # xarray loads it where it selects and compares
assert main(["run", "scores.npz", "--json"]) == 0
heavy = {"sklearn", "matplotlib", "pyarrow.parquet"}
print(sorted(heavy & {*sys.modules}), file=sys.stderr)
"""


FIRST = """
import sys
import numpy as np
import bioeval as be
from bioeval.cli import main

scores = be.simulate(50, 4, random_state=1)
be.evaluate(scores, interval="people")
distance = np.random.default_rng(1).random((1000, 1000))
be.evaluate(be.Scores(distance + distance.T, [*range(250)] * 4))
be.repeat(scores, be.partition.SubjectShuffleSplit(3, random_state=0))
be.reid(be.simulate(20, 4, cameras=2, random_state=1))
for system in ("pixels", "eigenfaces", "fisherfaces", "deep"):
    be.evaluate(be.datasets.faces(system))
be.save(scores, "scores.npz")
for line in ("run scores.npz", "threshold scores.npz", "check scores.npz"):
    assert main(line.split()) == 0
assert not {"numba", "sklearn"} & {*sys.modules}
"""


@pytest.mark.slow
def test_a_first_evaluation_compiles_nothing(tmp_path):
    process = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FIRST],
        cwd=tmp_path, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert process.returncode == 0, process.stderr


def test_an_evaluation_loads_no_library_that_it_does_not_need(tmp_path):
    process = subprocess.run(
        [sys.executable, "-c", EVALUATES], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert process.returncode == 0, process.stderr
    assert process.stderr.strip().splitlines()[-1] == "[]"
