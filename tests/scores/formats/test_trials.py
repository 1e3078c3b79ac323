"""Lists of trials of a protocol, which say what was compared: Kaldi's, VoxCeleb's, LFW's, IJB's."""

import random

import numpy as np
import pytest
import scipy.io
from named_arguments import raises_about, refused
from result_messages import arguments

import bioeval as be
from bioeval.cli import main

SCORES = "b d -1e3\na c 0.5\nb c 2\n"


def put(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


def load(folder, text, trials, **options):
    options = {"kind": "distance", "trials": put(folder, "trials", trials)} | options
    return be.load(put(folder, "x.txt", text), **options)


# ------------------------------------------------------------------------- joined by names


MOST = "a c target\nb c nontarget\nx y target\nz y target\n"
ONCE = "a c target\nb c nontarget\n"


@pytest.mark.parametrize("unordered", [False, True])
@pytest.mark.parametrize(
    ("text", "trials", "message"),
    [
        (SCORES, MOST, "1 of 3 lines: each has no trial; .* on line 1; to leave"),
        (SCORES[9:], MOST, "2 of 4 lines: each has no score; the first on line 3, 4"),
        ("F1 0.5\nF1 0.5\n", "F1 target\nF2 nontarget\n", "each is listed before; .* line 2"),
        (SCORES, "q r target\n", "has none of the names that x.txt scores, such as 'b'"),
        ("b c 2\na c 1\nb c 3\n", ONCE, "'b' and 'c' .lines 1 and 3: 2.0 and 3.0"),
        ("b c 2\na c 1\n", ONCE + "\na c nontarget\n", "1 of 3 lines: .* another class.*line 4"),
        ("b c 2\na c 1\n", ONCE + "b c nontarget\n\nx y target\n", "1 of 4 lines: .* on line 5"),
        ("0.5\n2\n", "1 11 1\n1 12 0\n2 11 0\n", "x.txt: has 2 scores, and trials lists 3 trials"),
        ("0.5\n", "a b\n", "lists genuine pairs alone, and x.txt has no names"),
        (SCORES, "a c 0.5\na c 0.5\n", "trials: line 1: genuine is '0.5'; expected one of 1"),
        (SCORES, "a b target nontarget\n" * 2, "a list of trials of 4 columns is .*trec"),
        ("genuine score\n1 0.5\n", ONCE, "genuine marks genuine pairs; leave out"),
        ("model probe genuine score\na b 1 0.5\n", "a b target\n", "leave out `trials`"),
        ("model probe score\na b 0.5\n", "1\nann 1 2\nann 1 bob 1\n", "has none of the names"),
    ],
)  # fmt: skip
def test_scores_and_trials_that_do_not_fit(tmp_path, text, trials, message, unordered):
    forms = {"1\n": "lfw", "F": "asvspoof", "a b\n": "pyeer"}
    form = next((forms[x] for x in forms if trials.startswith(x)), "kaldi")
    with refused(message):
        load(tmp_path, text, trials, format=form, lists={"unordered": unordered})


def test_trials_whose_form_is_not_known(tmp_path):
    with refused("trials: line 1: 'a c 1' names no columns, .*trials of 3 columns is .*voxceleb"):
        load(
            tmp_path,
            "name,other,score\na,c,1\n",
            "a c 1\n",
            columns={"template_a": "name", "template_b": "other"},
        )
    loaded = load(
        tmp_path, SCORES, "x 1 a c\ny 0 b c\nz 0 b d\n", format="kaldi", columns={"genuine": 2}
    )
    assert loaded.genuine.tolist() == [False, True, False]


def test_lines_that_are_left_out_or_listed_again_are_said(tmp_path):
    skip = {"missing_pairs": "skip"}
    loaded = load(tmp_path, SCORES, MOST, lists=skip, format="kaldi")
    assert loaded.values.tolist() == [0.5, 2.0]
    notes = [
        x.arguments for x in be.messages(be.verification(loaded)) if x.code == "lines-left-out"
    ]
    assert notes == [
        {"lines": 1, "file": "x.txt", "have": "no trial"},
        {"lines": 2, "file": "trials", "have": "no score"},
    ]
    loaded = load(tmp_path, "b c 2\na c 1\nb c 2\n", ONCE + "a c target\n", format="kaldi")
    assert (loaded.values.tolist(), loaded.genuine.tolist()) == ([2, 1], [False, True])
    assert [x.code for x in loaded.remarks] == ["repeated-pairs"] * 2


def test_scores_in_the_order_of_the_trials(tmp_path):
    """Names of templates may be numbers, as in IJB."""
    for text in ("0.5\n-1e3\n2\n", "1 11 0.5\n1 12 -1e3\n2 11 2.0\n"):
        loaded = load(tmp_path, text, "1 11 1\n1 12 0\n2 11 0\n", format="kaldi")
        assert loaded.values.tolist() == [0.5, -1e3, 2.0]
        assert loaded.genuine.tolist() == [True, False, False]


# ------------------------------------------------------------------------- in either order

NAMES = [f"id{i // 3}/{i:02d}.wav" for i in range(12)]
PAIRS = [(a, b) for i, a in enumerate(NAMES) for b in NAMES[i + 1 :]]


def same(a, b):
    return a.split("/")[0] == b.split("/")[0]


def write(path, lines):
    return put(path.parent, path.name, "".join(f"{line}\n" for line in lines))


def scored(path, pairs=PAIRS):
    return write(path, (f"{a} {b} {i / 8}" for i, (a, b) in enumerate(pairs)))


def marked(pairs):
    return [f"{a} {b} {int(same(a, b))}" for a, b in pairs]


def turned(pairs, which):
    return [(b, a) if which(i) else (a, b) for i, (a, b) in enumerate(pairs)]


ORDERS = {
    "as scored": lambda i: False,
    "turned": lambda i: True,
    "a third turned": lambda i: i % 3 == 0,
    "half turned": lambda i: i % 2,
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("unordered", [False, True])
@pytest.mark.parametrize("marks", ["kaldi", "voxceleb", "pyeer", "commas", "columns"])
def test_each_score_has_the_class_of_its_names(tmp_path, order, unordered, marks):
    pairs = turned(PAIRS, ORDERS[order])
    random.Random(1).shuffle(pairs)
    genuine = [(a, b) for a, b in pairs if same(a, b)]
    if marks == "kaldi":
        lines = [f"{a} {b} {'target' if same(a, b) else 'nontarget'}" for a, b in pairs]
    elif marks == "voxceleb":
        lines = [f"{int(same(a, b))} {a} {b}" for a, b in pairs]
    elif marks in ("commas", "columns"):
        lines = ["enrol,test,label"] * (marks == "columns")
        lines += [f"{a},{b},{int(same(a, b))}" for a, b in pairs]
    else:
        lines = [f"{b} {a}" for a, b in genuine]  # the probe is first
    trials, scores = write(tmp_path / "trials", lines), tmp_path / "a.scores"
    scored(scores, [(b, a) for a, b in PAIRS] if marks == "pyeer" else PAIRS)
    options = {"lists": {"unordered": unordered}}
    options["format"] = marks if marks in ("voxceleb", "pyeer") else "kaldi"
    read = be.load(scores, trials=trials, kind="similarity", **options)
    assert read.genuine.tolist() == [same(a, b) for a, b in PAIRS]
    assert read.values.tolist() == [i / 8 for i in range(len(PAIRS))]
    if order.startswith(("a third", "half")) and not unordered:
        return  # the order of either file may be meant
    # The first name of a trial is enrolled, whatever the order in the file of scores. Impostor
    # pairs that are not listed have the order of most of the others.
    expected = {frozenset(pair): list(pair) for pair in pairs}
    if marks == "pyeer":
        is_mostly_turned = 2 * sum(pair not in PAIRS for pair in genuine) > len(genuine)
        expected |= {
            frozenset(x): [*x[:: -1 if is_mostly_turned else 1]] for x in PAIRS if not same(*x)
        }
    assert read.pair_templates.tolist() == [expected[frozenset(pair)] for pair in PAIRS]


@pytest.mark.parametrize(
    ("head", "enrolled"),
    [("", 0), ("enrol test target", 0), ("template_a template_b target", 0),
     ("gallery probe target", 0), ("probe gallery target", 1)],
)  # fmt: skip
@pytest.mark.parametrize("unordered", [False, True])
def test_the_trials_decide_who_is_enrolled(tmp_path, head, enrolled, unordered):
    """By the names of their columns, or the first: not by the scores, whose order is any."""
    trials = write(tmp_path / "trials", [head] * bool(head) + marked(PAIRS))
    expected = [[pair[enrolled], pair[1 - enrolled]] for pair in PAIRS]
    options = {"trials": trials, "kind": "similarity", "format": "kaldi"}
    for order in [*ORDERS.values()][: 3 if unordered else 2]:
        path = scored(tmp_path / "x.scores", turned(PAIRS, order))
        lists = {"unordered": unordered}
        read = be.load(path, subject_from=r"(id\d+)/", lists=lists, **options)
        assert read.pair_templates.tolist() == expected
        assert read.pair_subjects.tolist() == [[x.split("/")[0] for x in y] for y in expected]
        by_table = be.load(path, labels=speakers(tmp_path), lists=lists, **options)
        gender_of = {x: "fm"[i % 2] for i, x in enumerate(NAMES)}
        assert by_table.gallery_meta["gender"].tolist() == [gender_of[x] for x, _ in expected]
        assert by_table.probe_meta["gender"].tolist() == [gender_of[x] for _, x in expected]
        lists |= {"as": "matrix"}
        matrix = be.load(path, subject_from=r"(id\d+)/", lists=lists, **options)
        rows = matrix.probe_meta["template"].tolist()
        columns = matrix.gallery_meta["template"].tolist()
        for i, (enrolled_name, probe_name) in enumerate(expected):
            assert matrix.values[rows.index(probe_name), columns.index(enrolled_name)] == i / 8


def speakers(folder):
    rows = [f"{x.split('/')[0]},{x},{'fm'[i % 2]}" for i, x in enumerate(NAMES)]
    return write(folder / "speakers.csv", ["subject,template,gender", *rows])


def test_both_orders_in_the_scores_are_one_trial(tmp_path):
    both_orders = [*PAIRS, *((b, a) for a, b in PAIRS)]
    path = write(tmp_path / "a.scores", (f"{a} {b} {len(a + b) / 8}" for a, b in both_orders))
    trials = write(tmp_path / "trials", marked(PAIRS))
    options = {"lists": {"unordered": True}, "format": "kaldi"}
    read = be.load(path, trials=trials, kind="similarity", **options)
    assert len(read.values) == len(PAIRS)
    assert read.genuine.tolist() == [same(a, b) for a, b in PAIRS]


def test_a_failed_comparison_is_named_by_its_line(tmp_path):
    lines = [f"{int(same(a, b))} {a} {b} {i / 8}" for i, (a, b) in enumerate(PAIRS)]
    for i in (4, 7):
        lines[i] = lines[i].rpartition(" ")[0] + " nan"
    lines.insert(2, lines[0])  # listed again
    lines.insert(1, "")
    path = write(tmp_path / "x.txt", lines)
    read = be.load(path, kind="similarity", format="voxceleb")
    for scores, message in (
        (read, "hold 2 NaN, the first on line 7 of x.txt; choose how"),
        (read.with_values(read.values * 2, "similarity"), "the first on line 7 of x.txt; choose"),
        (read.select([7, 0, 12]), "hold 1 NaN, the first at position 0"),
    ):
        with refused(message):
            be.verification(scores)
    excluded = be.load(path, kind="similarity", nan="exclude", format="voxceleb")
    assert be.verification(excluded).impostor_attempts


# ------------------------------------------------------------------------- LFW

LFW = "2 1\nann 1 2\nann 1 bob 2\n\ncem\t2\t3\ncem 1 dan 1\n"
LFW_PAIRS = [["ann 1", "ann 2"], ["ann 1", "bob 2"], ["cem 2", "cem 3"], ["cem 1", "dan 1"]]
FOUR = [0.9, 0.1, 0.8, 0.2]
SUBJECTS = ["ann", "ann", "bob", "bob", "cem", "cem", "cem", "dan"]
NUMBERS = [1, 2, 1, 2, 1, 2, 3, 1]
X = np.arange(16.0).reshape(8, 2) ** 2


@pytest.fixture
def folder(tmp_path):
    put(tmp_path, "pairs.txt", LFW)
    np.savez(tmp_path / "x.npz", embeddings=X, labels=SUBJECTS, image_number=NUMBERS)
    distances = np.linalg.norm(X[:, None] - X, axis=-1)
    np.savez(tmp_path / "d.npz", scores=distances, labels=SUBJECTS, number=NUMBERS)
    return tmp_path


@pytest.mark.parametrize("name", ["x.npy", "s.npz", "x.txt", "x.csv", "x.mat"])
def test_scores_in_the_order_of_lfw(folder, name, capsys):
    pairs, place = folder / "pairs.txt", folder / name
    options = {"kind": "similarity", "format": "lfw"}
    if name == "x.npy":
        np.save(place, FOUR)
    elif name == "s.npz":
        np.savez(place, scores=FOUR)
    elif name == "x.mat":
        scipy.io.savemat(place, {"scores": FOUR})
    else:
        head = "similarity\n" if name == "x.csv" else ""
        put(folder, name, head + "".join(f"{x}\n" for x in FOUR))
    loaded = be.load(place, trials=pairs, **options)
    assert loaded.values.tolist() == FOUR and loaded.genuine.tolist() == [True, False, True, False]
    assert loaded.pair_folds.astype(str).tolist() == ["0", "0", "1", "1"]
    assert loaded.pair_templates.tolist() == LFW_PAIRS
    assert loaded.pair_subjects.tolist()[1] == ["ann", "bob"]
    said = "scores in the order of the 4 pairs of pairs.txt, in 2 folds"
    assert said in loaded.reading
    assert main(["run", str(place), str(pairs), "--kind", "similarity", "--format", "lfw"]) == 0
    assert said in " ".join(capsys.readouterr().out.split())
    one_fold = put(folder, "one.txt", "2\nann 1 2\ncem 1 2\nann 1 bob 2\nann 1 cem 2\n")
    assert be.load(place, trials=one_fold, **options).pair_folds.astype(int).tolist() == [0] * 4
    with refused(f"{name}: has 4 scores, and pairs.txt lists 2 pairs"):
        be.load(place, trials=put(folder, "pairs.txt", "1\nann 1 2\nann 1 bob 1\n"), **options)


def test_pairs_of_embeddings_and_of_a_matrix(folder):
    expected = [np.linalg.norm(X[a] - X[b]) for a, b in ((0, 1), (0, 3), (5, 6), (4, 7))]
    columns = {"scores": "scores", "labels": "labels", "image_number": "number"}
    by_function = {"metric": lambda a, b: np.linalg.norm(a[:, None] - b, axis=-1)}
    for name, options in (
        ("x.npz", {"metric": "l2"}),
        ("x.npz", by_function | {"kind": "distance"}),
        ("d.npz", {"columns": columns}),
    ):
        pairs = be.load(folder / name, trials=folder / "pairs.txt", format="lfw", **options)
        assert ("-dimensional float" in pairs.origin) == (name == "x.npz")
        np.testing.assert_allclose(pairs.values, expected)
        assert pairs.genuine.tolist() == [True, False, True, False]
        assert pairs.pair_folds.tolist() == [0, 0, 1, 1]
        assert pairs.pair_subjects.tolist()[1] == ["ann", "bob"]


def test_missing_images(folder):
    more_pairs = put(folder, "more.txt", LFW.replace("bob 2", "bob 7"))
    skip = {"missing_pairs": "skip"}
    with refused(r"line 3: the template 'bob 7' is not .* 1 of 4 pairs .*missing_pairs"):
        be.load(folder / "x.npz", trials=more_pairs, format="lfw")
    pairs = be.load(folder / "x.npz", trials=more_pairs, format="lfw", lists=skip)
    assert (len(pairs.values), pairs.pairs.missing) == (3, 1)
    left_out = arguments(be.verification(pairs), "listed-pairs-missing")
    assert left_out == {"pairs": 1, "listed": 4}
    with refused("of 2 of 2 pairs"):
        none = put(folder, "none.txt", "1\neve 1 2\neve 1 fay 1\n")
        be.load(folder / "x.npz", trials=none, lists=skip, format="lfw")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "the first line is ''; expected the number of folds"),
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
def test_bad_lists_of_lfw(folder, text, message):
    with refused(f"bad.txt: .*{message}"):
        be.load(folder / "x.npz", trials=put(folder, "bad.txt", text), format="lfw")


def test_what_does_not_go_with_a_list_of_lfw(folder):
    options, matrix_of_ones = {"trials": folder / "pairs.txt", "format": "lfw"}, np.ones((2, 2))
    with raises_about(be.DataError, "columns.image_number"):
        be.load(folder / "d.npz", **options)
    with raises_about(be.DataError, "lists.missing_pairs"):
        be.load(folder / "x.npz", lists={"missing_pairs": "drop"}, **options)
    with raises_about(be.DataError, "lists.missing_pairs"):
        be.load(folder / "x.npz", lists={"missing_pairs": "skip"})
    sides = {"gallery_embeddings": matrix_of_ones, "gallery_labels": ["a", "b"]}
    np.savez(folder / "g.npz", embeddings=matrix_of_ones, labels=["a", "b"], **sides)
    np.savez(folder / "t.npz", embeddings=matrix_of_ones, labels=["a", "a"], image_number=[1, 1])
    be.save(be.Scores.from_pairs([0.1, 0.2], [0, 1]), folder / "p.npz")
    for name, message in (
        ("g.npz", "has a separate gallery"),
        ("t.npz", "several templates have the name 'a 1'"),
        ("p.npz", "no meaning for a list of pairs"),
    ):
        with refused(message):
            be.load(folder / name, **options)


# ------------------------------------------------------------------------- averages

IMAGES = [(7, 1), (7, 1), (3, 3), (7, 2), (9, 4), (9, 5)]  # template, medium


def test_subjects_of_the_table_of_ijb(tmp_path):
    """A header as IJB-C's tables have it, with the subject; genuine follows from it."""
    features = np.random.default_rng(3).normal(size=(6, 4)).astype(np.float32)
    np.save(tmp_path / "features.npy", features)
    subject_of = {7: 1, 3: 2, 9: 1}
    lines = [f"{t},{subject_of[t]},img/{i}.jpg,{m}" for i, (t, m) in enumerate(IMAGES)]
    head = "TEMPLATE_ID,SUBJECT_ID,FILENAME,MEDIA_ID"
    table = write(tmp_path / "enroll_templates.csv", [head, *lines])
    options = {"labels": table, "average": ["TEMPLATE_ID", "MEDIA_ID"]}
    trials = put(tmp_path, "t", "9 7\n3 7\n")
    loaded = be.load(tmp_path / "features.npy", trials=trials, format="pyeer", **options)
    features = features.astype(float)
    seven = ((features[0] + features[1]) / 2 + features[3]) / 2
    expected = [
        1 - x @ seven / np.linalg.norm(x) / np.linalg.norm(seven)
        for x in ((features[4] + features[5]) / 2, features[2])
    ]
    np.testing.assert_allclose(loaded.values, expected, rtol=1e-12)
    assert loaded.genuine.tolist() == [True, False]
    assert loaded.pair_subjects.tolist() == [["1", "1"], ["1", "2"]]
    averaged = be.load(tmp_path / "features.npy", **options)
    assert averaged.probe_labels.tolist() == ["1", "2", "1"]
    np.testing.assert_allclose(averaged.values[0, [2, 1]], loaded.values, rtol=1e-12)


def test_trials_of_two_templates_of_no_person_are_left_out(tmp_path):
    """They are no attempts, also where the list says that they are impostors."""
    names, subjects = ["p", "q", "r", "s"], ["", "", "7", "7"]
    features = np.random.default_rng(5).normal(size=(4, 3))
    np.save(tmp_path / "x.npy", features)
    np.savez(tmp_path / "x.npz", embeddings=features, labels=subjects, name=names)
    rows = [f"{x},{y},{i}" for i, (x, y) in enumerate(zip(names, subjects, strict=True))]
    table = write(tmp_path / "t.csv", ["name,subject_id,media", *rows])
    pairs = ["template_a,template_b,genuine", "p,q,0", "r,s,1", "p,r,0", "s,q,0"]
    trials = write(tmp_path / "pairs.csv", pairs)
    for name, options in (("x.npy", {"labels": table, "metric": "cosine"}), ("x.npz", {})):
        loaded = be.load(tmp_path / name, trials=trials, **options)
        assert loaded.genuine.tolist() == [True, False, False]
        assert loaded.pair_subjects.tolist() == [["7", "7"], ["", "7"], ["7", ""]]
        left_out = arguments(be.verification(loaded), "pairs-of-no-person")
        assert left_out == {"pairs": 1}, name


def test_labels_decide_the_classes_of_trials_without_one(tmp_path):
    """Nobody is an impostor of a person; two templates of nobody are no attempt."""
    names, labels = ["p", "q", "r", "s", "t"], [1, 1, 2, -1, -1]
    rows = ["p,q", "r,p", "s,p", "q,s", "s,t"]
    trials = write(tmp_path / "pairs.csv", ["template_a,template_b", *rows])
    for values in ({"embeddings": np.eye(5) + 1}, {"scores": np.ones((5, 5))}):
        np.savez(tmp_path / "x.npz", labels=labels, name=names, **values)
        genuine = be.load(tmp_path / "x.npz", trials=trials).genuine.tolist()
        assert genuine == [True, False, False, False]
