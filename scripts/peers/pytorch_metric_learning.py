# packages: torch pytorch-metric-learning faiss-cpu
"""pytorch-metric-learning: its accuracy calculator on embeddings."""

from __future__ import annotations

import numpy as np
from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

import bioeval as be
from peers.frame import Figure, gallery, print_costs, print_figures, print_title

MEASURES = (
    *("precision_at_1", "mean_average_precision", "mean_reciprocal_rank"),
    *("r_precision", "mean_average_precision_at_r"),
)


def main() -> None:
    print_title("pytorch-metric-learning", "pytorch-metric-learning", "torch", "faiss-cpu")
    data = gallery()
    calculator = AccuracyCalculator(include=MEASURES)
    sides = (data.query, data.query_ids, data.gallery, data.gallery_ids)
    theirs = calculator.get_accuracy(*sides)
    ours = be.reid(be.Scores.from_embeddings(*sides, metric="l2"), "vehicleid")

    everyone = np.concatenate([data.query, data.gallery])
    who = np.concatenate([data.query_ids, data.gallery_ids])
    itself = calculator.get_accuracy(everyone, who)
    square = be.reid(be.Scores.from_embeddings(everyone, who, metric="l2"), "vehicleid")

    large = 16_777_216 + data.query_ids, 16_777_216 + data.gallery_ids
    apart = be.Scores.from_embeddings(data.query, large[0], data.gallery, large[1], metric="l2")
    joined = calculator.get_accuracy(data.query, large[0], data.gallery, large[1])
    print_figures(
        "pytorch-metric-learning",
        [
            Figure("precision_at_1", theirs["precision_at_1"], ours.cmc.sel(rank=1)),
            Figure("mean_average_precision", theirs["mean_average_precision"], ours.mean_ap),
            Figure("mean_reciprocal_rank", theirs["mean_reciprocal_rank"], ours.mrr),
            Figure("r_precision", theirs["r_precision"], ours.r_precision),
            Figure(
                "mean_average_precision of all against all",
                itself["mean_average_precision"],
                square.mean_ap,
            ),
            Figure(
                "mean_average_precision_at_r",
                theirs["mean_average_precision_at_r"],
                ours.mean_ap_at_r,
            ),
            Figure(
                "mean_average_precision, identities from 16,777,216 on",
                joined["mean_average_precision"],
                be.reid(apart, "vehicleid").mean_ap,
                "labels become float32 there, which takes neighbouring numbers for one",
            ),
        ],
    )
    many = gallery(identities=500, templates=9)
    sides = (many.query, many.query_ids, many.gallery, many.gallery_ids)
    print_costs(
        f"mAP of {len(many.query):,} queries, {len(many.gallery):,} in the gallery",
        lambda: calculator.get_accuracy(*sides)["mean_average_precision"],
        lambda: be.reid(be.Scores.from_embeddings(*sides, metric="l2"), "vehicleid").mean_ap.item(),
    )


if __name__ == "__main__":
    main()
