"""Labels whose rows name templates: those of the scores, in the same order."""

import numpy as np
import pytest

import bioeval as be
from bioeval.cli import main

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


def test_a_matrix_with_names_finds_its_labels_by_name(tmp_path):
    """In a table in any order, or in the names themselves."""
    scores = be.simulate(6, 3, random_state=2)
    people = scores.probe_labels.tolist()
    names = [f"p{who:02d}_{i}.png" for i, who in enumerate(people)]
    head = ",".join(["", *names])
    rows = [",".join([names[i], *map(str, row)]) for i, row in enumerate(scores.values)]
    square, some, table = (tmp_path / x for x in ("square.csv", "some.csv", "people.csv"))
    square.write_text("\n".join([head, *rows]))
    some.write_text("\n".join([f"probe{head}", *rows[::3]]))
    lines = [f"{name},{who},{who % 2}" for name, who in zip(names, people, strict=True)]
    table.write_text("\n".join(["file,label,side", *lines[::-1]]))
    expected = float(be.verification(scores).eer)
    for options in ({"labels": table}, {"subject_from": r"^(p\d+)_"}):
        found = be.load(square, kind="distance", **options)
        assert float(be.verification(found).eer) == expected
        part = be.load(some, kind="distance", **options)
        same = scores.select(probes=range(0, 18, 3))
        assert be.closed_set(part).cms.equals(be.closed_set(same).cms)
    sides = be.load(square, kind="distance", labels=table).probe_meta["side"].tolist()
    assert sides == [str(who % 2) for who in people]
    table.write_text("\n".join(["file,label,side", *lines[1:]]))
    with pytest.raises(be.DataError, match="people.csv lacks 1 template of 18: 'p"):
        be.load(square, kind="distance", labels=table)
