"""The workers of a cluster, and for how long each has given no sign of life."""

from __future__ import annotations

import contextlib
import logging
import time
from typing import TYPE_CHECKING, Any

from bioeval.base.errors import Argument, EngineError

if TYPE_CHECKING:
    from distributed import Client

# Seconds that count between two looks, at most: a scheduler that did not answer for longer has not
# heard any worker meanwhile.
BETWEEN = 2.0

# Seconds until a scheduler answers, and that a nanny has to end its worker.
ANSWER, ENDING = 30.0, 5.0

_LOG = logging.getLogger("bioeval")


class Heartbeats:
    """The workers of a cluster, as its scheduler has heard them whenever this process looked."""

    def __init__(self, client: Client):
        self.client = client
        #: The threads of each worker, when it was looked last.
        self.threads: dict[str, int] = {}
        self._seen: dict[str, float] = {}
        self._quiet: dict[str, float] = {}
        self._given_up: set[str] = set()
        self._looked = time.monotonic()

    def look(self) -> None:
        """Look which workers there are, and which of them were heard since the last look.

        Raises
        ------
        EngineError
            If the scheduler is lost, or does not answer.
        """
        known = self._workers()
        now = time.monotonic()
        step = min(now - self._looked, BETWEEN)
        self._quiet = {
            address: self._quiet[address] + step
            if self._seen.get(address) == worker["last_seen"]
            else 0.0
            for address, worker in known.items()
        }
        self._seen = {address: worker["last_seen"] for address, worker in known.items()}
        gone = sorted(self.threads.keys() - known.keys() - self._given_up)
        self.threads = {address: worker["nthreads"] for address, worker in known.items()}
        self._looked = now
        if gone:
            _LOG.warning(
                "%s ended: what was under way there is counted again elsewhere; workers left: %d",
                ", ".join(f"worker {address}" for address in gone), len(known),
            )  # fmt: skip

    def silent(self, seconds: float) -> set[str]:
        """Return the workers that were silent for more than so many seconds."""
        return {address for address, quiet in self._quiet.items() if quiet > seconds}

    def give_up(self, seconds: float) -> None:
        """Take workers out of the cluster that were silent for so long while others were heard.

        The scheduler then gives what they did to others, who no longer wait for what they hold. A
        worker that has a nanny is started again.
        """
        silent = self.silent(seconds)
        if not silent or len(silent) == len(self._quiet):
            return
        _LOG.warning(
            "%s gave no sign of life for %d s, and is taken out of the cluster",
            ", ".join(f"worker {address}" for address in sorted(silent)), seconds,
        )  # fmt: skip
        self._given_up |= silent
        scheduler: Any = self.client.scheduler
        with contextlib.suppress(Exception):  # they may go meanwhile; the next look will show
            self.client.sync(
                scheduler.restart_workers, workers=sorted(silent), timeout=ENDING,
                wait_for_workers=False, on_error="return", stimulus_id=f"bioeval-{time.time()}",
            )  # fmt: skip
        self.look()

    def _workers(self) -> dict[str, Any]:
        if self.client.status != "running":
            raise _lost("is lost")
        scheduler: Any = self.client.scheduler
        try:
            try:
                found = self.client.sync(scheduler.identity, n_workers=-1, callback_timeout=ANSWER)
            except TypeError:  # an older scheduler always lists all workers
                found = self.client.sync(scheduler.identity, callback_timeout=ANSWER)
        except Exception as error:  # whatever the connection ends with
            raise _lost("does not answer") from error
        return dict(found["workers"])


def _lost(how: str) -> EngineError:
    return EngineError(
        f"the scheduler of the cluster {how}: the evaluation cannot go on. Start it again "
        f"({Argument('checkpoint')} keeps what is done)"
    )
