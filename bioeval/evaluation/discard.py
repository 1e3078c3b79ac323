"""Error against discard: does a quality measure foretell errors?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.arguments import require_increasing_proportions
from bioeval.base.errors import Argument, DataError
from bioeval.evaluation.chosen_threshold import chosen_threshold, rule_of
from bioeval.results.error_discard import error_discard_dataset
from bioeval.scores.blocks import BlockReader, Progress, require_subjects
from bioeval.scores.matrix import Scores
from bioeval.scores.template_columns import Sides, template_columns
from bioeval.tallies.by_quality import count_by_quality
from bioeval.tallies.thresholds import require_values

#: Default fractions: 0, 0.01 ... 0.5.
FRACTIONS = tuple(k / 100 for k in range(51))


def error_discard(
    scores: Scores,
    quality: Any,
    *,
    threshold: Any,
    fractions: Sequence[float] = FRACTIONS,
    progress: Progress | None = None,
) -> xr.Dataset:
    """Evaluate a quality measure: FRR and FAR when samples of low quality are discarded.

    Parameters
    ----------
    scores : Scores
        A matrix with labels. Attempts are single-template.
    quality : str, array_like, or pair of array_like
        A number a template, larger is better: a metadata column that both sides have; one array
        for all-against-all scores; or those of the probes and of the gallery, which are ranked
        together.
    threshold : float, str or tuple
        A number in the units of the scores, or a rule as for :func:`cross_evaluate`, which is
        applied to all attempts, before any sample is discarded.
    fractions : increasing sequence of float
        Proportions of the samples that are discarded, from 0 to 1.
    progress : callable, optional
        Called as ``progress(rows_done, rows)``.

    Returns
    -------
    xarray.Dataset
        Over ``fraction``: ``frr far fr fa genuine_attempts impostor_attempts`` of the attempts both
        of whose samples are left (NaN where none is), and ``discarded``, the number of samples.
        Scalars ``threshold``, ``samples``, and ``pauc``, the area under ``frr`` from 0 to 0.2 over
        that of the FRR at 0: 1 where discarding changes nothing, less where quality foretells
        false rejects.

    Raises
    ------
    DataError
        If a column is unknown, qualities are missing or no numbers, or fractions do not increase.
    ProtocolError
        If scores are a list of pairs, or hold only an order.

    Notes
    -----
    The quality of an attempt is the lower of its two. Of ``n`` samples the ``floor(f n)`` of lowest
    quality are discarded (``f`` by its decimal value), equal ones in their order, probes first.
    ISO/IEC 29794-1; Schlett, Rathgeb, Tapia and Busch 2023, "Considerations on the evaluation of
    biometric quality assessment algorithms", IEEE T-BIOM 6. The attribute ``discard_order`` says
    where their program differs. ``docs/groups.md``.

    Examples
    --------
    >>> import bioeval as be
    >>> d = [[0, 1, 5, 6], [1, 0, 7, 8], [5, 7, 0, 9], [6, 8, 9, 0]]
    >>> scores = be.Scores(d, ["ann", "ann", "bob", "bob"])
    >>> ds = be.error_discard(scores, [0.9, 0.8, 0.1, 0.7], threshold=5, fractions=[0, 0.25])
    >>> ds.frr.values, ds.far.values
    (array([0.5, 0. ]), array([0.25, 0.  ]))
    """
    rule = rule_of(threshold)
    reader = BlockReader(scores)
    require_subjects(scores, "error against discard")
    require_values(scores, "error against discard")
    chosen = require_increasing_proportions("fractions", fractions)
    probe, gallery = (_numbers(side) for side in template_columns(scores, quality, "quality"))
    samples, places = _places(scores, (probe, gallery))
    cuts = np.array([math.floor(f * samples) for f in chosen], dtype=np.int64)
    at = chosen_threshold(reader, rule, templates="single", fusion="min", progress=progress)
    tally = count_by_quality(reader, places, np.append(0, cuts), at, progress)
    ds = error_discard_dataset(tally, np.array(chosen, dtype=np.float64), at, cuts, samples)
    given = rule.name == "fixed"
    return ds.assign_attrs(
        quality=quality if isinstance(quality, str) else "given values",
        threshold_rule=str(rule),
        threshold_rule_in_words=rule.words,
        chosen_on="given" if given else "the same data; its errors there are optimistic",
    )


def _numbers(values: np.ndarray) -> np.ndarray:
    """Return qualities as float64; text is read as numbers."""
    try:
        found = values.astype(np.float64)
    except (TypeError, ValueError):
        found = np.array([_number(i, x) for i, x in enumerate(values.tolist())])
    if np.isnan(found).any():  # of text: "nan"
        _number(int(np.argmax(np.isnan(found))), "nan")
    return found


def _number(place: int, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise DataError(
            f"{Argument('quality')} is {value!r} at position {place}; expected a number for each "
            "template"
        )
    return number


def _places(scores: Scores, quality: Sides) -> tuple[int, Sides]:
    """Return the number of samples, and the place of each probe and template among all.

    The lowest quality is first, equal ones are in order; a template on both sides is one sample.
    """
    ids = np.concatenate([scores.probe_ids, scores.gallery_ids])
    both = np.concatenate(quality)
    _, first, sample = np.unique(ids, return_index=True, return_inverse=True)
    sample = sample.reshape(-1)
    differ = both != both[first][sample]
    if differ.any():
        i = int(np.argmax(differ))
        raise DataError(
            f"{Argument('quality')}: {int(differ.sum())} templates that are on both sides have two "
            f"qualities, the first {both[first][sample[i]]:g} as a probe and {both[i]:g} in the "
            "gallery; expected one"
        )
    order = first[np.lexsort((first, both[first]))]  # of samples, by their first template
    place = np.empty(len(order), dtype=np.int64)
    place[sample[order]] = np.arange(len(order))
    m = scores.shape[0]
    return len(order), (place[sample[:m]], place[sample[m:]])
