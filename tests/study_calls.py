"""A public call of scores for each study, for tests that ask the same of all studies."""

from typing import Any

import numpy as np

import bioeval as be


def plain(row: Any) -> dict[str, Any]:
    """An explained row as plain values."""
    return {
        "kind": row.kind,
        "threshold": row.threshold,
        "lists": {key: [vars(entry) for entry in entries] for key, entries in row.lists.items()},
        "counts": dict(row.counts),
    }


def middle(values: np.ndarray) -> float:
    """Return the middle score; of an even number, the lower of the two middle scores."""
    return float(np.nanquantile(values, 0.5, method="lower"))


#: The same scores of another kind have the same results.
CALLS = {
    "reid": lambda s: be.reid(s, thresholds=[-1.0, 1.0, 3.0], per_query=True),
    "gom": lambda s: be.gom(s, budget=10),
    "check_promise": lambda s: be.check_promise(s, middle(s.values), "far=0.1"),
    "zoo": lambda s: be.zoo(s, threshold="far=0.1"),
    "gallery_size": lambda s: be.gallery_size(s, [3, 6]),
    "explain": lambda s: plain(be.explain(s, 5)),
    "conventions": be.conventions,
    "worst_pairs": lambda s: be.worst_pairs(s, 4),
    "study_threshold": lambda s: be.study_threshold(s, "far=0.1", folds=3, random_state=0),
    "cross_evaluate": lambda s: be.cross_evaluate(s, be.partition.SubjectKFold(3)),
    "repeat": lambda s: be.repeat(s, be.partition.SubjectKFold(3)),
    "summary": be.summary,
    "by_group": lambda s: be.by_group(s, "group", interval="people"),
}

#: The same calls of distances, where they name thresholds.
TURNED = {
    "reid": lambda s: be.reid(s, thresholds=[-3.0, -1.0, 1.0], per_query=True),
    "check_promise": lambda s: be.check_promise(s, -middle(-s.values), "far=0.1"),
}
