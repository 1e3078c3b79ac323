"""What a result says of the comparisons that it counts: sessions, exclusions, values, layout."""

import numpy as np
import pytest
from result_messages import arguments, codes

import bioeval as be

LABELS = np.repeat(np.arange(6), 4)
#: Templates 0 and 1 of each subject are of one session, 2 and 3 of another.
SESSIONS = np.tile(["1", "1", "2", "2"], 6)
VALUES = np.random.default_rng(3).random((24, 24)) + (LABELS[:, None] != LABELS)
VALUES += VALUES.T
np.fill_diagonal(VALUES, 0.0)

#: Every second template against the others.
PROBE, GALLERY = np.arange(0, 24, 2), np.arange(1, 24, 2)
HALF = VALUES[np.ix_(PROBE, GALLERY)]

SAID = "same-value-counted"


def square(**options) -> be.Scores:
    return be.Scores(VALUES, LABELS, probe_meta={"session": SESSIONS}, **options)


def sides(probe=slice(None), gallery=slice(None), values=None, **meta) -> be.Scores:
    """Probes against a gallery of other templates; `meta` are columns of both sides."""
    meta = meta or {"session": (SESSIONS[probe], SESSIONS[gallery])}
    return be.Scores(
        VALUES[probe, gallery] if values is None else values, LABELS[probe], LABELS[gallery],
        probe_meta={name: both[0] for name, both in meta.items()},
        gallery_meta={name: both[1] for name, both in meta.items()},
    )  # fmt: skip


def surfaces(scores: be.Scores):
    yield be.verification(scores)
    yield be.open_set(scores)
    yield be.check_data(scores)
    yield be.compare({"a": scores, "b": scores.replace(name="b")})
    yield be.zoo(scores, threshold=1.0)


COUNTED = [
    square(),
    sides(slice(0, None, 2), slice(1, None, 2)),
    square().select(probes=np.arange(0, 24, 2)),
    square().select(np.arange(12)),
    square().excluding("session!="),
]


@pytest.mark.parametrize("scores", COUNTED)
def test_pairs_of_one_session_that_are_counted_are_said(scores):
    for result in surfaces(scores):
        assert SAID in codes(result)
    assert '`exclude="session"`' in be.to_latex(be.verification(scores))


NOT_COUNTED = [
    square(exclude=["session"]),
    square(exclude=["all:session"]),
    square(exclude=["session=1/1", "session=2/2"]),
    sides(slice(0, None, 4), slice(2, None, 4)),
    square().select(probes=SESSIONS == "1", gallery=SESSIONS == "2"),
    square().with_mask(SESSIONS[:, None] != SESSIONS),
    be.Scores(VALUES, LABELS, probe_meta={"session": np.arange(24)}),
    be.Scores(VALUES, LABELS, probe_meta={"session": np.repeat("1", 24)}),
]  # fmt: skip


@pytest.mark.parametrize("scores", NOT_COUNTED)
def test_pairs_of_one_session_that_are_not_counted_are_not_said(scores):
    assert all(SAID not in codes(result) for result in surfaces(scores))


def test_pairs_of_one_session_in_a_list():
    options = {"subjects": [["a", "a"], ["a", "b"], ["b", "b"]]}
    same = [["1", "1"], ["1", "1"], ["1", "2"]]
    other_sessions = [["1", "2"], ["1", "1"], ["1", "2"]]
    for sessions, said in ((same, True), (other_sessions, False)):
        pairs = be.Scores.from_pairs(
            [0.1, 0.9, 0.2], [1, 0, 1], meta={"session": sessions}, **options
        )
        assert (SAID in codes(be.verification(pairs))) is said


# ------------------------------------------------------------------------------- exclusions


ALIKE = [("1", "1.0"), ("c1", "C1"), ("01", "1"), ("door", " door"), ("gate 1", "gate  1")]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_values_that_look_alike_are_said(one, other):
    session = (np.repeat(one, 12), np.repeat(other, 12))
    scores = sides(PROBE, GALLERY, HALF, session=session)
    result = be.verification(scores.excluding("session"))
    assert arguments(result, "exclusion-without-effect")["exclusion"] == "session"
    stated = arguments(result, "values-look-alike")
    assert (stated["column"], stated["values"], stated["of"]) == ("session", 2, 2)
    for surface in (
        be.check_data(scores.excluding("session")),
        be.zoo(scores.excluding("session"), threshold=1.0),
    ):
        assert "exclusion-without-effect" in codes(surface)
    assert "values-look-alike" not in codes(be.verification(scores)), "no rule compares them"


def test_values_that_are_equal_are_not_said():
    for values in ((1, 1.0), ("1.05", "1.5"), ("10", "1"), ("100", "1")):
        kind = str if isinstance(values[0], str) else object
        session = tuple(np.tile([value, 9], 6).astype(kind) for value in values)
        scores = sides(PROBE, GALLERY, HALF, session=session)
        message_codes = codes(be.verification(scores.excluding("session")))
        assert not {"values-look-alike", "exclusion-without-effect"} & {*message_codes}


@pytest.mark.parametrize(
    ("exclude", "without"),
    [
        ("session", False), ("session!=", False), ("all:session", False), ("session=1/2", False),
        ("camera", True), ("camera!=", False), ("all:camera", True), ("one!=", True),
        ("all:one!=", True),
    ],
)  # fmt: skip
def test_an_exclusion_that_leaves_out_nothing_is_said(exclude, without):
    meta = {"session": SESSIONS, "camera": np.arange(24), "one": np.repeat("x", 24)}
    scores = be.Scores(VALUES, LABELS, probe_meta=meta)
    left_out = scores.excluding(exclude)
    counts = [
        int(be.verification(x).genuine_attempts + be.verification(x).impostor_attempts)
        for x in (scores, left_out)
    ]
    assert (counts[0] == counts[1]) is without
    assert ("exclusion-without-effect" in codes(be.verification(left_out))) is without


@pytest.mark.parametrize(("one", "other"), [("c1", "C1"), ("01", "1")])
def test_cameras_that_look_alike_are_said_by_reidentification(one, other):
    cameras = (np.tile([one, "2"], 6), np.tile([other, "2"], 6))
    scores = sides(PROBE, GALLERY, HALF, camera=cameras)
    assert "values-look-alike" in codes(be.reid(scores, "market1501"))
    lists = be.Scores.from_top_k(
        np.argsort(HALF, axis=1), LABELS[PROBE], LABELS[GALLERY],
        probe_meta=scores.probe_meta, gallery_meta=scores.gallery_meta, leave_out_query=False,
    )  # fmt: skip
    assert "values-look-alike" in codes(be.evaluate(lists, "market1501")["reid"])


def test_labels_that_look_alike_are_said():
    enrolled = LABELS[GALLERY].astype(str)
    for written in (np.char.add("0", enrolled), np.where(enrolled == "3", " 3", enrolled)):
        result = be.verification(be.Scores(HALF, written, enrolled))
        assert arguments(result, "values-look-alike")["column"] == "label"
    assert "values-look-alike" not in codes(be.verification(be.Scores(HALF, enrolled, enrolled)))


# ------------------------------------------------------------------------------- the layout


def test_a_matrix_that_is_not_all_against_all_is_said():
    rng = np.random.default_rng(5)
    two_order_scores = be.Scores(rng.random((24, 24)), LABELS)
    for result in (
        *(call(two_order_scores) for call in (be.verification, be.closed_set, be.check_data)),
        be.zoo(two_order_scores, threshold=0.5),
        be.verification(two_order_scores.select(probes=[0, 1, 4, 5])),
        be.verification(be.Scores(rng.random((24, 24)), LABELS, kind="similarity")),
    ):
        assert "not-all-against-all" in codes(result)
    assert "`gallery_labels` is missing" in be.to_latex(be.verification(two_order_scores))


@pytest.mark.parametrize("half", [np.triu, np.tril])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_a_half_of_a_matrix_is_said(half, kind):
    symmetric = np.random.default_rng(5).random((24, 24)) + 1
    symmetric += symmetric.T
    half_scores = be.Scores(half(symmetric), LABELS, kind=kind)
    for result in (
        be.verification(half_scores),
        be.closed_set(half_scores),
        be.check_data(half_scores),
    ):
        assert "half-matrix" in codes(result)
    assert "half-matrix" not in codes(be.verification(be.Scores(symmetric, LABELS, kind=kind)))
    rounded = symmetric.round()  # ties on both sides of the diagonal
    assert "half-matrix" not in codes(be.verification(be.Scores(rounded, LABELS, kind=kind)))


def test_matrices_of_all_against_all_are_not_said():
    rng = np.random.default_rng(6)
    asymmetric = rng.random((24, 24))
    np.fill_diagonal(asymmetric, 0.0)
    symmetric = rng.random((24, 24)) + 2
    symmetric += symmetric.T
    np.fill_diagonal(symmetric, 99.0)  # not nearest, but symmetric
    failed = rng.random((24, 24))
    np.fill_diagonal(failed, np.nan)
    for scores in (
        be.Scores(asymmetric, LABELS), be.Scores(-asymmetric, LABELS, kind="similarity"),
        be.Scores(symmetric, LABELS), be.Scores(failed, LABELS),
        be.Scores(rng.random((24, 24)), LABELS, LABELS),
    ):  # fmt: skip
        assert "not-all-against-all" not in codes(be.verification(scores))
