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
    "workload",
    "worst_pairs",
]

# The public names of each module; of "bioeval", modules of the public surface, such as be.plot.
_NAMES = {
    "bioeval": "partition plot stats",
    "bioeval.base.errors": (
        "BioevalError BioevalWarning CardError CheckpointError DataError EngineError MergeError "
        "ProtocolError"
    ),
    "bioeval.evaluation.calibration": "calibration",
    "bioeval.evaluation.calibrator": "Calibrator",
    "bioeval.evaluation.compare": "compare",
    "bioeval.evaluation.cross": "cross_evaluate eer_scorer make_scorer repeat study_threshold",
    "bioeval.evaluation.data_check": "check_data",
    "bioeval.evaluation.error_discard": "error_discard",
    "bioeval.evaluation.evaluate": "evaluate summary",
    "bioeval.evaluation.expected_performance": "epc",
    "bioeval.evaluation.fusion": "Fusion fuse",
    "bioeval.evaluation.gallery_parts": "BestMates best_mates",
    "bioeval.evaluation.gallery_size": "gallery_size",
    "bioeval.evaluation.groups": "by_group",
    "bioeval.evaluation.normalise": "normalise",
    "bioeval.evaluation.over_time": "ageing over_time",
    "bioeval.evaluation.planned_run": "plan_run",
    "bioeval.evaluation.protocol_tally": "Tally",
    "bioeval.evaluation.rates_at": "at",
    "bioeval.evaluation.reid": "apply_convention gom reid",
    "bioeval.evaluation.sample_size": "sample_size",
    "bioeval.evaluation.tally": "refine_tally tally",
    "bioeval.evaluation.identification": "closed_set open_set ranks",
    "bioeval.evaluation.verification": "verification",
    "bioeval.evaluation.explanation.calls": "explain step_by_step",
    "bioeval.evaluation.workload": "workload",
    "bioeval.evaluation.worst_pairs": "worst_pairs",
    "bioeval.evaluation.zoo": "zoo",
    "bioeval.mot": "tracking",
    "bioeval.protocol": "Protocol",
    "bioeval.results.failures": "with_failures",
    "bioeval.results.galleries": "mean_over_galleries",
    "bioeval.results.gom": "gom_from_curves",
    "bioeval.results.top_k": "top_k",
    "bioeval.scores.formats": "load save",
    "bioeval.scores.formats.image_names": "parse_names",
    "bioeval.scores.matrix": "Scores",
    "bioeval.scores.pairs": "PairScores",
    "bioeval.scores.simulation.scores_of_people": "simulate simulate_embeddings",
    "bioeval.scores.top_k": "TopKScores",
    "bioeval.views.page.write": "report",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

# Names that were removed, and what does their work.
_REMOVED = {
    "extend_tally": "be.tally counts all scores again",
    "withdraw": "be.tally counts the scores that are left again",
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
    from bioeval.evaluation.error_discard import error_discard
    from bioeval.evaluation.evaluate import evaluate, summary
    from bioeval.evaluation.expected_performance import epc
    from bioeval.evaluation.explanation.calls import explain, step_by_step
    from bioeval.evaluation.fusion import Fusion, fuse
    from bioeval.evaluation.gallery_parts import BestMates, best_mates
    from bioeval.evaluation.gallery_size import gallery_size
    from bioeval.evaluation.groups import by_group
    from bioeval.evaluation.identification import closed_set, open_set, ranks
    from bioeval.evaluation.normalise import normalise
    from bioeval.evaluation.over_time import ageing, over_time
    from bioeval.evaluation.planned_run import plan_run
    from bioeval.evaluation.protocol_tally import Tally
    from bioeval.evaluation.rates_at import at
    from bioeval.evaluation.reid import apply_convention, gom, reid
    from bioeval.evaluation.sample_size import sample_size
    from bioeval.evaluation.tally import refine_tally, tally
    from bioeval.evaluation.verification import verification
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
    from bioeval.scores.matrix import Scores
    from bioeval.scores.pairs import PairScores
    from bioeval.scores.simulation.scores_of_people import simulate, simulate_embeddings
    from bioeval.scores.top_k import TopKScores
    from bioeval.views.page.write import report
else:

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            from bioeval.base.errors import nearest_name

            if name in _REMOVED:
                raise AttributeError(f"bioeval.{name} was removed; {_REMOVED[name]}")
            raise AttributeError(f"bioeval has no {name!r}.{nearest_name(name, __all__)}")
        if _HOMES[name] == "bioeval":
            return importlib.import_module(f"bioeval.{name}")
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
