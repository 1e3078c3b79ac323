"""Numbers and JSON that have no single meaning are refused, and the error says where they are."""

from __future__ import annotations

import numpy as np
import pytest

import bioeval as be
from bioeval.base.json_text import parse_json
from bioeval.cli.program import main

DEEP = 100_000


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"[" * DEEP + b"]" * DEEP, "x: brackets are nested too deeply"),
        (b'{"a":' * DEEP, "x: brackets are nested too deeply"),
        (b'{"a": {"b": 1, "b": 2}}', "x: the key 'b' is there twice"),
        (b'{"a": 1e400}', "x: 1e400 is beyond the range of float64"),
        (b'{"a": -1e999}', "x: -1e999 is beyond the range of float64"),
        (b"{", "x: is not valid JSON"),
        (b"\xff", "x: is not valid JSON"),
    ],
)
def test_json_is_read_strictly(raw, said):
    with pytest.raises(be.DataError, match=said):
        parse_json(raw, "x")
    assert parse_json(b'\xef\xbb\xbf {"a": [1, 2.5, null]}\n', "x") == {"a": [1, 2.5, None]}


@pytest.mark.parametrize("mark", [" ", ",", "\t"])
@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 400])
def test_a_number_in_a_text_is_not_made_infinite(tmp_path, mark, number):
    rows = [("genuine", "score"), ("1", "inf"), ("", ""), ("0", number), ("0", "-Infinity")]
    lines = [mark.join(row).strip() for row in rows]
    (tmp_path / "x.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(be.DataError, match=f"line 4: score is '{number[:9]}.*too large"):
        be.load(tmp_path / "x.csv", kind="similarity")
    (tmp_path / "x.csv").write_text("\n".join([*lines[:3], *lines[4:]]) + "\n")
    found = be.load(tmp_path / "x.csv", kind="similarity")
    assert found.values.tolist() == [np.inf, -np.inf]


def test_scores_of_presentations(tmp_path):
    (tmp_path / "x.csv").write_text("score,attack\n0.9,\n1e400,print\n")
    assert main(["pad", str(tmp_path / "x.csv"), "--kind", "similarity"]) == 2


def test_the_settings_of_a_matrix(tmp_path):
    be.save(be.Scores(np.eye(3), list("aab"), kind="similarity"), tmp_path / "x.npy")
    place = tmp_path / "x.json"
    said = place.read_text()
    for other, error in (
        (said.replace("{", '{"kind": "distance", ', 1), "x.json: the key 'kind' is there twice"),
        (said[:-3], "x.json: is not valid JSON"),
    ):
        place.write_text(other)
        with pytest.raises(be.DataError, match=error):
            be.load(tmp_path / "x.npy")
    place.write_text("[" * DEEP)  # of another program
    assert be.load(tmp_path / "x.npy").kind == "distance"
