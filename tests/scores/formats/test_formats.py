"""Files: what is written is read back as it was, and a bad file gives one clear error."""

import io
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from named_arguments import raises_about

import bioeval as be

DTYPES = ["f2", "f4", "f8", ">f8", "i1", "u1", "i4", "u8", ">i2", "?"]


def same_scores(a: be.Scores, b: be.Scores) -> None:
    """All that a reader can see of two scores is equal."""
    assert type(a) is type(b)
    assert (a.layout, a.shape, a.dtype, a.kind, a.nan) == (
        b.layout,
        b.shape,
        b.dtype,
        b.kind,
        b.nan,
    )
    np.testing.assert_array_equal(a.values, b.values)
    if a.layout == "pairs":
        np.testing.assert_array_equal(a.genuine, b.genuine)
        return
    assert a._labelled == b._labelled
    for name in ("probe_labels", "gallery_labels"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    for name in ("probe_meta", "gallery_meta"):
        assert list(getattr(a, name)) == list(getattr(b, name))
        for key, column in getattr(a, name).items():
            np.testing.assert_array_equal(column, getattr(b, name)[key])
    assert (a.mask is None) == (b.mask is None)
    if a.mask is not None:
        np.testing.assert_array_equal(a.mask, b.mask)
    itself = a.probe_ids[:, None] == a.gallery_ids
    np.testing.assert_array_equal(itself, b.probe_ids[:, None] == b.gallery_ids)


def rectangle(dtype="f8", **options) -> be.Scores:
    values = np.arange(12).reshape(3, 4).astype(dtype)
    options.setdefault("probe_meta", {"camera": [1, 2, 1]})
    options.setdefault("gallery_meta", {"camera": [3, 3, 4, 4], "day": ["a", "b", "a", "b"]})
    return be.Scores(values, ["ann", "bob", "eve"], ["ann", "ann", "bob", "cat"], **options)


def square(dtype="f8", **options) -> be.Scores:
    values = np.arange(16).reshape(4, 4).astype(dtype)
    options.setdefault("probe_meta", {"session": [1, 2, 1, 2]})
    return be.Scores(values, [7, 7, 8, 9], **options)


# ------------------------------------------------------------------------ round trips


@pytest.mark.parametrize(
    "scores",
    [
        rectangle(),
        rectangle(kind="similarity", nan="reject"),
        rectangle(mask=[[2, 2, 1, 0], [1, 1, 2, 0], [1, 0, 1, 1]]),
        square(kind="order"),
        square(nan="exclude"),
        be.Scores(np.zeros((2, 2)), [1.5, 2.5]),
        be.Scores(np.zeros((2, 2)), [b"x", b"y"]),
        be.Scores(np.zeros((2, 2)), np.array(["a", "b"], dtype=object)),
        be.Scores(np.zeros((2, 2)), np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]")),
        be.Scores(np.ones((2, 3)), mask=[[2, 1, 1], [1, 2, 0]]),
        be.Scores(np.array([[np.inf, -np.inf], [np.nan, 0.0]]), ["a", "b"], ["a", "b"]),
        be.Scores(np.asfortranarray(np.arange(6.0).reshape(2, 3)), [1, 2], [1, 2, 3]),
        *(be.Scores(np.arange(12).reshape(3, 4).astype(t), [*"abc"], [*"aabd"]) for t in DTYPES),
        be.Scores.from_pairs([0.1, 0.5, 0.9], [1, 0, 1], kind="similarity"),
        be.Scores.from_pairs([1, 2], [True, False], subjects=[["a", "a"], ["a", "b"]]),
    ],
)
def test_npz_keeps_everything(tmp_path, scores):
    be.save(scores, tmp_path / "x.npz")
    back = be.load(tmp_path / "x.npz")
    same_scores(back, scores)
    assert back.name == "x"
    if scores.layout == "pairs" and scores.pair_subjects is not None:
        np.testing.assert_array_equal(back.pair_subjects, scores.pair_subjects)


@pytest.mark.parametrize(
    ("probes", "gallery"),
    [
        ([3, 0], None),
        ([0, 1], [1, 2, 3]),
        ([2, 1], [2, 1]),
        ([2, 1], [1, 2]),
        ([0, 1], [2, 3]),
        ([1, 1, 2], [1, 2]),
    ],
)
@pytest.mark.cases(1)
def test_a_selection_is_saved_as_what_it_is(tmp_path, probes, gallery):
    view = square().select(probes=probes, gallery=gallery)
    be.save(view, tmp_path / "x.npz")
    back = be.load(tmp_path / "x.npz")
    same_scores(back, view)
    for scores in (view, back):
        assert scores.layout == view.layout
    ours, theirs = be.verification(back), be.verification(view)
    assert ours.equals(theirs)


# ------------------------------------------------------------------------ versions


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

    named = {
        "templates": [["a", "b"], ["a", "c"]],
        "kind": "similarity",
        "subjects": [[1, 1], [1, 2]],
    }
    np.savez(tmp_path / "n.npz", schema=1, scores=[0.5, 0.25], genuine=[True, False], **named)
    assert be.load(tmp_path / "n.npz").pair_templates.tolist() == [["a", "b"], ["a", "c"]]

    np.savez(
        tmp_path / "e.npz",
        schema=1,
        embeddings=[[0.0, 0.0], [3.0, 4.0]],
        labels=["a", "b"],
        camera=[1, 2],
        metric="l2",
    )
    scores = be.load(tmp_path / "e.npz")
    assert scores.values.tolist() == [[0, 5], [5, 0]]
    assert scores.probe_meta["camera"].tolist() == [1, 2]


@pytest.mark.parametrize("schema", [0, 2])
def test_refuses_other_schemas(tmp_path, schema):
    np.savez(tmp_path / "x.npz", schema=schema, scores=np.eye(2), probe_labels=[1, 2])
    with pytest.raises(be.DataError, match=rf"of schema {schema}; .* reads schema 1"):
        be.load(tmp_path / "x.npz")


# ------------------------------------------------------------------------ foreign .npz


@pytest.fixture
def reid(tmp_path) -> Path:
    np.savez(
        tmp_path / "reid.npz",
        matrix=np.arange(6.0).reshape(2, 3),
        rows_of=[1, 2],
        columns_of=[1, 2, 2],
        q_cam=[1, 1],
        g_cam=[2, 3, 2],
        junk=np.zeros((5, 5)),
    )
    return tmp_path / "reid.npz"


@pytest.fixture
def faces(tmp_path) -> Path:
    np.savez(
        tmp_path / "faces.npz",
        net=np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 0.0], [3.0, 4.0]], "f4"),
        who=[5, 5, 6, 7],
        cam=["a", "b", "a", "b"],
        names=["x", "y"],
        view2=[[0, 1, 9, 1], [0, 2, 9, 0], [3, 1, 9, 0]],
        plain=[[0, 1], [0, 2]],
        wrong=[[0, 1, 3]],
        objects=np.array([{}, {}, {}, {}], dtype=object),
    )
    return tmp_path / "faces.npz"


def test_csv_labels_for_npz(tmp_path):
    np.savez(tmp_path / "x.npz", scores=np.eye(2))
    (tmp_path / "who.csv").write_text("person,camera\n007,1\nNA,2\n")
    scores = be.load(tmp_path / "x.npz", labels=tmp_path / "who.csv")
    assert scores.probe_labels.tolist() == ["007", "NA"]
    assert scores.probe_meta["camera"].tolist() == ["1", "2"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"no array 'scores'.*\"scores\": .matrix..*embeddings.*\(2, 3\) f"),
        (
            {"columns": {"scores": "matrixx"}},
            "no array 'matrixx'.*Did you mean 'matrix'.*It holds: ",
        ),
        (
            {"columns": {"scores": "matrix"}},
            r"no labels.*2 rows and 3 columns.*rows_of",
        ),
        ({"columns": {"scores": "matrix", "labels": "rows_of"}}, "2 x 3, not square"),
        ({"columns": {"scores": "matrix", "labels": "columns_of"}}, r"\(3,\); expected \(2,\)"),
        ({"columns": {"scores": "junk", "labels": "rows_of"}}, r"\(2,\); expected \(5,\)"),
        ({"columns": {"scores": "junk", "embeddings": "junk"}}, "both given"),
        ({"labels": "b", "columns": {"scores": "junk", "labels": "a"}}, "both given"),
        (
            {
                "metric": "l2",
                "columns": {
                    "scores": "matrix",
                    "labels": "rows_of",
                    "gallery_labels": "columns_of",
                },
            },
            "`metric` has no meaning for a matrix of scores",
        ),
        ({"columns": {"scores": "rows_of"}}, "scores without classes"),
        ({"kind": "similarity", "columns": {"embeddings": "junk"}}, "compared by distances"),
        (
            {"columns": {"embeddings": "rows_of", "labels": "rows_of"}},
            "expected one embedding per row",
        ),
    ],
)
def test_what_is_missing_is_told(reid, options, message):
    with pytest.raises(be.DataError, match=message) as error:
        be.load(reid, **options)
    assert "\n" not in str(error.value)


def test_metadata_that_do_not_fit(reid):
    named = {"scores": "matrix", "labels": "rows_of", "gallery_labels": "columns_of"}
    with raises_about(be.DataError, "columns.probe_camera", "columns.gallery_camera"):
        be.load(reid, columns={"camera": "q_cam", **named})
    with pytest.raises(be.DataError, match=r"'g_cam' have shape \(3,\); expected \(2,\)"):
        be.load(reid, columns={"probe_camera": "g_cam", **named})
    with pytest.raises(be.DataError, match="no array 'q_camm'.*Did you mean 'q_cam'"):
        be.load(reid, columns={"probe_camera": "q_camm", **named})


def test_a_native_file_with_metadata_of_the_wrong_length(tmp_path):
    np.savez(tmp_path / "x.npz", scores=np.eye(2), probe_labels=[1, 2], probe_camera=[1, 2, 3])
    with pytest.raises(be.DataError, match=r"'probe_camera' have shape \(3,\); expected \(2,\)"):
        be.load(tmp_path / "x.npz")
    np.savez(tmp_path / "y.npz", scores=np.eye(2), probe_labels=[1, 2], gallery_camera=[1, 2])
    with pytest.raises(be.DataError, match="gallery metadata, 'gallery_camera', but no gallery_la"):
        be.load(tmp_path / "y.npz")


@pytest.mark.parametrize("names", [["country"], ["probe_country", "gallery_country"]])
def test_one_set_of_templates_has_its_metadata_once_or_under_both_names(tmp_path, names):
    meta = dict.fromkeys(names, np.array(["a", "b", "a"]))
    np.savez(tmp_path / "x.npz", scores=np.eye(3), labels=[1, 2, 3], **meta)
    assert be.load(tmp_path / "x.npz").probe_meta["country"].tolist() == ["a", "b", "a"]


def test_only_what_is_requested_is_read(faces):
    """A pickled array elsewhere in the file does no harm; requested, it is refused."""
    be.load(faces, columns={"embeddings": "net", "labels": "who"})
    with pytest.raises(be.DataError, match="never unpickles"):
        be.load(faces, columns={"embeddings": "net", "labels": "objects"})


def test_options_overrule_the_file_but_not_its_kind(tmp_path):
    be.save(square(kind="similarity"), tmp_path / "x.npz")
    scores = be.load(tmp_path / "x.npz", kind="order", nan="reject")
    assert (scores.kind, scores.nan, scores.reading) == ("order", "reject", ())
    scores = be.load(tmp_path / "x.npz", kind="llr")
    assert scores.kind == "llr"
    assert scores.reading == ("taken as llr; the file declares similarity",)
    with pytest.raises(be.DataError, match=r"x\.npz: kind.*declares the kind similarity; `kind="):
        be.load(tmp_path / "x.npz", kind="distance")
    with pytest.raises(be.DataError, match="`kind` is 'distanse'.*Did you mean 'distance'"):
        be.load(tmp_path / "x.npz", kind="distanse")


def test_a_kind_that_nothing_declares_is_said(tmp_path):
    """Taken as distances where neither file, name nor option says it, and never in silence."""
    who, matrix = np.array(list("aabb")), np.random.default_rng(5).random((4, 4))
    np.save(tmp_path / "x.npy", matrix)
    np.save(tmp_path / "who.npy", who)
    np.savez(tmp_path / "x.npz", scores=matrix, labels=who)
    np.savez(tmp_path / "declared.npz", scores=matrix, labels=who, kind="distance")
    np.savez(tmp_path / "named.npz", distance=matrix, labels=who)
    np.savez(tmp_path / "pairs.npz", scores=[1.0, 2, 3], genuine=[0, 0, 1])
    said = ("taken as distances: the file does not state the kind of its scores",)
    labels, key = {"labels": tmp_path / "who.npy"}, {"columns": {"scores": "distance"}}
    for name, options, expected in (
        ("x.npy", labels, said), ("x.npy", {**labels, "kind": "similarity"}, ()),
        ("x.npz", {}, said), ("x.npz", {"kind": "distance"}, ()), ("declared.npz", {}, ()),
        ("named.npz", key, ()), ("pairs.npz", {}, said),
    ):  # fmt: skip
        found = be.load(tmp_path / name, **options)
        assert found.reading == expected, name
        results = be.verification(found)
        assert results.attrs.get("reading", "") == "".join(expected)
        assert not any("taken as" in message.sentence for message in be.messages(results))


# ------------------------------------------------------------------------ .npy with CSV


@pytest.fixture
def matrix(tmp_path) -> Path:
    np.save(tmp_path / "x.npy", np.arange(4.0).reshape(2, 2))
    return tmp_path / "x.npy"


@pytest.mark.parametrize("kind", ["U3", "S3", "i8", "u1"])
def test_labels_in_an_array(kind, tmp_path):
    """Labels as .npy are what the same labels are in a .npz file, bytes as the text they are."""
    who = np.array([7, 7, 12, 12]).astype(kind)
    values = np.random.default_rng(5).random((4, 4))
    for name, labels in (("who", who), ("two", who[:2])):
        np.save(tmp_path / f"{name}.npy", labels)
    np.save(tmp_path / "m.npy", values)
    np.save(tmp_path / "wide.npy", values[:, :2])
    expected = who.astype("U3") if kind == "S3" else who
    found = be.load(tmp_path / "m.npy", labels=tmp_path / "who.npy")
    assert found.layout == "all-against-all"
    np.testing.assert_array_equal(found.probe_labels, expected)
    sides = {"labels": tmp_path / "who.npy", "gallery": tmp_path / "two.npy"}
    np.savez(tmp_path / "m.npz", scores=values[:, :2])
    for name in ("wide.npy", "m.npz"):
        found = be.load(tmp_path / name, **sides)
        np.testing.assert_array_equal(found.probe_labels, expected)
        np.testing.assert_array_equal(found.gallery_labels, expected[:2])
    with pytest.raises(be.DataError, match=r"two.npy: 2 labels for 4 rows"):
        be.load(tmp_path / "m.npy", labels=tmp_path / "two.npy")
    with pytest.raises(be.DataError, match="who.npy: has labels alone, and no column 'cam'"):
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
    with pytest.raises(be.DataError, match=says):
        be.load(matrix, labels=tmp_path / "who.npy")


def test_names_of_images_in_an_array_of_labels(tmp_path, matrix):
    np.save(tmp_path / "who.npy", ["0002_c1s1_000451_03.jpg", "0007_c3s2_000001_01.jpg"])
    found = be.load(matrix, labels=tmp_path / "who.npy", names_of="market1501")
    assert found.probe_labels.tolist() == [2, 7]
    assert found.probe_meta["camera"].tolist() == [1, 3]


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
    ],
)
def test_csv_labels(matrix, text, labels):
    (matrix.parent / "x.labels.csv").write_bytes(text.encode())
    scores = be.load(matrix)
    assert scores.layout == "all-against-all"
    assert scores.probe_labels.tolist() == labels
    assert scores.probe_labels.dtype.kind == "U"


def test_a_blank_cell_of_metadata_is_unknown(tmp_path):
    distances, who = (
        np.array([[0, 1, 4, 3], [1, 0, 2, 6], [4, 2, 0, 5], [3, 6, 5, 0]]),
        list("aabb"),
    )
    np.save(tmp_path / "x.npy", distances)
    (tmp_path / "x.labels.csv").write_text("label,day\na,1\na,\nb,\nb,1\n")
    found = be.load(tmp_path / "x.npy", exclude=["all:day"])
    meta = {"day": ["1", "", "", "1"]}
    same = be.Scores(distances, who, probe_meta=meta, exclude=["all:day"])
    assert be.verification(found).impostor_attempts == be.verification(same).impostor_attempts == 6


def test_csv_metadata_can_be_renamed(matrix):
    (matrix.parent / "x.probe.csv").write_text("label,cam\na,1\nb,2\n")
    (matrix.parent / "x.gallery.csv").write_text("label,cam\na,1\nb,2\n")
    scores = be.load(matrix, columns={"camera": "cam"})
    assert list(scores.probe_meta) == list(scores.gallery_meta) == ["camera"]
    with pytest.raises(be.DataError, match="no column 'camm'.*Did you mean 'cam'"):
        be.load(matrix, columns={"camera": "camm"})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"label,camera\na\nb,2\n", "x.labels.csv: line 2: 1 cells; expected 2"),
        (b"label,camera\na,1\n,2\n", "line 3: the cell 'label' is blank"),
        (b"label,label\na,b\n", "line 1: two columns are called 'label'"),
        (b"label,\na,b\n", "line 1: column 2 has no name"),
        (b"who,camera\na,1\nb,2\n", "no column of labels.*'who', 'camera'.*'subject'"),
        (b"label\n", "no rows"),
        (b"\n\n", "blank lines"),
        (b"label\na\nb\nc\n", "3 labels for 2 rows"),
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
    with pytest.raises(be.DataError, match=f"(?i){message}"):
        be.load(matrix)


def test_labels_that_are_not_there(matrix):
    with pytest.raises(be.DataError, match=r"x.labels.csv beside it, or x.probe.csv and x.gallery"):
        be.load(matrix)
    (matrix.parent / "x.probe.csv").write_text("label\na\nb\n")
    with pytest.raises(be.DataError, match="there is x.probe.csv"):
        be.load(matrix)
    (matrix.parent / "x.labels.csv").write_text("label\na\nb\n")
    with pytest.raises(be.DataError, match="there is x.labels.csv and x.probe.csv"):
        be.load(matrix)
    assert be.load(matrix, labels=matrix.parent / "x.labels.csv").shape == (2, 2)
    with pytest.raises(be.DataError, match="`labels` is missing"):
        be.load(matrix, gallery=matrix.parent / "x.probe.csv")
    with pytest.raises(be.DataError, match="nowhere.csv: no such file"):
        be.load(matrix, labels=matrix.parent / "nowhere.csv")


# ------------------------------------------------------------------------ pair lists


def test_csv_pairs(tmp_path):
    (tmp_path / "p.csv").write_text(
        "id,score,Genuine,subject_a,subject_b\n"
        "1,0.5,1,a,a\n2,-1e3,FALSE,a,b\n3,inf,genuine,c,c\n4,nan,impostor,c,a\n"
    )
    pairs = be.load(tmp_path / "p.csv", kind="similarity", nan="reject")
    np.testing.assert_array_equal(pairs.values, [0.5, -1000, np.inf, np.nan])
    assert pairs.genuine.tolist() == [True, False, True, False]
    assert (pairs.kind, pairs.nan) == ("similarity", "reject")
    assert pairs.pair_subjects.tolist() == [["a", "a"], ["a", "b"], ["c", "c"], ["c", "a"]]


def test_a_matrix_as_text_is_told_apart(tmp_path):
    (tmp_path / "wide.csv").write_text(",".join(["0.25"] * 20_000) + "\n")
    with pytest.raises(
        be.DataError, match="more than 1,000 columns; a matrix of scores is read from"
    ):
        be.load(tmp_path / "wide.csv", labels="people.csv")
    (tmp_path / "p.csv").write_text("1,2,3\n0.5,1,0\n")  # columns may have such names
    pairs = be.load(tmp_path / "p.csv", kind="distance", columns={"scores": "1", "genuine": "2"})
    assert pairs.values.tolist() == [0.5]
    (tmp_path / "p.txt").write_text("0 1 2\n1 0 3\n2 3 0\n")
    with pytest.raises(be.DataError, match="p.txt: begins with a line of numbers"):
        be.load(tmp_path / "p.txt")
    (tmp_path / "p.csv").write_text("distance,genuine\n1,1\n")
    with pytest.raises(be.DataError, match="`metric` has no meaning for a list of pairs"):
        be.load(tmp_path / "p.csv", metric="l2")


@pytest.mark.parametrize("mark", [",", ";", "\t", " "])
def test_a_matrix_of_numbers_alone_with_its_labels(tmp_path, mark):
    """As numpy.savetxt and pandas without names write it; labels as of a .npy file."""
    values = np.random.default_rng(2).normal(size=(4, 6)).round(3)
    np.savetxt(tmp_path / "t.csv", values, delimiter=mark, fmt="%.3f")
    np.save(tmp_path / "t.npy", values)
    (tmp_path / "p.csv").write_text("label,camera\na,1\nb,1\na,2\nb,2\n")
    (tmp_path / "g.csv").write_text("a\nb\nc\na\nb\nc\n")
    sides = {"labels": tmp_path / "p.csv", "gallery": tmp_path / "g.csv"}
    found, wanted = (be.load(tmp_path / f"t.{x}", kind="llr", **sides) for x in ("csv", "npy"))
    np.testing.assert_array_equal(found.values, wanted.values)
    assert found.kind == "llr" and found.probe_meta["camera"].tolist() == ["1", "1", "2", "2"]
    assert found.gallery_labels.tolist() == list("abcabc") == wanted.gallery_labels.tolist()
    (tmp_path / "t.csv").rename(tmp_path / "t.txt")
    np.testing.assert_array_equal(be.load(tmp_path / "t.txt", **sides).values, wanted.values)
    with pytest.raises(be.DataError, match="is 4 x 6, not square.*or `metric` if the rows are emb"):
        be.load(tmp_path / "t.txt", labels=tmp_path / "p.csv")
    features = be.load(tmp_path / "t.txt", labels=tmp_path / "p.csv", metric="linf")
    assert features.layout == "all-against-all" and "metric linf" in features.origin


def test_a_matrix_of_whole_numbers_and_one_that_is_no_matrix(tmp_path):
    (tmp_path / "g.csv").write_text("a\nb\na\n")
    sides = dict.fromkeys(("labels", "gallery"), tmp_path / "g.csv")
    (tmp_path / "t.csv").write_text("0,5,7\n5,0,2\n7,2,0\n")
    square = be.load(tmp_path / "t.csv", labels=tmp_path / "g.csv")
    assert (square.layout, square.values[0].tolist()) == ("all-against-all", [0, 5, 7])
    assert be.load(tmp_path / "t.csv", **sides).layout == "probe-against-gallery"
    (tmp_path / "t.csv").write_text("0,5,7\n5,x,2\n7,2,0\n")
    with pytest.raises(be.DataError, match="line 2: column 2 is 'x'; expected a number"):
        be.load(tmp_path / "t.csv", **sides)
    (tmp_path / "t.csv").write_text("label,a,b\na,0,5\nb,5,0\n")
    with pytest.raises(be.DataError, match="with other first cells than numbers; `labels` and `g"):
        be.load(tmp_path / "t.csv", **sides)
    (tmp_path / "t.csv").write_text(",".join(["0.5"] * 2000) + "\n")
    with pytest.raises(
        be.DataError, match="more than 1,000 columns; a matrix of scores is read from"
    ):
        be.load(tmp_path / "t.csv", **sides)


def test_a_file_in_the_place_of_a_folder(tmp_path):
    (tmp_path / "afile").write_text("x")
    with pytest.raises(be.DataError, match="afile is a file, not a folder"):
        be.load(tmp_path / "afile" / "x.npz")
    with pytest.raises(be.DataError, match="afile is a file, not a folder"):
        be.save(square(), tmp_path / "afile" / "b" / "x.npz")
    with pytest.raises(be.DataError, match="there is no folder .*nowhere; make it first"):
        be.save(square(), tmp_path / "nowhere" / "x.npz")


@pytest.mark.parametrize("corner", ["", "label"])
def test_the_first_cell_of_a_square_matrix_may_be_empty(tmp_path, corner):
    (tmp_path / "p.csv").write_text(f"{corner},a,a,b\na,0,1,2\na,1,0,3\nb,2,3,0\n")
    found = be.load(tmp_path / "p.csv", kind="distance")
    assert found.layout == "all-against-all" and found.values[1].tolist() == [1, 0, 3]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("template,a,b\na,0,1\nb,1,0\n", "line 1: columns 2 and 3 each hold only 0 and 1"),
        ("score,genuine\n1,1\nx,0\n", "p.csv: line 3: score is 'x'; expected a number"),
        ('score,genuine\n"0,5",1\n', "line 2: .*point, not a comma"),
        ("score,genuine\n1_0,1\n", "line 2: score is '1_0'"),
        ("score,genuine\n1,2\n", "line 2: genuine is '2'; expected one of 1, true, genuine"),
        ("score,genuine\n1,\n", "line 2: 1 cells; expected 2, none of them blank"),
        ("genuine,score\n,1\n", "line 2: the cell 'genuine' is blank"),
        ("score,genuine\n1,1,1\n", "line 2: 3 cells; expected 2"),
        ("score,genuine\n45%,1\n", "line 2: score is '45%'; .*per cent as fractions"),
        ("score,genuine\n", "no rows"),
        ("label,camera\na,1\n", "no column 'score'.*'label', 'camera'.*labels"),
        ("0.1,0.2\n0.3,0.4\n", "no column 'score'.*A matrix of scores is read from .npy"),
        ("0,1,2\n1,0,3\n2,3,0\n", "begins with a line of numbers"),
    ],
)
def test_bad_csv_pairs(tmp_path, text, message):
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(be.DataError, match=message):
        be.load(tmp_path / "p.csv", kind="distance")


# ------------------------------------------------------------------------ bad files


def npy(array, allow_pickle=False) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=allow_pickle)
    return file.getvalue()


def npz(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def plain_zip() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("readme.txt", "hello")
    return file.getvalue()


WHOLE = npz(scores=np.arange(10_000.0).reshape(100, 100), probe_labels=np.arange(100))
BROKEN = bytearray(WHOLE)
BROKEN[5000] ^= 255  # in the scores, so that the checksum does not fit


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.npz", WHOLE[:5000], "truncated or damaged.*write it again"),
        ("x.npz", bytes(BROKEN), "'scores' is truncated or damaged"),
        ("x.npz", WHOLE[:3], "named .npz but holds text"),
        ("x.npz", npy(np.eye(2)), "named .npz but holds a NumPy array.*name it as"),
        ("x.npy", WHOLE, "named .npy but holds a zip file.*name it as"),
        ("x.csv", WHOLE, "named .csv but holds a zip file"),
        ("x.npz", plain_zip(), "none of them an array"),
        ("x.npz", npz(scores=np.array([[{}]], dtype=object), labels=["a"]), "never unpickles"),
        ("x.npz", npz(scores=np.eye(2), labels=np.array([1, "a"], object)), "never unpickles"),
        ("x.npz", npz(scores=np.zeros((2, 2, 2)), labels=[1, 2]), r"\(2, 2, 2\); expected a mat"),
        ("x.npz", npz(scores=np.eye(2), labels=[1, 2], kind="far"), "kind is 'far'; expected one"),
        ("x.npz", npz(scores=np.eye(2), labels=[1, 2], kind=[1, 2]), "expected one word of text"),
        ("x.npz", npz(scores=np.array([["a"]]), labels=[1]), "x.npz: .*dtype <U1"),
        ("x.npy", npy(np.eye(9))[:-8], "truncated or damaged"),
        ("x.npy", npy(np.eye(9))[:20], "truncated or damaged"),
        ("x.npy", npy(np.array([[{}]], object), True), "never unpickles"),
        ("x.npy", npy(np.zeros(3)), r"\(3,\); expected a matrix.*list of their trials"),
        ("x.npy", npy(np.zeros((2, 2, 2))), r"\(2, 2, 2\); expected a matrix"),
        ("x.npy", b"", "is empty"),
        ("x.npz", pickle.dumps([1, 2], protocol=4), "pickle .never unpickled."),
        (
            "x.npz",
            b"\x89HDF\r\n\x1a\n rest",
            "holds an HDF5 file; expected a .npz file; name it as",
        ),
        ("x.mat", b"MATLAB 5.0 MAT-file", "header is not whole.*expected a MATLAB file"),
        ("x.npz", b"MATLAB 5.0 MAT-file", "named .npz but holds a MATLAB file.*name it as"),
        ("x.npz", b"\x1f\x8b\x08 rest", "a gzip file"),
        ("x.bin", b"\x00\x01\x02", "an unknown binary file"),
        ("x.txt", b"1 2 0.5\n", "begins with a line of numbers"),
        ("x.npz", npz(header=[1]), "no array 'scores' or 'embeddings'"),
    ],
)
def test_bad_files(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "x.labels.csv").write_text("label\na\n")
    with pytest.raises(be.DataError, match=message) as error:
        be.load(tmp_path / name)
    assert str(tmp_path / name) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path):
    (tmp_path / "scores.npz").write_bytes(WHOLE)
    with pytest.raises(be.DataError, match=r"scors.npz: no such file. Did you mean 'scores.npz'\?"):
        be.load(tmp_path / "scors.npz")
    with pytest.raises(be.DataError, match="there is no folder"):
        be.load(tmp_path / "nowhere" / "scores.npz")
    with pytest.raises(be.DataError, match="is a folder; expected a file$"):
        be.load(tmp_path)


# ------------------------------------------------------------------------ writing


@pytest.mark.parametrize(
    ("scores", "name", "message"),
    [
        (
            rectangle(),
            "x.doc",
            "suffix '.doc'; expected one of .npz, .parquet",
        ),
        (rectangle(), "x.npx", "Did you mean '.npz'"),
        (rectangle(), "nowhere/x.npz", "there is no folder"),
        ("scores", "x.npz", "save was given str; expected Scores"),
        (be.Scores(np.eye(2), [("a", 1), ("b", 2)]), "x.npz", r"Python objects \(tuple\)"),
        (be.Scores(np.eye(2), [1, "a"]), "x.npz", r"Python objects \(int, str\)"),
        (be.Scores(np.eye(2), ["a", " b"]), "x.csv", "CSV would change"),
        (be.Scores(np.eye(1), [1], probe_meta={"labels": [1]}), "x.npz", "rename it"),
    ],
)
def test_what_cannot_be_saved(tmp_path, scores, name, message):
    with pytest.raises(be.DataError, match=message):
        be.save(scores, tmp_path / name)
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------------ real files


def test_an_array_named_where_a_csv_file_is_meant(tmp_path):
    np.savez(tmp_path / "x.npz", d=np.ones((2, 2)), who=np.array([1, 2]))
    with pytest.raises(be.DataError, match="'who' is an array in the file: name it with `columns"):
        be.load(tmp_path / "x.npz", labels="who", columns={"scores": "d"})


def test_tables_that_pandas_writes_with_its_index_are_read(tmp_path):
    """The first column has no name there, and says nothing."""
    d = np.arange(9.0).reshape(3, 3)
    np.save(tmp_path / "m.npy", d)
    (tmp_path / "l.csv").write_text(",subject\n0,a\n1,a\n2,b\n")
    scores = be.load(tmp_path / "m.npy", labels=tmp_path / "l.csv")
    assert scores.probe_labels.tolist() == ["a", "a", "b"] and not scores.probe_meta
    (tmp_path / "p.csv").write_text(",genuine,score\n0,1,0.5\n1,0,0.75\n")
    pairs = be.load(tmp_path / "p.csv", kind="distance")
    assert pairs.values.tolist() == [0.5, 0.75] and pairs.genuine.tolist() == [True, False]
    (tmp_path / "l.csv").write_text("subject,\na,0\na,1\nb,2\n")
    with pytest.raises(be.DataError, match="line 1: column 2 has no name"):
        be.load(tmp_path / "m.npy", labels=tmp_path / "l.csv")
