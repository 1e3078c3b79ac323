"""Lists and matrices of scores in text: layouts, marks, comments, and errors with the line."""

import gzip
import itertools
import json
import re
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from array_files import write
from json_rows import value
from named_arguments import refused
from pages import ROOT

import bioeval as be
from bioeval.base.kinds import ListFormat
from bioeval.cli import main
from bioeval.scores.formats import texts

SCORES = [0.5, -1e3, 2.0]
SAME = [True, False, False]
LIST = "genuine,similarity\n1,0.5\n0,-1e3\n0,2\n"


def put(folder, name, data):
    (folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return folder / name


def load(folder, text, name="x.txt", kind="distance", second=None, **options):
    path = put(folder, name, text)
    return be.load([path, second] if second else path, kind=kind, **options)


def holds(pairs):
    assert pairs.values.tolist() == SCORES
    assert pairs.genuine.tolist() == SAME
    return pairs


# ------------------------------------------------------------------------- marks and words


def test_names_of_columns(tmp_path):
    text = "distance;subject_a;subject_b;fold\n0.5;a;a;1\n-1e3;a;b;1\n2;b;a;2\n"
    loaded = holds(load(tmp_path, text, kind=None))
    assert (loaded.kind, loaded.pair_folds.tolist()) == ("distance", ["1", "1", "2"])
    bob = "bio_ref_subject_id,probe_subject_id,score\na,a,0.5\na,b,-1e3\nb,a,2\n"
    holds(load(tmp_path, bob, kind="similarity"))
    holds(load(tmp_path, "y_true,y_score\n1,0.5\n0,-1e3\n0,2\n"))  # of scikit-learn
    holds(load(tmp_path, ",genuine,score\n0,1,0.5\n1,0,-1e3\n2,0,2\n"))  # with pandas' index
    for name in ("x.npz", "x.mtx", "x.dat", "x.scores", "x"):
        assert holds(load(tmp_path, LIST, name, kind=None)).kind == "similarity"
    with refused("x.npz: is named .npz but holds text"):
        load(tmp_path, "once upon a time\n", "x.npz", kind=None)


def test_csv_pairs(tmp_path):
    text = "id,score,Genuine,subject_a,subject_b\n1,0.5,1,a,a\n2,-1e3,FALSE,a,b\n"
    text += "3,inf,genuine,c,c\n4,nan,impostor,c,a\n"
    pairs = load(tmp_path, text, kind="similarity", nan="reject")
    np.testing.assert_array_equal(pairs.values, [0.5, -1000, np.inf, np.nan])
    assert pairs.genuine.tolist() == [True, False, True, False]
    assert (pairs.kind, pairs.nan) == ("similarity", "reject")
    assert pairs.pair_subjects.tolist() == [["a", "a"], ["a", "b"], ["c", "c"], ["c", "a"]]
    (said,) = pairs.remarks
    assert (said.code, said.arguments["first"]) == ("infinite-scores", " (line 4)")


def test_the_kind_is_declared_or_required(tmp_path):
    with refused("does not state whether its scores are distances or simil"):
        load(tmp_path, "score,genuine\n1,1\n", kind=None)
    with refused("'similarity' declares the kind similarity; `kind="):
        load(tmp_path, "similarity,genuine\n1,1\n", kind="distance")
    assert load(tmp_path, "llr,genuine\n1,1\n", kind=None).kind == "similarity"


# ------------------------------------------------------------------------- layouts

NAMED = {
    "genuine": ("target", "nontarget"),
    "score": ("0.5", "7"),
    "subject_a": ("a", "b"),
    "subject_b": ("a", "c"),
    "-": ("0", "1"),
}


def rows_of(columns):
    """Two lines of a list with these columns, the first genuine."""
    cells = [NAMED.get(x, (f"{x}1", f"{x}2")) for x in columns.split()]
    return "\n".join(map(" ".join, zip(*cells, strict=True))) + "\n"


@pytest.mark.parametrize("form", [x for x in get_args(ListFormat) if x != "lfw"])
def test_every_preset_reads_what_the_page_says(tmp_path, form):
    page = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
    (line,) = [x for x in page.split("\n") if x.startswith(f"| `{form}` |")]
    _, *lists = re.findall("`([^`]+)`", line)
    of_scores = [x for x in lists if "score" in x]
    for columns in lists:
        options, names = {"format": form}, {*columns.split()} - {"-"}
        if columns not in of_scores:
            options["trials"] = put(tmp_path, "trials.txt", rows_of(columns))
            templates = {x for x in names if x.startswith("template")}
            columns = next(x for x in of_scores if {*x.split()} - {"-", "score"} == templates)
        elif not names & {"genuine", "subject_a"}:
            options["labels"] = put(
                tmp_path, "who.csv", "subject,template\na,template_a1\na,template_b1\n"
                "b,template_a2\nc,template_b2\n",
            )  # fmt: skip
            if "template" in names:
                continue  # a score for each name: the class is of a list of trials
        loaded = load(tmp_path, rows_of(columns), kind="similarity", **options)
        assert loaded.values.tolist() == [0.5, 7]
        assert loaded.genuine.tolist() == [True, form == "pyeer" and "trials" in options]
        if {"template_a", "template_b"} <= names and "subject_a" not in names:
            assert loaded.pair_templates.tolist()[0] == ["template_a1", "template_b1"]


def test_columns_by_their_numbers(tmp_path):
    text = "a,x1,0.5,a,y\na,x2,-1e3,b,n\nb,x1,2,a,n\n"
    columns = {"scores": 3, "subject_a": "1", "subject_b": 4, "device": 5}
    loaded = holds(load(tmp_path, text, columns=columns))
    assert loaded.probe_meta["device"].tolist() == ["y", "n", "n"]
    with refused(
        "line 1: has 5 columns, and `columns` has the number 9; columns are numbered from 1"
    ):
        load(tmp_path, text, columns={"scores": 9})
    with refused("2, 3 of `columns` may be numbers of columns, or their names"):
        load(tmp_path, "3 2 1\n1 a 0.5\n", columns={"scores": 3, "genuine": 2})
    with refused("line 1: columns 2 and 3 each hold digits alone, and could be dec"):
        load(tmp_path, "1,0,53\n0,1,20\n", columns={"scores": 3, "genuine": 1})


def test_a_preset_that_does_not_fit_is_named(tmp_path):
    with refused("a list with scores of 5 columns is .*bob"):
        load(tmp_path, "1 a b c 0.5\n", format="voxceleb")
    with refused("expected|names no columns"):
        load(tmp_path, "a a p 1\n", trials=put(tmp_path, "t", "a b 1\n"), format="bob")
    for options in ({"format": "kaldi"}, {"metric": "l2"}):
        with refused(f"`{next(iter(options))}` has no meaning for a list of pairs"):
            load(tmp_path, LIST, kind=None, **options)
    with refused("`format` is 'kaldy'; expected .*kaldi"):
        load(tmp_path, LIST, kind=None, format="kaldy")


@pytest.mark.parametrize("name", ["0001", "1e5", "NA", "007", "1.00", "01.0"])
def test_names_stay_the_text_that_they_are(tmp_path, name):
    text = f"similarity,genuine,template_a,template_b\n0.5,1,{name},2\n0.1,0,{name},3\n"
    read = load(tmp_path, text, "x.csv", kind=None)
    assert read.pair_templates.tolist() == [[name, "2"], [name, "3"]]


# ------------------------------------------------------------------------- errors

COMMA = "each hold digits alone, and could be dec"
#: The text of a list, and words of the error.
BAD = [
    ("1 0.5\n0 1.5\n0 x\n", "line 3: score is 'x'; expected a number"),
    ("\n1 0.5\n\n0 1.5\n0 4%\n", "line 5: score is '4%'; .*per cent as fractions"),
    ("1 0.5\n0 1 2\n", "line 2: 3 cells; expected 2"),
    ("target 0.5\ntarget 2\nmaybe 1\n", "line 3: genuine is 'maybe'; expected one of 1, true"),
    ("target 9\nnontarget 1\nspoof 5\n", "line 3: genuine is 'spoof'; expected one of 1, true"),
    ("label,score\n1,0.5\n2,0.7\n", "line 3: label is '2'; expected one of 1, true"),
    ("1 0\n0 1\n", "columns 1 and 2 hold only classes, .* names of the columns in a fir"),
    ("0 0 x 0.5\n0 1 y 0.2\n", "of 4 columns is .*bob.*voxceleb.*columns=..scores.: .4"),
    ("target 17 33 5\n", "of 4 columns is .*bob.*voxceleb"),
    ("a b c target genuine d 0.5\n", "what they hold is not known; otherwise write"),
    ("1 0.5\n-1 0.7\n0 0.7\n", "genuine holds both '0' and '-1', and they differ in meaning"),
    ("1,73\n0,21\n", "columns 1 and 2 each hold digits alone, and could be decimals with a c"),
    ("-1,73\n1,21\n", f"line 1: columns 1 and 2 {COMMA}"),
    ("12,0\n13,1\n", f"line 1: columns 1 and 2 {COMMA}"),
    ("1;0,5\n0;0,7\n", "line 1: score is '0,5'; .*decimals have a point"),
    ("label;a;b\na;0;0,5\nb;0,5;0\n", "line 2: b is '0,5'; .*decimals have a point"),
    ("genuine\timpostor\n0,5\t0,7\n0,6\t0,8\n", "2: genuine is '0,5'; .*decimals have a p"),
    ("1 50%\n0 0.2\n", "line 1: score is '50%'; .*per cent as fractions"),
    ("sim,truth\n0.5,1\n0.2,0\n", "no column 'score'; its first line, 'sim,truth'"),
    ("score,distance,genuine\n1,1,1\n", "'score' and 'distance' could each be the column"),
    ("score,label,genuine\n1,1,0\n", "'label' and 'genuine' could each be the column of"),
    ("1 17 33 0.5\n", "of 4 columns is .*bob.*their numbers.*a matrix of scores needs `labels`"),
    ("a b target\nc d nontarget\n", "is none of a known list"),
    ("a b 0.5\n", "'a b 0.5' names no columns, .* of 3 columns is .*kaldi"),
    ("0.5\n", "holds one number per line; .* scores as a second one"),
    ("genuine,other\n1,2\n", "no column 'score'; its columns are 'genuine', 'other'"),
    ("score,genuine,score\n1,2,3\n", "two columns are called 'score'"),
    ("# a\n\n# b\n", "holds nothing but blank lines and comments"),
    ("# made by x\n\n#\ngenuine score\n1 0.5\n\n0 x\n", "x.csv: line 7: score is 'x'; expected"),
    ("template,a,b\na,0,1\nb,1,0\n", "no column 'score'.*'template,a,b'"),
    ("score,genuine\n1,1\nx,0\n", "x.csv: line 3: score is 'x'; expected a number"),
    ('score,genuine\n"0,5",1\n', "line 2: .*point, not a comma"),
    ("score,genuine\n1_0,1\n", "line 2: score is '1_0'"),
    ("score,genuine\n1,2\n", "line 2: genuine is '2'; expected one of 1, true, yes, genuine"),
    ("score,genuine\n1,\n", "line 2: 1 cell; expected 2, none of them blank"),
    ("genuine,score\n,1\n", "line 2: the cell 'genuine' is blank"),
    ("score,genuine\n1,1\n1,1,1\n", "line 3: 3 cells; expected 2"),
    ("score,genuine\n45%,1\n", "line 2: score is '45%'; .*per cent as fractions"),
    ("score,genuine\n", "no rows"),
    ("label,camera\na,1\n", "no column 'score'.*'label', 'camera'.*labels"),
    ("0.1,0.2\n0.3,0.4\n", "'0.1,0.2' names no columns, .*of 2 columns is .*kaldi"),
    ("0,1,2\n1,0,3\n2,3,0\n", "x.csv: line 1: '0,1,2' may number the columns"),
    ("label,a,b\na,1,2,3,4\nb,1,2\n", "line 2: 5 cells; expected 3"),
    ("label,s,a,b\na,1st,0,1\nb,2nd,1,0\n", "x.csv: line 2: s is '1st'; expected a number"),
    (",".join(["0.25"] * 20_000) + "\n", "more than 1,000 columns; a matrix of scores is read"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), BAD)
def test_bad_lists(tmp_path, text, message):
    with refused(message):
        load(tmp_path, text, "x.csv")


@pytest.mark.parametrize("mark", [" ", ",", "\t"])
@pytest.mark.parametrize("number", ["1e400", "-1e400", "9" * 400])
def test_a_number_in_a_text_is_not_made_infinite(tmp_path, mark, number):
    rows = [("genuine", "score"), ("1", "inf"), ("", ""), ("0", number), ("0", "-Infinity")]
    lines = [mark.join(row).strip() for row in rows]
    with refused(f"line 4: score is '{number[:9]}.*too large"):
        load(tmp_path, "\n".join(lines), kind="similarity")
    loaded = load(tmp_path, "\n".join([*lines[:3], *lines[4:]]), kind="similarity")
    assert loaded.values.tolist() == [np.inf, -np.inf]


def test_a_line_without_an_end_and_bytes_that_are_no_text(tmp_path, monkeypatch):
    with refused("line 2001: the byte 0xff is not UTF-8"):
        load(tmp_path, b"a 1 0.5\n" * 2000 + b"\xff 0 0.5\n", format="asvspoof")
    monkeypatch.setattr(texts, "_LONGEST_LINE", 1 << 16)
    with refused("has a line of more than"):
        load(tmp_path, "1 0.5\n" * 3 + "9" * (1 << 20))


# ------------------------------------------------------------------------- comments, ends, packing


@pytest.mark.parametrize("name", ["x.txt", "x.csv", "x.csv.gz"])
@pytest.mark.parametrize("between", ["", "\n"])
def test_a_text_that_begins_with_comments(tmp_path, name, between):
    head = f"\n# made by x\n# 3 pairs of ann\n{between}"
    for rows in (LIST, LIST.partition("\n")[2]):
        data = (head + rows).encode()
        place = put(tmp_path, name, gzip.compress(data) if name.endswith("gz") else data)
        if rows == LIST or name != "x.csv":
            loaded = holds(be.load(place, kind="similarity"))
            assert rows != LIST or "2 comment lines at the start left out" in loaded.reading


@pytest.mark.parametrize("mark", [" ", ",", "\t"])
def test_a_list_that_numpy_has_written(tmp_path, mark):
    rows = np.array([[1, 0.5], [0, -1e3], [0, 2]])
    np.savetxt(tmp_path / "x.txt", rows, delimiter=mark, header=f"by x\ngenuine{mark}similarity")
    assert holds(be.load(tmp_path / "x.txt")).kind == "similarity"


@pytest.mark.parametrize(
    "ends", [["\n"], ["\r"], ["\r\n"], ["\r", "\r", "\n"], ["\r\n", "\r", "\n"]]
)
def test_every_end_of_a_line(tmp_path, ends):
    """Of one kind, or several in turn; other characters end none."""

    def with_ends(name, lines):
        pairs = zip(lines, itertools.cycle(ends), strict=False)
        return put(tmp_path, name, "".join(f"{line}{end}" for line, end in pairs))

    for name, mark in (("x.txt", " "), ("x.csv", ",")):
        lines = [x.replace(" ", mark) for x in ("genuine score", "1 0.5", "0 -1e3", "0 2")]
        holds(be.load(with_ends(name, lines), kind="similarity"))
        for wrong in ("1 x", "1 \udcff"):
            path = with_ends(
                name, [*lines[:3], wrong.replace(" ", mark).replace("\udcff", "ÿ"), *lines[3:]]
            )
            path.write_bytes(path.read_bytes().replace("ÿ".encode(), b"\xff"))  # no UTF-8
            with refused("line 4"):
                be.load(path, kind="similarity")
    wide = with_ends("x.wide.csv", ["label,a,b,a", "a,0,1,2", "b,3,4,5", "a,6,7,8"])
    assert be.load(wide, kind="distance").values.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    np.save(tmp_path / "x.npy", np.eye(3))
    labels = with_ends("l.csv", ["label,day", "a,1", "b\u2028\x85\x0cx,2", "a,3"])
    loaded = be.load(tmp_path / "x.npy", labels=labels, kind="distance")
    assert loaded.probe_labels.tolist() == ["a", "b\u2028\x85\x0cx", "a"]
    assert loaded.probe_meta["day"].tolist() == ["1", "2", "3"]


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_a_line_end_on_the_boundary_of_two_reads(tmp_path, size):
    raw = texts.open_text(put(tmp_path, "x.txt", b"ab\r\nc\r\r\n\n\rde\r")).detach()
    pieces, buffer = [], bytearray(size)
    while count := raw.readinto(buffer):
        pieces.append(bytes(buffer[:count]))
    raw.close()
    assert b"".join(pieces) == b"ab\nc\n\n\n\nde\n"


@pytest.mark.parametrize("name", ["x.csv.gz", "x.tsv.gz", "x.txt.gz"])
def test_compressed_text_is_written(tmp_path, name, capsys):
    scores = be.Scores.from_pairs(SCORES, SAME, kind="similarity")
    be.save(scores, tmp_path / name)
    first = (tmp_path / name).read_bytes()
    assert first[:2] == b"\x1f\x8b"
    be.save(scores, tmp_path / name)
    assert (tmp_path / name).read_bytes() == first  # no time of writing
    assert holds(be.load(tmp_path / name)).kind == "similarity"
    assert main(["convert", str(tmp_path / name), str(tmp_path / "y.npz")]) == 0
    with refused("has the suffix '.gz'; expected one of"):
        be.save(scores, tmp_path / "x.npz.gz")


# ------------------------------------------------------------------------- two vectors


def read_line(capsys, *args):
    """Return the line that `bioeval run` prints under Read."""
    assert main(["run", *map(str, args), "--kind", "similarity"]) == 0
    out = capsys.readouterr().out
    return " ".join(out[out.index("Read") :].split())


def test_genuine_and_impostor_scores_in_two_files(tmp_path, capsys):
    genuine_file, i = put(tmp_path, "g.txt", "0.5\n"), put(tmp_path, "i.txt", "-1e3\n2.0\n")
    holds(be.load((genuine_file, i), kind="similarity"))
    assert main(["run", str(genuine_file), str(i), "--kind", "distance", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert value(document, "impostor_attempts") == 2
    genuine_file, j = tmp_path / "g.npy", tmp_path / "i.npy"
    np.save(genuine_file, [0.5])
    np.save(j, np.array([[-1e3], [2.0]]))
    loaded = holds(be.load((genuine_file, j), kind="similarity"))
    assert loaded.reading == ("genuine scores from g.npy, impostor scores from i.npy",)
    second_version = tmp_path / "model.v2.npy"
    np.save(second_version, [0.5])
    assert be.load((second_version, j), kind="similarity").name == "model.v2"
    assert "genuine scores from g.npy" in read_line(capsys, genuine_file, j)
    with refused(r"g.npy: does not state whether its scores are dist"):
        be.load((genuine_file, j))
    holds(be.load((genuine_file, i), kind="similarity"))
    for array, message in (
        (np.eye(2), r"i.npy: has shape \(2, 2\); expected one score an attempt"),
        ([-1e3, 2.0], r"g.npy: has the same scores as .*i.npy"),
    ):
        np.save(j, array)
        np.save(genuine_file, [-1e3, 2.0])
        with refused(message):
            be.load((genuine_file, j), kind="similarity")


@pytest.mark.parametrize(
    ("genuine", "impostor", "message"),
    [
        ("0.1\n0.2\n", "1,5\n0,2\n", "i.txt: line 1: columns 1 and 2 .* decimals with a comma"),
        ("0,3\n0,2\n", "0.5\n0.2\n", "g.txt: line 1: columns 1 and 2 .* decimals with a comma"),
        (
            "distance\n1\n",
            "similarity\n2\n",
            "i.txt: the scores are called similarity, and .* distance",
        ),
        ("genuine\n1\n", "0.5\n", "g.txt: no column 'score'; its columns are 'genuine'"),
        ("a 0.1\nb 0.2\n", "0.5 a\n0.3 b\n", "g.txt: line 1: 'a 0.1' names no columns"),
        ("0.5\n", "1_1.tif 2_1.tif -1e3\n", "i.txt: line 1: .* names no columns"),
    ],
)
def test_two_files_are_read_in_one_way_or_not_at_all(tmp_path, genuine, impostor, message):
    with refused(message):
        load(tmp_path, genuine, "g.txt", second=put(tmp_path, "i.txt", impostor))
    files = [str(tmp_path / name) for name in ("g.txt", "i.txt")]
    assert main(["run", *files, "--kind", "distance"]) == 2


@pytest.mark.parametrize("suffix", [".mat", ".npz", ".h5"])
@pytest.mark.parametrize(
    "names", [("genuine", "impostor"), ("gen", "imp"), ("Genuine_Scores", "Impostor_Scores")]
)
@pytest.mark.cases(2)
def test_two_vectors_in_a_file(tmp_path, suffix, names, capsys):
    arrays = {names[1]: np.array([[-1e3, 2.0]]), names[0]: np.array([0.5])}
    place = write(tmp_path / f"x{suffix}", arrays)
    loaded = holds(be.load(place, kind="similarity"))
    said = f"genuine scores from {names[0]!r}, impostor scores from {names[1]!r}"
    assert loaded.reading == (said,)
    assert said in read_line(capsys, place)
    assert be.load(place).reading[1].startswith("taken as distances")


# ------------------------------------------------------------------------- matrices


@pytest.mark.parametrize("mark", [",", ";", "\t", " "])
def test_a_matrix_of_numbers_alone_with_its_labels(tmp_path, mark):
    """As numpy.savetxt and pandas without names write it; labels as of a .npy file."""
    values = np.random.default_rng(2).normal(size=(4, 6)).round(3)
    np.savetxt(tmp_path / "t.csv", values, delimiter=mark, fmt="%.3f")
    np.save(tmp_path / "t.npy", values)
    labels = put(tmp_path, "p.csv", "label,camera\na,1\nb,1\na,2\nb,2\n")
    sides = {"labels": labels, "gallery": put(tmp_path, "g.csv", "a\nb\nc\na\nb\nc\n")}
    loaded, expected = (
        be.load(tmp_path / f"t.{x}", kind="similarity", **sides) for x in ("csv", "npy")
    )
    np.testing.assert_array_equal(loaded.values, expected.values)
    assert (loaded.kind, loaded.probe_meta["camera"].tolist()) == ("similarity", [*"1122"])
    assert loaded.gallery_labels.tolist() == list("abcabc") == expected.gallery_labels.tolist()
    (tmp_path / "t.csv").rename(tmp_path / "t.txt")
    np.testing.assert_array_equal(be.load(tmp_path / "t.txt", **sides).values, expected.values)
    with refused("is 4 x 6, not square.*or `metric` if the rows are emb"):
        be.load(tmp_path / "t.txt", labels=labels)
    features = be.load(tmp_path / "t.txt", labels=labels, metric="linf")
    assert features.layout == "all-against-all" and "metric linf" in features.origin


def test_a_matrix_of_whole_numbers_and_one_that_is_no_matrix(tmp_path):
    labels = put(tmp_path, "g.csv", "a\nb\na\n")
    sides = {"labels": labels, "gallery": labels}
    text = "0,5,7\n5,0,2\n7,2,0\n"
    square = load(tmp_path, text, "t.csv", kind=None, labels=labels)
    assert (square.layout, square.values[0].tolist()) == ("all-against-all", [0, 5, 7])
    loaded = load(tmp_path, text, "t.csv", kind=None, **sides)
    assert loaded.layout == "probe-against-gallery"
    for text, message in (
        ("0,5,7\n5,x,2\n7,2,0\n", "line 2: column 2 is 'x'; expected a number"),
        ("0\t0,5\t1\n5\t0\t2\n7\t2\t0\n", "line 1: column 2 is '0,5'; .*decimals have a po"),
        ("label,a,b\na,0,5\nb,5,0\n", "with other first cells than numbers; `labels` and `g"),
        (",".join(["0.5"] * 2000) + "\n", "more than 1,000 columns; a matrix of scores is read"),
    ):
        with refused(message):
            load(tmp_path, text, "t.csv", **sides)


@pytest.mark.parametrize("corner", ["", "label"])
def test_a_matrix_with_its_names(tmp_path, corner):
    """Its first cell may be empty."""
    loaded = load(tmp_path, f"{corner},a,a,b\na,0,1,2\na,1,0,3\nb,2,3,0\n", "p.csv")
    assert loaded.layout == "all-against-all" and loaded.values[1].tolist() == [1, 0, 3]
    frame = pd.DataFrame({"label": list("ab"), "place": list("xy"), "a": [0, 1], "b": [1, 0]})
    with refused("row 0: place is 'x'; expected a number"):
        be.load(frame, kind="distance")
    assert be.load(frame.drop(columns="place"), kind="distance").values.tolist() == [[0, 1], [1, 0]]
    with refused("in another order"):
        load(tmp_path, "label,ann,bob\nbob,1,0.5\nann,0,1\n", "p.csv")


def test_columns_that_may_be_features_are_named(tmp_path):
    path = put(tmp_path, "f.csv", "label,f0,f1\na,1,0\na,1,0.2\nb,0,1\n")
    with refused("distances or similarities; .*, if the columns are features .*, `metric`"):
        be.load(path)
    with pytest.warns(be.BioevalWarning, match="if f0 to f1 are features of embeddings, give `me"):
        be.verification(be.load(path, kind="distance"))
