"""bioeval: what the scores of a recognition system really mean.

``import bioeval as be``; the names below are loaded when they are first used, so that importing
the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from bioeval.base.version import __version__

# Written out, since type checkers read it.
__all__ = [
    "BioevalError",
    "BioevalWarning",
    "Calibrator",
    "CardError",
    "DataError",
    "Fusion",
    "MergeError",
    "PairScores",
    "Protocol",
    "ProtocolError",
    "Scores",
    "Tally",
    "TopKScores",
    "__version__",
    "ageing",
    "apply_convention",
    "by_group",
    "calibration",
    "closed_set",
    "compare",
    "cross_evaluate",
    "eer_scorer",
    "epc",
    "error_discard",
    "evaluate",
    "fuse",
    "gallery_size",
    "gom",
    "gom_from_curves",
    "load",
    "make_scorer",
    "mean_over_galleries",
    "normalise",
    "open_set",
    "over_time",
    "parse_names",
    "partition",
    "plot",
    "ranks",
    "refine_tally",
    "reid",
    "repeat",
    "sample_size",
    "save",
    "simulate",
    "simulate_embeddings",
    "stats",
    "study_threshold",
    "summary",
    "tally",
    "top_k",
    "tracking",
    "verification",
    "zoo",
    "with_failures",
    "workload",
    "worst_pairs",
]

# Where each public name is defined; "bioeval" is a module of the public surface, such as be.plot.
_HOMES = {
    "Scores": "bioeval.scores.matrix",
    "PairScores": "bioeval.scores.matrix",
    "TopKScores": "bioeval.scores.top_k",
    "Tally": "bioeval.evaluation.tally",
    "Protocol": "bioeval.protocol",
    "load": "bioeval.scores.formats",
    "save": "bioeval.scores.formats",
    "parse_names": "bioeval.scores.formats.image_names",
    "simulate": "bioeval.scores.simulation.scores_of_people",
    "simulate_embeddings": "bioeval.scores.simulation.scores_of_people",
    "plot": "bioeval",
    "partition": "bioeval",
    "stats": "bioeval",
    "evaluate": "bioeval.evaluation.evaluate",
    "summary": "bioeval.evaluation.evaluate",
    "tally": "bioeval.evaluation.tally",
    "verification": "bioeval.evaluation.tasks",
    "open_set": "bioeval.evaluation.tasks",
    "closed_set": "bioeval.evaluation.tasks",
    "ranks": "bioeval.evaluation.tasks",
    "by_group": "bioeval.evaluation.groups",
    "epc": "bioeval.evaluation.expected_performance",
    "error_discard": "bioeval.evaluation.discard",
    "tracking": "bioeval.mot",
    "top_k": "bioeval.results.top_k",
    "with_failures": "bioeval.results.failures",
    "workload": "bioeval.evaluation.workload",
    "worst_pairs": "bioeval.evaluation.worst_pairs",
    "sample_size": "bioeval.evaluation.sample_size",
    "compare": "bioeval.evaluation.compare",
    "gallery_size": "bioeval.evaluation.gallery_size",
    "over_time": "bioeval.evaluation.over_time",
    "ageing": "bioeval.evaluation.over_time",
    "reid": "bioeval.evaluation.reid",
    "gom": "bioeval.evaluation.reid",
    "gom_from_curves": "bioeval.results.gom",
    "mean_over_galleries": "bioeval.results.galleries",
    "zoo": "bioeval.evaluation.zoo",
    "apply_convention": "bioeval.evaluation.reid",
    "refine_tally": "bioeval.evaluation.tally",
    "cross_evaluate": "bioeval.evaluation.cross",
    "repeat": "bioeval.evaluation.cross",
    "study_threshold": "bioeval.evaluation.cross",
    "make_scorer": "bioeval.evaluation.cross",
    "eer_scorer": "bioeval.evaluation.cross",
    "calibration": "bioeval.evaluation.calibration",
    "Calibrator": "bioeval.evaluation.calibrator",
    "fuse": "bioeval.evaluation.fusion",
    "Fusion": "bioeval.evaluation.fusion",
    "normalise": "bioeval.evaluation.normalise",
    "BioevalError": "bioeval.base.errors",
    "BioevalWarning": "bioeval.base.errors",
    "DataError": "bioeval.base.errors",
    "ProtocolError": "bioeval.base.errors",
    "CardError": "bioeval.base.errors",
    "MergeError": "bioeval.base.errors",
}


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from bioeval import partition, plot, stats
    from bioeval.base.errors import (
        BioevalError,
        BioevalWarning,
        CardError,
        DataError,
        MergeError,
        ProtocolError,
    )
    from bioeval.evaluation.calibration import calibration
    from bioeval.evaluation.calibrator import Calibrator
    from bioeval.evaluation.compare import compare
    from bioeval.evaluation.cross import (
        cross_evaluate,
        eer_scorer,
        make_scorer,
        repeat,
        study_threshold,
    )
    from bioeval.evaluation.discard import error_discard
    from bioeval.evaluation.evaluate import evaluate, summary
    from bioeval.evaluation.expected_performance import epc
    from bioeval.evaluation.fusion import Fusion, fuse
    from bioeval.evaluation.gallery_size import gallery_size
    from bioeval.evaluation.groups import by_group
    from bioeval.evaluation.normalise import normalise
    from bioeval.evaluation.over_time import ageing, over_time
    from bioeval.evaluation.reid import apply_convention, gom, reid
    from bioeval.evaluation.sample_size import sample_size
    from bioeval.evaluation.tally import Tally, refine_tally, tally
    from bioeval.evaluation.tasks import closed_set, open_set, ranks, verification
    from bioeval.evaluation.workload import workload
    from bioeval.evaluation.worst_pairs import worst_pairs
    from bioeval.evaluation.zoo import zoo
    from bioeval.mot import tracking
    from bioeval.protocol.card import Protocol
    from bioeval.results.failures import with_failures
    from bioeval.results.galleries import mean_over_galleries
    from bioeval.results.gom import gom_from_curves
    from bioeval.results.top_k import top_k
    from bioeval.scores.formats import load, save
    from bioeval.scores.formats.image_names import parse_names
    from bioeval.scores.matrix import PairScores, Scores
    from bioeval.scores.simulation.scores_of_people import simulate, simulate_embeddings
    from bioeval.scores.top_k import TopKScores
else:

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            from bioeval.base.errors import nearest_name

            raise AttributeError(f"bioeval has no {name!r}.{nearest_name(name, __all__)}")
        if _HOMES[name] == "bioeval":
            return importlib.import_module(f"bioeval.{name}")
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
