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
    "BestMates",
    "BioevalError",
    "BioevalWarning",
    "Calibrator",
    "CardError",
    "CheckpointError",
    "DataError",
    "EngineError",
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
    "at",
    "best_mates",
    "by_group",
    "calibration",
    "check_data",
    "closed_set",
    "compare",
    "cross_evaluate",
    "eer_scorer",
    "epc",
    "error_discard",
    "evaluate",
    "extend_tally",
    "explain",
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
    "plan_run",
    "plot",
    "ranks",
    "refine_tally",
    "reid",
    "repeat",
    "report",
    "sample_size",
    "save",
    "simulate",
    "simulate_embeddings",
    "stats",
    "step_by_step",
    "study_threshold",
    "summary",
    "tally",
    "top_k",
    "tracking",
    "verification",
    "zoo",
    "with_failures",
    "withdraw",
    "workload",
    "worst_pairs",
]

# Where each public name is defined; "bioeval" is a module of the public surface, such as be.plot.
_HOMES = {
    "Scores": "bioeval.scores.matrix",
    "PairScores": "bioeval.scores.matrix",
    "TopKScores": "bioeval.scores.top_k",
    "Tally": "bioeval.evaluation.protocol_tally",
    "BestMates": "bioeval.evaluation.gallery_parts",
    "best_mates": "bioeval.evaluation.gallery_parts",
    "Protocol": "bioeval.protocol",
    "load": "bioeval.scores.formats",
    "save": "bioeval.scores.formats",
    "parse_names": "bioeval.scores.formats.image_names",
    "simulate": "bioeval.scores.simulation.scores_of_people",
    "simulate_embeddings": "bioeval.scores.simulation.scores_of_people",
    "plot": "bioeval",
    "partition": "bioeval",
    "stats": "bioeval",
    "at": "bioeval.evaluation.rates_at",
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
    "plan_run": "bioeval.evaluation.planned_run",
    "compare": "bioeval.evaluation.compare",
    "gallery_size": "bioeval.evaluation.gallery_size",
    "over_time": "bioeval.evaluation.over_time",
    "ageing": "bioeval.evaluation.over_time",
    "reid": "bioeval.evaluation.reid",
    "gom": "bioeval.evaluation.reid",
    "gom_from_curves": "bioeval.results.gom",
    "mean_over_galleries": "bioeval.results.galleries",
    "zoo": "bioeval.evaluation.zoo",
    "explain": "bioeval.evaluation.walk.calls",
    "step_by_step": "bioeval.evaluation.walk.calls",
    "apply_convention": "bioeval.evaluation.reid",
    "refine_tally": "bioeval.evaluation.tally",
    "extend_tally": "bioeval.evaluation.incremental.extension",
    "withdraw": "bioeval.evaluation.incremental.withdrawal",
    "cross_evaluate": "bioeval.evaluation.cross",
    "repeat": "bioeval.evaluation.cross",
    "report": "bioeval.views.page.write",
    "study_threshold": "bioeval.evaluation.cross",
    "make_scorer": "bioeval.evaluation.cross",
    "eer_scorer": "bioeval.evaluation.cross",
    "check_data": "bioeval.evaluation.data_check",
    "calibration": "bioeval.evaluation.calibration",
    "Calibrator": "bioeval.evaluation.calibrator",
    "fuse": "bioeval.evaluation.fusion",
    "Fusion": "bioeval.evaluation.fusion",
    "normalise": "bioeval.evaluation.normalise",
    "BioevalError": "bioeval.base.errors",
    "BioevalWarning": "bioeval.base.errors",
    "CheckpointError": "bioeval.base.errors",
    "DataError": "bioeval.base.errors",
    "EngineError": "bioeval.base.errors",
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
        CheckpointError,
        DataError,
        EngineError,
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
    from bioeval.evaluation.data_check import check_data
    from bioeval.evaluation.discard import error_discard
    from bioeval.evaluation.evaluate import evaluate, summary
    from bioeval.evaluation.expected_performance import epc
    from bioeval.evaluation.fusion import Fusion, fuse
    from bioeval.evaluation.gallery_parts import BestMates, best_mates
    from bioeval.evaluation.gallery_size import gallery_size
    from bioeval.evaluation.groups import by_group
    from bioeval.evaluation.incremental.extension import extend_tally
    from bioeval.evaluation.incremental.withdrawal import withdraw
    from bioeval.evaluation.normalise import normalise
    from bioeval.evaluation.over_time import ageing, over_time
    from bioeval.evaluation.planned_run import plan_run
    from bioeval.evaluation.protocol_tally import Tally
    from bioeval.evaluation.rates_at import at
    from bioeval.evaluation.reid import apply_convention, gom, reid
    from bioeval.evaluation.sample_size import sample_size
    from bioeval.evaluation.tally import refine_tally, tally
    from bioeval.evaluation.tasks import closed_set, open_set, ranks, verification
    from bioeval.evaluation.walk.calls import explain, step_by_step
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
    from bioeval.views.page.write import report
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
