"""Errors: text with typed arguments, in the words of Python and of another surface."""

from __future__ import annotations

import pickle

import pytest

import bioeval as be
from bioeval.base.errors import (
    Argument,
    DataError,
    bad_choice,
    enumerated,
    in_words,
)


def option(name: str, value: str | None) -> str:
    """Return an argument as a command line has it."""
    return f"--{name}" if value is None else f"--{name} {value}"


def test_a_message_in_the_words_of_a_surface():
    error = DataError(f"x.npz: {Argument('nan', 'reject')} needs {Argument('max_rank')}")
    assert str(error) == 'x.npz: nan="reject" needs max_rank'
    assert error.message(option) == 'x.npz: --nan "reject" needs --max_rank'
    assert error.arguments == ("nan", "max_rank")
    assert repr(error) == f"DataError({str(error)!r})"


@pytest.mark.parametrize("text", ["max_rank", "`max_rank`", "\ufdd0max_rank\ufdd1\ufdd2", "{0}"])
def test_text_is_not_searched_for_arguments(text):
    """The name of a file may be that of an argument."""
    error = DataError(f"{text}.npz: {Argument('max_rank')} is 0")
    assert error.arguments == ("max_rank",)
    assert error.message(option).count("--") == 1 and "--max_rank is 0" in error.message(option)


def test_texts_that_are_made_elsewhere():
    advice = f"give {Argument('keep', 'self')} or drop them"
    error = DataError(f"3 pairs; {advice}").preceded_by("a.csv: ")
    assert str(error) == 'a.csv: 3 pairs; give keep="self" or drop them'
    assert error.arguments == ("keep",)
    several = enumerated(map(Argument, "abc"), "and")
    assert in_words(several) == "a, b and c"
    text = f"{Argument('nan', 'reject')} or {Argument('lists.first_index', 0)}; {advice}"
    error = DataError(f"give {text}, in {Argument('labels')}").preceded_by("x: ")
    assert error.arguments == ("nan", "lists.first_index", "keep", "labels")
    said = 'x: give nan="reject" or lists={"first_index": 0}; '
    assert str(error) == f'{said}give keep="self" or drop them, in labels'
    assert in_words(enumerated([Argument("a")], "or")) == "a"
    assert str(bad_choice("the card", "x", [])) == "the card is 'x', but there is none."
    assert DataError(bad_choice("ties", "x", ["y"])).arguments == ("ties",)
    renamed = DataError(advice).renamed({"keep": "keep_all"})
    assert renamed.arguments == ("keep_all",) and "keep_all=" in str(renamed)


@pytest.mark.parametrize("kind", [DataError, be.ProtocolError])
def test_errors_are_pickled_with_their_arguments(kind):
    error = kind(f"{Argument('threshold', 0.5)} is wrong; see {Argument('ties')}")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind and str(again) == str(error)
    assert again.arguments == ("threshold", "ties")
    assert again.message(option) == error.message(option)


def test_public_functions_name_the_argument():
    with pytest.raises(DataError) as caught:
        be.verification(be.simulate(3, 2), far_targets=[2])
    assert caught.value.arguments == ("far_targets",)
    with pytest.raises(DataError) as caught:
        be.Scores([[0.1, 0.2]], ["a", "b"], ["a", "b"])
    assert caught.value.arguments == ("labels",)
