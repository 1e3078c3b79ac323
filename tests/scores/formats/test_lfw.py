"""Lists of pairs in LFW's form: read line by line, found by name and number."""

import numpy as np
import pytest
from named_arguments import raises_about
from result_messages import arguments

import bioeval as be

LIST = """2 1
ann 1 2
ann 1 bob 2

cem\t2\t3
cem 1 dan 1
"""
SUBJECTS = ["ann", "ann", "bob", "bob", "cem", "cem", "cem", "dan"]
NUMBERS = [1, 2, 1, 2, 1, 2, 3, 1]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pairs.txt").write_text(LIST)
    x = np.arange(16.0).reshape(8, 2) ** 2
    np.savez(tmp_path / "x.npz", embeddings=x, labels=SUBJECTS, image_number=NUMBERS)
    names, codes = np.unique(SUBJECTS, return_inverse=True)
    distances = np.linalg.norm(x[:, None] - x, axis=-1)
    np.savez(tmp_path / "d.npz", scores=distances, labels=codes, names=names, number=NUMBERS)
    return tmp_path


def test_it_is_read_line_by_line(folder):
    np.save(folder / "s.npy", [0.1, 0.2, 0.3, 0.4])
    found = be.load(folder / "s.npy", trials=folder / "pairs.txt", kind="distance")
    assert found.pair_templates.tolist() == [
        ["ann 1", "ann 2"],
        ["ann 1", "bob 2"],
        ["cem 2", "cem 3"],
        ["cem 1", "dan 1"],
    ]
    assert found.genuine.tolist() == [True, False, True, False]
    assert found.pair_folds.tolist() == [0, 0, 1, 1]
    (folder / "one.txt").write_text("2\nann 1 2\ncem 1 2\nann 1 bob 2\nann 1 cem 2\n")
    one = be.load(folder / "s.npy", trials=folder / "one.txt", kind="distance")
    assert one.pair_folds.tolist() == [0] * 4


def test_pairs_of_embeddings_and_of_a_matrix(folder):
    pairs = be.load(folder / "x.npz", trials=folder / "pairs.txt", metric="l2")
    x = np.arange(16.0).reshape(8, 2) ** 2
    expected = [np.linalg.norm(x[a] - x[b]) for a, b in ((0, 1), (0, 3), (5, 6), (4, 7))]
    np.testing.assert_allclose(pairs.values, expected)
    assert pairs.genuine.tolist() == [True, False, True, False]
    assert pairs.pair_folds.tolist() == [0, 0, 1, 1]
    assert pairs.pair_subjects.tolist()[1] == ["ann", "bob"]
    columns = {"scores": "scores", "labels": "labels", "image_number": "number"}
    again = be.load(folder / "d.npz", trials=folder / "pairs.txt", columns=columns)
    np.testing.assert_allclose(again.values, expected)
    assert again.pair_folds.tolist() == [0, 0, 1, 1]


def test_missing_images(folder):
    (folder / "more.txt").write_text(LIST.replace("bob 2", "bob 7"))
    with pytest.raises(
        be.DataError, match=r"line 3: the template 'bob 7' is not .* 1 of 4 pairs .*missing_pairs"
    ):
        be.load(folder / "x.npz", trials=folder / "more.txt")
    pairs = be.load(folder / "x.npz", trials=folder / "more.txt", lists={"missing_pairs": "skip"})
    assert (len(pairs.values), pairs.pairs.missing) == (3, 1)
    left_out = arguments(be.verification(pairs), "listed-pairs-missing")
    assert left_out == {"pairs": 1, "listed": 4}
    (folder / "none.txt").write_text("1\neve 1 2\neve 1 fay 1\n")
    with pytest.raises(be.DataError, match="of 2 of 2 pairs"):
        be.load(folder / "x.npz", trials=folder / "none.txt", lists={"missing_pairs": "skip"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("ten 300\n", "the first line is 'ten 300'"),
        ("1 2 3\n", "expected the number of folds"),
        ("2 1\nann 1 2\nann 1 bob 2\n", "has 2 pairs; expected 2 x 2 x 1 = 4"),
        ("0 0\n", "expected 0 x 2 x 0"),
        ("1\nann 1 bob 2\nann 1 2\n", "line 2 is 'ann 1 bob 2'; expected 'name i j'"),
        ("1\nann 1 x\nann 1 bob 2\n", "line 2 is 'ann 1 x'"),
        ("1\nann\nann 1 bob 2\n", "line 2 is 'ann'"),
        ("1\nann 1 2\nann 1 2\n", "line 3 is 'ann 1 2'; expected 'name i other j'"),
        ("1\nann 1 1\nann 1 bob 2\n", "line 2 compares one image with itself"),
        ("1\nann 1 2\nann 1 ann 2\n", "line 3 compares images of one subject as impostors"),
    ],
)
def test_bad_lists(folder, text, message):
    (folder / "bad.txt").write_text(text)
    with pytest.raises(be.DataError) as caught:
        be.load(folder / "x.npz", trials=folder / "bad.txt")
    assert message in str(caught.value)
    assert "bad.txt" in str(caught.value)


def test_what_does_not_go_with_it(folder):
    given = {"trials": folder / "pairs.txt"}
    with raises_about(be.DataError, "columns.image_number"):
        be.load(folder / "d.npz", **given)
    with pytest.raises(be.DataError, match="missing_pairs.*expected `trials`"):
        be.load(folder / "x.npz", lists={"missing_pairs": "skip"})
    with raises_about(be.DataError, "lists.missing_pairs"):
        be.load(folder / "x.npz", lists={"missing_pairs": "drop"}, **given)
    np.savez(
        folder / "g.npz", embeddings=np.ones((2, 2)), labels=["a", "b"],
        gallery_embeddings=np.ones((2, 2)), gallery_labels=["a", "b"],
    )  # fmt: skip
    with pytest.raises(be.DataError, match="has a separate gallery"):
        be.load(folder / "g.npz", **given)
    np.savez(folder / "t.npz", embeddings=np.ones((2, 2)), labels=["a", "a"], image_number=[1, 1])
    with pytest.raises(be.DataError, match="1 templates have the name of another"):
        be.load(folder / "t.npz", **given)
    be.save(be.Scores.from_pairs([0.1, 0.2], [0, 1]), folder / "p.npz")
    with pytest.raises(be.DataError, match="no meaning for a list of pairs"):
        be.load(folder / "p.npz", **given)
