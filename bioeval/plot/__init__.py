"""Plots: ``be.plot.roc(result)`` and its companions, one function per plot.

Each takes a result (or several by name) and ``ax=None``, and returns a display with ``ax_`` and
``figure_``, and with the ``curves`` of a plot of curves. Among its ``**style``, each also takes
``figsize=`` (the width and the height of a new figure, in inches) and ``title=``: None leaves out
the title and the line below it, and a text replaces the title. ``be.plot.style("slide")`` makes
figures for slides, ``be.plot.style("paper")`` for a column of a journal. Matplotlib is loaded with
the first one used. help(be.plot.roc) explains a plot with its arguments and an example.

``docs/plots.md`` shows all plots.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
