# packages: torch speechbrain
"""SpeechBrain: EER and minDCF of trials."""

from __future__ import annotations

import torch
from speechbrain.utils.metric_stats import EER, minDCF

import bioeval as be
from peers.frame import Figure, print_costs, print_figures, print_title, trials

COSTS = [(0.01, 1, 1)]


def both(values, genuine):
    return torch.as_tensor(values[genuine]), torch.as_tensor(values[~genuine])


def ours_of(values, genuine):
    pairs = be.Scores.from_pairs(values, genuine, kind="similarity")
    return be.verification(pairs, costs=COSTS)


def main() -> None:
    print_title("SpeechBrain", "speechbrain", "torch")
    figures = []
    for ties in (False, True):
        values, genuine = trials(ties)
        ds = ours_of(values, genuine)
        words = ", scores of one decimal" if ties else ""
        cost = minDCF(*both(values, genuine))[0]
        eer = EER(*both(values, genuine))[0]
        figures += [
            Figure(
                f"EER{words}",
                eer,
                ds.eer,
                "mean of FAR and FRR where they are nearest; where they cross here",
            ),
            Figure(f"minDCF (`min_cost`){words}", cost, ds.min_cost[0]),
            Figure(
                f"minDCF (`min_dcf`){words}",
                cost,
                ds.min_dcf[0],
                "divided here by the cost of the better trivial decision, as NIST does",
            ),
        ]
    print_figures("SpeechBrain", figures)
    values, genuine = trials()
    print_costs(
        f"EER and minDCF of {len(values):,} trials",
        lambda: (EER(*both(values, genuine)), minDCF(*both(values, genuine))),
        lambda: ours_of(values, genuine).eer.item(),
    )


if __name__ == "__main__":
    main()
