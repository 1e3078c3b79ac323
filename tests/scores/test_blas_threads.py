"""The threads of linear algebra, while evaluations of embeddings run side by side."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import bioeval as be
from bioeval.scores import embeddings
from bioeval.scores.embeddings import on_all_threads

#: The numbers of one evaluation, and whether there are as many threads after it.
BY_DEFAULT = """
from threadpoolctl import threadpool_info
import numpy as np
import bioeval as be

{numbers}

def threads():
    return [x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas"]

numbers(6)  # which loads the libraries
before = threads()
print(numbers(240))
print(before == threads())
"""


def numbers(rows):
    x = np.random.default_rng(0).normal(size=(rows, 64))
    scores = be.Scores.from_embeddings(x, np.arange(rows) // 3, metric="l2")
    ds = be.verification(scores, thresholds=[10, 11, 12])
    return [*ds.ga.values.tolist(), *ds.fa.values.tolist(), ds.eer_threshold.item().hex()]


def threads() -> set[int]:
    return {x["num_threads"] for x in threadpool_info() if x["user_api"] == "blas"}


@pytest.mark.slow
def test_an_evaluation_with_the_default_threads_has_the_same_numbers():
    """To the last bit: each product is on one thread, and threads share the rows."""
    clean = {name: x for name, x in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", BY_DEFAULT.format(numbers=inspect.getsource(numbers))],
        env=clean,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert not done.returncode, done.stderr
    with threadpool_limits(limits=1, user_api="blas"):
        assert done.stdout == f"{numbers(240)}\nTrue\n"


def test_the_limit_holds_until_the_last_call_ends():
    """The first call that has begun ends first, while the other one goes on."""
    embeddings._libraries.cache_clear()  # others may have been loaded since it was filled
    begun = threading.Barrier(2)
    first_has_ended = threading.Event()
    seen = []

    def first(turns):
        begun.wait(30)

    def other(turns):
        begun.wait(30)
        seen.append(threads())
        assert first_has_ended.wait(30)
        seen.append(threads())

    with threadpool_limits(limits=3, user_api="blas"):
        before = threads()
        if not before - {1}:  # of a library that threadpoolctl does not know, none are seen
            pytest.skip("no threads of linear algebra can be limited here")
        with ThreadPoolExecutor(2) as pool:
            one = pool.submit(on_all_threads, first, 1)
            two = pool.submit(on_all_threads, other, 1)
            one.result(30)
            first_has_ended.set()
            two.result(30)
        assert seen == [{1}, {1}]
        assert threads() == before


def test_a_call_that_fails_brings_the_threads_back():
    def work(turns):
        raise ZeroDivisionError

    with threadpool_limits(limits=3, user_api="blas"):
        before = threads()
        with pytest.raises(ZeroDivisionError):
            on_all_threads(work, 1)
        assert threads() == before
