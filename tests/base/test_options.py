"""Options of all calls: set, within contexts, restored."""

import numba
import pytest

import bioeval as be
from bioeval.base.options import OPTIONS, threads_for_parts
from bioeval.scores.rows import threads_for

SCORES = be.simulate(20, 4, random_state=1)


def test_contexts_are_nested_and_restored():
    before = dict(OPTIONS)
    with be.set_options(threads=2, memory_limit="2 GiB"):
        assert (OPTIONS["threads"], OPTIONS["memory_limit"]) == (2, 2 << 30)
        with be.set_options(threads=1):
            assert (OPTIONS["threads"], OPTIONS["memory_limit"]) == (1, 2 << 30)
        assert OPTIONS["threads"] == 2
        with be.set_options(threads=None):
            assert OPTIONS["threads"] is None
    assert before == OPTIONS
    with pytest.raises(ZeroDivisionError), be.set_options(threads=1, progress=False):
        raise ZeroDivisionError
    assert before == OPTIONS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"thread": 1}, "no option 'thread'; expected one of threads, memory_limit, progress"),
        ({"threads": 0}, "threads"),
        *(
            ({"memory_limit": x}, "memory_limit")
            for x in ("", "GiB", "2 apples", "-1", 0, 1.5, True, "1e9")
        ),
        ({"progress": 3}, "progress"),
        ({"threads": 1, "memory_limit": -1}, "memory_limit"),
    ],
)
def test_wrong_options_change_nothing(options, message):
    before = dict(OPTIONS)
    with pytest.raises(be.DataError, match=message):
        be.set_options(**options)
    assert before == OPTIONS


def test_only_the_outer_call_reports_its_rows():
    reports: list[tuple[int, int]] = []
    with be.set_options(progress=lambda *rows: reports.append(rows)):
        be.check_data(SCORES)
    assert reports[-1] == (80, 80)


def test_no_more_threads_count():
    large = be.simulate(130, 4, random_state=1)
    with be.set_options(threads=1), threads_for(large):
        assert threads_for_parts(4) == 1
    with be.set_options(threads=10**6), threads_for(large):
        assert threads_for_parts(10**6) <= numba.config.NUMBA_NUM_THREADS
    single_threaded, several = be.evaluate(SCORES), None
    with be.set_options(threads=1):
        several = be.evaluate(SCORES)
    assert single_threaded.identical(several)
