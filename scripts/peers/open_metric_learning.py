# packages: torch torchvision tqdm omegaconf validators gdown tensorboard
# packages: pytorch-lightning albumentations opencv-python-headless
# without what it asks for: open-metric-learning==4.0.0
"""open-metric-learning: retrieval measures of ranked lists, and FNMR at an FMR.

It asks for numpy below 2, bioeval for 2 or newer; its measures run with the newer one.
"""

from __future__ import annotations

import numpy as np
import torch
from oml.functional.metrics import calc_fnmr_at_fmr, calc_retrieval_metrics

import bioeval as be
from peers.frame import Figure, gallery, print_costs, print_figures, print_title, trials


def of_lists(data):
    """Return all measures of the whole lists, in the order of falling cosine."""
    order = torch.as_tensor(data.cosines).argsort(dim=1, descending=True)
    same = torch.as_tensor(data.query_ids[:, None] == data.gallery_ids)
    found = calc_retrieval_metrics(
        list(order),
        [row.nonzero().ravel() for row in same],
        cmc_top_k=(1, 5),
        precision_top_k=(5, 10),
        map_top_k=(5, len(data.gallery)),
        verbose=False,
    )
    return {f"{name}@{k}": value.item() for name in found for k, value in found[name].items()}


def main() -> None:
    print_title("open-metric-learning", "open-metric-learning", "torch")
    data = gallery()
    theirs = of_lists(data)
    known = data.query_ids >= 2  # whose identity is in the gallery
    matched = type(data)(data.query[known], data.query_ids[known], data.gallery, data.gallery_ids)
    theirs_matched = of_lists(matched)
    zero = be.reid(data.scores, "vehicleid", unmatched="zero")
    skip = be.reid(data.scores, "vehicleid", unmatched="skip")
    like_theirs = be.reid(
        data.scores,
        "vehicleid",
        unmatched="skip",
        rank_k=5,
        rank_k_over="found",
        precision_over="smaller",
    )
    whole = f"map@{len(data.gallery)}"
    figures = [
        Figure("cmc@1", theirs["cmc@1"], zero.cmc.sel(rank=1)),
        Figure("cmc@5", theirs["cmc@5"], zero.cmc.sel(rank=5)),
        Figure("map@k, k the size of the gallery", theirs[whole], zero.mean_ap),
        Figure(
            "precision@5, every query with 5 matches",
            theirs_matched["precision@5"],
            skip.precision_at_k.sel(rank=5),
        ),
        Figure(
            "map@5, every query with 5 matches (`rank_k_mean_ap`)",
            theirs_matched["map@5"],
            like_theirs.rank_k_mean_ap,
        ),
        Figure(
            "precision@10, every query with 5 matches",
            theirs_matched["precision@10"],
            like_theirs.precision_at_k.sel(rank=10),
        ),
        Figure(
            "precision@5",
            theirs["precision@5"],
            zero.precision_at_k.sel(rank=5),
            "not a number there where a query has no match",
        ),
    ]
    values, genuine = trials()
    few = genuine | (np.cumsum(~genuine) <= 150)
    for chosen, words in ((genuine | ~genuine, ""), (few, " of 150 impostor scores")):
        distances, same = -values[chosen], genuine[chosen]
        pairs = be.Scores.from_pairs(distances, same, kind="distance")
        figures.append(
            Figure(
                f"fnmr@fmr 0.01{words}",
                calc_fnmr_at_fmr(distances[same], distances[~same], (0.01,)).item(),
                be.verification(pairs, far_targets=[0.01]).frr_at_far[0],
                "2 of 150 are accepted there, an FMR of 0.0133; at most 0.01 here" if words else "",
            )
        )
    print_figures("open-metric-learning", figures)
    many = gallery(identities=400, templates=8)
    print_costs(
        f"measures of {len(many.query):,} queries, {len(many.gallery):,} in the gallery",
        lambda: of_lists(many),
        lambda: be.reid(many.scores, "vehicleid").mean_ap.item(),
    )


if __name__ == "__main__":
    main()
