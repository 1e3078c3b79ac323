"""Labels: any hashable values, never confused, never missing, never rounded."""

import datetime
import decimal
import numbers

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from label_doors import DOORS, Labelled
from named_arguments import refused
from result_messages import arguments
from strategies import examples_of

import bioeval as be

# Labels that some conversion would confuse: numbers beyond int64 and float64, digits and numbers,
# text that ends in NUL, bytes and text, tuples and what they hold.
TRICKY = [
    1, "2", 0, "a", "a\0", "b", b"c", ("a",), ("a", 1), (), 0.5, "1.5", -2,
    2**53, 2**53 + 1, 2**63, 2**63 + 1, 2**64, 2**64 + 1, -(2**63), frozenset({1}), "x", "X",
    datetime.date(2020, 1, 2), decimal.Decimal("0.1"), 0.1,
]  # fmt: skip
INTS = [x for x in TRICKY if type(x) is int]
TEXTS = [x for x in TRICKY if type(x) is str]
TUPLES = [x for x in TRICKY if type(x) is tuple]


def square(labels) -> be.Scores:
    return be.Scores(np.zeros((len(labels), len(labels))), labels)


def assert_same_subjects(scores: be.Scores, probes: list, gallery: list) -> None:
    """Codes are equal exactly where the labels are, in Python's own sense."""
    same = np.equal.outer(scores.codes.probe, scores.codes.gallery)
    np.testing.assert_array_equal(same, [[a == b for b in gallery] for a in probes])
    for side, labels in ((scores.codes.probe, probes), (scores.codes.gallery, gallery)):
        np.testing.assert_array_equal(
            np.equal.outer(side, side), [[a == b for b in labels] for a in labels]
        )
    assert [scores.codes.values[c] for c in scores.codes.gallery] == gallery
    assert [scores.codes.code(label) for label in probes] == scores.codes.probe.tolist()


@settings(max_examples=examples_of(150))
@given(st.data(), st.sampled_from([TRICKY, INTS, TEXTS, TUPLES, [True, False], [0.1, 1.0, 0.5]]))
def test_subjects_are_equal_exactly_where_labels_are(data, pool):
    draw = st.lists(st.sampled_from(pool), min_size=1, max_size=8)
    probes, gallery = data.draw(draw), data.draw(draw)
    assert_same_subjects(square(gallery), gallery, gallery)
    if {*map(of_type, probes)} & {*map(of_type, gallery)}:
        scores = be.Scores(np.zeros((len(probes), len(gallery))), probes, tuple(gallery))
        assert_same_subjects(scores, probes, gallery)


def of_type(label):
    """Return comparable values: numbers, or values of one type; of tuples, their entries."""
    if isinstance(label, tuple):
        return tuple(map(of_type, label))
    return "number" if isinstance(label, numbers.Number) else type(label)


SIDES_OF_TWO_TYPES = [
    ([1, 2, 1, 2], ["1", "2", "1", "2"]),
    (np.array([1.0, np.nan, 1, 2]), np.array(["1", "2", "1", "2"])),
    ([1, 2, 1, 2], ["c1", "c2", "c1", "c2"]),
    ([b"1", b"2", b"1", b"2"], ["1", "2", "1", "2"]),
    (["a", "b", "a", 1], ["a", "b", "a", "1.0"]),
    ([("a", 1)] * 4, [("a", "1")] * 4),
    (np.array(["2020-01-01"] * 4, dtype="M8[ns]"), ["2020-01-01"] * 4),
]


@pytest.mark.parametrize(("ours", "theirs"), SIDES_OF_TWO_TYPES)
def test_what_looks_alike_and_is_never_equal_is_one_error_in_every_column(ours, theirs):
    """Labels, sessions, cameras, names and claims of two types are refused wherever compared."""
    distances, labels = np.arange(16.0).reshape(4, 4), [1, 1, 2, 2]

    def with_column(column: str, **options) -> be.Scores:
        sides = {"probe_meta": {column: ours}, "gallery_meta": {column: theirs}}
        return be.Scores(distances, labels, labels, **sides, **options)

    calls = [
        lambda: be.verification(with_column("session", exclude=("session",))),
        lambda: be.reid(with_column("camid"), "market1501"),
        lambda: be.gom(with_column("camera"), convention="market1501"),
        lambda: be.by_group(with_column("age"), "age", threshold=1.0),
        lambda: be.zoo(with_column("session"), threshold=1.0),
    ]
    if not any(x != x for x in ours):
        calls += [
            lambda: be.Scores(distances, ours, theirs),
            lambda: be.Scores.from_top_k([[0]] * 4, ours, theirs),
            lambda: be.Scores.from_pairs(
                np.arange(4), [0] * 4, subjects=np.array([[*ours], [*theirs]], dtype=object).T
            ) if not isinstance(ours[0], tuple) else be.Scores(distances, ours, theirs),
            lambda: be.verification(
                be.Scores(distances, ours), claims=theirs, unenrolled_claims="skip"
            ),
        ]  # fmt: skip
    for call in calls:
        with refused("values of two types, such as .* never equal"):
            call()


#: Words of no value, in every column that a protocol reads; and names of people.
WORDS = [
    *("", " ", "nan", "NaN", "none", "None", "NULL", "nil", "NIL", "na", "NA", "n/a", "#N/A"),
    *("#NA", "<NA>", "NaT", "nat", "?", "-", ".", "unknown", " Unknown ", "missing", "unbekannt"),
    *("#REF!", "#VALUE!", "#NAME?", None, np.nan, pd.NA, pd.NaT),
]
NAMES = ["Na", "Nan", "Nil", "Nat", " Nan "]


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
@pytest.mark.parametrize(
    ("column", "word", "left_out"),
    [
        *(("session", x, 2) for x in WORDS),
        *(("camera", x, 2) for x in (-1, -1.0, "-1", b"-1", "-1.0", "unknown")),
        *(("session", x, 4) for x in NAMES),
        *(("session", x, 2) for x in (np.array([np.nan, 1]), np.array(["NaT", "2020"], "M8[ns]"))),
    ],
)
def test_an_unknown_value_equals_no_other(column, word, left_out):
    """Of a person, two templates have the value s, and two an unknown value, or a name."""
    other = "s" if column == "session" else 1 if isinstance(word, int | float) else "1"
    two = word if isinstance(word, np.ndarray) else np.array([word, other], dtype=object)
    values = np.tile(np.repeat(two, 2), 2)
    scores = be.Scores(
        np.random.default_rng(1).random((8, 8)), np.repeat(["a", "b"], 4),
        probe_meta={column: values}, exclude=[column],
    )  # fmt: skip
    # Of 12 ordered pairs of a person, those of equal values are left out.
    result = be.verification(scores)
    assert int(result.genuine_attempts) == 2 * (12 - left_out)
    if left_out == 2:
        unknown = {"column": column, "probes": 4}
        assert arguments(result, "unknown-values").items() >= unknown.items()
    else:  # a name of a person
        labels = [word, word, "b", "b"]
        assert int(be.verification(be.Scores(np.eye(4), labels)).genuine_attempts) == 4


@pytest.mark.filterwarnings("ignore::bioeval.base.errors.BioevalWarning")
def test_some_words_are_values_of_a_group():
    """Whoever wears no glasses may have the value "none"; "n/a" is no value of any group."""
    scores = be.simulate(12, 3, random_state=1)
    glasses = np.repeat(["none", "n/a", "-", "unknown", "round", "round"], 6)
    groups = be.by_group(scores, glasses, threshold=3.0)
    assert set(groups.group.values) == {"all", "none", "-", "unknown", "round"}
    left_out = arguments(groups, "unknown-values")
    assert left_out["probes"] == 6


def test_unknown_cameras_remove_nothing():
    """An unknown camera, -1 as well, removes nothing from lists or from a matrix."""
    distances, labels = np.arange(16.0).reshape(4, 4), [1, 1, 1, 1]
    for camera in ([1, 2, -1, -1], ["1", "2", "-1", ""], [1.0, 2, np.nan, -1], [1, 2, None, None]):
        sides = {"probe_meta": {"camera": camera}, "gallery_meta": {"camera": camera}}
        for removed in ("same-id-same-camera", "same-camera"):
            result = be.reid(be.Scores(distances, labels, labels, **sides), removed=removed)
            assert int(result.removed) == 2
            lists = be.Scores.from_top_k([[0, 1, 2, 3]] * 4, labels, labels, **sides)
            listed = be.reid(lists, "top-k", removed=removed)
            assert float(listed.mean_ap) == float(result.mean_ap)
            for result_of_layout in (result, listed):
                assert [x.code for x in be.messages(result_of_layout)].count("unknown-values") == 1


@pytest.mark.parametrize(
    ("probes", "gallery"),
    [
        (np.array([1, 2, 3], dtype="int8"), np.array([3, 2], dtype="uint64")),
        # As float64, which numpy would join them in, two of these are one.
        (np.array([2**62 + 1, -3], dtype="int64"), np.array([2**62, 2**63 + 1, 2**63], "uint64")),
        (np.array([1, 0]), np.array([True, False])),
        (np.array([1, 2]), np.array([1.0, 2.5])),
        (np.array([2**53 - 1, 2**53]), np.array([float(2**53 - 1)])),
        (np.array(["a", "bb"]), np.array(["bb", "ccc"])),
        (np.array(["a", 1, "x"], dtype=object), np.array(["a", "2"])),
        (np.array([0.1, 0.2], dtype="float32"), np.array([0.1, 0.2])),
        (np.array(["2020-01-01"], dtype="M8[D]"), np.array(["2020-01-01"], dtype="M8[D]")),
    ],
)
def test_arrays_of_different_dtypes_name_the_same_subjects(probes, gallery):
    scores = be.Scores(np.zeros((len(probes), len(gallery))), probes, gallery)
    expected = [[a == b for b in gallery.tolist()] for a in probes.tolist()]
    np.testing.assert_array_equal(
        np.equal.outer(scores.codes.probe, scores.codes.gallery), expected
    )


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "uint64", "U3", "S3", "O"])
def test_label_arrays_keep_their_dtype(dtype):
    labels = np.array([1, 0, 1]).astype(dtype)
    scores = square(labels)
    assert scores.probe_labels.dtype == np.dtype(dtype)
    assert scores.probe_labels is scores.gallery_labels
    assert_same_subjects(scores, labels.tolist(), labels.tolist())


NO_VALUE = "is of type .*; expected a hashable value"
WITHOUT = "which does not define when"


@pytest.mark.parametrize(
    "labels",
    [
        ["a", None, "b"],
        np.array(["a", "", "b"]),
        [1, None, None],
        np.array([0.5, np.nan, 1.0]),
        ["a", float("nan"), "b"],
        ["a", np.datetime64("NaT", "us"), "b"],
        np.array(["2020-01-01", "NaT", "2020-01-02"], dtype="M8[D]"),
        pd.array([1, None, 2], dtype="Int64"),
        pd.Series(["a", None, "b"]),
        pd.Series(["a", None, "b"], dtype="string"),
        pd.Categorical(["a", None, "b"]),
        ["a", pd.NA, "b"],
        ["a", pd.NaT, pd.NaT],
        [1, np.ma.masked, 2],
    ],
)  # fmt: skip
def test_a_missing_label_is_of_no_person(labels):
    """With two sides as well, only the templates of no person are not compared."""
    missing = np.array([x is np.ma.masked or bool(pd.isna(x)) or x == "" for x in [*labels]])
    for scores in (square(labels), be.Scores(np.zeros((3, 3)), labels, labels)):
        assert scores.codes.no_person[scores.codes.probe].tolist() == missing.tolist()
        assert len(scores.subjects) == 3 - missing.sum()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[[1]], [2], [3]], NO_VALUE),
        ([{1}, {2}, {3}], NO_VALUE),
        ([{}, {}, {}], NO_VALUE),
        (["a", [1], "b"], NO_VALUE),
        (["a", object(), "b"], f"`labels`: the value at position 1 is of type object, {WITHOUT}"),
        (["a", ("a", object()), "b"], f"position 1 is of type object, {WITHOUT}"),
        (["a", lambda: 1, "b"], f"position 1 is of type function, {WITHOUT}"),
        (["a", np.zeros(1), "b"], r"of type ndarray and shape \(1,\); expected a single value"),
        ("ab", "`labels` is str; expected a sequence of labels"),
        (5, "`labels` is int"),
        ({"a", "b"}, "`labels` is set"),
        (np.array([["a"], ["b"]]), r"`labels` has shape \(2, 1\); expected one dimension"),
        (np.zeros(2, dtype=[("x", int)]), "dtype .*expected hashable labels"),
        (["a"], "`labels` has 1 label, but the scores have 3 rows"),
        ([], "`labels` has 0 labels"),
    ],
)
def test_what_is_no_label_is_an_error_that_says_where(labels, message):
    with refused(message):
        be.Scores(np.zeros((3, 3)), labels)
    if WITHOUT in message:
        with refused(f"'camera'.: the value at position 1 is .*{WITHOUT}"):
            be.Scores(np.zeros((3, 3)), [1, 1, 1], probe_meta={"camera": labels})


# ------------------------------------------------------------------------- masked and fixed arrays


def test_masked_labels_do_not_lose_their_mask():
    distances = np.random.default_rng(0).random((3, 3))
    masked = np.ma.masked_equal([1, 2, 2], 2)
    for options in (
        {"labels": masked},
        {"labels": [1, 2, 2], "gallery_labels": masked},
        {"labels": [1, 2, 2], "probe_meta": {"day": masked}},
    ):
        with refused(r"has 2 masked values, the first at \[1\]; leave"):
            be.Scores(distances, **options)
    for options in (
        {"subjects": np.ma.masked_equal([[1, 1], [1, 2]], 2)},
        {"pair_folds": masked[1:]},
    ):
        with refused("masked value"):
            be.Scores.from_pairs([0.1, 0.2], [1, 0], **options)
    with refused("`genuine` has 1 masked value, "):
        be.Scores.from_pairs([0.1, 0.2], np.ma.masked_equal([1, 0], 0))
    with refused(r"masked array \(1 value masked\)"):
        be.Scores(np.ma.masked_equal([[0.1, 0.2], [0.3, 0.4]], 0.4), [1, 2])
    assert be.Scores(distances, np.ma.masked_equal([1, 2, 2], 9)).probe_labels.tolist() == [1, 2, 2]


FLOATS = {"float16": 11, "float32": 24, "float64": 53}


def people_at(low: int, dtype: str) -> np.ndarray:
    """Six people of four templates with adjacent numbers."""
    return (low + np.repeat(np.arange(6), 4)).astype(dtype)


def read(who: np.ndarray, door: str, folder) -> be.Scores:
    points = np.random.default_rng(0).normal(size=(24, 3))
    distances = np.abs(points[:, None] - points).sum(axis=2)
    return DOORS[door](Labelled(distances, who, points=points), folder)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("door", DOORS)
def test_floats_that_may_be_several_people_are_refused(tmp_path, door, dtype):
    if door == "parquet" and dtype == "float16":
        return  # which Parquet lacks
    limit = 2 ** FLOATS[dtype]
    below = be.verification(read(people_at(limit - 6, dtype), door, tmp_path))
    assert float(below.subjects) == 6
    assert int(below.genuine_attempts) == 72
    if door in ("csv", "tables") and dtype != "float64":
        return  # a text has lost the type
    with pytest.raises(be.DataError, match=f"numbers from 2..{FLOATS[dtype]} on"):
        be.verification(read(people_at(limit - 5, dtype), door, tmp_path))
    assert float(be.verification(read(people_at(2**53, "int64"), door, tmp_path)).subjects) == 6


@pytest.mark.parametrize("door", DOORS)
def test_whole_floats_are_integers(tmp_path, door):
    whole_labels = np.repeat(np.arange(6), 4)
    as_read = [read(who, door, tmp_path) for who in (whole_labels, whole_labels.astype(float))]
    of_integers, of_floats = map(be.verification, as_read)
    assert of_integers.equals(of_floats)
    if door != "pairs":
        assert [*map(str, as_read[1].subjects)] == [*map(str, as_read[0].subjects)]
