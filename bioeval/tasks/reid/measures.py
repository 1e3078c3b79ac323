"""Numbers of open-world re-identification (GOM) that systems are compared by."""

from bioeval.results.measure import Measure
from bioeval.scores.matrix import Scores
from bioeval.tasks.reid.reid import gom


def _area(scores: Scores, name: str) -> float:
    """Return an area of GOM; without cameras no gallery entry is removed by them."""
    convention = "market1501" if "camera" in scores.probe_meta else "vehicleid"
    return float(gom(scores, convention=convention)[name].item())


MEASURES = (
    Measure(
        "mrep_area",
        lambda scores: _area(scores, "mrep_area"),
        label="area of mReP",
        larger_is_better=True,
        percent=True,
        meaning="area under mReP, the mean of sqrt(RP VP), over the thresholds",
    ),
    Measure(
        "mfr_area",
        lambda scores: _area(scores, "mfr_area"),
        label="area of mFR",
        percent=True,
        meaning="area under mFR, the mean false retrievals of queries that are not enrolled",
    ),
)
