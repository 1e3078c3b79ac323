"""Kernels of few numbers, by NumPy: compiling a loop, or loading it, takes longer than its work."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

FEW = 1 << 18  # numbers: the cells of a matrix of 512 x 512
CALLS = 40  # of a kernel: together NumPy takes about as long as loading it


def by_numpy(twin: Callable[..., Any], numbers: Callable[..., int]) -> Callable[[Any], Any]:
    """Let a NumPy function with the same results work for a kernel that is not at hand.

    It works where there are few `numbers`, of the arguments of a call, until the kernel is
    compiled, or has been called so often that this pays.
    """
    return lambda kernel: FewByNumpy(kernel, twin, numbers)


class FewByNumpy:
    """A kernel, and the NumPy function that works for it on few numbers.

    Attributes
    ----------
    kernel : the compiled function
    twin : the same in NumPy
    numbers : how many numbers the arguments of a call hold
    calls : how often the twin has worked
    """

    def __init__(self, kernel: Any, twin: Callable[..., Any], numbers: Callable[..., int]):
        functools.update_wrapper(self, kernel)
        self.kernel, self.twin, self.numbers, self.calls = kernel, twin, numbers, 0
        self._compiled = getattr(kernel, "loop", kernel)

    def __call__(self, *args: Any) -> Any:
        """Count by whichever is faster; the results are the same to the last bit."""
        at_hand = getattr(self._compiled, "signatures", True)  # none where numba is switched off
        if not at_hand and self.calls < CALLS and self.numbers(*args) <= FEW:
            self.calls += 1
            return self.twin(*args)
        return self.kernel(*args)
