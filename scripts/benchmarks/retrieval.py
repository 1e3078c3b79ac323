"""Re-identification in the shape of Market-1501, against loops that sort every row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.options import Options
from benchmarks.rows import Row, number, timed
from benchmarks.series import Tell
from benchmarks.sorted_rows_kernel import average_precision_by_sorting
from benchmarks.timing import Contender, interleaved
from bioeval.base.options import set_options
from bioeval.scores.blocks import BlockReader
from bioeval.scores.matrix import Scores
from bioeval.tasks.reid.reid import gom, reid

#: Identities and cameras, as in Market-1501.
IDENTITIES, CAMERAS = 751, 6

#: Rows that the loops are given at most; their time is scaled by the row.
LOOP_ROWS = 200

#: How far matches stand from the rest, in standard deviations: mAP is about 90 %.
APART = 4.5

_FEW_ROUNDS = 3


@dataclass
class Gallery:
    """Queries against a gallery: distances, identities and cameras of both sides."""

    values: np.ndarray
    queries: np.ndarray
    gallery: np.ndarray
    query_camera: np.ndarray
    camera: np.ndarray

    @classmethod
    def drawn(cls, shape: tuple[int, int]) -> Gallery:
        """Draw normal distances, nearer for matches; the gallery is in no order."""
        rng = np.random.default_rng(0)
        m, n = shape
        queries, gallery = rng.integers(0, IDENTITIES, m), rng.integers(0, IDENTITIES, n)
        values = rng.standard_normal(shape, dtype=np.float32)
        for i, row in enumerate(values):
            row[gallery == queries[i]] -= APART
        return cls(
            values, queries, gallery, rng.integers(0, CAMERAS, m), rng.integers(0, CAMERAS, n)
        )

    @property
    def meta(self) -> dict[str, Any]:
        """The cameras as metadata."""
        return {
            "probe_meta": {"camera": self.query_camera},
            "gallery_meta": {"camera": self.camera},
        }

    @property
    def scores(self) -> Scores:
        """The distances as scores."""
        return Scores(self.values, self.queries, self.gallery, **self.meta)

    def streamed(self, dimensions: int) -> tuple[Scores, np.ndarray, np.ndarray]:
        """Return scores of features whose matrix is never made, and the features."""
        rng = np.random.default_rng(1)
        centres = rng.standard_normal((IDENTITIES, dimensions), dtype=np.float32)
        x, y = (
            centres[who] + 1.5 * rng.standard_normal((len(who), dimensions), dtype=np.float32)
            for who in (self.queries, self.gallery)
        )
        limit = self.values.nbytes - 1
        with set_options(memory_limit=limit):
            scores = Scores.from_embeddings(
                x, self.queries, y, self.gallery, metric="cosine", dtype="float32", **self.meta
            )._with(_limited=False)
        return scores, x, y


def usual_loop(g: Gallery, rows: int, listed: bool) -> tuple[np.ndarray, float, float]:
    """Return CMC, mAP and mINP as Python programs compute them: a sort and a loop over queries.

    With `listed`, precisions are built as a Python list, as several widespread programs do it.
    """
    order = np.argsort(g.values[:rows], axis=1)
    hits = (g.gallery[order] == g.queries[:rows, None]).astype(np.int32)
    cmcs, aps, inps = [], [], []
    for i in range(rows):
        mine = g.gallery[order[i]] == g.queries[i]
        keep = ~(mine & (g.camera[order[i]] == g.query_camera[i]))
        found = hits[i][keep]
        if not found.any():
            continue
        seen = found.cumsum()
        last = np.flatnonzero(found)[-1]
        inps.append(seen[last] / (last + 1.0))
        cmcs.append(np.minimum(seen[:50], 1))
        if listed:
            precision = np.asarray([x / (k + 1.0) for k, x in enumerate(seen)])
        else:
            precision = seen / np.arange(1.0, len(seen) + 1.0)
        aps.append((precision * found).sum() / found.sum())
    return np.mean(cmcs, axis=0), float(np.mean(aps)), float(np.mean(inps))


def reid_rows(options: Options, tell: Tell) -> Iterator[Row]:
    """Measure all measures at once, against loops that sort; and from features."""
    g = Gallery.drawn(options.reid)
    m, n = options.reid
    rows = min(LOOP_ROWS, m)
    scores = g.scores
    streamed, x, y = g.streamed(options.embeddings[1])
    spare = np.empty(rows)

    def compiled() -> None:
        average_precision_by_sorting(
            g.values[:rows], g.queries, g.gallery, g.query_camera, g.camera, spare
        )

    threads = options.threads
    work = [
        Contender("reid", lambda: reid(scores, rank_k=100), threads),
        Contender("gom", lambda: gom(scores), threads),
        Contender("list loop", lambda: usual_loop(g, rows, True), threads),
        Contender("array loop", lambda: usual_loop(g, rows, False), threads),
        Contender("compiled", compiled, threads),
        Contender("product", _products(x, y, BlockReader(streamed).rows_per_block()), threads),
        Contender("features", lambda: reid(streamed, rank_k=100), threads),
    ]
    times, _ = interleaved(work, min(options.repeat, _FEW_ROUNDS), tell)
    note = f"{m:,} x {n:,}, {CAMERAS} cameras; on {rows:,} rows, scaled by the row"
    for key, name in (
        ("list loop", "a Python loop that lists precisions, as is usual"),
        ("array loop", "the same loop with arrays throughout"),
        ("compiled", "a compiled loop that sorts each row, AP alone"),
    ):
        ratio = times[key] / rows * m / times["reid"]
        pace = float(np.median(times["reid"]))
        yield timed(
            ratio, times[key], rows * n, part="reid", key=f"reid: {key}", section="reid",
            name=name, figure=f"{number(pace * 1e3)} ms against "
            f"{number(float(np.median(times[key])) / rows * m)} s", note=note,
        )  # fmt: skip
    for key, name in (("gom", "be.gom, 101 thresholds"),):
        yield timed(
            times["list loop"] / rows * m / times[key], times[key], m * n, part="reid",
            key=f"reid: {key} itself", section="reid", name=f"{name}: the usual loop over it",
        )  # fmt: skip
    pace = float(np.median(times["product"])) / (m * n) * 1e9
    yield timed(
        times["features"] / times["product"], times["features"], m * n, part="reid",
        key="reid: features", section="product",
        name=f"be.reid, {m:,} x {n:,} x {options.embeddings[1]}, float32",
        note=f"cosine, streamed; the products in float32 take {number(pace)} ns a cell",
    )  # fmt: skip


def _products(x: np.ndarray, y: np.ndarray, step: int) -> Callable[[], object]:
    """Return a call of the bare products, each block of rows over the last."""
    out = np.empty((min(step, len(x)), len(y)), dtype=x.dtype)

    def call() -> None:
        for low in range(0, len(x), step):
            block = x[low : low + step]
            np.matmul(block, y.T, out=out[: len(block)])

    return call
