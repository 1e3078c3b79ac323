"""Plots: ``be.plot.roc(result)`` and its companions, one function per plot.

Each takes a result (or several by name) and ``ax=None``, and returns a display object that holds
the arrays and has ``ax_`` and ``figure_``. Matplotlib is loaded with the first one used. The names
are those of ``__init__.pyi``, and the plots that studies offer.
"""

from bioeval.base.lazy import Offered, lazy_names


def _of_studies() -> Offered:
    from bioeval.base.offers import clashes_of, doors

    homes = {}
    for study in doors().values():
        for plot in study.plots:
            homes |= {plot.name: plot.home, plot.display: plot.home}
    return Offered(homes, {}, clashes_of("be.plot"))


__getattr__, __dir__ = lazy_names(__spec__, offered=_of_studies)
