# packages:
"""hyperion: EER of the convex hull and least DCF, from a checkout of hyperion-ml/hyperion."""

from __future__ import annotations

import numpy as np

import bioeval as be
from peers.frame import Figure, checkout, print_figures, print_title, trials

PRIORS = [0.01, 0.5]


def main() -> None:
    commit = checkout("hyperion", "hyperion", "hyperion.metrics", "hyperion.utils")
    from hyperion.metrics.dcf import compute_min_dcf
    from hyperion.metrics.eer import compute_eer

    print_title("hyperion", commit=commit)
    figures = []
    for ties in (False, True):
        values, genuine = trials(ties)
        words = ", scores of one decimal" if ties else ""
        scores = be.Scores.from_pairs(values, genuine, kind="similarity")
        ds = be.verification(scores, costs=[(prior, 1, 1) for prior in PRIORS])
        target, other = values[genuine], values[~genuine]
        smallest = compute_min_dcf(target, other, np.array(PRIORS))[0]
        figures.append(
            Figure(f"compute_eer (`eer_hull`){words}", compute_eer(target, other), ds.eer_hull)
        )
        for index, prior in enumerate(PRIORS):
            name = f"compute_min_dcf at prior {prior} (`min_dcf`){words}"
            figures.append(Figure(name, smallest[index], ds.min_dcf[index]))
    print_figures("hyperion", figures)


if __name__ == "__main__":
    main()
