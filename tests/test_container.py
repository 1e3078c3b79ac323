"""The container file: what it copies exists, it runs as no root, and its steps do what they say."""

from __future__ import annotations

import json
import os
import re
import shlex
import site
import subprocess
import sys
import tomllib
import venv

import pytest
from test_packaging import NOT_THE_PROJECT

KNOWN = {"FROM", "ENV", "COPY", "WORKDIR", "RUN", "USER", "CMD"}


def steps(root):
    """Return the instructions of the container file, each with its text."""
    text = (root / "Containerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [tuple(line.split(maxsplit=1)) for line in lines]


def test_the_instructions_are_known_and_in_order(root):
    found = steps(root)
    assert {name for name, _ in found} <= KNOWN
    assert found[0][0] == "FROM"
    assert re.fullmatch(r"docker\.io/library/python:\d\.\d+-slim", found[0][1])
    users = [text for name, text in found if name == "USER"]
    assert users
    assert users[-1] not in ("0", "root")
    (command,) = (json.loads(text) for name, text in found if name == "CMD")
    assert command[0] == "dask"


def test_what_is_installed_is_what_the_project_has(root):
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    (installed,) = re.findall(r"\.\[([a-z,]+)\]", " ".join(text for _, text in steps(root)))
    assert set(installed.split(",")) <= set(project["optional-dependencies"])
    assert "distributed" in installed.split(",")
    (version,) = re.findall(r"python:(\d\.\d+)-slim", steps(root)[0][1])
    assert f"Programming Language :: Python :: {version}" in project["classifiers"]


def test_every_thread_of_a_library_is_one(root):
    text = " ".join(text for name, text in steps(root) if name == "ENV")
    given = dict(pair.split("=") for pair in shlex.split(text))
    threads = {name: value for name, value in given.items() if name.endswith("_NUM_THREADS")}
    assert set(threads.values()) == {"1"}
    assert "NUMBA_NUM_THREADS" in threads


@pytest.mark.slow
def test_the_steps_run_in_a_fresh_environment(root, tmp_path):
    """Libraries are those of this environment: nothing is downloaded."""
    import shutil

    source, fresh = tmp_path / "src", tmp_path / "fresh"
    shutil.copytree(root, source, symlinks=True, ignore=NOT_THE_PROJECT)
    venv.create(fresh, with_pip=True)
    (own,) = fresh.glob("lib/python*/site-packages")
    (own / "libraries.pth").write_text("\n".join(site.getsitepackages()))
    environment = {
        **{k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")},
        **{"PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_INDEX": "1"},
        "PATH": f"{fresh / 'bin'}:{os.environ['PATH']}",
        "NUMBA_CACHE_DIR": str(tmp_path / "kernels"),
    }
    for name, text in steps(root):
        if name == "RUN":
            done = subprocess.run(
                ["sh", "-ec", text],
                cwd=source, env=environment, capture_output=True, text=True, timeout=300,
            )  # fmt: skip
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
    found = subprocess.run(
        [fresh / "bin" / "python", "-c", "import bioeval; print(bioeval.__file__)"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert found.stdout.startswith(str(own)), f"{found.stdout}, by {sys.executable}"
