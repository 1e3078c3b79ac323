"""Lists of scores in text: layouts, trials, matrices, and errors with the line."""

import bz2
import gzip
import json
import lzma

import numpy as np
import pytest
from optional import optional_import
from result_messages import arguments

import bioeval as be
from bioeval.cli import main
from bioeval.scores.formats import files

SCORES = [0.5, -1e3, 2.0]
SAME = [True, False, False]


def load(folder, text, name="x.txt", kind="distance", second=None, **options):
    (folder / name).write_text(text)
    return be.load([folder / name, second] if second else folder / name, kind=kind, **options)


def holds(pairs):
    assert pairs.values.tolist() == SCORES
    assert pairs.genuine.tolist() == SAME


# ------------------------------------------------------------------------- layouts

WORDS = [
    *(("1", "0"), ("1.0", "0.0"), ("+1", "-1"), ("True", "False"), ("target", "nontarget")),
    *(
        ("TARGET", "non-target"),
        ("genuine", "imposter"),
        ("match", "nonmatch"),
        ("same", "different"),
    ),
]


@pytest.mark.parametrize(("yes", "no"), WORDS)
@pytest.mark.parametrize("mark", [" ", "\t", ",", ";", "  "])
@pytest.mark.cases(8)
def test_a_word_and_a_score(tmp_path, yes, no, mark):
    words = [yes if same else no for same in SAME]
    lines = [[word, str(score)] for word, score in zip(words, SCORES, strict=True)]
    holds(load(tmp_path, "\n".join(mark.join(line) for line in lines)))
    holds(load(tmp_path, "\n".join(mark.join(reversed(line)) for line in lines) + "\n"))


@pytest.mark.parametrize("columns", [4, 5])
def test_bob(tmp_path, columns):
    model = "m1 " if columns == 5 else ""
    found = load(tmp_path, "".join(f"{a} {model}{b} {p} {s}\n" for a, b, p, s in [
        ("1", "1", "x", "0.5"), ("1", "2", "y", "-1e3"), ("2", "1", "x", "2")
    ]))  # fmt: skip
    holds(found)
    assert found.pair_subjects.tolist() == [["1", "1"], ["1", "2"], ["2", "1"]]


def test_names_of_columns(tmp_path):
    text = "distance;subject_a;subject_b;fold\n0.5;a;a;1\n-1e3;a;b;1\n2;b;a;2\n"
    found = load(tmp_path, text, kind=None)
    holds(found)
    assert (found.kind, found.pair_folds.tolist()) == ("distance", ["1", "1", "2"])
    bob = "bio_ref_subject_id,probe_subject_id,score\na,a,0.5\na,b,-1e3\nb,a,2\n"
    holds(load(tmp_path, bob, kind="similarity"))


def test_genuine_and_impostor_scores_in_two_files(tmp_path, capsys):
    (tmp_path / "i.txt").write_text("-1e3\n2.0\n")
    holds(load(tmp_path, "0.5\n", second=tmp_path / "i.txt"))
    args = [str(tmp_path / "x.txt"), str(tmp_path / "i.txt")]
    assert main(["run", *args, "--kind", "distance", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["tasks"]["verification/single"]["impostor_attempts"] == 2
    with pytest.raises(be.DataError, match="holds one number per line; .* scores as a second one"):
        load(tmp_path, "0.5\n")
    (tmp_path / "i.txt").write_text("1_1.tif 2_1.tif -1e3\n1_1.tif 3_1.tif 2.0\n")
    with pytest.raises(be.DataError, match="i.txt: has 3 columns; expected one score on each line"):
        load(tmp_path, "0.5\n", second=tmp_path / "i.txt")


def zstd(raw):
    stream = optional_import("pyarrow").BufferOutputStream()
    with optional_import("pyarrow").CompressedOutputStream(stream, "zstd") as out:
        out.write(raw)
    return stream.getvalue().to_pybytes()


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress, zstd])
def test_compressed(tmp_path, compress):
    raw = b"1 0.5\n0 -1e3\n0 2\n"
    (tmp_path / "x.gz").write_bytes(compress(raw))
    holds(be.load(tmp_path / "x.gz", kind="distance"))
    (tmp_path / "y.gz").write_bytes(compress(raw * 100)[:-4])
    with pytest.raises(be.DataError, match="y.gz: is truncated or damaged"):
        be.load(tmp_path / "y.gz", kind="distance")


# ------------------------------------------------------------------------- kinds


def test_the_kind_is_declared_or_required(tmp_path):
    with pytest.raises(
        be.DataError, match="does not state whether its scores are distances or simil"
    ):
        load(tmp_path, "score,genuine\n1,1\n", kind=None)
    with pytest.raises(be.DataError, match="'similarity' declares the kind similarity; `kind="):
        load(tmp_path, "similarity,genuine\n1,1\n", kind="distance")
    assert load(tmp_path, "llr,genuine\n1,1\n", kind=None).kind == "llr"


# ------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 0.5\n0 1.5\n0 x\n", "line 3: score is 'x'; expected a number"),
        ("\n1 0.5\n\n0 1.5\n0 4%\n", "line 5: score is '4%'; .*per cent as fractions"),
        ("1 0.5\n0 1 2\n", "line 2: 3 cells; expected 2"),
        ("1 a b 0.5\n0 a 0.1\n", "line 2: 3 cells; expected 4"),
        ("target 0.5\ntarget 2\nmaybe 1\n", "line 3: genuine is 'maybe'; expected one of 1, true"),
        ("label,score\n1,0.5\n2,0.7\n", "line 3: label is '2'; expected one of 1, true"),
        ("1 0\n0 1\n", "columns 1 and 2 each hold only 0 and 1, .* names of the columns in a fir"),
        (
            "0 0 x 0.5\n0 1 y 0.2\n",
            "columns 1 and 2 each hold only 0 and 1, .* have the layout of bob",
        ),
        ("ann bob 1 0.5\nann eve 0 0.2\n", "column 3 holds only 0 and 1, and could mark"),
        ("ann bob x 1\nann eve y 0\n", "column 4 holds only 0 and 1"),
        ("target 17 33 5\n", "columns 2, 3 and 4 each hold numbers, and could be the scores"),
        ("ann bob 0.5 0.7\n", "columns 3 and 4 each hold numbers, and could be the scores"),
        ("a b target bonafide 0.5\n", "is none of a known list"),
        ("1 0.5\n-1 0.7\n0 0.7\n", "genuine holds both '0' and '-1', and they differ in meaning"),
        ("1,73\n0,21\n", "columns 1 and 2 each hold digits alone, and could be decimals with a c"),
        *(
            (text, f"line 1: columns {i} and {i + 1} each hold digits alone, and could be dec")
            for text, i in (
                ("-1,73\n1,21\n", 1),
                ("12,0\n13,1\n", 1),
                ("a,0,53\nb,1,2\n", 2),
                ("x,y,12,53\ny,y,0,2\n", 3),
            )
        ),
        ("1;0,5\n0;0,7\n", "line 1: score is '0,5'; .*decimals have a point"),
        ("1 50%\n0 0.2\n", "line 1: score is '50%'; .*per cent as fractions"),
        ("1 50 %\n0 20 %\n", "has per cent signs"),
        (
            "sim,truth\n0.5,1\n0.2,0\n",
            "the columns 'sim', 'truth' have no name that is known; give",
        ),
        ("score,distance,genuine\n1,1,1\n", "'score' and 'distance' could each be the column"),
        ("score,label,genuine\n1,1,0\n", "'label' and 'genuine' could each be the column of"),
        ("1 17 33 0.5\n", "in a list of pairs, write the names of the columns in a first line"),
        ("a b target\nc d nontarget\n", "a list of trials without scores"),
        ("a b 0.5\n", "does not mark genuine pairs; give the list of trials"),
        ("genuine,other\n1,2\n", "no column 'score'; its columns are 'genuine', 'other'"),
        ("score,genuine,score\n1,2,3\n", "two columns are called 'score'"),
    ],
)
def test_bad_lists(tmp_path, text, message):
    with pytest.raises(be.DataError, match=message):
        load(tmp_path, text)


@pytest.mark.parametrize(
    ("genuine", "impostor", "message"),
    [
        ("0.1\n0.2\n", "1,5\n0,2\n", "i.txt: line 1: columns 1 and 2 .* decimals with a comma"),
        ("0,1\n0,2\n", "0.5\n0.2\n", "g.txt: line 1: columns 1 and 2 .* decimals with a comma"),
        ("distance\n1\n", "similarity\n2\n", "i.txt: line 1: .* called 'similarity', and .* 'dist"),
        ("a 0.1\nb 0.2\n", "0.5 a\n0.3 b\n", "g.txt: has 2 columns; expected one score"),
    ],
)
def test_two_files_are_read_in_one_way_or_not_at_all(tmp_path, capsys, genuine, impostor, message):
    (tmp_path / "i.txt").write_text(impostor)
    with pytest.raises(be.DataError, match=message):
        load(tmp_path, genuine, "g.txt", second=tmp_path / "i.txt")
    files = map(str, (tmp_path / "g.txt", tmp_path / "i.txt"))
    assert main(["run", *files, "--kind", "distance"]) == 2
    assert capsys.readouterr().err.startswith("bioeval: error: ")


def test_a_line_without_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_LONGEST_LINE", 1 << 16)
    with pytest.raises(be.DataError, match="has a line of more than"):
        load(tmp_path, "1 0.5\n" * 3 + "9" * (1 << 20))


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "x.txt").write_bytes(b"1 a 0.5\n" * 2000 + b"0 \xff 0.5\n")
    with pytest.raises(be.DataError, match="line 2001: the byte 0xff is not UTF-8"):
        be.load(tmp_path / "x.txt", kind="distance")


# ------------------------------------------------------------------------- trials

KEYED = "b d -1e3\na c 0.5\nb c 2\n"


@pytest.mark.parametrize(
    "trials",
    [
        "a c target\nb c nontarget\nb d nontarget\n",  # Kaldi
        "1 a c\n0 b c\n0 b d\n",  # VoxCeleb
        "a,c,1\nb,c,0\nb,d,0\n",
        "enrol,test,label\na,c,1\nb,c,0\nb,d,0\n",
        "a c\n",  # the genuine pairs alone (PyEER)
    ],
)
def test_scores_and_trials_are_joined_by_their_names(tmp_path, trials):
    (tmp_path / "trials").write_text(trials)
    found = load(tmp_path, KEYED, trials=tmp_path / "trials")
    assert found.values.tolist() == [-1e3, 0.5, 2.0]
    assert found.genuine.tolist() == [False, True, False]


def test_trials_by_one_name(tmp_path):
    """ASVspoof: speaker, file, -, attack, key; and scores of files."""
    (tmp_path / "trials").write_text("S1 F1 - - bonafide\nS1 F2 - A07 spoof\nS2 F3 - A07 spoof\n")
    found = load(tmp_path, "F2 0.1\nF3 0.2\nF1 0.9\n", trials=tmp_path / "trials")
    assert found.genuine.tolist() == [False, False, True]


def test_trials_and_scores_that_lack_each_other(tmp_path):
    (tmp_path / "trials").write_text("a c target\nb c nontarget\nx y target\nz y target\n")
    trials = tmp_path / "trials"
    with pytest.raises(
        be.DataError, match="1 of 3 lines: each has no trial; .* on line 1; to leave"
    ):
        load(tmp_path, KEYED, trials=trials)
    with pytest.raises(
        be.DataError, match="2 of 4 lines: each has no score; the first on line 3, 4"
    ):
        load(tmp_path, KEYED.split("\n", 1)[1], trials=trials)
    found = load(tmp_path, KEYED, trials=trials, lists={"missing_pairs": "skip"})
    assert found.values.tolist() == [0.5, 2.0]
    notes = [x.arguments for x in be.messages(be.verification(found)) if x.code == "lines-left-out"]
    assert notes == [
        {"lines": 1, "file": "x.txt", "have": "no trial"},
        {"lines": 2, "file": "trials", "have": "no score"},
    ]
    trials.write_text("S F1 target\nS F2 nontarget\n")
    with pytest.raises(
        be.DataError, match="1 of 2 lines: each is listed before; .* line 2; list each"
    ):
        load(tmp_path, "F1 0.5\nF1 0.5\n", trials=trials)
    trials.write_text("q r target\n")
    with pytest.raises(be.DataError, match="has none of the names that x.txt scores, such as 'b'"):
        load(tmp_path, KEYED, trials=trials)


def test_subjects_from_names(tmp_path):
    text = "id1/a id1/b 0.5\nid1/a id2/c -1e3\nid2/c id1/b 2\n"
    found = load(tmp_path, text, subject_from=r"id(\d+)/")
    holds(found)
    assert found.pair_subjects.tolist() == [["1", "1"], ["1", "2"], ["2", "1"]]
    with pytest.raises(
        be.DataError, match="line 3: `subject_from=.* does not match the name 'id2/c'; expect"
    ):
        load(tmp_path, text, subject_from=r"id(1)/")
    for pattern in ("id", "(", "(a)(b)"):
        with pytest.raises(be.DataError, match="not a regular expression|groups; expected one"):
            load(tmp_path, text, subject_from=pattern)

    said = "subjects from names: id1/a -> 1, id2/c -> 2"
    for options in ({}, {"lists": {"as": "matrix"}}):
        found = be.verification(load(tmp_path, text, subject_from=r"id(\d+)/", **options))
        assert found.attrs["reading"] == said
        assert not any("subjects from" in message.sentence for message in be.messages(found))


def test_scores_in_the_order_of_the_trials(tmp_path):
    """IJB's pairs of templates, which are numbers."""
    (tmp_path / "trials").write_text("1 11 1\n1 12 0\n2 11 0\n")
    holds(load(tmp_path, "0.5\n-1e3\n2\n", trials=tmp_path / "trials"))
    holds(load(tmp_path, "1 11 0.5\n1 12 -1e3\n2 11 2.0\n", trials=tmp_path / "trials"))
    with pytest.raises(be.DataError, match="x.txt: has 2 scores, and trials lists 3 trials"):
        load(tmp_path, "0.5\n2\n", trials=tmp_path / "trials")
    (tmp_path / "trials").write_text("a b\n")
    with pytest.raises(be.DataError, match="lists genuine pairs alone, and x.txt has no names"):
        load(tmp_path, "0.5\n", trials=tmp_path / "trials")


@pytest.mark.parametrize("text", ["a c 0.5\n", "spk a b 1\n", "a b target spoof\n"])
def test_what_is_no_list_of_trials(tmp_path, text):
    (tmp_path / "trials").write_text(text * 2)
    if text.startswith("spk"):
        (tmp_path / "trials").write_text("spk a c 1\nspk b d 0\nspk b c 0\n")
        found = load(tmp_path, KEYED, trials=tmp_path / "trials")
        assert found.genuine.tolist() == [False, True, False]
        return
    with pytest.raises(
        be.DataError, match="is not a list of trials|columns 3 and 4 each hold words"
    ):
        load(tmp_path, KEYED, trials=tmp_path / "trials")
    with pytest.raises(be.DataError, match="genuine marks genuine pairs; leave out `trials`"):
        load(tmp_path, "target a b 0.5\n", trials=tmp_path / "trials")


def test_a_list_of_subjects_may_have_them_in_its_names_again(tmp_path):
    text = (
        "distance\tsubject_a\tsubject_b\ttemplate_a\ttemplate_b\n"
        "0.5\tid1\tid1\tid1/a\tid1/b\n0.1\tid1\tid2\tid1/a\tid2/a\n"
    )
    plain, again = load(tmp_path, text), load(tmp_path, text, subject_from=r"(id\d+)/")
    assert again.genuine.tolist() == plain.genuine.tolist() == [True, False]
    assert again.pair_subjects.tolist() == plain.pair_subjects.tolist()
    assert again.reading == ("subjects as listed, equal to those from names",)
    wrong = "line 2: the subject is 'id1', and by `subject_from` it is '1'; correct one of the two"
    with pytest.raises(be.DataError, match=wrong):
        load(tmp_path, text, subject_from=r"id(\d+)/")


def test_templates_that_the_table_lacks_or_has_of_two_subjects(tmp_path):
    (tmp_path / "t.csv").write_text("TEMPLATE_ID,SUBJECT_ID,FILENAME\n1,7,a\n1,7,b\n2,8,c\n3,7,d\n")
    with pytest.raises(be.DataError, match="t.csv lacks 1 template of 3: '4'"):
        load(tmp_path, "1 3 0.5\n1 4 0.7\n", labels=tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("template_id,subject_id\n1,7\n1,8\n")
    with pytest.raises(be.DataError, match="the template '1' is of '7' and of '8'"):
        load(tmp_path, "1 3 0.5\n", labels=tmp_path / "t.csv")


# ------------------------------------------------------------------------- matrices


def test_a_list_of_all_pairs_is_a_matrix(tmp_path):
    rng = np.random.default_rng(1)
    d = rng.random((3, 4))
    whose, enrolled = list("aab"), list("abcb")
    lines = [
        f"{enrolled[j]} m{j} {whose[i]} p{i} {float(d[i, j])!r}" for j in range(4) for i in range(3)
    ]
    rng.shuffle(lines)
    found = load(tmp_path, "\n".join(lines), lists={"as": "matrix"})
    expected = be.Scores(d, whose, enrolled)
    order = np.argsort(found.probe_meta["template"].astype(str))
    columns = np.argsort(found.gallery_meta["template"].astype(str))
    np.testing.assert_array_equal(found.values[order][:, columns], d)
    for task in (be.verification, be.open_set, be.closed_set):
        ours, theirs = task(found), task(expected)
        for name in ("eer", "auc", "cms"):
            if name in theirs:
                np.testing.assert_array_equal(ours[name], theirs[name])


def test_holes_are_excluded_and_counted(tmp_path):
    text = "score,genuine,template_a,template_b\n1,1,p,g\n2,0,p,h\n3,0,q,g\n"
    found = load(tmp_path, text, lists={"as": "matrix"})
    assert found.shape == (2, 2) and found.mask.tolist() == [[2, 1], [1, 0]]
    ds = be.verification(found)
    assert (int(ds.genuine_attempts), int(ds.impostor_attempts)) == (1, 2)
    assert arguments(ds, "not-listed") == {"missing": 1, "comparisons": 4}


def test_names_of_two_sides_are_two_sides_where_none_is_compared_at_its_own_place(tmp_path):
    """By their names: a against p and b against q are not listed, so that the diagonal is empty."""
    found = load(tmp_path, "1 a.wav q.wav 0.3\n0 b.wav p.wav 0.8\n", lists={"as": "matrix"})
    assert found.layout == "probe-against-gallery"
    assert found.gallery_meta["template"].tolist() == ["a.wav", "b.wav"]
    assert found.probe_meta["template"].tolist() == ["p.wav", "q.wav"]
    attempts = be.verification(found)
    assert (int(attempts.genuine_attempts), int(attempts.impostor_attempts)) == (1, 1)


def test_a_matrix_of_pairs_in_one_order_is_warned_of_and_mirrored_on_request(tmp_path):
    made = be.simulate(6, 3, random_state=1)
    half = np.random.default_rng(1).permutation(np.column_stack(np.triu_indices(18, 1)))
    half = [(j, i) if (i + j) % 3 else (i, j) for i, j in half]
    text = "".join(f"{i // 3}_{i} {j // 3}_{j} {float(made.values[i, j])!r}\n" for i, j in half)
    given = {"subject_from": "(.+)_", "kind": made.kind, "lists": {"as": "matrix"}}
    (tmp_path / "half.txt").write_text(text)
    plain = be.load(tmp_path / "half.txt", **given)
    in_one_order = arguments(be.closed_set(plain), "pairs-in-one-order")
    assert (in_one_order["one_order"], in_one_order["pairs"]) == (153, 153)
    said = "153 of 153 pairs are listed in one order only"
    assert said in be.check_data(plain, read_scores=False)["list"].message
    given["lists"] = {"as": "matrix", "unordered": True}
    found = be.load(tmp_path / "half.txt", **given)
    assert not found.has_mask and "pairs-in-one-order" not in [x.code for x in found.remarks]
    order = np.argsort([int(x.split("_")[1]) for x in found.probe_meta["template"]])
    values = found.values[order][:, order]
    np.testing.assert_array_equal(values, values.T)
    rows, columns = np.array(half).T
    np.testing.assert_array_equal(values[rows, columns], made.values[rows, columns])
    # Of pairs in both orders nothing is missing.
    both = text + "".join("{1} {0} {2}\n".format(*line.split()) for line in text.splitlines())
    (tmp_path / "both.txt").write_text(both)
    given["lists"] = {"as": "matrix"}
    both_orders = be.load(tmp_path / "both.txt", **given)
    assert "pairs-in-one-order" not in [x.code for x in both_orders.remarks]


def test_cells_that_are_listed_twice(tmp_path):
    text = "score,genuine,template_a,template_b\n1,1,p,g\n{},1,p,g\n2,0,p,h\n"
    ds = be.verification(load(tmp_path, text.format(1), lists={"as": "matrix"}))
    assert arguments(ds, "repeated-pairs")["pairs"] == 1
    with pytest.raises(
        be.DataError, match="listed more than once with different scores: 'p' and 'g'"
    ):
        load(tmp_path, text.format(3), lists={"as": "matrix"})
    bob = "ann ann p 1\nann bob q 3\nann ann p {}\n"  # models without names
    ds = be.verification(load(tmp_path, bob.format(1), lists={"as": "matrix"}))
    assert arguments(ds, "repeated-pairs")["pairs"] == 1
    with pytest.raises(
        be.DataError, match="listed more than once, 1 of them with another score; th"
    ):
        load(tmp_path, bob.format(2), lists={"as": "matrix"})
    with pytest.raises(be.DataError, match='has no names of templates for `lists=."as": "matrix"'):
        load(tmp_path, "1 2\n0 3.5\n", lists={"as": "matrix"})


def test_sessions_in_names_of_templates(tmp_path):
    """Of a list, also read as a matrix."""
    names = [f"id{k // 4}_day{k % 4 // 2}_{k % 2}" for k in range(12)]
    rows = [f"{abs(i - j) / 8} {names[i]} {names[j]}" for i in range(12) for j in range(i + 1, 12)]
    text = "distance template_a template_b\n" + "\n".join(rows)
    given = {"subject_from": r"id(?P<subject>\d+)_day(?P<session>\d)_", "kind": "distance"}
    found = load(tmp_path, text, lists={"as": "matrix"}, **given)
    assert found.probe_meta["session"].tolist() == ["0", "0", "1", "1"] * 3
    apart = load(tmp_path, text, exclude=["session"], lists={"as": "matrix"}, **given)
    # Of each person six pairs, two of them of one session.
    attempts = [int(be.verification(x).genuine_attempts) for x in (found, apart)]
    assert attempts[1] == attempts[0] * 4 / 6
    pairs = load(tmp_path, text, **given)
    assert [pairs.gallery_meta["session"][0], pairs.probe_meta["session"][10]] == ["0", "1"]
    with pytest.raises(be.DataError, match=r"does not match the name 'id0_day1_0'"):
        load(tmp_path, text, subject_from=r"(?P<subject>id\d+)_day(?P<session>0)")
    for pattern, groups in (("_day", "0 groups"), (r"(id\d+)_day(\d)", "2 groups")):
        with pytest.raises(be.DataError, match=rf"has {groups}; expected one, the subject"):
            load(tmp_path, text, subject_from=pattern)


@pytest.mark.parametrize(
    ("text", "species"),
    [
        ("target 9\nnontarget 1\nspoof 5\nspoof 6\n", ["", "", "spoof", "spoof"]),
        ("bonafide target 9\nbonafide nontarget 1\nbonafide target 8\nA07 spoof 5\n",
         ["", "", "", "A07"]),
        ("s1 u1 - target 9\ns1 u2 - nontarget 1\ns2 u3 A07 spoof 5\ns2 u4 A08 spoof 6\n",
         ["", "", "A07", "A08"]),
        ("s1 u1 target 9 -\ns1 u2 nontarget 1 -\ns2 u3 spoof 5 A07\ns2 u4 spoof 6 -\n",
         ["", "", "A07", "spoof"]),
        ("genuine,score,attack\n1,9,\n0,1,bona fide\n0,5,mask\n1,6,print\n",
         ["", "", "mask", "print"]),
        ("genuine,attack,score\n1,,9\n0,,1\n0,mask,5\n", ["", "", "mask"]),
        ("label,score\ntarget,9\nnontarget,1\n", None),
        ("label score\ntarget 9\nspoof 5\n", None),
        ("genuine,score,attack\n1,9,\n0,1,\n", None),
    ],
)  # fmt: skip
def test_species_of_listed_attacks(tmp_path, text, species):
    (tmp_path / "list.csv").write_text(text)
    scores = be.load(tmp_path / "list.csv", kind="similarity")
    found = None if scores.pairs.attack is None else scores.pairs.attack.tolist()
    assert found == species
