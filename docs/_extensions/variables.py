"""The page of the site with every variable of the results."""

from __future__ import annotations

from collections.abc import Mapping

from bioeval.results.variables import (
    COORDINATES,
    FAILURES,
    FOLDS,
    GALLERY,
    GOM,
    REID,
    TASKS,
    Variable,
)
from bioeval.studies.assurance import ASSURED, PROMISE
from bioeval.studies.comparison import COMPARISON
from bioeval.studies.fold_results import OF_FOLDS
from bioeval.studies.gallery_size import GALLERY_SIZE
from bioeval.studies.groups import GROUPS
from bioeval.studies.judged_threshold import JUDGED
from bioeval.studies.threshold_study import STUDY
from bioeval.studies.tracking import TRACKING, TRACKING_DIMENSIONS, TRACKING_TARGETS
from bioeval.studies.worst_pairs import WORST_PAIRS
from bioeval.studies.zoo import ZOO
from bioeval.tasks.identification import RANKS
from bioeval.tasks.reid.gom import RANKED
from bioeval.tasks.reid.reid import TOP_K

SECTIONS: dict[str, Mapping[str, Variable]] = {
    "Dimensions": COORDINATES | TRACKING_DIMENSIONS,
    **{f"`be.{task}`": TASKS[task] for task in ("verification", "open_set", "closed_set")},
    "`be.with_failures`": FAILURES,
    "`be.ranks`": RANKS,
    "`be.reid`": REID | RANKED | TOP_K,
    "`be.gom`": GOM,
    "`be.tracking`": TRACKING | TRACKING_TARGETS,
    "`be.cross_evaluate`": OF_FOLDS | FOLDS,
    "`be.repeat`": GALLERY,
    "`be.judge_threshold`": JUDGED,
    "`be.study_threshold`": STUDY | ASSURED,
    "`be.check_promise`": PROMISE,
    "`be.compare`": COMPARISON,
    "`be.zoo`": ZOO,
    "`be.by_group`": GROUPS,
    "`be.worst_pairs`": WORST_PAIRS,
    "`be.gallery_size`": GALLERY_SIZE,
}


def variables_page() -> str:
    """Return the page: a table of names, meanings, units and ISO terms for each result."""
    lines = ["# Variables of the results", ""]
    lines += ["Endings: `_low` and `_high` are confidence limits. `_at_least` and `_at_most` are"]
    lines += ["bounds of a value that the data do not determine."]
    lines += ["`_next` is the nearest score that is not accepted at a threshold, or, of attempts"]
    lines += ["too many to be listed, and except at FAR targets, this score or a number before it."]
    lines += ["NaN where none is known."]
    lines += ["`_supported`, beside a number at a target, is 1 where people and attempts support"]
    lines += ["the target (rule of 3), else 0."]
    for title, variables in SECTIONS.items():
        lines += ["", f"## {title}", "", "| variable | what it is | unit | ISO/IEC 19795-1 |"]
        lines += ["|---|---|---|---|"]
        for name, about in variables.items():
            base, _, ending = name.rpartition("_")
            if ending in ("low", "high") and base in variables:
                continue
            cells = [f"`{name}`", about.long_name, about.units, about.iso]
            lines += [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"]
    return "\n".join(lines) + "\n"
