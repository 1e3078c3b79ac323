"""How many people a rate needs: one question, one answer."""

import itertools

import numpy as np
import pytest
from result_messages import arguments

import bioeval as be
from bioeval.results.support import RuleOf, people_with, support_messages
from bioeval.scores.people import ComparedPeople


def people_by_hand(pairs: float) -> int:
    """The smallest number of people, counted up, whose pairs are at least so many."""
    n = 2
    while len(list(itertools.combinations(range(n), 2))) < pairs - 1e-9:
        n += 1
    return n


@pytest.mark.parametrize("far", [0.5, 0.1, 0.01, 0.003])
def test_the_people_of_a_far_are_those_whose_pairs_suffice(far):
    assert [people_with(RuleOf(rule).attempts_for(far)) for rule in (3, 30)] == [
        people_by_hand(rule / far) for rule in (3, 30)
    ]
    found = [people_with(RuleOf(rule).attempts_for(0.001)) for rule in (3, 30)]
    assert found == [78, 246]


@pytest.mark.parametrize("pairs", [1, 2, 3, 4, 10, 11, 2_996, 300_000, 10**17])
def test_the_smallest_number_of_people_with_so_many_pairs(pairs):
    n = people_with(pairs)
    assert n * (n - 1) // 2 >= pairs > (n - 1) * (n - 2) // 2


def test_a_pair_of_people_counts_once():
    rng = np.random.default_rng(0)
    for _ in range(20):
        probes, gallery = (set(rng.integers(0, 9, rng.integers(1, 12)).tolist()) for _ in "ab")
        pairs = {frozenset((a, b)) for a in probes for b in gallery if a != b}
        sizes = len(probes), len(gallery), len(probes | gallery)
        assert ComparedPeople.of_sides(*sizes).pairs == len(pairs)


def test_the_warning_says_people_first_and_attempts_where_these_are_fewer():
    of = ComparedPeople.among
    measured, supported = support_messages([0.01, 0.001], 12_480, True, "frr", of(40))
    about = {"have": {"people": 40}, "needed": [78]}
    assert (measured.code, supported.code) == ("target-uncertain", "target-not-supported")
    for message, target in ((measured, 0.01), (supported, 0.001)):
        assert message.arguments.items() >= {**about, "targets": [target]}.items()
    (few,) = support_messages([0.001], 2_000, False, "frr", of(5_000))  # few of them compared
    assert few.code == "target-not-supported"
    assert (few.arguments["have"], few.arguments["needed"]) == ({"impostor attempts": 2000}, [3000])
    sides = ComparedPeople.of_sides(20, 100, 120)
    (few,) = support_messages([0.001], 8_000, False, "frr", sides)
    assert (few.arguments["have"], few.arguments["needed"]) == ({"pairs of people": 2000}, [3000])
    assert not support_messages([0.1], 12_480, True, "frr", of(40))


def test_targets_of_one_rule_are_one_message():
    people = ComparedPeople.among(40)
    (message,) = support_messages([0.001, 0.0005], 12_480, True, "frr", people)
    assert message.arguments["targets"] == [0.001, 0.0005]
    assert message.arguments["needed"] == [people_by_hand(3000), people_by_hand(6000)]
    (below,) = support_messages([1e-6], 2_000, False, "dir")
    assert below.code == "target-not-supported" and below.arguments["needed"] == [3_000_000]
    genuine = support_messages([0.5, 0.1], 90, False, "far", ComparedPeople.among(30), "frr")
    assert [x.code for x in genuine] == ["target-uncertain"]
    assert genuine[0].arguments.items() >= {"have": {"people": 30}, "needed": [60, 300]}.items()


def _sparse_list(seed, people=40, kind="similarity"):
    """Return trials of few of the pairs of people, some of them in both orders, as a list."""
    rng = np.random.default_rng(seed)
    chosen = [sorted(rng.choice(people, 2, replace=False).tolist()) for _ in range(170)]
    rows = []
    for a, b in [*chosen, *((i, i) for i in range(people))]:
        for _ in range(int(rng.integers(1, 4))):
            enrolled, probe = (a, b) if rng.random() < 0.5 else (b, a)
            rows.append((float(rng.normal(2.0 * (a == b))), f"s{enrolled}", f"s{probe}"))
    return rows, be.Scores.from_pairs(
        [x for x, *_ in rows], [a == b for _, a, b in rows], kind=kind,
        subjects=[[a, b] for _, a, b in rows],
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_pairs_of_people_are_those_that_a_list_compares(seed):
    """Each once, whatever their order and number of trials; not all that the people could form."""
    rows, scores = _sparse_list(seed)
    compared = {frozenset((a, b)) for _, a, b in rows if a != b}
    people = ComparedPeople.of_scores(scores)
    assert (people.number, people.pairs) == (40, len(compared))
    impostors = sum(a != b for _, a, b in rows)
    assert len(compared) < impostors < 3 / 0.005 < 40 * 39 / 2
    ds = be.verification(scores, far_targets=[0.01, 0.1])
    assert ds.attrs["pairs_of_people"] == len(compared)
    few = arguments(ds, "target-not-supported")
    assert (few["targets"], few["have"]) == ([0.01], {"pairs of people": len(compared)})


def test_claims_of_a_matrix_count_the_pairs_that_are_claimed():
    scores = be.simulate(12, 2, random_state=1)
    labels = scores.probe_labels
    claims = [labels[0], *labels[1:12], *labels[:12]]
    ds = be.verification(scores, claims=claims, far_targets=[0.1])
    compared = {frozenset(x) for x in zip(labels.tolist(), np.array(claims).tolist(), strict=True)}
    assert ds.attrs["pairs_of_people"] == sum(len(x) == 2 for x in compared)


def test_more_people_are_needed_only_where_these_could_not_form_the_pairs():
    few, many = ComparedPeople(20, 100), ComparedPeople(40, 100)
    (few,), (compared,) = (
        support_messages([0.01], 400, False, "frr", people) for people in (few, many)
    )
    assert few.arguments["needed"] == [people_by_hand(300)] == [25]
    assert compared.arguments["have"] == {"pairs of people": 100}
    assert compared.arguments["needed"] == [300]
