"""Rows explained: a naive twin, and that rows sum to the counts of their tasks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from reference import one_thread  # noqa: F401
from strategies import FUSIONS, IMPOSTORS, TIES, UNITS, matrices, thresholds

import bioeval as be
from bioeval import protocol
from bioeval.protocol import for_layout

NAMES = ["a1", "a2", "b1", "b2", "c1"]
WHO = ["ann", "ann", "bob", "bob", "cat"]
D = np.array(
    [[0, 1, 4, 6, 9], [1, 0, 5, 3, 3], [4, 5, 0, 7, 8], [6, 3, 7, 0, 2], [9, 3, 8, 2, 0]],
    dtype=float,
)


@pytest.fixture
def scores() -> be.Scores:
    return be.Scores(D, WHO, probe_meta={"name": NAMES})


def shown(row) -> str:
    """Return the explanation of a row in one line."""
    return " ".join(str(row).split())


def flat(counts: dict) -> dict:
    """Return the counts of a task by name and rank; zeros left out."""
    return {
        (name, rank): value
        for name, amount in counts.items()
        for rank, value in (amount if isinstance(amount, dict) else {None: amount}).items()
        if value
    }


SMALL = {"dtypes": ("float32", "float64", "int8"), "orders": ("C", "strided")}


def card_of(scores, **sections):
    """The course's card for the layout, with some options of its sections changed."""
    card = for_layout(scores.layout)
    tasks = {name: replace(getattr(card, name), **changes) for name, changes in sections.items()}
    return replace(card, **tasks)


def sums(scores, card, threshold):
    """The sum of the counts of all rows, by task and counter."""
    result = {}
    for i in range(scores.shape[0]):
        row = be.explain(scores, i, threshold=threshold, protocol=card)
        for task, counts in row.counts.items():
            of_task = result.setdefault(task, {})
            for count, amount in flat(counts).items():
                of_task[count] = of_task.get(count, 0) + amount
        # Each list has the same counts as its entries.
        for task, counts in row.counts.items():
            added = {}
            for entry in (x for entries in row.lists.values() for x in entries):
                for count, amount in flat(entry.adds.get(task, {})).items():
                    added[count] = added.get(count, 0) + amount
            attempts = ("genuine_attempts", "impostor_attempts", "attempts", "skipped")
            assert added == {x: y for x, y in flat(counts).items() if x[0] not in attempts}
    return result


def at_ranks(counts, name, ranks):
    return [counts.get((name, int(rank)), 0) for rank in ranks]


def test_a_row_by_hand(scores):
    """Probe a2 at threshold 3: its mate a1 at 1, then b2 and c1 at 3, then b1 at 5."""
    row = be.explain(scores, "a2", threshold=3)
    assert (row.probe, row.name, row.subject, row.threshold) == (1, "a2", "ann", 3)
    assert "Threshold 3" in shown(row) and "reject all" not in shown(row)
    templates = row.lists["templates"]
    assert [(e.template, e.role, e.adds.get("verification/single")) for e in templates] == [
        *(("a1", "genuine", {"ga": 1}), ("b2", "impostor", {"fa": 1})),
        *(("c1", "impostor", {"fa": 1}), ("b1", "impostor", {"gr": 1}), ("a2", "left out", None)),
    ]
    assert templates[0].adds["open_set"] == {"di": {1: 1}}
    assert templates[0].adds["closed_set"] == {"cms_count": {1: 1}}
    assert templates[1].adds["open_set"] == {"fa": 1} and "open_set" not in templates[2].adds
    assert templates[-1].reason.startswith("the probe itself")
    nearest = [(e.subject, e.template) for e in row.lists["subjects, fusion best"]]
    assert nearest == [("ann", "a1"), ("bob", "b2"), ("cat", "c1")]
    assert list(map(flat, row.counts.values())) == [
        {("ga", None): 1, ("fa", None): 2, ("gr", None): 1},
        {("ga", None): 1, ("fa", None): 2},
        {
            ("genuine_attempts", None): 1, ("di", 1): 1,
            ("impostor_attempts", None): 1, ("fa", None): 1,
        },
        {("attempts", None): 1, ("cms_count", 1): 1},
    ]  # fmt: skip
    assert "a1 ann 1 genuine GA DI(t, 1) CMS(1)" in shown(row)


def test_ties_have_their_expected_share():
    """A mate and two others have equal distances: each of ranks 1, 2 and 3 has probability 1/3."""
    scores = be.Scores([[5.0, 5.0, 5.0, 6.0]], ["a"], ["b", "a", "c", "d"])
    row = be.explain(scores, 0, threshold=5)
    assert row.counts["open_set"]["di"] == {3: 1}
    assert [e.template for e in row.lists["templates"]] == ["0", "2", "1", "3"]  # the mate behind
    card = protocol.for_layout(scores.layout)
    card = replace(card, open_set=replace(card.open_set, ties="expected"))
    row = be.explain(scores, 0, threshold=5, protocol=card)
    assert row.counts["open_set"]["di"] == pytest.approx(dict.fromkeys((1, 2, 3), 1 / 3))
    assert row.counts["open_set"]["fr"] == pytest.approx(2 / 3)
    assert "DI(t, 1) 0.333, DI(t, 2) 0.333" in shown(row)


def naive(values, probe, gallery, i, threshold, square, nan):
    """Return the order of a row, and the outcome of each comparison, by loops."""
    attempts = []
    for j, value in enumerate(values[i]):
        if (square and i == j) or (np.isnan(value) and nan == "exclude"):
            continue
        attempts.append((np.inf if np.isnan(value) else value, probe[i] == gallery[j], j))
    attempts.sort()  # at equal distances, others come before mates: pessimistic
    outcomes = []
    for value, genuine, _ in attempts:
        accepted = value <= threshold and value < np.inf
        outcomes.append(("ga" if accepted else "fr") if genuine else ("fa" if accepted else "gr"))
    return [j for *_, j in attempts], outcomes


@pytest.mark.parametrize("nan", ["exclude", "reject"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("square", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_those_of_plain_loops(nan, kind, square, seed):
    rng = np.random.default_rng(seed)
    probe = rng.permutation(np.repeat(["a", "b", "c"], 3))
    gallery = probe if square else rng.permutation(np.repeat(["a", "b", "c"], 2))
    distances = rng.integers(0, 6, (len(probe), len(gallery))).astype(float)
    distances[rng.random(distances.shape) < 0.15] = np.nan
    sign = 1 if kind == "distance" else -1
    scores = be.Scores(sign * distances, probe, None if square else gallery, kind=kind, nan=nan)
    for i in range(len(probe)):
        row = be.explain(scores, i, threshold=sign * 2)
        order, outcomes = naive(distances, probe, gallery, i, 2, square, nan)
        entries = [e for e in row.lists["templates"] if e.place is not None]
        assert [int(e.template) for e in entries] == order
        assert [e.place for e in entries] == [*range(1, len(order) + 1)]
        assert [[*e.adds["verification/single"]] for e in entries] == [[x] for x in outcomes]
        np.testing.assert_array_equal(
            [np.nan if e.score is None else e.score for e in entries], sign * distances[i, order]
        )


def test_a_list_of_pairs_explains_the_pairs_of_a_probe():
    """Pairs name the enrolled template first, then the probe."""
    names = [["A", "p"], ["B", "p"], ["A", "q"], ["C", "p"]]
    people = [["ann", "ann"], ["bob", "ann"], ["ann", "bob"], ["cat", "ann"]]
    values, genuine = [0.3, 0.1, 0.2, np.nan], [1, 0, 0, 0]
    scores = be.Scores.from_pairs(
        values, genuine, subjects=people, pair_templates=names, nan="reject"
    )
    for probe in ("p", 0, 1, 3):
        row = be.explain(scores, probe, threshold=0.15)
        assert (row.name, row.subject) == ("p", "ann")
        assert [(e.place, e.template, e.subject) for e in row.lists["templates"]] == [
            (1, "B", "bob"), (2, "A", "ann"), (3, "C", "cat")
        ]  # fmt: skip
        assert row.counts == {"verification/single": {"ga": 0, "fr": 1, "fa": 1, "gr": 1}}
    assert be.explain(scores, "q", threshold=0.15).counts == {
        "verification/single": {"ga": 0, "fr": 0, "fa": 0, "gr": 1}
    }
    both = be.Scores.from_pairs(
        [0.3, 0.1], [0, 0], pair_templates=[["x", "y"], ["z", "x"]], unordered=True
    )
    row = be.explain(both, "x", threshold=0.2)
    assert [e.template for e in row.lists["templates"]] == ["z", "y"]
    assert [e.template for e in be.explain(both, "z", threshold=0.2).lists["templates"]] == ["x"]
    assert [e.template for e in be.explain(both, 1, threshold=0.2).lists["templates"]] == ["z", "y"]
    unnamed = be.explain(be.Scores.from_pairs([0.1, 0.2], [1, 0]), 1, threshold=0.2)
    assert unnamed.counts == {"verification/single": {"ga": 0, "fr": 0, "fa": 1, "gr": 0}}
    with pytest.raises(be.DataError, match="the name of a template, such as 'p'"):
        be.explain(scores, "r")
    with pytest.raises(be.DataError, match="NaN"):
        be.explain(be.Scores.from_pairs(values, genuine), 0)


def test_why_others_are_left_out():
    distances, labels = np.array([[0.0, 1, 2, np.nan, 4, 5]]), list("aabbcc")
    meta = {"probe_meta": {"session": [1]}, "gallery_meta": {"session": [2, 1, 2, 2, 1, 2]}}
    mask = np.array([[2, 2, 0, 1, 1, 1]])
    scores = be.Scores(
        distances, ["a"], labels, nan="exclude", mask=mask, exclude=("session",), **meta
    )
    left_out = [e for e in be.explain(scores, 0, threshold=1).lists["templates"] if not e.place]
    assert [(e.template, e.reason) for e in left_out] == [
        ("1", "excluded: the same session"),
        ("2", "left out by the mask"),
        ("3", "failed comparison (NaN)"),
    ]
    rejected = be.explain(be.Scores(distances, ["a"], labels, nan="reject"), 0, threshold=1)
    failed = rejected.lists["templates"][-1]
    assert (failed.place, failed.reason) == (6, "failed comparison (NaN)")
    assert failed.adds["verification/single"] == {"gr": 1}


@pytest.mark.parametrize(
    ("exclude", "left_out"),
    [
        ("session", [1]),
        ("all:session", [1, 3]),
        ("session!=", [2]),
        ("all:session!=", [2, 4, 5]),
        ("session=1/2", [2]),
        ("all:session=1/2", [2, 4]),
    ],
)
def test_every_form_of_exclusion_is_explained(exclude, left_out):
    """By hand: the left-out templates of sessions 1, 1, 2 (mates) and 1, 2, 3 (other people)."""
    distances = np.arange(36.0).reshape(6, 6)
    scores = be.Scores(distances, list("aaabbb"), probe_meta={"session": [1, 1, 2, 1, 2, 3]})
    row = be.explain(scores.excluding(exclude), 0, threshold=3)
    entries = [e for e in row.lists["templates"] if e.place is None]
    assert sorted(int(e.template) for e in entries) == [0, *left_out]
    assert {e.reason.partition(":")[0] for e in entries} == {"the probe itself", "excluded"}


def test_pairs_of_a_rule(scores):
    rows = [be.explain(scores, i, threshold=4, protocol="fvc2004") for i in range(5)]
    ds = be.evaluate(scores, "fvc2004", thresholds=[4.0])["verification/single"]
    for name in ("ga", "fr", "fa", "gr"):
        assert sum(row.counts["verification/single"][name] for row in rows) == ds[name].item()
    assert any("left out by the protocol" in shown(row) for row in rows)


def test_the_threshold_says_where_it_comes_from(scores):
    ds = be.verification(scores)
    row = be.explain(scores, 0)
    assert row.threshold == ds.eer_threshold
    assert "where verification (single-template) has equal FAR and FRR" in shown(row)
    loose = be.explain(scores, 0, threshold="far=0.5")
    half = be.verification(scores, far_targets=[0.5])
    assert loose.threshold == half.threshold_at_far.item()
    similar = be.Scores(-D, WHO, kind="similarity")
    assert be.explain(similar, 0).threshold == be.verification(similar).eer_threshold
    explained = be.explain(be.Scores(D[:1], ["ann"], ["ann"] * 5), 0)
    assert explained.threshold is None and explained.threshold_source.startswith("none")
    assert explained.counts["verification/single"] is None
    assert not explained.lists["templates"][0].adds.get("verification/single")


def test_an_order_has_no_threshold():
    scores = be.Scores(D.argsort(axis=1), WHO, kind="order")
    row = be.explain(scores, 0)
    assert row.threshold is None and "order" in row.threshold_source
    assert [*row.counts] == ["closed_set"]
    with pytest.raises(be.ProtocolError, match="only the order within each row"):
        be.explain(scores, 0, threshold=2)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"probe": 5}, be.DataError, "position from 0 to 4"),
        ({"probe": -1}, be.DataError, "expected an integer >= 0"),
        ({"probe": "b1x"}, be.DataError, "or the name of a template, such as"),
        ({"probe": 0, "threshold": "eeer"}, be.DataError, "`threshold` is 'eeer'"),
        ({"probe": 0, "protocol": "course-kfold"}, be.ProtocolError, "has folds"),
    ],
)
def test_wrong_arguments_are_refused(scores, options, error, message):
    with pytest.raises(error, match=message):
        be.explain(scores, **options)


def test_what_has_no_rows(scores):
    with pytest.raises(be.ProtocolError, match="ranks a gallery for each query"):
        be.explain(be.Scores.from_top_k([[0, 1]], ["a"], ["a", "b"]), 0)
    with pytest.raises(be.DataError, match=r"expected bioeval\.Scores"):
        be.explain(D, 0)
    with pytest.raises(be.ProtocolError, match="ranks a gallery for each query"):
        be.explain(be.Scores([[1.0, 2]], ["a"], ["a", "b"]), 0, protocol="viper")
    card = protocol.parse(f"{protocol.for_layout(scores.layout).to_toml()}\n[claims]\nseed = 1\n")
    with pytest.raises(be.ProtocolError, match="drawn claims"):
        be.explain(scores, 0, protocol=card)


def test_a_long_list_is_shortened(capsys, monkeypatch):
    """The nearest, the genuine and the neighbours of the threshold stay; data have all."""
    row = be.explain(be.simulate(20, 4, random_state=2), 17)
    text = str(row)
    places = [line.split()[0] for line in text.splitlines() if line.startswith("     ")]
    listed_places = {int(x) for x in places if x.isdecimal()}
    entries = row.lists["templates"]
    genuine = {entry.place for entry in entries if entry.role == "genuine"}
    accepted = sum(bool(entry.accepted) for entry in entries)
    assert {1, 6, accepted, accepted + 1} | genuine <= listed_places and len(listed_places) < 24
    assert "more entries" in text
    for width in (60, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        be.show(row)
        assert max(map(len, capsys.readouterr().out.splitlines())) <= width


@settings(max_examples=15)
@given(data=st.data())
def test_rows_sum_to_verification(data):
    case = data.draw(matrices(masks=("none", "labelled", "alone"), **SMALL))
    threshold = float(data.draw(thresholds(case, max_size=1))[0])
    fusion = data.draw(st.sampled_from(FUSIONS))
    scores, unlabelled = be.Scores(**case.scores()), case.probe_labels is None
    if case.square and not unlabelled and data.draw(st.booleans()):  # without pairs of a session
        sessions = st.lists(st.integers(0, 2), min_size=len(case.values), max_size=len(case.values))
        meta = {"session": data.draw(sessions)}
        scores = be.Scores(**case.scores(), probe_meta=meta, exclude=("session",))
    use = ("single",) if unlabelled else ("single", "multi")
    card = card_of(scores, verification={"templates": use, "fusion": fusion})
    result = sums(scores, replace(card, open_set=None, closed_set=None), threshold)
    for templates in use:
        options = {"fusion": fusion} if templates == "multi" else {}
        ds = be.verification(scores, templates=templates, thresholds=[threshold], **options)
        counts = result.get(f"verification/{templates}", {})
        for name in ("ga", "fr", "fa", "gr"):
            assert counts.get((name, None), 0) == ds[name].item(), (templates, name)


@pytest.mark.slow
@settings(max_examples=10)
@given(data=st.data())
def test_rows_sum_to_identification(data):
    case = data.draw(matrices(masks=("none", "labelled"), **SMALL))
    threshold = float(data.draw(thresholds(case, max_size=1))[0])
    options = {
        "rank_unit": data.draw(st.sampled_from(UNITS)),
        "ties": data.draw(st.sampled_from(TIES)),
    }
    if options["rank_unit"] == "subject":
        options["fusion"] = data.draw(st.sampled_from(FUSIONS))
    scores = be.Scores(**case.scores())
    words = IMPOSTORS[::2] if case.square else IMPOSTORS  # a card accepts no others
    impostors = data.draw(st.sampled_from(words))
    card = card_of(
        scores,
        open_set=options | {"impostors": impostors},
        closed_set=options | {"unmated": "skip"},
    )
    result = sums(scores, card, threshold)
    ds = be.open_set(scores, thresholds=[threshold], impostors=impostors, **options)
    counts = result.get("open_set", {})
    for name in ("genuine_attempts", "impostor_attempts", "fa", "gr"):
        assert counts.get((name, None), 0) == ds[name].item(), name
    np.testing.assert_allclose(at_ranks(counts, "di", ds["rank"]), ds.di[0], atol=1e-12)
    missed = counts.get(("fr", None), 0)
    if ds.genuine_attempts:
        assert missed / ds.genuine_attempts.item() == pytest.approx(ds.frr.item(), abs=1e-12)
    closed = be.closed_set(scores, unmated="skip", **options)
    counts = result.get("closed_set", {})
    assert counts.get(("attempts", None), 0) == closed.attempts.item()
    assert counts.get(("skipped", None), 0) == closed.skipped.item()
    cumulative = np.cumsum(at_ranks(counts, "cms_count", closed["rank"]))
    np.testing.assert_allclose(cumulative, closed.cms_count, atol=1e-12)


def test_claim_scores_are_rows_of_claims():
    """The second try of ann is nearer to her, the first to bob."""
    values = [[5.0, 6.0, 3.0], [2.0, 1.0, 4.0], [7.0, 8.0, 0.5]]
    visits = {"visit": [1, 1, 2]}
    scores = be.Scores(values, ["ann", "ann", "bob"], ["ann", "ann", "bob"], probe_meta=visits)
    claims = be.claim_scores(scores, attempts="visit")
    row = be.explain(claims, 0, threshold=2.5)
    entries = row.lists["templates"]
    assert [(e.subject, e.score) for e in entries] == [("ann", 1), ("bob", 3)]
    assert [e.adds["verification/visits"] for e in entries] == [{"ga": 1}, {"gr": 1}]
    assert "Verification, visits, best of their" in shown(row)
    assert "single-template" not in shown(row)
    assert "Attempt 0 (visit 1, subject ann)" in shown(row) and row.visit == "visit 1"
    assert "List of claims" in shown(row)


def test_a_failed_visit_is_no_failed_comparison():
    """Both tries of the visit 2 failed."""
    values = [[5.0, 6.0], [2.0, 1.0], [np.nan, 8.0], [np.nan, 7.0]]
    meta = {"visit": [1, 1, 2, 2], "template": ["t0", "t1", "t2", "t3"]}
    scores = be.Scores(values, ["a"] * 4, ["a", "b"], probe_meta=meta, nan="reject")
    row = be.explain(be.claim_scores(scores, attempts="visit"), 1)
    assert [x.reason for x in row.lists["templates"]] == ["", "failed claim (NaN)"]
    assert "Attempt 1 (visit 2, first try t2, subject a)" in shown(row)
    assert row.counts["verification/visits"]["fr"] == 1
