"""Errors when samples of low quality are discarded: whether measures of quality foretell errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bioeval.base.arguments import require_increasing_proportions
from bioeval.base.errors import DataError, received
from bioeval.base.messages import Message
from bioeval.base.progress import rows_reported
from bioeval.counting.threshold_rules import Rule
from bioeval.counting.thresholds import is_accepted, require_values, to_user
from bioeval.document.blocks import Column, Paragraph, ResultsBySystem, Section, Table
from bioeval.document.cells import Label, Number, Rate
from bioeval.document.results import (
    cell_of,
    data_facts,
    result_messages,
    rule_of,
    threshold_of,
)
from bioeval.document.text import Text, say
from bioeval.results.dataset import Variables, about_attrs, along, dataset
from bioeval.results.support import beyond_scores
from bioeval.results.variables import VERIFICATION, Variable, entries
from bioeval.scores.blocks import among_distances
from bioeval.scores.bona_fide import leaves_out_attacks
from bioeval.scores.labels import plain
from bioeval.scores.matrix import Scores, require_all_scores, require_subjects
from bioeval.scores.provenance import Provenance
from bioeval.scores.rows import blocks_of, threads_for
from bioeval.scores.template_values import known_columns
from bioeval.stats.people import ratio
from bioeval.tasks.threshold_choice import chosen_threshold
from bioeval.views.messages import warns_of_doubts

ERROR_DISCARD: dict[str, Variable] = {
    "fraction": Variable(
        "proportion of the samples that are discarded, those of lowest quality", "proportion"
    ),
    **entries(VERIFICATION, "far", "frr", "fa", "fr", "genuine_attempts", "impostor_attempts"),
    "discarded": Variable("samples discarded", "samples"),
    "samples": Variable("samples of both sides, each template once", "samples"),
    "threshold": Variable("decision threshold", "score", "threshold T", shown="threshold"),
    "pauc": Variable(
        "area under FRR over discarded fractions from 0 to 0.2, over 0.2 times FRR at 0: below 1 "
        "where discarding helps",
        "1",
    ),
}


def count_by_quality(
    scores: Scores, places: tuple[np.ndarray, np.ndarray], cuts: np.ndarray, threshold: float
) -> dict[str, np.ndarray]:
    """Count the attempts left after each number of samples is discarded, in one pass.

    Returns int64 arrays, shape (steps,), by name.

    - `places` (int64 (m,) and (n,)): the place of each probe and gallery template
      among all samples, the lowest quality first
    - `cuts` (int64 (steps,)): numbers of samples that are discarded, not falling
    - `threshold`: a distance; NaN rejects everything
    """
    threshold = float(among_distances(scores, threshold))
    # Code k: left at the first k steps, and discarded at the next.
    probe = np.searchsorted(cuts, places[0], side="right")
    template = np.searchsorted(cuts, places[1], side="right")
    steps = len(cuts) + 1
    genuine, impostor = np.zeros((2, steps, 2), dtype=np.int64)
    with threads_for(scores):
        for block in blocks_of(scores):
            others = block.impostors().values
            code = np.minimum(probe[block.probe], template[block.gallery])
            place = 2 * code + ~is_accepted(others, threshold)
            made = np.bincount(place[~np.isnan(others)], minlength=2 * steps)
            impostor += made.reshape(steps, 2)
            row, column, value = block.genuine()
            lower = np.minimum(probe[row], template[column])
            np.add.at(genuine, (lower, (~is_accepted(value, threshold)).astype(np.int64)), 1)
    # Left at step k: those with a code above k.
    mates = np.cumsum(genuine[::-1], axis=0)[::-1][1:]
    impostors = np.cumsum(impostor[::-1], axis=0)[::-1][1:]
    return {
        "fr": mates[:, 1],
        "fa": impostors[:, 0],
        "genuine_attempts": mates.sum(axis=1),
        "impostor_attempts": impostors.sum(axis=1),
    }


#: The pAUC is of fractions up to this one.
LAST = 0.2

#: How the numbers differ from the published program.
DEPARTURES = (
    "fractions are of samples, not of comparisons; the area is of trapezoids, not of steps; "
    "samples of equal quality are discarded in their order, not together"
)


def pauc(fractions: np.ndarray, frr: np.ndarray) -> float:
    """Return the area under FRR up to `LAST`, by trapezoids, over that of a constant FRR.

    `fractions` do not fall and begin with 0. FRR at `LAST` is interpolated where it is no fraction.
    """
    if not frr[0] > 0 or fractions[-1] < LAST:
        return np.nan
    inside = int(np.searchsorted(fractions, LAST))
    x, y = fractions[:inside], frr[:inside]
    at = np.interp(LAST, fractions[inside - 1 : inside + 1], frr[inside - 1 : inside + 1])
    if fractions[inside] == LAST:
        at = frr[inside]
    return float(np.trapezoid(np.append(y, at), np.append(x, LAST)) / (LAST * frr[0]))


#: Default fractions: 0, 0.01 ... 0.5.
FRACTIONS = tuple(k / 100 for k in range(51))


@warns_of_doubts
@leaves_out_attacks
def error_discard(
    scores: Scores, quality: Any, *, threshold: Any, fractions: Sequence[float] = FRACTIONS
) -> xr.Dataset:
    """Evaluate a quality measure: FRR and FAR when samples of low quality are discarded.

    Parameters
    ----------
    scores : Scores
        A matrix with labels.
    quality : str, array_like, or pair of array_like
        Metadata column of a quality (larger is better). Both sides have it; or one array for
        all-against-all scores; or those of the probes and of the gallery, which are ranked
        together.
    threshold : float or str
        Threshold: a number, or a rule applied to all attempts, before any is discarded. A rule is
        one of :func:`cross_evaluate`.
    fractions : increasing sequence of float
        Proportions of the samples to discard, increasing from 0.

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
    An attempt is left while its samples are: the quality of an attempt is the lower of its
    two. Of ``n`` samples the ``floor(f n)`` of lowest quality are discarded (``f`` by its decimal
    value), equal ones in their order, probes first.
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
    rule = Rule.parse(threshold)
    require_all_scores(scores)
    require_subjects(scores, "error against discard")
    require_values(scores, "error against discard")
    chosen = require_increasing_proportions("fractions", fractions)
    (probe, gallery), taken = known_columns(scores, quality, "quality")
    scores = scores.with_remarks(*taken)
    samples, places = _places(scores, _numbers(probe), _numbers(gallery))
    cuts = np.array([math.floor(f * samples) for f in chosen], dtype=np.int64)
    with rows_reported():
        threshold = chosen_threshold(scores, rule)
    at = threshold.threshold
    with rows_reported():
        counts = count_by_quality(scores, places, np.append(0, cuts), at)  # first, of all samples
    proportions = np.array(chosen, dtype=np.float64)
    rates = {
        "frr": ratio(counts["fr"], counts["genuine_attempts"]),
        "far": ratio(counts["fa"], counts["impostor_attempts"]),
    }
    area = pauc(np.append(0.0, proportions), rates["frr"])
    remarks = []
    if np.isnan(area):
        why = "{frr} is not defined"
        if rates["frr"][0] == 0:
            why = "{frr} is 0 with all samples; choose a stricter threshold"
        elif proportions[-1] < LAST:
            why = f"the fractions end before {LAST}; give `fractions` up to this one or more"
        remarks.append(Message("pauc-undefined", why=why))
    if rule.name == "fixed":
        remarks += beyond_scores(float(to_user(at, scores.kind)), rates["far"][0], rates["frr"][0])
    variables: Variables = {
        **along(("fraction",), **{name: x[1:] for name, x in {**rates, **counts}.items()}),
        "discarded": (("fraction",), cuts),
        "samples": samples,
        **threshold.in_units(scores.kind),
        "pauc": area,
    }
    attrs = about_attrs(Provenance.of(scores), "error-discard", "verification", remarks) | {
        "discard_order": DEPARTURES,
        "pauc_up_to": LAST,
        "quality": quality if isinstance(quality, str) else "given values",
        **rule.attrs(),
    }
    return dataset(variables, ERROR_DISCARD, {"fraction": proportions}, attrs)


def _numbers(values: np.ndarray) -> np.ndarray:
    """Return qualities as float64; text is read as numbers."""
    numbers = pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(np.float64)
    if (wrong := np.isnan(numbers)).any():
        place = int(np.argmax(wrong))
        raise DataError(
            f"`quality` is {received(plain(values[place]))} at position {place}; "
            "expected a number for each template"
        )
    return numbers


def _places(
    scores: Scores, probe: np.ndarray, gallery: np.ndarray
) -> tuple[int, tuple[np.ndarray, np.ndarray]]:
    """Return the number of samples, and the place of each probe and template among all.

    The lowest quality is first, equal ones are in order; a template on both sides is one sample.
    """
    ids = np.concatenate([scores.probe_ids, scores.gallery_ids])
    both = np.concatenate([probe, gallery])
    _, first, sample = np.unique(ids, return_index=True, return_inverse=True)
    sample = sample.reshape(-1)
    differ = both != both[first][sample]
    if differ.any():
        i = int(np.argmax(differ))
        raise DataError(
            f"`quality`: {int(differ.sum())} templates that are on both sides have two "
            f"qualities, the first {both[first][sample[i]]:g} as a probe and {both[i]:g} in the "
            "gallery; expected one"
        )
    order = first[np.lexsort((first, both[first]))]  # of samples, by their first template
    place = np.empty(len(order), dtype=np.int64)
    place[sample[order]] = np.arange(len(order))
    m = scores.shape[0]
    return len(order), (place[sample[:m]], place[sample[m:]])


# Proportions that are shown of a longer curve.
_SHOWN = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5)

# What a narrow table leaves out first: 5 %, 30 %, 10 %, 50 % of these.
_PRIORITIES = (0, 4, 2, 0, 3, 1)

#: What there is at each fraction.
_CURVE = ("discarded", "frr", "far", "fr", "fa", "genuine_attempts", "impostor_attempts")


def error_discard_section(results: ResultsBySystem) -> Section:
    """Return the errors left with each measure of quality, by its name."""
    first = next(iter(results.values()))
    return Section(
        "error-discard",
        "Error against discard",
        (
            data_facts({"": first}),
            Paragraph(_threshold(first), "note"),
            _measures(results),
            Paragraph(
                say("pAUC: area under {frr} from 0 to 20 %, 1 where discarding changes nothing."),
                "note",
            ),
            _curves(results),
            result_messages(results),
        ),
        task="verification",
    )


def _threshold(ds: xr.Dataset) -> Text:
    """Return the threshold, and how it was chosen."""
    threshold = threshold_of(ds)
    if ds.attrs["chosen_on"] == "given":
        return say("At the threshold {threshold}", threshold=threshold)
    return say(
        "At the threshold {threshold}, {rule}, before samples are discarded",
        threshold=threshold,
        rule=rule_of(ds.attrs),
    )


def _measures(results: ResultsBySystem) -> Table:
    """Return pAUC of each measure, and FRR at some fractions."""
    fractions = next(iter(results.values()))["fraction"].values
    places, priorities = np.arange(len(fractions)), np.zeros(len(fractions), dtype=int)
    if len(fractions) > len(_SHOWN):
        of_fraction = np.isclose(_SHOWN, fractions[:, np.newaxis])
        places = np.flatnonzero(of_fraction.any(axis=1))
        priorities = np.array(_PRIORITIES)[of_fraction.argmax(axis=1)]
    columns = [Column("quality", "quality"), Column("pauc", "pAUC")]
    for i in places.tolist():
        priority = int(priorities[i])
        name = f"frr_{fractions[i]:g}"
        columns.append(Column(name, Rate(float(fractions[i])), priority, only="readers"))
    rows: list[list[Text | None]] = []
    for name, ds in results.items():
        pauc = Number(float(ds["pauc"]), decimals=4, variable="pauc")
        rates = [cell_of(ds, "frr", {"fraction": i}) for i in places.tolist()]
        rows.append([Label(name), pauc, *rates])
    title = say("{frr} by the proportion of the samples that is discarded")
    return Table("measures", columns, rows, title=title)


def _curves(results: ResultsBySystem) -> Table:
    """Return all that there is at each fraction, for data."""
    rows: list[list[Text | None]] = []
    for quality, ds in results.items():
        for i, fraction in enumerate(ds["fraction"].values.tolist()):
            cells = [cell_of(ds, name, {"fraction": i}) for name in _CURVE]
            rows.append([Label(quality), Rate(fraction, variable="fraction"), *cells])
    columns = [Column("quality"), Column("fraction"), *map(Column, _CURVE)]
    return Table("curves", columns, rows, shown=0)
