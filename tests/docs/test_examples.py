"""The scripts of docs/examples run as they are, and write what they say."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from pages import ROOT

SCRIPTS = sorted((ROOT / "docs" / "examples").glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_an_example_runs(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    promised = re.findall(r"\w[\w-]*\.(?:html|tex|png)", script.read_text("utf-8").split('"""')[1])
    assert {path.name for path in tmp_path.iterdir()} == {*promised}


def test_each_example_has_a_link():
    page = (ROOT / "docs" / "questions.md").read_text(encoding="utf-8")
    assert SCRIPTS and all(f"(examples/{script.name})" in page for script in SCRIPTS)
