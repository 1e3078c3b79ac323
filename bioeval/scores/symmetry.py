"""Whether scores are symmetric: a comparison has the same score in both orders of its templates."""

from __future__ import annotations

import functools

import numpy as np

from bioeval.scores.excluded import left_out_rows
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people
from bioeval.scores.row_memory import give_back, mapped_pages

#: Templates whose comparisons with each other are read: few, since a stored matrix is read by
#: whole rows.
SYMMETRY_SAMPLE = 64

# Pairs of a list that are read together.
_PAIRS_AT_ONCE = 1 << 20


def is_symmetric(scores: Scores) -> bool:
    """Whether a square matrix seems symmetric, judged by sampled templates, or a list of pairs.

    A list is symmetric if each two subjects have the same scores in both orders. Only the rules of
    support use it: in symmetric scores each pair of templates is counted twice, so that only half
    of the attempts are independent.
    """
    template_count = scores.shape[0]
    if scores.layout == "pairs":
        return knows_people(scores) and _listed_both_ways(scores)
    if template_count < 2:
        return False
    if not np.array_equal(scores.probe_ids, scores.gallery_ids):
        return False
    # The sampled rows of a stored matrix are in its first chunk, or in the few first chunks.
    cells = scores.cells
    sample = sampled_numbers(
        min(template_count, max(cells.row_chunk, SYMMETRY_SAMPLE))
        if cells.is_stored
        else template_count
    )
    if scores.exclude or cells.mask is not None:
        left_out = left_out_rows(scores.select(probes=sample, gallery=sample), 0, len(sample))
        if left_out is not None and (left_out != left_out.T).any():
            return False  # the matrix compares each pair once, or some pairs
    source = cells.embeddings
    if source is not None:
        return not callable(source.metric)  # the named metrics are symmetric
    sampled_cells = cells.select(sample, sample)
    rows = []
    step = len(sample) if mapped_pages(scores) is None else 1
    for k in range(0, len(sample), step):
        rows.append(sampled_cells.read(k, k + step))
        give_back(scores)
    values = np.concatenate(rows)
    return np.array_equal(values, values.T, equal_nan=True)


def _listed_both_ways(scores: Scores) -> bool:
    """Whether each two subjects have the same scores in both orders, in any order of the list.

    The scores of two subjects, unordered, become keys; the keys of the pairs in one order of the
    subjects have the same sum as the keys in the other order.
    """
    codes = scores.codes
    people = np.uint64(len(scores.codes.values))
    sums = np.zeros(2, dtype=np.uint64)  # modulo 2^64, of the pairs in either order
    for low in range(0, len(codes.probe), _PAIRS_AT_ONCE):
        piece = slice(low, low + _PAIRS_AT_ONCE)
        probe = codes.probe[piece].astype(np.uint64)
        enrolled = codes.gallery[piece].astype(np.uint64)
        value = np.asarray(scores.values[piece], dtype=np.float64) + 0.0  # -0.0 becomes 0.0
        bits = np.where(np.isnan(value), np.nan, value).view(np.uint64)
        subjects = np.minimum(probe, enrolled) * people + np.maximum(probe, enrolled)
        key = mixed_bits(mixed_bits(subjects) ^ bits)
        sums += [
            key[probe < enrolled].sum(dtype=np.uint64),
            key[probe > enrolled].sum(dtype=np.uint64),
        ]
    return bool(sums[0] == sums[1] and sums[0])


def mixed_bits(keys: np.ndarray) -> np.ndarray:
    """Return hashes of numbers, uint64: the finaliser of SplitMix64."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


@functools.lru_cache
def sampled_numbers(limit: int) -> np.ndarray:
    """Return at most `SYMMETRY_SAMPLE` numbers below a limit, drawn at random, in order."""
    sample = np.random.default_rng(0).choice(limit, min(limit, SYMMETRY_SAMPLE), replace=False)
    return np.sort(sample)
