"""Plots: ``be.plot.roc(result)`` and its companions, one function a plot.

Each takes a result (or several by name) and ``ax=None``, and returns a display object that holds
the arrays and has ``ax_`` and ``figure_``. Matplotlib is loaded when the first one is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# Where each name lives.
_HOMES = {
    "score_distributions": "bioeval.plots.score_distributions",
    "roc": "bioeval.plots.roc",
    "det": "bioeval.plots.det",
    "error_rates": "bioeval.plots.error_rates",
    "dir_far": "bioeval.plots.dir_far",
    "dir_surface": "bioeval.plots.dir_surface",
    "cmc": "bioeval.plots.cmc",
    "gallery_size": "bioeval.plots.by_size",
    "matrix": "bioeval.plots.matrix",
    "timeline": "bioeval.plots.timeline",
    "repeated": "bioeval.plots.repeated",
    "threshold_study": "bioeval.plots.threshold_folds",
    "save": "bioeval.plots.files",
    "save_all": "bioeval.plots.gallery",
    "ScoreDistributionsDisplay": "bioeval.plots.score_distributions",
    "RocDisplay": "bioeval.plots.roc",
    "DetDisplay": "bioeval.plots.det",
    "ErrorRatesDisplay": "bioeval.plots.error_rates",
    "DirFarDisplay": "bioeval.plots.dir_far",
    "DirSurfaceDisplay": "bioeval.plots.dir_surface",
    "CmcDisplay": "bioeval.plots.cmc",
    "GallerySizeDisplay": "bioeval.plots.by_size",
    "MatrixDisplay": "bioeval.plots.matrix",
    "TimelineDisplay": "bioeval.plots.timeline",
    "RepeatedDisplay": "bioeval.plots.repeated",
    "ThresholdStudyDisplay": "bioeval.plots.threshold_folds",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        from bioeval.errors import nearest_name

        raise AttributeError(f"bioeval.plot has no {name!r}.{nearest_name(name, __all__)}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from bioeval.plots.by_size import GallerySizeDisplay as GallerySizeDisplay
    from bioeval.plots.by_size import gallery_size as gallery_size
    from bioeval.plots.cmc import CmcDisplay as CmcDisplay
    from bioeval.plots.cmc import cmc as cmc
    from bioeval.plots.det import DetDisplay as DetDisplay
    from bioeval.plots.det import det as det
    from bioeval.plots.dir_far import DirFarDisplay as DirFarDisplay
    from bioeval.plots.dir_far import dir_far as dir_far
    from bioeval.plots.dir_surface import DirSurfaceDisplay as DirSurfaceDisplay
    from bioeval.plots.dir_surface import dir_surface as dir_surface
    from bioeval.plots.error_rates import ErrorRatesDisplay as ErrorRatesDisplay
    from bioeval.plots.error_rates import error_rates as error_rates
    from bioeval.plots.files import save as save
    from bioeval.plots.gallery import save_all as save_all
    from bioeval.plots.matrix import MatrixDisplay as MatrixDisplay
    from bioeval.plots.matrix import matrix as matrix
    from bioeval.plots.repeated import RepeatedDisplay as RepeatedDisplay
    from bioeval.plots.repeated import repeated as repeated
    from bioeval.plots.roc import RocDisplay as RocDisplay
    from bioeval.plots.roc import roc as roc
    from bioeval.plots.score_distributions import (
        ScoreDistributionsDisplay as ScoreDistributionsDisplay,
    )
    from bioeval.plots.score_distributions import score_distributions as score_distributions
    from bioeval.plots.threshold_folds import ThresholdStudyDisplay as ThresholdStudyDisplay
    from bioeval.plots.threshold_folds import threshold_study as threshold_study
    from bioeval.plots.timeline import TimelineDisplay as TimelineDisplay
    from bioeval.plots.timeline import timeline as timeline
