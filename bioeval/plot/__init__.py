"""Plots: ``be.plot.roc(result)`` and its companions, one function per plot.

Each takes a result (or several by name) and ``ax=None``, and returns a display object that holds
the arrays and has ``ax_`` and ``figure_``. Among its ``**style``, each also takes ``figsize=`` (the
width and the height of a new figure, in inches) and ``title=``: None leaves out the title and the
lines below it, and a text replaces the title. ``be.plot.style("slide")`` makes figures for slides,
``be.plot.style("paper")`` for a column of a journal. Matplotlib is loaded with the first one used.
The names are those below, and the plots that studies offer.
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
    "bioeval.views.plots.style": ("style",),
}


def _of_studies() -> StudyNames:
    from bioeval.base.studies import clashes_of, manifests

    modules = {}
    for study in manifests().values():
        for plot in study.plots:
            modules |= {plot.name: plot.home, plot.display: plot.home}
    return StudyNames(modules, clashes=clashes_of("be.plot"))


__getattr__, __dir__ = lazy_names(__name__, _NAMES, of_studies=_of_studies)
