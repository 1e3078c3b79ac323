# packages:
"""hyperion: EER of the convex hull, DCF and Cllr, from a checkout of hyperion-ml/hyperion."""

from __future__ import annotations

import numpy as np

import bioeval as be
from peers.frame import Figure, checkout, print_figures, print_title, trials

PRIORS = [0.01, 0.5]


def main() -> None:
    commit = checkout("hyperion", "hyperion", "hyperion.metrics", "hyperion.utils")
    from hyperion.metrics.cllr import compute_cllr
    from hyperion.metrics.dcf import compute_act_dcf, compute_min_dcf
    from hyperion.metrics.eer import compute_eer

    print_title("hyperion", commit=commit)
    figures = []
    for ties in (False, True):
        values, genuine = trials(ties)
        words = ", scores of one decimal" if ties else ""
        ratios = be.Scores.from_pairs(values, genuine, kind="llr")
        ds, calibrated = be.verification(ratios), be.calibration(ratios, priors=PRIORS)
        target, other = values[genuine], values[~genuine]
        actual = compute_act_dcf(target, other, np.array(PRIORS))[0]
        smallest = compute_min_dcf(target, other, np.array(PRIORS))[0]
        figures.append(
            Figure(f"compute_eer (`eer_hull`){words}", compute_eer(target, other), ds.eer_hull)
        )
        for index, prior in enumerate(PRIORS):
            figures += [
                Figure(
                    f"compute_min_dcf at prior {prior} (`min_dcf`){words}",
                    smallest[index],
                    calibrated.min_dcf[index],
                ),
                Figure(
                    f"compute_act_dcf at prior {prior} (`act_dcf`){words}",
                    np.ravel(actual)[index],
                    calibrated.act_dcf[index],
                ),
            ]
    values, genuine = trials()
    target, other = values[genuine], values[~genuine]
    cost = be.calibration(be.Scores.from_pairs(values, genuine, kind="llr")).cllr
    softplus = np.logaddexp(0, -target).mean() + np.logaddexp(0, other).mean()
    figures += [
        Figure("Cllr from its definition (`cllr`)", softplus / np.log(4), cost),
        Figure(
            "compute_cllr (`cllr`)",
            compute_cllr(target, other),
            cost,
            "non-target ratios are taken with the sign of target ones there, at this commit",
        ),
    ]
    print_figures("hyperion", figures)


if __name__ == "__main__":
    main()
