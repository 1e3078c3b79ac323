# packages: torch torchmetrics
"""torchmetrics: retrieval over queries, AUROC and EER of pairs."""

from __future__ import annotations

import numpy as np
import torch
from torchmetrics.classification import BinaryAUROC, BinaryEER
from torchmetrics.retrieval import (
    RetrievalHitRate,
    RetrievalMAP,
    RetrievalMRR,
    RetrievalNormalizedDCG,
    RetrievalPrecision,
    RetrievalRPrecision,
)

import bioeval as be
from peers.frame import Figure, gallery, print_costs, print_figures, print_title, trials


def of_queries(metric, values, same):
    """Return a metric of torchmetrics over the rows of a matrix."""
    queries = torch.arange(len(values))[:, None].expand(values.shape)
    return metric(
        torch.as_tensor(values.ravel().copy()),
        torch.as_tensor(same.ravel().copy()),
        queries.reshape(-1),
    ).item()


def of_pairs(metric, values, genuine):
    return metric(torch.as_tensor(values), torch.as_tensor(genuine).long()).item()


def main() -> None:
    print_title("torchmetrics", "torchmetrics", "torch")
    data = gallery()
    same = data.query_ids[:, None] == data.gallery_ids
    shifted = data.cosines + 1
    scores = be.Scores(shifted, data.query_ids, data.gallery_ids, kind="similarity")
    zero = be.reid(scores, "vehicleid", unmatched="zero")
    skip = be.reid(scores, "vehicleid", unmatched="skip")
    cut = be.reid(scores, "vehicleid", unmatched="zero", rank_k=5, rank_k_over="found")
    negative = be.reid(data.scores, "vehicleid", unmatched="zero")
    values, genuine = trials()
    pairs = be.verification(be.Scores.from_pairs(values, genuine, kind="similarity"))
    logits = (30 * values).astype(np.float32)
    large = be.verification(be.Scores.from_pairs(logits, genuine, kind="similarity"))
    print_figures(
        "torchmetrics",
        [
            Figure("RetrievalMAP", of_queries(RetrievalMAP(), shifted, same), zero.mean_ap),
            Figure(
                "RetrievalMAP, empty_target_action skip",
                of_queries(RetrievalMAP("skip"), shifted, same),
                skip.mean_ap,
            ),
            Figure(
                "RetrievalMAP, top_k 5 (`rank_k_mean_ap`)",
                of_queries(RetrievalMAP(top_k=5), shifted, same),
                cut.rank_k_mean_ap,
            ),
            Figure("RetrievalMRR", of_queries(RetrievalMRR(), shifted, same), zero.mrr),
            Figure(
                "RetrievalHitRate, top_k 5",
                of_queries(RetrievalHitRate(top_k=5), shifted, same),
                zero.cmc.sel(rank=5),
            ),
            Figure(
                "RetrievalPrecision, top_k 5",
                of_queries(RetrievalPrecision(top_k=5), shifted, same),
                zero.precision_at_k.sel(rank=5),
            ),
            Figure(
                "RetrievalRPrecision",
                of_queries(RetrievalRPrecision(), shifted, same),
                zero.r_precision,
            ),
            Figure(
                "RetrievalNormalizedDCG",
                of_queries(RetrievalNormalizedDCG(), shifted, same),
                zero.ndcg,
            ),
            Figure(
                "RetrievalMAP of cosines, half of them below 0",
                of_queries(RetrievalMAP(), data.cosines, same),
                negative.mean_ap,
                "matches with a score of 0 or less are dropped there",
            ),
            Figure(
                "RetrievalMAP of scores below 0, as negated distances are",
                of_queries(RetrievalMAP(), data.cosines - 1.001, same),
                negative.mean_ap,
                "all matches are dropped there",
            ),
            Figure(
                "BinaryAUROC of scores beyond 0 ... 1",
                of_pairs(BinaryAUROC(), values, genuine),
                pairs.auc,
            ),
            Figure(
                "BinaryAUROC of 30 times these scores, float32",
                of_pairs(BinaryAUROC(), logits, genuine),
                large.auc,
                "a sigmoid makes scores above 17 equal to 1",
            ),
            Figure(
                "BinaryEER",
                of_pairs(BinaryEER(), values, genuine),
                pairs.eer,
                "mean of FAR and FRR where they are nearest; where they cross here",
            ),
        ],
    )
    many = gallery(identities=400, templates=8)
    answer = many.query_ids[:, None] == many.gallery_ids
    print_costs(
        f"mAP of {answer.shape[0]:,} queries, {answer.shape[1]:,} in the gallery",
        lambda: of_queries(RetrievalMAP(), many.cosines + 1, answer),
        lambda: be.reid(many.scores, "vehicleid").mean_ap.item(),
    )
    rng = np.random.default_rng(4)
    batches = [(rng.normal(size=50_000), rng.random(50_000) < 0.01) for _ in range(100)]
    batches = [(values + 2 * genuine, genuine) for values, genuine in batches]

    def auroc():
        metric = BinaryAUROC()
        for values, genuine in batches:
            metric.update(torch.as_tensor(values), torch.as_tensor(genuine).long())
        return metric.compute().item()

    def verification():
        values, genuine = map(np.concatenate, zip(*batches, strict=True))
        return be.verification(be.Scores.from_pairs(values, genuine, kind="similarity"))

    print_costs(
        "AUROC, against EER and rates, of 5,000,000 pairs in 100 batches", auroc, verification
    )


if __name__ == "__main__":
    main()
