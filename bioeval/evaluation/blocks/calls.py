"""Public calls that may run on a cluster, and keep a checkpoint."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from bioeval.base.executors import computed_by

P = ParamSpec("P")
R = TypeVar("R")


def distributable(function: Callable[P, R]) -> Callable[P, R]:
    """Let a public function with `client` and `checkpoint` run on a cluster and keep its counts."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, distributed or kept if so given."""
        client, checkpoint = kwargs.get("client"), kwargs.get("checkpoint")
        if client is None and checkpoint is None:
            return function(*args, **kwargs)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        from bioeval.evaluation.blocks.executor import executor_of_call

        executor = executor_of_call(client, checkpoint, function.__name__, bound.arguments)
        try:
            with computed_by(executor):
                return function(*args, **kwargs)
        finally:
            executor.close()

    return call
