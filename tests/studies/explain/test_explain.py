"""Rows explained: what is said of them, and that they sum to the counts of their tasks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from reference import one_thread  # noqa: F401
from result_text import as_text
from strategies import FUSIONS, IMPOSTORS, TIES, UNITS, matrices, thresholds

import bioeval as be
from bioeval import protocol
from bioeval.cli import main
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


def task_of(row, name: str):
    """Return the first task of a row with a name."""
    return next(task for task in row.tasks if task.task == name)


def counts_of(task) -> dict:
    """Return the counts of a task, by name, or by name and rank; zeros left out."""
    return {
        name if rank is None else (name, rank): amount
        for (name, rank), amount in task.counts.items() if amount
    }  # fmt: skip


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
        for task in be.explain(scores, i, threshold=threshold, protocol=card).tasks:
            of_task = result.setdefault(task.task, {})
            for count, amount in task.counts.items():
                of_task[count] = of_task.get(count, 0) + amount
    return result


def at_ranks(counts, name, ranks):
    return [counts.get((name, int(rank)), 0) for rank in ranks]


def test_a_row_by_hand(scores):
    """Probe a2 at threshold 3: its mate a1 at 1, then b2 and c1 at 3, then b1 at 5."""
    row = be.explain(scores, "a2", threshold=3)
    assert (row.probe, row.name, row.subject, row.threshold) == (1, "a2", "ann", 3)
    assert "Threshold 3" in shown(row) and "reject all" not in shown(row)
    templates, subjects = row.lists
    assert [(e.template, e.role, e.outcome) for e in templates.entries] == [
        *(("a1", "genuine", "GA"), ("b2", "impostor", "FA"), ("c1", "impostor", "FA")),
        *(("b1", "impostor", "GR"), ("a2", "left out", "")),
    ]
    assert templates.entries[-1].reason.startswith("the probe itself")
    nearest = [(e.subject, e.template) for e in subjects.entries]
    assert nearest == [("ann", "a1"), ("bob", "b2"), ("cat", "c1")]
    assert list(map(counts_of, row.tasks)) == [
        {"ga": 1, "fa": 2, "gr": 1},
        {"ga": 1, "fa": 2},
        {"genuine_attempts": 1, ("di", 1): 1},
        {"impostor_attempts": 1, "fa": 1},
        {"attempts": 1, ("cms_count", 1): 1},
    ]


def test_sums_of_a_step_stand_once_and_rates_have_their_ranks(scores):
    text = as_text(be.step_by_step(scores, threshold=3), width=200)
    assert text.count("TG 1, DI(t, 1) 1, TI 1, GR 1") == 1
    for formula in ("DIR(t, 1) = DI(t, 1) / TG", "CMS(1) = (mates"):
        assert text.count(formula) == 1


@pytest.mark.parametrize(
    ("probe", "threshold", "counts", "why"),
    [  # of probe b1, a1 at 4 and a2 at 5 are ahead of its mate b2 at 7
        (
            "b1", 7, {"genuine_attempts": 1, ("di", 3): 1, "fr": 1},
            "(not first: always a false reject)",
        ),
        ("b1", 6.9, {"genuine_attempts": 1, "fr": 1}, "the nearest mate is b2"),
        ("c1", 2, {}, "no usable mate"),
    ],
)  # fmt: skip
def test_a_mate_that_is_not_first_and_a_subject_with_one_template(
    scores, probe, threshold, counts, why
):
    row = be.explain(scores, probe, threshold=threshold)
    assert counts_of(task_of(row, "open_set")) == counts and why in shown(row)
    assert (counts_of(row.tasks[-1]) == {"skipped": 1}) == (probe == "c1")


def test_ties_have_their_expected_share():
    """A mate and two others have equal distances: each of ranks 1, 2 and 3 has probability 1/3."""
    scores = be.Scores([[5.0, 5.0, 5.0, 6.0]], ["a"], ["b", "a", "c", "d"])
    row = be.explain(scores, 0, threshold=5)
    assert counts_of(task_of(row, "open_set"))["di", 3] == 1
    assert "tied with 2 of other subjects (pessimistic ties)" in shown(row)
    assert [e.template for e in row.lists[0].entries] == ["0", "2", "1", "3"]  # the mate behind
    card = protocol.for_layout(scores.layout)
    card = replace(card, open_set=replace(card.open_set, ties="expected"))
    counts = counts_of(task_of(be.explain(scores, 0, threshold=5, protocol=card), "open_set"))
    assert [counts["di", k] for k in (1, 2, 3)] == pytest.approx([1 / 3] * 3)


def test_why_others_are_left_out():
    distances, labels = np.array([[0.0, 1, 2, np.nan, 4, 5]]), list("aabbcc")
    meta = {"probe_meta": {"session": [1]}, "gallery_meta": {"session": [2, 1, 2, 2, 1, 2]}}
    mask = np.array([[2, 2, 0, 1, 1, 1]])
    scores = be.Scores(
        distances, ["a"], labels, nan="exclude", mask=mask, exclude=("session",), **meta
    )
    row = be.explain(scores, 0, threshold=1)
    assert [e.column for e in row.lists[0].entries if e.role == "left out"] == [1, 2, 3]
    for reason in (
        "same subject and same session (1)", "left out by the mask", "failed comparison (NaN)"
    ):  # fmt: skip
        assert reason in shown(row)
    rejected = be.Scores(distances, ["a"], labels, nan="reject")
    failed = next(e for e in be.explain(rejected, 0, threshold=1).lists[0].entries if e.column == 3)
    assert failed.place == 6 and "no threshold accepts" in failed.reason and failed.outcome == "GR"


@pytest.mark.parametrize(
    ("exclude", "left_out", "reasons"),
    [
        ("session", [1], ["same subject and same session (1)"]),
        ("all:session", [1, 3], ["same session (1)"]),
        ("session!=", [2], ["same subject and different session (1 and 2)"]),
        ("all:session!=", [2, 4, 5], [f"different session (1 and {y})" for y in (2, 3)]),
        ("session=1/2", [2], ["same subject and session 1 (probe) and 2 (gallery)"]),
        ("all:session=1/2", [2, 4], ["session 1 (probe) and 2 (gallery)"]),
    ],
)
def test_every_form_of_exclusion_is_explained(exclude, left_out, reasons):
    """By hand: the left-out templates of sessions 1, 1, 2 (mates) and 1, 2, 3 (other people)."""
    distances = np.arange(36.0).reshape(6, 6)
    scores = be.Scores(distances, list("aaabbb"), probe_meta={"session": [1, 1, 2, 1, 2, 3]})
    row = be.explain(scores.excluding(exclude), 0, threshold=3)
    assert sorted(x.column for x in row.lists[0].entries if x.place is None) == [0, *left_out]
    text = shown(row)
    assert "the probe itself: a template is never compared with itself" in text
    assert all(reason in text for reason in reasons)
    assert ("same subject" in text) == reasons[0].startswith("same subject")


def test_pairs_of_a_rule(scores):
    rows = [be.explain(scores, i, threshold=4, protocol="fvc2004") for i in range(5)]
    ds = be.evaluate(scores, "fvc2004", thresholds=[4.0])["verification/single"]
    for name in ("ga", "fr", "fa", "gr"):
        assert sum(counts_of(row.tasks[0]).get(name, 0) for row in rows) == ds[name].item()
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
    assert explained.tasks[0].counts is None and explained.lists[0].entries[0].outcome == "GA | FR"


def test_an_order_has_no_threshold():
    scores = be.Scores(D.argsort(axis=1), WHO, kind="order")
    row = be.explain(scores, 0)
    assert row.threshold is None and "order" in row.threshold_source
    assert "GA | FR" in str(row) and "depends on the threshold" in str(row)
    with pytest.raises(be.ProtocolError, match="only the order within each row"):
        be.explain(scores, 0, threshold=2)
    assert list(be.step_by_step(scores).rates) == ["closed_set"]


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
    with pytest.raises(be.ProtocolError, match="list of pairs has no rows"):
        be.explain(be.Scores.from_pairs([0.1, 0.2], [1, 0]), 0)
    with pytest.raises(be.DataError, match=r"expected bioeval\.Scores"):
        be.explain(D, 0)
    with pytest.raises(be.DataError, match="too many to read"):
        be.step_by_step(be.simulate(30, 4))
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
    genuine = {entry.place for entry in row.lists[0].with_role("genuine")}
    accepted = sum(entry.accepted for entry in row.lists[0].with_role("genuine", "impostor"))
    assert {1, 6, accepted, accepted + 1} | genuine <= listed_places and len(listed_places) < 24
    assert "more templates" in text
    for width in (60, 100):
        monkeypatch.setenv("COLUMNS", str(width))
        be.show(row)
        assert max(map(len, capsys.readouterr().out.splitlines())) <= width


@pytest.fixture
def file(tmp_path, scores):
    path = tmp_path / "tiny.npz"
    be.save(scores, path)
    return str(path)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "give --probe N, or --step-by-step"),
        (["--probe", "1", "--step-by-step"], "give --probe N, or --step-by-step"),
        (["--probe", "17"], "--probe is '17'; expected a position from 0 to 4"),
        (["--probe", "1", "--threshold", "nan"], "NaN"),
    ],
)
def test_wrong_usage(file, args, message, capsys):
    assert main(["explain", file, *args]) == 2
    assert message in capsys.readouterr().err


@settings(max_examples=10)
@given(data=st.data())
def test_verification(data):
    case = data.draw(matrices(masks=("none", "labelled"), **SMALL))
    threshold = float(data.draw(thresholds(case, max_size=1))[0])
    fusion = data.draw(st.sampled_from(FUSIONS))
    scores = be.Scores(**case.scores())
    card = card_of(scores, verification={"fusion": fusion})
    result = sums(scores, card, threshold)
    for templates in ("single", "multi"):
        ds = be.verification(scores, templates=templates, fusion=fusion, thresholds=[threshold])
        counts = result[f"verification/{templates}"]
        for name in ("ga", "fr", "fa", "gr"):
            assert counts.get((name, None), 0) == ds[name].item(), (templates, name)


@settings(max_examples=5)
@given(data=st.data())
def test_masks_without_labels(data):
    case = data.draw(matrices(masks=("alone",), **SMALL))
    threshold = float(data.draw(thresholds(case, max_size=1))[0])
    scores = be.Scores(**case.scores())
    card = replace(card_of(scores, verification={"templates": ("single",)}), open_set=None)
    counts = sums(scores, replace(card, closed_set=None), threshold).get("verification/single", {})
    ds = be.verification(scores, thresholds=[threshold])
    for name in ("ga", "fr", "fa", "gr"):
        assert counts.get((name, None), 0) == ds[name].item(), name


@pytest.mark.slow
@settings(max_examples=10)
@given(data=st.data())
def test_identification(data):
    case = data.draw(matrices(masks=("none", "labelled"), **SMALL))
    threshold = float(data.draw(thresholds(case, max_size=1))[0])
    options = {
        "rank_unit": data.draw(st.sampled_from(UNITS)),
        "ties": data.draw(st.sampled_from(TIES)),
        "fusion": data.draw(st.sampled_from(FUSIONS)),
    }
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


@settings(max_examples=5)
@given(data=st.data())
def test_excluded_sessions(data):
    """Pairs of one session."""
    case = data.draw(matrices(layouts=("square",), sizes=((2, 2), (3, 1, 2), (2, 2, 2)), **SMALL))
    count = len(case.values)
    meta = {"session": data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))}
    threshold = float(data.draw(thresholds(case, max_size=1))[0])
    scores = be.Scores(**case.scores(), probe_meta=meta, exclude=("session",))
    result = sums(scores, for_layout(scores.layout), threshold)
    ds = be.verification(scores, thresholds=[threshold])
    for name in ("ga", "fr", "fa", "gr"):
        assert result["verification/single"].get((name, None), 0) == ds[name].item()
    ds = be.open_set(scores, thresholds=[threshold])
    for name in ("genuine_attempts", "impostor_attempts", "fa", "gr"):
        assert result.get("open_set", {}).get((name, None), 0) == ds[name].item()


def test_a_try_of_a_visit_says_of_which_and_who_decided():
    """The second try of ann is nearer to her, the first to bob."""
    values = [[5.0, 6.0, 3.0], [2.0, 1.0, 4.0], [7.0, 8.0, 0.5]]
    scores = be.Scores(
        values,
        ["ann", "ann", "bob"],
        ["ann", "ann", "bob"],
        probe_meta={"visit": [1, 1, 2], "template": ["P1", "P2", "P3"]},
        gallery_meta={"template": ["A1", "A2", "B1"]},
    )
    claims = be.claim_scores(scores, attempts="visit")
    for name in ("P1", "P2"):
        text = shown(be.explain(claims, name, threshold=2.5))
        assert "Verification, visits, best of their" in text
        assert "single-template" not in text
        assert "The visit has 2 tries: P1 and P2" in text
        assert "that of ann by P2 with A2 and that of bob by P1 with B1" in text
    single = be.claim_scores(scores, attempts="visit", templates="single")
    assert "that of ann by P2 with A1" in shown(be.explain(single, "P2", threshold=2.5))
    with pytest.raises(be.DataError, match="'P33'; expected .* such as 'P1'") as error:
        be.explain(claims, "P33")
    assert "P3'?" not in str(error.value)
