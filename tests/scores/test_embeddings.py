"""Scores from embeddings: every metric against its formula, in blocks, with failed templates."""

import math
import tracemalloc
from decimal import Decimal, localcontext
from fractions import Fraction

import numba
import numpy as np
import pytest
from limits import streaming
from named_arguments import raises_about, refused
from reference import one_thread  # noqa: F401
from threadpoolctl import threadpool_limits

import bioeval as be
from bioeval.scores import embeddings

METRICS = ("cosine", "l2", "l1", "linf", "bhattacharyya")


def scores_of(x, y, metric, dtype="float64", **options) -> be.Scores:
    """Each template is of its own person, so that all comparisons are impostors."""
    m, n = len(x), len(y)
    return be.Scores.from_embeddings(
        x, range(m), y, range(m, m + n), metric=metric, dtype=dtype, nan="exclude", **options
    )


def far_enough(u: np.ndarray, v: np.ndarray, metric: str) -> float:
    """The definition in 60 decimal digits, without the tricks of a matrix product."""
    with localcontext(prec=60):
        first, second = [Decimal(float(x)) for x in u], [Decimal(float(x)) for x in v]
        if metric == "cosine":
            dot = sum(x * y for x, y in zip(first, second, strict=True))
            norms = [sum(x * x for x in side).sqrt() for side in (first, second)]
            return float(1 - dot / (norms[0] * norms[1]))
        if metric == "bhattacharyya":
            first_sum, second_sum = sum(first), sum(second)
            return float(
                -sum(
                    (x / first_sum * y / second_sum).sqrt()
                    for x, y in zip(first, second, strict=True)
                ).ln()
            )
        differences = [abs(x - y) for x, y in zip(first, second, strict=True)]
        if metric == "l2":
            return float(sum(d * d for d in differences).sqrt())
        return float(sum(differences) if metric == "l1" else max(differences))


def features(m: int, f: int = 5, seed: int = 0, dtype: str = "float64") -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 60, (m, f)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int64"])
@pytest.mark.parametrize("metric", METRICS)
def test_metrics_follow_their_formula(metric, dtype):
    x, y = features(4, seed=1, dtype=dtype), features(6, seed=2, dtype=dtype)
    expected = [[far_enough(u, v, metric) for v in y] for u in x]
    scores = scores_of(x, y, metric)
    assert scores.values.dtype == np.float64
    np.testing.assert_allclose(scores.values, expected, rtol=1e-12, atol=1e-14)
    pairs = scores.at_pairs([3, 0, 3], [5, 1, 0]).values
    np.testing.assert_allclose(pairs, scores.values[[3, 0, 3], [5, 1, 0]], rtol=1e-12, atol=1e-14)
    single = scores_of(x, y, metric, "float32").values
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("name", ["euclidean", "manhattan", "cityblock", "chebyshev"])
def test_metrics_have_the_names_of_scipy(name):
    same = {"euclidean": "l2", "chebyshev": "linf"}.get(name, "l1")
    scores, expected = (scores_of(features(4), features(3), x) for x in (name, same))
    np.testing.assert_array_equal(scores.values, expected.values)
    assert scores.origin == expected.origin


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("metric", METRICS)
def test_equal_embeddings_are_at_distance_zero_exactly(metric, dtype):
    embeddings = np.random.default_rng(4).normal(size=(5, 64)) * 1000 + 3
    embeddings = np.abs(embeddings) if metric == "bhattacharyya" else embeddings
    distances = scores_of(np.repeat(embeddings, 2, axis=0), embeddings, metric, dtype).values
    distances[np.signbit(distances)] = 1  # nor is any negative
    np.testing.assert_array_equal(distances == 0, np.repeat(np.eye(5, dtype=bool), 2, axis=0))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("given", ["float64", "float32", "float16"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_near_pairs_keep_their_digits(metric, given, dtype):
    """At spreads of a thousandth to a ten millionth of the length, whole and streamed."""
    rng = np.random.default_rng(6)
    embeddings = np.abs(rng.normal(size=(6, 24))) + 0.5
    for spread in (1e-3, 1e-5, 1e-6, 1e-7):
        near_embeddings = (embeddings * (1 + spread * rng.normal(size=embeddings.shape))).astype(
            given
        )
        left, labels = embeddings.astype(given), list("abcdef")
        expected = [far_enough(u, v, metric) for u, v in zip(left, near_embeddings, strict=True)]
        for limit in (1 << 30, 1):
            scores = streaming(
                left, labels, near_embeddings, labels, metric=metric, dtype=dtype, limit=limit
            )
            assert scores.streams == (limit == 1) and scores.dtype == dtype
            diagonal = scores.cells.read(0, 6).diagonal()
            np.testing.assert_allclose(
                diagonal, expected, rtol=3e-7, atol=1e-40, err_msg=str(spread)
            )
            pairs = scores.at_pairs(range(6), range(6)).values
            np.testing.assert_allclose(pairs, expected, rtol=3e-7, atol=1e-40)


@pytest.mark.parametrize(("dtype", "tiny"), [("float64", 5e-324), ("float32", 1e-45)])
def test_distances_of_subnormal_embeddings(dtype, tiny):
    """Embeddings near the smallest float are a valid input: their distance is exact."""
    embeddings = np.array([[0, 0], [3, 4], [0, 8]], dtype=dtype) * np.dtype(dtype).type(tiny)
    distances = be.Scores.from_embeddings(embeddings, [1, 1, 2], metric="l2", dtype=dtype).values
    tiny = Fraction(float(np.dtype(dtype).type(tiny)))
    cells = [Fraction(float(distances[i, j])) for i, j in ((0, 1), (0, 2), (1, 2))]
    assert cells == [5 * tiny, 8 * tiny, 5 * tiny]


@pytest.mark.parametrize(
    ("scale", "dtype"),
    [(1e-200, "float64"), (1e200, "float64"), (1e-23, "float32"), (1e20, "float32")],
)
def test_squares_out_of_range_do_not_spoil_distances(scale, dtype):
    embeddings = np.array([[1, 2], [3, 5], [9, 1], [2, 2.0]])
    distances = be.Scores.from_embeddings(
        embeddings * scale, list("aabb"), metric="l2", dtype=dtype
    ).values
    expected = be.Scores.from_embeddings(embeddings, list("aabb"), metric="l2").values
    np.testing.assert_allclose(distances.astype(float) / scale, expected, rtol=1e-5)


def test_a_callable_gets_blocks_of_the_embeddings_as_they_are(monkeypatch):
    monkeypatch.setattr(embeddings, "VALUES_AT_ONCE", 12)
    x, y = features(7, dtype="int16"), features(6, seed=3, dtype="float32")
    blocks_seen = []

    def metric(a, b):
        blocks_seen.append((a.shape, a.dtype.name, b.shape, b.dtype.name))
        return np.abs(a[:, None] - b[None]).sum(axis=2)

    scores = scores_of(x, y, metric, kind="distance")
    np.testing.assert_allclose(scores.values, scores_of(x, y, "l1").values)
    assert {(s[1], s[2], s[3]) for s in blocks_seen} == {("int16", (6, 5), "float32")}
    assert sum(s[0][0] for s in blocks_seen) == 7 and len(blocks_seen) == 4
    streamed = streaming(x, range(7), y, range(7, 13), metric=metric, kind="distance")
    pairs = streamed.at_pairs([0, 6], [5, 2]).values
    np.testing.assert_array_equal(pairs, scores.values[[0, 6], [5, 2]])


def test_templates_without_direction_or_mass_and_disjoint_histograms():
    embeddings = features(3)
    embeddings[1] = 0
    for metric in ("cosine", "bhattacharyya", "l2"):
        is_nan = np.isnan(scores_of(embeddings, features(2), metric).values)
        assert is_nan[1].all() == (metric != "l2") and not is_nan[[0, 2]].any()
    x, y = np.array([[1.0, 0.0]]), np.array([[0.0, 2.0], [3.0, 0.0]])
    assert scores_of(x, y, "bhattacharyya").values.tolist() == [[math.inf, 0.0]]


X, WHO = features(3), list("abc")


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        ((X, list("ab")), {}, "labels has 2 labels, but the scores have 3 rows"),
        ((X, WHO), {"metric": "L2"}, "`metric` is 'L2'; .*'l2'.* Did you mean 'l2'"),
        ((X, WHO, X), {}, "gallery is given without gallery_labels"),
        ((X, WHO), {"gallery_labels": WHO}, "gallery_labels is given without"),
        ((X, WHO, X[:, :4], WHO), {}, "5 features and gallery embeddings 4"),
        ((X[0], ["a"]), {}, r"probe embeddings has shape \(5,\); expected \(templates, features\)"),
        ((X + 1j, WHO), {}, "dtype complex128; expected an integer or float dtype"),
        ((np.ma.masked_equal(X, 3), WHO), {}, "masked array"),
        ((np.where(X > 50, np.inf, X), WHO), {}, r"infinite values in (1 row|\d rows), the first"),
        ((-X, WHO), {"metric": "bhattacharyya"}, "row 0 has negative values"),
        (
            *((X, WHO), {"metric": lambda a, b: np.zeros(3), "kind": "distance"}),
            r"returned shape \(3,\)",
        ),
    ],
)
def test_embeddings_that_do_not_fit_are_refused(arguments, options, match):
    with refused(match):
        be.Scores.from_embeddings(*arguments, **options)


def test_what_asks_for_streams_is_checked():
    for wrong in ("float16", "f8", None, np.float32):
        with raises_about(be.DataError, "dtype"):
            be.Scores.from_embeddings(X, WHO, dtype=wrong)
    assert not streaming(X, WHO, limit=9 * 8).streams
    assert streaming(X, WHO, limit=9 * 8 - 1).streams
    assert not streaming(X, WHO, limit=36, dtype="float32").streams


def test_a_function_as_metric_states_its_kind():
    """Products of embeddings taken for distances would have an EER near 1, in silence."""
    embeddings, labels = np.random.default_rng(0).normal(size=(6, 3)), [1, 1, 2, 2, 3, 3]

    def product(a, b):
        return a @ b.T

    with refused("`metric` is a function.*`kind=.distance.` or `kind=.similarity"):
        be.Scores.from_embeddings(embeddings, labels, metric=product)
    scores = be.Scores.from_embeddings(embeddings, labels, metric=product, kind="similarity")
    assert scores.kind == "similarity"
    streamed = streaming(embeddings, labels, metric=product, kind="similarity")
    assert streamed.streams and streamed.kind == "similarity"
    with refused("metric 'l2' gives distances"):
        be.Scores.from_embeddings(embeddings, labels, metric="l2", kind="similarity")


@pytest.mark.parametrize("metric", ["cosine", "l2"])
def test_distances_are_the_same_on_any_number_of_threads(metric):
    """To the last bit: of 700 features, a library on two threads adds up in another order."""
    rng = np.random.default_rng(8)
    embeddings = rng.normal(size=(600, 700)).astype("float32")
    rows, columns = rng.choice(600, (2, 40), replace=False)
    by_threads = []
    for threads in {1, min(2, numba.config.NUMBA_NUM_THREADS)}:
        numba.set_num_threads(threads)
        with threadpool_limits(limits=threads):
            scores = streaming(embeddings, range(600), metric=metric, dtype="float32")
            matrix = scores.cells.read(0, 600)
            for low, high in ((250, 520), (513, 514), (599, 600)):
                np.testing.assert_array_equal(scores.cells.read(low, high), matrix[low:high])
            parts = [scores.select(probes=rows), scores.select(probes=rows, gallery=columns)]
            parts += [scores_of(embeddings, embeddings.copy(), metric, "float32")]
            by_threads.append(
                [matrix, *(part.cells.read(0, len(part.probe_ids)) for part in parts)]
            )
        assert (matrix == matrix.T).all()
    numba.set_num_threads(1)
    for first, two in zip(by_threads[0], by_threads[-1], strict=True):
        np.testing.assert_array_equal(first, two)


@pytest.mark.parametrize("metric", ["cosine", "l2"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_few_distances_are_those_of_many(metric, dtype, monkeypatch):
    """To the last bit, also of vectors that are equal or nearly, with and without their length."""
    embeddings = np.random.default_rng(9).normal(size=(60, 130)).astype(dtype)
    embeddings[5:20] = embeddings[0] * np.linspace(1, 2, 15, dtype=dtype)[:, None]
    embeddings[20:40] *= 1e-4
    embeddings[20:40] += embeddings[0]
    embeddings[40] = np.nan
    sides = (embeddings[::-1], embeddings)
    of_few = [scores_of(embeddings, x, metric, dtype).values for x in sides]
    monkeypatch.setattr("bioeval.scores.blocks.LISTED", 0)
    of_many = [scores_of(embeddings, x, metric, dtype).values for x in sides]
    np.testing.assert_array_equal(of_few, of_many)


def test_columns_that_an_average_cannot_keep_are_said():
    rng = np.random.default_rng(2)
    embeddings, who = rng.normal(size=(24, 4)), np.repeat(list("abcdef"), 4)
    clip = np.repeat(np.arange(12), 2)
    meta = {"clip": clip, "camera": clip % 3, "frame": np.arange(24), "light": np.arange(24) % 5}

    def left_out(scores):
        return [x.arguments["columns"] for x in scores.remarks if x.code == "columns-left-out"]

    scores = be.Scores.from_embeddings(embeddings, who, probe_meta=meta, average="clip")
    assert left_out(scores) == [["frame", "light"]]
    assert {*scores.probe_meta} == {"clip", "camera"}
    nested = be.Scores.from_embeddings(embeddings, who, probe_meta=meta, average=["clip", "light"])
    assert left_out(nested) == [["frame"]]
    kept = {x: meta[x] for x in ("clip", "camera")}
    assert not left_out(be.Scores.from_embeddings(embeddings, who, probe_meta=kept, average="clip"))
    text = " ".join(be.to_markdown(be.verification(scores)).split())
    assert "left out of the metadata: frame" in text.replace("'", "").replace("`", "")


def test_a_column_that_differs_within_an_average_is_named():
    embeddings = np.random.default_rng(5).normal(size=(6, 4))
    clips = ["c1", "c1", "c2", "c2", "c3", "c3"]
    meta = {"clip": clips, "light": ["day", "day", "day", "night", "day", "day"]}
    labels = [1, 1, 1, 1, 2, 2]
    reason = r"differs within a probe template: clip 'c2' has 'day' in row 2 and 'night' in row 3"
    scores = be.Scores.from_embeddings(embeddings, labels, probe_meta=meta, average=["clip"])
    assert "light" not in scores.probe_meta
    for ask in (
        lambda: be.by_group(scores, "light"),
        lambda: scores.excluding("light"),
        lambda: be.claim_scores(scores, attempts="light"),
        lambda: be.Scores.from_embeddings(
            embeddings, labels, probe_meta=meta, average="clip", exclude=["light"]
        ),
    ):
        with pytest.raises(be.DataError, match=reason):
            ask()


@pytest.mark.slow
def test_templates_are_counted_without_their_matrix():
    made = be.simulate_embeddings(700, 10, dimensions=16)
    embeddings = made.embeddings.astype("float32")
    be.verification(be.Scores.from_embeddings(embeddings, made.labels))  # compiles
    scores = be.Scores.from_embeddings(embeddings, made.labels)
    tracemalloc.start()
    try:
        be.verification(scores)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * len(embeddings) ** 2
