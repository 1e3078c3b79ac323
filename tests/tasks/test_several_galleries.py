"""Several galleries: each at its own thresholds, and the mean of the rates."""

import naive
import numpy as np
import pytest

import bioeval as be


def two_galleries(seed: int = 0, sizes: tuple[int, int] = (12, 15)) -> be.Scores:
    """Two templates of each of 40 subjects against G1 and G2; the rest are in neither."""
    rng = np.random.default_rng(seed)
    enrolled = rng.permutation(40)[: sum(sizes)]
    probes = np.repeat(np.arange(40), 2)
    values = rng.normal(size=(80, len(enrolled))) - 2.0 * (probes[:, None] == enrolled)
    values[:, : sizes[0]] *= 1.5  # thresholds differ
    names = np.repeat(["G1", "G2"], sizes)
    return be.Scores(values, probes, enrolled, gallery_meta={"gallery": names})


def test_the_mean_is_of_each_gallery_at_its_own_threshold():
    scores = two_galleries()
    tree = be.evaluate(scores, "ijbc-1n")
    assert sorted(tree.children) == ["G1", "G2", "mean"]
    mean = tree["mean/open_set"].to_dataset()
    own, probes, gallery = (
        scores.gallery_meta["gallery"],
        scores.probe_labels,
        scores.gallery_labels,
    )
    for target in (0.1, 0.01):
        for rank in (1, 5):
            each = [
                naive.dir_at_far(
                    target, rank, values=scores.values[:, own == g],
                    probe_labels=probes, gallery_labels=gallery[own == g],
                )[0]
                for g in ("G1", "G2")
            ]  # fmt: skip
            result = mean.dir_at_far.sel(far_target=target, rank=rank)
            assert result == pytest.approx(float(sum(each)) / 2, abs=1e-12)
    thresholds = [tree[f"{g}/open_set"].threshold_at_far for g in ("G1", "G2")]
    assert (thresholds[0] != thresholds[1]).all() and "threshold_at_far" not in mean
    assert "threshold" not in mean.dims and mean.attrs["galleries"] == "G1 G2"
    assert [x.code for x in be.messages(mean)][0] == "mean-over-galleries"
    assert mean.genuine_attempts == sum(
        tree[f"{g}/open_set"].genuine_attempts for g in ("G1", "G2")
    )
    cms = [tree[f"{g}/closed_set"].cms for g in ("G1", "G2")]
    np.testing.assert_array_equal(tree["mean/closed_set"].cms, (cms[0] + cms[1]) / 2)
    # The galleries differ in size, so that pooled probes would give something else.
    pooled = be.evaluate(scores.select(), be.protocol.load("course-probe-vs-gallery"))
    assert float(pooled["open_set"].dir_at_far.sel(far_target=0.1, rank=1)) != float(
        mean.dir_at_far.sel(far_target=0.1, rank=1)
    )


def test_one_gallery_is_said_to_be_one():
    scores = two_galleries().select(gallery=np.arange(12))
    tree = be.evaluate(scores, "ijbc-1n")
    assert sorted(tree.children) == ["closed_set", "open_set"]
    assert "one-gallery" in [x.code for x in be.messages(tree["open_set"])]


def test_galleries_that_cannot_be_taken_apart():
    scores = two_galleries()
    with pytest.raises(be.ProtocolError, match="averages over several galleries; use be.ev"):
        be.summary(scores, "ijbc-1n")
    names = np.array(scores.gallery_meta["gallery"])
    names[:3] = "a/"
    sides = scores.probe_labels, scores.gallery_labels
    scores = be.Scores(scores.values, *sides, gallery_meta={"gallery": names})
    with pytest.raises(be.DataError, match="name a gallery 'a/'; expected different words"):
        be.evaluate(scores, "ijbc-1n")
