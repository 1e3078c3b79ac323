"""Tallies folded on a grid, and those that a site shares."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from result_messages import arguments, codes

import bioeval as be
from bioeval.cli import main
from bioeval.cli.run_outputs import task_document
from bioeval.studies.sites.results import folded_queries
from bioeval.views import rows_of_task, written

GRID = np.linspace(1, 6, 21)


def population(seed: int = 0, subjects: int = 30) -> be.Scores:
    return be.simulate(subjects, 3, layout="probe-against-gallery", probes=2, random_state=seed)


def counted(seed: int = 0, **options) -> be.Tally:
    return be.tally(population(seed), thresholds=GRID, site=f"site {seed}", **options)


@pytest.mark.parametrize("layout", ["all-against-all", "probe-against-gallery"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.cases(1)
def test_folded_counts_are_those_of_the_probes(layout, kind):
    simulated = be.simulate(12, 3, layout=layout, random_state=4)
    sides = (simulated.probe_labels,) if layout == "all-against-all" else (
        simulated.probe_labels, simulated.gallery_labels
    )  # fmt: skip
    values = simulated.values if kind == "distance" else -simulated.values
    whole = be.tally(be.Scores(values, *sides, kind=kind))
    folded = whole.folded(max_rank=4)
    some = {"rank": slice(1, 4)}
    for node in ("open_set", "closed_set"):
        exact, result = whole.dataset(node).sel(some), folded.dataset(node)
        shared = [name for name in result.data_vars if name in exact]
        assert {"tied"} < set(shared)
        for name in shared:
            assert exact[name].equals(result[name]), name
    exact, result = whole.dataset("open_set").sel(some), folded.dataset("open_set")
    assert result.eer_at_least - 1e-12 <= exact.eer <= result.eer_at_most + 1e-12
    assert (result.dir_at_far_at_least <= exact.dir_at_far).all()
    assert (result.dir_at_far_at_most >= exact.dir_at_far).all()
    node = "verification/single"
    assert folded.dataset(node).identical(whole.dataset(node))


def test_folded_parts_merge_to_the_folded_whole(tmp_path):
    scores = population()
    rows = np.arange(scores.shape[0])
    parts = [
        be.tally(scores.select(probes=x), thresholds=GRID).folded(GRID)
        for x in (rows[::2], rows[1::2])
    ]
    parts[0].save(tmp_path / "a.tally")
    merged = be.Tally.load(tmp_path / "a.tally").merge(parts[1])
    whole = be.tally(scores, thresholds=GRID).folded(GRID)
    for node in whole.parts:
        assert merged.dataset(node).equals(whole.dataset(node)), node
    with pytest.raises(be.MergeError, match="folded at different ranks"):
        parts[0].merge(be.tally(scores.select(probes=rows[1::2]), thresholds=GRID).folded(
            GRID, max_rank=3
        ))  # fmt: skip
    with pytest.raises(be.MergeError, match="folded at different thresholds"):
        parts[0].merge(be.tally(scores.select(probes=rows[1::2]), thresholds=GRID).folded(
            GRID[:5]
        ))  # fmt: skip


def test_a_folded_tally_does_not_grow_with_the_probes():
    sizes = []
    for subjects in (20, 80):
        folded = be.tally(population(1, subjects)).folded(GRID, max_rank=10)
        tally = folded.parts["open_set"].tally
        sizes.append([(tally.di.nbytes, tally.within.nbytes)])
    assert sizes[0] == sizes[1]


def test_what_is_shared_has_counts_alone(tmp_path):
    scores = population()
    whole = be.tally(scores, thresholds=GRID, points=True, key="key")
    path = tmp_path / "shared.tally"
    whole.share(GRID, salt="salt", min_count=0).save(path)
    with path.open("rb") as file, np.load(file) as archive:
        arrays = dict(archive)
    floats = {name: x for name, x in arrays.items() if x.dtype.kind == "f"}
    assert all(np.isin(x, GRID).all() for x in floats.values())
    text = arrays.pop("header").tobytes().decode()
    header = json.loads(text)
    assert header["discloses"] == be.Tally.load(path).disclosed()
    before = {*whole.counted.probes.tolist()}
    for x in arrays.values():
        assert not before & {*x.ravel().tolist()}
    about = whole.parts["open_set"].tally.about
    for digest in (*about.probe_subjects, *about.fingerprints, about.gallery):
        assert digest not in text
    shared = be.Tally.load(path)
    for node in ("verification/single", "verification/multi"):
        exact, result = whole.dataset(node), shared.dataset(node)
        for name in ("ga", "fa", "gar", "far", "genuine_attempts", "subjects"):
            assert exact[name].equals(result[name]), name
        for name in ("eer", "auc"):
            assert result[f"{name}_at_least"] <= exact[name] <= result[f"{name}_at_most"]
        assert (result.frr_at_far_at_least <= exact.frr_at_far[:4] + 1e-12).all()
        assert (result.frr_at_far_at_most >= exact.frr_at_far[:4] - 1e-12).all()


def test_shared_tallies_merge_by_their_salt():
    scores = population()
    rows = np.arange(scores.shape[0])
    a, b, c = (
        be.tally(scores.select(probes=x), thresholds=GRID).share(GRID, salt=salt, min_count=0)
        for x, salt in ((rows[:30], "s"), (rows[30:], "s"), (rows[30:], "other"))
    )
    merged, whole = a.merge(b), be.tally(scores, thresholds=GRID).share(GRID, salt="s", min_count=0)
    for node in whole.parts:
        assert merged.dataset(node).equals(whole.dataset(node)), node
    with pytest.raises(be.MergeError, match="would count twice"):
        a.merge(a.merge(b))
    with pytest.raises(be.MergeError, match="different galleries|different keys"):
        a.merge(c)
    with pytest.raises(be.DataError, match="one that was shared"):
        a.share(GRID, min_count=0)


def test_without_digests_sites_are_told_apart_by_name():
    a, b = counted(0).share(GRID, min_count=0), counted(1).share(GRID, min_count=0)
    merged = a.merge(b)
    result = merged.dataset("verification/single")
    assert "digests-dropped" in codes(result)
    assert int(result.genuine_attempts) == 2 * 30 * 2 * 3 and "subjects" not in result
    with pytest.raises(be.MergeError, match="sites with one name"):
        a.merge(merged)
    with pytest.raises(be.MergeError, match="one tally was shared, and the other not"):
        a.merge(counted(1))


@pytest.mark.parametrize("least", [2, 5, 20])
def test_no_count_is_small(least, tmp_path):
    whole = counted()
    shared = whole.share(GRID, max_rank=20, min_count=least)
    shared.save(tmp_path / "x.tally")
    shared = be.Tally.load(tmp_path / "x.tally")
    for part in shared.parts.values():
        for table in part.tally.tables().values():
            assert ((table == 0) | (table >= least)).all()
    node = "verification/single"
    kept, exact = shared.dataset(node), whole.dataset(node)
    at = {"threshold": kept.threshold.values}
    assert 0 < kept.sizes["threshold"] < len(GRID)
    for name in ("far", "frr"):
        assert kept[name].equals(exact[name].sel(at))
    if least > 2:
        found = arguments(kept, "counts-too-small-to-share")
        assert found["tasks"] == "open_set and closed_set" and found["total"] == 2
        return
    result = shared.dataset("open_set")
    ranks = result["rank"].values
    assert result.dir.equals(
        whole.dataset("open_set").dir.sel(threshold=result.threshold.values, rank=ranks)
    )
    both = shared.merge(counted(1).share(GRID, max_rank=20, min_count=least))
    exact_both = whole.merge(counted(1)).dataset(node)
    joint = both.dataset(node)
    assert joint.far.equals(exact_both.far.sel(threshold=joint.threshold.values))


def test_too_few_to_share():
    scores = population(subjects=3)
    with pytest.raises(
        be.DataError, match="nothing can be shared .* 18 genuine attempts, fewer than 50"
    ):
        be.tally(scores, thresholds=GRID).share(GRID, min_count=50)


def test_what_cannot_be_folded():
    cameras = {"probe_meta": {"camera": [1, 1]}, "gallery_meta": {"camera": [2, 2]}}
    scores = be.Scores(np.ones((2, 2)), [1, 2], [1, 2], **cameras)
    with pytest.raises(be.ProtocolError, match="has weights of matches"):
        be.tally(scores, "open-reid").folded()
    with pytest.raises(be.MergeError, match="not counted at these thresholds"):
        be.tally(population()).share(GRID, min_count=0)


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("thresholds", lambda x: x[::-1]),
        ("thresholds", lambda x: x[:-1]),
        ("di", lambda x: -x),
        ("within", lambda x: x[:4]),
        ("ranks", lambda x: x * 0),
        ("impostor", lambda x: x.astype(float)),
    ],
)
def test_damaged_counts_are_refused(name, how, tmp_path):
    path = tmp_path / "x.tally"
    counted().share(GRID, max_rank=3, salt="s", min_count=0).save(path)
    with path.open("rb") as file, np.load(file) as archive:
        arrays = dict(archive)
    key = next(x for x in arrays if x.endswith(f".{name}"))
    arrays[key] = how(arrays[key])
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(be.DataError, match="damaged"):
        be.Tally.load(path)


def test_damaged_headers_are_refused(tmp_path):
    path = tmp_path / "x.tally"
    counted().share(GRID, max_rank=3, salt="s", min_count=0).save(path)
    with path.open("rb") as file, np.load(file) as archive:
        arrays = dict(archive)
    whole = json.loads(arrays["header"].tobytes())
    for change in (
        {"shared": {**whole["shared"], "min_count": -1}},
        {"part": {"class": "GalleryPart", "covered": {"tuple": []}, "missing": {"tuple": []},
                  "mates": ""}},
    ):  # fmt: skip
        arrays["header"] = np.frombuffer(json.dumps(whole | change).encode(), dtype=np.uint8)
        with path.open("wb") as file:
            np.savez(file, **arrays)
        with pytest.raises(be.DataError, match="damaged"):
            be.Tally.load(path)


def test_names_in_how_a_file_was_read_are_not_shared(tmp_path):
    scores = be.simulate(12, 3, random_state=4)
    scores = scores._with(_reading=("subjects from names: secret/1.wav -> secret",))
    whole = be.tally(scores, thresholds=GRID)
    whole.save(tmp_path / "own.tally")
    assert be.Tally.load(tmp_path / "own.tally").dataset("closed_set").attrs["reading"]
    whole.share(GRID, salt="salt", min_count=0).save(tmp_path / "shared.tally")
    assert b"secret" in (tmp_path / "own.tally").read_bytes()
    assert b"secret" not in (tmp_path / "shared.tally").read_bytes()


# ------------------------------------------------------------- re-identification and GOM


def queries(seed: int, people: int = 16) -> be.Scores:
    """Queries of people of whom a quarter is not in the gallery, under three cameras."""
    rng = np.random.default_rng(seed)
    who, camera = np.repeat(np.arange(people), 6), np.tile(np.arange(6) % 3, people)
    features = rng.normal(size=(people, 8))[who] + 0.6 * rng.normal(size=(len(who), 8))
    query = np.tile([True] * 3 + [False] * 3, people)
    enrolled = ~query & (who < people * 3 // 4)
    values = np.linalg.norm(features[query][:, None] - features[enrolled], axis=-1)
    return be.Scores(
        values, who[query], who[enrolled],
        probe_meta={"camera": camera[query]}, gallery_meta={"camera": camera[enrolled]},
    )  # fmt: skip


def assert_within(result, whole) -> float:
    """Hold bounds to the exact result; return the largest width."""
    width = 0.0
    names = {str(x).removesuffix("_at_least") for x in result if str(x).endswith("_at_least")}
    assert names
    for name in names:
        low, high = result[f"{name}_at_least"].values, result[f"{name}_at_most"].values
        exact = whole[name].sel({dim: result[dim] for dim in result[f"{name}_at_least"].dims})
        assert (low <= exact.values + 1e-12).all() and (exact.values <= high + 1e-12).all(), name
        width = max(width, float((high - low).max(initial=0.0)))
    for name in ("queries", "skipped", "open_queries"):
        assert name not in result or result[name] == whole[name]
    return width


CARDS = ("market1501", "market1501-original", "vehicleid", "gom-market1501")


@pytest.mark.slow
@pytest.mark.parametrize("card", CARDS)
@settings(max_examples=5)
@given(seed=st.integers(0, 2**32), least=st.sampled_from((0, 3, 6)))
@pytest.mark.cases(2)
def test_shared_means_over_queries_are_bounded(card, seed, least):
    whole = be.tally(queries(seed), card)
    shared = whole.share(max_rank=8, min_count=least)
    result, exact = shared.dataset(), whole.dataset()
    width = assert_within(result, exact)
    tally = next(iter(shared.parts.values())).tally
    if least:
        assert not ((tally.values > 0) & (tally.values < least)).any()
    else:
        assert width <= 0.01 + 1e-12
    if "rank" in result.dims:
        known = np.isin(result["rank"], tally.ranks)
        at = exact.cmc.sel(rank=result["rank"]).values
        if "cmc" in result:
            np.testing.assert_array_equal(result.cmc.values[known], at[known])
        assert not least or not ((tally.first > 0) & (tally.first < least)).any()


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize("least", [0, 4])
@pytest.mark.cases(4)
def test_shared_queries_merge(card, least, tmp_path):
    scores = queries(3)
    options = {"normalize": (0.0, 20.0)} if card.startswith("gom") else {}
    rows = np.arange(scores.shape[0])
    parts = [
        be.tally(scores.select(probes=x), card, **options).share(min_count=least, salt="s")
        for x in (rows[::2], rows[1::2])
    ]
    parts[0].save(tmp_path / "a.tally")
    merged = be.Tally.load(tmp_path / "a.tally").merge(parts[1]).dataset()
    whole = be.tally(scores, card, **options)
    if not least:
        assert merged.equals(whole.share(salt="s", min_count=0).dataset())
    assert_within(merged, whole.dataset())
    with pytest.raises(be.MergeError, match="would count twice"):
        parts[0].merge(parts[0])
    if not least and "rank" in merged.dims:
        other = be.tally(scores.select(probes=rows[1::2]), card).share(
            max_rank=3, salt="s", min_count=0
        )
        with pytest.raises(be.MergeError, match="folded at different ranks"):
            parts[0].merge(other)


def test_queries_counted_by_other_measures_do_not_merge():
    one, other = (
        be.tally(queries(seed), "market1501").share(min_count=0, salt="s").parts["reid"].tally
        for seed in (1, 2)
    )
    other.measures = other.measures[::-1]
    with pytest.raises(be.MergeError, match="measures"):
        one.merge(other)


def test_the_cmc_between_the_ranks_of_all_sites_is_bounded():
    """Ranks 1 and 2 were left out at some site: CMC(1) and CMC(2) lie between 0 and CMC(3)."""
    tally = be.tally(queries(1), "market1501").share(max_rank=5, min_count=0)
    node, part = next(iter(tally.parts.items()))
    folded = part.tally.at_ranks(np.array([3, 5]))
    result = folded_queries(folded)
    whole = tally.dataset().cmc.values
    assert result["rank"].values.tolist() == [1, 2, 3, 4, 5] and whole[2] < whole[4]
    np.testing.assert_array_equal(result.cmc, [np.nan, np.nan, whole[2], np.nan, whole[4]])
    np.testing.assert_array_equal(result.cmc_at_least, [0, 0, whole[2], whole[2], whole[4]])
    np.testing.assert_array_equal(result.cmc_at_most, [whole[2]] * 3 + [whole[4]] * 2)
    rows = {written(row.label): row.value.value for row in rows_of_task(result)}
    assert rows["Rank 1, at least"] == 0 and rows["Rank 1, at most"] == whole[2]
    assert rows["Rank 5"] == whole[4]
    assert task_document(result)["ranks"][0]["cmc_at_most"] == whole[2]
    (line,) = be.plot.cmc(result).lines_.values()
    assert line.get_xdata().tolist() == [3, 5]


def test_gom_is_shared_at_some_thresholds():
    whole = be.tally(queries(1), "gom-market1501")
    result = whole.share([0.1, 0.2, 0.5], min_count=0).dataset()
    assert result.threshold.values.tolist() == [0.1, 0.2, 0.5]
    assert_within(result.drop_vars([x for x in result if not result[x].dims and "_at_" in str(x)]),
                  whole.dataset())  # fmt: skip
    with pytest.raises(be.ProtocolError, match="give thresholds among those of the tally"):
        whole.share([0.105], min_count=0)
    lines = " ".join(whole.share([0.1], min_count=0).disclosed())
    assert "counts of queries by hundredths of" in lines and "at 1 threshold" in lines
    alone = be.tally(queries(1).select(probes=np.arange(12)), "gom-market1501")
    alone = alone.share(min_count=0).dataset()
    assert alone.open_queries == 0 and np.isnan(alone.mfr).all()  # all are in the gallery
    other = be.tally(queries(1), "gom-market1501", thresholds=[0.1, 0.2])
    with pytest.raises(be.MergeError):
        whole.share(min_count=0).merge(other.share(min_count=0))


def test_weights_of_matches_do_not_fold():
    scores = queries(1)
    for card in ("open-reid", "cuhk03"):
        with pytest.raises(be.ProtocolError, match="has weights of matches; they do not fold"):
            be.tally(scores, card).share(min_count=0)
    few = scores.select(probes=np.flatnonzero(scores.probe_labels < 1))
    with pytest.raises(be.DataError, match="queries with a match, fewer than 5"):
        be.tally(few, "market1501").share(min_count=5)


def test_damaged_folded_queries_are_refused(tmp_path):
    file = tmp_path / "t.npz"
    be.tally(queries(1), "market1501").share(min_count=0).save(file)
    with np.load(file) as archive:
        arrays = dict(archive)
    name = next(x for x in arrays if x.endswith("values"))
    for key, wrong in (
        (name, arrays[name][:, 1:]),
        (name, -1 - arrays[name]),
        (name.replace("values", "first"), np.zeros(3, dtype=np.int64)),
        (name.replace("values", "ends"), np.zeros_like(arrays[name], dtype=bool)),
    ):
        np.savez(file, **{**arrays, key: wrong})
        with pytest.raises(be.DataError, match="the tally is damaged: reid: "):
            be.Tally.load(file)


def test_the_commands_of_shared_queries(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    be.save(queries(2), "a.npz")
    for card, text in (("market1501", "mAP, at least"), ("gom-market1501", "MREP, at most")):
        args = [
            "tally",
            "a.npz",
            "--protocol",
            card,
            "--site",
            "A",
            "--share",
            "--force",
            "--out",
            "t.tally",
        ]
        assert main([*args, *(["--normalize", "0,20"] if "gom" in card else [])]) == 0
        assert "counts of queries by hundredths" in capsys.readouterr().out.replace("\n    ", " ")
        assert main(["merge", "t.tally"]) == 0
        assert text in capsys.readouterr().out


def test_no_count_is_from_one_to_four_by_default():
    def counts(shared):
        tally = shared.parts["verification/single"].tally
        return np.concatenate([x.ravel() for x in tally.tables().values()])

    for options, some in (({}, False), ({"min_count": 0}, True)):
        result = counts(counted().share(GRID, **options))
        assert ((result > 0) & (result < 5)).any() == some
