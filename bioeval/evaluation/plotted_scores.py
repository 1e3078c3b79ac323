"""Scores in the form that plots take: counts, pictures, and ranked lists of a few queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import xarray as xr

from bioeval.base.errors import DataError, ProtocolError, counted
from bioeval.base.scalars import Name
from bioeval.base.variables import picked
from bioeval.results.dataset import build
from bioeval.results.histogram import FAR_OFF, ScoreHistograms, is_coarse, score_histograms
from bioeval.scores.blocks import BlockReader, as_distances, as_row, require_subjects
from bioeval.scores.bona_fide import without_attacks
from bioeval.scores.failure_codes import SAMPLE_ROWS, SAMPLE_VALUES
from bioeval.scores.matrix import Scores, are_pairs, require_scores
from bioeval.scores.matrix_image import MatrixImage, reduced_matrix
from bioeval.scores.top_k import are_lists
from bioeval.studies.check.counts import attempted
from bioeval.studies.reid.reid import apply_convention, gom
from bioeval.studies.reid.results import GOM
from bioeval.studies.sites.protocol_tally import Tally
from bioeval.tallies.cells import CellGrid
from bioeval.tallies.counters import ThresholdCounter
from bioeval.tallies.counts import CellCounts, VerificationTally
from bioeval.tallies.sweep import run_jobs
from bioeval.tallies.thresholds import to_user
from bioeval.tallies.verification_job import VerificationJob

NODE = "verification/single"

# Pixels along the longer side of a matrix.
PIXELS = 600


def histograms_of(data: Any) -> dict[str, ScoreHistograms]:
    """Count the scores of Scores, of a Tally, or of several by name."""
    several = isinstance(data, Mapping) and not isinstance(data, xr.Dataset | xr.DataTree)
    given = dict(data) if several else {"": data}
    if not given:
        raise DataError("be.plot.score_distributions got an empty mapping; expected name: data")
    return {str(name): _histograms(one) for name, one in given.items()}


def _histograms(data: Any) -> ScoreHistograms:
    """Count single-template verification, once more where cells are too coarse."""
    if isinstance(data, VerificationTally):
        return score_histograms(data)
    if isinstance(data, Tally):
        tally = data.parts[NODE].tally if NODE in data.parts else None
        if not isinstance(tally, VerificationTally):
            raise DataError(f"the tally holds {', '.join(data.parts)}, but not {NODE}")
        return score_histograms(tally)
    if not isinstance(data, Scores):
        raise DataError(
            f"be.plot.score_distributions got {type(data).__name__}; expected Scores, a Tally, or "
            "a mapping of name to either"
        )
    reader = BlockReader(data)
    job = VerificationJob(reader)
    found = run_jobs(reader, [job])[0]
    if is_coarse(found) and (grid := _robust_grid(data)) is not None:
        job = job.fresh()
        job.given = ThresholdCounter(grid.boundaries)
        below, *inside, above = run_jobs(reader, [job])[0].given.counts.tolist()
        cells = CellCounts(grid.exponent, grid.first, np.array(inside), below, above)
        found = replace(found, impostor=cells.fitted())
    return score_histograms(found, as_fine=True)


def _robust_grid(scores: Scores) -> CellGrid | None:
    """Return cells for impostor scores, without far outliers, from a sample."""
    if are_pairs(scores):
        sample = as_row(scores.values[~scores.genuine], scores.kind, "exclude")[0]
    else:
        m, n = scores.shape
        rows = np.linspace(0, m - 1, min(m, np.clip(SAMPLE_VALUES // n, *SAMPLE_ROWS)))
        read = [attempted(scores, i, i + 1)[0] for i in rows.astype(np.int64).tolist()]
        sample = np.array(read)
        if scores.labelled:
            sample = sample[
                scores.codes.probe[rows.astype(np.int64)][:, None] != scores.codes.gallery
            ]
    sample = sample[np.isfinite(sample)]
    q1, q3 = np.quantile(sample, [0.25, 0.75]).tolist() if len(sample) else (0.0, 0.0)
    reach = FAR_OFF * (q3 - q1)
    return CellGrid.covering(q1 - reach, q3 + reach) if reach > 0 else None


def plotted(scores: Any) -> Iterator[tuple[str, str, Any]]:
    """Return the plots of scores that ``save_all`` draws: plot, system and data of its display."""
    given = {} if scores is None else scores if isinstance(scores, Mapping) else {"": scores}
    for one in given.values():
        if not isinstance(one, Scores):
            raise DataError(f"scores is {type(one).__name__}; expected Scores, a mapping, or None")
    # A top-K list has no matrix and no scores of its own.
    return _plotted({str(n): one for n, one in given.items() if not are_lists(one)})


def _plotted(scores: Mapping[str, Scores]) -> Iterator[tuple[str, str, Any]]:
    for name, one in scores.items():
        if one.kind != "order":
            yield "score_distributions", name, _histograms(one)
        if not are_pairs(one):
            yield "matrix", name, matrix_image(one, PIXELS)


def matrix_image(scores: Scores, pixels: int) -> MatrixImage:
    """Return the bona fide scores of a matrix, reduced to at most `pixels` a side."""
    if are_pairs(scores):
        raise ProtocolError("be.plot.matrix needs a matrix; these are fixed pairs")
    if not isinstance(scores, Scores):
        raise DataError(f"be.plot.matrix got {type(scores).__name__}; expected Scores")
    return reduced_matrix(without_attacks(scores), pixels)


#: The most queries and places that are drawn.
QUERIES, PLACES = 30, 40

RANKED = {
    "match": Name("whether the entry at the rank is a match (1) or not (0); -1 beyond the list"),
    "entry_score": Name("score of the entry at the rank; NaN beyond the list", "score"),
    "average_precision": Name("average precision of the whole list; NaN without a match"),
    **picked(GOM, "rp", "vp", "rep", "fr"),
}


def ranked_lists(
    scores: Scores, thresholds: Sequence[float], convention: Any, budget: int | None
) -> xr.Dataset:
    """Return the list of each query, nearest first, and its measures at the thresholds."""
    require_scores(scores)
    require_subjects(scores, "a ranked list")
    scores.require_matrix()
    scores = without_attacks(scores)
    m, n = scores.shape
    if m > QUERIES:
        raise DataError(
            f"ranked lists of {counted(m, 'queries')}; expected at most {QUERIES}: "
            "scores.select(probes=[0, 1, 2])"
        )
    given = {"convention": convention, "normalize": False, "per_query": True, "budget": budget}
    found = gom(scores, thresholds=thresholds, **given)
    whole = gom(scores, thresholds=[np.inf], **given)
    seen = apply_convention(scores, convention)
    values = as_distances(seen.read_rows(0, m), scores.kind).astype(np.float64)
    kept = seen.read_mask(0, m) > 0
    order = np.argsort(np.where(kept, values, np.inf), axis=1, kind="stable")[:, :PLACES]
    listed = np.take_along_axis(kept, order, axis=1)
    own = scores.codes.probe[:, None] == scores.codes.gallery[order]
    score = to_user(np.take_along_axis(values, order, axis=1), scores.kind)
    both = ("probe", "rank")
    variables = {
        "match": (both, np.where(listed, own.astype(np.int64), -1)),
        "entry_score": (both, np.where(listed, score, np.nan)),
        "average_precision": (("probe",), whole["rp"].values[:, 0]),
        **{x: (("probe", "threshold"), found[x].values) for x in ("rp", "vp", "rep", "fr")},
    }
    coordinates = {
        "probe": np.arange(m),
        "rank": np.arange(1, min(n, PLACES) + 1),
        "threshold": found["threshold"].values,
    }
    attrs = {k: found.attrs[k] for k in ("system", "kind", "convention", "budget", "warnings")}
    return build(variables, RANKED, coordinates, {"task": "ranked lists", **attrs})
