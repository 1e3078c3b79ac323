# packages: pyannote.metrics
"""pyannote.metrics: EER of its DET curve."""

from __future__ import annotations

import numpy as np
from pyannote.metrics.binary_classification import det_curve

import bioeval as be
from peers.frame import Figure, print_figures, print_title, trials


def main() -> None:
    print_title("pyannote.metrics", "pyannote.metrics")
    figures = []
    separable = np.arange(40.0), np.arange(40) >= 20
    why = "mean of FAR and FRR at two neighbouring points of scikit-learn's thinned curve"
    for words, (values, genuine) in (
        ("", trials()),
        (", scores of one decimal", trials(ties=True)),
        (", scores that are separable", separable),
    ):
        ds = be.verification(be.Scores.from_pairs(values, genuine, kind="similarity"))
        figures.append(Figure(f"EER{words}", det_curve(genuine, values)[3], ds.eer, why))
    print_figures("pyannote.metrics", figures)


if __name__ == "__main__":
    main()
