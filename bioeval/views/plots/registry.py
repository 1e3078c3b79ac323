"""The registry of plots: the variables, module and file names of each.

Read by :mod:`bioeval.plot`, by ``save_all``, by the page, and by the messages that name the plot
for a result. Here are the plots of verification, identification and scores; each study offers its
own.
"""

from __future__ import annotations

from bioeval.base.manifest import Needs, Plot, along
from bioeval.base.studies import manifests

_DIR: Needs = {"far": ("threshold",), "dir": ("threshold", "rank")}

_GENERAL = (
    Plot(
        "roc",
        "RocDisplay",
        "bioeval.views.plots.rates",
        "be.verification",
        (along("threshold", "far", "gar"),),
        {"roc": {}, "roc-log": {"log": True}},
    ),
    Plot(
        "det",
        "DetDisplay",
        "bioeval.views.plots.rates",
        "be.verification",
        (along("threshold", "far", "frr"),),
        {"det": {}},
        prefer="gar",
    ),
    Plot(
        "error_rates",
        "ErrorRatesDisplay",
        "bioeval.views.plots.rates",
        "be.verification",
        (along("threshold", "far", "frr"),),
        {"error-rates": {}},
        one_system=True,
        prefer="gar",
    ),
    Plot(
        "dir_far",
        "DirFarDisplay",
        "bioeval.views.plots.rates",
        "be.open_set",
        (_DIR,),
        {"dir-far": {}, "dir-far-log": {"log": True}},
    ),
    Plot(
        "cmc",
        "CmcDisplay",
        "bioeval.views.plots.ranks",
        "be.closed_set",
        (along("rank", "cms"), along("rank", "cmc")),
        {"cmc": {}},
    ),
    Plot(
        "score_distributions",
        "ScoreDistributionsDisplay",
        "bioeval.views.plots.score_plots",
        "be.Scores",
        (),
        {"score-distributions": {}},
    ),
    Plot(
        "matrix",
        "MatrixDisplay",
        "bioeval.views.plots.score_plots",
        "be.Scores",
        (),
        {"matrix": {}},
    ),
)

PLOTS = {plot.name: plot for plot in _GENERAL}
PLOTS |= {plot.name: plot for study in manifests().values() for plot in study.plots}
