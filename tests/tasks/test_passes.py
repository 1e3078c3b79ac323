"""How often scores are read: where they are computed, each pass is a matrix product."""

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from limits import streaming

import bioeval as be
from bioeval.counting.tiles import TileParts
from bioeval.scores.embeddings import EmbeddingSource

BOOTSTRAP = {"interval": be.stats.IntervalMethod("subject-bootstrap", replicates=100)}

# The most passes over each system, and the call.
MOST_PASSES = {
    "verification": (1, lambda a, b: be.verification(a)),
    "interval": (3, lambda a, b: be.verification(a, **BOOTSTRAP)),
    # One more where a threshold of some replicate lies outside what was kept, as of few people.
    "comparison": (
        4,
        lambda a, b: be.compare(a, b, interval=be.stats.IntervalMethod("people", replicates=100)),
    ),
    "folds": (
        2,
        lambda a, b: be.cross_evaluate(a, be.partition.SubjectKFold(5, n_repeats=10, shuffle=True)),
    ),
    "fused folds": (
        1,
        lambda a, b: be.cross_evaluate(a, be.partition.SubjectKFold(5), templates="multi"),
    ),
    "study": (
        6,
        lambda a, b: be.study_threshold(
            a, "far=0.01", interval=be.stats.IntervalMethod("subject-bootstrap", replicates=100)
        ),
    ),
    "zoo": (2, lambda a, b: be.zoo(a, permutations=9)),
    "zoo at a threshold": (1, lambda a, b: be.zoo(a, threshold=2.0, permutations=9)),
}


RULE = """
{name}: {passes:.1f} passes over the scores; at most {most} were needed.
Count with reducers of a pass that is there
(reduce of bioeval.counting). Where the question needs another pass, raise the number in
MOST_PASSES of tests/tasks/test_passes.py, and say in the commit what it is for.
"""


@pytest.mark.parametrize("people", [30, 80])
@pytest.mark.parametrize("name", MOST_PASSES)
def test_no_more_passes_than_needed(name, people, monkeypatch):
    scores_computed: Counter = Counter()
    rows_of, tile_of = EmbeddingSource.__getitem__, TileParts.compute

    def counting(self, rows):
        computed = rows_of(self, rows)
        scores_computed[self.metric] += computed.size
        return computed

    def counting_tiles(self, i, j, buffer):
        sizes = [np.diff(x.starts)[k] for x, k in ((self.rows, i), (self.columns, j))]
        scores_computed[self.source.metric] += int(np.prod(sizes))
        return tile_of(self, i, j, buffer)

    monkeypatch.setattr("bioeval.scores.blocks.LISTED", 0)
    monkeypatch.setattr("bioeval.counting.tiles.LARGEST", {4: 16, 8: 16})
    crowd = be.simulate_embeddings(people, 4, random_state=1)
    systems = [
        streaming(crowd.embeddings, crowd.labels, metric=metric) for metric in ("l2", "cosine")
    ]
    monkeypatch.setattr(EmbeddingSource, "__getitem__", counting)
    monkeypatch.setattr(TileParts, "compute", counting_tiles)
    allowed, call = MOST_PASSES[name]
    call(*systems)
    assert scores_computed
    for scores in scores_computed.values():  # a sample that places cells is less than half a pass
        passes = scores / len(crowd.labels) ** 2
        assert passes < allowed + 0.5, RULE.format(name=name, passes=passes, most=allowed)


def test_few_scores_are_copied_once():
    vectors = np.random.default_rng(0).normal(size=(1000, 8))
    distances = np.linalg.norm(vectors[:, None] - vectors, axis=-1)
    scores = be.Scores(distances, np.repeat(np.arange(250), 4))
    be.verification(scores)  # imports
    tracemalloc.start()
    try:
        be.verification(scores)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2.5 * distances.nbytes
