"""Public calls from several threads of a user give, to the last bit, what they give alone."""

import threading
from concurrent.futures import ThreadPoolExecutor

import every_result
import numpy as np
import pytest
import xarray as xr

import bioeval as be

THREADS = 8
NAMES = ("verification, drawn", "verification, mean", "open set", "closed set", "market1501",
         "compare", "folds", "groups")  # fmt: skip
CALLS = {name: every_result.CALLS[name] for name in NAMES}
EMBEDDED = [be.simulate_embeddings(12, 4, random_state=seed) for seed in (1, 2)]
for system, call in ((x, y) for x in EMBEDDED for y in (be.verification, be.closed_set)):
    name = f"{call.__name__} of embeddings {EMBEDDED.index(system)}"
    CALLS[name] = lambda system=system, call=call: call(system.scores("l2"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bioeval.BioevalWarning")
@pytest.mark.parametrize("shared", [True, False], ids=["same scores", "different scores"])
def test_calls_from_threads_are_those_of_one_after_another(shared, monkeypatch):
    """All calls run twice at once, side by side, each thread in its own order."""
    if not shared:  # each call makes its own
        for make in ("square", "searches", "streets"):
            monkeypatch.setattr(every_result, make, getattr(every_result, make).__wrapped__)
    expected = {name: call() for name, call in CALLS.items()}
    jobs = np.random.default_rng(0).permutation([*CALLS] * 2)
    begin = threading.Barrier(THREADS)

    def run(names: np.ndarray) -> list[tuple[str, xr.Dataset]]:
        begin.wait(60)
        return [(name, CALLS[name]()) for name in names.tolist()]

    with ThreadPoolExecutor(THREADS) as pool:
        parts = [*pool.map(run, np.array_split(jobs, THREADS))]
    results = [x for part in parts for x in part]
    assert len(results) == 2 * len(CALLS)
    for name, result in results:
        assert result.identical(expected[name]), name
