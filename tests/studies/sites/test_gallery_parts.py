"""A gallery in parts: two rounds give the whole, to the last bit."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from result_messages import arguments
from strategies import examples_of

import bioeval as be
from bioeval.protocol import load
from bioeval.studies.sites.gallery_parts import BestMates, best_mates

TIES = ("pessimistic", "optimistic", "stable", "expected")
LAYOUTS = ("all-against-all", "probe-against-gallery")


def draw(seed: int, layout: str, dtype: str = "float32", kind: str = "distance") -> be.Scores:
    """Return small scores with many ties, and some subjects on one side only."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(4, 16, 2)
    probes, gallery = rng.integers(0, 5, m), rng.integers(1, 6, n)
    if layout == "all-against-all":
        return be.Scores(rng.integers(0, 6, (m, m)).astype(dtype), probes, kind=kind)
    return be.Scores(rng.integers(0, 6, (m, n)).astype(dtype), probes, gallery, kind=kind)


def card_of(layout: str, ties: str):
    """Return the course's card with a policy for ties, without an error for unmated probes."""
    name = {
        "all-against-all": "course-all-vs-all",
        "probe-against-gallery": "course-probe-vs-gallery",
    }
    card = load(name[layout])
    return replace(
        card,
        open_set=replace(card.open_set, ties=ties),
        closed_set=replace(card.closed_set, ties=ties, unmated="skip"),
    )


def parts_of(scores: be.Scores, where: np.ndarray) -> list[be.Scores]:
    """Return the columns at each place."""
    return [scores.select(gallery=np.flatnonzero(where == x)) for x in np.unique(where)]


def both_rounds(parts, protocol, *, mates_options=None, sites=None, **options) -> be.Tally:
    """Count a gallery in parts."""
    sites = sites or [""] * len(parts)
    shared_options = mates_options or {}
    result = [
        best_mates(x, protocol, site=site, **shared_options)
        for x, site in zip(parts, sites, strict=True)
    ]
    mates = reduce(lambda a, b: a.merge(b), result)
    tallies = [
        be.tally(x, protocol, mates=mates, site=site, **shared_options, **options)
        for x, site in zip(parts, sites, strict=True)
    ]
    return reduce(lambda a, b: a.merge(b, union_of_galleries=True), tallies)


def same(union: be.Tally, whole: be.Tally) -> None:
    """Check that all tasks of the union have the numbers of the whole."""
    for node in union.parts:
        assert union.dataset(node).equals(whole.dataset(node)), node


@pytest.mark.slow
@given(seed=st.integers(0, 2**20), layout=st.sampled_from(LAYOUTS), ties=st.sampled_from(TIES))
@settings(max_examples=examples_of(40))
def test_any_columns_at_any_site(seed, layout, ties):
    """Templates of a subject may be at two sites; mates of a probe at one or none."""
    scores = draw(seed, layout, kind=("distance", "similarity")[seed % 2])
    card = card_of(layout, ties)
    card = replace(card, verification=replace(card.verification, templates=("single",)))
    where = np.random.default_rng(seed + 1).integers(0, 3, scores.shape[1])
    union = both_rounds(parts_of(scores, where), card)
    assert set(union.parts) == {"verification/single", "open_set", "closed_set"}
    same(union, be.tally(scores, card))


@pytest.mark.parametrize("fusion", ["min", "mean"])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.cases(2)
def test_subjects_at_one_site_are_fused(layout, fusion, seed):
    """All templates of a subject at one site: multi-template tasks and ranks among subjects."""
    scores = draw(seed, layout, "float64")
    card = card_of(layout, "stable")
    card = replace(
        card,
        verification=replace(card.verification, fusion=fusion),
        open_set=replace(card.open_set, rank_unit="subject", fusion=fusion),
    )
    sides = np.random.default_rng(seed).integers(0, 2, 10)
    sides[scores.gallery_labels[:1]] = 0
    union = both_rounds(parts_of(scores, sides[scores.gallery_labels]), card)
    assert "verification/multi" in union.parts
    same(union, be.tally(scores, card))


@pytest.mark.parametrize("nan", ["reject", "exclude"])
def test_failed_comparisons(nan):
    scores = draw(3, "all-against-all")
    values = scores.values.copy()
    values[np.random.default_rng(0).random(values.shape) < 0.3] = np.nan
    scores = be.Scores(values, scores.probe_labels, nan=nan)
    where = np.arange(scores.shape[1]) % 2
    same(both_rounds(parts_of(scores, where), "auto"), be.tally(scores))


def test_the_rank_of_a_mate_by_hand():
    """Of two probes, one has its mate at the first site, the other at the second."""
    first = be.Scores([[3.0, 1, 3], [2, 0, 9]], ["a", "b"], ["a", "c", "d"])
    second = be.Scores([[2.0, 3], [2, 2]], ["a", "b"], ["e", "b"])
    card = card_of("probe-against-gallery", "pessimistic")
    union = both_rounds([first, second], card, sites=["north", "south"])
    result = union.parts["closed_set"].tally
    np.testing.assert_array_equal(result.mate, [3, 2])
    np.testing.assert_array_equal(result.closer, [2, 1])  # 1 and 2; 0
    np.testing.assert_array_equal(result.tied, [2, 2])  # d and b; a and e
    np.testing.assert_array_equal(result.others, [4, 4])
    # Probe a: the mate is the first template of the first site. Probe b: it is the last of all.
    np.testing.assert_array_equal(result.other, [1, 0])
    cms = union.dataset("closed_set").cms_count
    np.testing.assert_array_equal(cms, [0, 0, 0, 1, 2])
    single = union.dataset("verification/single")
    assert (int(single.genuine_attempts), int(single.impostor_attempts)) == (2, 8)
    assert single.attrs["gallery_templates"] == 5 and single.attrs["gallery_subjects"] == 5


def test_sites_in_the_order_of_their_names_break_ties():
    first = be.Scores([[1.0, 5]], ["a"], ["a", "x"])
    second = be.Scores([[1.0]], ["a"], ["b"])
    card = card_of("probe-against-gallery", "stable")
    for sites, rank in ((["A", "B"], 1), (["B", "A"], 2)):
        union = both_rounds([first, second], card, sites=sites)
        assert union.dataset("closed_set").cms_count.values.tolist() == [rank == 1, 1, 1]


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("variant", ["paper", "reference"])
@pytest.mark.parametrize("ties", ["stable", "pessimistic"])
@pytest.mark.cases(2)
def test_gom_with_the_scale_of_all_sites(kind, variant, ties):
    """Separated results: queries whose matches are at any sites, on the scale of all."""
    rng = np.random.default_rng(5)
    queries, gallery = rng.integers(-1, 7, 20), rng.integers(-1, 6, 40)
    scores = be.Scores(
        rng.integers(0, 30, (20, 40)).astype(float),
        queries,
        gallery,
        kind=kind,
        probe_meta={"camera": rng.integers(0, 3, 20)},
        gallery_meta={"camera": rng.integers(0, 3, 40)},
    )
    card = load("gom-market1501")
    card = replace(card, gom=replace(card.gom, variant=variant, ties=ties))
    union = both_rounds(parts_of(scores, rng.integers(0, 4, 40)), card)
    whole = be.tally(scores, card)
    same(union, whole)
    assert union.dataset("gom").mrep_area > 0


@pytest.mark.parametrize("protocol", ["market1501", "cuhk03-new", "market1501-original"])
@pytest.mark.cases(1)
def test_retrieval(protocol):
    rng = np.random.default_rng(2)
    scores = be.Scores(
        rng.integers(0, 9, (15, 30)).astype("float32"),
        rng.integers(0, 6, 15),
        rng.integers(-1, 6, 30),
        probe_meta={"camera": rng.integers(0, 2, 15)},
        gallery_meta={"camera": rng.integers(0, 2, 30)},
    )
    union = both_rounds(parts_of(scores, rng.integers(0, 3, 30)), protocol)
    same(union, be.tally(scores, protocol))


def test_kept_scores_give_operating_points():
    scores = be.simulate(12, 4, random_state=3)
    where = np.arange(scores.shape[1]) % 3
    union = both_rounds(parts_of(scores, where), "auto", points=True)
    single = union.dataset("verification/single")
    whole = be.verification(scores)
    for name in ("eer", "eer_threshold", "auc", "frr_at_far", "zero_far"):
        assert single[name].equals(whole[name]), name


def test_tasks_that_fuse_scores_of_several_sites_are_left_out():
    scores = be.simulate(6, 4, random_state=1)
    where = np.arange(24) % 2
    union = both_rounds(parts_of(scores, where), "auto")
    assert "verification/multi" not in union.parts
    found = arguments(union.dataset("open_set"), "tasks-left-out-of-parts")
    assert found == {"tasks": ["verification/multi"], "subjects": 6}
    with pytest.raises(be.ProtocolError, match="verification/multi cannot be counted: 6 subjects"):
        both_rounds(parts_of(scores, where), "course-all-vs-all")


def test_parts_are_not_the_whole(tmp_path):
    scores = be.simulate(6, 3, random_state=1)
    parts = parts_of(scores, np.arange(18) % 3)
    result = [best_mates(x) for x in parts]
    mates = reduce(lambda a, b: a.merge(b), result)
    a, b, c = (be.tally(x, mates=mates) for x in parts)
    with pytest.raises(be.MergeError, match="1 of 3 parts of a gallery"):
        a.dataset("closed_set")
    ab = a.merge(b, union_of_galleries=True)
    with pytest.raises(be.MergeError, match="2 of 3 parts"):
        ab.tree()
    with pytest.raises(be.MergeError, match="same part"):
        ab.merge(b, union_of_galleries=True)
    with pytest.raises(be.MergeError, match="2 of 3 parts"):
        ab.merge(c)
    path = tmp_path / "ab.tally"
    ab.save(path)
    whole = be.Tally.load(path).merge(c, union_of_galleries=True)
    same(whole, be.tally(scores))
    two = result[0].merge(result[1])
    with pytest.raises(be.MergeError, match="do not know this part"):
        be.tally(parts[2], mates=two)
    other = be.tally(parts[0], mates=two)
    with pytest.raises(be.MergeError, match="different mates"):
        other.merge(b, union_of_galleries=True)
    with pytest.raises(be.MergeError, match="best_mates at each site.*given as mates"):
        be.tally(parts[0]).merge(be.tally(parts[1]), union_of_galleries=True)
    with pytest.raises(be.MergeError, match="6 templates of the gallery are in both parts"):
        two.merge(result[1])
    with pytest.raises(be.MergeError, match="different probes"):
        result[0].merge(best_mates(parts[1].select(probes=range(17))))
    with pytest.raises(be.MergeError, match="different keys"):
        result[0].merge(best_mates(parts[1], key="k"))
    with pytest.raises(be.MergeError, match="found under protocol course-all-vs-all, not x"):
        be.tally(parts[0], replace(load("course-all-vs-all"), name="x"), mates=mates)


def test_probes_of_a_union_merge_with_others():
    """Four quarters of a matrix: by columns first, then by rows."""
    scores = be.simulate(8, 3, layout="probe-against-gallery", probes=2, random_state=2)
    where = np.arange(scores.shape[1]) % 2
    rows = np.arange(scores.shape[0])
    halves = [
        both_rounds(parts_of(scores.select(probes=some), where), "auto")
        for some in (rows[:7], rows[7:])
    ]
    same(halves[0].merge(halves[1]), be.tally(scores))


@pytest.mark.parametrize("protocol", ["identity-dedup", "open-reid", "frte-1n"])
def test_what_does_not_add_up_is_refused(protocol):
    scores = be.Scores(
        np.ones((3, 3)),
        [1, 2, 3],
        [1, 2, 3],
        probe_meta={"camera": [1, 1, 1]},
        gallery_meta={"camera": [2, 2, 2]},
    )
    card = load(protocol)
    if protocol == "frte-1n":
        card = replace(card, open_set=replace(card.open_set, gallery="single"))
    elif card.reid.cmc == "allshots" or card.reid.cmc == "first-match":
        card = replace(card, reid=replace(card.reid, cmc="identity-dedup"))
    with pytest.raises(be.ProtocolError, match="do not add up"):
        best_mates(scores, card)


def test_mates_under_the_name_of_another_site_are_refused():
    """As in a file whose header was changed."""
    scores = be.simulate(5, 3, random_state=1).select(gallery=range(7))
    renamed = replace(best_mates(scores, site="north"), sites=("south",))
    with pytest.raises(be.MergeError, match="do not know this part of the gallery"):
        be.tally(scores, mates=renamed, site="north")


def test_mates_are_saved_and_say_what_they_disclose(tmp_path):
    values = be.simulate(5, 3, random_state=1).values
    scores = be.Scores(values, [f"Ada Lovelace {i // 3}" for i in range(15)])
    mates = best_mates(scores.select(gallery=range(7)), site="north", key="secret")
    path = tmp_path / "north.mates"
    mates.save(path)
    again = BestMates.load(path)
    assert again.digest == mates.digest and again.sites == ("north",)
    assert "the score of its nearest mate" in again.disclosed()[0]
    other = best_mates(scores.select(gallery=range(7, 15)), site="south", key="secret")
    assert again.merge(other).digest == other.merge(mates).digest
    assert b"Lovelace" not in path.read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        {"mates.lists.identification template none.distance": lambda x: np.append(x[:-1], np.nan)},
        {"mates.lists.identification template none.starts": lambda x: x[::-1]},
        {"mates.lists.identification template none.starts": lambda x: x[:-1]},
        {"mates.probes": lambda x: x.astype(float)},
        {"mates.lists.identification template none.distance": lambda x: x[:-1]},
        {"header": {"parts": {"tuple": ["zz"]}}},
        {"header": {"data": {"tuple": []}}},
        {"header": {"low": "0"}},
        {"header": {"class": "MateLists"}},
    ],
)
def test_damaged_mates_are_refused(change, tmp_path):
    path = tmp_path / "x.mates"
    best_mates(be.simulate(5, 3, random_state=1)).save(path)
    with path.open("rb") as file, np.load(file) as archive:
        arrays = dict(archive)
    for name, how in change.items():
        if name == "header":
            header = json.loads(arrays["header"].tobytes())
            header["mates"] |= how
            arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        else:
            arrays[name] = how(arrays[name])
    with path.open("wb") as file:
        np.savez(file, **arrays)
    with pytest.raises(be.DataError, match="damaged"):
        BestMates.load(path)


def test_mates_of_another_schema(tmp_path):
    path = tmp_path / "x.mates"
    header = np.frombuffer(
        json.dumps({"schema": 9, "kind": "mates", "totals": {}}).encode(), dtype=np.uint8
    )
    with path.open("wb") as file:
        np.savez(file, header=header)
    with pytest.raises(
        be.DataError, match="is of schema 9; this version of bioeval reads schema 1"
    ):
        BestMates.load(path)
