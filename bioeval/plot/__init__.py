"""Plots: ``be.plot.roc(result)`` and its companions, one function per plot.

Each takes a result (or several by name) and ``ax=None``, and returns a display object that holds
the arrays and has ``ax_`` and ``figure_``. Matplotlib is loaded with the first one used. The names
are those below, and the plots that studies offer.
"""

from bioeval.base.lazy import NamesByModule, StudyNames, lazy_names

#: The public names, by module.
_NAMES: NamesByModule = {
    "bioeval.plot.of_scores": ("matrix", "save_all", "score_distributions"),
    "bioeval.views.plots.files": ("save",),
    "bioeval.views.plots.ranks": ("CmcDisplay", "DirSurfaceDisplay", "cmc", "dir_surface"),
    "bioeval.views.plots.rates": (
        "DetDisplay",
        "DirFarDisplay",
        "ErrorRatesDisplay",
        "RocDisplay",
        "det",
        "dir_far",
        "error_rates",
        "roc",
    ),
    "bioeval.views.plots.score_plots": ("MatrixDisplay", "ScoreDistributionsDisplay"),
}


def _of_studies() -> StudyNames:
    from bioeval.base.studies import clashes_of, manifests

    modules = {}
    for study in manifests().values():
        for plot in study.plots:
            modules |= {plot.name: plot.home, plot.display: plot.home}
    return StudyNames(modules, clashes=clashes_of("be.plot"))


__getattr__, __dir__ = lazy_names(__name__, _NAMES, of_studies=_of_studies)
