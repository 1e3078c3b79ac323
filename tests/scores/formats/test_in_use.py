"""A system like Windows: it neither moves, replaces nor removes a file that is open or mapped."""

import contextlib
import errno
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from named_arguments import refused

import bioeval as be
from bioeval.cli import main

fcntl = pytest.importorskip("fcntl")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")

SCORES = be.Scores(np.random.default_rng(5).random((8, 8)), np.arange(8) // 2)
ACCESS_DENIED, SHARING_VIOLATION, ALREADY_EXISTS = 5, 32, 183


def files_in_use() -> set[str]:
    """The files, but no folders, that this process has open or mapped."""
    paths = {line[73:] for line in Path("/proc/self/maps").read_text().splitlines()}
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            paths.add(os.readlink(f"/proc/self/fd/{number}"))
    return {x for x in paths if x.startswith("/") and not os.path.isdir(x)}


def place_of(path, folder) -> str:
    folder = "" if folder is None else os.readlink(f"/proc/self/fd/{folder}")
    return os.path.abspath(os.path.join(folder, os.fspath(path)))


def refuse(number: int, *paths) -> None:
    kind = FileExistsError if number == ALREADY_EXISTS else PermissionError
    error = kind(errno.EACCES, "refused", str(paths[0]), None, *map(str, paths[1:]))
    error.winerror = number  # type: ignore[attr-defined]
    raise error


@pytest.fixture(autouse=True)
def windows(monkeypatch, tmp_path):
    """Refuse the operations that Windows refuses, and have its temporary files."""
    monkeypatch.chdir(tmp_path)

    def moving(real, replaces: bool):
        def move(old, new, *, src_dir_fd=None, dst_dir_fd=None):
            source, target = place_of(old, src_dir_fd), place_of(new, dst_dir_fd)
            used = files_in_use()
            if any(x == source or x.startswith(f"{source}/") for x in used):
                refuse(SHARING_VIOLATION, old, new)
            if source != target and os.path.lexists(target):
                if not replaces:
                    refuse(ALREADY_EXISTS, old, new)
                if os.path.isdir(target) or target in used:
                    refuse(ACCESS_DENIED, old, new)
            real(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

        return move

    def removing(real):
        def remove(path, *, dir_fd=None):
            if place_of(path, dir_fd) in files_in_use():
                refuse(SHARING_VIOLATION, path)
            real(path, dir_fd=dir_fd)

        return remove

    monkeypatch.setattr(os, "replace", moving(os.replace, replaces=True))
    monkeypatch.setattr(os, "rename", moving(os.rename, replaces=False))
    monkeypatch.setattr(os, "unlink", removing(os.unlink))
    monkeypatch.setattr(os, "remove", removing(os.remove))
    monkeypatch.setattr(tempfile, "TemporaryFile", tempfile.NamedTemporaryFile)


def contents() -> dict[str, bytes]:
    """The files, but for locks, which Windows alone removes after they are closed."""
    files = [x for x in Path().rglob("*") if x.is_file() and x.suffix != ".lock"]
    return {str(x): x.read_bytes() for x in files}


def test_a_file_that_is_opened_meanwhile_is_named(monkeypatch):
    be.save(SCORES, "x.npz")
    before = contents()
    with contextlib.ExitStack() as stack:
        monkeypatch.setattr(os, "fsync", lambda number: stack.enter_context(open("x.npz")))
        with refused(r"^x.npz: is in use"):
            be.save(SCORES, "x.npz")
    assert contents() == before


@pytest.mark.parametrize("name", ["npz", "csv", "parquet"])
def test_what_fails_while_it_is_written_leaves_nothing(name, monkeypatch):
    if name == "parquet":
        pytest.importorskip("pyarrow")
    scores_to_write = (
        be.Scores.from_pairs([1.0, 2.0], [1, 0]) if name in ("csv", "parquet") else SCORES
    )

    def fail(self, *args):
        raise KeyboardInterrupt

    monkeypatch.setattr(type(SCORES.cells), "read", fail)
    monkeypatch.setattr(be.Scores, "values", property(fail))
    with pytest.raises(KeyboardInterrupt):
        be.save(scores_to_write, f"x.{name}")
    assert contents() == {}


@pytest.mark.slow
def test_commands_say_it_in_one_line_and_keep_results(capsys):
    """A file in use is refused before any work; other results have a folder."""

    def failing(*words):
        assert main([*words]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        return line.removeprefix("bioeval: error: ")

    be.save(SCORES, "x.npz")
    be.save(SCORES, "y.npz")
    words = ("run", "x.npz", "--out", "out")
    assert main([*words]) == 0 and capsys.readouterr()
    before, used = contents(), "is in use, by scores that are read from it or by"
    with open("y.npz"), open("out/table.txt"):
        said = failing("convert", "x.npz", "y.npz", "--force")
        assert said.startswith(f"y.npz: {used}")
        assert "out/table.txt would be replaced; give --force" in failing(*words)
        assert failing(*words, "--force").startswith(f"out/table.txt: {used}")
    assert contents() == before
    with open("out/open_set_threshold.csv"):
        said = failing(*words, "--max-rank", "3", "--force")
    assert said.startswith(f"out/open_set_threshold.csv: {used}")
    assert said.endswith("give another name. The results are in out/results-2")
    contents_after = contents()
    assert before.items() < contents_after.items()
    assert {Path(x).parent for x in set(contents_after) - set(before)} == {Path("out/results-2")}
    assert contents_after["out/results-2/summary.json"] != before["out/summary.json"]
