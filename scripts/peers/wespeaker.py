# packages: kaldiio fire tqdm
"""WeSpeaker: EER, minDCF and AS-norm of its recipes, from a checkout of wenet-e2e/wespeaker."""

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
    from wespeaker.bin import score_norm as norm
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

    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(60), 4)
    x = rng.normal(size=(60, 16))[who] + rng.normal(size=(240, 16))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    enrol, test, cohort = x[:160:4], x[1:160:4], x[160:]
    scores = enrol @ test.T
    of_enrol = norm.get_mean_std(enrol, cohort, 20)
    of_test = norm.get_mean_std(test, cohort, 20)
    normed = (scores - of_enrol[0][:, None]) / of_enrol[1][:, None]
    normed = 0.5 * (normed + (scores - of_test[0]) / of_test[1])
    people = who[:160:4]
    ours = be.normalise(
        be.Scores(scores, people, people, kind="similarity"),
        "as",
        be.Scores(test @ cohort.T, people, who[160:], kind="similarity"),
        probe_cohort=be.Scores(enrol @ cohort.T, people, who[160:], kind="similarity"),
        top=20,
    )
    largest = np.abs(normed - ours.values).argmax()
    figures.append(
        Figure(
            "AS-norm, top 20: the score that differs most",
            normed.flat[largest],
            np.asarray(ours.values).flat[largest],
        )
    )
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
