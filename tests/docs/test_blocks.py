"""Every block of code of every page runs, and prints what the page shows."""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from pages import PAGES, ROOT, Block, blocks

import bioeval as be
from bioeval.cli import main

#: Commands that other tests run, or that change the machine.
ELSEWHERE = (
    "scripts/",
    "source ",
    "pip ",
    "git ",
    ".venv/",
    ".ci/",
    "conda ",
    "docker ",
    "kubectl ",
)
WITH_CODE = [page for page in PAGES if any(True for _ in blocks(page))]


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT)))
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    names: dict[str, object] = {"__name__": "page", "__file__": str(page), "np": np, "be": be}
    for block in blocks(page):
        where = f"{page.relative_to(ROOT)}:{block.line}"
        if block.language in ("python", "pycon", "code-cell"):
            run_python(block, names, where)
        elif block.language in ("sh", "bash", "text", "console"):
            for command, shown in block.commands:
                run_command(command, shown, where)


def run_python(block: Block, names: dict[str, object], where: str) -> None:
    if ">>> " in block.code:
        examples = doctest.DocTestParser().get_doctest(block.code, names, where, where, block.line)
        said = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        failed = runner.run(examples, out=said.write, clear_globs=False).failed
        names.update(examples.globs)
        assert not failed, said.getvalue()
        return
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            exec(compile("\n" * block.line + block.code, where, "exec"), names)
        except Exception as error:
            pytest.fail(f"{where}: {type(error).__name__}: {error}")


def run_command(command: str, shown: str, where: str) -> None:
    if command.startswith(("#", *ELSEWHERE)):
        return
    words = shlex.split(command, comments=True)
    if not words:
        return
    said, code = run(command, words)
    assert code == 0 or "exit" in command, f"{where}: {command}: exit {code}\n{said}"
    if shown.strip():
        assert re.search(pattern(shown), squeezed(said)), f"{where}: {command} prints\n{said}"


def run(command: str, words: list[str]) -> tuple[str, int]:
    """Run a command in this process where it is ours alone, else in a shell."""
    if words[0] == "bioeval" and not set("|<>&;") & set(command):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            code = main(words[1:])
        return out.getvalue(), code
    script = f'bioeval() {{ "{sys.executable}" -m bioeval "$@"; }}\n{command}\n'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=environment, timeout=300
    )
    return done.stdout + done.stderr, done.returncode


def squeezed(text: str) -> str:
    """Return the text with single blanks, for tables are as wide as a terminal."""
    return re.sub(r"\s+", " ", text).strip()


def pattern(shown: str) -> str:
    """Return what the shown output matches: ``...`` is anything."""
    return ".*".join(re.escape(squeezed(part)) for part in re.split(r"\.\.\.", shown))


def test_a_page_that_shows_other_output_fails(tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match="prints"):
        run_command("bioeval --version", "another program", "page.md:1")
    run_command("bioeval --version", "bioeval ...", "page.md:1")
