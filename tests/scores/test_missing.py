"""No value: one list of words for every column that a protocol reads."""

import numpy as np
import pandas as pd
import pytest
from result_messages import arguments

import bioeval as be

WORDS = [
    *("", " ", "nan", "NaN", "none", "None", "NULL", "nil", "NIL", "na", "NA", "n/a", "#N/A"),
    *("#NA", "<NA>", "NaT", "nat", "?", "-", ".", "unknown", " Unknown ", "missing", "unbekannt"),
    *("#REF!", "#VALUE!", "#NAME?", None, np.nan, pd.NA, pd.NaT),
]
PEOPLE = ["Na", "Nan", "Nil", "Nat", " Nan "]


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
@pytest.mark.parametrize(
    ("column", "word", "left_out"),
    [
        *(("session", x, 2) for x in WORDS),
        *(("camera", x, 2) for x in (-1, -1.0, "-1", b"-1", "-1.0", "unknown")),
        *(("session", x, 4) for x in PEOPLE),
    ],
)
def test_an_unknown_value_equals_no_other(column, word, left_out):
    """Of a person, two templates have the value s, and two an unknown value, or a name."""
    other = "s" if column == "session" else 1 if isinstance(word, int | float) else "1"
    values = np.array([word, word, other, other] * 2, dtype=object)
    scores = be.Scores(
        np.random.default_rng(1).random((8, 8)), np.repeat(["a", "b"], 4),
        probe_meta={column: values}, exclude=[column],
    )  # fmt: skip
    # Of 12 ordered pairs of a person, those of equal values are left out.
    assert int(be.verification(scores).genuine_attempts) == 2 * (12 - left_out)


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
@pytest.mark.parametrize("word", PEOPLE)
def test_names_of_people_are_values(word):
    scores = be.Scores(np.random.default_rng(1).random((4, 4)), [word, word, "b", "b"])
    assert int(be.verification(scores).genuine_attempts) == 4


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
def test_some_words_are_values_of_a_group():
    """Whoever wears no glasses may have the value "none"; "n/a" is no value of any group."""
    scores = be.simulate(12, 3, random_state=1)
    glasses = np.repeat(["none", "n/a", "-", "unknown", "round", "round"], 6)
    groups = be.by_group(scores, glasses, threshold=3.0)
    assert set(groups.group.values) == {"all", "none", "-", "unknown", "round"}
    left_out = arguments(groups, "unknown-values")
    assert left_out["probes"] == 6
