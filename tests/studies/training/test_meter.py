"""Embeddings batch by batch, against all of them at once (``be.summary``, ``be.evaluate``)."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from result_messages import codes

import bioeval as be

PEOPLE = be.simulate_embeddings(12, 3, cameras=3, dimensions=5, random_state=3)
LABELS = np.array([f"person {label}" for label in PEOPLE.labels])
CAMERAS = PEOPLE.meta["camera"]
NUMBER = len(LABELS)

#: Variables over ranks.
AT_RANKS = {"cms", "cms_count", "cmc", "cmc_count", "precision_at_k", "recall_at_k"}

pytestmark = pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")


def flat(by_task) -> dict:
    """The numbers of a summary by one name for each number, written out once more."""
    numbers = {}
    for task, variables in by_task.items():
        for name, value in variables.items():
            if not isinstance(value, dict):
                numbers[f"{task}/{name}"] = value
                continue
            for rank_name, number in value.items():
                rank = "rank_" * (name in AT_RANKS)
                numbers[f"{task}/{name}_{rank}{rank_name}"] = number
    return numbers


def same(a: dict, b: dict) -> bool:
    """Whether two dictionaries are equal to the last bit, NaN to NaN."""
    return list(a) == list(b) and all(a[k] == b[k] or (a[k] != a[k] and b[k] != b[k]) for k in a)


def fill(meter, order, cuts=(), *, index=True, dtype="f4", labels=LABELS, role="both"):
    """Give templates to a meter in an order, divided at some places, and return it."""
    embeddings = PEOPLE.embeddings.astype(dtype)
    for rows in np.split(np.array(order, dtype=int), sorted(cuts)):
        meter.update(
            embeddings[rows], labels[rows], role=role, index=rows if index else None,
            camera=CAMERAS[rows],
        )  # fmt: skip
    return meter


def scores_of(given_in="f4", **options) -> be.Scores:
    return be.Scores.from_embeddings(
        PEOPLE.embeddings.astype(given_in), LABELS, probe_meta={"camera": CAMERAS}, **options
    )


ORDERS = st.permutations(range(NUMBER))
CUTS = st.lists(st.integers(0, NUMBER), max_size=5)
DTYPES = st.sampled_from(["f2", "f4", "f8"])


@given(ORDERS, CUTS, DTYPES, st.sampled_from(["float32", "float64"]))
def test_with_an_index_the_numbers_are_those_of_the_data_set(order, cuts, given_in, dtype):
    meter = fill(be.Meter(dtype=dtype), order, cuts, dtype=given_in)
    assert same(meter.compute(), flat(be.summary(scores_of(given_in, dtype=dtype))))
    assert meter.scores().values.dtype == dtype


@given(ORDERS, CUTS, DTYPES)
def test_without_an_index_no_batch_decides_the_numbers(order, cuts, given_in):
    meter = fill(be.Meter(), order, cuts, index=False, dtype=given_in)
    filled = fill(be.Meter(), order, index=False, dtype=given_in)
    numbers = meter.compute()
    assert same(numbers, filled.compute())
    # In another order, sums of floats have other last digits.
    assert numbers == pytest.approx(flat(be.summary(scores_of(given_in))), rel=1e-9, nan_ok=True)


@given(ORDERS, st.lists(st.integers(0, NUMBER - 1), max_size=6))
def test_a_padded_template_counts_once(order, padding):
    meter = fill(fill(be.Meter(metric="l2"), order), padding)
    assert same(meter.compute(), flat(be.summary(scores_of(metric="l2"))))


@given(ORDERS, CUTS)
def test_probes_and_gallery_come_apart(order, cuts):
    probes = CAMERAS[0] == CAMERAS
    meter = be.Meter("market1501", "l2")
    for rows in np.split(np.array(order), sorted(cuts)):
        for role, is_template in (("probe", probes), ("gallery", ~probes)):
            fill(meter, rows[is_template[rows]], role=role)
    scores = be.Scores.from_embeddings(
        PEOPLE.embeddings[probes], LABELS[probes], PEOPLE.embeddings[~probes], LABELS[~probes],
        metric="l2", probe_meta={"camera": CAMERAS[probes]},
        gallery_meta={"camera": CAMERAS[~probes]},
    )  # fmt: skip
    numbers = meter.compute()
    assert same(numbers, flat(be.summary(scores, "market1501")))
    assert numbers["reid/mean_ap"] == be.reid(scores, "market1501").mean_ap.item()


def test_the_tree_is_that_of_evaluate():
    meter = fill(be.Meter(far_targets=[0.1]), range(NUMBER), [10])
    expected = be.evaluate(scores_of(), far_targets=[0.1])
    assert meter.result().identical(expected)
    interval = be.stats.IntervalMethod("subject-bootstrap", replicates=100)
    expected = be.evaluate(scores_of(), far_targets=[0.1], interval=interval)
    assert meter.result(interval=interval).identical(expected)


def test_what_is_given_may_change_afterwards():
    embeddings, labels, cameras = PEOPLE.embeddings.copy(), LABELS.copy(), CAMERAS.copy()
    meter, index = be.Meter(), np.arange(NUMBER)
    meter.update(embeddings, labels, index=index, camera=cameras)
    embeddings[:], labels[:], cameras[:], index[:] = 0, "x", 0, 0
    assert same(meter.compute(), flat(be.summary(scores_of())))


def test_labels_of_mixed_types_are_refused():
    meter = be.Meter(metric="l2")
    meter.update(np.eye(4)[:2], [1, 2])
    meter.update(np.eye(4)[2:], ["1", "2"])
    with pytest.raises(be.DataError, match="values of two types"):
        meter.scores()


def test_nan_and_infinite_embeddings_are_treated_as_by_scores():
    embeddings = PEOPLE.embeddings.copy()
    embeddings[3, 1] = np.nan
    for nan in ("exclude", "reject"):
        meter = be.Meter(nan=nan)
        meter.update(embeddings[::-1], LABELS[::-1], index=np.arange(NUMBER)[::-1])
        expected = be.Scores.from_embeddings(embeddings, LABELS, nan=nan)
        assert same(meter.compute(), flat(be.summary(expected)))
    meter = be.Meter()
    meter.update(embeddings, LABELS)
    with pytest.raises(be.DataError, match="NaN"):
        meter.compute()
    embeddings[3, 1] = np.inf
    meter = be.Meter()
    meter.update(embeddings, LABELS, index=range(NUMBER))
    with pytest.raises(be.DataError) as raised:
        be.summary(be.Scores.from_embeddings(embeddings, LABELS))
    with pytest.raises(be.DataError) as of_meter:
        meter.compute()
    assert str(of_meter.value) == str(raised.value)


def test_one_subject_has_no_impostor():
    meter = be.Meter()
    meter.update(PEOPLE.embeddings[:4], np.zeros(4, dtype=int), index=range(4))
    expected = be.Scores.from_embeddings(PEOPLE.embeddings[:4], np.zeros(4, dtype=int))
    assert same(meter.compute(), flat(be.summary(expected)))
    assert "no-attempt" in codes(meter.result()["verification/single"])


def given_twice(embedding, label, camera=0) -> be.Meter:
    meter = be.Meter()
    meter.update(np.eye(3), ["a", "a", "b"], index=["x", "y", "z"], camera=[0, 0, 0])
    meter.update([embedding], [label], index=["y"], camera=[camera])
    return meter


@pytest.mark.parametrize(
    ("meter", "words"),
    [
        (given_twice([0, -1, 0], "a"), "template 'y' .*different embeddings; call reset"),
        (given_twice([0, 1, 0], "b"), "template 'y' .*different labels or metadata"),
        (given_twice([0, 1, 0], "a", 1), "template 'y' .*different labels or metadata"),
        (be.Meter(), "no templates yet"),
    ],
)
def test_templates_that_contradict_each_other(meter, words):
    with pytest.raises(be.DataError, match=words):
        meter.compute()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"embeddings": np.ones((2, 4))}, "have 4 features, .* earlier batches have 3"),
        ({"camera": [1]}, "camera.* has 1 values; expected 2"),
        ({"camera": None}, "metadata of this batch are none, those of earlier batches camera"),
        ({"index": None}, "index is given for some batches only"),
        ({"index": [1]}, "index has 1 values, but there are 2 embeddings"),
        ({"labels": [1]}, "labels has 1 values, but there are 2 embeddings"),
        ({"role": "probe"}, "some templates have a role and some have none"),
        ({"role": "query"}, "role"),
        ({"embeddings": np.ones(3)}, "shape"),
    ],
)
def test_a_batch_that_does_not_fit_is_not_taken(more, words):
    meter = be.Meter()
    batch = {"embeddings": np.eye(3)[:2], "labels": ["a", "b"], "index": [0, 1], "camera": [1, 2]}
    meter.update(**batch)
    wrong = batch | {"index": [2, 3]} | more
    if wrong["camera"] is None:
        del wrong["camera"]
    with pytest.raises(be.DataError, match=words):
        meter.update(**wrong)
    assert meter.scores().shape == (2, 2)


def test_options_are_checked_before_the_first_epoch():
    with pytest.raises(be.CardError):
        be.Meter("no-such-card")
    with pytest.raises(be.DataError, match="metric"):
        be.Meter(metric="cosin")
    with pytest.raises(be.DataError, match="far_targets"):
        be.Meter(far_targets=[2])


@pytest.mark.parametrize("length", [0.01, 1.0, 100.0])
def test_two_embeddings_of_a_template_may_differ_by_five_percent(length):
    for part, is_rounding in ((0.04, True), (0.06, False)):
        meter = be.Meter(metric="l2")
        meter.update(length * np.eye(3), ["a", "a", "b"], index=["x", "y", "z"])
        meter.update([[0, length * (1 + part), 0]], ["a"], index=["y"])
        if is_rounding:
            meter.compute()
        else:
            with pytest.raises(be.DataError, match="different embeddings"):
                meter.compute()
