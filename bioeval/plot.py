"""Plots: ``be.plot.roc(result)`` and its companions, one function a plot.

Each takes a result (or several by name) and ``ax=None``, and returns a display object that holds
the arrays and has ``ax_`` and ``figure_``. Matplotlib is loaded when the first one is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Where each name lives.
_HOMES = {
    "score_distributions": "bioeval.views.plots.score_distributions",
    "roc": "bioeval.views.plots.roc",
    "det": "bioeval.views.plots.det",
    "error_rates": "bioeval.views.plots.error_rates",
    "dir_far": "bioeval.views.plots.dir_far",
    "dir_surface": "bioeval.views.plots.dir_surface",
    "cmc": "bioeval.views.plots.cmc",
    "gallery_size": "bioeval.views.plots.gallery_size",
    "matrix": "bioeval.views.plots.matrix",
    "timeline": "bioeval.mot.timeline",
    "repeated": "bioeval.views.plots.repeated",
    "threshold_study": "bioeval.views.plots.threshold_study",
    "save": "bioeval.views.plots.save",
    "save_all": "bioeval.views.plots.save_all",
    "ScoreDistributionsDisplay": "bioeval.views.plots.score_distributions",
    "RocDisplay": "bioeval.views.plots.roc",
    "DetDisplay": "bioeval.views.plots.det",
    "ErrorRatesDisplay": "bioeval.views.plots.error_rates",
    "DirFarDisplay": "bioeval.views.plots.dir_far",
    "DirSurfaceDisplay": "bioeval.views.plots.dir_surface",
    "CmcDisplay": "bioeval.views.plots.cmc",
    "GallerySizeDisplay": "bioeval.views.plots.gallery_size",
    "MatrixDisplay": "bioeval.views.plots.matrix",
    "TimelineDisplay": "bioeval.mot.timeline",
    "RepeatedDisplay": "bioeval.views.plots.repeated",
    "ThresholdStudyDisplay": "bioeval.views.plots.threshold_study",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        from bioeval.base.errors import nearest_name

        raise AttributeError(f"bioeval.plot has no {name!r}.{nearest_name(name, __all__)}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from bioeval.mot.timeline import TimelineDisplay as TimelineDisplay
    from bioeval.mot.timeline import timeline as timeline
    from bioeval.views.plots.cmc import CmcDisplay as CmcDisplay
    from bioeval.views.plots.cmc import cmc as cmc
    from bioeval.views.plots.det import DetDisplay as DetDisplay
    from bioeval.views.plots.det import det as det
    from bioeval.views.plots.dir_far import DirFarDisplay as DirFarDisplay
    from bioeval.views.plots.dir_far import dir_far as dir_far
    from bioeval.views.plots.dir_surface import DirSurfaceDisplay as DirSurfaceDisplay
    from bioeval.views.plots.dir_surface import dir_surface as dir_surface
    from bioeval.views.plots.error_rates import ErrorRatesDisplay as ErrorRatesDisplay
    from bioeval.views.plots.error_rates import error_rates as error_rates
    from bioeval.views.plots.gallery_size import GallerySizeDisplay as GallerySizeDisplay
    from bioeval.views.plots.gallery_size import gallery_size as gallery_size
    from bioeval.views.plots.matrix import MatrixDisplay as MatrixDisplay
    from bioeval.views.plots.matrix import matrix as matrix
    from bioeval.views.plots.repeated import RepeatedDisplay as RepeatedDisplay
    from bioeval.views.plots.repeated import repeated as repeated
    from bioeval.views.plots.roc import RocDisplay as RocDisplay
    from bioeval.views.plots.roc import roc as roc
    from bioeval.views.plots.save import save as save
    from bioeval.views.plots.save_all import save_all as save_all
    from bioeval.views.plots.score_distributions import (
        ScoreDistributionsDisplay as ScoreDistributionsDisplay,
    )
    from bioeval.views.plots.score_distributions import score_distributions as score_distributions
    from bioeval.views.plots.threshold_study import ThresholdStudyDisplay as ThresholdStudyDisplay
    from bioeval.views.plots.threshold_study import threshold_study as threshold_study
