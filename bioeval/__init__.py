"""bioeval: what the scores of a recognition system really mean.

``import bioeval as be``; the names below are loaded when they are first used, so that importing
the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bioeval.version import __version__

# Where each public name lives.
_HOMES = {
    "Scores": "bioeval.scores",
    "PairScores": "bioeval.scores",
    "TopKScores": "bioeval.ranked_lists",
    "Tally": "bioeval.tally_bundle",
    "Protocol": "bioeval.protocol",
    "load": "bioeval.formats",
    "save": "bioeval.formats",
    "parse_names": "bioeval.formats.file_names",
    "simulate": "bioeval.simulation",
    "plot": "bioeval",
    "partition": "bioeval",
    "stats": "bioeval",
    "evaluate": "bioeval.pipeline",
    "tally": "bioeval.pipeline",
    "verification": "bioeval.tasks",
    "open_set": "bioeval.tasks",
    "closed_set": "bioeval.tasks",
    "ranks": "bioeval.tasks",
    "tracking": "bioeval.mot",
    "top_k": "bioeval.metrics.ranked_lists",
    "compare": "bioeval.two_systems",
    "gallery_size": "bioeval.exact.by_size",
    "reid": "bioeval.reid_tasks",
    "gom": "bioeval.reid_tasks",
    "apply_convention": "bioeval.reid_tasks",
    "refine_tally": "bioeval.pipeline",
    "cross_evaluate": "bioeval.cross",
    "repeat": "bioeval.cross",
    "study_threshold": "bioeval.cross",
    "make_scorer": "bioeval.cross",
    "eer_scorer": "bioeval.cross",
    "BioevalError": "bioeval.errors",
    "BioevalWarning": "bioeval.errors",
    "DataError": "bioeval.errors",
    "ProtocolError": "bioeval.errors",
    "CardError": "bioeval.errors",
    "MergeError": "bioeval.errors",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        from bioeval.errors import nearest_name

        raise AttributeError(f"bioeval has no {name!r}.{nearest_name(name, __all__)}")
    if _HOMES[name] == "bioeval":  # a module of the public surface, such as be.plot
        return importlib.import_module(f"bioeval.{name}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from bioeval import partition, plot, stats
    from bioeval.cross import cross_evaluate, eer_scorer, make_scorer, repeat, study_threshold
    from bioeval.errors import (
        BioevalError,
        BioevalWarning,
        CardError,
        DataError,
        MergeError,
        ProtocolError,
    )
    from bioeval.exact.by_size import gallery_size
    from bioeval.formats import load, save
    from bioeval.formats.file_names import parse_names
    from bioeval.metrics.ranked_lists import top_k
    from bioeval.mot import tracking
    from bioeval.pipeline import evaluate, refine_tally, tally
    from bioeval.protocol import Protocol
    from bioeval.ranked_lists import TopKScores
    from bioeval.reid_tasks import apply_convention, gom, reid
    from bioeval.scores import PairScores, Scores
    from bioeval.simulation import simulate
    from bioeval.tally_bundle import Tally
    from bioeval.tasks import closed_set, open_set, ranks, verification
    from bioeval.two_systems import compare
