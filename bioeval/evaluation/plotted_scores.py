"""Counts and pictures of scores, as plots of scores take them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import xarray as xr

from bioeval.base.errors import DataError
from bioeval.evaluation.protocol_tally import Tally
from bioeval.results.histogram import ScoreHistograms, score_histograms
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import PairScores, Scores
from bioeval.scores.matrix_image import matrix_image
from bioeval.scores.top_k import TopKScores
from bioeval.tallies.counts import VerificationTally
from bioeval.tallies.sweep import run_jobs
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
    return {str(name): score_histograms(_tally(one)) for name, one in given.items()}


def _tally(data: Any) -> VerificationTally:
    """Return counts of single-template verification, counted in one sweep where need be."""
    if isinstance(data, VerificationTally):
        return data
    if isinstance(data, Tally):
        tally = data.parts[NODE].tally if NODE in data.parts else None
        if not isinstance(tally, VerificationTally):
            raise DataError(f"the tally holds {', '.join(data.parts)}, but not {NODE}")
        return tally
    if not isinstance(data, Scores):
        raise DataError(
            f"be.plot.score_distributions got {type(data).__name__}; expected Scores, a Tally, or "
            "a mapping of name to either"
        )
    reader = BlockReader(data)
    return run_jobs(data, reader, [VerificationJob(data, reader)])[0]


def plotted(scores: Any) -> Iterator[tuple[str, str, Any]]:
    """Return what ``save_all`` draws of scores: the plot, the system and what its display takes."""
    given = {} if scores is None else scores if isinstance(scores, Mapping) else {"": scores}
    for one in given.values():
        if not isinstance(one, Scores):
            raise DataError(f"scores is {type(one).__name__}; expected Scores, a mapping, or None")
    # A top-K list has no matrix and no scores of its own.
    return _plotted({str(n): one for n, one in given.items() if not isinstance(one, TopKScores)})


def _plotted(scores: Mapping[str, Scores]) -> Iterator[tuple[str, str, Any]]:
    for name, one in scores.items():
        if one.kind != "order":
            yield "score_distributions", name, score_histograms(_tally(one))
        if not isinstance(one, PairScores):
            yield "matrix", name, matrix_image(one, PIXELS)
