"""Arrays of other libraries, by classes with the methods that those libraries' arrays have."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from named_arguments import refused
from scipy import sparse

import bioeval as be

X = np.array([[0.0, 1.0], [0.5, 1.0], [1.0, 0.25], [1.0, 0.0]], dtype=np.float32)
WHO = ["ann", "ann", "bob", "bob"]


class Tensor:
    """A tensor as that of PyTorch; `bits` of bfloat16 are the upper half of those of float32."""

    __module__ = "torch"

    def __init__(self, values, dtype=None, device="cpu", gradient=False, log=None, **more):
        self.values = np.asarray(values)
        self.dtype = dtype or f"torch.{self.values.dtype}"
        self.device = SimpleNamespace(type=device)
        self.shape, self.ndim = self.values.shape, self.values.ndim
        self.gradient, self.log = gradient, log if log is not None else []
        for name, value in more.items():
            setattr(self, name, value)

    def _like(self, values, dtype, device=None, gradient=False):
        device = device or self.device.type
        return Tensor(values, dtype, device, gradient, self.log)

    def __getitem__(self, key):
        return self._like(self.values[key], self.dtype, gradient=self.gradient)

    def detach(self):
        return self._like(self.values, self.dtype)

    def cpu(self):
        self.log.append(self.shape)
        return self._like(self.values, self.dtype, "cpu", self.gradient)

    def float(self):
        assert self.dtype == "torch.bfloat16"
        wide = (self.values.astype(np.uint32) << 16).view(np.float32)
        return self._like(wide, "torch.float32", gradient=self.gradient)

    def item(self):
        return self.values.item()

    def __float__(self):
        return float(self.float().values if self.dtype == "torch.bfloat16" else self.values)

    def __array__(self, dtype=None, copy=None):
        if self.gradient or self.device.type != "cpu":
            raise RuntimeError("Can't call numpy() on this tensor")
        if self.dtype == "torch.bfloat16":
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self.values

    def __dlpack__(self, **options):
        raise BufferError("not here")


class WithDLPack:
    """An array of the array API standard: DLPack, and no __array__."""

    def __init__(self, values):
        self.values = np.asarray(values)
        self.shape, self.dtype = self.values.shape, self.values.dtype

    def __array_namespace__(self, **options):
        return np

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class OfCupy:
    """An array of CuPy, which becomes one of NumPy by get() alone."""

    __cuda_array_interface__: dict = {}

    def __init__(self, values):
        self.values = np.asarray(values)
        self.shape, self.dtype = self.values.shape, self.values.dtype

    def get(self):
        return self.values

    def __array__(self, dtype=None, copy=None):
        raise TypeError("Implicit conversion to a NumPy array is not allowed.")


def on_device(values):
    return Tensor(values, device="cuda", gradient=True)


HOLDERS = {
    "gradient": lambda x: Tensor(x, gradient=True),
    "device": on_device,
    "dlpack": WithDLPack,
    "cupy": OfCupy,
    "batches": lambda x: [np.asarray(x)[:3], np.asarray(x)[3:]],
    "batches of tensors": lambda x: [on_device(np.asarray(x)[:3]), on_device(np.asarray(x)[3:])],
}
NOT_BATCHES = [*HOLDERS.values()][:4]


def in_bfloat16(values):
    return Tensor((np.float32(values).view(np.uint32) >> 16).astype(np.uint16), "torch.bfloat16")


@pytest.mark.parametrize("held", HOLDERS.values(), ids=HOLDERS)
def test_every_argument_takes_arrays_of_any_library(held):
    codes = np.array([0, 0, 1, 1])
    camera = np.array([1, 2, 1, 2])
    expected = be.Scores.from_embeddings(X, codes, metric="l2", probe_meta={"camera": camera})
    meta = {"camera": held(camera)}
    scores = be.Scores.from_embeddings(held(X), held(codes), metric="l2", probe_meta=meta)
    np.testing.assert_array_equal(scores.values, expected.values)
    assert scores.probe_labels.tolist() == codes.tolist()
    assert scores.probe_meta["camera"].tolist() == camera.tolist()
    mask = np.where(codes[:, None] == codes, 2, 1)
    mask[0, 1] = 0
    scores = be.Scores(held(expected.values), held(codes), held(codes), mask=held(mask))
    of_codes = be.Scores(expected.values, codes, codes, mask=mask)
    np.testing.assert_array_equal(scores.values, of_codes.values)
    np.testing.assert_array_equal(scores.mask, of_codes.mask)


@pytest.mark.parametrize("held", [*NOT_BATCHES, HOLDERS["batches"]])
def test_pairs_of_any_library(held):
    pairs = be.Scores.from_pairs(held([0.1, 0.8, 0.4, 0.5]), held([1, 0, 1, 0]))
    assert pairs.genuine.tolist() == [True, False, True, False]
    assert pairs.values.tolist() == [0.1, 0.8, 0.4, 0.5]


@pytest.mark.parametrize("held", [*NOT_BATCHES, in_bfloat16])
def test_thresholds_of_any_library(held):
    scores = be.simulate(12, 3, random_state=0)
    expected = be.verification(scores, thresholds=[1.5, 2.5])
    assert be.verification(scores, thresholds=held([1.5, 2.5])).identical(expected)
    if held in (on_device, in_bfloat16, HOLDERS["gradient"]):
        errors = be.zoo(scores, threshold=held(np.asarray(2.0))).errors
        assert errors.identical(be.zoo(scores, threshold=2.0).errors)


def test_labels_of_a_library_are_copies():
    for holder in (WithDLPack, HOLDERS["gradient"]):
        codes = np.array([0, 0, 1, 1])
        scores = be.Scores(np.zeros((4, 4)), holder(codes))
        codes[:] = 7
        assert scores.probe_labels.tolist() == [0, 0, 1, 1]


def test_rows_of_tensors_and_lists_of_labels():
    rows = [on_device(row) for row in X]
    scores = be.Scores.from_embeddings(rows, [["ann", "ann", "bob"], ["bob"]], metric="l2")
    expected = be.Scores.from_embeddings(X, WHO, metric="l2")
    np.testing.assert_array_equal(scores.values, expected.values)
    assert scores.probe_labels.tolist() == WHO
    # Labels of several types stay what they are, and a tuple is a label.
    mixed = be.Scores(np.zeros((3, 3)), [["a", 1], np.array([2])])
    assert mixed.probe_labels.tolist() == ["a", 1, 2]
    tuples = [("a", 1), ("a", 2)]
    assert be.Scores(np.zeros((2, 2)), tuples).probe_labels.tolist() == tuples


@pytest.mark.parametrize("scalar", [np.array, HOLDERS["gradient"], on_device])
def test_lists_of_scalars_are_their_values(scalar):
    """Tensors of no dimension are equal by their place in memory alone."""
    values = np.random.default_rng(0).random((6, 6))
    labels, sessions = [0, 0, 0, 1, 1, 1], [0, 0, 1, 0, 1, 1]

    def scores(of):
        meta = {"session": [*map(of, sessions)]}
        return be.Scores(values, [*map(of, labels)], probe_meta=meta)

    plain, wrapped = scores(int), scores(scalar)
    assert wrapped.subjects.tolist() == [0, 1] and wrapped.fingerprint == plain.fingerprint
    counts = [be.verification(x.excluding("session")).genuine_attempts for x in (plain, wrapped)]
    assert counts[0] == counts[1]
    sides = np.empty((2, 2), dtype=object)
    for place in np.ndindex(2, 2):
        sides[place] = scalar(place == (1, 1))
    pairs = be.Scores.from_pairs([1, 2], [True, False], subjects=sides)
    assert pairs.subjects.tolist() == [False, True]


@given(hnp.arrays(np.uint16, st.tuples(st.integers(1, 9), st.integers(1, 4))))
def test_bfloat16_is_widened_exactly(bits):
    tensor = Tensor(bits, dtype="torch.bfloat16", gradient=True)
    wide = be.Scores(tensor, np.arange(len(bits)), np.arange(bits.shape[1]), nan="exclude").values
    assert wide.dtype == np.float32
    for value, pattern in zip(wide.reshape(-1), bits.reshape(-1), strict=True):
        sign, exponent, fraction = pattern >> 15, (int(pattern) >> 7) & 255, int(pattern) & 127
        if exponent == 255:
            assert not np.isfinite(value)
            continue
        size = fraction * 2.0**-133
        if exponent:
            size = (1 + fraction / 128) * 2.0 ** (exponent - 127)
        assert float(value) == (-size if sign else size)


class Sparse:
    __module__ = "lab"
    layout = "torch.sparse_coo"
    dtype, shape = "torch.float32", (4, 4)

    def to_dense(self):
        raise AssertionError("not called")


class NoMemory(WithDLPack):
    def __dlpack__(self, **options):
        raise BufferError("the memory\nis not here")


def test_what_cannot_be_read_is_one_line():
    failing = Tensor(X, dtype="torch.bfloat16")
    failing.detach = lambda: Tensor(X, dtype="torch.unknown", device="cuda", gradient=True)
    sparse_text = r"of dtype \S+ and shape \(4, 4\) is sparse; give to_dense\(\) of it"
    for array, message in (
        (Sparse(), f"^the scores: the lab.Sparse {sparse_text}$"),
        (sparse.csr_array(np.eye(4)), r"the scipy.csr_\w+ of dtype float64 and shape \(4, 4\) is"),
        (failing, r"torch.Tensor of .* shape \(4, 2\) cannot be read as an"),
        ([X[:2], np.zeros((2, 3))], r"batch 1 has shape \(2, 3\) and batch 0 \(2, 2\)"),
        (NoMemory(X), r"cannot be read as an array \(the memory is not here\)"),
    ):
        with refused(message):
            make = be.Scores if isinstance(array, Sparse) else be.Scores.from_embeddings
            make(array, WHO)
