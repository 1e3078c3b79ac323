"""How to run: threads, memory, progress, and the cluster of all calls (:class:`set_options`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bioeval.base.arguments import require_callable, require_integer
from bioeval.base.errors import DataError, received
from bioeval.base.memory import require_bytes

#: The options in use.
OPTIONS: dict[str, Any] = {
    "threads": None,
    "memory_limit": None,
    "progress": None,
    "client": None,
}


def _progress_function(value: Any) -> Callable[[int, int], object] | bool | None:
    if value is False or value is None:
        return value
    return require_callable("progress", value)


def _threads(value: Any) -> int | None:
    return None if value is None else require_integer("threads", value, low=1)


def _memory_limit(value: Any) -> int | None:
    return None if value is None else require_bytes("memory_limit", value)


def _client(value: Any) -> Any:
    if value is None or all(callable(getattr(value, x, None)) for x in ("submit", "scatter")):
        return value
    raise DataError(f"`client` is {received(value)}; expected a dask.distributed.Client")


_CHECKED = {
    "threads": _threads,
    "memory_limit": _memory_limit,
    "progress": _progress_function,
    "client": _client,
}


class set_options:  # noqa: N801 (a call, as users see it)
    """Set how all calls run, from now on or within a context.

    Parameters
    ----------
    threads : int, optional
        The largest number of threads that count. By default, all that numba uses.
    memory_limit : int or str, optional
        The most memory that reading and counting take, besides the data that are in memory
        already: bytes, or text such as ``"2 GiB"``. A matrix of embeddings that is larger is
        computed block by block. Scores keep the limit under which they were made or read; the
        results are the same. An error says how much would do where the limit is too small. By
        default, matrices up to 1 GiB are made.
    progress : callable or False, optional
        Called as ``progress(rows_done, rows)`` while a call counts. By default, a notebook shows
        the progress below the cell, and nothing else does; with False, no notebook does either.
    client : dask.distributed.Client, optional
        A cluster whose workers count the scores of a large matrix, or of embeddings (it needs the
        extra ``cluster``); the results are the same. They open the file of scores that
        are read from HDF5 or .npy, under the same path. By default, all is counted here.

    Raises
    ------
    DataError
        If an option has no such name, or a value that it cannot have.

    Examples
    --------
    For all calls that follow:

    >>> import bioeval as be
    >>> options = be.set_options(memory_limit="2 GiB")

    Within a context; the options before are restored at its end:

    >>> scores, done = be.simulate(20, 4, random_state=1), []
    >>> with be.set_options(threads=1, progress=lambda rows, all_rows: done.append(rows)):
    ...     ds = be.verification(scores)
    >>> done[-1]
    80
    """

    def __init__(self, **options: Any) -> None:
        """Check the options, and set them."""
        checked = {}
        for name, value in options.items():
            if name not in _CHECKED:
                expected = ", ".join(_CHECKED)
                raise DataError(f"there is no option {name!r}; expected one of {expected}")
            checked[name] = _CHECKED[name](value)
        self._before = {name: OPTIONS[name] for name in checked}
        OPTIONS.update(checked)

    def __enter__(self) -> set_options:
        return self

    def __exit__(self, *exception: object) -> None:
        OPTIONS.update(self._before)
