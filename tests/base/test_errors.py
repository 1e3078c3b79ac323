"""Errors: text with the names of arguments in backquotes."""

import pickle

import pytest

import bioeval as be
from bioeval.base.errors import backquoted, bad_choice, enumerated
from tests.named_arguments import raises_about


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (("max_rank",), "`max_rank`"),
        (("nan", "reject"), '`nan="reject"`'),
        (("train", 0.5), "`train=0.5`"),
        (("columns.scores", "D"), '`columns={"scores": "D"}`'),
        (("columns.scores",), '`columns={"scores": ...}`'),
        (("lists.first_index", 0), '`lists={"first_index": 0}`'),
    ],
)
def test_an_argument_is_in_backquotes(argument, said):
    assert backquoted(*argument) == said


def test_texts_that_are_made_elsewhere():
    error = be.DataError('3 pairs; give `keep="self"` or drop them').preceded_by("a.csv: ")
    assert str(error) == 'a.csv: 3 pairs; give `keep="self"` or drop them'
    renamed = error.renamed({"keep": "lists.keep"})
    assert str(renamed) == 'a.csv: 3 pairs; give `lists={"keep": "self"}` or drop them'
    flag = be.DataError("`unordered=True` or `other`").renamed({"unordered": "lists.unordered"})
    assert str(flag) == '`lists={"unordered": True}` or `other`'
    assert str(bad_choice("the card", "x", [])) == "the card is 'x', but there is none."
    assert bad_choice("ties", "x", ["y"]) == "`ties` is 'x'; expected 'y'."
    assert enumerated("abc") == "a, b and c" and enumerated("a") == "a"


@pytest.mark.parametrize("kind", [be.DataError, be.ProtocolError])
def test_errors_are_pickled(kind):
    again = pickle.loads(pickle.dumps(kind("`threshold=0.5` is wrong; see `ties`")))
    assert type(again) is kind and str(again) == "`threshold=0.5` is wrong; see `ties`"


def test_public_functions_name_the_argument():
    with raises_about(be.DataError, "far_targets"):
        be.verification(be.simulate(3, 2), far_targets=[2])
    with raises_about(be.DataError, "labels"):
        be.Scores([[0.1, 0.2]], ["a", "b"], ["a", "b"])
