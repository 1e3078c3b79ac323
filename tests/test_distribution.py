"""The name under which bioeval is installed, and the other project that is called ``bioeval``."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from pages import ROOT

from bioeval.base.environment import distribution, how_to_install
from bioeval.base.errors import BioevalError
from bioeval.scores.formats.texts import optional

NAME = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["name"]

#: A requirement: `bioeval[extra]` or `bioeval>=1`.
REQUIRED = re.compile(r"(?<![\w./-])(bioeval[\w-]*)(?:\[[a-z,]+\]|[=<>~!]=\d)")

#: The words after `pip install` and the like, except in the sentence that warns of it.
INSTALLED = re.compile(r"(?<!Do not run `)\b(?:pip|pipx|uv add|uv tool)3? install ([^`\n&;]*)")
ENDINGS = (".md", ".py", ".toml", ".yml", ".cff", ".lock", ".ipynb", "")


def texts():
    """Yield every text of the project, but for those of tests and of hidden folders."""
    for place in ("*", "bioeval/**/*", "docs/**/*", "scripts/**/*", ".github/**/*"):
        for path in ROOT.glob(place):
            folders = path.relative_to(ROOT).parts[:-1]
            kept = any(x == "_build" or (x.startswith(".") and x != ".github") for x in folders)
            if path.is_file() and path.suffix in ENDINGS and not kept:
                yield path, path.read_text(encoding="utf-8")


def test_every_page_and_message_names_the_package_of_this_project():
    names_found = []
    for path, text in texts():
        names = REQUIRED.findall(text)
        for words in INSTALLED.findall(text):
            names += re.findall(r"(?<![\w./-])bioeval[\w-]*(?![\w./-])", words)
        assert {*names} <= {NAME}, path
        names_found += names
    assert names_found.count(NAME) >= 2  # the patterns still find names, on pages and in code


def test_one_function_says_how_to_install_an_extra():
    sources = (ROOT / "bioeval").rglob("*.py")
    files = [path.name for path in sources if "pip install" in path.read_text(encoding="utf-8")]
    assert files == ["environment.py"]
    assert distribution() == NAME
    assert how_to_install("formats") == f"python -m pip install '{NAME}[formats]'"
    with pytest.raises(BioevalError, match=re.escape(how_to_install("formats"))):
        optional("nowhere_at_all", Path("x.parquet"), "a Parquet file")


def test_a_copy_that_is_not_installed_knows_its_name(monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: ())
    assert distribution() == NAME


@pytest.mark.slow
def test_a_package_that_the_other_one_overwrote_says_so(tmp_path):
    shutil.copytree(ROOT / "bioeval", tmp_path / "bioeval")
    (tmp_path / "bioeval" / "__init__.py").write_text("evaluate = None\n", encoding="utf-8")
    program = "import sys\nfrom bioeval.cli import main\nsys.exit(main(['info']))"
    process = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    (line,) = process.stderr.splitlines()
    assert line.startswith("bioeval: error: bioeval/__init__.py is not that of this program")
    assert f"python -m pip install {NAME}" in line
    assert (process.returncode, process.stdout) == (70, "")
