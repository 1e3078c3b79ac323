"""Two systems of re-identification: paired by the identity of the queries."""

import numpy as np
import pytest
from compared import by_measure
from reference import one_thread  # noqa: F401
from result_messages import arguments

import bioeval as be
from bioeval.cli import main

PEOPLE = 25
FEW = be.stats.IntervalMethod("people", replicates=300)
OF_QUERY = {
    "mean_ap": "average_precision",
    "mean_inp": "inp",
    "mrr": "reciprocal_rank",
    "r_precision": "query_r_precision",
    "mean_ap_at_r": "query_ap_at_r",
    "ndcg": "query_ndcg",
}


def system(seed: int, noisy: int = PEOPLE, name: str = "") -> be.Scores:
    """Distances of three queries for each person; distances of `noisy` people have noise."""
    rng = np.random.default_rng(3)
    centre = rng.normal(size=(PEOPLE, 8))
    query, gallery = (np.repeat(centre, 3, 0) + 1.1 * rng.normal(size=(75, 8)) for _ in range(2))
    values = np.linalg.norm(query[:, None] - gallery, axis=-1)
    labels = np.repeat(np.arange(PEOPLE), 3)
    noise = np.random.default_rng(seed).normal(0, 0.6, values.shape)
    values += np.where(labels[:, None] < noisy, noise, 0)
    cameras = {"camera": np.tile([1, 2, 3], PEOPLE)}
    return be.Scores(values, labels, labels, probe_meta=cameras, gallery_meta=cameras, name=name)


@pytest.fixture(scope="module")
def pair() -> tuple[be.Scores, be.Scores]:
    return system(1, noisy=0, name="clean"), system(2, name="noisy")


def test_values_are_those_of_the_queries(pair):
    result = be.compare(*pair, protocol="market1501", interval=FEW)
    results = [be.reid(scores, per_query=True) for scores in pair]
    labels = pair[0].probe_labels
    by_query = {label: [ds[name].values for ds in results] for label, name in OF_QUERY.items()}
    for rank in (1, 5):
        by_query[f"cmc={rank}"] = [ds.first_match_rank.values <= rank for ds in results]
    by_name = by_measure(result)
    assert [*by_name] == [*by_query]
    for name, (first, second) in by_query.items():
        measure, change = by_name[name], first.astype(float) - second
        assert measure.value.values == pytest.approx([first.mean(), second.mean()])
        row = measure.isel(system=0, other_system=1)
        assert row.discordant == (np.abs(np.bincount(labels, change)) > 1e-9).sum()
    measures = ["cmc=3", "mean_ap", "mean_inp"]
    comparison = be.compare(*pair, protocol="market1501", measures=measures, interval=FEW)
    assert [*by_measure(comparison)] == measures
    rates = [float(be.reid(scores).cmc.sel(rank=3)) for scores in pair]
    assert comparison.cmc.sel(rank=3).values == pytest.approx(rates)


@pytest.mark.parametrize("noisy", [0, 3, 5])
def test_fewer_than_six_people_are_no_evidence(noisy):
    """Of five people the most extreme outcome of a sign test is no evidence either."""
    first, second = system(1, noisy=0), system(4, noisy)
    result = be.compare(first, second, protocol="market1501", interval=FEW)
    for row in by_measure(result).values():
        assert (row.discordant <= noisy).all() and not row.separated.any()
    row = result.isel(system=0, other_system=1)
    assert row.mean_ap_discordant == noisy and (row.mean_ap_difference != 0) == (noisy > 0)


def test_lists_are_compared_as_far_as_they_reach(pair):
    def lists(*lengths):
        for scores, length in zip(pair, lengths, strict=True):
            order = np.argsort(scores.values, axis=1)[:, :length]
            yield be.Scores.from_top_k(order, scores.probe_labels, scores.gallery_labels)

    options = {"protocol": "vehicleid", "interval": FEW}
    compared = (be.compare(*lists(x, x), **options) for x in (40, None))
    result, of_whole = map(by_measure, compared)
    assert {x.value.attrs["interval_for"] for x in result.values()} == {"this gallery"}
    assert next(iter(result)) == "rank_k_mean_ap=40"
    for name in ("cmc=1", "cmc=5"):
        for part in ("value", "difference_low", "separated"):
            short_part, whole_part = (x[name][part].values for x in (result, of_whole))
            np.testing.assert_allclose(short_part, whole_part, atol=1e-12)
    short = be.compare(*lists(3, 4), measures=["mean_ap", "cmc=1"], **options)
    assert [*by_measure(short)] == ["cmc=1"]
    assert arguments(short, "measures-not-defined")["measures"] == ["mean_ap"]
    assert "re-identification, vehicleid" in be.to_markdown(short)
    with pytest.raises(be.DataError, match="none of the measures is defined"):
        be.compare(*lists(3, 4), measures=["mean_ap"], **options)


def moved(scores, card):
    """Compare with the same scores whose probes are seen by other cameras."""
    meta = {"probe_meta": {"camera": scores.probe_meta["camera"][::-1]}}
    meta["gallery_meta"] = scores.gallery_meta
    moved_cameras = be.Scores(scores.values, scores.probe_labels, scores.gallery_labels, **meta)
    return be.compare({"a": scores, "b": scores, "c": moved_cameras}, protocol=card, interval=FEW)


FIXED = be.Scores.from_pairs([0.1, 0.2], [1, 0], subjects=[("a", "a"), ("a", "b")])
NOT_ENROLLED = be.Scores([[1, 2], [2, 1]], ["a", "b"], ["c", "d"])


@pytest.mark.parametrize(
    ("card", "options", "systems", "says"),
    [
        ("market1501", {"far_targets": [0.5]}, None, "`far_targets` has no effect .*leave it out"),
        ("market1501", {"fusion": "mean", "ties": "stable"}, None, "`fusion` and `ties`"),
        ("market1501", {"measures": "mean_ap", "ties": "stable"}, None, "`ties` has no effect"),
        ("gom-market1501", {}, None, "GOM, by which systems are not compared; .*be.gom"),
        ("market1501", {"measures": ["rank1"]}, None, "has rank1; expected cmc=1"),
        ("course-all-vs-all", {}, None, r"no \[reid\] section"),
        ("market1501", {}, FIXED, "fixed pairs"),
        ("vehicleid", {}, NOT_ENROLLED, "no identity of the 2 queries"),
    ],
)
def test_what_has_no_meaning_is_refused(pair, card, options, systems, says):
    compared_systems = pair if systems is None else (systems, systems)
    with pytest.raises(be.BioevalError, match=says):
        be.compare(*compared_systems, protocol=card, **options)


def test_cameras_are_the_same_where_they_count(pair):
    assert moved(pair[0], "vehicleid").sizes["system"] == 3
    with pytest.raises(be.DataError, match="c: the system is not like a: .*cameras differ at 50"):
        moved(pair[0], "market1501")


def test_worst_queries_have_names_and_a_page_of_gom_no_comparison(pair, tmp_path, capsys):
    files = [str(tmp_path / f"{scores.name}.npz") for scores in pair]
    for scores, file in zip(pair, files, strict=True):
        cameras, names = scores.probe_meta, np.array([f"image{i}" for i in range(75)])
        meta = {"probe_meta": {**cameras, "template": names}, "gallery_meta": cameras}
        be.save(be.Scores(scores.values, *[scores.probe_labels] * 2, **meta), file)
    assert main(["run", files[1], "--protocol", "market1501", "--per-query"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    row = printed.partition("Worst queries (rows, from 0): ")[2].split()
    assert row[1].startswith(f"(image{row[0]})")
    page = tmp_path / "page.html"
    options = ["--protocol", "gom-market1501", "--interval", "none", "--out", str(page)]
    assert main(["report", *files, *options]) == 0
    assert "better than" not in page.read_text() and "mReP" in page.read_text()
