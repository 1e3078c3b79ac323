"""Lists of every format that name their templates: what contradicts, occurs again or is itself."""

import numpy as np
import pytest
from optional import optional_import

import bioeval as be
from bioeval.base.messages import Message

LINES = [
    ("1", "id1/a", "id1/b", "0.5"),
    ("0", "id1/a", "id2/c", "2.0"),
    ("0", "id1/b", "id2/c", "3.0"),
]
AGAIN, OTHER = ("0", "id1/a", "id2/c", "2.0"), ("0", "id1/a", "id2/c", "2.5")
ITSELF, TURNED = ("1", "id2/c", "id2/c", "0.0"), ("1", "id1/b", "id1/a", "0.5")
WRONG = ("1", "id1/a", "id2/c", "2.0")
FORMS = ["txt", "csv", "parquet", "npz"]


def given(folder, form, lines):
    """Return a file of this form."""
    genuine, a, b, scores = zip(*lines, strict=True)
    columns = {"distance": [float(x) for x in scores], "genuine": [int(x) for x in genuine],
               "template_a": [*a], "template_b": [*b]}  # fmt: skip
    path = folder / f"x.{form}"
    if form == "txt":
        path.write_text("".join(" ".join(line) + "\n" for line in lines))
    elif form == "csv":
        rows = zip(*columns.values(), strict=True)
        text = [",".join(map(str, row)) for row in [tuple(columns), *rows]]
        path.write_text("\n".join(text) + "\n")
    elif form == "npz":
        templates = np.column_stack([a, b])
        np.savez(path, scores=columns["distance"], genuine=columns["genuine"], templates=templates)
    else:
        table = optional_import("pyarrow").table(columns)
        optional_import("pyarrow.parquet").write_table(table, path)
    return path


def read(folder, form, more, **options):
    return be.load(given(folder, form, [*LINES, *more]), kind="distance", **options)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.cases(1)
def test_every_form_of_a_list(tmp_path, form):
    found = read(tmp_path, form, [AGAIN, ITSELF])
    assert found.values.tolist() == [0.5, 2.0, 3.0]
    assert [(x.code, *x.arguments.values())[:2] for x in found.remarks] == [
        ("repeated-pairs", 1),
        ("self-comparisons-left-out", 1),
    ]
    assert (
        len(read(tmp_path, form, [AGAIN, ITSELF], lists={"keep": ["self", "repeated"]}).values) == 5
    )
    assert read(tmp_path, form, [TURNED], lists={"unordered": True}).values.tolist() == [
        0.5,
        2.0,
        3.0,
    ]
    where = {"txt": "lines 2 and 4", "csv": "lines 3 and 5",
             "npz": "pairs 1 and 3"}.get(form, "rows 1 and 3")  # fmt: skip
    with pytest.raises(be.DataError, match=f"'id1/a' and 'id2/c' .{where}: 2.0 and 2.5"):
        read(tmp_path, form, [OTHER])
    with pytest.raises(be.DataError, match=f"1 pair is both genuine and impostor: .*{where}"):
        read(tmp_path, form, [WRONG])


@pytest.mark.parametrize("form", [form for form in FORMS if form != "npz"])
def test_classes_against_the_subjects_of_the_line(tmp_path, form):
    where = {"txt": "lines 4 and 5", "csv": "lines 5 and 6"}
    lines = [("1", "id1/a", "id3/d", "1"), ("0", "id1/a", "id1/e", "1")]
    assert len(read(tmp_path, form, lines).values) == 5
    match = f"2 pairs contradict their subjects.*.{where.get(form, 'rows 3 and 4')}"
    with pytest.raises(be.DataError, match=match):
        read(tmp_path, form, lines, subject_from=r"id(\d)")
    with pytest.raises(be.DataError, match=match):
        read(tmp_path, form, lines, subject_from=r"id(\d)", lists={"as": "matrix"})


def test_trials_and_scores_that_are_listed_again(tmp_path):
    trials = tmp_path / "trials"
    trials.write_text("a c target\nb c nontarget\na c target\n")
    (tmp_path / "x.txt").write_text("b c 2\na c 1\nb c 2\n")
    found = be.load(tmp_path / "x.txt", kind="distance", trials=trials)
    assert (found.values.tolist(), found.genuine.tolist()) == ([2, 1], [False, True])
    assert [x.code for x in found.remarks] == ["repeated-pairs"] * 2
    (tmp_path / "x.txt").write_text("b c 2\na c 1\nb c 3\n")
    with pytest.raises(be.DataError, match="'b' and 'c' .lines 1 and 3: 2.0 and 3.0"):
        be.load(tmp_path / "x.txt", kind="distance", trials=trials)
    trials.write_text("a c target\nb c nontarget\n\na c nontarget\n")
    with pytest.raises(be.DataError, match="1 of 3 lines: each gives a pair another class.*line 4"):
        be.load(tmp_path / "x.txt", kind="distance", trials=trials)
    trials.write_text("a c target\nb c nontarget\nb c nontarget\n\nx y target\n")
    (tmp_path / "x.txt").write_text("b c 2\na c 1\n")
    with pytest.raises(be.DataError, match="1 of 4 lines: each has no score; the first on line 5"):
        be.load(tmp_path / "x.txt", kind="distance", trials=trials)


# ------------------------------------------------------------------------- names of templates


@pytest.mark.parametrize(("text", "pairs"), [
    ("f1 x f1 x 0.1\nf1 x f1 x 0.2\nf1 x f2 x 0.3\n", None),  # bob without names
    ("f1 f1 x 0.1\nf1 f1 x 0.2\nf1 f2 x 0.3\n", None),  # models are named by their subjects
    ("1 ann ann 0.5\n1 ann ann 0.6\n0 ann bob 2.5\n", None),  # names of subjects
    ("ann 7 ann 7 0.5\nann 7 bob 8 0.6\n", [["7", "7 (b)"], ["7", "8 (b)"]]),  # two numberings
    ("distance,genuine,model,probe\n1,1,7,7\n2,0,7,9\n", [["7", "7 (b)"], ["7", "9 (b)"]]),
    ("distance,genuine,model,probe\n1,1,7,8\n2,0,7,9\n", [["7", "8"], ["7", "9"]]),
    ("distance,subject_a,template_a,subject_b,template_b\n1,ann,x,ann,y\n2,ann,x,bob,z\n",
     [["x", "y"], ["x", "z"]]),
    ("genuine,distance,gallery,probe\n1,1,a.png,b.png\n0,2,a.png,c.png\n",
     [["a.png", "b.png"], ["a.png", "c.png"]]),
])  # fmt: skip
def test_which_names_are_those_of_templates(tmp_path, text, pairs):
    (tmp_path / "x.txt").write_text(text)
    found = be.load(tmp_path / "x.txt", kind="distance")
    assert len(found.values) == text.count("\n") - ("distance" in text)
    names = found.pair_templates
    assert (names if names is None else names.tolist()) == pairs
    if pairs is None:
        assert found.remarks == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "ann m1 ann p1 0.5\nann m1 bob p1 0.6\nann m1 bob p2 0.7\n",
            "line 2: the template 'p1' is of the subject 'bob', and on line 1 of 'ann'",
        ),
        (
            "distance,subject_a,template_a,subject_b,template_b\n1,ann,1,ann,2\n2,ann,1,bob,1\n",
            "the template '1' is of 'ann' on one side and of 'bob' on the other",
        ),
    ],
)
def test_a_name_of_two_people_is_an_error(tmp_path, text, message):
    (tmp_path / "x.txt").write_text(text)
    with pytest.raises(be.DataError, match=message):
        be.load(tmp_path / "x.txt", kind="distance")


# ------------------------------------------------------------------------- commands and files


def test_an_infinite_score_of_a_text_is_said(tmp_path):
    (tmp_path / "x.txt").write_text("1 0.5\n\n0 inf\n0 0.7\n")
    found = be.load(tmp_path / "x.txt", kind="similarity")
    about = {"scores": 1, "accepted": "every", "first": " (line 3)"}
    assert found.remarks == (Message("infinite-scores", **about),)


@pytest.mark.parametrize("name", ["y.npz", "y.csv", "y.parquet"])
def test_names_are_kept_in_files(tmp_path, name):
    if name == "y.parquet":
        optional_import("pyarrow")
    found = read(tmp_path, "txt", [])
    be.save(found, tmp_path / name)
    back = be.load(tmp_path / name)
    assert back.pair_templates.tolist() == found.pair_templates.tolist()
    assert back.values.tolist() == found.values.tolist()


@pytest.mark.parametrize(
    ("places", "names", "message"),
    [
        ([[2, 0], [3, 1]], ["b", "c", "a"], "places in 'template_names', 0 to 2"),
        ([[0, 1], [0, 2]], ["b", "c", "c"], "'template_names' has a name twice"),
    ],
)
def test_places_among_names_of_npz(tmp_path, places, names, message):
    about = {"scores": [0.5, 0.25], "genuine": [True, False], "kind": "similarity"}
    np.savez(tmp_path / "x.npz", **about, templates=places, template_names=names)
    with pytest.raises(be.DataError, match=message):
        be.load(tmp_path / "x.npz")


def test_what_is_to_be_kept_of_a_matrix(tmp_path):
    d = np.arange(9.0).reshape(3, 3)
    np.savez(tmp_path / "x.npz", scores=d, probe_labels=["a", "a", "b"])
    with pytest.raises(be.DataError, match='`lists={"keep": ...}` has no meaning for a matrix'):
        be.load(tmp_path / "x.npz", lists={"keep": "self"})


@pytest.mark.parametrize(
    ("header", "unsaid"),
    [
        ("probe,gallery,subject_a,subject_b,distance", "'subject_a' and 'subject_b' do not say"),
        (
            "template_a,template_b,probe_subject,gallery_subject,distance",
            "'template_a' and 'template_b' do not say",
        ),
    ],
)
def test_sides_that_are_only_numbered_beside_sides_that_are_named(tmp_path, header, unsaid):
    path = tmp_path / "mixed.csv"
    path.write_text(f"{header}\np1,g1,ann,ann,0.5\np2,g1,bob,ann,0.9\n")
    with pytest.raises(be.DataError, match=f"line 1: {unsaid} which of them is of the probe"):
        be.load(path)
