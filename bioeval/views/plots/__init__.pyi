"""The names of this package, for type checkers; written by scripts/stub."""

from bioeval.views.plots.display import (
    Curve as Curve,
    CurvesDisplay as CurvesDisplay,
    CurveSpec as CurveSpec,
    Display as Display,
    OneResultDisplay as OneResultDisplay,
)
from bioeval.views.plots.files import save as save
from bioeval.views.plots.rates import DetDisplay as DetDisplay
from bioeval.views.plots.registry import PLOTS as PLOTS
from bioeval.views.plots.score_plots import ScoreDistributionsDisplay as ScoreDistributionsDisplay
from bioeval.views.plots.style import Style as Style
from bioeval.views.plots.systems import (
    System as System,
    as_plot_text as as_plot_text,
    plot_files as plot_files,
)
