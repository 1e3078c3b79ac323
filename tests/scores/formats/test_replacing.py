"""Files that belong to one target are replaced together: all of them, or none."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bioeval as be
from bioeval.scores.formats import files, hdf5, label_files, npy


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def of_writer(number: int) -> be.Scores:
    """Scores whose values and labels both say who wrote them."""
    values = np.full((4, 4), float(number)) - np.eye(4)
    labels = [f"{number}-{i // 2}" for i in range(4)]
    return be.Scores(values, labels, probe_meta={"session": [str(number)] * 4})


def writer_of(path: str) -> int:
    """Who wrote the files; an error where they are of several writers."""
    found = be.load(path)
    (number,) = {int(found._read_rows(0, 4)[0, 1]), *(int(x[0]) for x in found.probe_labels)}
    return number


def contents() -> dict[str, bytes]:
    return {str(x): x.read_bytes() for x in Path().rglob("*") if x.is_file()}


@pytest.fixture
def replace_steps():
    """Call a function before each renaming, with its number."""
    real = os.replace

    def install(before) -> None:
        steps = iter(range(99))

        def replace(*names) -> None:
            before(next(steps))
            real(*names)

        # Not for libraries, such as zarr.
        patch.setattr(files, "os", SimpleNamespace(**{**vars(os), "replace": replace}))

    with pytest.MonkeyPatch.context() as patch:
        yield install


def test_no_step_shows_a_matrix_with_the_labels_of_another(replace_steps):
    be.save(of_writer(1), "x.npy")
    seen = []

    def look(step: int) -> None:
        if Path("x.npy").exists():
            seen.append(writer_of("x.npy"))

    replace_steps(look)
    be.save(of_writer(2), "x.npy")
    assert seen == [1]  # then there is none, until all is there
    assert writer_of("x.npy") == 2


@pytest.mark.parametrize("name", ["x.npy", "x.mtx"])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError], ids=["ctrl-c", "error"])
@pytest.mark.cases(6)
def test_what_fails_at_any_step_leaves_all_as_it_was(name, error, replace_steps):
    be.save(of_writer(1), name)
    before = contents()
    for last in range(1 + 2 * len(files_of(name))):

        def fail(step: int, last: int = last) -> None:
            if step == last:
                raise error

        replace_steps(fail)
        try:
            be.save(of_writer(2), name)
        except error:
            assert contents() == before
        else:
            break
    assert last == 2 * len(files_of(name))
    assert contents() != before and set(contents()) == set(before)


def files_of(name: str) -> tuple[str, ...]:
    return {"x.npy": ("npy", "json", "labels.csv"), "x.mtx": ("mtx", "mask")}[name]


def test_a_file_that_was_not_there_goes_again(replace_steps):
    given = of_writer(1)
    be.save(given, "x.npy")
    before = contents()
    masked = be.Scores(given.values, mask=np.ones((4, 4), dtype=np.uint8))

    def fail(step: int) -> None:
        if step == 4:  # x.npy and x.json are aside, and the mask is there
            assert Path("x.mask.npy").exists()
            raise KeyboardInterrupt

    replace_steps(fail)
    with pytest.raises(KeyboardInterrupt):
        be.save(masked, "x.npy")
    assert contents() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no such locks")
def test_writers_take_turns(replace_steps):
    name = "x.npy"
    be.save(of_writer(1), name)
    other = threading.Thread(target=be.save, args=(of_writer(3), name))

    def meanwhile(step: int) -> None:
        if step == 1:  # half of it is done
            other.start()
            other.join(0.1)

    replace_steps(meanwhile)
    be.save(of_writer(2), name)
    other.join()
    assert writer_of(name) == 3
    assert set(os.listdir()) == {name, "x.json", "x.labels.csv"}


def test_a_reader_notices_another_writer():
    be.save(of_writer(1), "x.npy")

    def meanwhile(*args, **options):
        patch.undo()
        be.save(of_writer(2), "x.npy")
        return label_files.read_side(*args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(npy, "read_side", meanwhile)
        with pytest.raises(be.DataError, match="x.npy: was replaced while it was read; read it"):
            be.load("x.npy")
    assert writer_of("x.npy") == 2


@pytest.mark.parametrize("name", ["x.npz", "x.npy", "x.h5", "x.csv"])
def test_a_link_stays_a_link(name):
    Path("place").mkdir()
    Path(name).symlink_to(Path("place") / name)
    given = be.Scores.from_pairs([1.0, 2.0], [1, 0]) if name == "x.csv" else of_writer(1)
    for _ in range(2):
        be.save(given, name)
    assert Path(name).is_symlink() and Path("place", name).exists()
    assert not [x for x in (*os.listdir(), *os.listdir("place")) if x.startswith(".")]


@pytest.mark.parametrize("name", ["x.npz", "x.npy", "x.h5", "x.html"])
def test_a_loop_of_links_is_an_error_of_ours(name):
    Path(name).symlink_to("other")
    Path("other").symlink_to(name)
    said = f"{name}: is a loop of symbolic links; expected a name to write to"
    with pytest.raises(be.DataError, match=said):
        if name == "x.html":
            be.report(3, name)
        else:
            be.save(of_writer(1), name)


def test_a_file_for_hdf5_keeps_what_the_disk_does_not_take(folder):
    """It is read back, by which HDF5 closes the file in peace; the first error is kept."""
    file = hdf5._Hdf5File(folder / "x")
    file.write(b"abcdef")
    os.close(file.fileno())
    os.open(folder / "x", os.O_RDONLY)  # takes the number, and is not open for writing
    file.seek(4)
    assert file.write(memoryview(b"XYZ")) == 3
    first = file.error
    assert isinstance(first, OSError)
    file.seek(9)
    file.write(b"end")
    assert file.error is first
    file.truncate(20)
    file.seek(2)
    found = bytearray(12)
    assert file.readinto(found) == 12
    assert bytes(found) == b"cdXYZ\0\0end\0\0"
    assert file.seek(0, 2) == 20 and file.tell() == 20
    file.close()
    assert (folder / "x").read_bytes() == b"abcdef"
