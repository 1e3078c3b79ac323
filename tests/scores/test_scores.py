"""What may be given as scores: dtypes, memory, stored arrays, NaN, masks, views and pairs."""

from typing import Any

import naive
import numpy as np
import pandas as pd
import pytest
from named_arguments import refused
from reference import assert_all_tasks, assert_verification, one_thread  # noqa: F401
from result_messages import arguments

import bioeval as be
from bioeval.counting import parts
from bioeval.scores import rows

NAN, INF = np.nan, np.inf

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "float32", "float64", "longdouble")
SWAPPED = (">i2", ">u4", ">i8", ">f2", ">f4", ">f8")
DTYPES = ("bool", *INTEGERS, *FLOATS, *SWAPPED)

SQUARE_LABELS = ["a", "b", "a", "c", "b", "a"]
PROBES = ["b", "a", "x", "c"]
GALLERY = ["a", "b", "a", "c", "b", "a"]
THRESHOLDS = [-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0]


def small(shape: tuple[int, int], dtype: Any, seed: int = 0) -> np.ndarray:
    """Scores 0 to 3 (0 and 1 for bool), with many ties, exact in every dtype."""
    high = 2 if np.dtype(dtype).kind == "b" else 4
    return np.random.default_rng(seed).integers(0, high, shape).astype(dtype)


def rectangular(values: Any, **options: Any) -> be.Scores:
    return be.Scores(values, PROBES, GALLERY, **options)


def as_case(values: np.ndarray, **options: Any) -> dict[str, Any]:
    """The same data as naive.py takes them."""
    plain = np.asarray(values).astype(np.float64).tolist()
    return {"values": plain, "probe_labels": PROBES, "gallery_labels": GALLERY, **options}


@pytest.fixture
def tiny_blocks(monkeypatch):
    """Read the rows one or two at a time, so that every seam between blocks occurs."""
    monkeypatch.setattr(rows, "BLOCK_VALUES", 12)
    monkeypatch.setattr(parts, "VALUES_IN_MEMORY", 12)


# ------------------------------------------------------------------------------- dtypes


@pytest.mark.parametrize("kind", ["distance", "similarity"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_is_read_as_it_is(dtype, kind):
    distances = small((4, 6), dtype)
    scores = rectangular(distances, kind=kind)
    assert scores.dtype == np.dtype(dtype)
    assert_all_tasks(scores, THRESHOLDS, **as_case(distances, kind=kind))
    square = small((6, 6), dtype, seed=1)
    assert_all_tasks(
        be.Scores(square, SQUARE_LABELS, kind=kind),
        THRESHOLDS,
        values=square.astype(np.float64).tolist(),
        probe_labels=SQUARE_LABELS,
        kind=kind,
    )


@pytest.mark.skipif(np.finfo(np.longdouble).eps == np.finfo(float).eps, reason="no long double")
@pytest.mark.parametrize("text", ["0.1", "1e4000", "-1e4000", "1e-4000"])
def test_extended_floats_that_float64_cannot_hold_are_refused(text):
    distances = np.array([[np.longdouble(1), np.longdouble(text)]])
    scores = be.Scores(distances, ["a"], ["a", "b"])
    with refused("1 .* scores .* cannot be counted exactly in float64"):
        be.verification(scores)
    with refused("exactly"):
        be.verification(be.Scores.from_pairs(distances[0], [1, 0]))


@pytest.mark.parametrize(
    "sentinel", [np.int64(2**63 - 1), np.int64(-(2**63)), np.longdouble("0.1")], ids=repr
)
def test_what_is_never_read_need_not_be_exact(sentinel):
    """Neither the diagonal nor an ignored cell is ever read."""
    distances = np.array([[0, 1, 2], [1, 0, 3], [2, 3, 0]], dtype=sentinel.dtype)
    np.fill_diagonal(distances, sentinel)
    scores = be.Scores(distances, ["a", "a", "b"])
    assert be.verification(scores, thresholds=[1, 2]).ga.values.tolist() == [2, 2]
    assert be.closed_set(scores.select(probes=[1, 0])).recognition_rate == 1.0
    distances[0, 2] = sentinel
    mask = np.array([[0, 2, 0], [2, 0, 1], [1, 1, 0]])
    for labels in (None, ["a", "a", "b"]):
        ds = be.verification(be.Scores(distances, labels, mask=mask), thresholds=[1, 2, 3])
        assert ds.fa.values.tolist() == [0, 1, 3]
    with refused("1 .* scores .* exactly"):
        be.verification(be.Scores(distances, ["a", "a", "b"]))


@pytest.mark.parametrize("templates", ["single", "multi"])
def test_claims_in_any_order_are_found_in_their_blocks(tiny_blocks, templates):
    rng = np.random.default_rng(6)
    distances, probes = rng.integers(0, 9, (6, 6)).astype(float), rng.integers(0, 6, 20)
    claims = (probes, rng.choice(SQUARE_LABELS, 20))
    naive_attempts = naive.attempts_single if templates == "single" else naive.attempts_multi
    attempts = naive_attempts(distances.tolist(), SQUARE_LABELS, claims=claims)
    options = {"templates": templates, "thresholds": range(9)}
    ds = be.verification(be.Scores(distances, SQUARE_LABELS), claims=claims, **options)
    assert_verification(ds, *attempts, "distance")
    empty = be.verification(
        be.Scores(distances, SQUARE_LABELS), claims=(probes[:0], SQUARE_LABELS[:0])
    )
    assert (empty.genuine_attempts, empty.impostor_attempts) == (0, 0)


# ------------------------------------------------------------------------------- refusals


def square_scores(**options: Any) -> be.Scores:
    return be.Scores(np.arange(36.0).reshape(6, 6), SQUARE_LABELS, **options)


def of_3_by_4(**options: Any) -> be.Scores:
    return be.Scores(np.zeros((3, 4)), **options)


BOTH = {"labels": [*"abc"], "gallery_labels": [*"abcd"]}
MASKS = {
    "odd": np.array([[1, 1, 1], [3, 1, -1]]),
    "large": np.array([[1, 255]], dtype=np.uint8),
    "ignored": np.array([[2, 0], [1, 1]]),
}
REFUSED = {
    lambda x: be.Scores(x, ["a", "b"], ["a", "b"]): [
        ((np.zeros(3),), r"shape \(3,\); expected two dimensions.*from_pairs"),
        ((np.zeros((3, 0)),), r"the gallery is empty: the scores have shape \(3, 0\)"),
        ((np.zeros((0, 3)),), r"there are no probes: the scores have shape \(0, 3\)"),
        ((np.zeros((2, 2), dtype=complex),), "dtype complex128; expected an integer or float"),
        (([["0.1", "0.2"], ["0.3", "0.4"]],), "dtype <U3"),
        (([[1.0, 2.0], [3.0]],), "not an array of numbers"),
        ((np.ma.masked_equal([[1.0, 2.0], [3.0, 4.0]], 2),), "masked array.*mask="),
    ],
    lambda options: of_3_by_4(**options): [
        (({**BOTH, "labels": [*"ab"]},), "`labels` has 2 labels, but the scores have 3 rows; exp"),
        (({"labels": [*"abc"]},), r"shape \(3, 4\); without gallery_labels"),
        (({},), "`labels` is missing"),
        (({"gallery_labels": [*"abcd"], "mask": np.ones((3, 4), int)},), "is given without `lab"),
        (({"kind": "distances"},), "`kind` is 'distances'; .*'similarity'.* Did you mean 'distan"),
        (({"nan": "ignore"},), "`nan` is 'ignore'; expected one of 'raise', 'reject', 'exclude'"),
        (({"mask": np.ones((4, 3), int)},), r"mask has shape \(4, 3\); expected \(3, 4\)"),
        (({"mask": np.ones((3, 4), bool)},), "mask is boolean.*give labels, or integers"),
        (({**BOTH, "mask": np.zeros((3, 4), bool)},), "mask is False everywhere; expected True wh"),
        (({**BOTH, "gallery_meta": {"camera": [1, 2]}},), r"_meta\['camera'\] has 2 values; exp"),
    ],
    lambda meta: be.Scores(np.zeros((2, 2)), ["a", "b"], gallery_meta=meta): [
        (({"camera": [1, 2]},), "probe_meta serves both sides")
    ],
    lambda meta: be.Scores(np.zeros((2, 2)), mask=[[0, 1], [1, 0]], gallery_meta=meta): [
        (([1, 2],), "gallery_meta is list; expected a mapping")
    ],
    lambda mask: be.Scores(np.zeros(mask.shape), mask=mask): [
        ((MASKS["odd"],), "2 values other.*first is 3 at row 1, column 0"),
        ((MASKS["large"],), "first is 255 at row 0, column 1"),
    ],
    lambda index: square_scores().select(probes=index): [
        (([],), "is empty; expected at least one index"),
        (([6],), r"1 value outside 0\.\.5, the first is 6"),
        (([0, -7, 8],), r"2 values outside 0\.\.5, the first is -7"),
        (([True, False],), r"boolean choice of shape \(2,\); expected \(6,\)"),
        (([0.0, 1.0],), "probes.*dtype float64; expected a list of indices"),
        (([[0, 1]],), r"shape \(1, 2\)"),
        ((3,), r"shape \(\)"),
    ],
    lambda index: square_scores().select(gallery=index): [
        (([0.0],), "gallery.*dtype float64"),
        (([0, -6],), "gallery selects a template more than once"),
    ],
    lambda scores, genuine, **options: be.Scores.from_pairs(scores, genuine, **options): [
        (([], []), "expected one score per pair"),
        (([0.1, 0.2], [1]), r"genuine has shape \(1,\); expected \(2,\)"),
        (([0.1, 0.2], [1, 2]), "values other than 0 and 1"),
        ((["a", "b"], [1, 0]), "scores have dtype <U1"),
    ],
    lambda options: be.Scores.from_pairs([0.1, 0.2], [1, 0], **options): [
        (({"subjects": [1, 2]},), r"subjects has shape \(2,\); expected \(2, 2\)"),
        (({"meta": {"sex": ["f"] * 2}},), "meta"),
        (({"meta": ["f"] * 2},), "meta"),
        (({"kind": "score"},), "`kind` is 'score'"),
    ],
    lambda *cells: square_scores().at_pairs(*cells): [
        (([0, 2], [1, 2]), "has 1 pair of a template with itself, the first is pair 1"),
        (([0, 2], [1]), "probe_index has 2 entries and gallery_index 1"),
        (([6], [0]), "probe_index has 1 value outside"),
        (([0], [6]), "gallery_index has 1 value outside"),
        (([], []), "probe_index is empty"),
        (([0], [1], [2]), "values other than 0 and 1"),
    ],
    lambda mask: be.Scores(np.zeros((2, 2)), [*"ab"], [*"ac"], mask=mask).at_pairs(
        [0, 0], [0, 1]
    ): [((MASKS["ignored"],), "1 pair in cells that the mask ignores.*pair 1")],
}


@pytest.mark.parametrize(
    ("make", "given", "says"), [(make, *row) for make, rows in REFUSED.items() for row in rows]
)
def test_what_fits_no_scores_is_refused(make, given, says):
    with refused(says):
        make(*given)


@pytest.mark.parametrize(
    "task", [be.verification, be.open_set, be.closed_set, be.ranks, be.evaluate]
)
def test_an_array_is_no_scores(task):
    with refused("ndarray; expected bioeval.Scores"):
        task(np.zeros((3, 3)))


# ------------------------------------------------------------------------------- NaN and infinity


def test_nan_is_an_error_that_says_how_many_and_where_the_first_one_is(tiny_blocks):
    distances = small((4, 6), "float32")
    distances[1, 4] = distances[1, 5] = distances[3, 0] = NAN
    for kind in ("distance", "similarity"):
        scores = rectangular(distances, kind=kind)
        for task in (be.verification, be.open_set, be.closed_set, be.ranks, be.evaluate):
            with refused("hold 3 NaN, the first at row 1, column 4;"):
                task(scores)
    view = rectangular(distances).select(probes=[3, 1], gallery=[5, 4, 0])
    with refused("hold 3 NaN, the first at row 0, column 2;"):
        be.verification(view)
    assert be.verification(rectangular(distances).select(probes=[0, 2])).impostor_attempts == 10


@pytest.mark.parametrize("diagonal", [NAN, INF, -INF, 0.0, 9.0])
@pytest.mark.parametrize("nan", ["raise", "reject", "exclude"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_the_diagonal_of_a_square_matrix_is_never_read(diagonal, nan, kind):
    distances = small((6, 6), "float64", seed=4)
    np.fill_diagonal(distances, 1.0)  # one value, which may have been filled in
    plain = be.Scores(distances.copy(), SQUARE_LABELS, kind=kind, nan=nan)
    np.fill_diagonal(distances, diagonal)
    scores = be.Scores(distances, SQUARE_LABELS, kind=kind, nan=nan)
    assert be.evaluate(scores).identical(be.evaluate(plain))
    rows, columns = [4, 0, 2], [3, 5, 0, 1]
    view, as_before = (s.select(probes=rows, gallery=columns) for s in (scores, plain))
    assert be.evaluate(view).identical(be.evaluate(as_before))


def test_a_probe_that_loses_every_mate_to_nan_stays_enrolled():
    distances = np.array([[NAN, 0.5], [0.3, 0.2]])
    scores = be.Scores(distances, ["a", "b"], ["a", "b"], nan="exclude")
    ds = be.open_set(scores, thresholds=[1.0])
    assert (ds.genuine_attempts, ds.target_probes, ds.non_target_probes) == (1, 2, 0)
    assert arguments(ds, "enrolled-without-mate") == {"probes": 1}
    with pytest.raises(be.ProtocolError, match="1 of 2 probes have no usable mate, the first is p"):
        be.closed_set(scores)
    assert be.closed_set(scores, unmated="skip").skipped == 1


# ------------------------------------------------------------------------------- masks


def test_a_mask_that_contradicts_the_labels_says_where(tiny_blocks):
    right = np.where(np.equal.outer(PROBES[:3], GALLERY), 2, 1)
    for row, column, wrong in ((2, 1, 2), (1, 0, 1), (0, 4, 1)):
        mask = right.copy()
        mask[row, column] = wrong
        scores = be.Scores(np.zeros((3, 6)), PROBES[:3], GALLERY, mask=mask)
        with refused(rf"at row {row}, column {column} \(mask {wrong}, labels '{PROBES[row]}'"):
            be.verification(scores)
    # The comparison of a template with itself contradicts nothing.
    mask = np.array([[1, 1, 2], [1, 1, 1], [2, 1, 1]])
    ds = be.verification(be.Scores(np.zeros((3, 3)), [*"bab"], mask=mask), thresholds=[0])
    assert (ds.genuine_attempts, ds.impostor_attempts) == (2, 4)


def test_booleans_of_a_mask_are_attempts():
    """Booleans equal numbers that agree with the labels, in a square and where a view is masked."""
    distances, labels = small((6, 6), "float64"), list("aabbcc")
    is_kept = np.random.default_rng(1).random((6, 6)) < 0.6
    mask = np.where(is_kept, np.where(np.equal.outer(labels, labels), 2, 1), 0)
    case = {"values": distances.tolist(), "probe_labels": labels, "mask": mask.tolist()}
    for scores in (
        be.Scores(distances, labels, mask=is_kept),
        be.Scores(distances, labels).with_mask(is_kept.tolist()),
        be.Scores(distances, labels).with_mask(pd.DataFrame(is_kept)),
    ):
        assert_all_tasks(scores, THRESHOLDS, **case)
    part = be.Scores(distances, labels).select(probes=[4, 0], gallery=[1, 2, 5])
    cells = np.ix_([4, 0], [1, 2, 5])
    np.testing.assert_array_equal(part.with_mask(is_kept[cells]).mask, mask[cells])
    with refused(r"contradicts the labels.*booleans \(True: an attempt"):
        be.verification(be.Scores(distances, labels, mask=is_kept.astype(int)))


def test_a_square_mask_alone_is_all_against_all_where_its_diagonal_is_ignored():
    distances = np.array([[NAN, 0.1, 0.5], [0.2, NAN, 0.3], [0.4, 0.6, NAN]])
    mask = np.array([[0, 2, 1], [2, 0, 1], [1, 1, 0]])
    scores = be.Scores(distances, mask=mask)
    assert scores.layout == "all-against-all"
    closed = be.closed_set(scores)
    assert (closed.attempts, closed.skipped, closed.recognition_rate) == (2, 1, 1.0)
    with pytest.raises(be.ProtocolError, match="1 of 3 probes have no usable mate"):
        be.closed_set(scores, unmated="raise")
    ds = be.open_set(scores, thresholds=[1.0])
    assert (ds.genuine_attempts, ds.impostor_attempts) == (2, 3)
    mask[2, 2] = 2  # now the diagonal is a comparison like any other
    distances[2, 2] = 0.0
    scores = be.Scores(distances, mask=mask)
    assert scores.layout == "probe-against-gallery"
    assert be.verification(scores, thresholds=[1.0]).genuine_attempts == 3


def test_a_mask_without_consistent_subjects_serves_verification_only():
    mask = np.array([[2, 2], [2, 1]])
    scores = be.Scores(np.array([[0.1, 0.2], [0.3, 0.4]]), mask=mask)
    assert be.verification(scores, thresholds=[0.3]).ga.item() == 3
    for task in (be.open_set, be.closed_set, be.ranks):
        with pytest.raises(be.ProtocolError, match="the mask gives no consistent subjects"):
            task(scores)


# ------------------------------------------------------------------------------- views


def test_a_view_copies_no_score_and_leaves_the_original_as_it_was():
    meta = {"camera": np.array([1, 2, 3, 4, 5, 6])}
    scores = square_scores(probe_meta=meta, name="s")
    before = repr(scores), scores.fingerprint
    view = scores.select(probes=[5, 0], gallery=[1, 5, 3])
    assert view.shape == (2, 3) and view.name == "s"
    assert view.values.tolist() == [[31.0, 35.0, 33.0], [1.0, 5.0, 3.0]]
    assert view.probe_labels.tolist() == ["a", "a"]
    assert view.gallery_labels.tolist() == ["b", "a", "c"]
    assert view.probe_meta["camera"].tolist() == [6, 1]
    assert view.gallery_meta["camera"].tolist() == [2, 6, 4]
    assert sorted(view.subjects) == ["a", "b", "c"]
    assert sorted(scores.select(probes=[0], gallery=[2]).subjects) == ["a"]
    assert view.fingerprint != scores.fingerprint
    assert (repr(scores), scores.fingerprint) == before
    assert be.verification(scores.select(probes=[0, 0, 0, 3])).impostor_attempts == 3 * 3 + 5
    view = scores.select(probes=[0, 1], gallery=[2, 3]).select(probes=[1])
    assert np.shares_memory(view.cells.base, scores.values)
    scores.values[1, 2] = 123.0
    assert view.values.tolist() == [[123.0, 9.0]]


def test_one_index_selects_both_sides_of_all_against_all():
    """A training part is a matrix of its own, as of the scores of its templates alone."""
    scores = square_scores()
    chosen = [4, 0, 3]
    alone = scores.select(probes=chosen, gallery=chosen)
    mask = np.isin(np.arange(6), chosen)
    for part in (scores.select(chosen), scores[chosen], scores[chosen, chosen], scores[chosen][:]):
        assert np.array_equal(part.values, alone.values, equal_nan=True)
        assert part.shape == (3, 3) and part.layout == "all-against-all"
        assert part.probe_labels.tolist() == scores.probe_labels[chosen].tolist()
        assert repr(part).startswith("<Scores all-against-all, 3 x 3 ")
    assert scores[mask].probe_ids.tolist() == scores[mask].gallery_ids.tolist() == [0, 3, 4]
    assert scores[1:4].probe_ids.tolist() == [1, 2, 3] and scores[chosen, :].shape == (3, 6)
    assert scores.select(np.arange(6)).select([1]).gallery_ids.tolist() == [1]


def test_one_index_where_the_sides_differ_names_both_keywords():
    rows = square_scores().select(probes=[0, 1])
    two_sides = be.Scores(np.ones((2, 2)), ["a", "b"], ["a", "b"])
    for scores in (rows, two_sides):
        with refused(r"select\(probes=\.\.\.\) or .*select\(gallery="):
            scores.select([0])
        with refused("probes and the . gallery templates are not the"):
            scores[[0]]
    for index, named in (([[0], [1], [2]], {}), ([[0]], {"gallery": [1]})):
        with refused("select takes one index of both sides, two"):
            rows.select(*index, **named)


def test_other_forms_of_an_index():
    """Pairs that name their sides are taken by name; of pairs and lists, pairs and queries."""
    scores = be.simulate(6, 3, random_state=0)
    partition = next(be.partition.ProbeGallerySplit(1, random_state=0).split(scores))
    for part in (scores.select(partition), scores[partition], scores[partition._asdict()]):
        assert part.probe_ids.tolist() == partition.probes.tolist()
        assert part.gallery_ids.tolist() == partition.gallery.tolist()
    lists = be.Scores.from_top_k([[2, 0], [1, 2]], ["ann", "bob"], ["ann", "bob", "ann"])
    assert lists[1:].probe_labels.tolist() == ["bob"] and lists[1:].shape == (1, 3)


# ------------------------------------------------------------------------------- pairs


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "float32", "float64"])
@pytest.mark.parametrize("kind", ["distance", "similarity"])
def test_pairs_are_single_template_attempts(dtype, kind):
    values = np.array([0, 3, 1, 2, 1, 0], dtype=dtype)
    genuine = np.array([1, 0, 1, 0, 0, 1])
    for flags in (genuine, genuine.astype(bool), genuine.astype(float), genuine.tolist()):
        pairs = be.Scores.from_pairs(values, flags, kind=kind)
        assert (pairs.layout, pairs.shape, pairs.dtype) == ("pairs", (6,), np.dtype(dtype))
        ds = be.verification(pairs, thresholds=[-1, 0, 1, 2, 3])
        assert_verification(ds, [0, 1, 0], [3, 2, 1], kind)
    assert be.verification(pairs, n_thresholds=5).threshold.values[[0, -1]].tolist() == [0, 3]


def test_pairs_support_verification_alone():
    pairs = be.Scores.from_pairs([0.1, 0.2], [True, False])
    for task in (be.open_set, be.closed_set, be.ranks):
        with pytest.raises(be.ProtocolError, match="fixed pairs, for verification"):
            task(pairs)
    for options in ({"templates": "multi"}, {"claims": ["a", "b"]}):
        with pytest.raises(be.ProtocolError, match="fixed pairs"):
            be.verification(pairs, **options)
    tree = be.evaluate(pairs)
    assert [node.path for node in tree.leaves] == ["/verification/single"]
    assert tree["verification/single"].attrs["layout"] == "pairs"
    with pytest.raises(be.ProtocolError, match="no gallery to select"):
        pairs.select(gallery=[0])
    assert pairs.mask is None and pairs.subjects.size == 0


def test_a_selection_of_pairs():
    subjects, names = [[1, 1], [1, 2], [2, 2]], [["a", "b"], ["a", "c"], ["c", "d"]]
    pairs = be.Scores.from_pairs(
        [0.1, 0.8, 0.4], [1, 0, 1], kind="similarity", subjects=subjects, pair_templates=names,
        name="s",
    )  # fmt: skip
    for part in (pairs.select(probes=[2, 0]), pairs[[2, 0]]):
        assert part.values.tolist() == [0.4, 0.1] and part.genuine.tolist() == [True, True]
        assert part.pair_subjects.tolist() == [[2, 2], [1, 1]] and part.name == "s"
        assert part.pair_templates.tolist() == [["c", "d"], ["a", "b"]]
    assert pairs.subjects.tolist() == [1, 2]
    assert pairs.select() is pairs
    with refused("outside"):
        pairs.select(probes=[3])


def test_cells_of_a_matrix_as_pairs():
    scores = rectangular(np.arange(24.0).reshape(4, 6), kind="similarity", name="s")
    pairs = scores.at_pairs([0, 1, -1, 0], [1, 1, 3, -2])
    assert pairs.values.tolist() == [1.0, 7.0, 21.0, 4.0]
    assert pairs.genuine.tolist() == [True, False, True, True]
    assert (pairs.kind, pairs.name) == ("similarity", "s")
    assert scores.at_pairs([0, 1], [1, 1], genuine=[True, False]).genuine.tolist() == [True, False]
    view = scores.select(probes=[3, 0], gallery=[3, 1])
    assert view.at_pairs([0, 1], [0, 1]).values.tolist() == [21.0, 1.0]
    masked = be.Scores(np.zeros((1, 2)), mask=np.array([[2, 1]]))
    with refused("genuine is missing"):
        masked.at_pairs([0], [1])
    assert masked.at_pairs([0], [1], genuine=[True]).genuine.all()


# ------------------------------------------------------------------------------- order only


def test_order_only_scores_are_ranked_but_have_no_thresholds():
    scores = be.Scores([[2, 1, 3], [1, 3, 2]], ["a", "b"], ["a", "b", "c"], kind="order")
    assert be.ranks(scores).identification_rank.values.tolist() == [2.0, 3.0]
    assert be.closed_set(scores).cms_count.values.tolist() == [0, 1, 2]
    for task in (be.verification, be.open_set):
        with pytest.raises(be.ProtocolError, match='only the order within each row.*"order"'):
            task(scores)
    assert [node.path for node in be.evaluate(scores).leaves] == ["/closed_set"]
    with pytest.raises(be.ProtocolError, match="only the order"):
        be.evaluate(scores, "course-probe-vs-gallery")
    with pytest.raises(be.ProtocolError, match="only the order"):
        be.verification(be.Scores.from_pairs([1, 2], [1, 0], kind="order"))


# ------------------------------------------------------------------------------- in words


def test_a_fingerprint_is_of_the_data_and_not_of_how_they_are_held():
    distances = np.array([[0.0, np.nan], [1.0, 0.0]])
    variants = [
        be.Scores(distances, ["a", "b"]),
        be.Scores(distances, ["b", "a"]),
        be.Scores(distances, ["a", "a"]),
        be.Scores(distances, ["a", "b"], ["a", "a"]),
        be.Scores(distances.astype("f4"), ["a", "b"]),
        be.Scores(distances, ["a", "b"], kind="similarity"),
        be.Scores(distances + 1, ["a", "b"]),
        be.Scores.from_pairs([0.1, 0.2], [1, 0]),
        be.Scores.from_pairs([0.1, 0.2], [0, 1]),
        be.Scores.from_pairs([0.1, 0.3], [0, 1]),
    ]
    assert len({scores.fingerprint for scores in variants}) == 10
    big_endian = distances.astype(">f8")
    big_endian[0, 1] = -np.nan
    assert be.Scores(big_endian, np.array(["a", "b"])).fingerprint == variants[0].fingerprint


@pytest.mark.parametrize(
    "scores",
    [
        rectangular(np.zeros((4, 6))),
        be.Scores.from_pairs([0.1, 0.8], [True, False]),
        be.Scores.from_top_k([[1, 0]], ["a"], ["a", "b"]),
    ],
    ids=lambda scores: scores.layout,
)
def test_scores_are_neither_a_sequence_nor_an_array(scores):
    with pytest.raises(TypeError, match="not iterable"):
        list(scores)
    for call in (np.asarray, lambda x: be.Scores(x, PROBES), lambda x: be.Scores([[0.0]], x)):
        with refused(r"Scores are no array; give scores\.values"):
            call(scores)
