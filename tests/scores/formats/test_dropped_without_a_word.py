"""Columns of the wrong length, words for the class that are not known, and what is read beside."""

import numpy as np
import pytest
from named_arguments import raises_about

import bioeval as be

D = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
WHO = np.array([1, 1, 2, 2])
SHORT, WHOLE = np.array([1, 2, 3]), np.array([1, 2, 3, 4])


def write(path, arrays):
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    elif path.suffix == ".mat":
        pytest.importorskip("scipy.io").savemat(path, arrays)
    else:
        with pytest.importorskip("h5py").File(path, "w") as file:
            for name, array in arrays.items():
                file[name] = array
    return path


@pytest.mark.parametrize("suffix", [".npz", ".mat", ".h5"])
@pytest.mark.parametrize(
    ("arrays", "wrong"),
    [
        ({"scores": D, "labels": WHO, "session": SHORT}, "session"),
        ({"embeddings": D, "labels": WHO, "session": SHORT}, "session"),
        ({"scores": D, "probe_labels": WHO, "probe_session": SHORT}, "probe_session"),
        (
            {
                "scores": np.arange(4.0),
                "genuine": [1, 1, 0, 0],
                "probe_session": SHORT,
                "gallery_session": WHOLE,
            },
            "probe_session",
        ),
    ],
)
def test_a_column_one_value_short_is_an_error(tmp_path, suffix, arrays, wrong):
    path = tmp_path / f"x{suffix}"
    with pytest.raises(be.DataError, match=rf"'{wrong}' have shape .*3.*; expected \(4,\)"):
        be.load(write(path, arrays))
    arrays = {name: WHOLE if len(x) == 3 else x for name, x in arrays.items()}
    assert be.load(write(path, arrays)).probe_meta["session"].tolist() == [1, 2, 3, 4]


def left_out(scores):
    """Return the arrays that messages of a result name as left out."""
    said = be.messages(be.verification(scores))
    return [x.arguments["arrays"] for x in said if x.code == "arrays-left-out"]


def test_arrays_that_are_no_columns_are_named(tmp_path):
    """Of files that options explain, and of sides that a name does not tell apart."""
    path = tmp_path / "x.npz"
    foreign = {"columns": {"scores": "d", "labels": "y"}}
    np.savez(path, d=D, y=WHO, session=SHORT, camera=WHOLE, note="text")
    scores = be.load(path, **foreign)
    assert [*scores.probe_meta] == ["camera"]
    assert left_out(scores) == [["session"]]
    np.savez(path, scores=D, probe_labels=WHO, gallery_labels=WHO, session=WHOLE)
    assert left_out(be.load(path)) == [["session"]]
    np.savez(path, scores=D[:, 0], genuine=[1, 1, 0, 0], session=WHOLE)
    assert left_out(be.load(path)) == [["session"]]
    np.savez(path, d=D, y=WHO, camera=WHOLE)
    assert left_out(be.load(path, **foreign)) == []


# ------------------------------------------------------------------------- words for the class


def words(tmp_path, scores, trials=None):
    (tmp_path / "scores.txt").write_text(scores)
    if trials is None:
        return be.load(tmp_path / "scores.txt", kind="similarity")
    (tmp_path / "trials.txt").write_text(trials)
    return be.load(tmp_path / "scores.txt", kind="similarity", trials=tmp_path / "trials.txt")


def test_an_unknown_word_for_the_class_is_named(tmp_path):
    lines = ["ab", "bc", "cd", "da"]
    scores = "".join(f"{a} {i}.5\n" for i, a in enumerate(lines))
    trials = "".join(f"{a} {word}\n" for a, word in zip(lines, ["yes", "no"] * 2, strict=True))
    with pytest.raises(be.DataError, match=r"trials.txt: line 1: column 2 is 'yes'; expected"):
        words(tmp_path, scores, trials)
    known = trials.replace("yes", "target").replace("no", "nontarget")
    assert words(tmp_path, scores, known).genuine.tolist() == [True, False, True, False]
    # A name, a word and no other column: scores in order, and pairs of two names.
    with pytest.raises(be.DataError, match="Column 2 has the words 'yes' and 'no'"):
        words(tmp_path, "1.5\n2\n3\n4\n", trials)
    pairs = "a b 1.5\nb c 2\nc d 3\nd a 4\n"
    with pytest.raises(be.DataError, match="Column 3 has the words 'yes' and 'no'"):
        words(tmp_path, pairs, "a b yes\nb c no\nc d yes\nd a no\n")


def test_a_list_of_two_names_and_an_unknown_word_is_not_of_claims(tmp_path):
    """Taken as claimed and real subjects, all lines would be impostors."""
    with pytest.raises(be.DataError, match="Column 3 has the words 'yes' and 'no'"):
        words(tmp_path, "a x yes 1.5\nb x no 2\nc x yes 3\nx a no 4\n")
    claims = words(tmp_path, "a a p1 1.5\nb a p1 2\n")  # bob's columns
    assert claims.genuine.tolist() == [True, False]


# ------------------------------------------------------------------------- reading


def test_no_file_is_an_error_of_the_data():
    with raises_about(be.DataError, "path") as caught:
        be.load([])
    assert "has 0 files" in str(caught.value)
