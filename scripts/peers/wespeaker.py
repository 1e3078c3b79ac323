# packages: kaldiio fire tqdm
"""WeSpeaker: EER and minDCF of its recipes, from a checkout of wenet-e2e/wespeaker."""

from __future__ import annotations

import numpy as np

import bioeval as be
from peers.frame import Figure, checkout, print_costs, print_figures, print_title, trials

COSTS = [(0.01, 1, 1)]


def ours_of(values, genuine):
    pairs = be.Scores.from_pairs(values, genuine, kind="similarity")
    return be.verification(pairs, costs=COSTS)


def main() -> None:
    commit = checkout("wespeaker", "wespeaker")
    from wespeaker.utils import score_metrics as metrics

    print_title("WeSpeaker", commit=commit)

    def theirs_of(values, genuine):
        fnr, fpr = metrics.compute_pmiss_pfa_rbst(values, genuine)
        return metrics.compute_eer(fnr, fpr), metrics.compute_c_norm(fnr, fpr, *COSTS[0])

    values, genuine = trials()
    eer, cost = theirs_of(values, genuine)
    ds = ours_of(values, genuine)
    figures = [Figure("EER", eer, ds.eer), Figure("minDCF", cost, ds.min_dcf[0])]

    values, genuine = trials(ties=True)
    for words, order in (
        ("targets first", np.argsort(~genuine, kind="stable")),
        ("targets last", np.argsort(genuine, kind="stable")),
    ):
        eer, cost = theirs_of(values[order], genuine[order])
        ds = ours_of(values[order], genuine[order])
        for name, theirs, ours in (("EER", eer, ds.eer), ("minDCF", cost, ds.min_dcf[0])):
            why = "by the order of the file: a threshold may lie between equal scores there"
            why = why if abs(float(ours) - theirs) > 1e-6 else ""
            figures.append(Figure(f"{name}, scores of one decimal, {words}", theirs, ours, why))
    print_figures("WeSpeaker", figures)
    values, genuine = (np.tile(column, 100) for column in trials())
    values += 1e-9 * np.arange(len(values))
    print_costs(
        f"EER and minDCF of {len(values):,} trials",
        lambda: theirs_of(values, genuine),
        lambda: ours_of(values, genuine).eer.item(),
    )


if __name__ == "__main__":
    main()
