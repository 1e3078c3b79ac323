"""A wheel, an sdist and an editable installation all have the cards and the command."""

import json
import re
import shutil
import site
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

pytestmark = pytest.mark.slow

LOWEST_EXTRAS = ("formats", "test")
NOT_THE_PROJECT = shutil.ignore_patterns(
    ".git", ".venv*", "venv", "dist", "build", "*cache*", ".hypothesis", "*.egg-info", "_build"
)


def run(*command: str | Path, cwd: Path) -> str:
    process = subprocess.run(
        [str(part) for part in command], cwd=cwd, capture_output=True, text=True, timeout=300
    )
    assert process.returncode == 0, f"{command}\n{process.stdout}\n{process.stderr}"
    return process.stdout


def build(tree: Path, out: Path, kind: str) -> Path:
    run(sys.executable, "-m", "build", "--no-isolation", f"--{kind}", "--outdir", out, cwd=tree)
    (built,) = out.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


def names_in_wheel(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def names_in_sdist(sdist: Path) -> list[str]:
    with tarfile.open(sdist) as archive:
        return [name.partition("/")[2] for name in archive.getnames()]


def cards_in(names: list[str], folder: str = "bioeval/protocol/cards/") -> set[str]:
    return {Path(name).name for name in names if name.startswith(folder) and name.endswith(".toml")}


@pytest.fixture(scope="module")
def cards(root) -> set[str]:
    names = {path.name for path in (root / "protocols").glob("*.toml")}
    assert names, "no cards in protocols/"
    return names


@pytest.fixture(scope="module")
def tree(root, tmp_path_factory) -> Path:
    """A copy of the project to build from, so that nothing is written into the checkout."""
    copy = tmp_path_factory.mktemp("tree") / "bioeval"
    shutil.copytree(root, copy, ignore=NOT_THE_PROJECT)
    return copy


@pytest.fixture(scope="module")
def wheel(tree, tmp_path_factory) -> Path:
    return build(tree, tmp_path_factory.mktemp("wheel"), "wheel")


@pytest.fixture(scope="module")
def sdist(tree, tmp_path_factory) -> Path:
    return build(tree, tmp_path_factory.mktemp("sdist"), "sdist")


def clean_environment(where: Path) -> Path:
    """Make an environment without bioeval that borrows the dependencies of the present environment.

    No network is needed; and since ``.pth`` files are read in an environment's own directory
    only, an editable bioeval that this one may hold is not seen there.
    """
    venv.create(where, with_pip=False, symlinks=sys.platform != "win32")
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    library = Path(run(python_of(where), "-c", ask, cwd=where).strip())
    borrowed = "\n".join(path for path in site.getsitepackages() if Path(path).is_dir())
    (library / "borrowed.pth").write_text(borrowed + "\n", encoding="utf-8")
    return where


def scripts_of(environment: Path) -> Path:
    return environment / ("Scripts" if sys.platform == "win32" else "bin")


def python_of(environment: Path) -> Path:
    return scripts_of(environment) / "python"


def install(environment: Path, *what: str | Path) -> None:
    run(
        sys.executable, "-m", "pip", "--python", python_of(environment), "install", "--quiet",
        "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation", *what,
        cwd=environment,
    )  # fmt: skip


def check_installed(environment: Path, cards: set[str], where: Path, empty: Path) -> None:
    """Ask the installed package, from a directory that holds nothing."""
    program = """
import bioeval, importlib.metadata
print(bioeval.__file__)
print(bioeval.__version__)
print(importlib.metadata.version("bioeval-protocols"))
"""
    location, *versions = run(python_of(environment), "-c", program, cwd=empty).splitlines()
    assert Path(location).resolve().is_relative_to(where.resolve())
    assert versions[0] == versions[1]
    listed = json.loads(run(scripts_of(environment) / "bioeval", "protocols", "--json", cwd=empty))
    assert cards <= {f"{card['name']}.toml" for card in listed}


def test_wheel_contents(wheel, cards):
    names = names_in_wheel(wheel)
    assert cards_in(names) == cards
    assert "bioeval/py.typed" in names
    assert "bioeval/cli/__init__.py" in names
    for text in ("licenses/LICENSE", "licenses/NOTICE"):
        assert any(name.endswith(text) for name in names)
    outside = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    assert outside == {"bioeval"}  # neither tests nor scripts land in site-packages
    assert not [name for name in names if "__pycache__" in name]


def test_sdist_contents(sdist, cards):
    names = names_in_sdist(sdist)
    assert cards_in(names, "protocols/") == cards
    assert {"bioeval/py.typed", "pyproject.toml", "LICENSE", "NOTICE", "README.md"} <= set(names)
    assert {"tests/conftest.py", "scripts/_environment"} <= set(names)
    locks = ("base", "dev", "full", "lowest")
    assert {f"requirements/{x}.lock" for x in locks} <= set(names)


def test_the_lowest_versions_are_those_of_their_lock(root):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lock = (root / "requirements/lowest.lock").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([a-z0-9-]+)(?:\[[^]]*\])?==([^ ;]+)", lock, re.MULTILINE))
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *(r for e in LOWEST_EXTRAS for r in extras[e])]
    lowest = {}
    for text in named:
        requirement = Requirement(text)
        if requirement.name != project["name"]:
            (bound,) = requirement.specifier
            assert bound.operator == ">="
            lowest[requirement.name] = Version(bound.version)
    assert lowest
    for name, version in lowest.items():
        release = Version(pinned[name]).release
        assert release[: len(version.release)] == version.release, name


def test_the_sdist_makes_the_same_wheel(sdist, wheel, tmp_path):
    options = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # not in Python 3.11.2
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", **options)
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    again = build(unpacked, tmp_path / "out", "wheel")
    assert sorted(names_in_wheel(again)) == sorted(names_in_wheel(wheel))


def test_the_wheel_works_in_a_clean_environment(wheel, cards, tmp_path):
    environment = clean_environment(tmp_path / "env")
    (tmp_path / "empty").mkdir()
    install(environment, wheel)
    check_installed(environment, cards, environment, tmp_path / "empty")


def test_the_editable_install_works(tree, cards, tmp_path):
    environment = clean_environment(tmp_path / "env")
    (tmp_path / "empty").mkdir()
    install(environment, "--editable", tree)
    check_installed(environment, cards, tree, tmp_path / "empty")
    card = tree / "protocols" / "new.toml"
    text = (tree / "protocols" / "pairs.toml").read_text(encoding="utf-8")
    card.write_text(text.replace('name = "pairs"', 'name = "new"'), encoding="utf-8")
    try:  # the cards of the checkout are read, and no copy of them
        check_installed(environment, {card.name}, tree, tmp_path / "empty")
    finally:
        card.unlink()


def test_the_tree_has_no_link(root):
    """Windows makes none of a checkout, where it is a file with the text of a path."""
    names = [path.name for path in root.iterdir()]
    of_project = [root / x for x in set(names) - NOT_THE_PROJECT(str(root), names)]
    paths = [path for x in of_project for path in (x, *x.rglob("*"))]
    assert len(paths) > 500
    assert not [path for path in paths if path.is_symlink()]
