"""Read a matrix at the speed of the memory: what every count is measured against."""

from __future__ import annotations

from numba import njit, prange


@njit
def largest_of(words):
    """Return the largest of a row of words."""
    found = words[0]
    for j in range(len(words)):
        found = max(found, words[j])
    return found


@njit(parallel=True, cache=True)
def read_rows(words, largest):
    """Write the largest word of each row.

    Parameters
    ----------
    words : int32 or int64 array, shape (m, n)
        The bits of the values. The largest of integers vectorises with several accumulators;
        that of floats does not, because of NaN.
    largest : int64 array, shape (m,), written
    """
    for i in prange(words.shape[0]):
        largest[i] = largest_of(words[i])
