"""Two systems of re-identification: paired by the identity of the queries."""

import numpy as np
import pytest
from twins import one_thread  # noqa: F401

import bioeval as be
from bioeval.cli import main
from bioeval.results.query_means import OF_QUERY
from bioeval.results.variables import QUERY_MEANS

PEOPLE = 25


def system(seed: int, noisy: int = PEOPLE, name: str = "") -> be.Scores:
    """Distances of three queries each of some people; those of `noisy` people have noise."""
    rng = np.random.default_rng(3)
    centre = rng.normal(size=(PEOPLE, 8))
    query, gallery = (np.repeat(centre, 3, 0) + 1.1 * rng.normal(size=(75, 8)) for _ in range(2))
    values = np.linalg.norm(query[:, None] - gallery, axis=-1)
    labels = np.repeat(np.arange(PEOPLE), 3)
    noise = np.random.default_rng(seed).normal(0, 0.6, values.shape)
    values += np.where(labels[:, None] < noisy, noise, 0)
    cameras = np.tile([1, 2, 3], PEOPLE)
    return be.Scores(
        values, labels, labels, probe_meta={"camera": cameras}, gallery_meta={"camera": cameras},
        name=name,
    )  # fmt: skip


@pytest.fixture(scope="module")
def pair() -> tuple[be.Scores, be.Scores]:
    return system(1, noisy=0, name="clean"), system(2, name="noisy")


@pytest.fixture(scope="module")
def result(pair):
    return be.compare(
        *pair,
        protocol="market1501",
        interval=be.stats.IntervalMethod("people", replicates=300),
    )


@pytest.mark.slow
def test_values_are_those_of_the_queries(pair, result):
    results = [be.reid(scores, per_query=True) for scores in pair]
    labels = pair[0].probe_labels
    each = {}
    for mean, of_query in OF_QUERY.items():
        if mean != "rank_k_mean_ap":
            each[QUERY_MEANS[mean].label] = [ds[of_query].values for ds in results]
    for rank in (1, 5):
        each[f"CMC({rank})"] = [ds.first_match_rank.values <= rank for ds in results]
    assert result.measure.values.tolist() == list(each)
    for name, (a, b) in each.items():
        both, change = result.sel(measure=name), a.astype(float) - b
        assert both.value.values == pytest.approx([a.mean(), b.mean()])
        row = both.isel(system=0, other_system=1)
        assert row.discordant == (np.abs(np.bincount(labels, change)) > 1e-9).sum()


@pytest.mark.parametrize("noisy", [0, 3, 5])
@pytest.mark.cases(1)
def test_fewer_than_six_people_are_no_evidence(noisy):
    """Of five people the most extreme outcome of a sign test is no evidence either."""
    a, b = system(1, noisy=0), system(4, noisy)
    result = be.compare(
        a,
        b,
        protocol="market1501",
        interval=be.stats.IntervalMethod("people", replicates=300),
    )
    assert (result.discordant <= noisy).all() and not result.separated.any()
    row = result.isel(system=0, other_system=1, measure=0)
    assert row.discordant == noisy and (row.difference != 0) == (noisy > 0)


def test_lists_are_compared_as_far_as_they_reach(pair):
    orders = [np.argsort(x.values, axis=1) for x in pair]
    result, whole = (
        be.compare(
            *(
                be.Scores.from_top_k(order[:, :length], x.probe_labels, x.gallery_labels)
                for order, x in zip(orders, pair, strict=True)
            ),
            protocol="vehicleid",
        )
        for length in (40, None)
    )
    assert (result.interval_for == "this gallery").all()
    assert result.measure.values[0] == "rank-40 mAP"
    for name in ("CMC(1)", "CMC(5)"):
        for part in ("value", "difference_low", "separated"):
            one, other = (x[part].sel(measure=name).values for x in (result, whole))
            np.testing.assert_allclose(one, other, atol=1e-12)


def test_what_has_no_meaning_is_refused(pair):
    a, b = pair
    with pytest.raises(be.ProtocolError, match="`far_targets` has no effect .*leave it out"):
        be.compare(a, b, protocol="market1501", far_targets=[0.5])
    with pytest.raises(be.ProtocolError, match="`fusion` and `ties`"):
        be.compare(a, b, protocol="market1501", fusion="mean", ties="stable")
    with pytest.raises(be.CardError, match="GOM, by which systems are not compared; .*be.gom"):
        be.compare(*pair, protocol="gom-market1501")
    with pytest.raises(be.DataError, match="has rank1; expected cmc=1"):
        be.compare(*pair, protocol="market1501", measures=["rank1"])
    with pytest.raises(be.CardError, match=r"no \[reid\] section"):
        be.compare(a, b, protocol="course-all-vs-all")
    fixed = be.Scores.from_pairs([0.1, 0.2], [1, 0], subjects=[("a", "a"), ("a", "b")])
    with pytest.raises(be.ProtocolError, match="fixed pairs"):
        be.compare(fixed, fixed, protocol="market1501")
    unenrolled_probes = be.Scores([[1, 2], [2, 1]], ["a", "b"], ["c", "d"])
    with pytest.raises(be.ProtocolError, match="no identity of the 2 queries"):
        be.compare(unenrolled_probes, unenrolled_probes, protocol="vehicleid")
    meta = {"camera": a.probe_meta["camera"][::-1]}
    moved = be.Scores(
        b.values, b.probe_labels, b.gallery_labels, probe_meta=meta, gallery_meta=b.gallery_meta
    )
    with pytest.raises(be.DataError, match="cameras differ at 50 of 75 places"):
        be.compare(a, moved, protocol="market1501")
    be.compare(
        a,
        moved,
        protocol="vehicleid",
        interval=be.stats.IntervalMethod("people", replicates=100),
    )


def test_worst_queries_have_names_and_a_page_of_gom_no_comparison(pair, tmp_path, capsys):
    files = [str(tmp_path / f"{scores.name}.npz") for scores in pair]
    for scores, file in zip(pair, files, strict=True):
        names = {"template": np.array([f"image{i}" for i in range(75)])}
        labels, cameras = np.repeat(np.arange(PEOPLE), 3), scores.probe_meta
        meta = {"probe_meta": {**cameras, **names}, "gallery_meta": cameras}
        be.save(be.Scores(scores.values, labels, labels, **meta), file)
    assert main(["run", files[1], "--protocol", "market1501", "--per-query"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    row = shown.partition("worst queries (rows, from 0): ")[2].split()
    assert row[1] == f"image{row[0]}"
    page = tmp_path / "page.html"
    how = ["--protocol", "gom-market1501", "--interval", "none", "--out", str(page)]
    assert main(["report", *files, *how]) == 0
    assert "better than" not in page.read_text() and "mReP" in page.read_text()
