"""Data of every plot, of one to six systems with long names, and where its texts lie."""

import functools
from collections.abc import Callable
from typing import Any

from study_cases import study_cases
from systems import NAMES, scores

import bioeval as be
from bioeval.plot.registry import PLOTS

#: Plots of one result whatever is given; the others take several by name.
ONE = {name for name, plot in PLOTS.items() if plot.one_system} - {"error_rates", "apcer", "iapar"}
ONE |= {"matrix", "ranked_lists"}
MANY = sorted(set(PLOTS) - ONE)


#: The result of the system of a number, by plot.
_RESULTS: dict[str, Callable[[int], Any]] = {
    **dict.fromkeys(("roc", "det", "error_rates"), lambda i: be.verification(scores(i))),
    "dir_far": lambda i: be.open_set(scores(i)),
    "cmc": lambda i: be.closed_set(scores(i, 6)),
    **dict.fromkeys(("score_distributions", "matrix"), scores),
    **study_cases("PLOTS"),
}

_result = functools.cache(lambda make, i: make(i))


def made_for(name: str, system: int = 0) -> Any:
    """Return what a plot draws of the system of a number."""
    return _result(_RESULTS[name], system)


def drawn(name: str, systems: int = 1, **options: Any) -> Any:
    """Return the display of a plot of so many systems, drawn with its canvas."""
    made = [made_for(name, i) for i in range(systems)]
    data = made[0] if name in ONE else dict(zip(NAMES, made, strict=False))
    if name == "ranked_lists":
        options |= {"thresholds": [0.2, 0.6], "convention": "vehicleid"}
    display = getattr(be.plot, name)(data, **options)
    display.figure_.canvas.draw()
    return display
