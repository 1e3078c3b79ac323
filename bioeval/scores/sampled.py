"""Scores judged by a sample of attempts: their kind, their symmetry, copies of probes.

Genuine attempts are closer than impostor attempts; otherwise the kind or the labels are wrong, and
every number is. So the messages on the kind and on copies are in the results of all calls that
count. Scores are symmetric if a comparison has the same score in both orders of its templates.
"""

from __future__ import annotations

import functools
import math
from typing import Any, Literal, NamedTuple

import numpy as np

from bioeval.base.errors import DataError, Message
from bioeval.base.kinds import LARGER_IS_CLOSER
from bioeval.scores.attempts import left_out_rows
from bioeval.scores.blocks import is_few
from bioeval.scores.cells import Cells
from bioeval.scores.matrix import Scores
from bioeval.scores.people import knows_people, mate_cells
from bioeval.scores.rows import give_back, mapped_pages, read_rows
from bioeval.scores.same import Copies, evenly_spaced, judged_copies, scored_of

_PROBES = 256  # the most probes of a sample
_MATES = 256  # the most columns of their mates
_OTHERS = 64  # the most columns from everywhere

# The most cells that are read if only whole rows can be read.
_CELLS = 1 << 22

# If rows take time, since they are computed or inflated, one row or chunk in this number is read.
_ONE_OF = 16
_CHUNKS = 8  # the most chunks that are read
_LEAST_ROWS = 16  # the rows that are computed in any case

_GENUINE = 1 << 12  # the most genuine attempts of a sample
_IMPOSTOR = 1 << 14  # the most impostor attempts of a sample


class Sampled(NamedTuple):
    """The distances of sampled attempts, without failures."""

    genuine: np.ndarray
    impostor: np.ndarray
    people: int  # the number of people of genuine attempts; of the attempts if people are unknown


def sampled(scores: Scores) -> Sampled | None:
    """Read a sample of attempts; None if the scores cannot be counted."""
    scores = scores._with(nan="exclude")
    try:
        if scores.layout == "pairs":
            genuine = evenly_spaced(np.flatnonzero(scores.genuine), _GENUINE)
            impostor = evenly_spaced(np.flatnonzero(~scores.genuine), _IMPOSTOR)
            probe = scores.codes.probe[genuine] if knows_people(scores) else genuine
            of_genuine, of_impostor = (
                x[~np.isnan(x)]
                for x in (scores.pair_distances(scores.values[i]) for i in (genuine, impostor))
            )
            return Sampled(of_genuine, of_impostor, len(np.unique(probe)))
        sample = _sample_of(scores)
        block = read_rows(sample, slice(0, sample.shape[0]))
    except DataError:  # raised again where all scores are counted
        return None
    give_back(sample)
    attempts = block.genuine()
    impostor_distance = block.impostors().values
    return Sampled(
        evenly_spaced(attempts.distance, _GENUINE),
        evenly_spaced(impostor_distance[~np.isnan(impostor_distance)], _IMPOSTOR),
        len(np.unique(sample.codes.probe[attempts.probe])),
    )


def _sample_of(scores: Scores) -> Scores:
    """Return sampled probes against sampled mates and gallery templates; few scores as they are."""
    if is_few(math.prod(scores.shape)):
        return scores
    cells = scores.cells
    probe_count, gallery_count = scores.shape
    limit = _PROBES
    if cells.embeddings is not None:
        limit = min(limit, max(_LEAST_ROWS, probe_count // _ONE_OF))
    if cells.is_stored or (cells.streams and cells.mask is not None):
        limit = max(1, min(limit, _CELLS // gallery_count))
    rows = evenly_spaced(np.arange(probe_count), limit)
    if cells.is_stored:
        chunk = cells.row_chunk
        chunk_count = min(_CHUNKS, max(1, probe_count // chunk // _ONE_OF))
        first = evenly_spaced(np.arange(0, probe_count, chunk), chunk_count)
        rows = first[:, None] + np.arange(min(chunk, max(1, limit // len(first))))
        rows = rows[rows < probe_count]
    _, mates = mate_cells(scores, rows)
    mates = evenly_spaced(np.unique(mates), _MATES)
    columns = np.union1d(mates, evenly_spaced(np.arange(gallery_count), _OTHERS))
    sample = scores.select(probes=rows, gallery=columns)
    cells = sample.cells
    if cells.embeddings is not None and cells.mask is None:  # no other columns are computed
        values = cells.embeddings.of_rows(cells.rows, cells.columns)
        sample = sample._with(_source=Cells(values))
    return sample


# ---------------------------------------------------------------------------------- the stated kind


# The least AUC of fused claims whose scores are random. In a square matrix a genuine claim has one
# template less than an impostor claim, since the probe is left out: with 2 templates the nearest of
# 1 is nearer than the nearest of 2 in one third of cases.
_CHANCE_OF_FUSED = 1 / 3

# With n people, the AUC of random scores is below one half by more than this margin, divided by the
# square root of n, with a probability below 0.1 %. (Simulated, with labels that are shuffled.)
_MARGIN = 0.75

# Scores near chance are judged as if there were this number of people at least.
_LEAST_PEOPLE = 16

#: The codes of messages that the labels or the kind of the scores are doubtful, and so all results.
KIND_DOUBTS = ("near-chance", "labels-wrong", "kind-wrong", "kind-or-classes-wrong")


def judge_kind(scores: Scores) -> tuple[Literal["ok", "warning", "error"], Message | None]:
    """Judge the kind by a sample of the attempts; ranks and top-K lists cannot be judged: "ok"."""
    if scores.kind == "order" or scores.layout == "top-k":
        return "ok", None
    sample = sampled(scores)
    if sample is None or not len(sample.genuine) or not len(sample.impostor):
        return "ok", None
    auc = area_under_curve(sample.genuine, sample.impostor)
    # With a metric of bioeval the kind is certain, and only labels can be wrong.
    kind, metric, people = scores.kind, scores.metric, sample.people
    other_kind = "distance" if kind in LARGER_IS_CLOSER else "similarity"
    # Rounded, since the last digits of distances of embeddings depend on how they are read.
    about: dict[str, Any] = {"kind": kind, "auc": round(auc, 4)}
    margin = _MARGIN / math.sqrt(max(2, people))
    if auc < (_CHANCE_OF_FUSED if scores.claims else 0.5) - margin:
        if metric:
            return "error", Message("labels-wrong", **about, metric=metric)
        if not knows_people(scores):  # no labels make the classes, which may be exchanged
            return "error", Message("kind-or-classes-wrong", **about)
        return "error", Message("kind-wrong", **about, other=other_kind)
    if auc >= 0.5 + 1.0 / (2 * math.sqrt(max(_LEAST_PEOPLE, people))):
        return "ok", None
    if metric and auc < 0.5:
        return "warning", Message("labels-wrong", **about, metric=metric)
    return "warning", Message("near-chance", **about, other=other_kind)


def area_under_curve(genuine: np.ndarray, impostor: np.ndarray) -> float:
    """Return the share of pairs of attempts with the genuine one closer; ties count half."""
    genuine = np.sort(genuine)
    closer = genuine.searchsorted(impostor, "left").sum()
    as_close = genuine.searchsorted(impostor, "right").sum()
    return float(closer + as_close) / (2 * len(genuine) * len(impostor))


# ----------------------------------------------------------------------------------------- symmetry


#: Templates whose comparisons with each other are read: few, since a stored matrix is read by
#: whole rows.
SYMMETRY_SAMPLE = 64

# Pairs of a list that are read together.
_PAIRS_AT_ONCE = 1 << 20


def is_symmetric(scores: Scores) -> bool:
    """Whether a square matrix seems symmetric, judged by sampled templates, or a list of pairs.

    In symmetric scores each pair of templates is counted twice: for the rules of support, only half
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
    step = len(sample) if mapped_pages(scores) is None else 1
    rows = []
    for low in range(0, len(sample), step):
        rows.append(sampled_cells.read(low, low + step))
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


# ---------------------------------------------------------------------------- copies in the gallery


def find_copies(scores: Any) -> Copies | None:
    """Return how many probes seem to be gallery templates that are not known by name.

    None if the scores cannot tell. Comparisons that are left out do not count.
    """
    is_judged = scores.are_labelled and not scores.claims
    if scores.layout == "top-k":
        is_judged = is_judged and not scores.lists.own_entries_are_stated
    elif scores.layout == "pairs":
        is_judged = scores.pairs.templates is not None and scores.pairs.people is not None
    return judged_copies(scored_of(scores)) if is_judged else None


def copies_notes(scores: Any) -> list[Message]:
    """Return the doubt that every call reports, if there are many copies."""
    copies = find_copies(scores)
    return [copies.message(scores.layout)] if copies is not None and copies.are_many else []
