"""Assertions that compare the results of an evaluation with naive implementations, by task."""

from collections.abc import Iterator, Sequence
from typing import Any

import naive
import numba
import numpy as np
import pytest
import xarray as xr

import bioeval as be


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Count on one thread in the module that imports this: matrices this small gain nothing.

    Threads of a busy machine would wait for each other in every kernel.
    """
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


def assert_same_but_d_prime(found: Any, expected: Any) -> None:
    """Hold one result, or all of an evaluation, to another, to the last bit and with attributes.

    The sums of d' are in another order by tiles than by rows: its last digits may differ. Counted
    attempts may know, in place of the score next to a threshold, a number before this score, except
    at FAR targets.
    """
    if hasattr(expected, "subtree"):
        assert [x.path for x in found.subtree] == [x.path for x in expected.subtree]
        for node in expected.subtree:
            assert_same_but_d_prime(found[node.path].to_dataset(), node.to_dataset())
        return
    after = [x for x in expected.data_vars if str(x).endswith("_next")]
    first, second = (x.drop_vars(["d_prime", *after], errors="ignore") for x in (found, expected))
    for name in after:
        base, sign = str(name).removesuffix("_next"), 1 if expected.kind == "distance" else -1
        threshold, actual, exact = (
            sign * x.values for x in (found[base], found[name], expected[name])
        )
        if base in ("threshold_at_far", "zero_far_threshold"):
            np.testing.assert_array_equal(actual, exact, str(name))
        decided = np.isnan(threshold) | (threshold == np.inf)
        assert (decided | np.isnan(actual) | (threshold < actual) & (actual <= exact)).all(), name
    if not first.identical(second):
        xr.testing.assert_identical(first, second)
    if "d_prime" in expected:
        np.testing.assert_allclose(found.d_prime, expected.d_prime, rtol=1e-12)


def floats(values: Any) -> np.ndarray:
    """Return counts and fractions, nested in lists, as float64."""
    if isinstance(values, list):
        return np.array([floats(x) for x in values])
    return np.float64(float(values))


def assert_verification(ds: Any, genuine: Sequence, impostor: Sequence, kind: str) -> None:
    """Hold counts, rates and attempts at the dataset's own thresholds to their definition."""
    thresholds = ds.threshold.values
    found = naive.verification_counts(genuine, impostor, thresholds, kind)
    counts = dict(zip(("ga", "fr", "fa", "gr"), found, strict=True))
    attempts = [ds.genuine_attempts.item(), ds.impostor_attempts.item()]
    assert attempts == [len(genuine), len(impostor)]
    for name, expected in counts.items():
        assert ds[name].dtype == np.int64
        np.testing.assert_array_equal(ds[name], expected, err_msg=name)
    for rate, name, attempts in (
        ("gar", "ga", genuine), ("frr", "fr", genuine), ("far", "fa", impostor),
        ("grr", "gr", impostor),
    ):  # fmt: skip
        expected = [float(naive.rate(count, len(attempts))) for count in counts[name]]
        np.testing.assert_allclose(ds[rate], expected, rtol=0, atol=1e-15, err_msg=rate)


def assert_open_set(ds: Any, expected: Any) -> None:
    """Hold an open-set result to its naive implementation, at the same thresholds and ranks."""
    for name in ("genuine_attempts", "impostor_attempts", "tied"):
        assert ds[name].item() == getattr(expected, name), name
    for name in ("di", "dir", "frr", "fa", "gr", "far", "grr", "ttr", "ttr_identity", "ftr"):
        np.testing.assert_allclose(
            ds[name], floats(getattr(expected, name)), rtol=0, atol=1e-12, err_msg=name
        )


def assert_closed_set(ds: Any, expected: Any) -> None:
    """Hold a closed-set result to its naive implementation, at the same ranks."""
    for name in ("attempts", "skipped", "tied"):
        assert ds[name].item() == getattr(expected, name), name
    for name in ("cms_count", "cms"):
        np.testing.assert_allclose(
            ds[name], floats(getattr(expected, name)), rtol=0, atol=1e-12, err_msg=name
        )


def assert_all_tasks(scores: be.Scores, thresholds: Sequence[float], **case: Any) -> None:
    """Compare every task with its naive implementation on the same data (`case`)."""
    as_float64 = np.asarray(thresholds, dtype=np.float64)
    kind = case.get("kind", "distance")
    for templates in ("single", "multi"):
        attempts = naive.attempts_single if templates == "single" else naive.attempts_multi
        ds = be.verification(scores, templates=templates, thresholds=as_float64)
        np.testing.assert_array_equal(ds.threshold, as_float64)
        assert_verification(ds, *attempts(**case), kind)
    assert_open_set(
        be.open_set(scores, thresholds=as_float64, max_rank=9, ties="stable"),
        naive.open_set(**case, thresholds=as_float64, max_rank=9, ties="stable"),
    )
    for unit, ties in (("template", "pessimistic"), ("subject", "stable")):
        options = {"ties": ties, "unmated": "skip", "max_rank": 9}
        assert_closed_set(
            be.closed_set(scores, rank_unit=unit, **options),
            naive.closed_set(**case, unit=unit, **options),
        )
