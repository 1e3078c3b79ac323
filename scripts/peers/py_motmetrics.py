# packages: motmetrics
"""py-motmetrics: two sequences that come with it.

Its release of 2022 calls `numpy.asfarray`, which numpy 2 no longer has; it is put back here.
"""

from __future__ import annotations

from pathlib import Path

import motmetrics
import numpy as np

import bioeval as be
from peers.frame import Figure, print_costs, print_figures, print_title

np.asfarray = lambda values, dtype=np.float64: np.asarray(values, dtype)
FIGURES = {
    "mota": "mota", "motp": "motp_distance", "idf1": "idf1", "idp": "idp", "idr": "idr",
    "num_switches": "idsw", "num_misses": "fn", "num_false_positives": "fp",
    "num_fragmentations": "fragmentations", "mostly_tracked": "mt", "mostly_lost": "ml",
}  # fmt: skip


def sequence(name: str) -> tuple[Path, Path]:
    folder = Path(motmetrics.__file__).parent / "data" / name
    return folder / "gt.txt", folder / "test.txt"


def theirs_of(truth, result):
    """Return the summary of the usual lines."""
    truth = motmetrics.io.loadtxt(truth, fmt="mot15-2D", min_confidence=1)
    result = motmetrics.io.loadtxt(result, fmt="mot15-2D")
    counted = motmetrics.utils.compare_to_groundtruth(truth, result, "iou", distth=0.5)
    return motmetrics.metrics.create().compute(counted, metrics=list(FIGURES))


def main() -> None:
    print_title("py-motmetrics", "motmetrics")
    files = sequence("TUD-Stadtmitte")
    theirs, ours = theirs_of(*files), be.tracking(*files)
    figures = [
        Figure(f"{name} (`{variable}`)", theirs[name].item(), ours[variable])
        for name, variable in FIGURES.items()
    ]
    print_figures("py-motmetrics", figures)
    print_costs("TUD-Stadtmitte", lambda: theirs_of(*files), lambda: be.tracking(*files))


if __name__ == "__main__":
    main()
