"""Matrices as arrays with their labels: what is written is read back, and what is wrong is said."""

from pathlib import Path

import numpy as np
import pytest
from array_files import write
from named_arguments import raises_about, refused

import bioeval as be

DTYPES = ["f2", "f4", ">f8", "u1", "u8", ">i2", "?"]
D = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
WHO, SHORT, WHOLE = np.array([1, 1, 2, 2]), np.array([1, 2, 3]), np.array([1, 2, 3, 4])


def same_scores(a: be.Scores, b: be.Scores) -> None:
    """Two scores have equal values, labels, columns and options."""
    for name in ("layout", "shape", "dtype", "kind", "nan", "exclude", "fingerprint"):
        assert getattr(a, name) == getattr(b, name), name
    np.testing.assert_array_equal(a.values, b.values)
    for name in ("probe_meta", "gallery_meta"):
        assert list(getattr(a, name)) == list(getattr(b, name))
        for key, column in getattr(a, name).items():
            np.testing.assert_array_equal(column, getattr(b, name)[key])
    if a.layout == "pairs":
        np.testing.assert_array_equal(a.genuine, b.genuine)
        np.testing.assert_array_equal(a.pair_folds, b.pair_folds)
        np.testing.assert_array_equal(a.pair_subjects, b.pair_subjects)
        return
    for name in ("probe_labels", "gallery_labels", "mask"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    itself = a.probe_ids[:, None] == a.gallery_ids
    np.testing.assert_array_equal(itself, b.probe_ids[:, None] == b.gallery_ids)


def rectangle(dtype="f8", **options) -> be.Scores:
    values = np.arange(12).reshape(3, 4).astype(dtype)
    options.setdefault("probe_meta", {"camera": [1, 2, 1]})
    options.setdefault("gallery_meta", {"camera": [3, 3, 4, 4], "day": ["a", "b", "a", "b"]})
    return be.Scores(values, ["ann", "bob", "eve"], ["ann", "ann", "bob", "cat"], **options)


def square(**options) -> be.Scores:
    options.setdefault("probe_meta", {"session": [1, 2, 1, 2]})
    return be.Scores(np.arange(16.0).reshape(4, 4), [7, 7, 8, 9], **options)


# ------------------------------------------------------------------------ round trips

SAVED = [
    rectangle(),
    rectangle(kind="similarity", nan="reject"),
    rectangle(mask=[[2, 2, 1, 0], [1, 1, 2, 0], [1, 0, 1, 1]]),
    square(kind="order"),
    square(nan="exclude", exclude=["session"]),
    be.Scores(np.zeros((2, 2)), [1.5, 2.5]),
    be.Scores(np.zeros((2, 2)), [b"x", b"y"]),
    be.Scores(np.zeros((2, 2)), np.array(["a", "b"], dtype=object)),
    be.Scores(np.zeros((2, 2)), np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]")),
    be.Scores(np.ones((2, 3)), mask=[[2, 1, 1], [1, 2, 0]]),
    be.Scores(np.arange(16.0).reshape(4, 4), mask=1 + (np.arange(16).reshape(4, 4) % 3 == 0)),
    be.Scores(np.array([[np.inf, -np.inf], [np.nan, 0.0]]), ["a", "b"], ["a", "b"]),
    be.Scores(np.asfortranarray(np.arange(6.0).reshape(2, 3)), [1, 2], [1, 2, 3]),
    *(rectangle(dtype) for dtype in DTYPES),
    be.Scores.from_pairs([0.1, 0.5, 0.9], [1, 0, 1], kind="similarity", pair_folds=[0, 1, 1]),
    be.Scores.from_pairs([1, 2], [True, False], subjects=[["a", "a"], ["a", "b"]]),
    be.Scores.from_pairs(
        [1, 2], [1, 0], subjects=[["a", "a"], ["a", "b"]], meta={"sex": [["f", "f"], ["f", "m"]]}
    ),
    *(
        square().select(probes=probes, gallery=gallery)
        for probes, gallery in (
            ([3, 0], None), ([0, 1], [1, 2, 3]), ([2, 1], [2, 1]), ([2, 1], [1, 2]),
            ([0, 1], [2, 3]), ([1, 1, 2], [1, 2]),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("scores", SAVED)
def test_npz_keeps_everything(tmp_path, scores):
    be.save(scores, tmp_path / "x.npz")
    back = be.load(tmp_path / "x.npz")
    same_scores(back, scores)
    assert back.name == "x"


@pytest.mark.parametrize(
    ("scores", "name", "message"),
    [
        (rectangle(), "x.doc", "suffix '.doc'; expected one of .npz, .parquet"),
        (rectangle(), "x.npx", "Did you mean '.npz'"),
        (rectangle(), "nowhere/x.npz", "there is no folder .*nowhere; make it first"),
        ("scores", "x.npz", "save was given str; expected Scores"),
        (be.Scores(np.eye(2), [("a", 1), ("b", 2)]), "x.npz", r"Python objects \(tuple\)"),
        (be.Scores(np.eye(2), [1, "a"]), "x.npz", r"Python objects \(int, str\)"),
        (be.Scores(np.eye(2), ["a", " b"]), "x.csv", "CSV would change"),
        (be.Scores(np.eye(1), [1], probe_meta={"labels": [1]}), "x.npz", "rename it"),
    ],
)
def test_what_cannot_be_saved(tmp_path, scores, name, message):
    with refused(message):
        be.save(scores, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_reads_schema_1_of_npz(tmp_path):
    """The layout of 1.0.0; this test stays as it is when there is a schema 2."""
    np.savez(
        tmp_path / "x.npz",
        schema=1,
        scores=np.float32([[1, 2, 3], [4, 5, 6]]),
        probe_labels=["ann", "bob"],
        gallery_labels=["ann", "ann", "bob"],
        kind="similarity",
        nan="reject",
        mask=np.uint8([[2, 0, 1], [1, 1, 2]]),
        probe_camera=[1, 2],
        gallery_camera=[3, 4, 5],
    )
    scores = be.load(tmp_path / "x.npz")
    assert repr(scores) == (
        "<Scores probe-against-gallery, 2 x 3 float32 similarity, 2 subjects, nan='reject'>"
    )
    assert scores.mask.tolist() == [[2, 0, 1], [1, 1, 2]]
    assert scores.gallery_meta["camera"].tolist() == [3, 4, 5]
    named = {"templates": [["a", "b"], ["a", "c"]], "subjects": [[1, 1], [1, 2]]}
    pairs = {"scores": [0.5, 0.25], "genuine": [True, False], "kind": "similarity"}
    np.savez(tmp_path / "n.npz", schema=1, **pairs, **named)
    assert be.load(tmp_path / "n.npz").pair_templates.tolist() == [["a", "b"], ["a", "c"]]
    vectors = {"embeddings": [[0.0, 0.0], [3.0, 4.0]], "labels": ["a", "b"]}
    np.savez(tmp_path / "e.npz", schema=1, **vectors, metric="l2")
    assert be.load(tmp_path / "e.npz").values.tolist() == [[0, 5], [5, 0]]


# ------------------------------------------------------------------------ arrays by name

REID = {
    "matrix": np.arange(6.0).reshape(2, 3), "rows_of": [1, 2], "columns_of": [1, 2, 2],
    "q_cam": [1, 1], "g_cam": [2, 3, 2], "junk": np.zeros((5, 5)), "objects": np.array([{}, {}]),
}  # fmt: skip
NAMED = {"scores": "matrix", "labels": "rows_of", "gallery_labels": "columns_of"}
#: Options of a call beside the columns, the columns, and words of the message.
FOREIGN = [
    ({}, {}, r"no array 'scores'.*\"scores\": .matrix..*embeddings.*\(2, 3\) f"),
    ({}, {"scores": "matrixx"}, "no array 'matrixx'.*Did you mean 'matrix'.*It holds: "),
    ({}, {"scores": "matrix"}, r"no labels.*2 rows and 3 columns.*rows_of"),
    ({}, {"scores": "matrix", "labels": "rows_of"}, "no gallery_labels"),
    ({}, {"scores": "matrix", "labels": "columns_of"}, r"\(3,\); expected \(2,\)"),
    ({}, {"scores": "junk", "labels": "rows_of"}, r"\(2,\); expected \(5,\)"),
    ({}, {"scores": "junk", "embeddings": "junk"}, "both given"),
    ({"labels": "b"}, {"scores": "junk", "labels": "a"}, "b: no such file"),
    ({"metric": "l2"}, NAMED, "`metric` has no meaning for a matrix of scores"),
    ({"lists": {"keep": "self"}}, NAMED, '`lists={"keep": ...}` has no meaning for a matrix'),
    ({}, {"scores": "rows_of"}, "scores without classes"),
    ({}, {"embeddings": "rows_of", "labels": "rows_of"}, "expected one embedding per row"),
    ({}, {**NAMED, "labels": "objects"}, "never unpickles"),
    ({}, {**NAMED, "probe_camera": "g_cam"}, r"'g_cam' have shape \(3,\); expected \(2,\)"),
    ({}, {**NAMED, "probe_camera": "q_camm"}, "no array 'q_camm'.*Did you mean 'q_cam'"),
]


@pytest.mark.parametrize(("options", "columns", "message"), FOREIGN)
def test_what_is_missing_is_told(tmp_path, options, columns, message):
    np.savez(tmp_path / "reid.npz", **REID)
    with refused(message) as error:
        be.load(tmp_path / "reid.npz", columns=columns, **options)
    assert "\n" not in str(error.value)


def test_a_column_of_metadata_is_of_a_side_where_the_sides_differ(tmp_path):
    """Other arrays may be damaged: a pickled array elsewhere in the file does no harm."""
    np.savez(tmp_path / "x.npz", **REID)
    with raises_about(be.DataError, "columns.probe_camera", "columns.gallery_camera"):
        be.load(tmp_path / "x.npz", columns={"camera": "q_cam", **NAMED})
    sides = {"probe_camera": "q_cam", "gallery_camera": "g_cam"}
    loaded = be.load(tmp_path / "x.npz", columns={**sides, **NAMED})
    assert loaded.gallery_meta["camera"].tolist() == [2, 3, 2]


@pytest.mark.parametrize("names", [["country"], ["probe_country", "gallery_country"]])
def test_one_set_of_templates_has_its_metadata_once_or_under_both_names(tmp_path, names):
    meta = dict.fromkeys(names, np.array(["a", "b", "a"]))
    np.savez(tmp_path / "x.npz", scores=np.eye(3), labels=[1, 2, 3], **meta)
    assert be.load(tmp_path / "x.npz").probe_meta["country"].tolist() == ["a", "b", "a"]


SIDES = {"probe_session": SHORT, "gallery_session": WHOLE}


@pytest.mark.parametrize("suffix", [".npz", ".mat", ".h5"])
@pytest.mark.parametrize(
    ("arrays", "wrong"),
    [
        ({"scores": D, "labels": WHO, "session": SHORT}, "session"),
        ({"embeddings": D, "labels": WHO, "session": SHORT}, "session"),
        ({"scores": D, "probe_labels": WHO, "probe_session": SHORT}, "probe_session"),
        ({"scores": D[0], "genuine": [1, 1, 0, 0], **SIDES}, "probe_session"),
    ],
)
def test_a_column_one_value_short_is_an_error(tmp_path, suffix, arrays, wrong):
    path = tmp_path / f"x{suffix}"
    with refused(rf"'{wrong}' have shape .*3.*; expected \(4,\)"):
        be.load(write(path, arrays))
    arrays = {name: WHOLE if len(x) == 3 else x for name, x in arrays.items()}
    assert be.load(write(path, arrays)).probe_meta["session"].tolist() == [1, 2, 3, 4]


def test_arrays_that_are_no_columns_are_named(tmp_path):
    """Of files that options explain, and of sides that a name does not tell apart."""
    path, foreign = tmp_path / "x.npz", {"columns": {"scores": "d", "labels": "y"}}
    sides = {"probe_labels": WHO, "gallery_labels": WHO}
    for arrays, options, left_out in (
        ({"d": D, "y": WHO, "session": SHORT, "camera": WHOLE, "note": "x"}, foreign, ["session"]),
        ({"scores": D, "session": WHOLE, **sides}, {}, ["session"]),
        ({"scores": D[:, 0], "genuine": [1, 1, 0, 0], "session": WHOLE}, {}, ["session"]),
        ({"embeddings": D[:, :3], "labels": WHO, "whitening": np.eye(3)}, {}, ["whitening"]),
        ({"d": D, "y": WHO, "camera": WHOLE}, foreign, None),
    ):
        np.savez(path, **arrays)
        said = be.messages(be.verification(scores := be.load(path, **options)))
        arrays_left_out = [x.arguments["arrays"] for x in said if x.code == "arrays-left-out"]
        assert arrays_left_out == ([left_out] if left_out else [])
        assert ("camera" in arrays) == ("camera" in scores.probe_meta)


def test_options_overrule_the_file_but_not_its_kind(tmp_path):
    be.save(square(kind="similarity"), tmp_path / "x.npz")
    scores = be.load(tmp_path / "x.npz", kind="order", nan="reject")
    assert (scores.kind, scores.nan, scores.reading) == ("order", "reject", ())
    with refused(r"x\.npz: kind.*declares the kind similarity; `kind="):
        be.load(tmp_path / "x.npz", kind="distance")
    with refused("`kind` is 'distanse'.*Did you mean 'distance'"):
        be.load(tmp_path / "x.npz", kind="distanse")


def test_a_kind_that_nothing_declares_is_said(tmp_path):
    """Taken as distances where neither file, name nor option says it, and never in silence."""
    matrix, labels_option = {"scores": D, "labels": WHO}, {"labels": tmp_path / "who.npy"}
    np.save(tmp_path / "x.npy", D)
    np.save(tmp_path / "who.npy", WHO)
    np.savez(tmp_path / "x.npz", **matrix)
    np.savez(tmp_path / "declared.npz", **matrix, kind="distance")
    np.savez(tmp_path / "named.npz", distance=D, labels=WHO)
    np.savez(tmp_path / "pairs.npz", scores=[1.0, 2, 3], genuine=[0, 0, 1])
    said = (
        "taken as distances: the file does not state the kind of its scores. If they are "
        "similarities, all results are wrong: give kind = similarity",
    )
    for name, options, expected in (
        ("x.npy", labels_option, said), ("x.npy", {**labels_option, "kind": "similarity"}, ()),
        ("x.npz", {}, said),
        ("x.npz", {"kind": "distance"}, ()), ("declared.npz", {}, ()), ("pairs.npz", {}, said),
        ("named.npz", {"columns": {"scores": "distance"}}, ()),
    ):  # fmt: skip
        loaded = be.load(tmp_path / name, **options)
        assert loaded.reading == expected, name
        assert be.verification(loaded).attrs.get("reading", "") == "".join(expected)


# ------------------------------------------------------------------------ labels beside a matrix


@pytest.fixture
def matrix(tmp_path) -> Path:
    np.save(tmp_path / "x.npy", np.arange(4.0).reshape(2, 2))
    return tmp_path / "x.npy"


@pytest.mark.parametrize("kind", ["U3", "S3", "i8", "u1"])
def test_labels_in_an_array(kind, tmp_path):
    """Labels as .npy equal the labels of a .npz file, and bytes become text."""
    labels = np.array([7, 7, 12, 12]).astype(kind)
    for name, array in (("who", labels), ("two", labels[:2]), ("m", D), ("wide", D[:, :2])):
        np.save(tmp_path / f"{name}.npy", array)
    np.savez(tmp_path / "m.npz", scores=D[:, :2])
    expected = labels.astype("U3") if kind == "S3" else labels
    loaded = be.load(tmp_path / "m.npy", labels=tmp_path / "who.npy")
    assert loaded.layout == "all-against-all"
    np.testing.assert_array_equal(loaded.probe_labels, expected)
    for name in ("wide.npy", "m.npz"):
        sides = {"labels": tmp_path / "who.npy", "gallery": tmp_path / "two.npy"}
        loaded = be.load(tmp_path / name, **sides)
        np.testing.assert_array_equal(loaded.probe_labels, expected)
        np.testing.assert_array_equal(loaded.gallery_labels, expected[:2])
    with refused(r"two.npy: 2 labels for 4 probes"):
        be.load(tmp_path / "m.npy", labels=tmp_path / "two.npy")
    with refused("who.npy: no column 'cam'"):
        be.load(tmp_path / "m.npy", labels=tmp_path / "who.npy", columns={"camera": "cam"})


@pytest.mark.parametrize(
    ("array", "says"),
    [
        (np.array(list("aabb"), dtype=object), "holds Python objects, a pickle.*save it as text"),
        (np.array(list("aabb"))[:, None], r"has shape \(4, 1\) and dtype <U1; expected labels"),
        (np.array([1.0, 1, 2, 2]), "dtype float64; expected labels, .* text or whole numbers"),
        (np.array([b"\xff"] * 4), "truncated or damaged .*expected a .npy array of labels"),
    ],
)
def test_bad_labels_in_an_array(array, says, tmp_path, matrix):
    np.save(tmp_path / "who.npy", array)
    with refused(says):
        be.load(matrix, labels=tmp_path / "who.npy")


def test_names_of_images_in_an_array_of_labels(tmp_path, matrix):
    np.save(tmp_path / "who.npy", ["0002_c1s1_000451_03.jpg", "0007_c3s2_000001_01.jpg"])
    loaded = be.load(matrix, labels=tmp_path / "who.npy", names_of="market1501")
    assert loaded.probe_labels.tolist() == [2, 7]
    assert loaded.probe_meta["camera"].tolist() == [1, 3]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("label\n007\nNA\n", ["007", "NA"]),
        ("\ufefflabel\n1\n2\n", ["1", "2"]),
        ("ann\nbob\n", ["ann", "bob"]),
        ("id\r\n1e5\r\nnan\r\n\r\n", ["1e5", "nan"]),
        ("camera,Subject\n1, ann \n2,bob\n", ["ann", "bob"]),
        ("camera;subject\n1;ann\n2;bob\n", ["ann", "bob"]),
        ("camera\tpid\n1\tann\n2\tbob\n", ["ann", "bob"]),
        ('label,note\n"Mann, Ann","a\nb"\nbob,x\n', ["Mann, Ann", "bob"]),
        ("id,label\n1,ann\n2,bob\n", ["ann", "bob"]),
        (",subject\n0,ann\n1,bob\n", ["ann", "bob"]),  # the index of pandas says nothing
    ],
)
def test_csv_labels(matrix, text, labels):
    (matrix.parent / "x.labels.csv").write_bytes(text.encode())
    np.savez(matrix.parent / "x.npz", scores=np.load(matrix))
    for scores in (
        be.load(matrix),
        be.load(matrix.parent / "x.npz", labels=matrix.parent / "x.labels.csv"),
    ):
        assert scores.layout == "all-against-all"
        assert scores.probe_labels.tolist() == labels
        assert scores.probe_labels.dtype.kind == "U"
        camera = ["1", "2"] if "camera" in text else None
        assert (camera is None) == ("camera" not in scores.probe_meta)
        assert camera is None or scores.probe_meta["camera"].tolist() == camera
        assert "" not in scores.probe_meta


def test_csv_metadata_can_be_renamed_or_left_out(matrix):
    (matrix.parent / "x.probe.csv").write_text("label,cam\na,1\nb,2\n")
    (matrix.parent / "x.gallery.csv").write_text("label,cam\na,1\nb,2\n")
    scores = be.load(matrix, columns={"camera": "cam"})
    assert list(scores.probe_meta) == list(scores.gallery_meta) == ["camera"]
    assert not be.load(matrix, columns={"cam": None}).probe_meta
    with refused("no column 'camm'.*Did you mean 'cam'"):
        be.load(matrix, columns={"camera": "camm"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"label,camera\na\nb,2\n", "x.labels.csv: line 2: 1 cell; expected 2"),
        (b"label,label\na,b\n", "line 1: two columns are called 'label'"),
        (b"label,\na,b\n", "line 1: column 2 has no name"),
        (b"who,camera\na,1\nb,2\n", "no column of labels.*'who', 'camera'.*'subject'"),
        (b"label\n", "no rows"),
        (b"\n\n", "blank lines"),
        (b"label\na\nb\nc\n", "3 labels for 2 probes"),
        (b"name\nann\nbob\n", "its first line, 'name', was read as a label"),
        (b"label\n\xff\xfe\n", "line 2: the byte 0xff is not UTF-8"),
        ("label\na\nb\n".encode("utf-16"), "UTF-16.*UTF-8"),
        (b'label\n"a\nb\n', "line 3: .*expected CSV"),
        (b"", "is empty"),
        (b"PK\x03\x04 a zip", "is a zip file; expected text in UTF-8"),
    ],
)
def test_bad_csv(matrix, text, message):
    (matrix.parent / "x.labels.csv").write_bytes(text)
    with refused(f"(?i){message}"):
        be.load(matrix)


def test_labels_that_are_not_there(matrix):
    with refused(r"x.labels.csv beside it, or x.probe.csv and x.gallery"):
        be.load(matrix)
    (matrix.parent / "x.probe.csv").write_text("label\na\nb\n")
    with refused("there is x.probe.csv"):
        be.load(matrix)
    (matrix.parent / "x.labels.csv").write_text("label\na\nb\n")
    with refused("there is x.labels.csv and x.probe.csv"):
        be.load(matrix)
    assert be.load(matrix, labels=matrix.parent / "x.labels.csv").shape == (2, 2)
    with refused("`labels` is missing"):
        be.load(matrix, gallery=matrix.parent / "x.probe.csv")
    with refused("nowhere.csv: no such file"):
        be.load(matrix, labels=matrix.parent / "nowhere.csv")


def test_files_that_are_not_there(tmp_path):
    (tmp_path / "scores.npz").write_bytes(b"")
    for path, message in (
        ("scors.npz", r"scors.npz: no such file. Did you mean 'scores.npz'\?"),
        ("nowhere/scores.npz", "there is no folder"),
        ("", "is a folder; expected a file$"),
        ("scores.npz/x.npz", "scores.npz is a file, not a folder"),
    ):
        with refused(message):
            be.load(tmp_path / path)
    with refused("scores.npz is a file, not a folder"):
        be.save(square(), tmp_path / "scores.npz" / "b" / "x.npz")
    with raises_about(be.DataError, "path") as caught:
        be.load([])
    assert "has 0 files" in str(caught.value)


# ------------------------------------------------------------------------ labels by name

NAMES = [f"t{i}" for i in range(8)]


def labels_of(folder, names, column="template"):
    rows = [f"{name},{i // 2},{'fm'[i // 2 % 2]}" for i, name in enumerate(names)]
    path = folder / "labels.csv"
    path.write_text("\n".join([f"{column},label,sex", *rows]) + "\n")
    return path


def test_labels_whose_rows_name_templates_are_those_of_the_scores(tmp_path, capsys):
    arrays = {"scores": np.ones((8, 8)), "probe_labels": np.repeat(np.arange(4), 2)}
    named, unnamed = tmp_path / "named.npz", tmp_path / "unnamed.npz"
    np.savez(named, probe_template=NAMES, kind="distance", **arrays)
    np.savez(unnamed, kind="distance", **arrays)
    scores = be.load(named, labels=labels_of(tmp_path, NAMES))
    assert scores.probe_meta["sex"].tolist() == list("ffmmffmm")
    assert scores.probe_meta["template"].tolist() == NAMES
    assert be.load(unnamed, labels=labels_of(tmp_path, NAMES[::-1])).shape == (8, 8)
    with refused("'note' holds the same texts as the names of the templates"):
        be.load(named, labels=labels_of(tmp_path, NAMES[::-1], "note"))
    with refused("no value of the template 't7'"):
        be.load(named, labels=labels_of(tmp_path, [*NAMES[:7], "x"]))
    turned = labels_of(tmp_path, [*NAMES[:2], *NAMES[:1:-1]])
    joined = be.load(named, labels=turned)
    assert joined.probe_meta["sex"].tolist() == list("ffffmmmm")[:2] + list("ffmmffmm")[:1:-1]


# ------------------------------------------------------------------------- both sides of pairs

PAIRS = {"scores": [0.1, 0.2, 0.9, 0.8], "genuine": [1, 1, 0, 0]}
ENROLLED, PROBES = ["ann", "bob", "ann", "bob"], ["ann", "bob", "bob", "cem"]


@pytest.mark.parametrize(
    ("names", "columns"),
    [
        (("subject_a", "subject_b"), {}),
        (("claimed_id", "real_id"), {}),
        (("x", "y"), {"subject_a": "x", "subject_b": "y"}),
        (("test", "subject_b"), {"subject_a": "test"}),
    ],
)
def test_subjects_of_pairs_by_name(tmp_path, names, columns):
    sides = dict(zip(names, (ENROLLED, PROBES), strict=True))
    light = [["day", "day"], ["day", "night"], ["day", "night"], ["day", "day"]]
    np.savez(tmp_path / "x.npz", **PAIRS, **sides, light=light, site=[1, 1, 2, 2])
    options = {"columns": {**columns, "place": "site"}}
    pairs = be.load(tmp_path / "x.npz", kind="distance", **options)
    assert pairs.pair_subjects.tolist() == [*map(list, zip(ENROLLED, PROBES, strict=True))]
    assert pairs.gallery_meta["light"].tolist() == [a for a, _ in light]
    assert pairs.probe_meta["light"].tolist() == [b for _, b in light]
    assert (
        pairs.probe_meta["place"].tolist() == pairs.gallery_meta["place"].tolist() == [1, 1, 2, 2]
    )


def test_templates_of_pairs_by_name(tmp_path):
    sides = {"template_1": ["a", "b", "a", "a"], "template_2": ["a", "c", "d", "c"]}
    np.savez(tmp_path / "x.npz", **PAIRS, **sides)
    pairs = be.load(tmp_path / "x.npz", kind="distance")
    assert pairs.values.tolist() == PAIRS["scores"][1:]  # a with itself is no attempt
    assert pairs.pair_templates.tolist() == [["b", "c"], ["a", "d"], ["a", "c"]]


def test_two_values_for_each_template_are_left_out_and_said(tmp_path):
    np.savez(tmp_path / "x.npz", scores=D, labels=list("aabb"), place=np.ones((4, 2)))
    loaded = be.load(tmp_path / "x.npz", kind="distance")
    assert [remark.arguments["arrays"] for remark in loaded.remarks] == [["place"]]


TEXTS = np.array(["a", "b", "b", "c"], dtype=object)  # as pandas has texts
GALLERY = {"scores": D, "probe_labels": WHO, "gallery_labels": WHOLE, "age": WHOLE}
PLACES = {**PAIRS, "template_names": ["b", "c", "a"], "templates": [[2, 0], [3, 1], [0, 1], [1, 2]]}
#: Arrays, the columns of a call, and words of the message.
WRONG = [
    (PLACES, {}, "places in 'template_names', 0 to 2"),
    ({**PLACES, "template_names": list("bccd")}, {}, "'template_names' has a name twice"),
    ({**PAIRS, "subject_a": ENROLLED}, {}, "'subject_a' has the subjects of one side"),
    ({**PAIRS, "subject_a": ENROLLED, "subject_b": PROBES[:3]}, {},
     r"'subject_b' have shape \(3,\); expected \(4,\)"),
    ({**GALLERY, "gallery_age": WHOLE}, {"years": "age"},
     r"no array 'probe_age'; `columns=\{\"years\": ...\}`"),
    ({"scores": D, "labels": WHO, "gallery_camera": WHO}, {},
     "gallery metadata, 'gallery_camera', but no gallery_la"),
    ({"scores": D, "labels": WHO, "camera": TEXTS}, {},
     "'camera' is of dtype object, a Python pickle, .* never unpickles; save it as"),
    *(({"scores": D, "labels": WHO, "schema": x}, {}, f"of schema {x}; .* reads schema 1")
      for x in (0, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("arrays", "columns", "message"), WRONG)
def test_arrays_that_contradict_are_refused(tmp_path, arrays, columns, message):
    np.savez(tmp_path / "x.npz", **arrays)
    with refused(message):
        be.load(tmp_path / "x.npz", columns=columns)
    if "camera" in arrays:
        assert not be.load(tmp_path / "x.npz", columns={"camera": None}).probe_meta


@pytest.mark.parametrize("scores", [{"scores": D, "labels": WHO}, PAIRS])
def test_metadata_that_are_not_to_be_read_are_left_out(tmp_path, scores):
    meta = {"probe_day": WHO, "gallery_day": WHO, "place": WHO if "labels" in scores else D[:, :2]}
    np.savez(tmp_path / "x.npz", **scores, **meta)
    assert {*be.load(tmp_path / "x.npz").probe_meta} == {"day", "place"}
    for names, left in ((["place"], {"day"}), (["probe_day", "gallery_day"], {"place"})):
        loaded = be.load(tmp_path / "x.npz", columns=dict.fromkeys(names))
        assert {*loaded.probe_meta} == left


@pytest.mark.parametrize("form", ["{}.0", "0.{}_0"])
def test_names_of_rows_may_be_numbers(tmp_path, form):
    names = [form.format(i) for i in range(6)]
    lines = [",".join(["label", *names])]
    lines += [",".join([name, *["0.5"] * 6]) for name in names]
    (tmp_path / "x.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "t.csv").write_text("template,subject\n" + "".join(f"{x},s{x}\n" for x in names))
    scores = be.load(tmp_path / "x.csv", labels=tmp_path / "t.csv", kind="distance")
    assert scores.layout == "all-against-all"
    assert scores.probe_labels.tolist() == [f"s{x}" for x in names]
