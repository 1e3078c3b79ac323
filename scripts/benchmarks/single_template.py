"""Exact means over galleries of one template of each subject, against the whole gallery."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.matrices import Matrix
from benchmarks.options import Options
from benchmarks.rows import Row, timed
from benchmarks.timing import Contender, interleaved
from bioeval.tasks.identification import open_set

Tell = Callable[[str], None]

#: Templates on each side, at most; subjects have as many each as elsewhere.
_LARGEST = 4_000

RANKS, THRESHOLDS = 50, 100


def single_template_rows(options: Options, tell: Tell) -> Iterator[Row]:
    """CMS to rank 50 and DIR over 100 thresholds, of one template a subject and of all."""
    matrix = Matrix(min(options.size, _LARGEST), options.templates)
    limits = np.linspace(0.0, float(matrix.values.max()), THRESHOLDS)
    run = partial(open_set, matrix.scores, thresholds=limits, max_rank=RANKS)
    calls: dict[str, Any] = {
        "multi": run,
        "exact": partial(run, gallery="single"),
    }
    contenders = [Contender(key, call, options.threads) for key, call in calls.items()]
    times, _ = interleaved(contenders, options.repeat, tell)
    subjects = matrix.size // options.templates
    about: dict[str, Any] = {"part": "exact", "section": "single_template"}
    about["note"] = f"{subjects:,} subjects x {options.templates}, rank {RANKS}, 100 thresholds"
    ratio, name = times["exact"] / times["multi"], "exact mean, against the whole gallery"
    key = "exact: against multi"
    yield timed(ratio, times["exact"], matrix.values.size, key=key, name=name, **about)
