"""How the system is used: the options of tries, enrolled templates and their fusion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from bioeval.cli.command import option, option_group

if TYPE_CHECKING:
    from bioeval.scores.matrix import Scores

#: The options of tries and of enrolled templates.
TRIES_AND_ENROLMENT = option_group(
    option(
        "--attempts COLUMN",
        "Verification: all probes of a subject with the same value in this metadata column are "
        "tries of one attempt, accepted if any of them is.",
    ),
    option(
        "--enrol TEMPLATES",
        "Verification: enrolled templates of each subject: first:3, or first:3:COLUMN (by time, "
        "for example).  [all]",
    ),
)

#: The rule by which scores are fused, of a system in use.
FUSION_IN_USE = option(
    "--fusion RULE",
    "Fusion of the scores of a subject's templates: min, mean, max, median or kth:K.  [min]",
)

#: All options of the use of a system.
USE = option_group(
    TRIES_AND_ENROLMENT,
    option(
        "--templates",
        "Verification: compare a claim with one template of the subject (single), or with all of "
        "them (multi).  [single]",
        ["single", "multi"],
    ),
    FUSION_IN_USE,
)


def take_use(options: dict[str, Any]) -> dict[str, Any]:
    """Remove the options of the use of a system from those of a command that has them.

    Return those that were given.
    """
    if "attempts" not in options:
        return {}
    names = ("attempts", "enrol", "templates", "fusion")
    taken = {name: options.pop(name) for name in names if name in options}
    return {name: value for name, value in taken.items() if value is not None}


def scores_in_use(scores: Scores, use: Mapping[str, Any], *, fuses: bool = True) -> Scores:
    """Return the scores of the claims of a system, or `scores` where each is one comparison.

    Without `fuses`, templates and fusion alone are options of verification.
    """
    joins = "attempts" in use or "enrol" in use
    if not joins and (not fuses or use.get("templates") != "multi"):
        if fuses and "fusion" in use:
            raise click.UsageError("--fusion has no effect; it needs --templates multi")
        return scores
    from bioeval.scores.claim_scores import claim_scores

    return claim_scores(scores, **{"templates": "single", **use})
