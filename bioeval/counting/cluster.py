"""Scores that are counted by the workers of a cluster: the counts are the same, to the last bit.

No other file knows of the workers. The workers get the scores once, and count parts; their counts
are added as they arrive. Values in an HDF5 file or a mapped file are not sent: each worker opens
the file.
"""

from __future__ import annotations

import functools
import io
import mmap
import operator
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, TypeVar

import cloudpickle
import numpy as np
from distributed import CancelledError, KilledWorker
from distributed.comm import CommClosedError

from bioeval.base.errors import DataError
from bioeval.base.options import at_most
from bioeval.base.progress import report_rows
from bioeval.base.version import __version__
from bioeval.counting.parts import Parts, RowParts, show_blocks
from bioeval.counting.tiles import TileParts
from bioeval.scores.blocks import Mates

R = TypeVar("R")

# Parts for each thread of a worker: several, since some workers may be slower than others.
PARTS = 4

WAIT = 30  # seconds, for the first worker
PAUSE = 2  # seconds, before scores that workers have lost are sent again
MOST_SENT = 4  # how often scores are sent


class Workers:
    """The workers of a client, which get scores once, and then count parts of them."""

    def __init__(self, client: Any, parts: RowParts | TileParts):
        self.client = client
        self.parts = parts
        self.scores_at_workers = None
        if isinstance(parts, TileParts):
            self.sent = Sent((parts.scores, parts.source, parts.fused), TileParts)
        else:
            self.sent = Sent((parts.scores, parts.grouped, parts.step), RowParts)

    def count_blocks(self, reducers: Sequence[Any]) -> list[Any]:
        """Show all blocks to copies of the reducers, and return the merged copies."""
        return self.ask(functools.partial(_count_part, reducers=reducers), _joined)

    def mates(self) -> Mates:
        """Return the genuine attempts of all rows."""
        assert isinstance(self.parts, RowParts)
        return self.parts.mates_of(self.ask(RowParts.mates_in, operator.add))

    def ask(self, question: Callable[[Any, range], R], join: Callable[[R, R], R]) -> R:
        """Ask about all parts, and join the answers in order.

        If workers that have the scores end, the scores are sent again, and all parts are counted
        anew.
        """
        for _ in range(MOST_SENT):
            try:
                client = self.client
                scores_at_workers, question_at_workers = self._send(question)
                parts = self.parts.parts(PARTS * max(1, sum(client.nthreads().values())))
                futures = [
                    client.submit(_answer, scores_at_workers, question_at_workers, part, pure=False)
                    for part in parts
                ]
                rows = self.parts.scores.shape[0]
                answers = list[R]()
                try:
                    for part, future in zip(parts, futures, strict=True):
                        answer = future.result()
                        future.release()
                        answers = [join(answers[0], answer) if answers else answer]
                        report_rows(rows * part.stop // parts[-1].stop, rows)
                except BaseException:
                    client.cancel(futures)
                    raise
                return answers[0]
            except (CancelledError, CommClosedError):
                self.scores_at_workers = None
                time.sleep(PAUSE)
            except KilledWorker as error:
                raise DataError(
                    f"workers of the cluster ended while they counted ({error}): expected ones "
                    "that have enough memory"
                ) from error
        raise DataError(f"the workers of the cluster have lost the scores {MOST_SENT} times")

    def _send(self, question: Callable[[Any, range], Any]) -> tuple[Any, Any]:
        """Send a question, and the scores unless the workers have them; return both futures."""
        client = self.client
        if client.status == "closed":
            raise DataError("`client` is closed: expected one that runs, or None")
        try:
            client.wait_for_workers(1, timeout=WAIT)
            if self.scores_at_workers is None:
                self.scores_at_workers = client.scatter(self.sent, hash=False, broadcast=True)
            return self.scores_at_workers, client.scatter(question, hash=False, broadcast=True)
        except TimeoutError as error:
            text = f" has no worker, after {WAIT} seconds: expected at least one"
            raise DataError(f"`client`{text}") from error


def _count_part(parts: Parts, part: range, *, reducers: Sequence[Any]) -> list[Any]:
    return functools.reduce(_joined, show_blocks(parts, reducers, part))


def _joined(total: list[Any], counts: list[Any]) -> list[Any]:
    for reducer, counted in zip(total, counts, strict=True):
        reducer.merge(counted)
    return total


class Sent:
    """An object as it is sent to workers; each makes it from its `arguments` when first asked."""

    def __init__(self, arguments: tuple[Any, ...], make: Callable[..., Any]):
        buffers: list[Any] = []
        file = io.BytesIO()
        pickler = _Pickler(file, protocol=5, buffer_callback=buffers.append)
        pickler.dump((__version__, arguments, make))
        self.pickled = file.getvalue()
        self.buffers = buffers

    def __getstate__(self) -> dict[str, Any]:
        return {"pickled": self.pickled, "buffers": self.buffers}

    @cached_property
    def received(self) -> Any:
        """The object, made from the pickled arguments on the worker."""
        try:
            version, arguments, make = cloudpickle.loads(self.pickled, buffers=self.buffers)
        # Libraries raise these where there is no file.
        except (OSError, KeyError, ValueError) as error:
            raise DataError(
                f"a worker of the cluster cannot read the scores ({error}); expected their file "
                "under the same path on all workers, or an array in memory"
            ) from error
        if version != __version__:
            raise DataError(
                f"a worker of the cluster has bioeval {__version__}, and the scores are sent by "
                f"{version}; expected one version"
            )
        return make(*arguments)


def _answer(sent: Sent, question: Callable[[Any, range], Any], part: range) -> Any:
    with at_most(1):  # other parts are counted on the other threads of the worker
        return question(sent.received, part)


class _Pickler(cloudpickle.Pickler):
    """Pickles an array in a mapped file as its place in the file."""

    def reducer_override(self, value: Any) -> Any:
        place = _place_in_file(value) if isinstance(value, np.ndarray) else None
        return super().reducer_override(value) if place is None else (_mapped, place)


def _place_in_file(array: np.ndarray) -> tuple[Any, ...] | None:
    """Return where the values of an array are in a mapped file; None for an array in memory."""
    base: Any = array
    while not isinstance(pages := getattr(base, "_mmap", None), mmap.mmap):
        if not isinstance(base, np.ndarray):
            return None
        base = base.base
    if base.filename is None or base.mode == "c" or not array.size or min(array.strides) < 0:
        return None  # workers would not see private changes of the values
    if base.mode != "r":
        pages.flush()
    low, high = np.lib.array_utils.byte_bounds(array)
    start = base.offset - base.offset % mmap.ALLOCATIONGRANULARITY
    start += low - np.frombuffer(pages, np.uint8).ctypes.data
    return str(base.filename), start, high - low, array.dtype, array.shape, array.strides


def _mapped(
    file: str, start: int, size: int, dtype: np.dtype, shape: tuple[int, ...], strides: tuple
) -> np.ndarray:
    values = np.memmap(file, np.uint8, "r", start, (size,))
    return np.ndarray(shape, dtype, values, 0, strides)
