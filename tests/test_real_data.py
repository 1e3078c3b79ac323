"""Published data and what others have computed from them.

The data are no part of the repository: ``tests/data/README.md`` lists them. Expected numbers are
those of their descriptions, found with other programs.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference import one_thread  # noqa: F401

import bioeval as be


def truth(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "README.json").read_text(encoding="utf-8"))["basic_truth_sklearn"]


def assert_points(ds, expected: dict[str, Any], per_pair: int = 1) -> None:
    """Compare attempts and points with published numbers; `per_pair` attempts count once."""
    assert ds.genuine_attempts == per_pair * expected["n_genuine"]
    assert ds.impostor_attempts == per_pair * expected["n_impostor"]
    assert float(ds.eer) == pytest.approx(expected["eer_linear_interp"], abs=1e-12)
    assert float(ds.auc) == pytest.approx(expected["auc"], abs=1e-9)
    bracket = [float(ds.eer_bracket_low), float(ds.eer_bracket_high)]
    sides = [sorted(side) for side in expected["eer_bracket_fmr_fnmr"]]
    assert any(bracket == pytest.approx(side, abs=1e-12) for side in sides)
    for target in ("0.1", "0.01", "0.001", "0.0001"):
        rate = expected.get(f"fnmr_at_fmr<={target}")
        if rate is not None:
            frr = float(ds.frr_at_far.sel(far_target=float(target)))
            assert frr == pytest.approx(rate, abs=1e-12)


# ------------------------------------------------------------------------------- faces of ORL


@pytest.fixture(scope="module")
def orl(request) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    folder = request.getfixturevalue("published") / "orl_faces"
    with np.load(folder / "embeddings.npz") as arrays:
        return truth(folder), {key: arrays[key] for key in arrays}


def orl_scores(arrays: dict[str, np.ndarray], features: str, metric: str, unseen: bool = False):
    chosen = ~arrays["pca_train"] if unseen else np.ones(400, dtype=bool)
    features_of_faces, subjects = arrays[features][chosen], arrays["subject"][chosen]
    return be.Scores.from_embeddings(features_of_faces.astype(np.float64), subjects, metric=metric)


def test_orl_all_against_all(orl):
    published, arrays = orl
    expected = published["dlib128 euclidean, all 400 images, all 79800 unordered pairs"]
    scores = orl_scores(arrays, "dlib128", "l2")
    tree = be.evaluate(scores)
    single, multi = tree["verification/single"], tree["verification/multi"]
    # Each unordered pair makes two attempts.
    assert (single.genuine_attempts, single.impostor_attempts) == (3600, 156_000)
    assert_points(single, expected, per_pair=2)
    (message,) = [x.arguments for x in be.messages(single) if x.code == "target-uncertain"]
    said = [message[x] for x in ("have", "targets", "needed")]
    assert said == [{"people": 40}, [0.01], [78]]
    assert (multi.genuine_attempts, multi.impostor_attempts) == (400, 400 * 39)
    assert (tree["open_set"].genuine_attempts, tree["open_set"].impostor_attempts) == (400, 400)
    closed = tree["closed_set"]
    assert (closed.attempts, len(closed.cms)) == (400, 399)
    for k in (1, 5, 10):
        assert closed.cms.sel(rank=k) == expected[f"rank{k}"]
    assert closed.recognition_rate == expected["rank1_ties_against_probe"] == 1.0


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_orl_unseen_subjects(orl, metric):
    published, arrays = orl
    expected = published[f"pca64 {metric}, subjects 20-39 only (unseen in training)"]
    scores = orl_scores(arrays, "pca64", {"euclidean": "l2"}.get(metric, metric), unseen=True)
    assert_points(be.verification(scores), expected, per_pair=2)
    closed = be.closed_set(scores)
    for k in (1, 5, 10):
        assert float(closed.cms.sel(rank=k)) == pytest.approx(expected[f"rank{k}"], abs=1e-12)


# ------------------------------------------------------------------------------- faces of LFW


@pytest.fixture(scope="module")
def lfw(request) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    folder = request.getfixturevalue("published") / "lfw_dlib"
    with np.load(folder / "embeddings.npz") as arrays:
        return truth(folder), {key: arrays[key] for key in arrays}


def distances_of_pairs(features: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    differences = features[pairs[:, 0]] - features[pairs[:, 1]]
    return np.sqrt((differences**2).sum(axis=1))


def test_lfw_pairs(lfw):
    published, arrays = lfw
    expected = published["view 2 pairs, euclidean distance"]
    images = arrays["pairs"][:, :2]
    fold, same = arrays["pairs"][:, 2:].T
    distances = distances_of_pairs(arrays["dlib128"].astype(np.float64), images)
    pairs = be.Scores.from_pairs(distances, same, subjects=arrays["label"][images])
    assert_points(be.verification(pairs), expected)
    assert sorted(set(fold.tolist())) == list(range(10))


def test_lfw_pairs_as_cells_of_a_matrix(lfw):
    _, arrays = lfw
    features = arrays["dlib128"].astype(np.float64)
    pairs = arrays["pairs"][::7]
    probes, row = np.unique(pairs[:, 0], return_inverse=True)
    gallery, column = np.unique(pairs[:, 1], return_inverse=True)
    labels = arrays["label"]
    matrix = be.Scores.from_embeddings(
        features[probes], labels[probes], features[gallery], labels[gallery], metric="l2"
    )
    cells = matrix.at_pairs(row, column)
    np.testing.assert_array_equal(cells.genuine, pairs[:, 3].astype(bool))
    np.testing.assert_allclose(cells.values, distances_of_pairs(features, pairs), rtol=1e-9)


# ------------------------------------------------------------------------------- score files

#: Options of `be.load` by the name under which README.json has the expected numbers.
FILES = {
    "bob_dev-4col.txt": {"kind": "similarity", "format": "bob"},
    "bob_test-4col.txt": {"kind": "similarity", "format": "bob"},
    "bob_atnt_scores-nonorm-dev.txt": {"kind": "distance", "format": "bob"},
    "bob_atnt_scores-nonorm-openset-dev.txt": {"kind": "distance", "format": "bob"},
    "bob_scores-cmc-4col.txt": {"kind": "similarity", "format": "bob"},
    "pyeer_exp1": {"kind": "similarity"},
    # Probes first.
    "pyeer_cmc_exp1": {
        "kind": "similarity",
        "trials": "pyeer_cmc_exp1_tp.txt",
        "format": "pyeer",
    },
}

#: The files to read under a name that is not itself a file.
PARTS = {
    "pyeer_exp1": ["pyeer_exp1_true.txt", "pyeer_exp1_false.txt"],
    "pyeer_cmc_exp1": ["pyeer_cmc_exp1_scores.txt"],
}


@pytest.mark.parametrize("name", FILES)
def test_score_files_of_other_programs(published, name, tmp_path):
    folder, options = published / "score_files", {**FILES[name]}
    expected = next(v for k, v in truth(folder).items() if k.split(" ")[0] == name)
    if "trials" in options:
        trials = (folder / options["trials"]).read_text()
        options["trials"] = tmp_path / "trials.txt"
        options["trials"].write_text("probe gallery\n" + trials)
    path = [folder / file for file in PARTS.get(name, [name])]
    assert_points(be.verification(be.load(path, **options)), expected)
    if "n_probes_with_mate" not in expected:
        return
    scores = be.load(path, lists={"as": "matrix"}, **options)
    for ties, side in (("optimistic", "for"), ("pessimistic", "against")):
        closed = be.closed_set(scores, unmated="skip", ties=ties)
        assert closed.attempts == expected["n_probes_with_mate"]
        assert closed.skipped == expected.get("n_probes_without_mate", 0)
        for rank in (1, 5):
            rate = expected.get(f"rank{rank}_ties_{side}_probe")
            assert rate is None or float(closed.cms.sel(rank=rank)) == rate
    if "trials" in options:  # and no subjects
        return
    # One model a subject: multi-template verification is the same.
    assert_points(be.verification(scores, templates="multi"), expected)
    opened = be.open_set(scores)
    assert opened.target_probes == expected["n_probes_with_mate"]
    if expected.get("n_probes_without_mate"):
        assert opened.impostor_attempts == expected["n_probes_without_mate"]
    else:
        assert opened.attrs["impostors"] == "leave-subject-out"


def test_matrix_and_mask_of_bob(published):
    folder = published / "score_files"
    (expected,) = (v for k, v in truth(folder).items() if k.startswith("bob_scores.mtx"))
    shape = tuple(expected["shape"])
    values = (folder / "bob_scores.mtx").read_bytes()[-4 * shape[0] * shape[1] :]
    cells = (folder / "bob_scores.mask").read_bytes()[-shape[0] * shape[1] :]
    mask = np.zeros(shape, dtype=np.uint8)
    classes = np.frombuffer(cells, dtype=np.uint8).reshape(shape)
    mask[classes == 255], mask[classes == 127] = 2, 1
    similarities = np.frombuffer(values, dtype="<f4").reshape(shape)  # read-only
    scores = be.Scores(similarities, mask=mask, kind="similarity")
    assert_points(be.verification(scores), expected)
    assert float(be.closed_set(scores).recognition_rate) == 0.76  # as the text file of the same
