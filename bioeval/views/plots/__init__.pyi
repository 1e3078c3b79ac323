"""What studies use of this package."""

from bioeval.views.plots.direct_labels import Labelled as Labelled
from bioeval.views.plots.display import (
    Curve as Curve,
    CurvesDisplay as CurvesDisplay,
    CurveSpec as CurveSpec,
    Display as Display,
    OneResultDisplay as OneResultDisplay,
    curve_of as curve_of,
)
from bioeval.views.plots.files import save as save
from bioeval.views.plots.rates import DetDisplay as DetDisplay
from bioeval.views.plots.score_plots import ScoreDistributionsDisplay as ScoreDistributionsDisplay
from bioeval.views.plots.style import (
    HUES as HUES,
    QUIET as QUIET,
    RULE as RULE,
    SMALL_SIZE as SMALL_SIZE,
    TEXT as TEXT,
    colour_of as colour_of,
    dash as dash,
    ink as ink,
    log_axis as log_axis,
    measured as measured,
    percent as percent,
    rank_axis as rank_axis,
    ranks_shown as ranks_shown,
    rate_limits as rate_limits,
)
from bioeval.views.plots.systems import (
    System as System,
    agreed as agreed,
    as_plot_text as as_plot_text,
    convention as convention,
    pick as pick,
    plot_files as plot_files,
    score_label as score_label,
    threshold_label as threshold_label,
)
