"""NIST's BSSR1 in the folders as shipped: matrices written by the test come back as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from result_messages import arguments

import bioeval as be

SUBJECTS = ["17", "003", "x9"]


def lists(folder: Path, users: list[str], enrollees: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, subjects, capture in (("users", users, "b"), ("enrollees", enrollees, "a")):
        signatures = "".join(
            f'<signature name="{x}_{capture}{i}.bin" subject_id="{x}"/>'
            for i, x in enumerate(subjects)
        )
        (folder / f"{name}.xml").write_text(
            f'<?xml version="1.0" encoding="UTF-8"?>\n<set>{signatures}</set>\n'
        )


def matrix(folder: Path, users: list[str], values: np.ndarray, suffix=".bin", end="\n\n") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for i, (user, row) in enumerate(zip(users, values, strict=True)):
        text = "\n".join(["biometricscores.nist.gov", str(len(row)), *map(repr, row.tolist())])
        (folder / f"{user}_b{i}{suffix}").write_text(text + end)


@pytest.fixture
def shipment(tmp_path) -> tuple[Path, np.ndarray]:
    """Two fingers with lists of their own, and a face in a shipment beside."""
    random = np.random.default_rng(0)
    values = random.random((4, 3)).round(6)
    root = tmp_path / "bssr1"
    users = [*SUBJECTS, SUBJECTS[0]]
    face = root / "fing_x_face"
    lists(face / "sets" / "dos", users, SUBJECTS)
    matrix(face / "sims" / "dos" / "face" / "C", users, values)
    matrix(face / "sims" / "dos" / "li" / "V", users, 100 * values, end="")
    fingers = root / "fing_x_fing"
    lists(fingers / "sets" / "dos" / "li", SUBJECTS, SUBJECTS)
    matrix(fingers / "sims" / "dos" / "li" / "V", SUBJECTS, values[:3])
    return root, values


def test_a_folder_of_one_matrix(shipment):
    root, values = shipment
    scores = be.load(root / "fing_x_face" / "sims" / "dos" / "face" / "C")
    assert scores.kind == "similarity" and scores.name == "face-C"
    np.testing.assert_array_equal(scores.values, values)
    assert scores.probe_labels.tolist() == [*SUBJECTS, "17"]
    assert scores.gallery_labels.tolist() == SUBJECTS
    assert scores.gallery_meta["template"].tolist() == ["17_a0.bin", "003_a1.bin", "x9_a2.bin"]
    assert be.verification(scores).attrs["reading"].endswith("of sets/dos")
    other = be.load(root / "fing_x_face" / "sims" / "dos" / "li")
    np.testing.assert_array_equal(other.values, 100 * values)


def test_the_lists_of_a_finger_come_before_those_of_all(shipment):
    root, values = shipment
    for folder in (root / "fing_x_fing", root / "fing_x_fing" / "sims" / "dos" / "li" / "V"):
        scores = be.load(folder)
        np.testing.assert_array_equal(scores.values, values[:3])
        assert be.verification(scores).attrs["reading"].endswith("of dos/li")


def test_names_without_the_suffix(tmp_path):
    lists(tmp_path / "sets" / "dos", SUBJECTS, SUBJECTS[:1])
    matrix(tmp_path / "sims" / "dos" / "x", SUBJECTS, np.arange(3.0)[:, None], suffix=".bin")
    for file in (tmp_path / "sets" / "dos").iterdir():
        file.write_text(file.read_text().replace(".bin", ""))
    assert be.load(tmp_path).values.tolist() == [[0.0], [1.0], [2.0]]


def test_a_shipment_of_several_matrices_lists_them(shipment):
    root, _ = shipment
    with pytest.raises(be.DataError, match=r"holds 3 matrices .*dos/face/C, dos/li/V, dos/li/V"):
        be.load(root)


def test_what_is_damaged_is_named(shipment):
    root, _ = shipment
    folder = root / "fing_x_face" / "sims" / "dos" / "face" / "C"
    file = folder / "003_b1.bin"
    text = file.read_text()
    for wrong, message in (
        (text.replace("nist", "tsin"), r"003_b1\.bin: line 1 does not begin with"),
        (text.replace("\n3\n", "\n4\n"), r"holds 3 scores, and line 2 states 4; expected 3"),
        (text.rstrip().rpartition("\n")[0], r"holds 2 scores, and line 2 states 3; expected 3"),
        ("\n".join([*text.split("\n")[:3], "high", *text.split("\n")[4:]]), "line 4 is 'high'"),
        ("", r"003_b1\.bin: line 1"),
    ):
        file.write_text(wrong)
        with pytest.raises(be.DataError, match=message):
            be.load(folder)
    file.unlink()
    with pytest.raises(be.DataError, match=r"no file of 1 of 4 users; the first is '003_b1\.bin'"):
        be.load(folder)
    with pytest.raises(be.DataError, match="has similarities, not"):
        be.load(folder, kind="distance")


def test_lists_are_checked(shipment):
    root, _ = shipment
    face = root / "fing_x_face"
    file = face / "sets" / "dos" / "users.xml"
    whole = file.read_text()
    file.write_text(whole.replace('subject_id="003"', ""))
    with pytest.raises(be.DataError, match="1 of 4 signatures have no subject_id, .*signature 2"):
        be.load(face / "sims" / "dos" / "face")
    file.write_text("<set/>")
    with pytest.raises(be.DataError, match="0 of 0 signatures have no name"):
        be.load(face / "sims" / "dos" / "face")
    file.unlink()
    with pytest.raises(be.DataError, match=r"no users\.xml and enrollees\.xml for sims/dos/face/C"):
        be.load(face / "sims" / "dos" / "face")


def test_scores_of_a_failure_are_reported(tmp_path):
    users = [f"s{i:02}" for i in range(40)]
    values = np.random.default_rng(1).random((40, 40)).round(4)
    values[3] = -1
    lists(tmp_path / "sets" / "dos", users, users)
    matrix(tmp_path / "sims" / "dos" / "face" / "C", users, values)
    constant = arguments(be.verification(be.load(tmp_path)), "constant-rows")
    assert constant == {"number": 1, "first": [3], "values": [-1]}


def test_other_folders_stay_refused(tmp_path):
    (tmp_path / "sims").mkdir()
    with pytest.raises(be.DataError, match="is a folder; expected a file"):
        be.load(tmp_path)
    (tmp_path / "sets").mkdir()
    with pytest.raises(be.DataError, match="holds 0 matrices of scores; expected the folder"):
        be.load(tmp_path)
