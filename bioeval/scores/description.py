"""Description of scores in a few named lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bioeval.base.errors import counted
from bioeval.base.kinds import PLURALS, larger_is_closer
from bioeval.scores.labelled_matrix import LabelledMatrix


def lines_of_matrix(scores: LabelledMatrix) -> Iterator[tuple[str, str]]:
    """Yield named lines about a matrix."""
    m, n = scores.shape
    yield "system", scores.name or ""
    yield "layout", f"{scores._layout_in_words.replace('-', ' ')}, {m:,} x {n:,} templates"
    if scores._labelled:
        sizes = np.unique(scores._codes.gallery, return_counts=True)[1]
        most = counted(sizes.max(), "templates")
        if sizes.min() != sizes.max():
            most = f"{sizes.min():,} to {most}"
        yield "subjects", f"{len(scores.subjects):,}, {most} each in the gallery"
        genuine, impostor = scores._comparisons()
        left = ", before what is left out" if scores._has_mask or scores.exclude else ""
        yield "comparisons", f"{genuine:,} genuine, {impostor:,} impostor{left}"
    computed = ", computed as they are read" if scores._streams else ""
    yield "scores", f"{_scores(scores)}{computed}"
    yield "failed", f'NaN: nan="{scores.nan}"'
    left_out = list(scores.exclude)
    if scores._has_mask:
        left_out.append("by a mask")
    yield "left out", ", ".join(left_out)
    yield "metadata", ", ".join(dict.fromkeys([*scores.probe_meta, *scores.gallery_meta]))
    yield "from", scores._origin


def lines_of_pairs(scores: Any) -> Iterator[tuple[str, str]]:
    """Yield named lines about a :class:`bioeval.PairScores`."""
    genuine = int(scores.genuine.sum())
    yield "system", scores.name or ""
    yield "pairs", f"{genuine:,} genuine, {len(scores.genuine) - genuine:,} impostor"
    yield "subjects", f"{len(scores.subjects):,}" if scores.pair_subjects is not None else ""
    if scores.pair_folds is not None:
        yield "folds", f"{len(np.unique(scores.pair_folds.astype(str)))}"
    yield "metadata", ", ".join(scores.probe_meta)
    yield "missing", counted(scores.missing, "pairs") if scores.missing else ""
    yield "scores", _scores(scores)
    yield "failed", f'NaN: nan="{scores.nan}"'
    yield "from", scores._origin


def lines_of_lists(scores: Any) -> Iterator[tuple[str, str]]:
    """Yield named lines about a :class:`bioeval.TopKScores`."""
    q, n = scores.shape
    yield "system", scores.name or ""
    yield "lists", f"{q:,} queries, the nearest {scores.depth:,} of {n:,} gallery entries"
    yield "subjects", f"{len(scores.subjects):,}"
    yield "distances", "in order alone" if scores.distances is None else str(scores.dtype)


def _scores(scores: LabelledMatrix) -> str:
    accepted = "at or above" if larger_is_closer(scores.kind) else "at or below"
    if scores.kind == "order":
        return f"{scores.dtype} orders within each row"
    return f"{scores.dtype} {PLURALS[scores.kind]}, accepted {accepted} the threshold"
