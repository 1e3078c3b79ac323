"""Lists that name the templates of both sides, against plain loops over their lines."""

import math

import numpy as np
import pytest
from naive_lists import attempts, in_both_orders
from named_arguments import refused

import bioeval as be


def drawn(seed):
    """Return lists of a few templates in which all mistakes are frequent."""
    rng = np.random.default_rng(seed)
    n, people = int(rng.integers(1, 25)), rng.integers(0, 3, 6)
    names = np.array(list("abcdef"))
    first_template, second_template = rng.integers(0, 6, (2, n))
    scores = np.where(people[first_template] == people[second_template], 0.25, 0.5) + (
        first_template + second_template if seed % 3 else 0
    )
    scores = np.where(first_template == second_template, 0.0, scores)
    if seed % 5 == 0:
        scores[rng.random(n) < 0.3] = math.nan
    if seed % 4 == 0:
        scores = scores * (1 + 1e-7 * rng.integers(0, 3, n))
    genuine = people[first_template] == people[second_template]
    if seed % 7 == 0:
        genuine = genuine ^ (rng.random(n) < 0.1)
    if seed % 7 == 1:
        genuine = genuine & (first_template != second_template)
    return (
        list(zip(names[first_template].tolist(), names[second_template].tolist(), strict=True)),
        scores,
        genuine,
    )


RULES = [{}, {"keep": "self"}, {"keep": ("self", "repeated")}, {"keep": "repeated"},
         {"unordered": True}, {"unordered": True, "keep": "self"}]  # fmt: skip


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.cases(2)
def test_the_attempts_are_those_of_the_definition(rules):
    outcomes = set()
    for seed in range(70):
        templates, scores, genuine = drawn(seed)
        keep = rules.get("keep", ())
        keep = (keep,) if isinstance(keep, str) else keep
        expected = attempts(
            templates, scores.tolist(), genuine, keep, rules.get("unordered", False)
        )
        try:
            listed = be.Scores.from_pairs(
                scores,
                genuine,
                nan="exclude",
                pair_templates=templates,
                pair_folds=range(len(scores)),
                **rules,
            )
        except be.DataError as error:
            outcomes.add(expected if isinstance(expected, str) else "nothing left")
            assert (expected if isinstance(expected, str) else "itself") in str(error)
            assert isinstance(expected, str) or expected == []
            continue
        outcomes.add("attempts")
        assert listed.pair_folds.tolist() == expected
        np.testing.assert_array_equal(listed.values, scores[expected])
        assert listed.genuine.tolist() == genuine[expected].tolist()
        assert [*map(tuple, listed.pair_templates.tolist())] == [templates[i] for i in expected]
        both_orders, pairs = in_both_orders(templates)
        orders = [x.arguments for x in listed.remarks if x.code == "pairs-in-one-order"]
        noted = [(x["one_order"], x["pairs"]) for x in orders] == [(pairs - both_orders, pairs)]
        assert noted == (0.9 * pairs <= both_orders < pairs and "unordered" not in rules)
    assert "attempts" in outcomes and {"both genuine and impostor", "with itself"} <= outcomes
    assert ("different scores" in outcomes) == ("repeated" not in rules.get("keep", ()))


MANY = [("a", x) for x in "bcdef"] * 2
HALF = [True] * 5 + [False] * 5


@pytest.mark.parametrize(
    ("scores", "genuine", "given", "message"),
    [
        (np.arange(10.0), HALF, {"pair_templates": MANY},
         r"^5 pairs are both genuine and impostor: 'a' and 'b' \(pairs 0 and 5\), .*'a' and 'd' "
         r"\(pairs 2 and 7\) and others; give each pair"),
        (np.arange(10.0), [True] * 10, {"pair_templates": MANY},
         r"5 pairs are listed more than once with different scores: 'a' and 'b' \(pairs 0 and 5: "
         r"0.0 and 5.0\).*give `keep=.repeated"),
        ([1.0, 2.0], [1, 1], {"pair_templates": [("a", "b"), ("b", "a")], "unordered": True},
         "leave out `unordered`, so that a-b and b-a are two attempts"),
        ([1.0, 2.0], [1, 0], {"pair_templates": [("a", "b"), ("c", "c")]},
         r"1 impostor pair compares a template with itself \(pair 1\)"),
        ([1.0], [1], {"pair_templates": [("c", "c")]}, "every pair compares a template with its"),
        ([1.0], [1], {"pair_templates": [("a", "b", "c")]}, r"shape \(1, 3\); expected \(1, 2\)"),
        ([1.0], [1], {"unordered": True}, "`unordered` needs the names of the templates of both"),
        ([1.0], [1], {"keep": "all"}, "`keep`"),
        ([1.0], [1], {"keep": "repeated", "unordered": True},
         "`unordered` counts each pair once, and `keep"),
        (np.arange(5.0), [0, 1, 0, 1, 1],
         {"subjects": [*zip("aabae", "abbee", strict=True)]},
         r"^4 pairs contradict their subjects, as impostors of one subject or as genuine pairs of "
         r"two \(first: pairs 0, 1 and 2\)"),
    ],
)  # fmt: skip
def test_numbers_of_pairs_in_errors(scores, genuine, given, message):
    with refused(message):
        be.Scores.from_pairs(scores, genuine, **given)


def test_rounding_between_both_orders():
    pairs = [("a", "b"), ("b", "a"), ("a", "c")]
    listed = be.Scores.from_pairs(
        [1.0, 1 + 1e-6, 5], [1, 1, 0], pair_templates=pairs, unordered=True
    )
    assert listed.values.tolist() == [1, 5]
    assert [x.code for x in listed.remarks] == ["repeated-pairs"]
    with refused("different scores"):
        be.Scores.from_pairs([1.0, 1 + 1e-4, 5], [1, 1, 0], pair_templates=pairs, unordered=True)


def test_classes_contradict_subjects():
    scores = be.Scores(np.arange(9.0).reshape(3, 3), ["a", "a", "b"])
    with refused("1 pair contradicts .* two .pair 1."):
        scores.at_pairs([0, 0], [1, 2], [True, True])


@pytest.mark.parametrize(("kind", "score", "accepted"), [
    ("distance", np.inf, "no"), ("distance", -np.inf, "every"), ("similarity", np.inf, "every"),
])  # fmt: skip
def test_infinite_scores_are_said(kind, score, accepted):
    listed = be.Scores.from_pairs([0.5, score, 0.7], [1, 0, 0], kind=kind)
    (message,) = listed.remarks
    assert (message.code, message.arguments["accepted"]) == ("infinite-scores", accepted)
    assert "pair 1" in message.arguments["first"]
    assert be.Scores.from_pairs([0.5, 0.7], [1, 0], kind=kind).remarks == ()
