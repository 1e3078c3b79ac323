"""Scores from embeddings: every metric against its formula, in blocks, with failed templates."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numba
import numpy as np
import pytest
from limits import streaming
from named_arguments import raises_about
from threadpoolctl import threadpool_limits
from twins import assert_same_but_d_prime, one_thread  # noqa: F401

import bioeval as be
from bioeval.scores import embeddings
from bioeval.scores.embeddings import METRICS, EmbeddingSource


def distance_matrix(*given) -> np.ndarray:
    return EmbeddingSource(*given).whole()


def pair_distances(x, y, a, b, metric) -> np.ndarray:
    return EmbeddingSource(x, y, metric).pairs(a, b)


def formula(u: np.ndarray, v: np.ndarray, metric: str) -> float:
    """The definition, term by term, without the tricks of a matrix product."""
    a, b = [float(x) for x in u], [float(x) for x in v]
    if metric == "l1":
        return math.fsum(abs(x - y) for x, y in zip(a, b, strict=True))
    if metric == "linf":
        return max(abs(x - y) for x, y in zip(a, b, strict=True))
    if metric == "l2":
        return math.sqrt(sum(Fraction(x - y) ** 2 for x, y in zip(a, b, strict=True)))
    if metric == "cosine":
        dot = sum(Fraction(x) * Fraction(y) for x, y in zip(a, b, strict=True))
        norms = (sum(Fraction(x) ** 2 for x in side) for side in (a, b))
        return 1 - float(dot) / math.prod(math.sqrt(n) for n in norms)
    p, q = sum(a), sum(b)
    return -math.log(math.fsum(math.sqrt(x / p * y / q) for x, y in zip(a, b, strict=True)))


def features(m: int, f: int = 5, seed: int = 0, dtype: str = "float64") -> np.ndarray:
    return np.random.default_rng(seed).integers(1, 60, (m, f)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int64"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.cases(1)
def test_metrics_follow_their_formula(metric, dtype):
    x, y = features(4, seed=1, dtype=dtype), features(6, seed=2, dtype=dtype)
    expected = [[formula(u, v, metric) for v in y] for u in x]
    d = distance_matrix(x, y, metric)
    assert d.dtype == np.float64
    np.testing.assert_allclose(d, expected, rtol=1e-12, atol=1e-14)
    pairs = pair_distances(x, y, np.array([3, 0, 3]), np.array([5, 1, 0]), metric)
    np.testing.assert_allclose(pairs, d[[3, 0, 3], [5, 1, 0]], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("metric", METRICS)
def test_equal_embeddings_are_at_distance_zero_exactly(metric, dtype):
    x = np.random.default_rng(4).normal(size=(5, 64)) * 1000 + 3
    x = np.abs(x) if metric == "bhattacharyya" else x
    d = distance_matrix(np.repeat(x, 2, axis=0), x, metric, dtype)
    d[np.signbit(d)] = 1  # nor is any negative
    for i in range(5):
        assert d[2 * i, i] == d[2 * i + 1, i] == 0.0
    assert (d >= 0).all()
    assert np.count_nonzero(d == 0) == 10


def far_enough(u: np.ndarray, v: np.ndarray, metric: str) -> float:
    """The definition in 60 decimal digits."""
    with localcontext(prec=60):
        a, b = [Decimal(float(x)) for x in u], [Decimal(float(x)) for x in v]
        if metric == "cosine":
            dot = sum(x * y for x, y in zip(a, b, strict=True))
            norms = [sum(x * x for x in side).sqrt() for side in (a, b)]
            return float(1 - dot / (norms[0] * norms[1]))
        if metric == "bhattacharyya":
            p, q = sum(a), sum(b)
            return float(-sum((x / p * y / q).sqrt() for x, y in zip(a, b, strict=True)).ln())
        differences = [abs(x - y) for x, y in zip(a, b, strict=True)]
        if metric == "l2":
            return float(sum(d * d for d in differences).sqrt())
        return float(sum(differences) if metric == "l1" else max(differences))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("given", ["float64", "float32", "float16"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.cases(1)
def test_near_pairs_keep_their_digits(metric, given, dtype):
    """At spreads of a thousandth to a ten millionth of the length, whole and streamed."""
    rng = np.random.default_rng(6)
    x = np.abs(rng.normal(size=(6, 24))) + 0.5
    for spread in (1e-3, 1e-5, 1e-6, 1e-7):
        y = (x * (1 + spread * rng.normal(size=x.shape))).astype(given)
        left, labels = x.astype(given), list("abcdef")
        expected = [far_enough(u, v, metric) for u, v in zip(left, y, strict=True)]
        for limit in (1 << 30, 1):
            scores = streaming(left, labels, y, labels, metric=metric, dtype=dtype, limit=limit)
            assert scores.streams == (limit == 1) and scores.dtype == dtype
            found = scores.cells.read(0, 6).diagonal()
            np.testing.assert_allclose(found, expected, rtol=3e-7, atol=1e-40, err_msg=str(spread))
        pairs = EmbeddingSource(left, y, metric, dtype).pairs(np.arange(6), np.arange(6))
        np.testing.assert_allclose(pairs, expected, rtol=1e-7, atol=1e-40)


def test_a_callable_gets_blocks_of_the_embeddings_as_they_are(monkeypatch):
    monkeypatch.setattr(embeddings, "_BLOCK", 12)
    x, y = features(7, dtype="int16"), features(6, seed=3, dtype="float32")
    seen = []

    def metric(a, b):
        seen.append((a.shape, a.dtype.name, b.shape, b.dtype.name))
        return np.abs(a[:, None] - b[None]).sum(axis=2)

    scores = be.Scores.from_embeddings(
        x, list("abcabca"), y, list("abcabc"), metric=metric, kind="distance"
    )
    np.testing.assert_allclose(scores.values, distance_matrix(x, y, "l1"))
    assert {(s[1], s[2], s[3]) for s in seen} == {("int16", (6, 5), "float32")}
    assert sum(s[0][0] for s in seen) == 7 and len(seen) == 4
    pairs = pair_distances(x, y, np.array([0, 6]), np.array([5, 2]), metric)
    np.testing.assert_array_equal(pairs, scores.values[[0, 6], [5, 2]])


def test_a_template_without_direction_or_mass_has_no_distance():
    x = features(3)
    x[1] = 0
    for metric in ("cosine", "bhattacharyya"):
        assert np.isnan(distance_matrix(x, x, metric)[1]).all()
    assert not np.isnan(distance_matrix(x, x, "l2")).any()


def test_disjoint_histograms_are_infinitely_far():
    d = distance_matrix(np.array([[1.0, 0.0]]), np.array([[0.0, 2.0], [3.0, 0.0]]), "bhattacharyya")
    assert d.tolist() == [[math.inf, 0.0]]


FUNCTION = {"kind": "distance"}  # what a function as metric needs
X = features(3)


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        ((X, list("ab")), {}, "labels has 2 labels, but the scores have 3 rows"),
        ((X, list("abc")), {"metric": "L2"}, "`metric` is 'L2'; .*'l2'.* Did you mean 'l2'"),
        ((X, list("abc"), X), {}, "gallery is given without gallery_labels"),
        ((X, list("abc")), {"gallery_labels": list("abc")}, "gallery_labels is given without"),
        ((X, list("abc"), X[:, :4], list("abc")), {}, "5 features and gallery embeddings 4"),
        ((X[0], ["a"]), {}, r"probe embeddings has shape \(5,\); expected \(templates, features\)"),
        ((X + 1j, list("abc")), {}, "dtype complex128; expected an integer or float dtype"),
        ((np.ma.masked_equal(X, 3), list("abc")), {}, "masked array"),
        ((np.where(X > 50, np.inf, X), list("abc")), {}, "rows hold infinite values, the first"),
        ((-X, list("abc")), {"metric": "bhattacharyya"}, "row 0 has negative values"),
        (
            (X, list("abc")),
            {"metric": lambda a, b: np.zeros(3)} | FUNCTION,
            r"returned shape \(3,\)",
        ),
    ],
)
def test_embeddings_that_do_not_fit_are_refused(arguments, options, match):
    with pytest.raises(be.DataError, match=match):
        be.Scores.from_embeddings(*arguments, **options)


# ------------------------------------------------------------------------------- streamed


def whole_numbers(m: int = 40, f: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Embeddings whose products are exact, whatever the order they are summed in."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 9, m)
    return rng.integers(0, 9, (m, f)) + 3 * rng.integers(0, 5, (9, f))[labels], labels


@pytest.mark.parametrize("metric", METRICS)
def test_in_float32_distances_are_good_to_a_millionth(metric):
    x, _ = whole_numbers()
    x = np.repeat(x, 2, axis=0) + 1
    exact = distance_matrix(x, x, metric)
    d = distance_matrix(x, x, metric, "float32")
    assert d.dtype == np.float32
    np.testing.assert_allclose(d, exact, rtol=2e-6, atol=2e-6)
    if metric != "bhattacharyya":
        assert (d[np.arange(0, 80, 2), np.arange(1, 80, 2)] == 0).all()


def test_what_asks_for_streams_is_checked():
    for wrong in ("float16", "f8", None, np.float32):
        with raises_about(be.DataError, "dtype"):
            be.Scores.from_embeddings(X, list("abc"), dtype=wrong)
    at_the_limit = streaming(X, list("abc"), limit=9 * 8)
    assert not at_the_limit.streams
    assert streaming(X, list("abc"), limit=9 * 8 - 1).streams
    assert not streaming(X, list("abc"), limit=36, dtype="float32").streams


def test_a_function_as_metric_states_its_kind():
    """Products of embeddings taken for distances would have an EER near 1, in silence."""
    x, who = np.random.default_rng(0).normal(size=(6, 3)), [1, 1, 2, 2, 3, 3]

    def product(a, b):
        return a @ b.T

    with pytest.raises(
        be.DataError, match="`metric` is a function.*`kind=.distance.` or `kind=.similarity"
    ):
        be.Scores.from_embeddings(x, who, metric=product)
    scores = be.Scores.from_embeddings(x, who, metric=product, kind="similarity")
    assert scores.kind == "similarity"
    streamed = streaming(x, who, metric=product, kind="llr")
    assert streamed.streams and streamed.kind == "llr"
    with pytest.raises(be.DataError, match="metric 'l2' gives distances"):
        be.Scores.from_embeddings(x, who, metric="l2", kind="similarity")


@pytest.mark.parametrize("metric", ["cosine", "l2"])
def test_distances_are_the_same_on_any_number_of_threads(metric):
    """To the last bit: of 700 features, a library on two threads adds up in another order."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(600, 700)).astype("float32")
    rows = rng.integers(0, 600, 40)
    columns = rng.integers(0, 600, 40)
    found = []
    for threads in {1, min(2, numba.config.NUMBA_NUM_THREADS)}:
        numba.set_num_threads(threads)
        with threadpool_limits(limits=threads):
            source = EmbeddingSource(x, x, metric, "float32")
            whole = source.whole()
            for low, high in ((0, 600), (250, 520), (513, 514), (599, 600), (7, 7)):
                np.testing.assert_array_equal(source[low:high], whole[low:high])
            other = EmbeddingSource(x, x.copy(), metric, "float32")
            parts = source[rows], source.of_rows(rows), source.of_columns(columns)[rows]
        assert (whole == whole.T).all()
        found.append([whole, *parts, other.whole()])
    numba.set_num_threads(1)
    for one, two in zip(found[0], found[-1], strict=True):
        np.testing.assert_array_equal(one, two)
