"""Lists that name the templates of both sides, against plain loops over their lines."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from naive_lists import attempts, in_both_orders
from named_arguments import refused
from optional import optional_import

import bioeval as be


def drawn(seed):
    """Return lists of a few templates in which all mistakes are frequent."""
    rng = np.random.default_rng(seed)
    n, people = int(rng.integers(1, 25)), rng.integers(0, 3, 6)
    names = np.array(list("abcdef"))
    a, b = rng.integers(0, 6, (2, n))
    genuine = people[a] == people[b]
    scores = np.where(genuine, 0.25, 0.5) + (a + b if seed % 3 else 0)
    scores = np.where(a == b, 0.0, scores)
    if seed % 5 == 0:
        scores[rng.random(n) < 0.3] = math.nan
    if seed % 4 == 0:
        scores = scores * (1 + 1e-7 * rng.integers(0, 3, n))
    if seed % 7 == 0:
        genuine = genuine ^ (rng.random(n) < 0.1)
    if seed % 7 == 1:
        genuine = genuine & (a != b)
    return list(zip(names[a].tolist(), names[b].tolist(), strict=True)), scores, genuine


RULES = [{}, {"keep": "self"}, {"keep": ("self", "repeated")}, {"keep": "repeated"},
         {"unordered": True}, {"unordered": True, "keep": "self"}]  # fmt: skip


#: How errors call the places of a list, and the number of the first pair.
FORMS = {"": ("pair", 0), "txt": ("line", 1), "csv": ("line", 2), "parquet": ("row", 0),
         "npz": ("pair", 0)}  # fmt: skip


def read(form, templates, scores, genuine, folder, rules, **options):
    """Give a list to the constructor, or read it from a file of a form."""
    if not form:
        return be.Scores.from_pairs(
            scores, genuine, nan="exclude", pair_templates=templates, pair_folds=range(len(scores)),
            **rules,
        )  # fmt: skip
    path, (first, second) = folder / f"x.{form}", zip(*templates, strict=True)
    columns = {"genuine": np.int64(genuine), "template_a": [*first], "template_b": [*second]}
    table = pd.DataFrame({**columns, "distance": scores})
    if form == "txt":
        table.to_csv(path, sep=" ", header=False, index=False, na_rep="nan")
        options["format"] = "voxceleb"
    elif form == "csv":
        table.to_csv(path, index=False)
    elif form == "parquet":
        optional_import("pyarrow")
        table.to_parquet(path)
    else:
        np.savez(path, scores=scores, genuine=columns["genuine"], templates=templates)
    return be.load(path, kind="distance", nan="exclude", lists=rules, **options)


@pytest.mark.parametrize("rules", RULES, ids=str)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.cases(10)
def test_the_attempts_are_those_of_the_definition(rules, form, tmp_path):
    outcomes, keep = set(), rules.get("keep", ())
    keep = (keep,) if isinstance(keep, str) else keep
    for seed in range(0, 70, 6 if form else 1):
        templates, scores, genuine = drawn(seed)
        if form and [a == b for a, b in templates] == genuine.tolist():
            continue  # names that a file has for people
        expected = attempts(
            templates, scores.tolist(), genuine, keep, rules.get("unordered", False)
        )
        try:
            listed = read(form, templates, scores, genuine, tmp_path, rules)
        except be.DataError as error:
            outcomes.add(expected if isinstance(expected, str) else "nothing left")
            assert (expected if isinstance(expected, str) else "itself") in str(error)
            assert isinstance(expected, str) or expected == []
            word, first = FORMS[form]
            text = "" if "itself" in str(error) else str(error)
            for places in re.findall(rf"{word}s (\d+) and (\d+)[:)]", text):
                outcomes.add("places")
                pairs = [templates[int(x) - first] for x in places]
                assert pairs[0] in (pairs[1], pairs[1][::-1])
            continue
        outcomes.add("attempts")
        if not form:
            assert listed.pair_folds.tolist() == expected
        np.testing.assert_array_equal(listed.values, scores[expected])
        assert listed.genuine.tolist() == genuine[expected].tolist()
        assert [*map(tuple, listed.pair_templates.tolist())] == [templates[i] for i in expected]
        both_orders, pairs = in_both_orders(templates)
        orders = [x.arguments for x in listed.remarks if x.code == "pairs-in-one-order"]
        noted = [(x["one_order"], x["pairs"]) for x in orders] == [(pairs - both_orders, pairs)]
        assert noted == (0.9 * pairs <= both_orders < pairs and "unordered" not in rules)
        left_out = "self-comparisons-left-out" in [x.code for x in listed.remarks]
        assert left_out == ("self" not in keep and any(a == b for a, b in templates))
    assert {"attempts", "places"} <= outcomes
    if not form:
        assert {"both genuine and impostor", "with itself"} <= outcomes
        assert ("different scores" in outcomes) == ("repeated" not in rules.get("keep", ()))


@pytest.mark.parametrize("form", ["txt", "csv", "parquet"])
def test_classes_that_contradict_names_say_where(form, tmp_path):
    word, first = FORMS[form]
    templates = [("id1/a", "id1/b"), ("id1/a", "id3/d"), ("id1/a", "id1/e")]
    given = form, templates, [0.5, 1.0, 1.0], [1, 1, 0], tmp_path
    assert len(read(*given, {}).values) == 3
    for rules in ({}, {"as": "matrix"}):
        with refused(f"2 pairs contradict their subjects.*.{word}s {first + 1} and {first + 2}"):
            read(*given, rules, subject_from=r"id(\d)")


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
    options = {"pair_templates": pairs, "unordered": True}
    listed = be.Scores.from_pairs([1.0, 1 + 1e-6, 5], [1, 1, 0], **options)
    assert listed.values.tolist() == [1, 5]
    assert [x.code for x in listed.remarks] == ["repeated-pairs"]
    with refused("different scores"):
        be.Scores.from_pairs([1.0, 1 + 1e-4, 5], [1, 1, 0], **options)


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
