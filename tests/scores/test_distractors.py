"""Distractors and junk are wrong entries for every probe, and no two of them one person."""

import numpy as np
import pytest
import xarray as xr
from study_calls import CALLS as STUDIES, TURNED

import bioeval as be
from bioeval.partition import Experiment

# ------------------------------------------------------------------ every call that takes scores

LIMITS = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}
MIXED = np.random.default_rng(5).permutation([*np.repeat(np.arange(1, 13), 4), *[0] * 10])
N = len(MIXED)
BY_HAND = np.where(MIXED == 0, 1000 + np.arange(N), MIXED)


def features() -> np.ndarray:
    centre = np.random.default_rng(1).normal(size=(13, 6)) * (np.arange(13) > 0)[:, None]
    return np.random.default_rng(2).normal(size=(N, 6)) + 1.2 * centre[MIXED]


def made(layout: str, labels: np.ndarray, ids, folder) -> be.Scores:
    """The same comparisons in a layout, with the ids of distractors."""
    embeddings, place = features(), np.arange(N)
    meta = {
        "camera": place % 3,
        "session": place // 3 % 2,
        "group": np.where(MIXED, MIXED, place) % 2,
    }
    options = {"probe_meta": meta, "distractor_ids": ids}
    if layout == "embeddings":
        return be.Scores.from_embeddings(embeddings, labels, metric="l2", **options)
    values = np.linalg.norm(embeddings[:, None] - embeddings, axis=2)
    scores = be.Scores(values, labels, **options)
    if layout == "sides":
        rows = place % 2 == 0
        sides = [{name: column[side] for name, column in meta.items()} for side in (rows, ~rows)]
        return be.Scores(
            values[np.ix_(rows, ~rows)], labels[rows], labels[~rows],
            probe_meta=sides[0], gallery_meta=sides[1], distractor_ids=ids,
        )  # fmt: skip
    if layout == "pairs":
        return scores.at_pairs(*np.nonzero(~np.eye(N, dtype=bool)))
    if layout == "npz":
        be.save(scores, folder / f"{len(ids)}.npz")
        return be.load(folder / f"{len(ids)}.npz")
    return scores


def changed(scores: be.Scores) -> be.Scores:
    values = scores.values
    return scores.with_values(values + 0.3 * np.sin(9 * values), "distance").replace(name="other")


def two_systems(scores: be.Scores) -> dict[str, be.Scores]:
    return {"one": scores, "other": changed(scores)}


CALLS = {
    "verification": lambda s: be.verification(s, **LIMITS),
    "verification of fused templates": lambda s: be.verification(s, templates="multi", **LIMITS),
    "claim_scores": lambda s: be.verification(be.claim_scores(s, attempts="session"), **LIMITS),
    "enrolled": lambda s: be.verification(
        be.claim_scores(s, enrol="first:2", templates="multi"), **LIMITS
    ),
    "open_set": lambda s: be.open_set(s, **LIMITS),
    "closed_set": lambda s: be.closed_set(s, unmated="skip", **LIMITS),
    "closed_set of single templates": lambda s: be.closed_set(s, unmated="skip", gallery="single"),
    "ranks": be.ranks,
    "evaluate": be.evaluate,
    "cross_evaluate of closed set": lambda s: be.cross_evaluate(
        s, Experiment(0.5, gallery_templates=1, random_state=0), task="closed_set"
    ),
    "compare": lambda s: be.compare(two_systems(s)),
    "judge_threshold": lambda s: be.judge_threshold(s, changed(s), "far=0.05", **LIMITS),
    "fuse": lambda s: be.verification(be.fuse(two_systems(s))),
    "check_data": lambda s: [x.check for x in be.check_data(s).findings],
    **STUDIES,
    **TURNED,
}
# These name the distractors, and have cards that count each label of the gallery once.
del CALLS["explain"], CALLS["conventions"]
LISTED = [
    "verification", "cross_evaluate", "compare", "study_threshold", "judge_threshold",
    "check_promise", "summary",
]  # fmt: skip


def of_nodes(result) -> list[xr.Dataset]:
    if isinstance(result, xr.DataTree):
        return [node.to_dataset() for node in result.subtree]
    return [result]


#: Columns of labels, which differ.
LABELS = ["subject", "identity", "probe_label", "gallery_label"]


def assert_same(result, wanted) -> None:
    """All numbers, and the subjects that the attributes count."""
    if not isinstance(result, xr.DataTree | xr.Dataset):
        assert str(result) == str(wanted)
        return
    for dataset, two in zip(of_nodes(result), of_nodes(wanted), strict=True):
        dataset, two = (x.drop_vars(LABELS, errors="ignore") for x in (dataset, two))
        xr.testing.assert_allclose(dataset, two, rtol=1e-12)
        for name in ("probe_subjects", "gallery_subjects", "enrolled_subjects"):
            assert dataset.attrs.get(name) == two.attrs.get(name)


@pytest.mark.parametrize(
    ("layout", "call"),
    [("square", x) for x in CALLS] + [("pairs", x) for x in LISTED]
    + [(x, y) for x in ("sides", "embeddings", "npz") for y in ("evaluate", "reid", "zoo")],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
def test_one_label_of_all_distractors_is_like_one_of_each(layout, call, tmp_path):
    own = BY_HAND[MIXED == 0].tolist()
    result, expected = (
        CALLS[call](made(layout, labels, ids, tmp_path))
        for labels, ids in ((MIXED, [0]), (BY_HAND, own))
    )
    assert_same(result, expected)


def test_lists_of_the_nearest_agree_with_the_matrix():
    scores = made("square", MIXED, [0], None)
    order = np.argsort(scores.values + 1e9 * np.eye(N), axis=1, kind="stable")[:, :-1]
    lists = be.Scores.from_top_k(order, MIXED)
    of_lists = be.reid(lists, "market1501", removed="none", distractor_ids=[0])
    of_matrix = be.reid(scores, "market1501", removed="none")
    assert of_lists["mean_ap"].item() == pytest.approx(of_matrix["mean_ap"].item(), rel=1e-12)
    for name in ("left_out", "subjects", "queries"):
        assert int(of_lists[name]) == int(of_matrix[name])
