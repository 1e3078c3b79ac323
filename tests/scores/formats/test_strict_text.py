"""Numbers that have no single meaning are refused, and the error says where they are."""

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main


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
