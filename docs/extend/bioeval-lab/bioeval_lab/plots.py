"""The plot of accepted impostors."""

from bioeval.views.plots import CurvesDisplay, CurveSpec


class AcceptedDisplay(CurvesDisplay):
    """Impostors among the accepted; ``x`` of a curve is the threshold."""

    spec = CurveSpec(
        "accepted_impostors",
        "Impostors",
        "threshold",
        {"impostors_accepted": ""},
        "Threshold",
        "Proportion of the accepted claims",
        limits=lambda display: {},  # those of the data
    )


def accepted_impostors(data, ax=None, **style):
    """Draw the proportion of accepted claims that are impostors' against the threshold."""
    return AcceptedDisplay.from_results(data).plot(ax, **style)
