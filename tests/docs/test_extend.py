"""The page on extending bioeval shows the package beside it, and what the package does."""

from __future__ import annotations

import re

import pytest
from pages import ROOT, blocks

from tests.installed import install_source, run

FOLDER = ROOT / "docs" / "extend"
PACKAGE = FOLDER / "bioeval-lab"
NAME = re.compile(r"# (\S+)\n")


def test_the_page_has_the_files_of_the_package():
    shown = {}
    for block in blocks(FOLDER / "index.md", all_of_them=True):
        if name := NAME.match(block.code):
            shown[name[1]] = block.code.removeprefix(name[0])
    files = {}
    for path in PACKAGE.rglob("*"):
        if path.suffix in (".py", ".toml"):
            files[path.relative_to(PACKAGE).as_posix()] = path.read_text(encoding="utf-8")
    assert shown == files
    text = "".join(files.values())
    assert len([line for line in text.splitlines() if line.strip()]) <= 160


@pytest.mark.slow
def test_the_page_shows_what_the_package_does(tmp_path):
    site = tmp_path / "site"
    install_source(site, PACKAGE)
    programs, commands = [], []
    for block in blocks(FOLDER / "index.md", all_of_them=True):
        if block.language == "pycon":
            programs.append(block.code)
        elif block.language == "console":
            commands += block.commands
    (program,) = programs
    code = f"import doctest\ntext = {program!r}\nnames = {{'show': 0}}\n"
    code += "test = doctest.DocTestParser().get_doctest(text, names, 'page', None, 0)\n"
    code += "print(doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test))"
    done = run(site, "-c", code, cwd=tmp_path)
    assert "TestResults(failed=0, attempted=5)" in done.stdout, done.stdout
    for command, shown in commands:
        done = run(site, "-m", *command.split(), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        written = done.stdout + done.stderr
        for part in shown.split("...\n"):
            assert part in written
    assert (tmp_path / "results" / "accepted-impostors.png").exists()
