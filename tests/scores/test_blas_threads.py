"""The threads of linear algebra, while evaluations of embeddings run side by side."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from bioeval.scores import embeddings
from bioeval.scores.embeddings import on_all_threads


def threads() -> set[int]:
    """Return the numbers of threads of libraries that have one number for the whole process.

    Others, as the OpenBLAS that comes with faiss, have a number for each thread that calls them.
    """
    return {x["num_threads"] for x in threadpool_info() if x.get("threading_layer") == "pthreads"}


def test_the_limit_holds_until_the_last_call_ends():
    """The first call that has begun ends first, while the other one goes on."""
    embeddings._libraries.cache_clear()  # others may have been loaded since it was filled
    begun = threading.Barrier(2)
    first_has_ended = threading.Event()
    threads_seen = []

    def first(turns):
        begun.wait(30)

    def second(turns):
        begun.wait(30)
        threads_seen.append(threads())
        assert first_has_ended.wait(30)
        threads_seen.append(threads())

    with threadpool_limits(limits=3, user_api="blas"):
        before = threads()
        if not before - {1}:  # a library that threadpoolctl does not know, or OpenMP
            pytest.skip("no threads of linear algebra can be limited here")
        with ThreadPoolExecutor(2) as pool:
            first_job = pool.submit(on_all_threads, first, 1)
            two = pool.submit(on_all_threads, second, 1)
            first_job.result(30)
            first_has_ended.set()
            two.result(30)
        assert threads_seen == [{1}, {1}]
        assert threads() == before


def test_a_call_that_fails_brings_the_threads_back():
    def work(turns):
        raise ZeroDivisionError

    with threadpool_limits(limits=3, user_api="blas"):
        before = threads()
        with pytest.raises(ZeroDivisionError):
            on_all_threads(work, 1)
        assert threads() == before
