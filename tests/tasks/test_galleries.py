"""Galleries: exact means against every one of one template of each subject; several of a card."""

import re
from dataclasses import replace

import naive
import naive_galleries
import numpy as np
import pytest
import scipy
import strategies as own
from hypothesis import given, strategies as st
from reference import floats, one_thread  # noqa: F401
from result_messages import codes
from result_text import as_text

import bioeval as be
from bioeval.showing.nodes import datasets

COUNTS = ("genuine_attempts", "impostor_attempts")
OPEN = ("di", "dir", "fa", "far", "frr", "ttr", "ttr_identity", "ftr", "tied")
NANS = ("raise", "reject", "exclude")
# Few templates: all galleries are listed.
SMALL = ((1,), (3,), (1, 1), (2, 1), (2, 2), (3, 1, 2), (2, 2, 2), (4, 1, 1, 2), (1, 3, 2, 1, 2))


def assert_expected(ds, expected, names) -> None:
    for name in names:
        np.testing.assert_allclose(
            ds[name], floats(getattr(expected, name)), rtol=0, atol=1e-13, err_msg=name
        )


@st.composite
def drawn_cases(draw, sizes=SMALL):
    case = draw(own.matrices(nans=NANS, masks=("none", "labelled"), sizes=sizes))
    limits = draw(own.thresholds(case, max_size=4))
    return case, limits, draw(st.sampled_from(own.TIES))


@given(drawn_cases(), st.sampled_from(own.IMPOSTORS), st.sampled_from((None, 1, 2)))
def test_every_gallery(drawn_case, impostors, max_rank):
    case, limits, ties = drawn_case
    scores = be.Scores(**case.scores())
    options = {"ties": ties, "max_rank": max_rank}
    expected = naive_galleries.expected(
        **case.naive(), thresholds=limits, impostors=impostors, **options
    )
    options["gallery"] = "single"
    ds = be.open_set(scores, thresholds=limits, impostors=impostors, **options)
    for name in COUNTS:
        assert ds[name].item() == getattr(expected, name), name
    assert_expected(ds, expected, OPEN)
    closed = be.closed_set(scores, unmated="skip", **options)
    assert closed.attempts.item() == expected.genuine_attempts
    assert closed.skipped.item() == expected.skipped
    assert_expected(closed, expected, ("cms", "cms_count", "tied"))


# ------------------------------------------------------------------------------ the kernel


def test_mates_that_are_out_of_reach_still_tie():
    """Ties beyond the reported ranks still count."""
    rng = np.random.default_rng(6)
    subjects = np.repeat(np.arange(300), 3)
    distances = rng.integers(0, 50, (2, 900)).astype(float)
    distances[:, :3] = [0.0, 49.0, 49.0]
    scores = be.Scores(distances, [0, 0], subjects)
    first_ranks, all_ = (be.closed_set(scores, gallery="single", max_rank=k) for k in (2, 300))
    assert first_ranks.tied == all_.tied
    np.testing.assert_allclose(first_ranks.cms, all_.cms[:2], rtol=0, atol=1e-15)


# ------------------------------------------------------------------------- more than a handful


def one_by_one(d, labels, i: int, limit: int) -> np.ndarray:
    """Chances of the ranks of probe `i` of a square matrix, each trial convolved apart."""
    labels = np.asarray(labels)
    mates = np.nonzero((labels == labels[i]) & (np.arange(len(labels)) != i))[0]
    out = np.zeros(limit)
    for mate in mates:
        terms = np.ones(1)
        for subject in np.unique(labels[labels != labels[i]]):
            p = np.mean(d[i, labels == subject] <= d[i, mate])
            terms = np.convolve(terms, [1 - p, p])
        out += np.pad(terms, (0, limit))[:limit] / len(mates)
    return out


def test_of_many_subjects_who_are_nearer_by_half_the_ranks_are_binomial():
    """Of 1,200 subjects the chance that none is nearer underflows."""
    row = [1.0, *np.tile([0.5, 2.0], 1200)]
    subjects = np.append(0, np.repeat(np.arange(1, 1201), 2))
    ds = be.closed_set(be.Scores([row], [0], subjects), gallery="single")
    expected = scipy.stats.binom.cdf(ds["rank"].values - 1, 1200, 0.5)
    np.testing.assert_allclose(ds.cms, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("templates", [3, (2, 6), (1, 40)])
@pytest.mark.cases(2)
def test_many_subjects(templates):
    scores = be.simulate(40, templates, within=1.2, random_state=4)
    limit, rows = 30, np.arange(0, scores.shape[0], scores.shape[0] // 12)
    expected = np.mean([one_by_one(scores.values, scores.probe_labels, i, limit) for i in rows], 0)
    part = scores.select(probes=rows)
    result = be.closed_set(part, gallery="single", max_rank=limit)
    np.testing.assert_allclose(result.cms, np.cumsum(expected), rtol=0, atol=1e-13)


def test_far_of_many_templates():
    """Of more templates than there are logarithms in the table, and of fewer."""
    rng = np.random.default_rng(5)
    labels = np.repeat(["a", "b", "c"], (300, 20, 1))
    distances = rng.random((4, len(labels)))
    limits = [0.001, 0.01, 0.05, 0.9]
    scores = be.Scores(distances, ["x", "x", "y", "z"], labels)
    result = be.open_set(scores, gallery="single", thresholds=limits)
    for place, limit in enumerate(limits):
        none = np.ones(4)
        for subject in "abc":
            none *= 1 - (distances[:, labels == subject] <= limit).mean(axis=1)
        assert result.far[place] == pytest.approx(1 - none.mean(), abs=1e-13)


def test_an_evaluation_says_that_there_are_no_intervals():
    card = be.protocol.load("course-all-vs-all")
    text = re.sub(r'gallery = "all"', 'gallery = "single"', card.to_toml())
    scores = be.simulate(9, 3, random_state=1)
    tree = be.evaluate(scores, be.protocol.parse(text), interval="people")
    for name in ("open_set", "closed_set"):
        assert "no-interval" in codes(tree[name])
    assert tree["closed_set"].cms.equals(be.closed_set(scores, gallery="single").cms)


# ------------------------------------------------------------------------------ wrong usage


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gallery": "one"}, "gallery"),
        ({"gallery": 2}, "gallery"),
        ({"gallery": "single", "interval": "wilson"}, "intervals are of the whole gallery"),
        ({"gallery": "single", "rank_unit": "subject", "fusion": "mean"}, "Give `fusion"),
        ({"gallery": "single", "ties": "random"}, "ties"),
        ({"gallery": "single", "max_rank": 0}, "max_rank"),
    ],
)
def test_bad_options(options, message):
    scores = be.simulate(4, 2)
    for task in (be.open_set, be.closed_set):
        with pytest.raises(be.DataError, match=message):
            task(scores, **options)


def test_what_has_no_subjects_cannot_be_drawn_from():
    mask = np.array([[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    with pytest.raises(be.ProtocolError, match="a mask does not give"):
        be.closed_set(be.Scores(np.ones((3, 3)), mask=mask), gallery="single")
    with pytest.raises(be.ProtocolError, match="fixed pairs"):
        be.closed_set(be.Scores.from_pairs([1.0], [True]), gallery="single")


def test_unmated_probes():
    scores = be.Scores([[1, 2], [2, 1]], ["a", "x"], ["a", "b"])
    with pytest.raises(be.ProtocolError, match="1 of 2 probes have no usable mate, the first is p"):
        be.closed_set(scores, gallery="single")
    result = be.closed_set(scores, gallery="single", unmated="skip")
    assert (result.attempts, result.skipped) == (1, 1)
    alone = be.Scores([[1, 2]], ["x"], ["a", "b"])
    empty = be.open_set(alone, gallery="single", thresholds=[1])
    assert np.isnan(empty.dir).all() and empty.far == 1 and np.isnan(empty.eer_at_least)


def test_bounds_hold_the_operating_points():
    """The points of a fine grid lie within the bounds of a coarse grid."""
    scores = be.simulate(25, 4, within=0.9, random_state=11)
    coarse = be.open_set(scores, gallery="single", n_thresholds=12)
    of_fine_grid = be.open_set(scores, gallery="single", thresholds=np.unique(scores.values[0:3]))
    assert (
        coarse.eer_at_least <= of_fine_grid.eer_at_most
        and of_fine_grid.eer_at_least <= coarse.eer_at_most
    )
    assert (
        coarse.eer_at_most - coarse.eer_at_least
        > of_fine_grid.eer_at_most - of_fine_grid.eer_at_least
        >= 0
    )
    for place in range(len(coarse.far_target)):
        target = coarse.far_target[place].item()
        best = of_fine_grid.dir.values[of_fine_grid.far.values <= target].max(axis=0, initial=0)
        assert (best <= coarse.dir_at_far_at_most[place] + 1e-15).all()
    fine = be.open_set(scores, gallery="single", thresholds=np.unique(scores.values))
    assert (coarse.dir_at_far_at_least <= fine.dir_at_far_at_least + 1e-15).all()
    assert (fine.dir_at_far_at_least <= coarse.dir_at_far_at_most + 1e-15).all()
    for end in ("eer_at_least", "eer_at_most"):
        assert coarse.eer_at_least <= fine[end] <= coarse.eer_at_most


# ------------------------------------------------------------- streams, files, cards


def test_tiles_change_nothing(monkeypatch):
    scores = be.simulate(9, (1, 4), within=1.0, random_state=2)
    options = {"gallery": "single", "n_thresholds": 30}
    expected = be.open_set(scores, **options)
    monkeypatch.setattr("bioeval.counting.single_template.TILE_CHANCES", 100)
    monkeypatch.setattr("bioeval.scores.rows.BLOCK_VALUES", 50)
    assert be.open_set(scores, **options).equals(expected)


def two_galleries(seed: int = 0, sizes: tuple[int, int] = (12, 15)) -> be.Scores:
    """Two templates for each of 40 subjects against G1 and G2; other subjects are in neither."""
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
    assert sorted(tree.children) == ["closed_set", "open_set"]
    of_galleries = tree["open_set"].to_dataset()
    assert of_galleries["gallery"].values.tolist() == ["G1", "G2"]
    assert of_galleries["dir"].dims == ("gallery", "threshold", "rank")
    means = be.aggregate(of_galleries, "gallery").sel(statistic="mean")
    own, probes, gallery = (
        scores.gallery_meta["gallery"],
        scores.probe_labels,
        scores.gallery_labels,
    )
    for target in (0.1, 0.01):
        for rank in (1, 5):
            by_gallery = [
                naive.dir_at_far(
                    target, rank, values=scores.values[:, own == gallery_name],
                    probe_labels=probes, gallery_labels=gallery[own == gallery_name],
                )[0]
                for gallery_name in ("G1", "G2")
            ]  # fmt: skip
            result = means.dir_at_far.sel(far_target=target, rank=rank)
            assert result == pytest.approx(float(sum(by_gallery)) / 2, abs=1e-12)
    thresholds = of_galleries["threshold_at_far"]
    assert (thresholds.sel(gallery="G1", rank=1) != thresholds.sel(gallery="G2", rank=1)).all()
    for gallery_name, size in (("G1", 12), ("G2", 15)):
        part = scores.select(gallery=np.flatnonzero(own == gallery_name))
        alone = be.evaluate(part, "ijbc-1n", thresholds=of_galleries["threshold"].values)[
            "open_set"
        ]
        of_gallery = of_galleries.sel(gallery=gallery_name)
        for name in ("far", "frr", "fa", "ttr", "eer", "genuine_attempts"):
            np.testing.assert_array_equal(of_gallery[name], alone[name])
        np.testing.assert_array_equal(of_gallery["dir"].sel(rank=alone["rank"]), alone["dir"])
        assert of_gallery["gallery_templates"] == size
    # The galleries differ in size, so that pooled probes would give something else.
    pooled = be.evaluate(scores.select(), be.protocol.load("course-probe-vs-gallery"))
    place = {"far_target": 0.1, "rank": 1}
    assert float(pooled["open_set"].dir_at_far.sel(place)) != float(means.dir_at_far.sel(place))


def test_each_gallery_and_the_mean_are_shown_as_systems():
    card = be.protocol.load("ijbc-1n")
    card = replace(card, closed_set=replace(card.closed_set, max_rank=None))
    tree = be.evaluate(two_galleries(), card)
    by_path = dict(datasets(tree))
    names = ("G1", "G2", "mean")
    assert [*by_path] == [f"{g}/{x}" for g in names for x in ("open_set", "closed_set")]
    mean, cms = by_path["mean/closed_set"], tree["closed_set"].cms
    assert mean.sizes["rank"] == 12  # ranks that both galleries have
    np.testing.assert_allclose(mean.cms, cms.sel(rank=mean["rank"]).mean("gallery"), rtol=1e-12)
    assert mean.attempts == tree["closed_set"].attempts.sum()
    assert mean.attrs["gallery_templates"] == 27
    assert codes(mean)[0] == "mean-over-galleries"
    assert by_path["G1/closed_set"].sizes["rank"] == 12
    assert by_path["G2/closed_set"].attrs["gallery_templates"] == 15
    assert "means over the galleries G1 and G2" in as_text(tree)
    assert [*be.plot.cmc(tree).curves] == [*names]


def test_one_gallery_is_said_to_be_one():
    scores = two_galleries().select(gallery=np.arange(12))
    tree = be.evaluate(scores, "ijbc-1n")
    assert sorted(tree.children) == ["closed_set", "open_set"]
    assert "gallery" not in tree["open_set"].dims
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
