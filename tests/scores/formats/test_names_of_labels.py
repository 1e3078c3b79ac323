"""Labels whose rows name templates: those of the scores, in the same order."""

from __future__ import annotations

import numpy as np
import pytest

import bioeval as be
from bioeval.cli.program import main

NAMES = [f"t{i}" for i in range(8)]


@pytest.fixture
def folder(tmp_path):
    scores = be.simulate(4, 2, random_state=1)
    arrays = {"scores": np.asarray(scores.values), "probe_labels": np.repeat(np.arange(4), 2)}
    np.savez(tmp_path / "named.npz", probe_template=NAMES, kind="distance", **arrays)
    np.savez(tmp_path / "unnamed.npz", kind="distance", **arrays)
    return tmp_path


def labels(folder, names, column="template"):
    rows = [f"{name},{i // 2},{'fm'[i // 2 % 2]}" for i, name in enumerate(names)]
    path = folder / "labels.csv"
    path.write_text("\n".join([f"{column},label,sex", *rows]) + "\n")
    return path


def test_labels_of_the_same_names_are_taken(folder):
    path = labels(folder, NAMES)
    scores = be.load(folder / "named.npz", labels=path)
    assert scores.probe_meta["sex"].tolist() == list("ffmmffmm")
    assert scores.probe_meta["template"].tolist() == NAMES
    assert be.load(folder / "unnamed.npz", labels=labels(folder, NAMES[::-1])).shape == (8, 8)
    assert be.load(folder / "named.npz", labels=labels(folder, NAMES[::-1], "note")).shape == (8, 8)


def test_labels_of_other_names_are_refused(folder, capsys):
    turned = labels(folder, [*NAMES[:2], *NAMES[:1:-1]])
    says = r"other names in 6 of 8 rows, the first is row 2 \('t7' and 't2'\); both have the same"
    with pytest.raises(be.DataError, match=says):
        be.load(folder / "named.npz", labels=turned)
    with pytest.raises(be.DataError, match="expected the names of the same templates"):
        be.load(folder / "named.npz", labels=labels(folder, [*NAMES[:7], "x"]))
    command = ["groups", str(folder / "named.npz"), "--labels", str(turned), "--by", "sex"]
    assert main(command) == 2
    assert "column 'template'" in capsys.readouterr().err
