"""Where compiled kernels are kept, and what is said while they are compiled."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from bioeval.base.progress import shown_by
from bioeval.kernels import cache
from bioeval.kernels.compiling import compiled

CACHES = ("BIOEVAL_CACHE_DIR", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
PROGRAM = """
import numba
from bioeval.kernels import cache
from bioeval.kernels import identification
print(cache.CACHE)
assert cache.CACHE == str(numba.config.CACHE_DIR) or not numba.config.CACHE_DIR
"""


def test_every_kernel_is_compiled_and_kept_by_bioeval(root):
    """Numba's own decorator would keep it where no edit of another file is noticed."""
    files = sorted((root / "bioeval").rglob("*.py"))
    own = [x.name for x in files if re.search(r"\bnjit\b", x.read_text(encoding="utf-8"))]
    assert own == ["cache.py"], (
        f"numba's njit in {own}. CONTRIBUTING.md, 'Rules', Kernels: use `compiled` or "
        "`parallel_rows` of bioeval.kernels."
    )


def test_the_table_of_loops_names_the_files_that_have_them(root):
    table = (root / "docs/how-it-counts.md").read_text(encoding="utf-8").partition("## A list")[0]
    places = re.findall(r"((?:[;,] )?(?:[^|;(]*))\(`(\w+\.py)`\)", table.partition("| loop |")[2])
    assert len(places) >= 8
    for loops, file in places:
        source = (root / "bioeval/kernels" / file).read_text(encoding="utf-8")
        for loop in re.findall(r"`(\w+)`", loops):
            assert f"def {loop}(" in source, f"{loop} is not in {file}"


@pytest.fixture
def installed(root, tmp_path) -> Path:
    """A copy of the package whose kernels have no place for a cache, not even for root."""
    shutil.copytree(
        root / "bioeval", tmp_path / "bioeval", ignore=shutil.ignore_patterns("__pycache__")
    )
    (tmp_path / "bioeval" / "kernels" / "__pycache__").touch()
    (tmp_path / "file").touch()
    return tmp_path


def in_a_process(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if k not in CACHES}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={**kept, "PYTHONPATH": str(folder), **more},
    )


@pytest.mark.slow
def test_kernels_are_compiled_into_a_temporary_folder(installed):
    done = in_a_process(installed, "-c", PROGRAM, HOME=str(installed / "file" / "home"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("\n") == 1
    assert "set BIOEVAL_CACHE_DIR" in done.stderr
    folder = Path(done.stdout.strip())
    assert folder.name.startswith("bioeval-") and not folder.name.startswith(cache._PREFIX)
    assert not folder.exists()  # removed at the end


@pytest.mark.slow
def test_a_place_of_the_users_is_kept(installed):
    """A home that can be written to, or a folder that is named."""
    writable = str(installed / "own")
    for home, named, expected in (
        (installed, {}, installed / ".cache" / f"{cache._PREFIX}{cache._digest_of_kernels()}"),
        (installed / "file", {"NUMBA_CACHE_DIR": writable}, writable),
        (installed / "file", {"BIOEVAL_CACHE_DIR": writable}, writable),
    ):
        done = in_a_process(installed, "-c", PROGRAM, HOME=str(home), **named)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.strip() == str(expected)


@pytest.fixture
def kernels(tmp_path, monkeypatch) -> Path:
    """A folder with two files of kernels, of which `other.py` can be changed."""
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "cache.py").write_text("")
    (folder / "other.py").write_text("STEP = 1\n")
    monkeypatch.setattr(cache, "__file__", str(folder / "cache.py"))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.delenv("BIOEVAL_CACHE_DIR", raising=False)
    return folder


def test_each_state_of_the_kernels_has_a_folder_of_its_own(kernels, monkeypatch):
    first = cache._cache_folder()
    assert Path(first).parent == kernels / "__pycache__"
    assert cache._cache_folder() == first
    (kernels / "other.py").write_text("STEP = 2\n")
    second = cache._cache_folder()
    assert second != first
    (kernels / "other.py").write_text("STEP = 1\n")
    assert cache._cache_folder() == first
    monkeypatch.setattr(numba, "__version__", "0.0")
    assert cache._cache_folder() not in (first, second)


@pytest.mark.parametrize("name", ["NUMBA_CACHE_DIR", "BIOEVAL_CACHE_DIR"])
def test_a_named_folder_that_cannot_be_written_to_has_a_substitute(
    kernels, monkeypatch, capsys, tmp_path, name
):
    """With one line; processes that are started know the substitute, and numba does not."""
    wrong = kernels / "cache.py" / "inside"
    monkeypatch.setenv("BIOEVAL_CACHE_DIR", "")  # so that it is put back at the end
    monkeypatch.setenv(name, str(wrong))
    before = os.environ.get("NUMBA_CACHE_DIR")
    monkeypatch.setattr(cache.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(cache, "_is_warned", False)
    result = cache._cache_folder()
    message = capsys.readouterr().err
    assert f"{name}, {wrong}, cannot be written to" in message and message.count("\n") == 1
    assert Path(result).is_dir() and os.environ["BIOEVAL_CACHE_DIR"] == result
    assert os.environ.get("NUMBA_CACHE_DIR") == before
    assert cache._cache_folder() == result
    assert capsys.readouterr().err == ""


def test_states_that_were_not_used_for_long_are_removed(kernels):
    result = []
    for step in range(9):
        (kernels / "other.py").write_text(f"STEP = {step}\n")
        result.append(Path(cache._cache_folder()))
        os.utime(result[-1], (step, step))
        if step == 6:  # the first is used again, later than all others
            (kernels / "other.py").write_text("STEP = 5\n")
            cache._cache_folder()
    assert len(set(result)) == 9
    kept = {path for path in result if path.exists()}
    assert {result[5], result[8]} < kept
    assert len(kept) == cache._KEPT_STATES


def test_other_programs_keep_their_compiled_functions_elsewhere():
    before = numba.config.CACHE_DIR
    function = compiled(lambda x: x)
    assert function(1) == 1 and before == numba.config.CACHE_DIR
    if not numba.config.DISABLE_JIT:
        assert function.loop.stats.cache_path.startswith(cache.CACHE)


# ------------------------------------------------------------------------ what is said


needs_compiler = pytest.mark.skipif(
    numba.config.DISABLE_JIT, reason="nothing is compiled in this run"
)


def loops(module: str):
    """Return a function of a module that calls another function."""

    @numba.njit
    def inner(x):
        return x[0]

    def outer(x):
        return inner(x)

    outer.__module__ = module
    return numba.njit(outer)


@needs_compiler
def test_what_is_compiled_is_reported_once():
    """A function is reported once for each type; the functions that it calls are not."""

    outer = loops("bioeval.kernels.example")
    result = []
    with shown_by(lambda *shown: result.append(shown)):
        outer(np.ones(1, dtype=np.float32))
        outer(np.ones(1, dtype=np.float32))
        outer(np.ones(1))
    assert result == [
        ("compiling for float32 (once)", 0, 0),
        ("compiling for float64 (once)", 0, 0),
    ]


FORKS = """
import os
import numpy as np
from bioeval.kernels.claims import fuse_nearest

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
    """A process that waited for the threads of its parent would hang."""
    environment = {**os.environ, "NUMBA_NUM_THREADS": "2"}
    arguments = [sys.executable, "-W", "ignore", "-c", FORKS]
    assert subprocess.run(arguments, env=environment, timeout=60).returncode == 0


#: Fuses templates of rows by two layouts of `starts`, each a loop of its own; the arguments are
#: how many functions are compiled before, the layouts, and the numbers of templates of a person.
FUSES = """
import sys
import numba
import numpy as np
from bioeval.kernels.claims import fuse_nearest

earlier, layouts, sizes = sys.argv[1:]
for k in range(int(earlier)):
    numba.njit(eval(f"lambda x: x + {k}"))(1.0)
for layout in layouts.split():
    for size in map(int, sizes.split()):
        block = np.random.default_rng(size).random((20, 40 * size)).astype(np.float32)
        starts = np.arange(0, 40 * size + 1, size)
        starts = np.repeat(starts, 2)[::2] if layout == "strided" else starts
        nearest = np.empty((20, 40), np.float32)
        fuse_nearest.loop(0, 20, block, starts, nearest)
        assert np.array_equal(nearest, block.reshape(20, 40, size).min(axis=2)), (layout, size)
"""


@pytest.mark.slow
@pytest.mark.parametrize("earlier", ["1", "2"])
def test_loops_that_several_processes_have_kept_are_not_taken_for_one_another(tmp_path, earlier):
    """Numba numbers the functions of a process; equal names and numbers are one function."""
    sizes = "4 5 10 3"
    for arguments in (
        ("0", "plain", "4"), (earlier, "strided", "4"),
        ("0", "plain strided", sizes), ("0", "strided plain", sizes),
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-c", FUSES, *arguments],
            env=os.environ | {"BIOEVAL_CACHE_DIR": str(tmp_path)}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
