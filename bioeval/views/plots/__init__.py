"""Plots: displays that hold arrays and draw on a given axis; those of curves are specs.

A display picks arrays from results and computes no rate. The public way in is :mod:`bioeval.plot`.
"""

from bioeval.base.lazy import NamesByModule, lazy_names

#: What studies use of this package, by module.
_NAMES: NamesByModule = {
    "bioeval.views.plots.display": (
        "Curve",
        "CurvesDisplay",
        "CurveSpec",
        "Display",
        "OneResultDisplay",
    ),
    "bioeval.views.plots.files": ("save",),
    "bioeval.views.plots.rates": ("DetDisplay",),
    "bioeval.views.plots.registry": ("PLOTS",),
    "bioeval.views.plots.score_plots": ("ScoreDistributionsDisplay",),
    "bioeval.views.plots.style": ("Style",),
    "bioeval.views.plots.systems": ("System", "as_plot_text", "plot_files"),
}

__getattr__, __dir__ = lazy_names(__name__, _NAMES)
