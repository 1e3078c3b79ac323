# packages: fairlearn
"""fairlearn: rates by group of pairs."""

from __future__ import annotations

import numpy as np
from fairlearn.metrics import MetricFrame, false_negative_rate, false_positive_rate

import bioeval as be
from peers.frame import Figure, print_figures, print_title


def main() -> None:
    print_title("fairlearn", "fairlearn")
    scores = be.simulate(80, 4, random_state=1)
    group = np.where(scores.probe_labels % 2, "a", "b")
    threshold = be.verification(scores).eer_threshold.item()
    ds = be.by_group(scores, group, threshold=threshold)
    rows, columns = np.nonzero(~np.eye(len(group), dtype=bool))
    same = scores.probe_labels[rows] == scores.probe_labels[columns]
    accepted = np.asarray(scores.values)[rows, columns] <= threshold
    within = group[rows] == group[columns]
    rates = {"fpr": false_positive_rate, "fnr": false_negative_rate}
    probes = MetricFrame(
        metrics=rates, y_true=same, y_pred=accepted, sensitive_features=group[rows]
    ).by_group
    inside = MetricFrame(
        metrics=rates,
        y_true=same[within],
        y_pred=accepted[within],
        sensitive_features=group[rows[within]],
    ).by_group
    a = ds.sel(group="a", claimed_group="a")
    print_figures(
        "fairlearn",
        [
            Figure("false negative rate of group a (`frr`)", probes.fnr["a"], a.frr),
            Figure("false positive rate, pairs within group a (`far`)", inside.fpr["a"], a.far),
            Figure(
                "false positive rate of probes of group a (`far` within it)",
                probes.fpr["a"],
                a.far,
                "claims of both groups together there",
            ),
        ],
    )


if __name__ == "__main__":
    main()
