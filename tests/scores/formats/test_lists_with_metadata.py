"""Lists of pairs whose templates have metadata in a table."""

import numpy as np
import pytest
from named_arguments import raises_about

import bioeval as be
from bioeval.scores.formats import losses

#: Templates with their subjects, and metadata.
TABLE = "template,subject,gender,age\n" + "".join(
    f"t{i},p{i // 2},{'fm'[i // 2 % 2]},{20 + i // 2}\n" for i in range(16)
)


@pytest.fixture(scope="module")
def lists(tmp_path_factory):
    """Scores of all pairs of 16 templates, with trials and the table of templates."""
    folder = tmp_path_factory.mktemp("lists")
    rng = np.random.default_rng(1)
    lines, trials, scores = [], [], []
    for i in range(16):
        for j in range(i):
            same = i // 2 == j // 2
            scores.append((j, i, float(np.round(rng.normal(1.0 if same else 3.0), 3))))
            lines.append(f"t{j} t{i} {scores[-1][2]}")
            trials.append(f"t{j} t{i} {'target' if same else 'nontarget'}")
    (folder / "scores.txt").write_text("\n".join(lines) + "\n")
    (folder / "trials.txt").write_text("\n".join(trials) + "\n")
    (folder / "templates.csv").write_text(TABLE)
    return folder, scores


def load(folder, **options):
    given = {"trials": folder / "trials.txt", "labels": folder / "templates.csv"} | options
    return be.load(folder / "scores.txt", kind="distance", **given)


def test_a_table_gives_the_metadata_of_both_sides(lists):
    folder, scores = lists
    pairs = load(folder)
    assert [*pairs.probe_meta] == [*pairs.gallery_meta] == ["gender", "age"]
    assert pairs.gallery_meta["gender"].tolist() == ["fm"[i // 2 % 2] for i, _, _ in scores]
    assert pairs.probe_meta["gender"].tolist() == ["fm"[j // 2 % 2] for _, j, _ in scores]
    assert pairs.probe_meta["age"].tolist() == [str(20 + j // 2) for _, j, _ in scores]
    some = pairs[np.arange(0, len(scores), 7)]
    assert some.probe_meta["age"].tolist() == pairs.probe_meta["age"][::7].tolist()


def test_groups_of_a_list_are_those_of_its_columns(lists):
    folder, scores = lists
    pairs = load(folder)
    sides = [["fm"[x[side] // 2 % 2] for x in scores] for side in (0, 1)]
    expected = be.by_group(pairs, (sides[1], sides[0]), threshold=2.0)  # probes, enrolled
    found = be.by_group(pairs, "gender", threshold=2.0)
    assert found.equals(expected) and found.group.values.tolist() == ["f", "m"]
    matrix = be.by_group(load(folder, lists={"as": "matrix"}), "gender", threshold=2.0)
    np.testing.assert_array_equal(matrix.frr, found.frr)
    np.testing.assert_array_equal(matrix.fa, found.fa)


def test_a_table_without_subjects_has_metadata_alone(lists, tmp_path):
    folder, scores = lists
    lines = [",".join(line.split(",")[::2]) for line in TABLE.splitlines()]
    (tmp_path / "two.csv").write_text("\n".join(lines) + "\n")
    pairs = load(folder, labels=tmp_path / "two.csv")
    assert pairs.pair_subjects is None and [*pairs.probe_meta] == ["gender"]
    named = load(folder, labels=tmp_path / "two.csv", subject_from=r"(t\d+)", trials=None)
    assert named.subjects.tolist()[0] == "t0" and [*named.gallery_meta] == ["gender"]


def test_subjects_of_the_list_and_of_the_table_agree(tmp_path):
    (tmp_path / "t.csv").write_text("template,subject,gender\na,1,f\nb,1,f\nc,2,m\n")
    text = "template_a,template_b,subject_a,subject_b,distance\na,b,1,1,0.5\na,c,1,2,2\n"
    (tmp_path / "x.csv").write_text(text)
    pairs = be.load(tmp_path / "x.csv", labels=tmp_path / "t.csv")
    assert pairs.probe_meta["gender"].tolist() == ["f", "m"]
    (tmp_path / "x.csv").write_text(text.replace("a,c,1,2,2", "a,c,1,3,2"))
    with pytest.raises(be.DataError, match="line 3: the subject is '3', and by `labels` it is '2'"):
        be.load(tmp_path / "x.csv", labels=tmp_path / "t.csv")


def test_columns_of_images_are_no_metadata_of_templates(tmp_path):
    (tmp_path / "t.csv").write_text(
        "template_id,subject_id,image,gender\na,1,1.png,f\na,1,2.png,f\nb,1,3.png,f\nc,2,4.png,m\n"
    )
    (tmp_path / "x.txt").write_text("a b 0.5\na c 2\n")
    options = {"kind": "distance", "labels": tmp_path / "t.csv"}
    assert [*be.load(tmp_path / "x.txt", **options).probe_meta] == ["gender"]
    with pytest.raises(be.DataError, match="'image' has several values for one template"):
        be.load(tmp_path / "x.txt", columns={"file": "image"}, **options)
    with pytest.raises(be.DataError, match="no column 'gendr'.*Did you mean 'gender'"):
        be.load(tmp_path / "x.txt", columns={"sex": "gendr"}, **options)
    with raises_about(be.DataError, "columns.sex", "labels"):
        be.load(tmp_path / "x.txt", kind="distance", subject_from="(.)", columns={"sex": "gender"})


def test_metadata_of_pairs_are_kept_in_a_file(lists, tmp_path):
    pairs = load(lists[0])
    be.save(pairs, tmp_path / "p.npz")
    again = be.load(tmp_path / "p.npz")
    for name in ("gender", "age"):
        assert again.probe_meta[name].tolist() == pairs.probe_meta[name].tolist()
        assert again.gallery_meta[name].tolist() == pairs.gallery_meta[name].tolist()
    assert be.by_group(again, "gender", threshold=2.0).frr.equals(
        be.by_group(pairs, "gender", threshold=2.0).frr
    )
    assert "the metadata columns age, gender are left out" in losses(pairs, tmp_path / "p.csv")


def test_metadata_of_pairs_in_python():
    columns = {"sex": [["f", "f"], ["f", "m"], ["m", "m"], ["m", "m"]], "year": [[1, 2]] * 4}
    subjects = [["a", "a"], ["a", "b"], ["b", "b"], ["b", "c"]]
    pairs = be.Scores.from_pairs([1, 2, 3, 4], [1, 0, 1, 0], subjects=subjects, meta=columns)
    assert pairs.probe_meta["sex"].tolist() == ["f", "m", "m", "m"]
    assert pairs.gallery_meta["year"].tolist() == [1] * 4
    ds = be.by_group(pairs, "sex", threshold=2.5)
    assert ds.frr.values.tolist() == [0.0, 1.0] and ds.fa.sel(group="m", claimed_group="f") == 1
    for wrong in ({"sex": ["f"] * 4}, ["f"] * 4):
        with pytest.raises(be.DataError, match="meta"):
            be.Scores.from_pairs([1, 2, 3, 4], [1, 0, 1, 0], subjects=subjects, meta=wrong)
