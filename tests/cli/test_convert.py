"""Converting files: nothing changes but what the other format cannot hold, and that is said."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.io
from optional import optional_import

import bioeval as be
from bioeval.cli import main

RNG = np.random.default_rng(2)


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


CASES = {
    "square": be.Scores(RNG.random((5, 5)), list("aabbc"), probe_meta={"day": list("12123")}),
    "rectangle": be.Scores(RNG.random((3, 4)), list("abc"), list("aabd"), kind="similarity"),
    "float32": be.Scores(RNG.random((3, 3)).astype("f4"), list("aab")),
    "integers": be.Scores(RNG.integers(0, 9, (4, 4)), [7, 7, 8, 9], nan="reject"),
    "masked": be.Scores(np.arange(6.0).reshape(2, 3), mask=[[2, 1, 0], [1, 2, 1]]),
    "failed": be.Scores([[0.0, np.nan], [np.inf, 1.0]], ["a", "b"], ["a", "b"], nan="reject"),
    "excluding": be.Scores(
        RNG.random((4, 4)), list("aaab"), probe_meta={"day": [1, 1, 2, 1]}, exclude=["day"]
    ),
    "order": be.Scores(RNG.random((2, 2)), ["a", "b"], kind="order"),
    "distractors": be.Scores(np.eye(3), [1, 2, 0], distractor_ids=[0]),
    "lists": be.Scores.from_top_k([[0, 1]], ["a"], ["a", "b"]),
    "pairs": be.Scores.from_pairs([0.1, 0.2, 0.3], [1, 0, 1]),
    "subjects": be.Scores.from_pairs([1, 2], [1, 0], subjects=[["a", "a"], ["a", "b, c"]]),
}


LISTED = [name for name in CASES if name not in ("order", "distractors", "lists")]

IN_TURN = [*zip(LISTED, [".csv", ".tsv", ".parquet"] * 3, strict=True)]


@pytest.mark.parametrize(("name", "suffix"), IN_TURN)
def test_a_list_of_pairs_has_the_same_verification(name, suffix):
    """A list of pairs and the scores that it was made from have the same verification."""
    scores = CASES[name]
    optional_import("pyarrow")
    be.save(scores, f"x{suffix}")
    back = be.load(f"x{suffix}", kind=scores.kind, nan=scores.nan)
    of_list, of_matrix = be.verification(back), be.verification(scores)
    for variable in ("genuine_attempts", "impostor_attempts", "eer", "auc", "zero_far"):
        np.testing.assert_array_equal(of_list[variable], of_matrix[variable])
    assert (back.pair_subjects is None) == (name in ("masked", "pairs"))


def not_kept(scores: be.Scores, name: str, capsys) -> list[str]:
    """Return the losses that the command reports for a file of this name."""
    be.save(scores, "in.npz")
    assert main(["convert", "in.npz", name, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["not_kept"]


@pytest.mark.parametrize(
    ("name", "suffix", "said"),
    [
        ("square", ".npz", []),
        ("square", ".csv", ["a list of pairs", "metadata column day"]),
        ("rectangle", ".csv", ["a list of pairs"]),
        ("integers", ".csv", ["labels become text", "a list of pairs", 'nan="reject"']),
        ("order", ".csv", ["a list of pairs", 'kind="order"']),
        ("pairs", ".csv", []),
        ("distractors", ".npz", []),
        (
            "distractors",
            ".csv",
            ["labels of distractors and junk (0) become unknown", "labels", "a list"],
        ),
        ("lists", ".npz", []),
    ],
)
def test_what_is_lost(name, suffix, said, capsys):
    losses = not_kept(CASES[name], f"x{suffix}", capsys)
    assert len(losses) == len(said), losses
    for text, part in zip(losses, said, strict=True):
        assert part in text


def test_lists_of_the_nearest_are_no_pairs():
    with pytest.raises(be.ProtocolError, match="give the matrix of all scores"):
        be.save(CASES["lists"], "x.csv")
    assert not list(Path().iterdir())


# ------------------------------------------------------------------------ the command


def test_from_matlab_to_the_rest(in_folder, capsys):
    features = {"query_f": RNG.random((2, 3)), "gallery_f": RNG.random((4, 3))}
    features |= {"query_label": [1.0, 2.0], "gallery_label": [1.0, 2.0, 1.0, -1.0]}
    features |= {"query_cam": [1.0, 1.0], "gallery_cam": [2.0, 2.0, 1.0, 1.0]}
    scipy.io.savemat("f.mat", features)
    original = be.load("f.mat")
    assert main(["convert", "f.mat", "s.npz"]) == 0
    output = capsys.readouterr()
    assert output.out.startswith("wrote s.npz: <Scores probe-against-gallery, 2 x 4")
    assert "note: the embeddings are not kept, only their distances (3-dim" in output.err
    assert main(["convert", "s.npz", "p.csv", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["out"] == "p.csv" and "metadata column camera" in document["not_kept"][-1]
    np.testing.assert_array_equal(be.load("s.npz").values, original.values)
    assert be.load("s.npz").gallery_meta["camera"].tolist() == [2, 2, 1, 1]
    np.testing.assert_array_equal(be.load("p.csv").values, original.values.reshape(-1))


def test_options_are_those_of_run(in_folder, capsys):
    np.savez("x.npz", far=np.arange(4.0).reshape(2, 2), who=["a", "b"])
    args = ["--columns", "scores=far,labels=who", "--kind", "similarity"]
    assert main(["convert", "x.npz", "y.csv", *args, "--nan", "reject"]) == 0
    assert "read it with --nan reject" in capsys.readouterr().err
    assert be.load("y.csv").kind == "similarity"
    assert main(["convert", "x.npz", "z.npz"]) == 2
    assert "--columns scores=far" in capsys.readouterr().err


def test_what_is_there_stays_unless_forced(in_folder, capsys):
    be.save(CASES["square"], "a.npz")
    (in_folder / "b.npz").write_bytes(b"precious")
    before = files(in_folder)
    assert main(["convert", "a.npz", "b.npz"]) == 2
    assert "b.npz would be replaced; give --force" in capsys.readouterr().err
    assert files(in_folder) == before
    assert main(["convert", "a.npz", "b.npz", "--force"]) == 0
    assert be.load("b.npz").layout == "all-against-all"
    np.testing.assert_array_equal(be.load("b.npz").values, CASES["square"].values)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["a.npz", "b.dta"], "suffix '.dta'; expected one of .npz, .parquet, "),
        (["none.npz", "b.npz"], "no such file"),
        (["a.npz", "b.npy"], "suffix '.npy'; expected one of .npz, .parquet, "),
        (["odd.npz", "b.csv"], "probe label 0 is ' b'; CSV would change this text"),
        (["oddp.npz", "b.csv"], "subject_b 1 is ' c'; CSV would change this text"),
        (["a.npz"], "convert got 1 file; expected DATA"),
    ],
)
def test_what_cannot_be_converted(in_folder, capsys, args, message):
    be.save(CASES["square"], "a.npz")
    be.save(CASES["pairs"], "p.npz")
    be.save(be.Scores(np.eye(2), [" b", "a"]), "odd.npz")
    subjects = [["a", "b"], ["b", " c"]]
    be.save(be.Scores.from_pairs([1, 2], [0, 0], subjects=subjects), "oddp.npz")
    before = files(in_folder)
    assert main(["convert", *args]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert files(in_folder) == before
