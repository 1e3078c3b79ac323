"""Files made by the libraries that own their formats, and by hand from specifications.

Made by their libraries: MATLAB 5 (scipy), Parquet (pyarrow). By hand, from their specification:
IJB's lists of pairs of templates.
"""

import numpy as np
import pytest
from optional import optional_import

import bioeval as be
from bioeval.cli import main


def test_a_list_of_one_group_of_rows(tmp_path, monkeypatch):
    """A long Parquet file: its columns are read and counted in pieces."""
    arrow, parquet = optional_import("pyarrow"), optional_import("pyarrow.parquet")
    from bioeval.scores.formats import wide as of_parquet

    rng = np.random.default_rng(3)
    n = 5000
    a, b = rng.integers(0, 40, (2, n))
    table = {
        "similarity": rng.normal(size=n).astype(np.float32) + (a == b),
        "subject_a": [f"s{x}" for x in a],
        "subject_b": arrow.array([f"s{x}" for x in b]).dictionary_encode(),
    }
    parquet.write_table(arrow.table(table), tmp_path / "x.parquet", row_group_size=n)
    whole = be.load(tmp_path / "x.parquet")
    expected = be.verification(whole)
    monkeypatch.setattr(of_parquet, "_ROWS", 300)
    found = be.load(tmp_path / "x.parquet")
    assert found.values.tolist() == table["similarity"].tolist()
    assert found.genuine.tolist() == (a == b).tolist()
    assert found.pair_subjects.tolist() == [[f"s{x}", f"s{y}"] for x, y in zip(a, b, strict=True)]
    codes = found.codes
    assert codes.values.tolist() == sorted({*found.pair_subjects.ravel().tolist()})
    ds = be.verification(found)
    assert be.messages(ds) == be.messages(expected)
    for name in expected.data_vars:
        np.testing.assert_allclose(ds[name], expected[name], rtol=1e-14)
    some = found.select(probes=[5, 3])
    assert some.pair_subjects.tolist() == found.pair_subjects[[5, 3]].tolist()


def test_numbers_of_a_table(tmp_path):
    """Whole numbers as scores, and words of which a dictionary has more than the rows."""
    arrow, parquet = optional_import("pyarrow"), optional_import("pyarrow.parquet")
    words = arrow.DictionaryArray.from_arrays(arrow.array([0, 1]), ["target", "nontarget", "2"])
    table = arrow.table({"distance": [3, 4], "genuine": words, "more": [None, 1]})
    parquet.write_table(table, tmp_path / "x.parquet")
    found = be.load(tmp_path / "x.parquet")
    assert (found.values.tolist(), found.genuine.tolist()) == ([3, 4], [True, False])
    parquet.write_table(
        arrow.table({"distance": [[1.0], [2.0]], "genuine": [1, 0]}), tmp_path / "x.parquet"
    )
    with pytest.raises(be.DataError, match="row 0: distance is .*; expected a number"):
        be.load(tmp_path / "x.parquet")


def test_a_wide_text_whose_lines_are_longer_than_the_first(tmp_path):
    (tmp_path / "x.csv").write_text("label,a,b\na,1,2,3,4\nb,1,2\n")
    with pytest.raises(be.DataError, match="line 2: 5 cells; expected 3"):
        be.load(tmp_path / "x.csv", kind="distance")


def _ijb_by_hand(folder):
    """IJB's header-less lists, by hand from their specification, and features of the images."""
    media, pairs = folder / "face_tid_mid.txt", folder / "template_pair_label.txt"
    rows = [(7, 1), (7, 1), (3, 3), (7, 2), (9, 4), (9, 5)]  # template, medium
    media.write_text("".join(f"{i}.jpg {t} {m}\n" for i, (t, m) in enumerate(rows, 1)))
    pairs.write_text("7 9 1\n7 3 0\n3 9 0\n")
    features = np.random.default_rng(3).normal(size=(6, 4)).astype(np.float32)
    np.save(folder / "features.npy", features)
    return media, pairs, features


def test_features_of_images_with_the_lists_of_ijb(tmp_path, capsys):
    """Made by hand from the specification of IJB's lists, which have no header."""
    media, pairs, x = _ijb_by_hand(tmp_path)
    x = x.astype(float)
    templates = {7: ((x[0] + x[1]) / 2 + x[3]) / 2, 3: x[2], 9: (x[4] + x[5]) / 2}
    expected = [
        1 - a @ b / np.linalg.norm(a) / np.linalg.norm(b)
        for a, b in ((templates[i], templates[j]) for i, j in ((7, 9), (7, 3), (3, 9)))
    ]
    path, files = tmp_path / "features.npy", {"labels": media, "trials": pairs}
    found = be.load(path, average=["template", "media"], **files)
    np.testing.assert_allclose(found.values, expected, rtol=1e-12)
    assert found.genuine.tolist() == [True, False, False] and found.pair_subjects is None
    command = ["run", str(path), str(pairs), "--labels", str(media), "--average", "template,media"]
    assert main(command) == 0
    assert "3 pairs" in capsys.readouterr().out
    # One row a template, in the order of the list.
    np.save(path, np.array([*templates.values()]))
    again = be.load(path, metric="cosine", **files)
    np.testing.assert_allclose(again.values, expected, rtol=1e-12)
    with pytest.raises(be.DataError, match="has 3 rows, .* names 6 images of 3 templates"):
        be.load(path, average="template", **files)
    with pytest.raises(be.DataError, match="templates of its 3 rows are missing; .* as `labels`"):
        be.load(path, metric="cosine", trials=pairs)


def test_errors_of_the_lists_of_ijb(tmp_path):
    media, pairs, _ = _ijb_by_hand(tmp_path)
    path, files = tmp_path / "features.npy", {"labels": media, "trials": pairs}
    with pytest.raises(be.DataError, match="6 rows, .* 6 images of 3 templates.*template,media"):
        be.load(path, metric="cosine", **files)
    with pytest.raises(be.DataError, match='expected "template" first'):
        be.load(path, average="media", **files)
    with pytest.raises(be.DataError, match="`kind`='similarity'|`kind` has no meaning"):
        be.load(path, average="template", kind="similarity", **files)
    with pytest.raises(be.DataError, match="no subject; give the pairs of templates as `trials`"):
        be.load(path, labels=media, average=["template", "media"])
    pairs.write_text("7 9 1\n7 7 1\n")
    with pytest.raises(be.DataError, match="1 pair of a template with itself.* pair 2"):
        be.load(path, average="template", **files)
    pairs.write_text("7 9\n")
    with pytest.raises(be.DataError, match="does not mark genuine pairs, and .*no subj"):
        be.load(path, average="template", **files)
    media.write_text("1.jpg 7 x\n")
    with pytest.raises(be.DataError, match="first line is '1.jpg 7 x'; expected the names"):
        be.load(path, average="template", **files)


def test_subjects_of_the_table_of_ijb(tmp_path):
    """A header as IJB-C's tables have it, with the subject; genuine follows from it."""
    _, pairs, _ = _ijb_by_hand(tmp_path)
    table = tmp_path / "enroll_templates.csv"
    whose = {7: 1, 3: 2, 9: 1}
    rows = [(7, 1), (7, 1), (3, 3), (7, 2), (9, 4), (9, 5)]
    lines = [f"{t},{whose[t]},img/{i}.jpg,{m}" for i, (t, m) in enumerate(rows)]
    table.write_text("\n".join(["TEMPLATE_ID,SUBJECT_ID,FILENAME,MEDIA_ID", *lines]) + "\n")
    pairs.write_text("7 9\n7 3\n")
    found = be.load(
        tmp_path / "features.npy", labels=table, trials=pairs, average=["template", "media"]
    )
    assert found.genuine.tolist() == [True, False]
    assert found.pair_subjects.tolist() == [["1", "1"], ["1", "2"]]
    whole = be.load(tmp_path / "features.npy", labels=table, average=["TEMPLATE_ID", "MEDIA_ID"])
    assert whole.probe_labels.tolist() == ["1", "2", "1"]
    np.testing.assert_allclose(whole.values[0, [2, 1]], found.values, rtol=1e-12)
