"""Random galleries against simulated truth, real data, and what other programs drew."""

from __future__ import annotations

import numpy as np
import pytest
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.scores.simulation.closed_forms import GaussianScores


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["all-against-all", "probe-against-gallery"])
@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.cases(2)
def test_gaussian_scores_have_closed_forms(size, layout):
    """Of independent scores the expected rates over data are those of `size` templates each."""
    truth = GaussianScores(d_prime=2.0)
    subjects, templates, limits = 25, 4, [-2.5, -2.0, -1.0]
    more = {} if layout == "all-against-all" else {"probes": 4}
    result: dict[str, list] = {"dir": [], "far": []}
    for seed in range(24):
        scores = be.simulate(
            subjects, templates, model="gaussian-scores", d_prime=2.0, layout=layout,
            random_state=seed, **more,
        )  # fmt: skip
        ds = be.open_set(scores, gallery=size, rank_unit="subject", thresholds=limits, max_rank=6)
        for name, values in result.items():
            values.append(ds[name].values)
    ranks, of = np.arange(1, 7), {"templates": size}
    expected = {
        "dir": truth.dir(limits, ranks, subjects, mates=size, rank_unit="subject", **of),
        "far": truth.open_set_far(limits, subjects - 1, **of),
    }
    for name, values in result.items():
        se = np.std(values, axis=0, ddof=1) / np.sqrt(len(values))
        assert (np.abs(np.mean(values, axis=0) - expected[name]) <= 4 * se + 1e-4).all(), name


# ------------------------------------------------------------------------------- real data


@pytest.mark.slow
def test_orl_faces(shared):
    with np.load(shared / "orl_faces" / "embeddings.npz") as arrays:
        x, subjects = arrays["pca64"].astype(np.float64), arrays["subject"]
    scores = be.Scores.from_embeddings(x, subjects, metric="l2")
    exact = be.closed_set(scores, gallery="single", max_rank=20)
    drawn = be.closed_set(scores, gallery="single", max_rank=20, sampling=200, random_state=1)
    assert exact.attempts == 400
    error = np.abs(drawn.cms - exact.cms)
    assert (error <= 4 * np.maximum(drawn.cms_se, 1e-5)).all()
    # One template a subject is less than ten.
    assert (exact.cms < be.closed_set(scores, rank_unit="subject", max_rank=20).cms).all()


CASES = (
    "tiny", "two_camera", "multi_camera", "junk_and_distractors", "large", "many_positives",
    "ties_small", "ties_large", "single_shot_two_camera", "same_camera_only_matches",
    "distances_on_threshold_grid",
)  # fmt: skip


@pytest.mark.parametrize("camera_apart", [0, 1])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.cases(1)
def test_single_gallery_shot(shared, case, camera_apart):
    """Mean CMC of many random galleries, drawn by other programs as CUHK03's protocol says.

    Entries of the query's identity and camera are no candidates, or all of its camera; one entry
    of each identity is drawn for each query.
    """
    with np.load(shared / "reid" / f"{case}.npz") as arrays:
        data = {key: arrays[key] for key in arrays.files}
    same_camera = data["q_camids"][:, None] == data["g_camids"][None]
    same_person = data["q_pids"][:, None] == data["g_pids"][None]
    removed = same_camera if camera_apart else same_camera & same_person
    mask = np.where(removed, 0, np.where(same_person, 2, 1)).astype(np.uint8)
    scores = be.Scores(data["distmat"], data["q_pids"], data["g_pids"], mask=mask)
    result = be.closed_set(
        scores, gallery="single", ties="stable", unmated="skip", max_rank=100
    ).cms.values
    if np.isnan(result).all():
        pytest.skip("no query has a match")
    stem = f"separate_camera_set={camera_apart},single_gallery_shot=1,first_match_break"
    names = [(f"ref/open_reid/cmc/{stem}={flag}", scale) for flag, scale in ((0, 1), (1, 10))]
    if not camera_apart:
        names.append(("ref/torchreid/eval_cuhk03/cmc", 1))
    compared = 0
    for name, scale in names:
        key = next((k for k in (name, f"{name}|sort=stable") if f"{k}/mean" in data), None)
        if key is None:
            continue
        mean, se = data[f"{key}/mean"] / scale, data[f"{key}/standard_error"] / scale
        allowed = np.maximum(5 * se, 5e-3)
        assert (np.abs(result[: len(mean)] - mean) <= allowed).all(), name
        compared += 1
    assert compared


def test_the_page_on_random_galleries_runs(root):
    import doctest

    with np.printoptions(legacy=False):
        page = str(root / "docs" / "exact-galleries.md")
        failed, tried = doctest.testfile(page, module_relative=False)
    assert tried > 8 and not failed
