"""The environment that the scripts share: extended and mended in place, never removed while sound.

An installer that writes down what it is called with takes the place of uv.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the installer is a Bash script")

LOCKS = {"base": "base.lock", "dev": "dev.lock", "full": "full.lock", "lowest": "lowest.lock"}
INSTALLER = """#!/usr/bin/env bash
last=${!#}
if [ "$1" = venv ]; then
  echo venv >>"$CALLS"
  "$PYTHON" -m venv --without-pip "$last"
elif [ -n "${OFFLINE-}" ]; then
  echo "error sending request: dns error" >&2
  exit 1
else
  basename "$last" >>"$CALLS"
  echo >"$(dirname "$5")/bioeval" && chmod +x "$(dirname "$5")/bioeval"
fi
"""
SCRIPT = """#!/usr/bin/env bash
set -euo pipefail
needs=$1
source "$(dirname "${BASH_SOURCE[0]}")/_environment"
command -v bioeval
"""


@dataclass
class Checkout:
    """A small checkout with an installer of its own; a `call` returns what was installed."""

    folder: Path
    name: str = ".venv"

    @property
    def venv(self) -> Path:
        return self.folder / self.name

    def call(self, needs: str, code: int = 0, error: str = "", **variables: str) -> list[str]:
        calls = self.folder / "calls"
        calls.write_text("")
        hidden = ("BIOEVAL_", "VIRTUAL_")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(hidden)}
        environment |= dict.fromkeys(("PYTHON", "BIOEVAL_PYTHON"), sys.executable)
        environment["PATH"] = f"{self.folder / 'tools'}:{os.environ['PATH']}"
        process = subprocess.run(
            [self.folder / "scripts" / "script", needs],
            env={**environment, "CALLS": str(calls), **variables},
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert process.returncode == code, process.stderr
        assert error in process.stderr
        if not code:
            assert process.stdout.strip() == str(self.venv / "bin" / "bioeval")
        return calls.read_text().split()


@pytest.fixture
def checkout(root, tmp_path) -> Checkout:
    folder = tmp_path / "bioeval"
    tools = folder / "tools"
    (folder / "scripts").mkdir(parents=True)
    (folder / "requirements").mkdir()
    tools.mkdir()
    for path, text in (
        (tools / "uv", INSTALLER),
        (folder / "scripts" / "script", SCRIPT),
        *((folder / "requirements" / name, f"# {layer}\n") for layer, name in LOCKS.items()),
        (folder / "pyproject.toml", "# the project\n"),
    ):
        path.write_text(text)
        path.chmod(0o755)
    for name in ("_environment", "_help"):
        shutil.copy(root / "scripts" / name, folder / "scripts")
    return Checkout(folder)


OPTIONS = {  # of the programs that the scripts start
    "bench": "scripts/bench.py",
    "course": "scripts/course.py",
    "coverage": "scripts/simulations.py",
    "demo": "bioeval/cli/commands/about.py",
    "fuzz": "scripts/fuzz.py",
}


@pytest.mark.parametrize(
    "name", sorted(["docs", "lint", "lock", "notebook", "peers/run", "test", *OPTIONS])
)
def test_the_help_of_a_script_makes_no_environment(root, tmp_path, name):
    environment = {**os.environ, "BIOEVAL_VENV": str(tmp_path / "venv"), "BIOEVAL_PYTHON": "none"}
    for option in ("--help", "-h"):
        process = subprocess.run(
            [root / "scripts" / name, option],
            env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert (process.returncode, process.stderr) == (0, "")
        assert f"  scripts/{name}" in process.stdout
    assert not list(tmp_path.iterdir())
    if name in OPTIONS:
        text = (root / OPTIONS[name]).read_text(encoding="utf-8")
        pattern = r'@option\("(--\w+)' if name == "demo" else r'add_argument\(\s*"(--\w+)'
        text = text.partition("def demo_command")[0] if name == "demo" else text
        options = re.findall(pattern, text)
        assert options
        internal = {"--growth", "--memory"}  # of processes that scripts/bench starts
        assert set(options) - internal <= set(re.findall(r"--\w+", process.stdout))


@pytest.mark.slow
def test_a_larger_need_adds_to_the_environment(checkout):
    assert checkout.call("base") == ["venv", LOCKS["base"], "bioeval"]
    (checkout.venv / "kept").touch()
    assert checkout.call("dev") == [LOCKS["dev"]]
    assert checkout.call("base") == []
    assert checkout.call("base", BIOEVAL_NEEDS="full") == [LOCKS["full"]]
    assert checkout.call("dev") == []
    assert (checkout.venv / "kept").exists()


@pytest.mark.slow
def test_an_environment_that_is_not_sound_is_built_anew(checkout):
    everything = ["venv", LOCKS["base"], "bioeval"]
    checkout.call("base")
    settings = checkout.venv / "pyvenv.cfg"
    for spoil in (
        lambda: (checkout.venv / "bin" / "python").unlink(),
        lambda: settings.write_text("version = 3.9.1\n"),
        lambda: settings.write_text(""),
        lambda: (checkout.venv / "lib" / "bioeval-1.1.14.dist-info").mkdir(),
    ):
        (checkout.venv / "bioeval-base").unlink()
        spoil()
        assert checkout.call("base") == everything
    (checkout.folder.parent / "elsewhere").mkdir()
    moved = checkout.folder.rename(checkout.folder.parent / "elsewhere" / "bioeval")
    assert Checkout(moved).call("base") == everything


@pytest.mark.slow
def test_a_folder_that_is_no_environment_is_left_alone(checkout):
    checkout.venv.mkdir()
    (checkout.venv / "letters").write_text("mine")
    assert checkout.call("base", code=1) == []
    assert (checkout.venv / "letters").read_text() == "mine"


def test_an_old_python_is_refused_before_anything_is_downloaded(checkout):
    old = checkout.folder / "tools" / "python3"
    old.write_text("#!/bin/sh\nexit 0\n")  # its version is not printed: it is too old
    old.chmod(0o755)
    message = f"bioeval needs Python 3.11 or newer; tried: {old}."
    assert checkout.call("base", 1, message, BIOEVAL_PYTHON=str(old)) == []
    assert not checkout.venv.exists()


@pytest.mark.slow
def test_without_a_network_one_line_says_what_is_missing(checkout):
    (checkout.folder / "requirements" / LOCKS["base"]).write_text("nowhere==1\n")
    message = "base.lock are missing, and the package index cannot be reached: connect"
    calls = checkout.call("base", 1, message, OFFLINE="1", PIP_NO_INDEX="1")
    assert calls == ["venv"]
