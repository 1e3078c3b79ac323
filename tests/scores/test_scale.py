"""A number of one scale is not carried over to another."""

import numpy as np
import pytest

import bioeval as be

CROWD = be.simulate_embeddings(30, 4, random_state=1)
UNITS = CROWD.embeddings / np.linalg.norm(CROWD.embeddings, axis=1, keepdims=True)
HALVES = {"train": CROWD.labels < np.sort(CROWD.labels)[60]}
HALVES["test"] = ~HALVES["train"]


def half(part: str, metric: str = "cosine") -> be.Scores:
    rows = HALVES[part]
    return be.Scores.from_embeddings(UNITS[rows], CROWD.labels[rows], metric=metric)


@pytest.mark.parametrize(
    ("test", "words"),
    [
        (lambda: half("test", "l2"), "metric .*'cosine'.*'l2'"),
        (lambda: be.claim_scores(half("test")), "attempts .*'comparisons'"),
        (
            lambda: be.Scores(-half("test").values, half("test").probe_labels, kind="similarity"),
            "kind .*'distance'.*'similarity'",
        ),
        (lambda: be.fuse({"a": half("test"), "b": half("test", "l1")}), "origin"),
    ],
    ids=["metric", "claims", "kind", "fused"],
)
def test_a_threshold_of_another_scale_is_refused(test, words):
    with pytest.raises(be.DataError, match=f"two scales: the {words}"):
        be.judge_threshold(half("train"), test(), "far=0.1")


def test_what_is_not_known_is_not_compared():
    """A matrix that was read may have the distances of a metric."""
    test = half("test")
    read = be.Scores(test.values, test.probe_labels)
    known, unknown = (be.judge_threshold(half("train"), x, "far=0.1") for x in (test, read))
    assert known.frr.values.tolist() == unknown.frr.values.tolist()


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
def test_systems_of_two_scales_have_no_threshold_in_common():
    systems = {x: half("train", x) for x in ("cosine", "l2")}
    with pytest.raises(be.DataError, match="cosine and l2 are on two scales: the metric"):
        be.compare(systems, measures=["frr_at_threshold=0.4"])
    be.compare(systems, measures=["eer"])  # each at its own threshold
