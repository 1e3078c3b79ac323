"""Names of images and lists of them: identities and cameras, or one clear error."""

import numpy as np
import pytest

import bioeval as be

CASES = [
    ("market1501", "0002_c1s1_000451_03.jpg", 2, 1, {"sequence": 1, "frame": 451, "box": 3}),
    ("market1501", "-1_c6s3_000401_00.jpg", -1, 6, {"sequence": 3}),
    ("market1501", "0000_c3s2_105478_04.jpg", 0, 3, {}),
    ("market1501", "query/0065_c6s1_009501_02.jpg.jpg", 65, 6, {}),
    ("market1501", "C:\\data\\1501_c6s4_001877_01", 1501, 6, {}),
    ("dukemtmc-reid", "0005_c2_f0046985.jpg", 5, 2, {"frame": 46985}),
    ("msmt17", "0000/0000_000_01_0303morning_0015_0_ex.jpg", 0, 1, {"session": "0303morning"}),
    ("msmt17", "1040_012_15_0302afternoon_1241_2.jpg", 1040, 15, {"image": "012"}),
    ("veri776", "0002_c002_00030600_0.jpg", 2, 2, {"frame": 30600}),
    ("vehicleid", "0371895 4815", 4815, None, {"image": "0371895"}),
    ("vehicleid", "0371895.jpg,12", 12, None, {}),
]


@pytest.mark.parametrize(("pattern", "name", "label", "camera", "other_fields"), CASES)
def test_published_names(pattern, name, label, camera, other_fields):
    result = be.parse_names([name], pattern)
    assert result.label.dtype == np.int64 and result.label.tolist() == [label]
    if camera is None:
        with pytest.raises(be.DataError, match="have no camera; they have label, image"):
            _ = result.camera
    else:
        assert result.camera.dtype == np.int64 and result.camera.tolist() == [camera]
    for key, value in other_fields.items():
        assert result.meta[key].tolist() == [value]
    for other_pattern in {x[0] for x in CASES} - {pattern}:
        with pytest.raises(be.DataError, match=f"It has the form of {pattern}"):
            be.parse_names([name], other_pattern)


@pytest.mark.parametrize(
    ("names", "pattern", "message"),
    [
        (["0002_c1s1_000451_03.jpg", "me.jpg", "x"], "market1501", r"2 of 3 .*'me.jpg' \(line 2\)"),
        (["0002_c002_00030600_0.jpg"], "market1501", "It has the form of veri776"),
        (["0005_c2_f0046985.jpg"], "veri776", "It has the form of dukemtmc-reid"),
        (["02_c1s1_000451_03.jpg"], "market1501", "1 of 1 names are not"),
        (["0002_c1s1_000451_03.jpg", ""], "market1501", "first is '' .line 2"),
        (["x" * 500], "market1501", r"x \.\.\. x+' \(line 1\)$"),
        (["0001_c1s1_" + "9" * 30 + "_03.jpg"], "market1501", "a frame beyond the range"),
        (["0001_c1s1_" + "9" * 5000 + "_03.jpg"], "market1501", "a frame beyond the range"),
        ([], "veri776", "is empty"),
        ("0002_c002_00030600_0.jpg", "veri776", "is one text"),
        (["0002_c002_00030600_0.jpg", 7], "veri776", "entry 1 is int"),
        (["x"], "market", "Did you mean 'market1501'"),
        (["٠٠٠٢_c1s1_000451_03.jpg"], "market1501", "1 of 1 names are not"),
    ],
)
def test_names_of_another_form(names, pattern, message):
    with pytest.raises(be.DataError, match=message):
        be.parse_names(names, pattern)


def test_names_as_numpy_has_them():
    names = ["0002_c1s1_000451_03.jpg", "-1_c3s2_000726_01.jpg"]
    for listed in (np.array(names), [np.str_(name) for name in names], iter(names)):
        assert be.parse_names(listed, "market1501").label.tolist() == [2, -1]


# ------------------------------------------------------------------------ lists


MARKET = ["0002_c1s1_000451_03.jpg", "0002_c2s1_000301_01.jpg", "-1_c1s1_000401_03.jpg"]


@pytest.fixture
def features(tmp_path):
    np.savez(
        tmp_path / "f.npz",
        x=np.array([[0.0, 0.0], [3.0, 4.0]]),
        g=np.array([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]]),
        q_names=MARKET[:2],
        g_names=MARKET,
    )
    (tmp_path / "q.txt").write_text("\n".join(MARKET[:2]) + "\n\n")
    (tmp_path / "g.txt").write_text("\ufeff" + "\r\n".join(f"gallery/{x}" for x in MARKET))
    (tmp_path / "g.csv").write_text("name,weather\n" + "".join(f"{x},dry\n" for x in MARKET))
    return tmp_path / "f.npz"


@pytest.mark.parametrize("gallery", ["g.txt", "g.csv"])
def test_lists_of_names_label_embeddings(features, gallery):
    scores = be.load(
        features,
        labels=features.with_name("q.txt"),
        gallery=features.with_name(gallery),
        names_of="market1501",
        metric="l2",
        columns={"embeddings": "x", "gallery_embeddings": "g"},
    )
    assert scores.values[0].tolist() == [1, 2, 3]
    assert scores.gallery_labels.tolist() == [2, 2, -1]
    assert scores.probe_meta["camera"].tolist() == [1, 2]
    assert scores.gallery_meta["camera"].tolist() == [1, 2, 1]
    assert ("weather" in scores.gallery_meta) == gallery.endswith(".csv")
    columns = {"embeddings": "x", "gallery_embeddings": "g", "labels": "q_names"}
    loaded = be.load(
        features, names_of="market1501", columns=columns | {"gallery_labels": "g_names"}
    )
    assert loaded.gallery_labels.tolist() == [2, 2, -1]


def test_names_beside_a_matrix(tmp_path):
    np.save(tmp_path / "dist.npy", np.ones((2, 3)))
    (tmp_path / "q.txt").write_text("\n".join(MARKET[:2]))
    (tmp_path / "g.csv").write_text("\n".join(MARKET))  # a list without a header
    (tmp_path / "ids.txt").write_text("0000001 7612\n0000002 15\n")

    def load(labels="q.txt", **options):
        sides = {"labels": tmp_path / labels, "gallery": tmp_path / "g.csv"}
        return be.load(tmp_path / "dist.npy", **sides, **options)

    scores = load(names_of="market1501")
    assert scores.gallery_meta["camera"].tolist() == [1, 2, 1]
    for options, says in (
        ({}, 'give `names_of="market1501"`'),
        ({"names_of": "veri776"}, "g.csv: 3 of 3 names are not of the form of veri776"),
        ({"names_of": "markt1501"}, "`names_of` is 'markt1501'.*Did you mean 'market1501'"),
        ({"names_of": "market1501", "labels": "g.csv"}, "3 labels, but the scores have 2 rows"),
    ):
        with pytest.raises(be.DataError, match=says):
            load(**options)
    sides = {"labels": tmp_path / "ids.txt", "gallery": tmp_path / "ids.txt"}
    np.save(tmp_path / "two.npy", np.ones((2, 2)))
    scores = be.load(tmp_path / "two.npy", names_of="vehicleid", **sides)
    assert scores.probe_labels.tolist() == [7612, 15]
    assert scores.probe_meta["image"].tolist() == ["0000001", "0000002"]
