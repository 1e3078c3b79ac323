"""bioeval: what the scores of a recognition system really mean.

``import bioeval as be``; the names in ``__init__.pyi`` are loaded when they are first used, so that
importing the package costs nothing.
"""

import sys

from bioeval.base.lazy import lazy_names
from bioeval.base.version import __version__ as __version__

# Former names: the new one, its place, or of a removed one what does its work.
_FORMER = {
    "extend_tally": "be.tally counts all scores again",
    "withdraw": "be.tally counts the scores that are left again",
    "best_mates": "bioeval.evaluation.gallery_parts.best_mates",
    "BestMates": "bioeval.evaluation.gallery_parts.BestMates",
    "refine_tally": "bioeval.evaluation.tally.refine_tally",
    "mean_over_galleries": "bioeval.results.galleries.mean_over_galleries",
    "gom_from_curves": "bioeval.results.reid.gom_from_curves",
    "step_by_step": "bioeval.evaluation.explanation.step_by_step",
    "with_failures": "bioeval.results.failures.with_failures",
}

__all__, __getattr__, __dir__ = lazy_names(__spec__, _FORMER)

if "ipykernel" in sys.modules:
    from bioeval.base.notebook import in_notebook as _in_notebook

    _in_notebook()
