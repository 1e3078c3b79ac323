"""Public calls from several threads of a user give, to the last bit, what they give alone."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import xarray as xr

import bioeval as be

THREADS = 8


def square(seed: int) -> be.Scores:
    return be.simulate(12, 3, random_state=seed)


def crowd(seed: int) -> be.Scores:
    return be.simulate_embeddings(12, 4, random_state=seed).scores("l2")


def street(seed: int) -> be.Scores:
    """Queries of one camera against images of two."""
    rng = np.random.default_rng(seed)
    queries, gallery = np.arange(8), np.repeat(np.arange(8), 3)
    return be.Scores(
        rng.random((8, 24)) - 0.2 * (queries[:, None] == gallery),
        queries,
        gallery,
        probe_meta={"camera": np.zeros(8, dtype=int)},
        gallery_meta={"camera": np.tile([0, 1, 1], 8)},
    )


#: A call of one or two systems, and what makes a system of a seed.
CALLS: dict[str, tuple[Callable[[int], be.Scores], Callable[..., xr.Dataset]]] = {
    "verification": (
        square,
        lambda a, b: be.verification(
            a, interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
        ),
    ),
    "multi-template": (square, lambda a, b: be.verification(a, templates="multi")),
    "open set": (square, lambda a, b: be.open_set(a)),
    "closed set": (square, lambda a, b: be.closed_set(a, interval="wilson")),
    "re-identification": (street, lambda a, b: be.reid(a, per_query=True)),
    "comparison": (square, lambda a, b: be.compare(a, b)),
    "embeddings": (crowd, lambda a, b: be.verification(a)),
    "searches of embeddings": (crowd, lambda a, b: be.closed_set(a)),
}


@pytest.mark.slow
@pytest.mark.parametrize("shared", [True, False], ids=["same scores", "different scores"])
def test_calls_from_threads_are_those_of_one_after_another(shared):
    """All calls run twice at once, side by side, each thread in its own order."""
    jobs, expected = [], []
    for make, call in CALLS.values():
        systems = make(1), make(2)
        expected += [call(*systems), call(*reversed(systems))]
        for _ in range(2):
            first, second = systems if shared else (make(1), make(2))
            jobs += [(call, first, second), (call, second, first)]
    order = np.random.default_rng(0).permutation(len(jobs))
    begin = threading.Barrier(THREADS)

    def run(places: np.ndarray) -> dict[int, xr.Dataset]:
        begin.wait(60)
        results = {}
        for place in places.tolist():
            call, *systems = jobs[place]
            results[place] = call(*systems)
        return results

    results: dict[int, xr.Dataset] = {}
    with ThreadPoolExecutor(THREADS) as pool:
        for part in pool.map(run, np.array_split(order, THREADS)):
            results |= part
    names = np.repeat(list(CALLS), 4)
    for place, result in results.items():
        alone = expected[place // 4 * 2 + place % 2]
        assert result.identical(alone), names[place]
    assert len(results) == 4 * len(CALLS)
