"""Each study can be taken away, with those that need it: the rest stands.

Every other module is imported, every public name and command is there, the help is printed, and
scores are evaluated.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bioeval as be
from bioeval.base.study import doors

pytestmark = pytest.mark.slow  # a copy of the package for each study

PACKAGE = Path(be.__file__).parent

REST = """
import importlib, pathlib, sys
import click
import bioeval as be
from bioeval.cli.lazy_group import COMMANDS, root

gone = sys.argv[1:]
assert str(pathlib.Path(be.__file__).parents[1]) == str(pathlib.Path.cwd()), be.__file__
for path in sorted(pathlib.Path("bioeval").rglob("*.py")):
    name = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    if not name.endswith("__main__"):
        importlib.import_module(name)
for public in (be, be.plot, be.stats):
    for name in dir(public):
        getattr(public, name)
for name in COMMANDS:
    assert root.get_command(click.Context(root), name) is not None, name
assert not {f"bioeval.studies.{name}" for name in gone} & sys.modules.keys()
scores = be.simulate(6, 3)
for result in (be.evaluate(scores), be.open_set(scores), be.verification(scores)):
    be.show(result)
if "summaries" not in gone:
    be.show(be.summary(scores))
"""


def needing(name: str) -> set[str]:
    """Return a study and all that need it, by way of others, too."""
    found = {name}
    while more := {x for x, study in doors().items() if found & {*study.needs}} - found:
        found |= more
    return found


@pytest.fixture(scope="module")
def rest(tmp_path_factory):
    """Return what copies the package without some studies, and runs a program there."""

    def run(taken, *arguments):
        folder = tmp_path_factory.mktemp("rest")
        gone = [PACKAGE / "studies" / name for name in taken]

        def left_out(where, names):
            return [name for name in names if Path(where) / name in gone]

        copy = folder / "bioeval"
        shutil.copytree(PACKAGE, copy, ignore=left_out, copy_function=shutil.copy2)
        given = {**os.environ, "PYTHONPATH": str(folder)}
        return subprocess.run(
            [sys.executable, *arguments], cwd=folder, env=given, capture_output=True, text=True
        )

    return run


@pytest.mark.parametrize("name", doors())
def test_the_rest_stands_without_a_study(name, rest):
    taken = needing(name)
    done = rest(taken, "-W", "error", "-c", REST, *taken)
    assert done.returncode == 0, done.stderr[-2000:]


def test_nothing_of_studies_is_left_where_all_are_taken(rest):
    done = rest(doors(), "-m", "bioeval", "--help")
    assert done.returncode == 0, done.stderr[-2000:]
    for study in doors().values():
        for command in study.commands:
            assert f"  {command.name} " not in done.stdout
    missing = rest(doors(), "-c", "import bioeval as be; be.zoo")
    assert "AttributeError: bioeval has no 'zoo'" in missing.stderr
