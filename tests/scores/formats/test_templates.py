"""Lists that name their templates: repeated, with subjects and metadata, as logs, as a matrix."""

import numpy as np
import pandas as pd
import pytest
from named_arguments import raises_about, refused
from optional import optional_import
from result_messages import arguments
from result_text import as_text

import bioeval as be
from bioeval.cli import main

MATRIX = {"lists": {"as": "matrix"}}


def put(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


def load(folder, text, kind="distance", **options):
    """Read a list; without a header by the preset of its first line."""
    width = len(text.partition("\n")[0].split())
    if "," not in text and "template_a" not in text and width > 2:
        form = "kaldi" if width == 3 else "bob" if width == 5 or text[0].isalpha() else "voxceleb"
        options = {"format": form, **options}
    return be.load(put(folder, "x.txt", text), kind=kind, **options)


# ------------------------------------------------------------------------- names


@pytest.mark.parametrize(("text", "pairs"), [
    ("f1 x f1 x 0.1\nf1 x f1 x 0.2\nf1 x f2 x 0.3\n", None),  # bob without names
    ("f1 f1 x 0.1\nf1 f1 x 0.2\nf1 f2 x 0.3\n", None),  # models are named by their subjects
    ("1 ann ann 0.5\n1 ann ann 0.6\n0 ann bob 2.5\n", None),  # names of subjects
    ("distance,genuine,model,probe\n1,1,7,7\n2,0,7,9\n", None),  # names of subjects
    ("distance,genuine,model,probe\n1,1,7,8\n2,0,7,9\n", [["7", "8"], ["7", "9"]]),
    ("distance,subject_a,template_a,subject_b,template_b\n1,ann,x,ann,y\n2,ann,x,bob,z\n",
     [["x", "y"], ["x", "z"]]),
    ("genuine,distance,gallery,probe\n1,1,a.png,b.png\n0,2,a.png,c.png\n",
     [["a.png", "b.png"], ["a.png", "c.png"]]),
])  # fmt: skip
def test_which_names_are_those_of_templates(tmp_path, text, pairs):
    loaded = load(tmp_path, text)
    assert len(loaded.values) == text.count("\n") - ("distance" in text)
    names = loaded.pair_templates
    assert (names if names is None else names.tolist()) == pairs
    assert pairs or loaded.remarks == ()


# ------------------------------------------------------------------------- subjects

IDS = "id1/a id1/b 0.5\nid1/a id2/c -1e3\nid2/c id1/b 2\n"
LISTED = "distance\tsubject_a\tsubject_b\ttemplate_a\ttemplate_b\n0.5\tid1\tid1\tid1/a\tid1/b\n"
LISTED += "0.1\tid1\tid2\tid1/a\tid2/a\n"


def test_subjects_from_names(tmp_path):
    loaded = load(tmp_path, IDS, subject_from=r"id(\d+)/")
    assert (loaded.values.tolist(), loaded.genuine.tolist()) == (
        [0.5, -1e3, 2],
        [True, False, False],
    )
    assert loaded.pair_subjects.tolist() == [["1", "1"], ["1", "2"], ["2", "1"]]
    for options in ({}, MATRIX):
        loaded = be.verification(load(tmp_path, IDS, subject_from=r"id(\d+)/", **options))
        assert loaded.attrs["reading"] == "subjects from names: id1/a -> 1, id2/c -> 2"
        assert not any("subjects from" in message.sentence for message in be.messages(loaded))
    parts = load(tmp_path, IDS, subject_from=r"(id)(\d+)/")  # two are one subject
    assert parts.pair_subjects.tolist()[1] == ["id/1", "id/2"]
    plain, again = load(tmp_path, LISTED), load(tmp_path, LISTED, subject_from=r"(id\d+)/")
    assert again.genuine.tolist() == plain.genuine.tolist() == [True, False]
    assert again.pair_subjects.tolist() == plain.pair_subjects.tolist()
    assert again.reading == ("subjects as listed, equal to those from names",)


def test_sessions_in_names_of_templates(tmp_path):
    """Of a list, also read as a matrix."""
    names = [f"id{k // 4}_day{k % 4 // 2}_{k % 2}" for k in range(12)]
    rows = [f"{abs(i - j) / 8} {names[i]} {names[j]}" for i in range(12) for j in range(i + 1, 12)]
    text = "distance template_a template_b\n" + "\n".join(rows)
    options = {"subject_from": r"id(?P<subject>\d+)_day(?P<session>\d)_"}
    loaded = load(tmp_path, text, **MATRIX, **options)
    assert loaded.probe_meta["session"].tolist() == ["0", "0", "1", "1"] * 3
    other_sessions = load(tmp_path, text, exclude=["session"], **MATRIX, **options)
    # Of each person six pairs, two of them of one session.
    attempts = [int(be.verification(x).genuine_attempts) for x in (loaded, other_sessions)]
    assert attempts[1] == attempts[0] * 4 / 6
    pairs = load(tmp_path, text, **options)
    assert [pairs.gallery_meta["session"][0], pairs.probe_meta["session"][10]] == ["0", "1"]


ON_BOTH = "distance,subject_a,template_a,subject_b,template_b\n1,ann,1,ann,2\n2,ann,1,bob,1\n"
MIXED = "{},distance\np1,g1,ann,ann,0.5\np2,g1,bob,ann,0.9\n"
ONE = "1 3 0.5\n1 4 0.7\n"
PEOPLE = "TEMPLATE_ID,SUBJECT_ID,FILENAME\n1,7,a\n1,7,b\n2,8,c\n3,7,d\n"
IMAGES = "template,subject,image,gender\n1,1,1.png,f\n1,1,2.png,f\n3,1,3.png,f\n4,2,4.png,m\n"
TWO = "template,subject,gender\n1,1,f\n3,1,f\n4,2,m\n"
OF_TWO = "template_a,template_b,subject_a,subject_b,distance\n1,3,1,1,0.5\n1,4,1,3,2\n"

#: The list, options (`labels` as the text of a table), and words of the error.
BAD = [
    (IDS, {"subject_from": "id(1)/"}, "line 3: .* not match the name 'id2/c', and does match"),
    (IDS, {"subject_from": "id"}, "has no group for the subject"),
    (IDS, {"subject_from": "("}, "not a regular expression"),
    (IDS, {"subject_from": "(?P<session>a)"}, "has no group for the subject"),
    (IDS, {"subject_from": r"(?P<subject>id1)/(?P<session>[ab])"}, "not match the name 'id2/c'"),
    (LISTED, {"subject_from": r"id(\d+)/"}, "line 2: .* 'id1', and by `subject_from` it is '1'"),
    ("a m1 a p1 0.5\na m1 bob p1 0.6\na m1 bob p2 0.7\n", {}, "'p1' is 'bob', and on line 1 'a'"),
    (ON_BOTH, {}, "line 3: the subject of the template '1' is 'bob', and on line 2 'ann'"),
    (ONE, {"labels": PEOPLE}, "t.csv lacks 1 template of 3: '4'"),
    (ONE, {"labels": "template_id,subject_id\n1,7\n1,8\n"}, "'1' is of '7' and of '8'"),
    (OF_TWO, {"labels": TWO}, "line 3: the subject is '3', and by `labels` it is '2'"),
    (ONE, {"labels": IMAGES, "columns": {"f": "image"}}, "'image' has several values for one"),
    (ONE, {"labels": IMAGES, "columns": {"sex": "gendr"}}, "no column 'gendr'.*mean 'gender'"),
    *(
        (MIXED.format(",".join(head)), {}, f"line 1: {head[i]!r} does not say")
        for i, head in (
            (2, ("probe", "gallery", "subject_a", "subject_b")),
            (0, ("template_a", "template_b", "probe_subject", "gallery_subject")),
        )
    ),
    ("1 2\n0 3.5\n", MATRIX, 'has no names of templates for `lists=."as": "matrix"'),
    ("score,genuine,template_a,template_b\n1,1,p,g\n3,1,p,g\n2,0,p,h\n", MATRIX,
     "listed more than once with different scores: 'p' and 'g'"),
    ("ann ann p 1\nann bob q 3\nann ann p 2\n", MATRIX, "once, 1 of them with another score"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "options", "message"), BAD)
def test_lists_whose_names_contradict(tmp_path, text, options, message):
    if "labels" in options:
        options = {**options, "labels": put(tmp_path, "t.csv", options["labels"])}
    with refused(message):
        load(tmp_path, text, **options)


# ------------------------------------------------------------------------- a table of templates

#: Templates with their subjects, and metadata.
TABLE = "template,subject,gender,age\n" + "".join(
    f"t{i},p{i // 2},{'fm'[i // 2 % 2]},{20 + i // 2}\n" for i in range(16)
)


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    """Scores of all pairs of 16 templates, with trials and the table of templates."""
    folder = tmp_path_factory.mktemp("lists")
    rng = np.random.default_rng(1)
    pairs = [(j, i) for i in range(16) for j in range(i)]
    scores = [f"t{j} t{i} {rng.normal(1 if i // 2 == j // 2 else 3):.3f}\n" for j, i in pairs]
    put(folder, "scores.txt", "".join(scores))
    put(folder, "trials.txt", "".join(f"t{j} t{i} {int(i // 2 == j // 2)}\n" for j, i in pairs))
    put(folder, "templates.csv", TABLE)
    return folder, np.array(pairs)


def with_table(folder, **options):
    lists = {"trials": folder / "trials.txt", "labels": folder / "templates.csv"}
    all_options = {**lists, "format": "kaldi", **options}
    return be.load(folder / "scores.txt", kind="distance", **all_options)


def test_a_table_gives_the_metadata_of_both_sides(lists, tmp_path, capsys):
    folder, (enrolled, probes) = lists[0], lists[1].T
    pairs = with_table(folder)
    assert [*pairs.probe_meta] == [*pairs.gallery_meta] == ["gender", "age"]
    assert pairs.gallery_meta["gender"].tolist() == ["fm"[j // 2 % 2] for j in enrolled]
    assert pairs.probe_meta["gender"].tolist() == ["fm"[i // 2 % 2] for i in probes]
    assert pairs.probe_meta["age"].tolist() == [str(20 + i // 2) for i in probes]
    selected = pairs[np.arange(0, len(probes), 7)]
    assert selected.probe_meta["age"].tolist() == pairs.probe_meta["age"][::7].tolist()
    by_gender = be.by_group(pairs, "gender", threshold=2.0)
    sides = (pairs.probe_meta["gender"], pairs.gallery_meta["gender"])
    assert by_gender.equals(be.by_group(pairs, sides, threshold=2.0))
    matrix = be.by_group(with_table(folder, **MATRIX), "gender", threshold=2.0)
    np.testing.assert_array_equal(matrix.frr, by_gender.frr)
    np.testing.assert_array_equal(matrix.fa, by_gender.fa)
    be.save(pairs, tmp_path / "p.npz")
    again = be.load(tmp_path / "p.npz")
    assert be.by_group(again, "gender", threshold=2.0).frr.equals(by_gender.frr)
    assert main(["convert", str(tmp_path / "p.npz"), str(tmp_path / "p.csv")]) == 0
    assert "the metadata columns age, gender are left out" in capsys.readouterr().err


def test_a_table_without_subjects_has_metadata_alone(lists, tmp_path):
    lines = [",".join(line.split(",")[::2]) for line in TABLE.splitlines()]
    table = put(tmp_path, "two.csv", "\n".join(lines) + "\n")
    pairs = with_table(lists[0], labels=table)
    assert pairs.pair_subjects is None and [*pairs.probe_meta] == ["gender"]
    named = with_table(lists[0], labels=table, subject_from=r"(t\d+)", trials=None)
    assert named.subjects.tolist()[0] == "t0" and [*named.gallery_meta] == ["gender"]


def test_nobody_in_the_list_is_nobody_in_the_table(tmp_path):
    table = put(tmp_path, "t.csv", "template,subject\n1,1\n3,1\n4,\n")
    listed = OF_TWO.replace("1,4,1,3", "1,4,1,")
    assert load(tmp_path, listed, labels=table).genuine.tolist() == [True, False]


def test_columns_of_images_are_no_metadata_of_templates(tmp_path):
    table = put(tmp_path, "t.csv", IMAGES)
    assert [*load(tmp_path, ONE, labels=table).probe_meta] == ["gender"]
    assert not load(tmp_path, ONE, labels=table, columns={"gender": None}).probe_meta
    with raises_about(be.DataError, "columns.sex"):
        load(tmp_path, ONE, subject_from="(.)", columns={"sex": "gender"})


# ------------------------------------------------------------------------- as a matrix


def test_holes_and_repetitions_are_counted(tmp_path):
    head = "score,genuine,template_a,template_b\n1,1,p,g\n2,0,p,h\n"
    loaded = load(tmp_path, head + "3,0,q,g\n", **MATRIX)
    assert loaded.shape == (2, 2) and loaded.mask.tolist() == [[2, 1], [1, 0]]
    ds = be.verification(loaded)
    assert (int(ds.genuine_attempts), int(ds.impostor_attempts)) == (1, 2)
    assert arguments(ds, "not-listed") == {"missing": 1, "comparisons": 4}
    bob = "ann ann p 1\nann bob q 3\nann ann p 1\n"  # models without names
    for text in (head + "1,1,p,g\n", bob):
        again = be.verification(load(tmp_path, text, **MATRIX))
        assert arguments(again, "repeated-pairs")["pairs"] == 1


def test_names_of_two_sides_are_two_sides_where_none_is_compared_at_its_own_place(tmp_path):
    """The names a against p and b against q are not listed, so that the diagonal is empty."""
    loaded = load(tmp_path, "1 a.wav q.wav 0.3\n0 b.wav p.wav 0.8\n", **MATRIX)
    assert loaded.layout == "probe-against-gallery"
    assert loaded.gallery_meta["template"].tolist() == ["a.wav", "b.wav"]
    assert loaded.probe_meta["template"].tolist() == ["p.wav", "q.wav"]
    attempts = be.verification(loaded)
    assert (int(attempts.genuine_attempts), int(attempts.impostor_attempts)) == (1, 1)


def test_a_matrix_of_pairs_in_one_order_is_warned_of_and_mirrored_on_request(tmp_path):
    simulated = be.simulate(6, 3, random_state=1)
    half = np.random.default_rng(1).permutation(np.column_stack(np.triu_indices(18, 1)))
    half = [(j, i) if (i + j) % 3 else (i, j) for i, j in half]
    text = "".join(
        f"{i // 3}_{i} {j // 3}_{j} {float(simulated.values[i, j])!r}\n" for i, j in half
    )
    options = {"subject_from": "(.+)_", "kind": simulated.kind}
    plain = load(tmp_path, text, **MATRIX, **options)
    in_one_order = arguments(be.closed_set(plain), "pairs-in-one-order")
    assert (in_one_order["one_order"], in_one_order["pairs"]) == (153, 153)
    said = "153 of 153 pairs are listed in one order only"
    assert said in be.check_data(plain, read_scores=False)["list"].message
    mirrored = load(tmp_path, text, lists={"as": "matrix", "unordered": True}, **options)
    assert not mirrored.has_mask
    order = np.argsort([int(x.split("_")[1]) for x in mirrored.probe_meta["template"]])
    values = mirrored.values[order][:, order]
    np.testing.assert_array_equal(values, values.T)
    rows, columns = np.array(half).T
    np.testing.assert_array_equal(values[rows, columns], simulated.values[rows, columns])
    both_orders = text + "".join(
        "{1} {0} {2}\n".format(*line.split()) for line in text.splitlines()
    )
    for scores in (mirrored, load(tmp_path, both_orders, **MATRIX, **options)):
        assert "pairs-in-one-order" not in [x.code for x in scores.remarks]


# ------------------------------------------------------------------------- logs of a system

LOG = """probe,person,claimed person,template,score,status,site
p1.png,ann,ann,t1,0.91,ok,A
p2.png,ann,bob,t2,0.12,,A
p3.png,bob,bob,t2,0.83,ok,B
p4.png,cem,bob,t2,,no face,B
p5.png,cem,cem,t3,-1,timeout,A
p6.png,cem,ann,t1,0.33,ok,A
"""
ROLES = {
    "subject_a": "claimed person",
    "subject_b": "person",
    "template": "template",
    "probe": "probe",
    "similarity": "score",
    "site": "site",
}
CLAIMS = ["ann ann", "bob ann", "bob bob", "bob cem", "cem cem", "ann cem"]
FAILED = {"columns": ROLES, "failed": -1}


@pytest.fixture(params=["csv", "parquet", "frame", "csv.gz"])
def log(request, tmp_path):
    path, frame = put(tmp_path, "log.csv", LOG), pd.read_csv(tmp_path / "log.csv")
    if request.param in ("csv", "frame"):
        return path if request.param == "csv" else frame
    if request.param == "parquet":
        optional_import("pyarrow")
        frame.to_parquet(tmp_path / "log.parquet")
    else:
        frame.to_csv(tmp_path / "log.csv.gz", index=False)
    return tmp_path / f"log.{request.param}"


def test_a_log_is_read_in_one_call(log):
    read = be.load(log, **FAILED, nan="reject")
    np.testing.assert_array_equal(read.values, [0.91, 0.12, 0.83, np.nan, np.nan, 0.33])
    assert read.genuine.tolist() == [True, False, True, False, True, False]
    assert (read.kind, [" ".join(x) for x in read.pair_subjects]) == ("similarity", CLAIMS)
    assert [a for a, _ in read.pair_templates.tolist()] == ["t1", "t2", "t2", "t2", "t3", "t1"]
    assert read.probe_meta["site"].tolist() == read.gallery_meta["site"].tolist() == list("AABBAA")
    for nan, attempts in (("reject", (3, 3)), ("exclude", (2, 2))):
        result = be.verification(be.load(log, **FAILED, nan=nan))
        assert (int(result.genuine_attempts), int(result.impostor_attempts)) == attempts
        assert (result.attrs["failed_genuine"], result.attrs["failed_impostor"]) == (1, 1)
        said = arguments(result, "failures")
        assert (said["genuine"], said["impostor"]) == (1, 1)
    where = "line 5" if str(log).endswith(("csv", "gz")) else "row 3"
    with refused(f"2 NaN, the first on {where} of "):
        be.verification(be.load(log, **FAILED))
    assert be.load(log, columns=ROLES, nan="reject").values[4] == -1  # a score like any other
    columns = {**ROLES, "status": "status"}  # a blank cell is unknown
    status = be.load(log, columns=columns, failed=-1, nan="reject").probe_meta["status"]
    assert status.tolist() == ["ok", "", "ok", "no face", "timeout", "ok"]


@pytest.mark.parametrize("form", [[], ["--markdown"], ["--latex"]])
def test_failures_are_said_once(tmp_path, capsys, form):
    """The last line needs no end."""
    columns = ",".join(f"{role}={name}" for role, name in ROLES.items())
    path = str(put(tmp_path, "log.csv", LOG.rstrip()))
    arguments = ["run", path, "--columns", columns, "--nan", "reject", *form, "--failed"]
    assert main([*arguments, "-1"]) == 0
    assert " ".join(capsys.readouterr().out.split()).count("1 genuine and 1 impostor") == 1
    assert main([*arguments, "ERR"]) == 2
    assert "'ERR'; expected a number such as -1" in capsys.readouterr().err


def test_some_rows_are_chosen_by_pandas(tmp_path):
    frame = pd.read_csv(put(tmp_path, "log.csv", LOG))
    read = be.load(frame[frame["site"] == "A"], **FAILED, nan="reject")
    assert [" ".join(x) for x in read.pair_subjects] == [CLAIMS[i] for i in (0, 1, 4, 5)]
    none, low = frame.copy(), frame.astype({"score": object})
    none.loc[2, "probe"], low.loc[1, "score"] = None, "low"
    for wrong, message in (
        (frame[frame["site"] == "C"], "has no rows"),
        (none, "row 2: probe has no value"),
        (low, "row 1: score is 'low'; expected a number"),
    ):
        with refused(f"DataFrame: {message}"):
            be.load(wrong, **FAILED)


CUT = LOG[: LOG.rindex(",ok")]
OTHER = "another column as `columns="
#: The text of a log, other roles, and words of the error.
WRONG = [
    (LOG, {"probe": "prob"}, "no column 'prob'; .*names it. Did you mean 'probe'"),
    (LOG, {"site": "sit"}, "no column 'sit'; .*names it. Did you mean 'site'"),
    (LOG, {"score": "score"}, "'scores'"),
    (LOG, {"probe_camera": "place"}, "no column 'place'"),
    (LOG, {"similarity": "probe", "probe": "score"}, "line 2: probe is 'p1.png'; .*" + OTHER),
    # With the column of the other subject, every comparison would be genuine.
    (LOG, {"subject_b": "Claimed person"}, "no column 'Claimed person'; (?!.*mean 'claimed)"),
    (LOG, {"subject_b": "claimd person"}, "no column 'claimd person'; (?!.*mean 'claimed)"),
    (LOG, {"subject_b": "persn"}, "mean 'person'"),
    (LOG, {"suject_b": "person", "subject_b": None}, "names no role; did you mean 'subject_b'"),
    (LOG, {"similarty": "score", "similarity": None}, "names no role; did you mean 'similarity'"),
    (LOG + LOG, {}, "line 8: repeats the names of the columns; leave the line out"),
    (CUT, {}, "the last line has 5 of 7 cells and no end; the file is truncated"),
    (CUT + "\n", {}, "line 7: 5 cells; expected 7"),
    (LOG.replace("0.91", "ERR"), {}, "of a comparison that failed the cell is blank"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "roles", "message"), WRONG)
def test_what_is_wrong_with_a_log_is_said(tmp_path, text, roles, message):
    columns = {k: v for k, v in {**ROLES, **roles}.items() if v}
    with refused(message):
        be.load(put(tmp_path, "log.csv", text), columns=columns, failed=-1)


VISITS = """visit,light,probe,person,claimed person,template,score
v1,day,p1,ann,ann,t1,0.9
v1,day,p1,ann,bob,t2,0.2
v2,night,p2,bob,ann,t1,0.3
v2,night,p2,bob,bob,t2,0.4
"""
NAMED = {"probe": "probe", "template": "template", "similarity": "score"}
PERSONS = {"subject_a": "claimed person", "subject_b": "person"}


@pytest.mark.parametrize("table", [False, True])
def test_a_column_of_probes_alone_is_theirs(tmp_path, table):
    """The gallery does not know it. In a table of templates it has blank cells."""
    log = put(tmp_path, "log.csv", VISITS)
    lines = "template,subject,visit\np1,ann,v1\np2,bob,v2\nt1,ann,\nt2,bob,\n"
    options = {"labels": put(tmp_path, "people.csv", lines)} if table else {}
    roles = NAMED if table else {**NAMED, **PERSONS, "probe_visit": "visit"}
    read = be.load(log, columns=roles, **MATRIX, **options)
    assert read.probe_meta["visit"].tolist() == ["v1", "v2"]
    assert not any(read.gallery_meta["visit"])
    assert be.claim_scores(read, attempts="visit").shape == (2, 2)
    message = "visit of the template 't1' is 'v2', and on line 2 'v1'; name a column of one side"
    with refused(message):
        be.load(log, columns={**NAMED, **PERSONS, "visit": "visit"}, **MATRIX)


def test_a_code_of_failures_in_scores_alone(tmp_path):
    """Of two files, in the order of a list of trials, and in an array."""
    genuine_file, i = put(tmp_path, "g.txt", "0.5\n-1\n"), put(tmp_path, "i.txt", "0.1\n0.2\n")
    trials = put(tmp_path, "t.txt", "a b target\nc d nontarget\n")
    options = {"kind": "similarity", "failed": -1, "nan": "reject"}
    two = be.load((genuine_file, i), **options)
    np.testing.assert_array_equal(two.values, [0.5, np.nan, 0.1, 0.2])
    np.save(tmp_path / "s.npy", [0.5, -1.0])
    np.savez(tmp_path / "p.npz", scores=[0.5, -1.0], genuine=[1, 0])
    for name, trials_option in (("g.txt", trials), ("s.npy", trials), ("p.npz", None)):
        trials_options = {"trials": trials_option, "format": "kaldi"} if trials_option else {}
        loaded = be.load(tmp_path / name, **trials_options, **options)
        np.testing.assert_array_equal(loaded.values, [0.5, np.nan])


def test_recordings_without_a_class_are_no_subjects(tmp_path):
    (tmp_path / "x.txt").write_text("enrol test score\na1 a2 0.5\na1 b1 0.2\nb1 b2 0.7\n")
    with refused("does not mark genuine pairs; give the list of trials as `trials`, or the part"):
        be.load(tmp_path / "x.txt", kind="similarity")
    loaded = be.load(tmp_path / "x.txt", kind="similarity", subject_from="(.)")
    assert loaded.genuine.tolist() == [True, False, True]
    columns = {"subject_a": "enrol", "subject_b": "test"}
    (tmp_path / "x.txt").write_text("enrol test score\na a 0.5\na b 0.2\nb b 0.7\n")
    loaded = be.load(tmp_path / "x.txt", kind="similarity", columns=columns)
    assert loaded.pair_subjects.tolist() == [["a", "a"], ["a", "b"], ["b", "b"]]


def test_blank_text_of_a_table_is_read_as_that_of_a_file(tmp_path):
    lines = "similarity,genuine,template_a,template_b\n0.5,1,a,b\n ,0,a,c\n,1,d,e\n"
    (tmp_path / "x.csv").write_text(lines)
    table = pd.DataFrame([line.split(",") for line in lines.split("\n")[1:-1]])
    table.columns = lines.split("\n")[0].split(",")
    for scores in (be.load(tmp_path / "x.csv", nan="exclude"), be.load(table, nan="exclude")):
        assert scores.values[0] == 0.5
        assert np.isnan(scores.values[1:]).all()
        assert scores.genuine.tolist() == [True, False, True]
    table.loc[1, "template_b"] = ""
    with refused("row 1: template_b has no value"):
        be.load(table, nan="exclude")


# ------------------------------------------------------------------------- what is said of lists


def listed(chance: float) -> pd.DataFrame:
    """Ordered pairs of 30 templates of 15 people, each listed with a chance."""
    rng, people = np.random.default_rng(0), [f"p{k // 2}_{k}" for k in range(30)]
    pairs = [(a, b) for a in people for b in people if a != b and rng.random() < chance]
    first, second = zip(*pairs, strict=True)
    genuine = [a.split("_")[0] == b.split("_")[0] for a, b in pairs]
    scores = rng.normal(size=len(pairs)) - 3 * np.array(genuine)
    names = {"template_a": first, "template_b": second}
    return pd.DataFrame({**names, "genuine": np.int64(genuine), "distance": scores})


def test_a_message_names_the_arguments_of_the_call_that_read_the_list():
    frame = listed(0.97)
    itself = pd.DataFrame(
        {"template_a": ["p0_0"], "template_b": ["p0_0"], "genuine": [1], "distance": [0.0]}
    )
    frame = pd.concat([frame, itself, frame[:2]], ignore_index=True)
    names = frame[["template_a", "template_b"]].to_numpy()
    constructed = be.Scores.from_pairs(
        frame["distance"], frame["genuine"], pair_templates=names, kind="distance"
    )
    for scores, words in (
        (constructed, ("`keep=\"self\"`", "`keep=\"repeated\"`", "`unordered=True`")),
        (
            be.load(frame),
            (
                "`lists={\"keep\": \"self\"}`", "`lists={\"keep\": \"repeated\"}`",
                "`lists={\"unordered\": True}`",
            ),
        ),
    ):  # fmt: skip
        text = " ".join(x.sentence for x in be.messages(be.verification(scores)))
        for word in words:
            assert word in text
        assert ("lists=" in text) == (scores is not constructed)


def test_a_comparison_of_lists_says_how_many_people_there_are():
    frame = listed(0.97)
    for side in ("a", "b"):
        frame[f"subject_{side}"] = frame[f"template_{side}"].str.split("_").str[0]
    other_frame = frame.assign(
        distance=frame["distance"] + np.random.default_rng(1).normal(size=len(frame))
    )
    text = as_text(be.compare(be.load(frame), be.load(other_frame), measures=["eer"]))
    assert f"{len(frame)} pairs of 15 subjects" in text
