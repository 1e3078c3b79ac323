"""Files that belong to one target are replaced together: all of them, or none."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import bioeval as be
from bioeval.base import files


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents() -> dict[str, bytes]:
    return {str(x): x.read_bytes() for x in Path().rglob("*") if x.is_file()}


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError], ids=["ctrl-c", "error"])
def test_what_fails_at_any_step_leaves_all_as_it_was(error, monkeypatch):
    """The first file is aside until all is there."""
    names = ("main", "one", "two")
    for name in (*names[:2], "obsolete"):
        Path(name).write_text("old")
    for last in range(7):
        for name in names:
            Path(f".{name}.part").write_text("new")
        before, steps = contents(), iter(range(99))

        def replace(*given, steps=steps, last=last) -> None:
            step = next(steps)
            if step == last:
                raise error
            assert not 0 < step < 5 or not Path("main").exists()
            os.replace(*given)

        monkeypatch.setattr(files, "os", SimpleNamespace(**{**vars(os), "replace": replace}))
        parts = [Path(f".{name}.part") for name in names]
        try:
            files.put_in_place(parts, [*map(Path, names)], [Path("obsolete")])
        except error:
            complete_files = {name: text for name, text in contents().items() if "part" not in name}
            assert complete_files == {
                name: text for name, text in before.items() if "part" not in name
            }
        else:
            break
    assert last == 6
    assert contents() == dict.fromkeys(names, b"new")


@pytest.mark.parametrize("name", ["x.npz", "x.csv"])
def test_a_link_stays_a_link(name):
    Path("place").mkdir()
    Path(name).symlink_to(Path("place") / name)
    for _ in range(2):
        be.save(be.Scores.from_pairs([1.0, 2.0], [1, 0]), name)
    assert Path(name).is_symlink() and Path("place", name).exists()
    assert not [x for x in (*os.listdir(), *os.listdir("place")) if x.startswith(".")]


@pytest.mark.parametrize("last", range(4))
@pytest.mark.parametrize("platform", ["linux", "other"])
def test_folders_are_exchanged_or_stay(platform, last, monkeypatch):
    """Without a single step, an error in any of three leaves the old folder in its place."""
    for name in ("new", "old"):
        Path(name).mkdir()
        Path(name, "file").write_text(name)
    steps = iter(range(99))

    def rename(*places) -> None:
        if next(steps) == last:
            raise OSError
        os.rename(*places)

    monkeypatch.setattr(files, "os", SimpleNamespace(**{**vars(os), "rename": rename}))
    monkeypatch.setattr(files.sys, "platform", platform)
    try:
        files.exchange(Path("new"), Path("old"))
    except OSError:
        assert platform == "other" and last < 3
    else:
        assert Path("new/file").read_text() == "old"
    is_exchanged = platform == "linux" or last > 1
    assert Path("old/file").read_text() == ("new" if is_exchanged else "old")


def test_a_lock_is_held_by_one_process_at_a_time():
    program = """
import sys, time
from pathlib import Path
from bioeval.base.errors import DataError
from bioeval.base.files import locked

held = 0
while held < 20:
    try:
        with locked(Path("lock"), "counting"):
            number = int(Path("number").read_text())
            time.sleep(0.0001)
            Path("number").write_text(str(number + 1))
        held += 1
    except DataError:
        time.sleep(0.0002)
"""
    Path("number").write_text("0")
    words = [sys.executable, "-c", program]
    programs = [subprocess.Popen(words) for _ in range(3)]
    assert [x.wait(60) for x in programs] == [0, 0, 0]
    assert int(Path("number").read_text()) == 3 * 20
    assert not Path("lock").exists()
