"""A probe that is counted in two tallies is found by its label, its metadata and its scores."""

from __future__ import annotations

import itertools
from functools import reduce

import naive_overlap as naive
import numpy as np
import pytest
from result_messages import arguments, codes

import bioeval as be
from bioeval.__main__ import main
from bioeval.studies.sites import row_digests, template_digests
from bioeval.studies.sites.gallery_parts import best_mates

NODE = "closed_set"
NOT_CHECKED = {"overlap-without-digests", "overlap-of-embeddings-and-scores"}


def population(layout="probe-against-gallery", seed=1) -> be.Scores:
    probes = {} if layout == "all-against-all" else {"probes": 4}
    return be.simulate(18, 4, layout=layout, random_state=seed, **probes)


def of_rows(scores, rows, **changed) -> be.Scores:
    """The rows of another file, in its own order."""
    fields = {"probe_labels": scores.probe_labels[rows], "gallery_labels": scores.gallery_labels}
    return be.Scores(**{"values": scores.values[rows], **fields, **changed})


def codes_of(tally: be.Tally) -> set[str]:
    return set(codes(tally.dataset(NODE)))


def digests(scores, **options) -> np.ndarray:
    return be.tally(scores, **options).counted.scores


@pytest.mark.parametrize(
    ("first", "second", "number", "named"),
    [
        (range(40), [*range(20, 40), *range(20)], 40, "numbers 0, 1, 2, 3, 4, ...; there 20"),
        (range(40), range(30, 72), 10, "numbers 30, 31, 32, 33, 34, ...; there 0"),
        (range(72), [70, 3], 2, "numbers 3, 70; there 1"),
        (range(72), [5], 1, "number 5; there 0"),
    ],
)
@pytest.mark.parametrize("layout", ["probe-against-gallery", "all-against-all"])
@pytest.mark.cases(1)
def test_rows_at_other_positions_and_sites_count_once(first, second, number, named, layout):
    scores = population(layout)
    if layout == "all-against-all":
        parts = [scores.select(probes=list(x)) for x in (first, second)]
    else:
        parts = [of_rows(scores, list(x)) for x in (first, second)]
    here, there = named.split("; there ")
    for sites in (("A", "B"), ("", "")):
        a, b = (be.tally(x, site=y) for x, y in zip(parts, sites, strict=True))
        with pytest.raises(be.MergeError, match=f"{number} of the {len(first)} probes") as caught:
            a.merge(b)
        assert f"({here})" in str(caught.value) and "(there number" in str(caught.value)
        assert f"numbers {there}" in str(caught.value) or f"number {there})" in str(caught.value)


def test_the_command_refuses_them_in_any_order(tmp_path, capsys):
    scores, files = population(), {}
    for name, rows in (("whole", range(72)), ("half", range(71, 35, -1)), ("other", range(36))):
        be.save(of_rows(scores, list(rows)), tmp_path / f"{name}.npz")
        files[name] = str(tmp_path / f"{name}.tally")
        assert main(["tally", str(tmp_path / f"{name}.npz"), "--out", files[name]]) == 0
    for a, b in (("whole", "half"), ("half", "whole"), ("whole", "other")):
        capsys.readouterr()
        assert main(["merge", files[a], files[b], "--same-system"]) == 2
        result = capsys.readouterr().err
        assert f"{files[b]}: 36 of the " in result and "by label, metadata and scores" in result


def test_copies_of_templates_and_their_order_in_a_subject_do_not_matter():
    """Templates of a subject change places, so that the labels of the gallery are the same."""
    scores = population()
    swapped = np.arange(72).reshape(-1, 4)[:, ::-1].reshape(-1)
    other = of_rows(scores, range(40), values=scores.values[:40][:, swapped])
    with pytest.raises(be.MergeError, match="40 of the 40 probes"):
        be.tally(of_rows(scores, range(40)), site="A").merge(be.tally(other, site="B"))


@pytest.mark.parametrize("how", ["label", "metadata", "few", "scores"])
def test_probes_that_agree_in_less_are_warned_of(how):
    """Equal scores are those of one probe only with its label, and 20 distinct ones."""
    scores, rows = population(), list(range(30, 72))
    if how == "few":
        scores = of_rows(scores, range(72), values=np.floor(scores.values * 1.5) % 19)
    changed = {
        "label": {"probe_labels": np.roll(scores.probe_labels, 4)[rows]},
        "metadata": {"probe_meta": {"day": ["x"] * 42}},
        "few": {},
        "scores": {"values": np.nextafter(scores.values[rows], 9)},
    }[how]
    first = {"probe_meta": {"day": ["y"] * 40}} if how == "metadata" else {}
    a, b = of_rows(scores, range(40), **first), of_rows(scores, rows, **changed)
    both = be.tally(a, site="A").merge(be.tally(b, site="B"))
    assert ("probes-perhaps-twice" in codes_of(both)) == (how != "scores")
    if how != "scores":
        found = arguments(both.dataset(NODE), "probes-perhaps-twice")
        assert found["probes"] == 10
        assert found["places"] == ["30", "31", "32", "33", "34", "..."]
    assert not NOT_CHECKED & codes_of(both)


@pytest.mark.parametrize("distinct", [19, 20])
def test_the_twentieth_distinct_score_decides(distinct):
    values = np.resize(np.arange(distinct) / 3, (1, 30))
    a, b = (be.Scores(values, ["a"], ["a"] * 30) for _ in range(2))
    a, b = be.tally(a, site="A"), be.tally(b, site="B")
    if distinct == 20:
        with pytest.raises(be.MergeError, match=r"1 of the 1 probes \(number 0\) is among"):
            a.merge(b)
    else:
        found = arguments(a.merge(b).dataset(NODE), "probes-perhaps-twice")
        assert found["places"] == found["other_places"] == ["0"]


def test_a_row_that_occurs_twice_at_one_site_is_named():
    scores = population()
    twice = be.tally(of_rows(scores, [*range(40), 3, 17, 3]))
    found = arguments(twice.dataset(NODE), "probes-repeated")
    assert found == {"copies": 3, "probes": 43, "places": ["40", "41", "42"]}
    assert "probes-repeated" not in codes_of(be.tally(of_rows(scores, range(40))))


def test_disjoint_sites_merge_in_any_tree_and_others_in_none():
    scores = population()
    parts = [be.tally(of_rows(scores, np.arange(i, 72, 4)[::-1]), site=str(i)) for i in range(4)]
    whole = be.tally(of_rows(scores, range(72)))
    chained = reduce(lambda a, b: a.merge(b), parts)
    paired = parts[2].merge(parts[0]).merge(parts[3].merge(parts[1]))
    for result in (chained, paired):
        assert result.dataset(NODE).cms.equals(whole.dataset(NODE).cms)
        assert not NOT_CHECKED & codes_of(result)
        np.testing.assert_array_equal(np.sort(result.counted.scores), np.sort(whole.counted.scores))
        for part in parts:
            with pytest.raises(be.MergeError, match="18 of the 72 probes"):
                result.merge(part)


@pytest.mark.parametrize("levels", [2, 30, None])
def test_other_probes_do_not_collide(levels):
    """Rows of whole numbers from a few, permuted or with two cells changed, are other rows."""
    rng, n, result = np.random.default_rng(0), 40, []
    for _ in range(6):
        row = rng.random(n) if levels is None else rng.integers(0, levels, n) + 0.0
        rows = [row, row[::-1], np.roll(row, 1), np.where(np.arange(n) < 2, row + 1, row)]
        rows += [rng.permutation(row) for _ in range(60)]
        rows = np.unique(np.array(rows), axis=0)
        scores = be.Scores(rows, np.arange(len(rows)), np.arange(n))
        result.append(digests(scores))
        assert len(np.unique(result[-1])) == len(rows)
    assert len(np.unique(np.concatenate(result))) == sum(map(len, result))
    # Templates of one label, where only the scores decide: (2, 4) and (3, 3) have one mean.
    pairs = np.array(list(itertools.combinations_with_replacement(range(12), 2)), dtype=float)
    alike = be.Scores(pairs, np.zeros(len(pairs)), np.zeros(2))
    assert len(np.unique(digests(alike))) == len(pairs)


# -- the definition


def expected(scores: be.Scores, key: str, used=None, sample=64) -> list[int]:
    """The digest of each probe of a matrix in memory by the definition."""
    sign = -1.0 if scores.kind != "distance" else 1.0
    meta = scores.gallery_meta
    keys = [
        naive.described(key, label, **{k: v.tolist()[j] for k, v in meta.items()})
        for j, label in enumerate(scores.gallery_labels.tolist())
    ]
    result = []
    for i in range(scores.shape[0]):
        attempts = []
        for j in range(scores.shape[1]):
            x = float(scores.values[i, j])
            if scores.probe_ids[i] == scores.gallery_ids[j] or used is not None and not used[i, j]:
                continue
            if x != x and scores.nan == "exclude":
                continue
            attempts.append((keys[j], np.inf if x != x else sign * x))
        result.append(naive.of_attempts(key, attempts, keys, sample))
    return result


def cases():
    rng = np.random.default_rng(3)
    n = 30
    values = np.round(rng.normal(3, 1, (n, n)) * 8) / 8
    values[2, 3], values[4, 5] = 0.0, -0.0
    labels = np.repeat(np.arange(10), 3)
    day = {"day": rng.integers(0, 2, n).tolist()}
    square = be.Scores(values, labels)
    yield "square", square, None
    yield "similarities", be.Scores(values, labels, labels, kind="similarity"), None
    for dtype in ("float16", "float32", "int8"):
        yield dtype, be.Scores(values.astype(dtype), labels, labels + 1), None
    infinite = values.copy()
    infinite[3, 4], infinite[9, 0] = np.inf, -np.inf
    yield "infinite", be.Scores(infinite, labels, labels), None
    holes = values.copy()
    holes[1, 2:9] = holes[7, 8] = np.nan
    for nan in ("reject", "exclude"):
        yield nan, be.Scores(holes, labels, nan=nan), None
    diagonal = values.copy()
    np.fill_diagonal(diagonal, np.nan)
    yield "diagonal", be.Scores(diagonal, labels), None
    chosen = square.select(probes=rng.permutation(n)[:12], gallery=rng.permutation(n)[:20])
    yield "chosen", chosen, None
    yield "metadata", be.Scores(values, labels, probe_meta=day), None
    same = (labels[:, None] == labels) & (np.array(day["day"])[:, None] == day["day"])
    yield "excluded", be.Scores(values, labels, probe_meta=day, exclude="day"), ~same
    mask = np.where(labels[:, None] == labels, 2, 1) * (rng.random((n, n)) < 0.8)
    yield "mask", be.Scores(values, labels, labels, mask=mask), mask > 0


CASES = {name: (scores, used) for name, scores, used in cases()}


@pytest.mark.parametrize("sample", [64, 22])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.cases(2)
def test_digests_are_those_of_the_definition(name, sample, monkeypatch):
    """Of a sample of 22 templates, some probes have 20 distinct scores and others not."""
    scores, used = CASES[name]
    monkeypatch.setattr(template_digests, "SAMPLE", sample)
    result = be.tally(scores, site="A", key="secret").counted
    assert result.scores.tolist() == expected(scores, "secret", used, sample)
    for i in (0, 7):
        meta = {k: v.tolist()[i] for k, v in scores.probe_meta.items()}
        assert result.people[i] == naive.described(
            "secret", scores.probe_labels.tolist()[i], **meta
        )


@pytest.mark.parametrize(
    "name",
    [
        x if x in ("chosen", "similarities", "reject") else pytest.param(x, marks=pytest.mark.slow)
        for x in CASES
    ],
)
@pytest.mark.parametrize("sample", [64, 22])
@pytest.mark.cases(2)
def test_digests_do_not_depend_on_the_way_of_counting(name, sample, monkeypatch, tmp_path):
    """One sweep of a large matrix, blocks of it, a checkpoint, a memory-mapped file."""
    scores, _ = CASES[name]
    monkeypatch.setattr(template_digests, "SAMPLE", sample)
    known = digests(scores)
    for where in ("blocks", "tallies.passes"):
        module = f"bioeval.{'scores.' if where == 'blocks' else ''}{where}"
        monkeypatch.setattr(f"{module}.is_small", lambda _: False)
    monkeypatch.setattr("bioeval.scores.blocks.BLOCK_VALUES", 100)
    np.testing.assert_array_equal(digests(scores), known)
    for _ in range(2):
        np.testing.assert_array_equal(digests(scores, checkpoint=tmp_path / "kept"), known)
    if scores._from_square or scores._has_mask:
        return
    np.save(tmp_path / "s.npy", scores.values)
    mapped = np.load(tmp_path / "s.npy", mmap_mode="r")
    sides = scores.probe_labels, scores.gallery_labels
    mapped = be.Scores(mapped, *sides, kind=scores.kind, memory_limit="200 MiB")
    np.testing.assert_array_equal(digests(mapped), known)


def test_the_same_scores_in_another_dtype_are_the_same():
    scores = population()
    whole = np.round(scores.values * 16) / 16
    result = [
        digests(of_rows(scores, range(40), values=whole[:40].astype(x)))
        for x in ("float16", "float32", "float64")
    ]
    result.append(digests(of_rows(scores, range(40), values=(whole[:40] + 0.0).astype("float64"))))
    for other in result[1:]:
        np.testing.assert_array_equal(result[0], other)


def test_other_protocols_and_drawn_galleries_know_their_probes():
    """Re-identification counts no row in the sweep, drawn galleries count blocks."""
    scores = population()
    known = digests(scores)
    reid = be.Scores(
        scores.values,
        scores.probe_labels,
        scores.gallery_labels,
        probe_meta={"camera": np.ones(72)},
        gallery_meta={"camera": np.full(72, 2)},
    )
    a, b = (be.tally(reid.select(probes=x), "market1501", site="A") for x in (range(9), [8, 70]))
    with pytest.raises(be.MergeError, match="1 of the 9 probes"):
        a.merge(b)
    single = be.protocol.load("frte-1n")
    np.testing.assert_array_equal(digests(scores, protocol=single), known)


# -- a sample of a larger gallery


def large(people=1000, seed=5) -> be.Scores:
    """One probe of each of 1,000 people, against 300 templates."""
    rng = np.random.default_rng(seed)
    return be.Scores(rng.random((people, 300)).astype("float32"), np.arange(people), np.arange(300))


def test_one_shared_person_among_a_thousand_is_found_by_a_sample():
    scores = large()
    rows = np.random.default_rng(0).permutation(1000)
    alone = be.tally(of_rows(scores, rows[:500]), site="A")
    other = be.tally(of_rows(scores, rows[500:]), site="B")
    both = alone.merge(other)
    assert not {*NOT_CHECKED, "probes-perhaps-twice"} & codes_of(both)
    shared = be.tally(of_rows(scores, rows[499:]), site="B")
    with pytest.raises(be.MergeError, match=r"1 of the 500 probes \(number 499\) is among the 501"):
        alone.merge(shared)
    with pytest.raises(be.MergeError, match="1 of the 500 probes"):
        alone.merge(be.tally(of_rows(scores, rows[499:500]), site="C"))


def test_another_key_takes_another_sample(monkeypatch):
    """A score of a template outside the sample does not count, and one in it does."""
    monkeypatch.setattr(template_digests, "SAMPLE", 25)
    scores = of_rows(population(), range(72))
    changed = scores.values.copy()
    changed[:, 0] += 1
    other = of_rows(scores, range(72), values=changed)
    keys = [f"key {x}" for x in range(8)]
    same = [bool((digests(scores, key=x) == digests(other, key=x)).all()) for x in keys]
    smallest = [
        naive.described(x, scores.gallery_labels.tolist()[0])
        <= sorted(naive.described(x, y) for y in scores.gallery_labels.tolist())[24]
        for x in keys
    ]
    assert same == [not x for x in smallest] and 0 < sum(same) < 8


def test_rows_of_few_distinct_scores_are_known_by_all_of_them():
    """As in a list of the nearest, where nearly all scores of a probe are alike."""
    values = np.full((4, 500), 9.0)
    values[:, :25] = np.random.default_rng(0).random((4, 25))
    values[3] = values[2]
    scores = be.Scores(values, [0, 1, 2, 2], np.arange(500))
    result = be.tally(scores)
    assert arguments(result.dataset(NODE), "probes-repeated")["copies"] == 1
    assert result.counted.scores.tolist() == [
        naive.of_attempts(
            "bioeval",
            list(zip(keys, x, strict=True)),
            keys,
        )
        for keys in [[naive.described("bioeval", y) for y in range(500)]]
        for x in values.tolist()
    ]


# -- embeddings


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("limit", ["1 GiB", 20_000])
@pytest.mark.cases(1)
def test_embeddings_are_known_whatever_the_last_digit_of_their_scores(dtype, limit):
    """The last digits of a product depend on its size: the probe is known by its embedding."""
    rng = np.random.default_rng(0)
    probes, gallery = rng.normal(size=(72, 16)), rng.normal(size=(90, 16))
    people, gallery_people = np.repeat(np.arange(18), 4), np.repeat(np.arange(18), 5)

    def at(rows, site, **changed):
        rows = list(rows)
        options = {"dtype": dtype, "memory_limit": limit} | changed
        scores = be.Scores.from_embeddings(
            probes[rows], people[rows], gallery, gallery_people, **options
        )
        return be.tally(scores, site=site)

    a, b = at(range(40), "A"), at(range(30, 72), "B")
    with pytest.raises(be.MergeError, match=r"10 of the 40 probes \(numbers 30"):
        a.merge(b)
    both = a.merge(at(range(40, 72), "B", memory_limit="1 GiB"))
    assert not NOT_CHECKED & codes_of(both)
    assert both.counted.scores.tolist() == [
        naive.of_embedding("bioeval", x, varied=True) for x in probes
    ]
    values = at(range(72), "").counted
    np.testing.assert_array_equal(values.scores, both.counted.scores)


def test_embeddings_and_a_matrix_are_not_compared_in_silence():
    rng = np.random.default_rng(0)
    x, who = rng.normal(size=(60, 8)), np.repeat(np.arange(20), 3)
    one = be.Scores.from_embeddings(x[:30], who[:30], x[30:], who[30:])
    other = be.Scores(one.values[::-1].copy(), who[:30][::-1], who[30:])
    both = be.tally(one, site="A").merge(be.tally(other, site="B"))
    assert "overlap-of-embeddings-and-scores" in codes_of(both)


# -- what keeps the digests, and what has none


def test_files_keep_the_digests_and_shares_do_not(tmp_path):
    scores, grid = population(), np.linspace(1, 6, 11)
    parts = [of_rows(scores, range(40)), of_rows(scores, range(30, 72))]
    tallies = [be.tally(x, thresholds=grid, site=y) for x, y in zip(parts, "AB", strict=True)]
    for name in ("plain", "folded"):
        made = [x.folded(grid) if name == "folded" else x for x in tallies]
        made[0].save(tmp_path / name)
        with pytest.raises(be.MergeError, match="10 of the 40 probes"):
            be.Tally.load(tmp_path / name).merge(made[1])
        assert any("all scores of each probe" in x for x in made[0].disclosed())
    for salt in ("salt", None):
        shared = [x.share(grid, salt=salt, min_count=0) for x in tallies]
        shared[0].save(tmp_path / "shared")
        both = be.Tally.load(tmp_path / "shared").merge(shared[1])
        assert ("overlap-without-digests" if salt else "digests-dropped") in codes_of(both)
        assert both.counted is None or both.counted.scores is None
        assert not any("all scores" in x for x in both.disclosed())


def test_galleries_in_parts_have_none():
    scores = population("all-against-all")
    parts = [scores.select(gallery=np.arange(i, 72, 2)) for i in (0, 1)]
    mates = reduce(lambda a, b: a.merge(b), [best_mates(x) for x in parts])
    assert be.tally(parts[0], mates=mates).counted.scores is None


def test_pairs_have_positions_alone():
    pairs = be.Scores.from_pairs(np.arange(30) / 7, np.arange(30) % 2)
    both = be.tally(pairs, site="A").merge(be.tally(pairs, site="B"))
    assert not NOT_CHECKED & set(codes(both.dataset()))
    assert both.counted.scores is None


@pytest.mark.parametrize(
    "change",
    [
        {"scores": None},
        {"scores": np.zeros(3, dtype=np.uint64)},
        {"people": np.zeros(72)},
    ],
)
@pytest.mark.cases(1)
def test_damaged_digests_are_refused(change, tmp_path):
    result = be.tally(population())
    for name, value in change.items():
        object.__setattr__(result.counted, name, value)
    result.save(tmp_path / "x.tally")
    with pytest.raises(be.DataError, match="the digests of its probes are damaged"):
        be.Tally.load(tmp_path / "x.tally")


def test_the_key_is_in_every_digest(tmp_path):
    scores = population()
    one, other = (be.tally(scores, key=x).counted for x in ("one", "two"))
    assert not set(one.scores.tolist()) & set(other.scores.tolist())
    be.tally(scores, key="one", checkpoint=tmp_path / "kept")
    with pytest.raises(be.CheckpointError, match="another key"):
        be.tally(scores, key="two", checkpoint=tmp_path / "kept")


def test_evaluations_make_no_digests(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError

    monkeypatch.setattr(row_digests, "digest_rows", refuse)
    scores = population()
    be.evaluate(scores)
    be.verification(scores)
    be.cross_evaluate(scores, be.partition.SubjectKFold(3))
    with pytest.raises(AssertionError):
        be.tally(scores)
