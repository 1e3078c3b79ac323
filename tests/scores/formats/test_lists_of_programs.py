"""Lists and matrices as other programs leave them: their names, comments, compression, orders."""

import gzip

import numpy as np
import pytest
from optional import optional_import

import bioeval as be
from bioeval.cli import main
from bioeval.scores.formats import losses

VALUES = [0.5, -1e3, 2.0]
SAME = [True, False, False]
LIST = "genuine,similarity\n1,0.5\n0,-1e3\n0,2\n"
MATRIX = np.arange(20.0).reshape(5, 4) + 0.5


def put(folder, name, data):
    place = folder / name
    place.parent.mkdir(exist_ok=True)
    place.write_bytes(data.encode() if isinstance(data, str) else data)
    return place


def holds(pairs, kind="similarity"):
    assert pairs.values.tolist() == VALUES
    assert pairs.genuine.tolist() == SAME
    assert pairs.kind == kind
    return pairs


def read_line(capsys, *args):
    """What `bioeval run` prints under Read."""
    assert main(["run", *map(str, args)]) == 0
    out = capsys.readouterr().out
    return " ".join(out[out.index("Read") :].split())


# ------------------------------------------------------------------------- text


def test_the_names_of_scikit_learn(tmp_path):
    text = "y_true,y_score\n1,0.5\n0,-1e3\n0,2\n"
    holds(be.load(put(tmp_path, "x.csv", text), kind="similarity"))
    with pytest.raises(
        be.DataError, match="does not state whether its scores are distances or simil"
    ):
        be.load(tmp_path / "x.csv")


@pytest.mark.parametrize("name", ["x.txt", "x.csv", "x.csv.gz"])
@pytest.mark.parametrize("between", ["", "\n"])
def test_a_text_that_begins_with_comments(tmp_path, name, between):
    text = f"\n# made by x\n# 3 pairs of ann\n{between}"
    data = (text + LIST).encode()
    place = put(tmp_path, name, gzip.compress(data) if name.endswith("gz") else data)
    found = holds(be.load(place))
    assert "2 comment lines at the start left out" in found.reading
    plain = (text + LIST.partition("\n")[2]).encode()
    place = put(tmp_path, name, gzip.compress(plain) if name.endswith("gz") else plain)
    if name != "x.csv":
        holds(be.load(place, kind="similarity"))


@pytest.mark.parametrize("mark", [" ", ",", "\t"])
def test_a_list_that_numpy_has_written(tmp_path, mark):
    columns = np.array([[1, 0.5], [0, 0.25]])
    np.savetxt(tmp_path / "x.txt", columns, delimiter=mark, header=f"by x\ngenuine{mark}similarity")
    found = be.load(tmp_path / "x.txt")
    assert (found.genuine.tolist(), found.values.tolist()) == ([True, False], [0.5, 0.25])
    assert found.kind == "similarity"


def test_lines_after_comments_are_named_by_their_number(tmp_path):
    place = put(tmp_path, "x.txt", "# made by x\n\n#\ngenuine similarity\n1 0.5\n\n0 x\n")
    with pytest.raises(be.DataError, match="x.txt: line 7: similarity is 'x'; expected a number"):
        be.load(place)


def test_comments_alone(tmp_path):
    with pytest.raises(be.DataError, match="holds nothing but blank lines and comments"):
        be.load(put(tmp_path, "x.csv", "# a\n\n# b\n"))


@pytest.mark.parametrize("name", ["x.npz", "x.mtx", "x.dat", "x.scores", "x"])
def test_names_of_columns_decide_whatever_the_suffix(tmp_path, name):
    holds(be.load(put(tmp_path, name, LIST)))


def test_a_text_of_no_format_keeps_the_error_of_its_suffix(tmp_path):
    with pytest.raises(be.DataError, match="x.npz: is named .npz but holds text"):
        be.load(put(tmp_path, "x.npz", "once upon a time\n"))


@pytest.mark.parametrize("name", ["x.csv.gz", "x.tsv.gz", "x.txt.gz"])
def test_compressed_text_is_written(tmp_path, name, capsys):
    scores = be.Scores.from_pairs(VALUES, SAME, kind="similarity")
    be.save(scores, tmp_path / name)
    first = (tmp_path / name).read_bytes()
    assert first[:2] == b"\x1f\x8b"
    be.save(scores, tmp_path / name)
    assert (tmp_path / name).read_bytes() == first  # no time of writing
    holds(be.load(tmp_path / name))
    assert losses(scores, tmp_path / name) == losses(scores, tmp_path / "x.csv")
    assert main(["convert", str(tmp_path / name), str(tmp_path / "y.npz")]) == 0
    with pytest.raises(be.DataError, match="has the suffix '.gz'; expected one of"):
        be.save(scores, tmp_path / "x.npz.gz")


# ------------------------------------------------------------------------- two vectors


def test_genuine_and_impostor_scores_as_arrays(tmp_path, capsys):
    g, i = tmp_path / "g.npy", tmp_path / "i.npy"
    np.save(g, [0.5])
    np.save(i, np.array([[-1e3], [2.0]]))
    found = holds(be.load((g, i), kind="similarity"))
    assert found.reading == ("genuine scores from g.npy, impostor scores from i.npy",)
    assert "genuine scores from g.npy" in read_line(capsys, g, i, "--kind", "similarity")
    with pytest.raises(be.DataError, match=r"g.npy: does not state whether its scores are dist"):
        be.load((g, i))
    with pytest.raises(be.DataError, match=r"g.npy: has the same scores as .*i.npy"):
        np.save(g, [-1e3, 2.0])
        be.load((g, i), kind="similarity")
    with pytest.raises(
        be.DataError, match=r"i.npy: has shape \(2, 2\); expected one score an attempt"
    ):
        np.save(i, np.eye(2))
        be.load((g, i), kind="similarity")
    with pytest.raises(
        be.DataError, match=r"i.txt: is text; expected a .npy file of impostor scores"
    ):
        be.load((g, put(tmp_path, "i.txt", "1\n2\n")), kind="similarity")


@pytest.mark.parametrize("suffix", [".mat", ".npz", ".h5"])
@pytest.mark.parametrize(
    "names", [("genuine", "impostor"), ("gen", "imp"), ("Genuine_Scores", "Impostor_Scores")]
)
@pytest.mark.cases(2)
def test_two_vectors_in_a_file(tmp_path, suffix, names, capsys):
    place = tmp_path / f"x{suffix}"
    arrays = {names[1]: np.array([[-1e3, 2.0]]), names[0]: np.array([0.5])}
    if suffix == ".mat":
        from scipy.io import savemat

        savemat(place, arrays)
    elif suffix == ".npz":
        np.savez(place, **arrays)
    else:
        with optional_import("h5py").File(place, "w") as out:
            for name, array in arrays.items():
                out[name] = array
    found = holds(be.load(place, kind="similarity"))
    said = f"genuine scores from {names[0]!r}, impostor scores from {names[1]!r}"
    assert found.reading == (said,)
    assert said in read_line(capsys, place, "--kind", "similarity")
    assert be.load(place).reading[1].startswith("taken as distances")
    assert main(["convert", str(place), str(tmp_path / "y.csv"), "--kind", "llr"]) == 0


# ------------------------------------------------------------------------- stores


def test_arrays_in_groups(tmp_path, capsys):
    h5py = optional_import("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as out:
        out["run7/sim"] = MATRIX
        out["run7/deep/who"] = np.arange(5)
        out["run7/them"] = np.arange(4)
        out["run7/again"] = out["run7"]  # a circle
        out["else"] = h5py.ExternalLink("other.h5", "/x")
        out["run7/soft"] = h5py.SoftLink("/run7/sim")
    keys = {"labels": "run7/deep/who", "gallery_labels": "run7/them"}
    columns = {"scores": "run7/sim", **keys}
    found = be.load(tmp_path / "x.h5", kind="similarity", columns=columns)
    np.testing.assert_array_equal(found.values, MATRIX)
    options = ["--columns", "scores=run7/sim", "--kind", "similarity"]
    options += ["--columns", "labels=run7/deep/who,gallery_labels=run7/them"]
    assert main(["run", str(tmp_path / "x.h5"), *options]) == 0
    with pytest.raises(be.DataError, match="no array 'run7'; .*names it. Did you mean 'run7/"):
        be.load(tmp_path / "x.h5", columns={"scores": "run7"})
    with pytest.raises(be.DataError, match="'else' is a link"):
        be.load(tmp_path / "x.h5", columns={"scores": "else"})
    with pytest.raises(be.DataError, match='name the array .*"scores": "run7/'):
        be.load(tmp_path / "x.h5")


# ------------------------------------------------------------------------- LFW's order

PAIRS = "2\t1\nann\t1\t2\nann\t1\tbob\t1\nbob\t1\t3\nbob\t2\teve\t1\n"
FOUR = [0.9, 0.1, 0.8, 0.2]


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.txt", "x.csv", "x.mat"])
def test_scores_in_the_order_of_lfw(tmp_path, name, capsys):
    pairs, place = put(tmp_path, "pairs.txt", PAIRS), tmp_path / name
    if name == "x.npy":
        np.save(place, FOUR)
    elif name == "x.npz":
        np.savez(place, scores=FOUR)
    elif name == "x.mat":
        from scipy.io import savemat

        savemat(place, {"scores": FOUR})
    else:
        head = "similarity\n" if name == "x.csv" else ""
        put(tmp_path, name, head + "".join(f"{x}\n" for x in FOUR))
    found = be.load(place, trials=pairs, kind="similarity")
    assert found.values.tolist() == FOUR
    assert found.genuine.tolist() == [True, False, True, False]
    assert found.pair_folds.astype(str).tolist() == ["0", "0", "1", "1"]
    assert found.pair_subjects.tolist()[1] == ["ann", "bob"]
    said = "scores in the order of the 4 pairs of pairs.txt, in 2 folds"
    assert said in found.reading
    assert said in read_line(capsys, place, pairs, "--kind", "similarity")
    options = ["--trials", str(pairs), "--kind", "similarity"]
    assert main(["convert", str(place), str(tmp_path / "y.npz"), *options]) == 0
    how = {"kind": "similarity"}
    with pytest.raises(be.DataError, match=f"{name}: has 4 scores, and pairs.txt lists 2 pairs"):
        be.load(place, trials=put(tmp_path, "pairs.txt", "1\nann 1 2\nann 1 bob 1\n"), **how)
    with pytest.raises(
        be.DataError, match=r"pairs.txt: line 3 is 'ann 1'; expected 'name i other j'"
    ):
        be.load(place, trials=put(tmp_path, "pairs.txt", "1\nann 1 2\nann 1\n"), **how)


def test_scores_with_names_are_in_no_order(tmp_path):
    place = put(tmp_path, "x.txt", "a b 0.5\nc d 0.2\n")
    pairs = put(tmp_path, "pairs.txt", "1\nann 1 2\nann 1 bob 1\n")
    with pytest.raises(be.DataError, match="x.txt: names its templates, .*give the scores alone"):
        be.load(place, trials=pairs, kind="llr")


# ------------------------------------------------------------------------- wide tables

WIDE = "label,session,a,b,place,c\na,1st,0,1,x,2\nb,2nd,1,0,y,2.5\nc,2nd,2,2.5,x,0\n"


def test_text_beside_the_numbers_of_a_table_is_refused(tmp_path):
    place, pandas = put(tmp_path, "x.csv", WIDE), optional_import("pandas")
    frame = pandas.read_csv(place)
    with pytest.raises(be.DataError, match="x.csv: the column 'session' of a matrix holds no numb"):
        be.load(place, kind="distance")
    with pytest.raises(be.DataError, match="row 0: session is '1st'; expected a number"):
        be.load(frame, kind="distance")
    frame = frame[["label", "a", "b", "c"]]
    assert be.load(frame, kind="distance").values.tolist() == [[0, 1, 2], [1, 0, 2.5], [2, 2.5, 0]]


@pytest.mark.parametrize("mark", [";", "\t"])
def test_decimal_commas_of_a_matrix_are_named(tmp_path, mark):
    rows = ["label a b c", "a 0 0,5 1,5", "b 0,5 0 1,25", "c 1,5 1,25 0"]
    place = put(tmp_path, "x.csv", "".join(f"{row}\n".replace(" ", mark) for row in rows))
    with pytest.raises(be.DataError, match="line 2: b is '0,5'; .*decimals have a point"):
        be.load(place, kind="distance")
    place = put(tmp_path, "y.csv", "".join(f"{x[2:]}\n".replace(" ", mark) for x in rows[1:]))
    labels = put(tmp_path, "who.csv", "a\nb\nc\n")
    with pytest.raises(be.DataError, match="line 1: column 2 is '0,5'; .*decimals have a point"):
        be.load(place, kind="distance", labels=labels)
