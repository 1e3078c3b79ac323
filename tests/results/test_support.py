"""Independent units beside attempts, people and pairs of them; and how many people a rate needs."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference import one_thread  # noqa: F401
from result_messages import arguments

import bioeval as be
from bioeval.results.beyond_scores import beyond_scores
from bioeval.results.support import (
    RuleOf,
    independent_trials,
    rank_message,
    searching_people,
    support_messages,
    supported,
    tie_message,
)
from bioeval.scores.people import ComparedPeople

SUPPORT = {"target-not-supported": 3, "target-uncertain": 30}


def people_by_counting_up(pairs: float) -> int:
    """Return the smallest number of people who form at least so many pairs."""
    return next(n for n in itertools.count(2) if n * (n - 1) / 2 >= pairs - 1e-9)


def unsupported_targets(result, rate: str = "far") -> dict[float, tuple[str, dict, float]]:
    """Return code, numbers at present and number needed, by target that is not well supported."""
    support = {}
    for message in be.messages(result):
        if message.code in SUPPORT and message.arguments.get("chosen", "far") == rate:
            arguments = message.arguments
            for target, needed in zip(arguments["targets"], arguments["needed"], strict=True):
                support[target] = (message.code, arguments["have"], needed)
    return support


@pytest.mark.parametrize("people", [20, 40])
def test_the_people_of_a_target_are_those_whose_pairs_suffice(people):
    """30 expected errors support a rate, 3 just; a pair of people counts once, not by templates."""
    targets = [0.5, 0.1, 0.05, 0.01, 0.003, 0.001]
    supported = unsupported_targets(be.verification(be.simulate(people, 3), far_targets=targets))
    for target in targets:
        too_few = [
            code for code, n in SUPPORT.items() if people < people_by_counting_up(n / target)
        ]
        if too_few:
            needed = people_by_counting_up(SUPPORT[too_few[0]] / target)
            assert supported.pop(target) == (too_few[0], {"people": people}, needed)
    assert not supported
    assert [people_by_counting_up(n / 0.001) for n in SUPPORT.values()] == [78, 246]


def test_a_pair_of_people_on_two_sides_counts_once():
    sides = [np.arange(20), np.arange(100) + 10]
    pairs = {frozenset((a, b)) for a in sides[0].tolist() for b in sides[1].tolist() if a != b}
    values = np.random.default_rng(0).random((20, 100))
    supported = unsupported_targets(
        be.verification(be.Scores(values, *sides), far_targets=[1 / 1500])
    )
    assert supported == {1 / 1500: ("target-not-supported", {"pairs of people": len(pairs)}, 4500)}


def listed(pairs, kind: str = "similarity", **options) -> be.Scores:
    """Return a list of these pairs of people, and of each person with itself."""
    people = sorted({x for pair in pairs for x in pair})
    pairs = [*pairs, *((x, x) for x in people)]
    values = np.random.default_rng(1).random(len(pairs))
    return be.Scores.from_pairs(values, [a == b for a, b in pairs], kind=kind, **options)


def named(pairs) -> be.Scores:
    people = sorted({x for pair in pairs for x in pair})
    return listed(pairs, subjects=[*pairs, *((x, x) for x in people)])


def test_attempts_and_pairs_are_named_where_they_are_fewer_than_people_allow():
    """Of 100 pairs of 20 people more people are needed, of 40 more of their pairs."""
    pairs_of_20 = list(itertools.combinations(range(20), 2))[::-1][:100]
    pairs_of_40 = list(itertools.combinations(range(40), 2))[::7][:100]  # spread over all people
    assert (
        unsupported_targets(be.verification(named(pairs_of_20), far_targets=[0.01]))[0.01][2]
        == people_by_counting_up(300)
        == 25
    )
    have = {"pairs of people": 100}
    of_pairs_of_40 = unsupported_targets(be.verification(named(pairs_of_40), far_targets=[0.01]))
    assert of_pairs_of_40 == {0.01: ("target-not-supported", have, 300)}
    unnamed = unsupported_targets(be.verification(listed(pairs_of_40), far_targets=[0.01]))
    assert unnamed == {0.01: ("target-not-supported", {"impostor attempts": 100}, 300)}


def test_frr_needs_people_and_searches_attempts():
    ds = be.verification(be.simulate(30, 3, random_state=1), frr_targets=[0.5, 0.1, 0.001])
    have = {"people": 30}
    assert unsupported_targets(ds, "frr") == {
        0.5: ("target-uncertain", have, 60),
        0.1: ("target-uncertain", have, 300),
        0.001: ("target-not-supported", have, 3000),
    }
    support = unsupported_targets(
        be.open_set(be.simulate(30, 3, random_state=1), far_targets=[0.01])
    )[0.01]
    assert support[0] == "target-not-supported" and support[2] == 300


@pytest.mark.parametrize("seed", range(2))
def test_pairs_of_people_are_those_that_are_compared(seed):
    """A pair counts once, in any order and number of trials; a pair without a trial does not."""
    rng = np.random.default_rng(seed)
    drawn_pairs = [tuple(rng.choice(40, 2, replace=False).tolist()) for _ in range(170)]
    trials = [pair for pair in drawn_pairs for _ in range(int(rng.integers(1, 4)))]
    compared = {frozenset(pair) for pair in trials}
    ds = be.verification(named(trials), far_targets=[0.01])
    assert ds.attrs["pairs_of_people"] == len(compared) < len(trials)
    assert arguments(ds, "target-not-supported")["have"] == {"pairs of people": len(compared)}
    scores = be.simulate(12, 2, random_state=1)
    labels = scores.probe_labels
    claims = [labels[0], *labels[1:12], *labels[:12]]
    ds = be.verification(scores, claims=claims, far_targets=[0.1])
    pairs = {frozenset(x) for x in zip(labels.tolist(), np.array(claims).tolist(), strict=True)}
    assert ds.attrs["pairs_of_people"] == sum(len(x) == 2 for x in pairs)


LAYOUTS = ("list", "failures", "mask", "exclusion", "visits", "claims")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_compared_pairs_of_people_are_counted_in_every_layout(layout):
    """Fourteen people each make three tries as themselves and as three others."""
    rng = np.random.default_rng(4)
    people = np.arange(14)
    labels = np.repeat(people, 3)
    is_genuine = labels[:, None] == people
    is_made = is_genuine.copy()  # (tries, people)
    for person in people:
        is_made[np.ix_(labels == person, rng.choice(7, 3, replace=False))] = True
    values = rng.normal(size=is_made.shape) + 3 * is_genuine
    i, j = np.nonzero(is_made)
    compared = zip(labels[i].tolist(), j.tolist(), strict=True)
    pairs = {frozenset(pair) for pair in compared if pair[0] != pair[1]}
    options: dict = {"kind": "similarity"}
    if layout == "list":
        subjects = np.stack([labels[i], j], axis=1)
        scores = be.Scores.from_pairs(values[i, j], is_genuine[i, j], subjects=subjects, **options)
    elif layout == "mask":
        mask = np.where(is_made, 1 + is_genuine, 0)
        scores = be.Scores(values, labels, people, mask=mask, **options)
    elif layout == "exclusion":  # the people of one building are not compared: odd or even
        pairs = {frozenset((i, j)) for i in range(0, 14, 2) for j in range(1, 14, 2)}
        meta = {"probe_meta": {"door": labels % 2}, "gallery_meta": {"door": people % 2}}
        scores = be.Scores(values, labels, people, **meta, exclude=["all:door"], **options)
    else:  # comparisons that were not made have failed
        options["probe_meta"] = {"visit": np.arange(len(labels)) // 3}
        made = np.where(is_made, values, np.nan)
        scores = be.Scores(made, labels, people, nan="exclude", **options)
    if layout == "visits":
        scores = be.claim_scores(scores, attempts="visit")
    templates = {"templates": "multi"} if layout == "claims" else {}
    ds = be.verification(scores, **templates, far_targets=[3 / 80], interval="people")
    assert ds.attrs["pairs_of_people"] == len(pairs) < 14 * 13 // 2
    assert arguments(ds, "target-not-supported")["have"] == {"pairs of people": len(pairs)}


def test_the_limit_without_an_error_is_of_disjoint_pairs_that_were_compared():
    """Only three people are claimed by others, so that at most three pairs are disjoint."""
    labels, gallery = np.arange(3, 30), np.arange(3)
    values = 2 - np.eye(30)
    is_made = np.eye(30, dtype=bool)
    is_made[np.ix_(labels, gallery)] = True
    people = np.arange(30)
    holes = be.Scores(np.where(is_made, values, np.nan), people, people, nan="exclude")
    i, j = np.nonzero(is_made)
    list_of_pairs = be.Scores.from_pairs(
        values[i, j], i == j, subjects=np.stack([i, j], axis=1), kind="distance"
    )
    limits = [
        be.verification(x, thresholds=[1.5], interval="people").far_high
        for x in (holes, list_of_pairs)
    ]
    assert limits[0] == limits[1] == pytest.approx(1 - 0.05 ** (1 / 3))


UNITS = ("impostor_pairs", "subjects", "disjoint_pairs", "genuine_subjects", "impostor_subjects")


def units(ds) -> dict[str, int]:
    return {name: ds[name].item() for name in UNITS if name in ds}


def most_disjoint(left: set, right: set) -> int:
    """Return how many pairs across two sides can be formed without a common subject, by trying."""
    pairs = ({a, b} for a in left for b in right - {a})
    return max((1 + most_disjoint(left - pair, right - pair) for pair in pairs), default=0)


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_verification_states_the_most_disjoint_pairs(seed, claimed):
    rng = np.random.default_rng(seed)
    probes, gallery = rng.integers(0, 4, 6), rng.integers(1, 4, 5)
    scores = be.Scores(rng.random((6, 5)), probes, gallery)
    left, right, claims = set(probes.tolist()), set(gallery.tolist()), None
    if claimed:
        claimed_people = rng.choice(gallery, 3)
        claims = [0, 1, 4], claimed_people
        left, right = set(probes[[0, 1, 4]].tolist()), set(claimed_people.tolist())
    for templates in ("single", "multi"):
        ds = be.verification(scores, templates=templates, claims=claims)
        disjoint_number = min(most_disjoint(left, right), len(left | right) // 2)
        if claimed:  # among the pairs that were compared
            compared = zip(probes[claims[0]].tolist(), claimed_people.tolist(), strict=True)
            pairs = [{p, g} for p, g in compared if p != g]
            choices_of_pairs = (x for n in range(4) for x in itertools.combinations(pairs, n))
            disjoint_number = max(
                len(x) for x in choices_of_pairs if len(set().union(*x)) == 2 * len(x)
            )
        assert units(ds) == {
            "impostor_pairs": ds.impostor_attempts,
            "subjects": len(left | right),
            "disjoint_pairs": disjoint_number,
        }


@pytest.mark.parametrize("interval", [None, "subject-bootstrap", "wilson"])
def test_intervals_do_not_change_the_units(interval):
    scores = be.simulate(20, 3, random_state=1)
    ds = be.verification(scores, interval=interval)
    expected_units = {"impostor_pairs": 60 * 57 // 2, "subjects": 20, "disjoint_pairs": 10}
    if interval == "subject-bootstrap":
        expected_units["genuine_subjects"] = 20
    assert units(ds) == expected_units
    assert be.verification(scores, templates="multi").impostor_pairs == 60 * 19


@pytest.mark.parametrize(
    ("impostors", "expected"), [("unenrolled", 2), ("leave-subject-out", 3), ("both", 5)]
)
def test_identification_counts_the_people_of_each_role(impostors, expected):
    probes, gallery = ["a", "a", "b", "c", "x", "x", "y"], ["a", "b", "c", "d"]
    scores = be.Scores(np.arange(28.0).reshape(7, 4), probes, gallery)
    for size in ("all", "single"):
        ds = be.open_set(scores, impostors=impostors, gallery=size)
        assert units(ds) == {"genuine_subjects": 3, "impostor_subjects": expected}
        assert units(be.closed_set(scores, unmated="skip", gallery=size)) == {"subjects": 3}
    assert units(be.reid(scores, removed="none")) == {"subjects": 3}  # x and y are skipped


def test_a_target_is_supported_by_exactly_as_many_attempts_as_the_rule_says():
    targets = [0.25, 0.125, 0.0]
    assert supported(targets, 12).tolist() == [1, 0, 1]
    assert supported(targets, [11, 24]).tolist() == [[0, 0, 1], [1, 1, 1]]
    rule = RuleOf(3)
    assert [rule.supports(0.25, attempts) for attempts in (11, 12)] == [False, True]
    assert independent_trials(1000, ComparedPeople(5, 10)) == 10
    assert independent_trials(1000, 5) == 5 and independent_trials(4, 5) == 4
    assert rule.attempts_for(0.25) == 12 and rule.attempts_for(3 / 1000) == 1000


@pytest.mark.parametrize(
    ("far", "frr", "does", "part"),
    [
        (1.0, 0.0, "accepts", "all"), (0.0, 1.0, "rejects", "all"),
        (0.9995, 0.0, "accepts", "at least 99.9 % of the"), (0.9985, 0.0, None, None),
        (1.0, 0.0015, None, None), (0.0, 0.9985, None, None), (0.0015, 1.0, None, None),
        (0.0, 0.0, None, None), (1.0, 1.0, None, None),
    ],
)  # fmt: skip
def test_a_threshold_is_beyond_the_scores_if_it_tells_neither_class_apart(far, frr, does, part):
    messages = beyond_scores(0.5, far, frr)
    assert len(messages) == (does is not None)
    for message in messages:
        assert (message.arguments["does"], message.arguments["part"]) == (does, part)
        assert message.arguments["outside"] == (part == "all")


def test_ties_are_remarked_where_the_first_three_digits_differ_at_ranks_that_are_there():
    assert not [*tie_message("eer", (0.12345, 0.1234), "EER")]
    assert [*tie_message("eer", (0.1236, 0.1234), "EER")]
    rates = {"pessimistic": np.array([0.5, 0.6, 0.7, 0.8, 0.85])}
    rates["optimistic"] = rates["pessimistic"] + [0, 0, 0, 0, 0.1]
    (message,) = rank_message("cms", rates.get, ("RR", "CMS"))
    assert message.arguments["rank"] == 5
    assert not [*rank_message("cms", lambda ties: rates[ties][:4], ("RR", "CMS"))]


@pytest.mark.parametrize(
    ("people", "have", "needed"),
    [
        (ComparedPeople(5, 10), {"people": 5}, 6),  # as many pairs as attempts
        (ComparedPeople(6, 10), {"pairs of people": 10}, 12),  # six people could form 15 pairs
        (ComparedPeople(6, 11), {"impostor attempts": 10}, 12),
        (None, {"impostor attempts": 10}, 12),
    ],
)
def test_a_message_of_support_names_what_is_short(people, have, needed):
    (message,) = support_messages([0.25], 10, False, "frr at far", people)
    assert message.code == "target-not-supported"
    assert (message.arguments["have"], message.arguments["needed"]) == (have, [needed])


def test_people_who_search_are_the_people_of_the_role():
    """Ten people search, eight are enrolled, twelve in all: six are on both sides."""
    about = SimpleNamespace(people=(10, 8, 12))
    numbers = {"unenrolled": 4, "leave-subject-out": 6, "both": 10}
    for role, number in numbers.items():
        assert searching_people(about, role) == number
    assert searching_people(SimpleNamespace(people=(8, 8, 8)), "unenrolled") is None
    assert searching_people(SimpleNamespace(people=None), "both") is None
