# packages: torch wildlife-datasets
"""wildlife-tools and wildlife-datasets: nearest neighbour, accuracies, mAP of ranked labels.

wildlife-tools is run from a checkout: what the package index has of it is older.
"""

from __future__ import annotations

import numpy as np
from wildlife_datasets.metrics import BAKS, BAUS, accuracy, mean_average_precision

import bioeval as be
from peers.frame import Figure, checkout, gallery, print_figures, print_title

NEW = -1


def main() -> None:
    commit = checkout("wildlife-tools", "wildlife_tools")
    from wildlife_tools.inference.classifier import KnnClassifier

    print_title("wildlife-tools, wildlife-datasets", "wildlife-datasets", commit=commit)
    data = gallery(absent=10)
    enrolled = np.isin(data.query_ids, data.gallery_ids)
    unknown = np.unique(data.query_ids[~enrolled])
    nearest, best = KnnClassifier(data.gallery_ids, k=1, return_scores=True)(data.cosines)
    closed = be.closed_set(data.scores.select(probes=np.flatnonzero(enrolled)))
    threshold = 0.6
    ds = be.open_set(data.scores, thresholds=[threshold])
    answer = np.where(best >= threshold, nearest, NEW)

    order = np.argsort(-data.cosines, axis=1)
    labels = data.gallery_ids[order]
    reid = be.reid(data.scores, "vehicleid", unmatched="zero")
    lists = be.Scores.from_top_k(order[:, :20], data.query_ids, data.gallery_ids)
    cut = be.reid(lists, "top-k", unmatched="zero", rank_k_over="found")
    print_figures(
        "wildlife",
        [
            Figure(
                "accuracy of KnnClassifier, enrolled animals",
                accuracy(data.query_ids[enrolled], nearest[enrolled]),
                closed.recognition_rate,
            ),
            Figure(
                "BAKS at a threshold, one image of each animal (`dir` at rank 1)",
                BAKS(data.query_ids, answer, unknown),
                ds.dir.sel(rank=1)[0],
            ),
            Figure(
                "BAUS at a threshold, one image of each animal (`grr`)",
                BAUS(data.query_ids, answer, unknown, NEW),
                ds.grr[0],
            ),
            Figure(
                "mean_average_precision of the whole lists",
                mean_average_precision(data.query_ids, labels),
                reid.mean_ap,
            ),
            Figure(
                "mean_average_precision of the first 20 (`rank_k_mean_ap`)",
                mean_average_precision(data.query_ids, labels[:, :20]),
                cut.rank_k_mean_ap,
            ),
        ],
    )


if __name__ == "__main__":
    main()
