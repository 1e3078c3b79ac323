"""Merging refuses what would count twice, and what was compared with another gallery."""

from __future__ import annotations

import functools
import hashlib
import json

import numpy as np
import pytest
from naive_overlap import keyed, mixed
from named_arguments import raises_about
from result_messages import codes

import bioeval as be
from bioeval.studies.sites.tally import refine_tally

LAYOUTS = ("all-against-all", "probe-against-gallery")


def population(layout: str = "probe-against-gallery", seed: int = 1) -> be.Scores:
    probes = {} if layout == "all-against-all" else {"probes": 2}
    return be.simulate(8, 3, layout=layout, random_state=seed, **probes)


def identical(a: be.Tally, b: be.Tally) -> bool:
    """Whether all counts and rates are the same."""
    return all(a.dataset(node).equals(b.dataset(node)) for node in a.parts)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_same_scores_do_not_count_twice(layout):
    scores = population(layout)
    for site in ("", "A"):  # a name does not make them others
        with pytest.raises(be.MergeError, match="would count twice, whatever their .* site"):
            be.tally(scores).merge(be.tally(scores, site=site))
    copied = be.Scores(
        scores.values.copy(),
        scores.probe_labels,
        None if layout == "all-against-all" else scores.gallery_labels,
    )
    bare = be.Scores(
        scores.values,
        scores.probe_labels,
        None if layout == "all-against-all" else scores.gallery_labels,
    )
    with pytest.raises(be.MergeError, match="would count twice"):
        be.tally(bare).merge(be.tally(copied))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_overlapping_ranges_of_probes_are_refused(layout):
    scores = population(layout)
    m = scores.shape[0]
    a, b = be.tally(scores.select(probes=range(9))), be.tally(scores.select(probes=range(6, m)))
    with pytest.raises(be.MergeError, match=r"3 of the 9 probes \(numbers 6, 7, 8\)"):
        a.merge(b)
    c = be.tally(scores.select(probes=range(9, m)))
    assert identical(a.merge(c), be.tally(scores))
    with pytest.raises(be.MergeError, match="would count twice"):
        a.merge(c).merge(b)


def test_a_selection_of_a_selection_is_the_same_probe():
    scores = population()
    chosen = scores.select(probes=[9, 4, 2, 7])
    nested = chosen.select(probes=[2, 1]).excluding()
    with pytest.raises(be.MergeError, match="2 of the 2 probes"):
        be.tally(nested).merge(be.tally(scores.select(probes=[1, 2, 3, 4])))
    assert identical(
        be.tally(chosen.select(probes=[0, 1])).merge(be.tally(chosen.select(probes=[2, 3]))),
        be.tally(chosen),
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_halves_of_a_gallery_are_no_more_probes(layout):
    scores = population(layout)
    columns = np.arange(scores.shape[1])
    halves = [be.tally(scores.select(gallery=half)) for half in (columns[::2], columns[1::2])]
    with pytest.raises(be.MergeError, match="different galleries"):
        halves[0].merge(halves[1])
    shorter = be.tally(scores.select(probes=[0], gallery=columns[:9]))
    with pytest.raises(be.MergeError, match="different galleries, of 9 and 24 templates"):
        shorter.merge(be.tally(scores.select(probes=[1])))


def test_galleries_of_the_same_labels_differ_by_position_and_metadata():
    d = np.arange(12.0).reshape(2, 6)
    gallery, probes = ["a", "b"] * 3, ["a", "b"]
    scores = be.Scores(d, probes, gallery)
    halves = [scores.select([i], columns) for i, columns in enumerate(([0, 1, 2], [2, 3, 4]))]
    assert list(halves[0].gallery_labels) == list(halves[1].gallery_labels)
    with pytest.raises(be.MergeError, match="different galleries"):
        be.tally(halves[0]).merge(be.tally(halves[1]))
    seen = be.Scores(d, probes, gallery, gallery_meta={"camera": range(6)})
    with pytest.raises(be.MergeError, match="different galleries"):
        be.tally(scores.select(probes=[0])).merge(be.tally(seen.select(probes=[1])))


@pytest.mark.parametrize(
    "other",
    [
        {"probe_labels": [1, 2, 4]},
        {"probe_meta": {"camera": [7, 7, 7], "day": ["x", None, 2]}},
        {"probe_meta": {"day": [7, 7, 7]}},
    ],
)
def test_other_labels_or_metadata_are_other_probes(other):
    """At least one probe of each differs in one respect from that at the same position."""
    fields = {"probe_labels": [1, 2, 3], "probe_meta": {"camera": [7, 7, 7]}}
    d, gallery = np.arange(9.0).reshape(3, 3), [1, 2, 4]
    a = be.tally(be.Scores(d, gallery_labels=gallery, **fields).select(probes=[2]))
    b = be.tally(be.Scores(d, gallery_labels=gallery, **(fields | other)).select(probes=[2]))
    assert a.merge(b).dataset("verification/single").attrs["probes"] == 2
    with pytest.raises(be.MergeError, match="would count twice"):
        a.merge(be.tally(be.Scores(d, gallery_labels=gallery, **fields)))


def test_sites_are_told_apart_by_name():
    a, b = population(seed=1), population(seed=2)
    unnamed = be.tally(a).merge(be.tally(b))  # of which nobody can tell
    assert "same-labels-other-scores" in codes(unnamed.dataset("verification/single"))
    assert unnamed.dataset("verification/single").attrs["probes"] == 32
    with raises_about(be.MergeError, "site"):  # too few scores to know a probe by
        few = be.Scores(np.zeros((4, 2)), [1, 1, 2, 2], [1, 2])
        be.tally(few).merge(be.tally(few))
    both = be.tally(a, site="A").merge(be.tally(b, site="B"))
    assert "same-labels-other-scores" not in codes(both.dataset("verification/single"))
    single = both.dataset("verification/single")
    assert single.genuine_attempts == 2 * 8 * 2 * 3
    assert single.attrs["probes"] == 32
    with pytest.raises(be.MergeError, match="would count twice"):
        both.merge(be.tally(a, site="A"))


BATCHES = 20


def batches_of_probes(form: str) -> tuple[be.Scores, list[be.Scores]]:
    """Return the scores of 300 probes of 60 subjects, and the same as data of 20 batches."""
    rng = np.random.default_rng(5)
    who = rng.permutation(np.repeat(np.arange(60), 5))
    enrolled = np.repeat(np.arange(60), 3)
    centres = rng.normal(size=(60, 8))
    probes = centres[who] + 0.5 * rng.normal(size=(300, 8))
    gallery = centres[enrolled] + 0.5 * rng.normal(size=(180, 8))
    d = np.linalg.norm(probes[:, None] - gallery, axis=-1)
    d = {"integers": np.rint(4 * d).astype(np.int16), "float16": d.astype(np.float16)}.get(form, d)
    camera = rng.integers(0, 3, 300)

    def scores(rows: np.ndarray) -> be.Scores:
        meta = {"probe_meta": {"camera": camera[rows]}} if form == "cameras" else {}
        if form == "cameras":
            meta["gallery_meta"] = {"camera": np.tile([0, 1, 2], 60)}
        if form == "embeddings":
            return be.Scores.from_embeddings(probes[rows], who[rows], gallery, enrolled)
        if form == "pairs":
            return be.Scores.from_pairs(d[rows].ravel(), (who[rows, None] == enrolled).ravel())
        return be.Scores(d[rows], who[rows], enrolled, **meta)

    parts = np.array_split(np.arange(300), BATCHES)
    return scores(np.arange(300)), [scores(rows) for rows in parts]


@pytest.mark.parametrize("form", ["matrix", "embeddings", "integers", "float16", "pairs"])
def test_batches_of_one_data_set_merge_whatever_their_labels(form):
    """A batch is data of its own: its first probe is at position 0, as that of the others."""
    whole, batches = batches_of_probes(form)
    tallies = [be.tally(batch) for batch in batches]
    merged = functools.reduce(be.Tally.merge, tallies)
    everything = be.tally(whole)
    assert merged.parts.keys() == everything.parts.keys()
    for node in merged.parts:
        got, expected = merged.dataset(node), everything.dataset(node)
        for name in expected.variables:  # sums of floats depend on their order
            np.testing.assert_allclose(got[name], expected[name], rtol=1e-12, err_msg=name)
    for again in tallies[0], tallies[7], be.tally(batches[-1]):
        with pytest.raises(be.MergeError, match="would count twice"):
            merged.merge(again)


def test_batches_of_queries_merge_under_a_convention():
    whole, batches = batches_of_probes("cameras")
    tallies = [be.tally(batch, "market1501") for batch in batches]
    merged = functools.reduce(be.Tally.merge, tallies)
    assert merged.dataset("reid").equals(be.tally(whole, "market1501").dataset("reid"))


def test_a_probe_of_few_scores_is_another_where_they_differ():
    """With one gallery template a probe has one score: equal ones at one place are one probe."""
    parts = [be.Scores([[x]], ["ann"], ["ann"]) for x in (0.25, 0.5, 0.25)]
    a, b, c = map(be.tally, parts)
    assert a.merge(b).dataset("verification/single").attrs["probes"] == 2
    with pytest.raises(be.MergeError, match="1 of the 2 probes .* is among the 1"):
        a.merge(b).merge(c)
    mixed = be.tally(be.Scores.from_embeddings([[1.0, 2.0]], ["ann"], [[2.0, 1.0]], ["ann"]))
    with pytest.raises(be.MergeError, match="equal or not known"):
        a.merge(mixed)  # nobody can compare a score with an embedding


def test_templates_of_all_against_all_sites_are_pooled_with_a_warning():
    a, b = population("all-against-all", 1), population("all-against-all", 2)
    both = be.tally(a, site="A").merge(be.tally(b, site="B"))
    assert "galleries-pooled" in codes(both.dataset("closed_set"))


@pytest.mark.parametrize("site", [None, 3, ["A"]])
def test_a_site_is_a_name(site):
    with pytest.raises(be.DataError, match="site is .*expected a name"):
        be.tally(population(), site=site)


def test_pairs_are_known_by_their_cells_or_their_place():
    scores = population("all-against-all")
    i, j = np.arange(20), np.arange(20)[::-1]
    pairs = scores.at_pairs(i, j)
    with pytest.raises(be.MergeError, match="5 of the 10 probes"):
        be.tally(pairs.select(probes=range(10))).merge(be.tally(scores.at_pairs(i[5:15], j[5:15])))
    whole = be.tally(pairs.select(probes=range(7))).merge(
        be.tally(pairs.select(probes=range(7, 20)))
    )
    assert identical(whole, be.tally(pairs))
    people = [["a", "a"], ["a", "b"], ["a", "a"]]
    listed = be.Scores.from_pairs([0.1, 0.2, 0.3], [1, 0, 1], subjects=people)
    with pytest.raises(be.MergeError, match="1 of the 2 probes"):
        be.tally(listed.select(probes=[0, 1])).merge(be.tally(listed.select(probes=[1, 2])))


def test_masks_without_labels_and_streamed_embeddings_have_positions():
    mask = np.array([[0, 2, 1, 1], [2, 0, 1, 1], [1, 1, 0, 2], [1, 1, 2, 0]])
    d = np.arange(16.0).reshape(4, 4)
    x = np.random.default_rng(1).normal(size=(6, 2))
    streamed = be.Scores.from_embeddings(x, [1, 1, 2, 2, 3, 3], metric="l2", memory_limit=8)
    for scores in (be.Scores(d, mask=mask), streamed):
        rows = np.arange(scores.shape[0])
        a, b = be.tally(scores.select(probes=rows[:2])), be.tally(scores.select(probes=rows[2:]))
        assert identical(a.merge(b), be.tally(scores))
        with pytest.raises(be.MergeError, match="1 of the 2 probes"):
            a.merge(be.tally(scores.select(probes=rows[1:])))


def test_sites_share_the_key():
    scores = population()
    a, b = (scores.select(probes=rows) for rows in (range(4), range(4, 16)))
    merged = be.tally(a, key="secret").merge(be.tally(b, key=b"secret"))
    assert identical(merged, be.tally(scores))
    for other in ({}, {"key": "another"}):
        with pytest.raises(be.MergeError, match="different keys"):
            be.tally(a, key="secret").merge(be.tally(b, **other))
    for key in ("", b"", 5):
        with pytest.raises(be.DataError, match="key is (empty|int); expected a text"):
            be.tally(a, key=key)


def test_names_are_not_in_a_file_nor_guessed_without_the_key(tmp_path):
    labels = [f"Ada Lovelace {i}" for i in range(4)] * 2
    d = np.arange(64.0).reshape(8, 8)
    meta = {"camera": ["Babbage"] * 8}
    for key in ("one", "two"):
        be.tally(be.Scores(d, labels, probe_meta=meta), key=key).save(tmp_path / key)
    held = {}
    for key in ("one", "two"):
        with np.load(tmp_path / key) as file:
            text = file["header"].tobytes().decode()
            held[key] = set(json.loads(text)["tallies"][0]["about"]["probe_subjects"]["set"])
            probes = file["counted.probes"]
        assert "Lovelace" not in text and "Babbage" not in text
        assert probes.dtype == np.uint64 and probes.nbytes == 8 * 8
        assert len(np.unique(probes)) == 8
        # What anybody can compute of a name is not there.
        plain = hashlib.blake2b(b"label\0'Ada Lovelace 0'", digest_size=8).digest()
        assert f"{int.from_bytes(plain, 'little'):016x}" not in held[key]
    assert len(held["one"]) == 4 and not held["one"] & held["two"]


def test_digests_are_those_of_the_definition():
    """Sites compare them: they are the same on every platform and for every width of integers."""
    labels, days = [5, "Zoë"], [1.5, None]
    scores = be.Scores([[0.0, 1.0], [1.0, 0.0]], labels, probe_meta={"day": days})
    result = be.tally(scores, site="A", key="secret").counted.probes.tolist()
    for i, (label, day) in enumerate(zip(labels, days, strict=True)):
        digest = keyed("secret", "label", repr(label))
        digest = mixed(digest, keyed("secret", "metadata day", repr(day)))
        digest = mixed(digest, i)
        assert result[i] == mixed(digest, keyed("secret", "site", "A"))
    narrow, wide = (
        be.tally(be.Scores(np.eye(2), np.array([5, 6], dtype=width))).counted
        for width in ("int16", "int64")
    )
    np.testing.assert_array_equal(narrow.probes, wide.probes)
    assert narrow.gallery == wide.gallery


def test_a_refined_tally_goes_on_knowing_its_probes():
    scores = population()
    refined = refine_tally(be.tally(scores), scores)
    with pytest.raises(be.MergeError, match="would count twice"):
        refined.merge(be.tally(scores))
