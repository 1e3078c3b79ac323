"""`import bioeval` and `bioeval --help` answer at once: the heavy libraries wait until needed."""

from __future__ import annotations

import subprocess
import sys

import pytest
from optional import optional_import

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


def test_every_public_name_can_be_had():
    """A lazy name that is listed but leads nowhere shows only when somebody uses it."""
    import bioeval

    for name in bioeval.__all__:  # also one that a test before has used, which is an attribute
        assert bioeval.__getattr__(name) is getattr(bioeval, name), name
    assert set(bioeval.__all__) <= set(dir(bioeval))


SCRIPT = """
import bioeval as be

scores: be.Scores = be.load("scores.npz", kind="distance")
single = be.verification(scores, interval="subject-bootstrap")
tree = be.evaluate(be.simulate(20, 4, random_state=1), "course-all-vs-all")
closed, opened, ranks = be.closed_set(scores), be.open_set(scores), be.ranks(scores)
study = be.study_threshold(scores, "eer")
difference = be.compare(scores, be.Scores([[0.0, 1.0], [1.0, 0.0]], ["a", "b"]))
tally: be.Tally = be.tally(scores)
folds = be.cross_evaluate(scores, be.partition.SubjectKFold(5), threshold="eer")
be.plot.det(single)
be.stats.wilson(1, 100)
be.save(scores, "copy.npz")
try:
    be.tracking("truth.txt", "result.txt")
except be.BioevalError as error:
    print(error, float(single.eer), be.__version__)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "found"),
    [("", "Success"), ("be.verificaton(scores)", 'has no attribute "verificaton"')],
)
def test_a_script_under_the_strict_type_checker(root, tmp_path, more, found):
    optional_import("mypy")
    (tmp_path / "script.py").write_text(SCRIPT + more)
    options = ["--strict", "--follow-imports=silent", "--config-file=", "--python-version=3.12"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "--cache-dir=cache", "script.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == bool(more), done.stdout + done.stderr
    assert found in done.stdout


def test_an_unknown_name_is_an_attribute_error():
    import bioeval

    with pytest.raises(AttributeError, match="verificaton"):
        _ = bioeval.verificaton


EVALUATES = """
import sys
import bioeval as be
from bioeval.cli import main

scores = be.simulate(6, 3, random_state=1)
be.save(scores, "scores.npz")
be.evaluate(scores)
assert main(["run", "scores.npz"]) == 0
assert "dask" not in sys.modules  # xarray loads it where it selects and compares
assert main(["run", "scores.npz", "--json"]) == 0
heavy = {"sklearn", "matplotlib", "pyarrow.parquet"}
print(sorted(heavy & {*sys.modules}), file=sys.stderr)
"""


EXPERIMENTS = """
import sys
import bioeval as be
from bioeval.cli import main

be.save(be.simulate(12, 4, random_state=1), "scores.npz")
assert main(["run", "scores.npz", "--protocol", "course-experiment"]) == 0
print(sorted({"dask", "sklearn", "matplotlib"} & {*sys.modules}), file=sys.stderr)
"""


@pytest.mark.parametrize("program", [EVALUATES, pytest.param(EXPERIMENTS, marks=pytest.mark.slow)])
def test_an_evaluation_loads_no_library_that_it_does_not_need(tmp_path, program):
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip().splitlines()[-1] == "[]"
