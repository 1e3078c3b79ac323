"""Calls that are timed in turn, so that whatever else the machine does hits all alike.

What runs on one thread is timed by the processor time of the process: on a busy machine a long
call is interrupted, and the short read that it is measured against is not, which would spoil their
ratio. On several threads the clock on the wall decides.
"""

from __future__ import annotations

import importlib
import statistics
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numba
import numpy as np

#: Seconds of each round, by the key of what ran; those on the wall clock by :func:`wall` of it.
Times = dict[str, np.ndarray]

Clock = Callable[[], float]

#: Whether processor time has a fine enough resolution on this system.
_FINE = sys.platform != "win32"


@dataclass(frozen=True)
class Contender:
    """Something to be timed.

    Parameters
    ----------
    key : str
    call : callable
        Runs it once.
    threads : int
    against : str, optional
        The key of what runs just before, each time; its time of a round is the median.
    foreign : bool
        Whether it is another program, which may fail without ending the run.
    processor : bool
        Whether it is timed by processor time on several threads as well.
    """

    key: str
    call: Callable[[], object]
    threads: int = 1
    against: str | None = None
    foreign: bool = False
    processor: bool = False


def interleaved(
    contenders: Sequence[Contender], repeat: int, tell: Callable[[str], None] = lambda _: None
) -> tuple[Times, dict[str, str]]:
    """Time contenders in turn, `repeat` rounds of all of them.

    Each runs once beforehand: kernels are compiled and memory is touched by then.

    Returns
    -------
    times : dict of str to ndarray, shape (repeat,)
    failures : dict of str to str
        Why another program is not among the times.
    """
    failures: dict[str, str] = {}
    ready = []
    for contender in contenders:
        tell(f"warming up: {contender.key}")
        try:
            seconds(contender)
            ready.append(contender)
        except Exception as error:
            if not contender.foreign:
                raise
            failures[contender.key] = f"failed: {type(error).__name__}: {error}"
    by_key = {c.key: c for c in ready}
    times: dict[str, list[float]] = defaultdict(list)
    for number in range(repeat):
        samples: dict[str, list[float]] = defaultdict(list)
        for contender in ready:
            tell(f"round {number + 1} of {repeat}: {contender.key}")
            for one in filter(None, [by_key.get(contender.against or ""), contender]):
                taken, on_the_wall = seconds(one)
                samples[one.key].append(taken)
                samples[wall(one.key)].append(on_the_wall)
        for key, found in samples.items():
            times[key].append(statistics.median(found))
    return {key: np.array(found) for key, found in times.items()}, failures


def clock_of(threads: int) -> Clock:
    """Return the clock for a number of threads."""
    return time.process_time if threads == 1 and _FINE else time.perf_counter


def wall(key: str) -> str:
    """Return the key of the same times by the clock on the wall."""
    return f"{key}, wall"


def seconds(contender: Contender) -> tuple[float, float]:
    """Run a contender once on its threads; return how long that took, and by the wall clock."""
    clock = clock_of(1 if contender.processor else contender.threads)
    with limited(contender.threads), warnings.catch_warnings():
        if contender.foreign:
            warnings.simplefilter("ignore")
        start, start_of_wall = clock(), time.perf_counter()
        contender.call()
        return clock() - start, time.perf_counter() - start_of_wall


@contextmanager
def limited(threads: int) -> Iterator[None]:
    """Limit the kernels and the matrix products of the block to a number of threads."""
    before = numba.get_num_threads()
    numba.set_num_threads(threads)
    pools = importlib.import_module("threadpoolctl")  # scikit-learn brings it
    try:
        with pools.threadpool_limits(limits=threads):
            numba.set_num_threads(threads)  # the limits reach numba's own pool too
            yield
    finally:
        numba.set_num_threads(before)


def most_threads() -> int:
    """Return how many threads the kernels can have."""
    return int(getattr(numba.config, "NUMBA_NUM_THREADS", 1))


def quartiles(values: np.ndarray) -> tuple[float, float, float]:
    """Return the lower quartile, the median and the upper quartile."""
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return float(low), float(middle), float(high)
