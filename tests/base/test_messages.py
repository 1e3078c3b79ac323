"""Messages: a terminal can show them, they are values that are kept, and none is of numpy."""

import warnings

import numpy as np
import pytest

import bioeval as be
from bioeval.base.errors import Message, as_json, messages_of

EVIL = "\x1b[31mX"


def test_control_characters_are_escaped_and_letters_stay():
    escaped = "\\x1b[31mX\\tÅsa\\u200b\nb\\udc80"
    assert str(be.DataError(f"{EVIL}\tÅsa\u200b\nb\udc80")) == escaped
    assert str(be.BioevalWarning(EVIL)) == "\\x1b[31mX"


def test_long_values_are_cut_in_the_middle():
    name = "n" * 255  # as long as a file name can be
    for text, shortened in (
        (f"/tmp/{name}/{name}", f"/tmp/{name}/{name}"),
        (f"'{'x' * 10_000}'", f"'{'x' * 99} ... {'x' * 99}'"),
    ):
        assert str(be.DataError(text)) == shortened
    assert len(str(be.DataError("12 " * 10_000))) < 2100


def test_a_file_with_control_characters_in_its_names(tmp_path):
    path = tmp_path / "x\x1b[31m.npz"
    np.savez(path, **{f"sco{EVIL}": np.ones((2, 2))})
    with pytest.raises(be.DataError) as raised:
        be.load(path)
    text = str(raised.value)
    assert text.isprintable() and "sco\\x1b[31mX" in text and text.count(str(tmp_path)) == 1


@pytest.mark.parametrize("metric", ["cosine", "l2", "l1", "linf", "bhattacharyya"])
@pytest.mark.parametrize("value", [1e308, 5e-324, 1e-160, 0.0, np.nan])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_extreme_embeddings_raise_no_warning_of_numpy(metric, value, dtype):
    embeddings = np.random.default_rng(0).random((8, 5))
    embeddings[::3] = value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", be.BioevalWarning)
        try:
            scores = be.Scores.from_embeddings(
                embeddings, [1, 1, 2, 2, 3, 3, 4, 4], metric=metric, dtype=dtype, nan="exclude"
            )
            scores.at_pairs([0, 1], [1, 2])
            be.verification(scores)
        except be.DataError as error:  # beyond the range of float32
            assert "infinite" in str(error)


def test_equal_messages_have_equal_hashes_and_are_kept_once():
    message = Message("no-attempt", what="genuine attempt", rates=["gar", "frr"])
    same = Message("no-attempt", rates=["gar", "frr"], what="genuine attempt")
    assert message == same and hash(message) == hash(same)
    assert messages_of({"messages": as_json([message, same])}) == [message]
    as_tuple = Message("no-attempt", what="genuine attempt", rates=("gar", "frr"))
    assert messages_of({"messages": as_json([message, as_tuple])}) == [message]
