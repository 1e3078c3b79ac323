# packages: deepface tf-keras werkzeug
"""DeepFace: its distances, and what its built-in thresholds give on faces.

`DeepFace.verify` loads the weights of a model first, which are not on the package index. So its own
functions of distance and threshold are called with the descriptors of the faces that come with
bioeval, which are of the model that it calls Dlib.
"""

from __future__ import annotations

import numpy as np
from deepface.modules.verification import find_distance, find_threshold

import bioeval as be
from peers.frame import Figure, print_costs, print_figures, print_title

METRICS = {"cosine": "cosine", "euclidean": "l2"}


def main() -> None:
    print_title("DeepFace", "deepface")
    faces = be.datasets.faces()
    x, who = faces.descriptors.astype(np.float64), faces.people
    other = ~np.eye(len(who), dtype=bool)
    same = who[:, None] == who
    figures = []
    for name, metric in METRICS.items():
        threshold = find_threshold("Dlib", name)
        accepted = np.asarray(find_distance(x, x, name)) <= threshold
        ds = be.verification(
            be.Scores.from_embeddings(x, who, metric=metric), thresholds=[threshold]
        )
        words = f"at its threshold {threshold:g} of {name} distances"
        figures += [
            Figure(f"FAR {words}", accepted[~same].mean(), ds.far[0]),
            Figure(f"FRR {words}", 1 - accepted[same & other].mean(), ds.frr[0]),
        ]
    print_figures("DeepFace", figures)
    scores = be.Scores.from_embeddings(x, who, metric="l2")
    ds = be.verification(scores, thresholds=[0.6], interval="people")
    study = be.study_threshold(scores, target="far=0.01", assure=0.95)
    low, high = ds.far_low.item(), ds.far_high.item()
    on_others = study["rates"].far.sel(part="test").item()
    print(
        f"FAR at 0.6 for other people: {100 * low:.2f} to {100 * high:.2f} %, from "
        f"{len(np.unique(who))} people. Thresholds for FAR 1 %: {study.threshold.item():.3f} here, "
        f"with FAR {100 * on_others:.2f} % on people who did not choose it; assured "
        f"for new people: {study.assured_threshold.item():.3f}.\n"
    )
    print_costs(
        "the distances of 400 faces in one call, against a whole evaluation",
        lambda: find_distance(x, x, "euclidean"),
        lambda: be.verification(scores),
    )


if __name__ == "__main__":
    main()
