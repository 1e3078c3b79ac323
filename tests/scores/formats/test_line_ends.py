"""Texts whose lines end in CR, LF or CR LF, or in each of them, are read alike."""

import gzip
import itertools

import numpy as np
import pytest

import bioeval as be
from bioeval.scores.formats.files import open_text, read_text

ENDS = {
    "LF": ["\n"],
    "CR": ["\r"],
    "CRLF": ["\r\n"],
    "CR, then LF": ["\r", "\r", "\n"],
    "all": ["\r\n", "\r", "\n"],
}
PAIRS = ["genuine score", "1 0.9", "0 0.2", "1 0.7", "0 0.4", "0 0.1"]


@pytest.fixture(params=ENDS)
def write(request, tmp_path):
    """Write lines with ends of one kind, or of several in turn; return the file."""

    def written(name, lines):
        ends = itertools.cycle(ENDS[request.param])
        raw = "".join(f"{line}{end}" for line, end in zip(lines, ends, strict=False)).encode()
        (tmp_path / name).write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return tmp_path / name

    return written


@pytest.mark.parametrize("name", ["x.txt", "x.csv", "x.txt.gz"])
def test_lists_of_scores(write, name):
    mark = "," if name == "x.csv" else " "
    found = be.load(write(name, [line.replace(" ", mark) for line in PAIRS]), kind="similarity")
    assert found.values.tolist() == [0.9, 0.2, 0.7, 0.4, 0.1]
    assert found.genuine.tolist() == [True, False, True, False, False]


def test_matrices_and_labels(write, tmp_path):
    wide = write("x.wide.csv", ["label,a,b,a", "a,0,1,2", "b,3,4,5", "a,6,7,8"])
    assert be.load(wide, kind="distance").values.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    np.save(tmp_path / "x.npy", np.eye(3))
    labels = write("l.csv", ["label,day", "a,1", "b,2", "a,3"])
    found = be.load(tmp_path / "x.npy", labels=labels, kind="distance")
    assert found.probe_labels.tolist() == ["a", "b", "a"]
    assert found.probe_meta["day"].tolist() == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("name", "lines", "options"),
    [
        ("x.csv", [*PAIRS[:3], "1 x", *PAIRS[3:]], {"kind": "similarity"}),
        ("x.txt", [*PAIRS[:3], "1 \xff", *PAIRS[3:]], {"kind": "similarity"}),
    ],
)
def test_errors_name_the_line(write, name, lines, options):
    raw = [line.replace(" ", "," if name == "x.csv" else " ") for line in lines]
    path = write(name, raw)
    path.write_bytes(path.read_bytes().replace("\xff".encode(), b"\xff"))  # which is not UTF-8
    with pytest.raises(be.DataError, match="line 4"):
        be.load(path, **options)


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_line_end_on_the_boundary_of_two_reads(tmp_path, size):
    (tmp_path / "x.txt").write_bytes(b"ab\r\nc\r\r\n\n\rde\r")
    raw = open_text(tmp_path / "x.txt").detach()
    pieces, buffer = [], bytearray(size)
    while count := raw.readinto(buffer):
        pieces.append(bytes(buffer[:count]))
    raw.close()
    assert b"".join(pieces) == b"ab\nc\n\n\n\nde\n"


def test_other_characters_end_no_line(tmp_path):
    (tmp_path / "x.txt").write_text("a\u2028b\nc\x85d\ne\x0cf\n", encoding="utf-8")
    assert read_text(tmp_path / "x.txt") == "a\u2028b\nc\x85d\ne\x0cf\n"
