"""How often scores are looked at: where they are computed, each look is a matrix product."""

from collections import Counter

import pytest

import bioeval as be
from bioeval.scores.embeddings import EmbeddingSource

BOOTSTRAP = {"interval": "subject-bootstrap", "replicates": 100}

# Looks at each system, and what looks.
LOOKS = {
    "verification": (2, lambda a, b: be.verification(a)),
    "interval": (3, lambda a, b: be.verification(a, **BOOTSTRAP)),
    "comparison": (3, lambda a, b: be.compare(a, b, replicates=100)),
    "folds": (2, lambda a, b: be.cross_evaluate(a, be.partition.RepeatedSubjectKFold(5))),
    "fused folds": (
        1,
        lambda a, b: be.cross_evaluate(a, be.partition.SubjectKFold(5), templates="multi"),
    ),
    # A threshold of each fold is chosen anew without each person, in one look for all folds.
    "pooled": (3, lambda a, b: be.cross_evaluate(a, be.partition.SubjectKFold(5), **BOOTSTRAP)),
    "pooled repeats": (
        3,
        lambda a, b: be.cross_evaluate(
            a, be.partition.RepeatedSubjectKFold(4, n_repeats=3), threshold="hter", **BOOTSTRAP
        ),
    ),
    "pooled and fused": (
        2,
        lambda a, b: be.cross_evaluate(
            a, be.partition.SubjectKFold(5), templates="multi", **BOOTSTRAP
        ),
    ),
    "pooled at a given threshold": (
        3,
        lambda a, b: be.cross_evaluate(a, be.partition.SubjectKFold(5), threshold=1.0, **BOOTSTRAP),
    ),
    "study": (6, lambda a, b: be.study_threshold(a, ("far", 0.01), replicates=100)),
    "zoo": (2, lambda a, b: be.zoo(a, permutations=9)),
    "zoo at a threshold": (1, lambda a, b: be.zoo(a, threshold=2.0, permutations=9)),
}


@pytest.mark.parametrize("people", [30, 80])
@pytest.mark.parametrize("name", LOOKS)
@pytest.mark.cases(1)
def test_no_more_looks_than_needed(name, people, monkeypatch):
    computed: Counter = Counter()
    rows_of = EmbeddingSource.__getitem__

    def counting(self, rows):
        result = rows_of(self, rows)
        computed[self.metric] += len(result)
        return result

    crowd = be.simulate_embeddings(people, 4, random_state=1)
    systems = [
        be.Scores.from_embeddings(crowd.embeddings, crowd.labels, metric=metric, memory_limit=1)
        for metric in ("l2", "cosine")
    ]
    monkeypatch.setattr(EmbeddingSource, "__getitem__", counting)
    most, read = LOOKS[name]
    read(*systems)
    assert computed
    for rows in computed.values():  # a sample that places cells is less than half a look
        assert rows < (most + 0.5) * len(crowd.labels)
